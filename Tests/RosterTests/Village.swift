import ParleyLedger
import ParleySealing
import ParleyWire

@testable import ParleyRoster

/// A person with devices whose keys are all known here.
struct Villager {
    let name: String
    let root: DeviceSigningKey
    var devices: [DeviceSigningKey]
    var prekeys: [PrekeyCertificate]
    var log: IdentityLog

    var person: PersonID { log.person }

    init(_ name: String, _ draws: inout Draws) throws {
        self.name = name
        root = DeviceSigningKey.generate(using: &draws)
        let device = DeviceSigningKey.generate(using: &draws)
        log = try IdentityLog.founded(
            root: root, device: device,
            noiseKey: DeviceNoiseKey.generate(using: &draws).publicKey, time: 0, using: &draws)
        devices = [device]
        prekeys = [Self.prekey(of: device, &draws)]
    }

    static func prekey(of device: DeviceSigningKey, _ draws: inout Draws) -> PrekeyCertificate {
        PrekeyCertificate.make(
            number: 1, notBefore: 0, notAfter: 1,
            key: PrivateLeaf.generate(using: &draws).publicKey, by: device)
    }

    /// A further device, certified by the first or by the root.
    mutating func addDevice(byRoot: Bool = false, _ draws: inout Draws) throws -> DeviceSigningKey {
        let device = DeviceSigningKey.generate(using: &draws)
        let noise = DeviceNoiseKey.generate(using: &draws).publicKey
        let proof = IdentityOperation.proofOfPossession(
            to: person, by: device, noiseKey: noise)
        let operation = log.adding(
            device.device, noiseKey: noise, proof: proof, by: byRoot ? root : devices[0])
        log = try log.merging([operation])
        devices.append(device)
        prekeys.append(Self.prekey(of: device, &draws))
        return device
    }

    mutating func revoke(_ device: DeviceID) throws {
        log = try log.merging([log.revoking(device, by: root)])
    }

    var newcomer: Newcomer {
        Newcomer(person: person, name: name, identity: log.encoded, prekeys: prekeys)
    }
}

/// An operation with who wrote it.
struct Written {
    let operation: VerifiedOperation
    let device: DeviceID
    /// Places in the village's list that it names.
    let causes: [Int]
}

/// The control lane of one space with every key at hand: anybody writes anything, having seen
/// whatever the test says.
struct Village {
    var draws: Draws
    var people: [Villager]
    var written: [Written] = []
    let space: SpaceID
    /// By device: its operations, as places in ``written``.
    var logs: [DeviceID: [Int]] = [:]
    /// By place: all that it follows from, itself included.
    var pasts: [Set<Int>] = []

    init(
        seed: UInt64, people count: Int, kind: SpaceKind = .group, founders: Int = 1,
        settings: SpaceSettings = SpaceSettings()
    ) throws {
        draws = Draws(seed: seed)
        people = []
        for number in 0..<count { people.append(try Villager("p\(number)", &draws)) }
        let genesis = Genesis(
            kind: kind, creator: people[0].devices[0].device, random: draws.bytes(16),
            founders: people.prefix(founders).map {
                Founder(
                    person: $0.person, role: .owner, name: $0.name, identity: $0.log.encoded,
                    prekeys: $0.prekeys)
            }, settings: settings)
        space = genesis.space(at: 0)
        write(genesis.draft(), by: people[0].devices[0].device, seen: [])
    }

    /// Writes an operation by a device that has seen these, its own ones, and what they follow
    /// from. Returns its place.
    @discardableResult
    mutating func write(_ draft: Draft, by device: DeviceID, seen: Set<Int>) -> Int {
        let own = logs[device] ?? []
        let ownPast = own.last.map { pasts[$0] } ?? []
        var past = ownPast
        for place in seen.sorted() { past.formUnion(pasts[place]) }
        let heads = past.subtracting(ownPast).filter { place in
            !past.contains { $0 != place && pasts[$0].contains(place) }
        }
        let named = heads.sorted { written[$0].operation.tag < written[$1].operation.tag }
        let log = OperationHash.log(space: space, device: device, lane: .control)
        let header = OperationHeader(
            kind: draft.kind, wallClock: 0, clock: UInt64(written.count),
            dependencies: named.prefix(16).map {
                let one = written[$0].operation
                return OperationReference(
                    tag: one.tag, sequence: one.sequence, check: one.id.check)
            })
        guard let operation = try? Operation.make(header, payload: draft.payload) else {
            preconditionFailure("what a test writes can be encoded")
        }
        let previous =
            own.last.map { written[$0].operation.id } ?? OperationID(reinterpreting: log)
        let stored = StoredOperation(
            number: OperationNumber(0), log: LogNumber(0), sequence: UInt64(own.count),
            id: OperationHash.operation(operation, after: previous), operation: operation,
            stand: Stand(wallClock: operation.header.wallClock))
        let place = written.count
        written.append(
            Written(
                operation: VerifiedOperation(stored: stored, tag: LogTag(log)), device: device,
                causes: named + own.suffix(1)))
        logs[device, default: []].append(place)
        pasts.append(past.union([place]))
        return place
    }

