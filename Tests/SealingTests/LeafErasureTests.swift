import ParleyWire
import Testing

@testable import ParleySealing

/// When a device may let go of an old leaf: tried on histories of groups that fall apart, change
/// on both sides and meet again, with real keys. The same rules as the independent model's.
@Suite("Erasing leaves")
struct LeafErasureTests {
    private static let seeds: ClosedRange<UInt64> = 1...40

    private func losses(_ rule: LeafHistory.Rule) throws -> LeafHistory.Count {
        var total = LeafHistory.Count()
        for seed in Self.seeds {
            let one = try LeafHistory.run(seed: seed, rule: rule)
            if rule == .everybodyEver {
                #expect(one.lost == 0, "seed \(seed)")
            }
            total.epochs += one.epochs
            total.opened += one.opened
            total.lost += one.lost
            total.leavesMax = max(total.leavesMax, one.leavesMax)
        }
        return total
    }

    @Test("no seed is lost while everybody who ever was a member is waited for")
    func everybody() throws {
        let count = try losses(.everybodyEver)
        #expect(count.lost == 0)
        #expect(count.epochs > 200 && count.opened > 400, "\(count)")
        // And leaves do go.
        #expect(count.leavesMax < 40, "\(count)")
    }

    @Test("waiting only for those who are members now loses seeds")
    func membersOnly() throws {
        let count = try losses(.membersNow)
        #expect(count.lost > 0, "\(count)")
    }

    @Test("a short time alone loses more: it is why what is lost comes by reconciliation")
    func shortGrace() throws {
        let (members, grace) = (try losses(.membersNow), try losses(.afterSteps(60)))
        #expect(grace.lost > members.lost, "\(grace)")
    }
}

/// One random history of a group of eight devices.
struct LeafHistory {
    enum Rule: Equatable {
        /// Everybody who ever was in the roster, removed ones as well.
        case everybodyEver
        /// The roster of now.
        case membersNow
        /// As the first, or after so many steps.
        case afterSteps(Int)
    }

    struct Count {
        var epochs = 0, opened = 0, lost = 0, leavesMax = 0
    }

    private enum Kind {
        case add(Int), remove(Int), leaf(LeafKey), message
        case epoch(EpochBody, EpochPlace, recipients: [Int: LeafKey])
    }

    private struct Step {
        let author: Int
        let kind: Kind
        let past: Set<Int>
    }

    private struct Device {
        let id: DeviceID
        let hedge: Secret
        var known: Set<Int> = [0]
        /// In the order in which they were made.
        var leaves: [(leaf: PrivateLeaf, made: Int)]
        var published: [LeafKey: Int] = [:]
        var opened: Set<Int> = []
    }

    private static let space = SpaceID { $0[0] = 1 }
    private let rule: Rule
    private var random: SeededRandom
    private var steps: [Step] = []
    private var devices: [Device] = []
    private var count = Count()
    private var now = 0

    static func run(seed: UInt64, rule: Rule) throws -> Count {
        var history = LeafHistory(seed: seed, rule: rule)
        try history.play()
        return history.count
    }

    private init(seed: UInt64, rule: Rule) {
        self.rule = rule
        random = SeededRandom(seed)
        steps = [Step(author: 0, kind: .add(0), past: [])]
        for number in 0..<8 {
            let leaf = PrivateLeaf.generate(using: &random)
            devices.append(
                Device(
                    id: DeviceID { $0[0] = UInt8(number + 1) }, hedge: .random(using: &random),
                    leaves: [(leaf, 0)]))
        }
    }

    private mutating func play() throws {
        let prekeys = devices.map { $0.leaves[0].leaf.publicKey }
        for now in 0..<400 {
            self.now = now
            try act(prekeys)
            let isApart = (now / 100) % 2 == 1
            let one = Int(random.next() % 8)
            let other = Int(random.next() % 8)
            guard one != other, !isApart || one % 2 == other % 2 else { continue }
            let (here, there) = (devices[one].known, devices[other].known)
            try learn(one, there.subtracting(here))
            try learn(other, here.subtracting(there))
            for device in [one, other] where roster(devices[device].known).contains(device) {
                erase(device)
                count.leavesMax = max(count.leavesMax, devices[device].leaves.count)
            }
        }
    }

