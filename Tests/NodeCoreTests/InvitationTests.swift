import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// People who are asked before they are in a group.
struct Asked {
    let world: World
    let ann, ben, cara: SimulatedNode

    init(seed: UInt64) throws {
        world = World(seed: seed)
        world.contactsMayAdd = false
        ann = try world.addNode("ann")
        (ben, cara) = (try world.addNode("ben"), try world.addNode("cara"))
        try world.introduce([ann, ben, cara])
    }

    func group(_ name: String, _ members: [SimulatedNode], by node: SimulatedNode) throws -> SpaceID
    {
        let reply = try world.perform(
            .createGroup(name: name, members: members.map(\.identity.person)), on: node)
        guard case .space(let number) = reply, let space = try node.store.space(number) else {
            throw CommandRefusal.unknownConversation
        }
        return space.id
    }

    func invitations(_ node: SimulatedNode) throws -> [Invitation] {
        try Invitation.waiting(in: node.store).map(\.invitation)
    }

    func roster(_ space: SpaceID, _ node: SimulatedNode) throws -> Roster? {
        try node.store.space(space).flatMap { try node.roster(of: $0) }
    }

    func isInvited(
        _ person: SimulatedNode, into space: SpaceID, by node: SimulatedNode
    ) throws -> Bool {
        try roster(space, node)?.isInvited(person.identity.person) == true
    }

    /// Operations held of a space outside lane 0.
    func contentCount(_ space: SpaceID, _ node: SimulatedNode) throws -> Int {
        guard let record = try node.store.space(space) else { return 0 }
        return try node.store.logs(in: record.number).filter { $0.lane != .control }
            .reduce(0) { $0 + $1.heldCount }
    }

    func refusal(_ command: Command, _ node: SimulatedNode) -> CommandRefusal? {
        do {
            _ = try world.perform(command, on: node)
            return nil
        } catch { return error }
    }
}

@Suite("Invitations")
struct InvitationTests {
    @Test("of a group that one was added to nothing comes before one accepts, and then all does")
    func accepted() throws {
        let asked = try Asked(seed: 801)
        let (world, ann, ben, cara) = (asked.world, asked.ann, asked.ben, asked.cara)
        let trip = try asked.group("trip", [ben, cara], by: ann)
        _ = try world.perform(.acceptInvitation(trip), on: cara, after: 2_000)
        try world.type("who comes?", on: ann, in: trip)
        world.run(for: 5_000)
        let waiting = try #require(try asked.invitations(ben).first)
        #expect(waiting.name == "trip")
        #expect(waiting.inviter == ann.identity.person)
        #expect(waiting.memberCount == 3)
        #expect(try asked.isInvited(ben, into: trip, by: ann))
        #expect(try asked.isInvited(ben, into: trip, by: ben))
        #expect(try asked.contentCount(trip, ben) == 0)
        #expect(try cara.texts(in: trip) == ["who comes?"])
        let words = [TextMessage(text: "me")]
        #expect(asked.refusal(.send(trip, words, replyingTo: nil), ben) == .invited)
        #expect(asked.refusal(.addMember(trip, cara.identity.person, .member), ben) == .invited)
        try world.perform(.acceptInvitation(trip), on: ben, after: 0)
        world.run(for: 5_000)
        #expect(try asked.invitations(ben).isEmpty)
        #expect(try !asked.isInvited(ben, into: trip, by: cara))
        #expect(try ben.texts(in: trip) == ["who comes?"])
        try world.type("me", on: ben, in: trip)
        world.run(for: 5_000)
        #expect(try cara.texts(in: trip) == ["who comes?", "me"])
        #expect(try ann.digest(of: trip) == ben.digest(of: trip))
        #expect(asked.refusal(.acceptInvitation(trip), ben) == .notInvited)
    }