    /// As ``write(_:by:seen:)``, by a person's first device.
    @discardableResult
    mutating func write(_ draft: Draft, by person: Int, seen: Set<Int>) -> Int {
        write(draft, by: people[person].devices[0].device, seen: seen)
    }

    /// By somebody who has seen everything.
    @discardableResult
    mutating func write(_ draft: Draft, by person: Int) -> Int {
        write(draft, by: person, seen: Set(written.indices))
    }

    func add(_ person: Int, _ role: Role = .member) -> Draft {
        AddMember(people[person].newcomer, role: role).draft()
    }

    func remove(_ person: Int, cut: [LogPlace] = []) -> Draft {
        RemoveMember(people[person].person, cut: Cut(cut)).draft()
    }

    func set(_ person: Int, _ role: Role) -> Draft {
        SetRole(people[person].person, role: role).draft()
    }

    /// Somebody comes by an invite, as their first device has signed; or somebody else's.
    func redeem(
        _ person: Int, by invite: Int, of key: DeviceSigningKey, after departures: [Int] = [],
        horizon: [LogPlace] = [], signedBy signer: DeviceSigningKey? = nil
    ) -> Draft {
        let villager = people[person]
        let device = villager.devices[0]
        var newcomer = villager.newcomer
        newcomer.horizon = Horizon(horizon)
        let invite = written[invite].operation.id
        let named = departures.map { written[$0].operation.id }.sorted()
        return Redeem(
            invite: invite, newcomer: newcomer, device: device.device,
            signature: Redeem.signature(
                to: invite, in: space, for: villager.person, device.device, with: key),
            departures: named,
            consent: Redeem.consent(
                to: invite, in: space, for: villager.person, after: named,
                with: signer ?? device)
        ).draft()
    }

    /// An invite of so many uses.
    mutating func open(
        _ uses: UInt32, by person: Int, for key: DeviceSigningKey, seen: Set<Int>? = nil
    ) -> Int {
        write(
            GroupInvite.open(key: key.device, role: .member, uses: uses, expires: 1).draft(),
            by: person, seen: seen ?? Set(written.indices))
    }

    func graph(_ order: [Int]? = nil) -> ControlGraph {
        var graph = ControlGraph(space: space)
        for place in order ?? Array(written.indices) {
            let isTaken = graph.add(written[place].operation, by: written[place].device)
            precondition(isTaken, "causes come first")
        }
        return graph
    }

    func roster(_ order: [Int]? = nil) -> Roster {
        var graph = graph(order)
        return graph.roster()
    }

    /// The roles of everybody, `nil` for who is out.
    var roles: [Role?] {
        let roster = roster()
        return people.map { roster.member($0.person)?.role }
    }

    /// Every order in which causes come first, or so many of them as are drawn.
    func orders(atMost limit: Int = 5000) -> [[Int]] {
        var found: [[Int]] = []
        func extend(_ order: [Int], _ rest: [Int]) {
            guard found.count < limit else { return }
            if rest.isEmpty { found.append(order) }
            for next in rest where !rest.contains(where: { written[next].causes.contains($0) }) {
                extend(order + [next], rest.filter { $0 != next })
            }
        }
        extend([], Array(written.indices))
        return found
    }

    func drawnOrder(_ draws: inout Draws) -> [Int] {
        var order: [Int] = []
        var rest = Array(written.indices)
        var done: Set<Int> = []
        while !rest.isEmpty {
            let ready = rest.indices.filter {
                written[rest[$0]].causes.allSatisfy(done.contains)
            }
            let next = rest.remove(at: ready[draws.below(ready.count)])
            done.insert(next)
            order.append(next)
        }
        return order
    }

    /// What became of an operation.
    func outcome(_ place: Int) -> ControlReason.Outcome? {
        graph().reason(of: written[place].operation.id)?.outcome
    }
}

extension Draws {
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
