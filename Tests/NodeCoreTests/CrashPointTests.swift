import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// A roster changes in several operations, keys and views at once: all of it, or none.
@Suite("A store that fails while a roster changes")
struct CrashPointTests {
    /// Everything that a node keeps, told so that two moments can be compared.
    private func contents(of node: SimulatedNode) throws -> [String] {
        let store = node.store
        return try node.observed {
            var told = ["\(store.operationCount) operations"]
            for table in ValueTable.allCases {
                told += try store.values(table).map { "\(table) \($0.key) \($0.value)" }
            }
            for space in [nil] + (try store.spaces().map(Optional.some)) {
                for purpose in SecretPurpose.allCases {
                    let secrets = try store.secrets(purpose, in: space?.number)
                    told += secrets.map { "\(purpose) \($0.name)" }
                }
                guard let space else { continue }
                told += try store.logs(in: space.number).map { "\($0)" }
                told.append("\(String(describing: try node.digest(of: space.id)))")
            }
            return told
        }
    }

    /// Where it fails next: at each of the first calls, and then at every twentieth part more.
    private func after(_ call: Int) -> Int { call + 1 + call / 20 }

    /// Fails at one call after the other that a command makes of the store, until it is carried
    /// out. Returns what it answered, and how often it was refused.
    @discardableResult
    private func carryOut(
        _ command: Command, on node: SimulatedNode, _ world: World
    ) throws -> (reply: CommandReply, failureCount: Int) {
        let before = try contents(of: node)
        var (call, count) = (1, 0)
        while true {
            node.store.fail(atCall: call)
            do {
                let reply = try world.perform(command, on: node)
                node.store.failNoMore()
                return (reply, count)
            } catch CommandRefusal.rejoining {
                // What a simulated shell says of a step that was not done.
                #expect(try contents(of: node) == before, "failing at call \(call)")
                (call, count) = (after(call), count + 1)
            }
        }
    }

    @Test("leaves nothing half done at any call of any command, and the same command works then")
    func commands() throws {
        let village = try Village(seed: 81, memberCount: 3)
        let (world, group) = (village.world, village.group)
        let (ann, ben, cara, dora) = (village.ann, village.ben, village.cara, village.dora)
        func at(_ node: SimulatedNode, _ command: Command) throws {
            let (_, count) = try carryOut(command, on: node, world)
            #expect(count > 20, "\(command)")
            world.run(for: 5_000)
        }
        try village.type("before", cara)
        world.run(for: 2_000)
        try at(ann, .setRole(group, ben.identity.person, .admin))
        try at(ann, .changeSettings(group, SpaceSettings(history: .all)))
        try at(ben, .addMember(group, dora.identity.person, .member))
        let secret = [UInt8](repeating: 5, count: 32)
        let expires = World.epoch + world.now + 3_600_000
        let made = try carryOut(
            .createGroupInvite(group, secret: secret, role: .member, uses: 3, expires: expires),
            on: ben, world)
        guard case .operation(let invite) = made.reply else { throw CommandRefusal.unknownInvite }
        try at(ben, .endGroupInvite(group, invite))
        try at(ben, .removeMember(group, cara.identity.person))
        try at(dora, .leave(group))
        try at(dora, .createGroup(name: "other", members: [ann.identity.person]))
        world.run(for: 5_000)
        // Who leaves makes no epoch: the next who writes does.
        try village.type("after", ann)
        village.settle()
        #expect(try village.members(ann) == ["ann", "ben"])
        #expect(try village.frontiers([ann, ben]) == 1)
        for node in village.nodes {
            #expect(try node.observed { try node.store.forks() }.isEmpty)
            #expect(try village.texts(node).first == "before")
        }
        var users = (KeyUser(ann), KeyUser(ben))
        #expect(try users.1.open(users.0.seal("on", in: group)) == "on")
    }

