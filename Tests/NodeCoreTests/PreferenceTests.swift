import ParleyLedger
import ParleyRoster
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleyConversation
@testable import ParleyNodeCore
@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contact ann.
private struct Desk {
    let world: World
    let ann, laptop, phone: SimulatedNode

    init(seed: UInt64) throws {
        world = World(seed: seed)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        _ = try world.introduce(ann, laptop)
        phone = try world.addDevice("phone", of: laptop)
        world.run(for: 30_000)
    }

    func perform(_ command: Command, _ node: SimulatedNode) throws {
        _ = try world.perform(command, on: node)
    }

    func seen() -> Presence? { ann.core.presences[laptop.identity.person]?.presence }
}

/// Reading what a device knows of its person's preferences.
extension SimulatedNode {
    fileprivate func privacy(for person: PersonID?) throws -> PresenceBook.Privacy? {
        try observing {
            let own = try #require(core.ownSpace)
            return try NodeCore.privacy(for: person, ownSpace: own.number, in: store)
        }
    }

    fileprivate func servers() throws -> [String] {
        try observing {
            let own = try #require(core.ownSpace)
            return try NodeCore.callServers(ownSpace: own.number, in: store).map(\.address)
        }
    }

    fileprivate func makesLinkPreviews() throws -> Bool? {
        try observing {
            let own = try #require(core.ownSpace)
            return try NodeCore.makesLinkPreviews(ownSpace: own.number, in: store)
        }
    }

    fileprivate func preference(_ key: UInt16) throws -> [UInt8]? {
        try observing {
            let own = try #require(core.ownSpace)
            return try Overview.preference(
                PreferenceKey(rawValue: key), ownSpace: own.number, in: store)
        }
    }

    /// Writes something into the own space that no command writes.
    fileprivate func say(_ draft: Draft, in world: World) throws {
        let own = try #require(core.ownSpace)
        let author = try LogAuthor(
            key: identity.key, space: own,
            authority: observing { try #require(try roster(of: own)).authority },
            wallClock: World.epoch + world.now)
        var random = SeededRandom(seed: 7)
        try store.begin(.full)
        _ = try author.append([draft], to: store, using: &random)
        try store.commit()
        world.restart(self)
    }
}

@Suite("Own devices know the same: what the person set")
struct PreferenceTests {
    static let turn = TurnServer(address: "turn:t.example:3478", access: .secret("north"))
    static let stun = TurnServer(address: "stun:s.example:3478", access: .open)

    /// Told nothing by the one, and all by the other.
    @Test("who is told nothing on one device is told nothing by the other")
    func privacy() throws {
        let desk = try Desk(seed: 901)
        let (world, ann) = (desk.world, desk.ann.identity.person)
        try desk.perform(.setPrivacy(.nothing, for: ann), desk.laptop)
        world.run(for: 2_000)
        try desk.perform(.setPresence(.online), desk.phone)
        world.run(for: 2_000)
        #expect(desk.seen() != .online)
        // What is taken back on one is told by the other at once.
        try desk.perform(.setPrivacy(.everything, for: ann), desk.laptop)
        world.run(for: 2_000)
        #expect(desk.seen() == .online)
        try desk.perform(.setPrivacy(.nothing, for: ann), desk.laptop)
        world.run(for: 2_000)
        #expect(desk.seen() == .offline)
        #expect(try desk.phone.privacy(for: ann) == .nothing)
    }

