import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

/// Ann's laptop and phone.
private struct Household {
    let world: World
    let laptop: SimulatedNode
    let phone: SimulatedNode

    init(seed: UInt64) throws {
        let world = World(seed: seed)
        try self.init(world, world.addNode("laptop"))
    }

    private init(_ world: World, _ laptop: SimulatedNode) throws {
        self.world = world
        self.laptop = laptop
        phone = try world.addDevice("phone", of: laptop)
        world.run(for: 5_000)
    }

    /// The same, with the conversation that ann had with ben before there was a phone.
    static func withBen(
        seed: UInt64
    ) throws -> (home: Household, ben: SimulatedNode, space: SpaceID) {
        let world = World(seed: seed)
        let laptop = try world.addNode("laptop")
        let ben = try world.addNode("ben")
        let space = try world.introduce(laptop, ben)
        let home = try Household(world, laptop)
        world.run(for: 25_000)
        return (home, ben, space)
    }

    func revokePhone() throws {
        _ = try world.perform(.revokeDevice(phone.identity.device, root: nil), on: laptop)
    }
}

@Suite("The devices of a person")
struct DeviceTests {
    @Test("find each other, and know each other's names")
    func meet() throws {
        let home = try Household(seed: 1)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        world.run(for: 5_000)
        #expect(phone.identity.person == laptop.identity.person)
        #expect(laptop.core.linkedPeers.map(\.device) == [phone.identity.device])
        #expect(phone.core.linkedPeers.map(\.device) == [laptop.identity.device])
        #expect(laptop.core.node.log == phone.core.node.log)
    }

    @Test("survive a restart: what an identity log learnt is kept")
    func restart() throws {
        let home = try Household(seed: 2)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        for node in [laptop, phone] {
            world.crash(node, losingPower: true, downFor: .seconds(1))
        }
        world.run(for: 60_000)
        #expect(laptop.core.node.log.devices.count == 2)
        #expect(phone.core.node.log == laptop.core.node.log)
        #expect(phone.core.linkedPeers.map(\.device) == [laptop.identity.device])
    }