    @Test("leaves nothing half done when a device comes or is revoked in all spaces at once")
    func devices() throws {
        let village = try Village(seed: 82)
        let (world, ann) = (village.world, village.ann)
        var random = SeededRandom(seed: 9, purpose: "a device")
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random).publicKey
        let request = DeviceRequest(
            device: key.device, noiseKey: noise,
            proof: IdentityOperation.proofOfPossession(
                to: ann.identity.person, by: key, noiseKey: noise), name: "phone")
        let added = try carryOut(.addDevice(request), on: ann, world)
        #expect(added.failureCount > 50, "it is told to every space in the same step")
        world.run(for: 5_000)
        for node in village.nodes {
            #expect(try village.roster(node).contains(key.device), "\(node.name)")
        }
        try carryOut(.revokeDevice(key.device, root: nil), on: ann, world)
        world.run(for: 5_000)
        for node in village.nodes {
            #expect(try village.roster(node).isFormer(key.device), "\(node.name)")
        }
        #expect(try village.frontiers(village.nodes) == 1)
    }

    @Test("leaves nothing half done when keys are made anew")
    func upkeep() throws {
        let trio = try Trio(seed: 83)
        trio.world.run(for: 3_000)
        let node = trio.ann
        let before = try contents(of: node)
        let now = Instant(
            monotonic: trio.world.now, wall: World.epoch + trio.world.now + 8 * NodeCore.day)
        var random = SeededRandom(seed: 1)
        var call = 1
        while true {
            node.store.fail(atCall: call)
            var core = node.core
            do {
                try node.store.begin(.full)
                _ = try core.step(.timer(.keys), at: now, in: node.store, using: &random)
                try node.store.commit()
                break
            } catch {
                node.store.rollback()
                #expect(try contents(of: node) == before, "failing at call \(call)")
                call = after(call)
            }
        }
        node.store.failNoMore()
        #expect(call > 50)
        #expect(try contents(of: node) != before)
        trio.world.restart(node)
        trio.world.run(for: 100_000)
        #expect(try trio.digests().count == 1)
        let record = try #require(try trio.ben.store.space(trio.group))
        let tag = LogTag(
            OperationHash.log(space: trio.group, device: node.identity.device, lane: .control))
        let last = try #require(try trio.ben.store.log(tag, in: record.number))
        let leaf = try trio.ben.store.operation(at: last.end - 1, in: last.number)
        #expect(leaf?.operation.header.kind == .leafUpdate, "the new leaf came")
    }

    @Test("takes in additions, removals and their epochs all the same, whenever it fails")
    func receiving() throws {
        let village = try Village(seed: 84)
        let (world, ann, ben, cara) = (village.world, village.ann, village.ben, village.cara)
        for call in stride(from: 1, through: 160, by: 8) {
            let isIn = try village.members(ann).contains("cara")
            ben.store.fail(atCall: call)
            if isIn {
                try village.remove(cara, by: ann)
            } else {
                try village.add(cara, by: ann)
            }
            world.run(for: 3_000)
            ben.store.failNoMore()
            world.run(for: 120_000)
            #expect(try village.members(ben).contains("cara") != isIn, "failing at call \(call)")
            var users = (KeyUser(ann), KeyUser(ben))
            #expect(
                try users.0.current(village.group)?.id == users.1.current(village.group)?.id,
                "failing at call \(call)")
        }
        village.settle()
        #expect(try village.frontiers([ann, ben]) == 1)
    }

    @Test("lets a guest in once, whenever the sponsor's fails")
    func redeeming() throws {
        let village = try Village(seed: 85, memberCount: 3)
        let (world, ann, dora) = (village.world, village.ann, village.dora)
        let secret = [UInt8](repeating: 6, count: 32)
        for call in stride(from: 1, through: 120, by: 12) {
            let expires = World.epoch + world.now + 3_600_000
            let reply = try world.perform(
                .createGroupInvite(
                    village.group, secret: secret, role: .member, uses: 2, expires: expires),
                on: ann)
            guard case .operation(let invite) = reply else { throw CommandRefusal.unknownInvite }
            let link = GroupLink(
                space: village.group, invite: invite, secret: secret, expires: expires,
                name: "trip", card: try ann.card())
            ann.store.fail(atCall: call)
            try village.perform(.joinGroup(link), dora)
            world.run(for: 5_000)
            ann.store.failNoMore()
            world.run(for: 300_000)
            let roster = try village.roster(ann)
            #expect(roster.member(dora.identity.person) != nil, "failing at call \(call)")
            let left = roster.invites.first { $0.operation == invite }?.usesLeft
            #expect(left == 1, "failing at call \(call)")
            try village.perform(.endGroupInvite(village.group, invite), ann)
            try village.remove(dora, by: ann)
            world.run(for: 3_000)
        }
        village.settle()
        #expect(try village.frontiers([ann, village.ben, village.cara]) == 1)
    }
}