    @Test("of who has not accepted nothing but lane 0 is taken, and the rest once they have")
    func writesUnaccepted() throws {
        let asked = try Asked(seed: 815)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let trip = try asked.group("trip", [ben, asked.cara], by: ann)
        _ = try world.perform(.acceptInvitation(trip), on: asked.cara, after: 2_000)
        world.run(for: 3_000)
        func words(at node: SimulatedNode) throws -> Int {
            let record = try #require(try node.store.space(trip))
            return try node.store.logs(in: record.number)
                .filter { $0.lane == .content && $0.device == ben.identity.device }
                .reduce(0) { $0 + $1.heldCount }
        }
        #expect(try world.backdate(ben, in: trip))
        #expect(try world.backdate(ben, in: trip))
        world.run(for: 65_000)
        #expect(try words(at: ben) == 2)
        #expect(try words(at: ann) == 0)
        #expect(try words(at: asked.cara) == 0)
        try world.perform(.acceptInvitation(trip), on: ben, after: 0)
        world.run(for: 65_000)
        #expect(try words(at: ann) == 2)
        #expect(try words(at: asked.cara) == 2)
        #expect(try ann.digest(of: trip) == asked.cara.digest(of: trip))
    }

    @Test("who accepts makes keys for the group, and others write under them")
    func newKeys() throws {
        let asked = try Asked(seed: 802)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let trip = try asked.group("trip", [ben], by: ann)
        world.run(for: 3_000)
        try world.perform(.acceptInvitation(trip), on: ben, after: 0)
        world.run(for: 3_000)
        var core = ann.core
        let record = try #require(try ann.store.space(trip))
        let epoch = try core.currentEpoch(of: record, in: ann.store)
        #expect(epoch?.author == ben.identity.device)
    }

    @Test("who declines is out, and can be asked again")
    func declined() throws {
        let asked = try Asked(seed: 803)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let trip = try asked.group("trip", [ben], by: ann)
        world.run(for: 3_000)
        try world.perform(.declineInvitation(trip), on: ben, after: 0)
        world.run(for: 3_000)
        #expect(try asked.invitations(ben).isEmpty)
        #expect(try asked.roster(trip, ann)?.member(ben.identity.person) == nil)
        try world.perform(.addMember(trip, ben.identity.person, .member), on: ann, after: 0)
        world.run(for: 3_000)
        #expect(try asked.invitations(ben).count == 1)
        #expect(try asked.contentCount(trip, ben) == 0)
    }

    @Test("an invitation that is taken back waits no more")
    func takenBack() throws {
        let asked = try Asked(seed: 804)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let trip = try asked.group("trip", [ben], by: ann)
        world.run(for: 3_000)
        #expect(try asked.invitations(ben).count == 1)
        try world.perform(.removeMember(trip, ben.identity.person), on: ann, after: 0)
        world.run(for: 3_000)
        #expect(try asked.invitations(ben).isEmpty)
        #expect(asked.refusal(.acceptInvitation(trip), ben) == .notInvited)
        world.restart(ben)
        world.run(for: 65_000)
        #expect(asked.refusal(.acceptInvitation(trip), ben) == .unknownConversation)
        #expect(try ben.store.space(trip) == nil, "nothing of it is left here")
    }

    /// A long control log comes in parts. One part took the person out whom the next one let in again; the
    /// space was forgotten in between, and fetched anew on each link, for ever.
    @Test("an invitation that is taken back and given again in what still comes is not forgotten")
    func takenBackInPart() throws {
        let asked = try Asked(seed: 814)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let trip = try asked.group("trip", [ben], by: ann)
        world.run(for: 3_000)
        let number = try #require(try ben.store.space(trip)).number
        try world.perform(.removeMember(trip, ben.identity.person), on: ann, after: 0)
        world.run(for: 5_000)
        #expect(try asked.invitations(ben).isEmpty)
        try world.perform(.addMember(trip, ben.identity.person, .member), on: ann, after: 0)
        world.run(for: 5_000)
        #expect(try asked.invitations(ben).count == 1)
        #expect(try ben.store.space(trip)?.number == number, "what is held was not fetched again")
        world.run(for: 120_000)
        #expect(try asked.invitations(ben).count == 1)
    }