    private mutating func act(_ prekeys: [LeafKey]) throws {
        let (what, device) = (random.next() % 100, Int(random.next() % 8))
        let members = roster(devices[device].known)
        guard members.contains(device) else { return }
        let whom = Int(random.next() % 8)
        switch what {
        case 0..<30: emit(device, .message)
        case 30..<35: try mint(device, prekeys)
        case 35..<41 where !members.contains(whom):
            emit(device, .add(whom))
            try mint(device, prekeys)
        case 41..<45 where members.contains(whom) && whom != 0 && whom != device:
            emit(device, .remove(whom))
            try mint(device, prekeys)
        case 45..<50:
            let leaf = PrivateLeaf.generate(using: &random)
            let step = emit(device, .leaf(leaf.publicKey))
            devices[device].leaves.append((leaf, now))
            devices[device].published[leaf.publicKey] = step
        default: break
        }
    }

    @discardableResult
    private mutating func emit(_ device: Int, _ kind: Kind) -> Int {
        steps.append(Step(author: device, kind: kind, past: devices[device].known))
        devices[device].known.insert(steps.count - 1)
        return steps.count - 1
    }

    private mutating func mint(_ device: Int, _ prekeys: [LeafKey]) throws {
        let known = devices[device].known
        var recipients: [Int: LeafKey] = [:]
        for member in roster(known) where member != device {
            recipients[member] = leaf(of: member, in: known) ?? prekeys[member]
        }
        let place = EpochPlace(
            space: Self.space, author: devices[device].id, sequence: UInt64(steps.count),
            previous: OperationID { _ in }, dependencies: [])
        let minted = try EpochBody.mint(
            at: place, roster: Digest { _ in },
            recipients: recipients.sorted { $0.key < $1.key }.map {
                EpochRecipient(device: devices[$0.key].id, leaf: $0.value)
            }, hedge: devices[device].hedge, using: &random)
        let step = emit(device, .epoch(minted.body, place, recipients: recipients))
        devices[device].leaves.append((minted.leaf, now))
        devices[device].published[minted.leaf.publicKey] = step
        devices[device].opened.insert(step)
        count.epochs += 1
    }

    private mutating func learn(_ device: Int, _ new: Set<Int>) throws {
        for step in new.sorted() {
            devices[device].known.insert(step)
            guard case .epoch(let body, let place, let recipients) = steps[step].kind,
                let wanted = recipients[device]
            else { continue }
            let held = devices[device].leaves.first { $0.leaf.publicKey == wanted }?.leaf
            guard let held else {
                count.lost += 1
                continue
            }
            _ = try body.open(at: place, as: devices[device].id, with: held)
            devices[device].opened.insert(step)
            count.opened += 1
        }
    }

    private mutating func erase(_ device: Int) {
        let known = devices[device].known
        let waitedFor = witnesses(of: device, in: known)
        let leaves = devices[device].leaves
        for (place, old) in leaves.enumerated().dropLast() {
            let next = leaves[place + 1]
            guard let publication = devices[device].published[next.leaf.publicKey] else { continue }
            let isSeen = waitedFor.allSatisfy { witness in
                known.contains {
                    steps[$0].author == witness && steps[$0].past.contains(publication)
                }
            }
            var isOver = false
            if case .afterSteps(let count) = rule { isOver = now - next.made > count }
            if isSeen || isOver {
                devices[device].leaves.removeAll { $0.leaf.publicKey == old.leaf.publicKey }
            }
        }
    }

    private func witnesses(of device: Int, in known: Set<Int>) -> Set<Int> {
        var set = roster(known)
        if rule != .membersNow {
            for step in known {
                switch steps[step].kind {
                case .add(let whom), .remove(let whom): set.insert(whom)
                case .leaf, .message, .epoch: break
                }
            }
        }
        set.remove(device)
        return set
    }

    /// Who is in: added by something that no removal of theirs lies outside the past of.
    private func roster(_ known: Set<Int>) -> Set<Int> {
        var (adds, removals): ([Int: [Int]], [Int: [Int]]) = ([:], [:])
        for step in known {
            switch steps[step].kind {
            case .add(let whom): adds[whom, default: []].append(step)
            case .remove(let whom): removals[whom, default: []].append(step)
            case .leaf, .message, .epoch: break
            }
        }
        return Set(
            adds.filter { whom, steps in
                steps.contains { add in
                    (removals[whom] ?? []).allSatisfy { self.steps[add].past.contains($0) }
                }
            }.keys)
    }

    /// The newest leaf in a past: it does not know that a later admission begins anew, and need
    /// not, for an older leaf is never older than what the device kept.
    private func leaf(of device: Int, in known: Set<Int>) -> LeafKey? {
        for step in known.sorted(by: >) where steps[step].author == device {
            switch steps[step].kind {
            case .leaf(let key): return key
            case .epoch(let body, _, _): return body.newLeaf
            case .add, .remove, .message: continue
            }
        }
        return nil
    }
}