    @Test("are added by a valid proof alone, and only while the asked one may write")
    func proofs() throws {
        let world = World(seed: 3)
        let laptop = try world.addNode("laptop")
        var random = SeededRandom(seed: 9, purpose: "a device")
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        let other = try world.addNode("other")
        let proof = IdentityOperation.proofOfPossession(
            to: other.identity.person, by: key, noiseKey: noise.publicKey)
        let request = DeviceRequest(
            device: key.device, noiseKey: noise.publicKey, proof: proof, name: "")
        #expect(throws: CommandRefusal.unknownDevice) {
            try world.perform(.addDevice(request), on: laptop)
        }
        #expect(laptop.core.node.log.devices.count == 1)
    }

    @Test("that is asked for twice is added once")
    func twice() throws {
        let home = try Household(seed: 4)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        let proof = IdentityOperation.proofOfPossession(
            to: laptop.identity.person, by: phone.identity.key,
            noiseKey: phone.identity.noiseKey)
        let request = DeviceRequest(
            device: phone.identity.device, noiseKey: phone.identity.noiseKey, proof: proof,
            name: "phone")
        _ = try world.perform(.addDevice(request), on: laptop)
        #expect(laptop.core.node.log.operations.count == 3)
    }

    @Test("that are revoked are refused by all who know, and write nothing once they know")
    func revoked() throws {
        let home = try Household(seed: 5)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        world.run(for: 5_000)
        try home.revokePhone()
        world.run(for: 30_000)
        #expect(laptop.core.linkedPeers.isEmpty)
        #expect(phone.core.node.isRevoked)
        #expect(throws: CommandRefusal.revoked) {
            try world.perform(.setProfile(name: "thief", addresses: nil), on: phone)
        }
    }

    @Test("change addresses and prekeys without setting the name back that another device gave")
    func laterName() throws {
        let home = try Household(seed: 7)
        let (world, laptop, phone, person) = (
            home.world, home.laptop, home.phone, home.laptop.identity.person
        )
        world.run(for: 5_000)
        _ = try world.perform(.setProfile(name: "early", addresses: nil), on: laptop)
        world.run(for: 5_000)
        _ = try world.perform(.setProfile(name: "late", addresses: nil), on: phone)
        world.run(for: 5_000)
        _ = try world.perform(.setProfile(name: nil, addresses: ["elsewhere:1"]), on: laptop)
        world.run(for: 5_000)
        for node in [laptop, phone] {
            #expect(try CardReader.name(of: person, node.store) == "late")
            #expect(try CardReader.addresses(of: person, node.store).contains("elsewhere:1"))
        }
        _ = try world.perform(.setProfile(name: "early", addresses: nil), on: laptop)
        world.run(for: 5_000)
        #expect(try CardReader.name(of: person, phone.store) == "early")
    }

    @Test("revoke their juniors; who is not needs the recovery code")
    func ranks() throws {
        let home = try Household(seed: 6)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        let other = try world.addNode("other")
        #expect(throws: CommandRefusal.needsRecoveryCode) {
            try world.perform(.revokeDevice(laptop.identity.device, root: nil), on: phone)
        }
        #expect(throws: CommandRefusal.wrongRecoveryCode) {
            try world.perform(
                .revokeDevice(laptop.identity.device, root: other.identity.key), on: phone)
        }
        #expect(throws: CommandRefusal.unknownDevice) {
            try world.perform(.revokeDevice(other.identity.device, root: nil), on: phone)
        }
        #expect(throws: CommandRefusal.ownDevice) {
            try world.perform(.revokeDevice(phone.identity.device, root: nil), on: phone)
        }
        #expect(!phone.core.node.isRevoked)
    }

    @Test("Attack 6: a revoked device that hides it is refused by a contact who heard of it")
    func hidden() throws {
        let (home, ben, space) = try Household.withBen(seed: 7)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        world.partition([phone], [laptop, ben])
        try home.revokePhone()
        world.run(for: 100_000)
        try world.type("after", on: ben, in: space)
        world.heal()
        world.partition([phone, ben], [laptop])
        world.run(for: 600_000)
        #expect(phone.core.node.isRevoked, "who refuses it tells it why")
        #expect(try !phone.texts(in: space).contains("after"))
        #expect(!ben.core.linkedPeers.map(\.device).contains(phone.identity.device))
        let key = Array(Refusal.revokedDevice.rawValue.utf8)
        #expect(try ben.store.value(.refusal, key) != nil)
    }

    @Test("get what was written before them, write into the same conversation, and all agree")
    func history() throws {
        let world = World(seed: 10)
        let laptop = try world.addNode("laptop")
        let ben = try world.addNode("ben")
        let space = try world.introduce(laptop, ben)
        for count in 0..<40 { try world.type("ben \(count)", on: ben, in: space) }
        _ = try world.perform(.mute(space, isOn: true), on: laptop)
        world.run(for: 5_000)
        let phone = try world.addDevice("phone", of: laptop)
        world.run(for: 30_000)
        #expect(try phone.texts(in: space) == laptop.texts(in: space))
        try world.type("from the phone", on: phone, in: space)
        try world.type("from the laptop", on: laptop, in: space)
        world.run(for: 30_000)
        for node in [laptop, phone] {
            #expect(try node.texts(in: space).count == 42)
            #expect(try node.texts(in: space) == ben.texts(in: space))
            #expect(try node.digest(of: space) == ben.digest(of: space))
        }
        #expect(Set(ben.core.linkedPeers.map(\.device)).count == 2)
        let own = try #require(phone.core.ownSpace)
        #expect(own.id == laptop.core.ownSpace?.id)
        #expect(
            try Overview.mute(space, ownSpace: own.number, in: phone.store) != nil,
            "mutes converge")
        let contacts = try Overview.contacts(ownSpace: own.number, in: phone.store)
        #expect(contacts.map(\.person) == [ben.identity.person])
        let names = try Overview.deviceNames(ownSpace: own.number, in: phone.store)
        #expect(names == [DeviceName(device: phone.identity.device, name: "phone")])
    }

    @Test("that are revoked read nothing new, and nobody takes anything new from them")
    func silenced() throws {
        let (home, ben, space) = try Household.withBen(seed: 11)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        try world.type("before", on: phone, in: space)
        world.run(for: 5_000)
        world.partition([phone], [laptop, ben])
        try world.type("thief", on: phone, in: space)
        try home.revokePhone()
        world.run(for: 5_000)
        try world.type("secret", on: ben, in: space)
        world.run(for: 5_000)
        world.heal()
        world.run(for: 600_000)
        #expect(try !phone.texts(in: space).contains("secret"))
        for node in [laptop, ben] {
            #expect(try node.texts(in: space) == ["before", "secret"])
        }
        #expect(try laptop.digest(of: space) == ben.digest(of: space))
        #expect(phone.core.node.isRevoked)
        #expect(throws: CommandRefusal.revoked) { try world.type("x", on: phone, in: space) }
    }

    @Test("that write two histories are known for it, and a revocation ends both")
    func forked() throws {
        let (home, ben, space) = try Household.withBen(seed: 15)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        try world.type("before", on: phone, in: space)
        world.run(for: 5_000)
        #expect(try world.equivocate(phone, in: space))
        world.run(for: 60_000)
        for node in [laptop, ben] {
            let forked = try node.store.forks().map(\.proof.left.device)
            #expect(forked == [phone.identity.device], "\(node.name)")
        }
        try home.revokePhone()
        world.run(for: 10_000)
        try world.type("after", on: ben, in: space)
        world.run(for: 300_000)
        for node in [laptop, ben] {
            #expect(try node.texts(in: space) == ["before", "after"], "\(node.name)")
        }
        #expect(try laptop.digest(of: space) == ben.digest(of: space))
        #expect(!ben.core.linkedPeers.map(\.device).contains(phone.identity.device))
        #expect(try !phone.texts(in: space).contains("after"))
    }

    @Test("that are revoked and then set back to an old copy take nothing from before")
    func setBack() throws {
        let (home, ben, space) = try Household.withBen(seed: 12)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        try world.type("first", on: phone, in: space)
        world.run(for: 5_000)
        let copy = phone.store.snapshot()
        try world.type("second", on: phone, in: space)
        world.run(for: 20_000)
        try home.revokePhone()
        world.run(for: 20_000)
        world.restore(phone, from: copy)
        world.run(for: 300_000)
        for node in [laptop, ben] {
            #expect(try node.texts(in: space) == ["first", "second"])
        }
        #expect(phone.core.node.isRevoked)
    }

    @Test("end each other: a space that one of them made apart learns of it as well")
    func apart() throws {
        let world = World(seed: 13)
        let laptop = try world.addNode("laptop")
        let ben = try world.addNode("ben")
        try world.introduce(laptop, ben)
        let phone = try world.addDevice("phone", of: laptop)
        world.run(for: 30_000)
        world.partition([phone, ben], [laptop])
        guard
            case .space(let number) = try world.perform(
                .createGroup(name: "apart", members: [ben.identity.person]), on: phone)
        else { return }
        let space = try #require(try phone.store.space(number)).id
        let tablet = try world.addDevice("tablet", of: laptop)
        world.run(for: 20_000)
        world.heal()
        world.run(for: 400_000)
        try world.type("all here", on: tablet, in: space)
        world.run(for: 30_000)
        for node in [laptop, phone, ben, tablet] {
            #expect(try node.texts(in: space) == ["all here"], "\(node.name)")
        }
    }

    @Test("of a verified person are noticed when they change, of others not")
    func notices() throws {
        let world = World(seed: 8)
        let laptop = try world.addNode("laptop")
        let ben = try world.addNode("ben")
        let cleo = try world.addNode("cleo")
        try world.introduce([laptop, ben, cleo])
        let ann = laptop.identity.person
        _ = try world.perform(.markVerified(ann), on: ben)
        let phone = try world.addDevice("phone", of: laptop)
        world.run(for: 20_000)
        _ = try world.perform(.revokeDevice(phone.identity.device, root: nil), on: laptop)
        world.run(for: 20_000)
        let notices = try Notice.all(in: ben.store)
        #expect(notices.map(\.kind) == [.devicesChanged, .devicesChanged])
        #expect(notices.map(\.person) == [ann, ann])
        #expect(notices.map(\.added) == [[phone.identity.device], []])
        #expect(notices.map(\.revoked) == [[], [phone.identity.device]])
        #expect(try Notice.all(in: cleo.store).isEmpty)
    }

    /// Whoever calls was once noted with the time of it: strangers come in any number.
    @Test(
        "of strangers that call leave nothing behind, those of contacts when they were last there")
    func lastSeen() throws {
        let world = World(seed: 14)
        let ben = try world.addNode("ben")
        let ann = try world.addNode("ann")
        try world.introduce(ben, ann)
        world.cut(ann, ben)
        world.run(for: 100_000)
        #expect(try NodeCore.lastSeen(ann.identity.device, in: ben.store) != nil)
        let mallory = try world.addNode("mallory")
        let peer = LinkPeer(
            person: mallory.identity.person, root: mallory.identity.root,
            device: mallory.identity.device, identity: mallory.identity.operations,
            handshakeHash: [], isInitiator: false)
        var core = ben.core
        var random = SeededRandom(seed: 9, purpose: "a step")
        try ben.store.begin(.normal)
        for input in [Input.linkOpened(LinkID(1 << 40), peer), .linkClosed(LinkID(1 << 40))] {
            _ = try core.step(
                input, at: Instant(monotonic: world.now, wall: 7), in: ben.store, using: &random)
        }
        #expect(try NodeCore.lastSeen(mallory.identity.device, in: ben.store) == nil)
        try ben.store.commit()
    }

    @Test("Attack 21: an identity log of somebody else changes nobody's devices")
    func foreign() throws {
        let world = World(seed: 9)
        let laptop = try world.addNode("laptop")
        let ben = try world.addNode("ben")
        let mallory = try world.addNode("mallory")
        try world.introduce(laptop, ben)
        let before = try ben.store.value(.card, laptop.identity.person.bytes)
        let peer = LinkPeer(
            person: laptop.identity.person, root: laptop.identity.root,
            device: mallory.identity.device, identity: mallory.identity.operations,
            handshakeHash: [], isInitiator: false)
        var core = ben.core
        var random = SeededRandom(seed: 9, purpose: "a step")
        try ben.store.begin(.normal)
        let effects = try core.step(
            .linkOpened(LinkID(1 << 40), peer), at: Instant(monotonic: world.now, wall: 0),
            in: ben.store, using: &random)
        #expect(try ben.store.value(.card, laptop.identity.person.bytes) == before)
        try ben.store.commit()
        #expect(effects.contains { if case .hangUp(_, .revoked) = $0 { true } else { false } })
    }

    @Test(
        "undo by their revocation that one left a group for all, and not that they were removed",
        arguments: [true, false])
    func left(hasLeft: Bool) throws {
        let (home, ben, _) = try Household.withBen(seed: 16)
        let (world, laptop, phone) = (home.world, home.laptop, home.phone)
        let people = [laptop.identity.person]
        _ = try world.perform(.createGroup(name: "trip", members: people), on: ben)
        let group = try #require(try ben.store.spaces().first { $0.kind == .group })
        world.run(for: 10_000)
        world.partition([laptop], [phone, ben])
        _ =
            hasLeft
            ? try world.perform(.leave(group.id), on: phone)
            : try world.perform(.removeMember(group.id, laptop.identity.person), on: ben)
        world.run(for: 10_000)
        let heldCount = try ben.logEnds(of: laptop, in: group)
        try home.revokePhone()
        world.run(for: 1_000)
        world.heal()
        world.run(for: 700_000)
        if hasLeft {
            try world.type("still here", on: laptop, in: group.id)
            world.run(for: 5_000)
            #expect(try ben.texts(in: group.id) == ["still here"])
            #expect(try ben.digest(of: group.id) == laptop.digest(of: group.id))
        } else {
            #expect(throws: CommandRefusal.notMember) {
                try world.type("still here", on: laptop, in: group.id)
            }
            #expect(try ben.logEnds(of: laptop, in: group) == heldCount)
        }
    }
}

extension SimulatedNode {
    /// How much of the logs of another's device this one holds.
    fileprivate func logEnds(of other: SimulatedNode, in space: SpaceRecord) throws -> [UInt64] {
        try store.logs(in: space.number).filter { $0.device == other.identity.device }.map(\.end)
    }
}
