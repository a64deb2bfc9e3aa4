import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire

/// Ann, who made the group, Ben, whom she made an admin, and Cara and Dan, who are members.
struct Cast {
    let ann, ben, cara, dan: Writer
    private let judge: Judge
    var roster: Roster { judge.roster }
    let space: SpaceID

    var all: [Writer] { [ann, ben, cara, dan] }

    init(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var keys: [DeviceSigningKey] = []
        var founders: [Founder] = []
        for (name, role) in [
            ("ann", Role.owner), ("ben", .admin), ("cara", .member), ("dan", .member),
        ] {
            let key = DeviceSigningKey.generate(using: &random)
            let noise = DeviceNoiseKey.generate(using: &random)
            let log = try IdentityLog.founded(
                root: DeviceSigningKey.generate(using: &random), device: key,
                noiseKey: noise.publicKey, time: 0, using: &random)
            keys.append(key)
            founders.append(
                Founder(person: log.person, role: role, name: name, identity: log.encoded))
        }
        let genesis = Genesis(
            kind: .group, creator: keys[0].device, random: random.bytes(16), founders: founders)
        let judge = try Self.judge(of: genesis, by: keys[0], &random)
        let space = genesis.space(at: 0)
        let writers = try (0..<4).map { index in
            Writer(
                key: keys[index],
                replica: try Replica(
                    of: space, kind: .group, judge: judge, person: founders[index].person,
                    seed: UInt64(index)),
                seed: random.next())
        }
        (ann, ben, cara, dan) = (writers[0], writers[1], writers[2], writers[3])
        self.judge = judge
        self.space = space
    }

    private static func judge(
        of genesis: Genesis, by key: DeviceSigningKey, _ random: inout SeededRandom
    ) throws -> Judge {
        let store = MemoryStore()
        try store.begin(.full)
        let record = try store.addSpace(genesis.space(at: 0), kind: genesis.kind)
        let author = LogAuthor(key: key, space: record, authority: 0, wallClock: 0)
        let applied = try author.append([genesis.draft()], to: store, using: &random)
        try store.commit()
        var graph = ControlGraph(space: record.id)
        graph.add(applied[0].operation, by: key.device)
        return Judge(graph)
    }

    /// Everybody takes what the others wrote.
    func meet() throws {
        for writer in all { try writer.catchUp(with: all) }
    }

    /// A member's replica that holds nothing yet.
    func newReplica(seed: UInt64) throws -> Replica {
        try Replica(
            of: space, kind: .group, judge: judge, person: dan.replica.person, seed: seed)
    }

    /// Delivers all that everybody wrote, in an order that the seed draws: some logs from their
    /// beginning, some first from a place in their middle and then from there downwards.
    func deliverAll(to replica: Replica, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var queues = try all.flatMap { try $0.logs() }.map { Queue($0, random: &random) }
        while true {
            let open = queues.indices.filter { !queues[$0].isEmpty }.shuffled(using: &random)
            guard !open.isEmpty else { return }
            var moved = false
            for index in open where !moved { moved = try queues[index].step(replica, &random) }
            // Two logs whose middles wait for each other: one of them begins at its beginning.
            if !moved, let index = open.first(where: { queues[$0].start > 0 }) {
                queues[index].start = 0
            } else if !moved {
                throw StoreError(.other, attempt: "delivering everything", detail: "stuck")
            }
        }
    }

    private struct Queue {
        let parcels: [Parcel]
        /// Where delivery begins.
        var start: Int
        private var upper: Int?
        private var lower: Int = 0

        init(_ parcels: [Parcel], random: inout SeededRandom) {
            self.parcels = parcels
            start =
                Bool.random(using: &random) ? 0 : Int.random(in: parcels.indices, using: &random)
        }

        var isEmpty: Bool { upper == parcels.count && lower == 0 }

        /// Delivers one parcel above or below what was delivered. Returns whether it was taken.
        mutating func step(_ replica: Replica, _ random: inout SeededRandom) throws -> Bool {
            guard let upper else {
                guard try replica.receive(parcels[start]) else { return false }
                self.upper = start + 1
                lower = start
                return true
            }
            if lower > 0, upper == parcels.count || Bool.random(using: &random) {
                lower -= 1
                return try replica.receive(parcels[lower])
            }
            guard upper < parcels.count, try replica.receive(parcels[upper]) else { return false }
            self.upper = upper + 1
            return true
        }
    }
}