    @Test("who lets contacts add them is in at once, on all devices")
    func unasked() throws {
        let asked = try Asked(seed: 805)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 20_000)
        let before = try asked.group("before", [ben], by: ann)
        world.run(for: 5_000)
        #expect(try asked.isInvited(ben, into: before, by: phone))
        try world.perform(.setAdditionPolicy(.contacts), on: phone, after: 0)
        world.run(for: 10_000)
        #expect(try !asked.isInvited(ben, into: before, by: ann), "what waited is accepted too")
        let after = try asked.group("after", [ben], by: ann)
        world.run(for: 10_000)
        #expect(try !asked.isInvited(ben, into: after, by: ann))
        try world.type("hello", on: ann, in: after)
        world.run(for: 5_000)
        #expect(try phone.texts(in: after) == ["hello"])
    }

    @Test("one device answers for the others")
    func otherDevice() throws {
        let asked = try Asked(seed: 806)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let phone = try world.addDevice("phone", of: ben)
        world.run(for: 20_000)
        let trip = try asked.group("trip", [ben], by: ann)
        world.run(for: 10_000)
        #expect(try asked.invitations(phone).count == 1)
        try world.perform(.acceptInvitation(trip), on: phone, after: 0)
        world.run(for: 10_000)
        #expect(try asked.invitations(ben).isEmpty)
        try world.type("hello", on: ben, in: trip)
        world.run(for: 5_000)
        #expect(try phone.texts(in: trip) == ["hello"])
    }

    /// A contact made 894 conversations in twelve seconds.
    @Test("Attack 110: a contact has sixteen invitations waiting, and no more is stored of others")
    func bounded() throws {
        let asked = try Asked(seed: 807)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let spaceCount = try ben.store.spaces().count
        var groups: [SpaceID] = []
        for count in 0..<40 { groups.append(try asked.group("g\(count)", [ben], by: ann)) }
        world.run(for: 10_000)
        #expect(try asked.invitations(ben).count == 16)
        #expect(try ben.store.spaces().count == spaceCount + 16)
        #expect(try ben.count(.invitation) > 0)
        let first = try #require(try Invitation.waiting(in: ben.store).first).space
        try world.perform(.declineInvitation(first), on: ben, after: 0)
        world.restart(ben)
        world.run(for: 30_000)
        #expect(try asked.invitations(ben).count == 16, "there was room for one more")
    }

    @Test(
        "Attack 110: who lets contacts add them is brought a bounded number of groups an hour"
    )
    func boundedUnasked() throws {
        let asked = try Asked(seed: 808)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        try world.perform(.setAdditionPolicy(.contacts), on: ben, after: 0)
        let spaceCount = try ben.store.spaces().count
        for count in 0..<90 {
            _ = try asked.group("g\(count)", [ben], by: ann)
            world.run(for: 2_000)
        }
        let limit = Int(NodeCore.adoptionCountMax)
        // Of the conversation of two, one is counted as well.
        #expect(try ben.store.spaces().count <= spaceCount + limit)
        #expect(try ben.count(.invitation) > 0)
    }

    @Test("Attack 288: for a conversation of two that nobody knows no other one is read")
    func unknownDirect() throws {
        let asked = try Asked(seed: 810)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let now = Instant(monotonic: world.now, wall: World.epoch + world.now)
        var core = ben.core
        core.rosters.judges = [:]
        for number in 0..<100 as Range<UInt8> {
            let space = try #require(SpaceID([UInt8](repeating: number, count: 32)))
            _ = try core.hasRoomToAdopt(
                space, .direct, from: ann.identity.person, at: now, ben.store)
        }
        #expect(core.rosters.judges.isEmpty)
        let direct = try ben.store.spaces().filter { $0.kind == .direct }
        #expect(!direct.isEmpty, "there is one that could be read")
    }

    @Test("Attack 111: of a long control log no more than its bound is kept before one accepts")
    func boundedControl() throws {
        let asked = try Asked(seed: 809)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let trip = try asked.group("trip", [ben], by: ann)
        world.run(for: 3_000)
        let record = try #require(try ann.store.space(trip))
        let noise = Draft(
            kind: OperationKind(rawValue: 30), lane: .control,
            payload: [UInt8](repeating: 7, count: 40 << 10), isErasable: false)
        let author = LogAuthor(
            key: ann.identity.key, space: record, authority: 0,
            wallClock: World.epoch + world.now)
        var random = SeededRandom(seed: 1)
        try ann.store.begin(.full)
        _ = try author.append(
            Array(repeating: noise, count: 60), to: ann.store, using: &random)
        try ann.store.commit()
        world.restart(ann)
        world.run(for: 60_000)
        let held = try #require(try Invitation.into(trip, in: ben.store)).byteCount
        #expect(held >= NodeCore.unacceptedByteCountMax)
        #expect(held < NodeCore.unacceptedByteCountMax + (512 << 10))
        try world.perform(.acceptInvitation(trip), on: ben, after: 0)
        world.run(for: 120_000)
        #expect(try !asked.isInvited(ben, into: trip, by: ann))
        #expect(try ann.digest(of: trip) == ben.digest(of: trip))
        let there = try #require(try ben.store.space(trip))
        let end = { (node: SimulatedNode, space: SpaceRecord) throws in
            try node.store.logs(in: space.number).filter { $0.lane == .control }
                .reduce(0) { $0 + Int($1.end) }
        }
        #expect(try end(ann, record) == end(ben, there), "the rest came after")
    }

    @Test("an invitation comes through a relay, and so does the answer")
    func relays() throws {
        let asked = try Asked(seed: 810)
        let (world, ann, ben) = (asked.world, asked.ann, asked.ben)
        let relay = world.addRelay("relay")
        world.start(relay)
        for node in [ann, ben] { try world.use(relay, by: node) }
        world.run(for: 30_000)
        world.cut(ann, ben)
        let trip = try asked.group("trip", [ben], by: ann)
        try world.type("hello", on: ann, in: trip)
        world.run(for: 60_000)
        #expect(try asked.invitations(ben).count == 1)
        #expect(try asked.contentCount(trip, ben) == 0)
        try world.perform(.acceptInvitation(trip), on: ben, after: 0)
        world.run(for: 120_000)
        #expect(try !asked.isInvited(ben, into: trip, by: ann))
        #expect(try ben.texts(in: trip) == ["hello"])
        let other = try asked.group("other", [ben], by: ann)
        world.run(for: 60_000)
        try world.perform(.declineInvitation(other), on: ben, after: 0)
        world.run(for: 120_000)
        #expect(try asked.roster(other, ann)?.member(ben.identity.person) == nil)
    }

    @Test("who has not accepted is dialled by no member, lets none in, and is waited for by nobody")
    func strangers() throws {
        let world = World(seed: 811)
        world.contactsMayAdd = false
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let cara = try world.addNode("cara")
        try world.introduce(ann, ben)
        try world.introduce(ann, cara)
        let people = [ben, cara].map(\.identity.person)
        let reply = try world.perform(.createGroup(name: "trip", members: people), on: ann)
        guard case .space(let number) = reply else { return }
        let trip = try #require(try ann.store.space(number)).id
        world.run(for: 3_000)
        try world.perform(.acceptInvitation(trip), on: ben, after: 0)
        try world.type("hello", on: ann, in: trip)
        world.run(for: 700_000)
        #expect(!ben.isLinked(to: cara) && !cara.isLinked(to: ben))
        #expect(try ann.messages(in: trip).first?.state == .delivered)
        try world.perform(.acceptInvitation(trip), on: cara, after: 0)
        world.run(for: 700_000)
        #expect(ben.isLinked(to: cara))
        #expect(try cara.texts(in: trip) == ["hello"])
    }
}

extension World {
    /// Carries out a command a while later.
    @discardableResult
    func perform(
        _ command: Command, on node: SimulatedNode, after time: UInt64
    ) throws -> CommandReply {
        run(for: time)
        return try perform(command, on: node)
    }
}