    @Test("two that set the same while apart agree; servers that each set are both there")
    func concurrent() throws {
        let desk = try Desk(seed: 902)
        let (world, laptop, phone) = (desk.world, desk.laptop, desk.phone)
        world.partition([laptop], [phone], [desk.ann])
        world.run(for: 100_000)
        try desk.perform(.setPrivacy(.nothing, for: nil), laptop)
        try desk.perform(.setPrivacy(.nowOnly, for: nil), phone)
        try desk.perform(.setCallServer(try #require(Self.turn)), laptop)
        try desk.perform(.setCallServer(try #require(Self.stun)), phone)
        #expect(try laptop.privacy(for: nil) != phone.privacy(for: nil))
        world.heal()
        world.run(for: 400_000)
        let agreed = try laptop.privacy(for: nil)
        #expect(try agreed != nil && phone.privacy(for: nil) == agreed)
        #expect(try laptop.servers().sorted() == ["stun:s.example:3478", "turn:t.example:3478"])
        #expect(try phone.servers() == laptop.servers())
        try desk.perform(.removeCallServer("stun:s.example:3478"), laptop)
        world.run(for: 2_000)
        #expect(try phone.servers() == ["turn:t.example:3478"])
    }

    @Test("a device that comes later knows, and one that a backup restored")
    func later() throws {
        let desk = try Desk(seed: 903)
        let (world, laptop) = (desk.world, desk.laptop)
        try desk.perform(.setPrivacy(.nowOnly, for: nil), laptop)
        try desk.perform(.setCallServer(try #require(Self.turn)), laptop)
        try desk.perform(.setAdditionPolicy(.contacts), laptop)
        world.run(for: 2_000)
        let tablet = try world.addDevice("tablet", of: laptop)
        world.run(for: 10_000)
        #expect(try tablet.privacy(for: nil) == .nowOnly)
        #expect(try tablet.servers() == ["turn:t.example:3478"])
        let backup = try laptop.makeBackup()
        world.cut(laptop, desk.ann)
        let restored = try world.recover("restored", of: laptop, from: backup)
        world.run(for: 10_000)
        #expect(try restored.privacy(for: nil) == .nowOnly)
        #expect(try restored.servers() == ["turn:t.example:3478"])
    }

    @Test("a device that came back by the recovery code alone tells nothing before it knows more")
    func recovered() throws {
        let desk = try Desk(seed: 906)
        let (world, ann) = (desk.world, desk.ann)
        try desk.perform(.setPrivacy(.nothing, for: ann.identity.person), desk.laptop)
        world.run(for: 5_000)
        for lost in [desk.laptop, desk.phone] { world.stopProcess(of: lost) }
        let again = try world.recover("again", of: desk.laptop, helpedBy: ann)
        _ = try world.introduce(ann, again)
        world.run(for: 100_000)
        #expect(try again.privacy(for: ann.identity.person) == nil, "nobody told it")
        try desk.perform(.setPresence(.online), again)
        world.run(for: 10_000)
        #expect(desk.seen() != .online)
        try desk.perform(.setPrivacy(.everything, for: nil), again)
        world.run(for: 10_000)
        #expect(desk.seen() == .online)
    }

    @Test("what an earlier program kept on one device holds there until it is taken over")
    func former() throws {
        let desk = try Desk(seed: 907)
        let ann = desk.ann.identity.person
        let store = desk.laptop.store
        try store.begin(.full)
        try store.setValue(
            [PresenceBook.Privacy.nothing.rawValue], .profile, NodeCore.formerPrivacyKey(ann))
        try store.commit()
        try desk.perform(.setPresence(.online), desk.laptop)
        desk.world.run(for: 5_000)
        #expect(desk.seen() != .online)
        try desk.perform(.setPrivacy(.everything, for: ann), desk.laptop)
        desk.world.run(for: 5_000)
        #expect(desk.seen() == .online)
    }

    @Test("no more than eight servers are set")
    func bounded() throws {
        let desk = try Desk(seed: 904)
        for count in 0..<NodeCore.callServerCountMax {
            let server = TurnServer(address: "stun:s\(count).example", access: .open)
            try desk.perform(.setCallServer(try #require(server)), desk.laptop)
        }
        let ninth = try #require(Self.turn)
        #expect(throws: CommandRefusal.tooManyServers(limit: 8)) {
            try desk.perform(.setCallServer(ninth), desk.laptop)
        }
        let first = try #require(TurnServer(address: "stun:s0.example", access: .secret("x")))
        try desk.perform(.setCallServer(first), desk.laptop)
        #expect(try desk.laptop.servers().count == 8)
    }

    @Test("what only a newer device understands is kept, and tells nobody more")
    func unknown() throws {
        let desk = try Desk(seed: 905)
        let (world, phone) = (desk.world, desk.phone)
        try desk.laptop.say(
            Preference(PreferenceKey(rawValue: 999), [1, 2, 3]).draft(), in: world)
        world.run(for: 30_000)
        #expect(try phone.preference(999) == [1, 2, 3])
        try desk.laptop.say(Preference(.presence, [77]).draft(), in: world)
        world.run(for: 30_000)
        #expect(try phone.privacy(for: nil) == .nothing)
        try desk.perform(.setPresence(.online), phone)
        world.run(for: 2_000)
        #expect(desk.seen() != .online)
        // Too long to be one: nothing is kept of it.
        let long = [UInt8](repeating: 1, count: Preference.valueByteCountMax + 1)
        try desk.laptop.say(Preference(.presence, long).draft(), in: world)
        world.run(for: 30_000)
        #expect(try phone.preference(1) == [77])
    }

    @Test("links get previews on all devices once the person says so, and on none once they say no")
    func linkPreviews() throws {
        let desk = try Desk(seed: 908)
        let (world, laptop, phone) = (desk.world, desk.laptop, desk.phone)
        #expect(try laptop.makesLinkPreviews() == nil)
        try desk.perform(.setLinkPreviews(true), laptop)
        world.run(for: 30_000)
        #expect(try phone.makesLinkPreviews() == true)
        try desk.perform(.setLinkPreviews(false), phone)
        world.run(for: 30_000)
        // Said, and not forgotten: nothing of an earlier program holds beside it.
        #expect(try laptop.makesLinkPreviews() == false)
        try laptop.say(Preference(.linkPreviews, [7]).draft(), in: world)
        world.run(for: 30_000)
        #expect(try phone.makesLinkPreviews() == false)
    }

    @Test("Attack 299: what only a newer device understands of receipts and typing tells less")
    func unknownDisclosure() throws {
        let desk = try Desk(seed: 909)
        let space = try #require(try desk.phone.store.spaces().first { $0.kind == .direct }).id
        func isTold(_ what: Disclosure) throws -> Bool {
            try desk.phone.observing {
                try what.isTold(
                    in: space, ownSpace: desk.phone.core.ownSpace?.number, desk.phone.store)
            }
        }
        for what in Disclosure.allCases {
            #expect(try isTold(what))
            try desk.laptop.say(Preference(what.key, [7]).draft(), in: desk.world)
            desk.world.run(for: 30_000)
            #expect(try !isTold(what))
            let own = Preference(what.key, about: space.bytes, [1]).draft()
            try desk.laptop.say(own, in: desk.world)
            desk.world.run(for: 30_000)
            #expect(try isTold(what))
            try desk.laptop.say(
                Preference(what.key, about: space.bytes, [1, 1]).draft(), in: desk.world)
            desk.world.run(for: 30_000)
            #expect(try !isTold(what))
        }
    }

    @Test("the recovery code was asked back on all devices, and the last time counts")
    func recoveryCheck() throws {
        let desk = try Desk(seed: 906)
        try desk.perform(.noteRecoveryCheck(at: 7_000), desk.laptop)
        desk.world.run(for: 30_000)
        #expect(try desk.phone.preference(5) == [0, 0, 0, 0, 0, 0, 0x1B, 0x58])
        try desk.perform(.noteRecoveryCheck(at: 6_000), desk.phone)
        desk.world.run(for: 30_000)
        #expect(try desk.laptop.preference(5) == [0, 0, 0, 0, 0, 0, 0x1B, 0x58])
    }
}
