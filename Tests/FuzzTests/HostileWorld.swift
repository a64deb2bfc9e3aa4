import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySignalling
import ParleyWire

@testable import ParleyNodeCore
@testable import ParleySealing
@testable import ParleySimulation

/// A small world in which everybody but two lies: Ann, who is attacked, and Ben, who is honest.
///
/// Ann's telephone was stolen, Eve is a contact of hers and a member of a group with her and Ben,
/// and their relay is a liar's. All have real keys, so what is made here opens, and its signatures
/// hold: what is wrong with it are its numbers and its order.
final class HostileWorld {
    /// What an input may cost Ann's node, in effects and in bytes that leave.
    static let effectCountMax = 4_096
    static let effectByteCountMax = 4 << 20

    let world: World
    let ann, phone, ben, eve: SimulatedNode
    let relay: SimulatedRelay
    let group: SpaceID
    var random: SeededRandom
    /// The greatest that one input has cost.
    private(set) var effectCount = 0
    private(set) var effectByteCount = 0
    /// What Ann's node was fed so far, by the names of the cases.
    private(set) var inputs: Set<String> = []
    /// Whether Ann's store may fail in the middle of a step.
    private var mayFail = false
    /// Links that only Ann's node believes in, and how many there were.
    private var pretended: [(link: LinkID, node: Int?)] = []
    private var pretendedCount: UInt64 = 0

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed, purpose: "hostile world")
        world = World(seed: seed)
        ann = try world.addNode("ann")
        ben = try world.addNode("ben")
        eve = try world.addNode("eve")
        relay = world.addRelay("relay")
        for node in [ann, ben, eve] { try world.use(relay, by: node) }
        group = try world.group("group", [ann, ben, eve])
        phone = try world.addDevice("phone", of: ann)
        world.run(for: 20_000)
        for space in try spaces() { try world.type("a", on: ann, in: space) }
        world.run(for: 5_000)
        phone.isHonest = false
        eve.isHonest = false
        world.onStep = { [unowned self] in if $0.node === ann { follow($0) } }
        world.onDeath = { [unowned self] node, _ in if node === ann { pretended = [] } }
    }

    /// Counts what a step of Ann's node cost, and plays its shell where the world cannot.
    private func follow(_ step: StepReport) {
        inputs.insert(caseName(of: step.input))
        if step.isLost {
            switch step.input {
            case .frame(let link, _): end(link)
            case .linkOpened(let link, _): pretended.removeAll { $0.link == link }
            default: break
            }
        }
        var byteCount = 0
        for effect in step.effects {
            switch effect {
            case .send(_, let bytes): byteCount += bytes.count
            case .askRelay(_, let request): byteCount += request.action.encodedByteCount
            case .hangUp(let link, _): end(link)
            default: break
            }
        }
        effectCount = max(effectCount, step.effects.count)
        effectByteCount = max(effectByteCount, byteCount)
    }

    /// The world knows nothing of a pretended link, and a shell says when one has ended.
    private func end(_ link: LinkID) {
        guard let place = pretended.firstIndex(where: { $0.link == link }) else { return }
        pretended.remove(at: place)
        world.schedule(.linkClosed(link), for: ann.index, at: world.now + 1)
    }

    /// The conversations in which Ann and Ben may write: the group, and that of the two. A thief of her
    /// telephone may leave one for her, or remove Ben from it, or let him only read.
    func spaces() throws -> [SpaceID] {
        try ann.store.spaces().filter { space in
            guard space.kind != .own, let roster = try? ann.roster(of: space) else { return false }
            return [ann, ben].allSatisfy {
                roster.contains($0.identity.device)
                    && roster.member($0.identity.person).map { $0.role >= .member } == true
            }
        }.map(\.id)
    }

    /// Says what is about to happen, where that is asked for.
    func note(_ words: String) { FuzzPlan.trace(words) }

    /// Feeds Ann's node an input.
    func feed(_ input: Input, _ words: String) {
        note(words)
        failingNowAndThen { world.offer(input, to: ann.index) }
    }

    /// Something happens to Ann's node while its store may fail, if that is to be tried.
    func failingNowAndThen<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard mayFail, random.happens(onceIn: 12) else { return try body() }
        let (call, code) = (
            1 + random.below(60), random.flip() ? StoreError.Code.full : .inputOutput
        )
        note("its store fails at call \(call): \(code)")
        ann.store.fail(atCall: call, code)
        // Whoever looks on meets no failure.
        defer { ann.store.failNoMore() }
        return try body()
    }

    /// One more hostile thing happens.
    ///
    /// - Parameter isLocal: whether Ann's own programs and clocks may do anything as well.
    func advance(isLocal: Bool) throws {
        mayFail = isLocal
        switch random.next() % (isLocal ? 40 : 20) {
        case 0...3: tellAsRelay()
        case 4, 5: try writeLetter()
        case 6: try pass()
        case 7, 8: try sendFrame()
        case 9...12: try writeOperation()
        case 13: try sealEnvelope()
        case 14: pretendLink()
        case 15: world.run(for: random.next() % 3 == 0 ? 60_000 : 500)
        case 16, 17: try giveFile()
        case 18, 19: tellOfSurroundings()
        case 20, 21: fire()
        case 22: setClock()
        case 23: disturb()
        default: try command()
        }
        world.run(for: random.next() % 50)
    }

    // MARK: Who, where, and what they have

    /// Somebody who lies, with the keys that they do it with. Ben's are his own.
    func liar() -> SimulatedNode { [phone, eve, eve][random.below(3)] }

    /// A space of Ann's, now and then one of nobody's.
    func space() throws -> SpaceID {
        let all = try ann.store.spaces()
        guard !random.happens(onceIn: 16), !all.isEmpty else { return random.identifier() }
        return all[random.below(all.count)].id
    }

    func tag(in space: SpaceID) throws -> LogTag {
        guard let record = try ann.store.space(space) else { return LogTag(random.next()) }
        let logs = try ann.store.logs(in: record.number)
        guard !logs.isEmpty, !random.happens(onceIn: 8) else { return LogTag(random.next()) }
        return logs[random.below(logs.count)].tag
    }

    /// A place: one that a log may have, or any.
    func place() -> UInt64 {
        random.flip() ? random.next() % 8 : min(random.hostile(), Limits.placeMax - 1)
    }

    func now() -> UInt64 { World.epoch + world.now }

    func device() -> DeviceID {
        let nodes = [ann, phone, ben, eve]
        return random.happens(onceIn: 8)
            ? random.identifier() : nodes[random.below(nodes.count)].identity.device
    }

    func person() -> PersonID {
        let nodes = [ann, ben, eve]
        return random.happens(onceIn: 8)
            ? random.identifier() : nodes[random.below(nodes.count)].identity.person
    }

    // MARK: Links

    /// Somebody links, as far as Ann's node can tell, says things, and may go.
    private func pretendLink() {
        let node = random.happens(onceIn: 4) ? nil : liar()
        guard let link = openPretended(by: node) else { return }
        for _ in 0..<random.below(6) {
            guard let bytes = try? frame(of: node ?? eve).encoded() else { continue }
            feed(.frame(link, bytes), "a frame on that link")
        }
        guard random.flip(), let old = pretended.first?.link else { return }
        pretended.removeFirst()
        feed(.linkClosed(old), "that link ends")
    }

    /// A link of a liar's, or of a stranger's; most say what has to be said first.
    private func openPretended(by node: SimulatedNode?) -> LinkID? {
        let link = LinkID(1 << 40 + pretendedCount)
        pretendedCount += 1
        let log = node?.core.node.log ?? stranger()
        guard let device = node?.identity.device ?? log.devices.first?.device else { return nil }
        pretended.append((link, node?.index))
        feed(
            .linkOpened(
                link,
                LinkPeer(
                    person: log.person, root: Digest(reinterpreting: log.root), device: device,
                    identity: log.encoded, handshakeHash: random.bytes(32),
                    isInitiator: random.flip(), isPiped: random.flip())),
            "a link of \(node?.name ?? "a stranger")")
        guard node != nil, !random.happens(onceIn: 6) else { return link }
        let hello = Hello(
            capabilities: 0, wallClock: WallTime(clamping: now()), generation: 7, credit: .greatest)
        feed(.frame(link, Frame.hello(hello).encoded()), "its first frame")
        return link
    }

    private func stranger() -> IdentityLog {
        let made = try? IdentityLog.founded(
            root: .generate(using: &random), device: .generate(using: &random),
            noiseKey: DeviceNoiseKey.generate(using: &random).publicKey, time: random.hostile(),
            using: &random)
        return made ?? eve.core.node.log
    }

    /// A linked peer says something.
    private func sendFrame() throws {
        let node = liar()
        say(try frame(of: node), by: node)
        world.run(for: 20)
    }

    /// A frame comes, over a link that stands or one that only Ann's node believes in.
    func say(_ frame: Frame, by node: SimulatedNode) {
        let words = "the frame \(caseName(of: frame)) of \(node.name)"
        let isLinked = ann.core.linkedPeers.contains { $0.device == node.identity.device }
        let links = pretended.filter { $0.node == node.index }.map(\.link)
        if isLinked, links.isEmpty || random.flip() {
            note(words)
            return world.inject(frame.encoded(), from: node, to: ann)
        }
        guard let link = links.last ?? openPretended(by: node) else { return }
        feed(.frame(link, frame.encoded()), words)
    }

    /// A link, of those that are open if there is one.
    func link() -> LinkID {
        let open = ann.core.peers.links.keys.sorted()
        return open.isEmpty || random.happens(onceIn: 4)
            ? LinkID(random.hostile()) : open[random.below(open.count)]
    }
}

/// Which case of its enumeration a value is.
func caseName(of value: some Any) -> String {
    Mirror(reflecting: value).children.first?.label ?? "\(value)"
}

extension SeededRandom {
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

extension RelayAction {
    fileprivate var encodedByteCount: Int {
        RelayRequest(self, of: MailboxID { _ in }).encoded.count
    }
}
