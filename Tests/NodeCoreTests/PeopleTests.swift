import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

extension SimulatedNode {
    var person: PersonID { identity.person }

    func card() throws -> [UInt8] { try store.value(.card, person.bytes) ?? [] }

    /// What it noted of somebody.
    func noted(_ other: SimulatedNode) throws -> Contact? {
        try core.ownSpace.flatMap {
            try Overview.contact(other.person, ownSpace: $0.number, in: store)
        }
    }

    func state(of other: SimulatedNode) throws -> ContactState? { try noted(other)?.state }

    func isLinked(to other: SimulatedNode) -> Bool {
        core.linkedPeers.contains { $0.person == other.person }
    }

    func count(_ refusal: Refusal) throws -> Int {
        try store.value(.refusal, Array(refusal.rawValue.utf8)).map { Int($0.last ?? 0) } ?? 0
    }

    func decide(_ answer: ContactAnswer, about other: SimulatedNode) throws {
        try perform(.answerContact(other.person, answer))
    }

    func ask(_ other: SimulatedNode) throws {
        try perform(.requestContact(card: other.card(), alias: ""))
    }
}

@Suite("People")
struct PeopleTests {
    let world: World
    let ann, ben: SimulatedNode

    init() throws {
        world = World(seed: 70)
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
    }

    @Test("who asks waits, and nothing else is taken from them until they are accepted")
    func request() throws {
        try ben.ask(ann)
        world.run(for: 5_000)
        #expect(try ann.state(of: ben) == .pending)
        #expect(try ben.state(of: ann) == .requested)
        #expect(!ann.isLinked(to: ben) && !ben.isLinked(to: ann))
        #expect(try ann.conversations().isEmpty && ben.conversations().isEmpty)
        try ann.decide(.accept, about: ben)
        world.run(for: 5_000)
        #expect(try ann.state(of: ben) == .accepted)
        #expect(try ben.state(of: ann) == .accepted)
        let space = try #require(try world.conversation(of: ann, and: ben))
        try ben.type("thank you", in: space)
        world.run(for: 1_000)
        #expect(try ann.texts(in: space) == ["thank you"])
        #expect(try ann.conversations().count == 1 && ben.conversations().count == 1)
    }

    @Test("who is declined is not told, and asks in vain until one takes it back")
    func declined() throws {
        try ben.ask(ann)
        world.run(for: 5_000)
        try ann.decide(.decline, about: ben)
        world.run(for: 900_000)
        #expect(try ann.state(of: ben) == .declined)
        #expect(try ben.state(of: ann) == .requested)
        #expect(throws: WorldError.self) { try ben.decide(.accept, about: ann) }
        try ann.decide(.accept, about: ben)
        world.run(for: 5_000)
        #expect(try ben.state(of: ann) == .accepted)
    }

    @Test("two who ask each other are contacts, with one conversation", arguments: [1, 2, 3])
    func mutual(seed: UInt64) throws {
        let world = World(seed: seed)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        world.cut(ann, ben)
        try ben.ask(ann)
        try ann.ask(ben)
        world.heal()
        world.run(for: 400_000)
        #expect(try ann.state(of: ben) == .accepted && ben.state(of: ann) == .accepted)
        #expect(try ann.conversations().count == 1 && ben.conversations().count == 1)
    }

    @Test("who asks somebody that waits accepts them")
    func askedBack() throws {
        try ben.ask(ann)
        world.run(for: 5_000)
        try ann.ask(ben)
        world.run(for: 5_000)
        #expect(try ann.state(of: ben) == .accepted && ben.state(of: ann) == .accepted)
        #expect(try ann.conversations().count == 1)
    }

    @Test("a blocked person is not talked to, and what was written stays to read")
    func blocked() throws {
        let space = try world.introduce(ann, ben)
        try ben.type("hello", in: space)
        world.run(for: 1_000)
        try ann.decide(.block, about: ben)
        world.run(for: 1_000)
        #expect(!ann.isLinked(to: ben) && !ben.isLinked(to: ann))
        try ben.type("are you there?", in: space)
        world.run(for: 900_000)
        #expect(!ann.isLinked(to: ben))
        #expect(try ann.texts(in: space) == ["hello"])
        #expect(throws: WorldError.self) { try ann.type("no", in: space) }
        #expect(throws: WorldError.self) { try ann.react("👍", to: "hello", in: space) }
        #expect(throws: WorldError.self) { try ann.ask(ben) }
        try ann.decide(.unblock, about: ben)
        world.run(for: 400_000)
        #expect(try ann.texts(in: space) == ["hello", "are you there?"])
        try ann.type("yes", in: space)
    }

    @Test("two who block each other and think better of it at once are linked again")
    func regretted() throws {
        let space = try world.introduce(ann, ben)
        for (one, other) in [(ann, ben), (ben, ann)] {
            try one.decide(.block, about: other)
            try one.decide(.unblock, about: other)
            world.run(for: 60_000)
            #expect(one.isLinked(to: other))
        }
        try ann.type("still there?", in: space)
        world.run(for: 1_000)
        #expect(try ben.texts(in: space) == ["still there?"])
    }

    @Test("requests of a blocked person are not noted")
    func blockedRequest() throws {
        try ben.ask(ann)
        world.run(for: 5_000)
        try ann.decide(.block, about: ben)
        let writtenCount = ann.store.operationCount
        world.run(for: 900_000)
        #expect(ann.store.operationCount == writtenCount)
        #expect(try ann.noted(ben)?.isBlocked == true)
    }

    @Test("at most 64 strangers wait; the next is counted and leaves nothing")
    func crowd() throws {
        for number in 0..<66 { try world.addNode("stranger \(number)").ask(ann) }
        // All strangers share what they may cost, so not all are heard at once.
        world.run(for: 600_000)
        let own = try #require(ann.core.ownSpace)
        let noted = try Overview.contacts(ownSpace: own.number, in: ann.store)
        #expect(noted.count == 64)
        #expect(noted.allSatisfy { $0.state == .pending })
        #expect(try ann.count(.request) >= 2)
        #expect(ann.core.linkedPeers.isEmpty)
    }

    @Test("a card that does not hold asks for nothing")
    func badCard() throws {
        var card = try ann.card()
        card[card.count - 1] ^= 1
        #expect(throws: WorldError.self) {
            try ben.perform(.requestContact(card: card, alias: ""))
        }
        #expect(throws: WorldError.self) { try ben.ask(ben) }
    }

    @Test("an invite of three uses makes three contacts, and a fourth is refused")
    func invites() throws {
        let secret = [UInt8](repeating: 3, count: Invite.secretByteCount)
        let end = World.epoch + 3_600_000
        try ann.perform(.createInvite(secret: secret, expires: end, uses: 3))
        let guests = [ben] + (try ["cara", "dan", "eve"].map { try world.addNode($0) })
        let link = try #require(try ann.invite(with: secret))
        for guest in guests {
            try guest.perform(.acceptInvite(link, alias: ""))
            world.run(for: 5_000)
        }
        let taken = try guests.map { try ann.state(of: $0) }
        #expect(taken == [.accepted, .accepted, .accepted, nil])
        #expect(try OpenInvite.all(at: World.epoch, ann.store).isEmpty)
        #expect(throws: WorldError.self) {
            try ann.perform(.createInvite(secret: secret, expires: end, uses: 101))
        }
    }

    @Test("an invite that was revoked is taken by nobody")
    func revoked() throws {
        let secret = [UInt8](repeating: 4, count: Invite.secretByteCount)
        let end = World.epoch + 3_600_000
        try ann.perform(.createInvite(secret: secret, expires: end))
        let open = try OpenInvite.all(at: World.epoch, ann.store)
        #expect(open.map(\.secret) == [secret])
        let link = try #require(try ann.invite(with: secret))
        try ann.perform(.revokeInvite(open[0].number))
        try ben.perform(.acceptInvite(link, alias: ""))
        world.run(for: 5_000)
        #expect(try ann.state(of: ben) == nil)
        #expect(throws: WorldError.self) { try ann.perform(.revokeInvite(open[0].number)) }
    }

    @Test("members who are no contacts find each other by cards in the space, and link")
    func members() throws {
        let cara = try world.addNode("cara")
        try world.introduce(ann, ben)
        try world.introduce(ann, cara)
        let group = try ann.perform(
            .createGroup(name: "trip", members: [ben.person, cara.person]))
        guard case .space(let number) = group, let space = try ann.store.space(number) else {
            throw CommandRefusal.unknownConversation
        }
        world.run(for: 60_000)
        #expect(ben.isLinked(to: cara) && cara.isLinked(to: ben))
        #expect(try ben.state(of: cara) == nil)
        world.partition([ann], [ben, cara])
        try ben.type("without ann", in: space.id)
        world.run(for: 5_000)
        #expect(try cara.texts(in: space.id) == ["without ann"])
        // A member who is no contact can be blocked all the same.
        try ben.decide(.block, about: cara)
        world.run(for: 5_000)
        #expect(!ben.isLinked(to: cara) && !cara.isLinked(to: ben))
    }

    @Test("who comes into a group meets the others though its host goes away right after")
    func hostGoesAway() throws {
        let cara = try world.addNode("cara")
        try world.introduce(ann, ben)
        try world.introduce(ann, cara)
        // From now on a link shows once in half a minute what both ends hold.
        world.run(for: 60_000)
        let group = try ann.perform(
            .createGroup(name: "trip", members: [ben.person, cara.person]))
        guard case .space(let number) = group, let space = try ann.store.space(number) else {
            throw CommandRefusal.unknownConversation
        }
        world.run(for: 5_000)
        world.partition([ann], [ben, cara])
        try ben.type("without ann", in: space.id)
        world.run(for: 5_000)
        #expect(ben.isLinked(to: cara) && cara.isLinked(to: ben))
        #expect(try cara.texts(in: space.id) == ["without ann"])
        // Each knows where the other is, so either finds the other again.
        for (node, other) in [(ben, cara), (cara, ben)] {
            #expect(try !CardReader.parts(of: other.person, node.store).isEmpty)
        }
    }

    @Test("who waits for an answer of somebody they were together with is patient")
    func patience() throws {
        let cara = try world.addNode("cara")
        try world.introduce(ann, ben)
        try world.introduce(ann, cara)
        let group = try ann.perform(
            .createGroup(name: "trip", members: [ben.person, cara.person]))
        guard case .space(let number) = group, let space = try ann.store.space(number) else {
            throw CommandRefusal.unknownConversation
        }
        world.run(for: 60_000)
        try ann.perform(.removeMember(space.id, ben.person))
        world.run(for: 60_000)
        let card = try #require(try cara.store.value(.card, ben.person.bytes))
        try cara.perform(.requestContact(card: card, alias: "ben"))
        let before = world.linkCount
        world.run(for: 600_000)
        #expect(try ben.state(of: cara) == .pending)
        #expect((1...12).contains(world.linkCount - before))
        try ben.decide(.accept, about: cara)
        world.run(for: 330_000)
        #expect(ben.isLinked(to: cara))
    }

    @Test("Attack 53: a code fits one pair of persons and keys, seen from one side")
    func codes() throws {
        let cara = try world.addNode("cara")
        let logs = [ann, ben, cara].map(\.identity.log)
        let code = VerificationCode(from: logs[0], to: logs[1])
        #expect(try VerificationCode(text: code.text) == code)
        #expect(VerificationCode(from: logs[1], to: logs[0]) != code)
        #expect(VerificationCode(from: logs[0], to: logs[2]) != code)
        #expect(VerificationCode(from: logs[2], to: logs[1]) != code)
        for cut in [1, 5, 90] {
            #expect(throws: DecodingFailure.self) {
                try VerificationCode(text: String(code.text.dropLast(cut)))
            }
        }
    }

    /// An invite of this node's for one.
    private func openInvite(_ node: SimulatedNode, _ number: UInt8) throws -> Invite {
        let secret = [UInt8](repeating: number, count: Invite.secretByteCount)
        try node.perform(.createInvite(secret: secret, expires: World.epoch + 3_600_000))
        return try #require(try node.invite(with: secret))
    }

    @Test("Attack 171: an invite in a contact's name leads to nobody but the contact")
    func forgedInvite() throws {
        try world.introduce(ann, ben)
        world.run(for: 5_000)
        let mallory = try world.addNode("mallory")
        world.partition([ann], [ben, mallory])
        world.run(for: 60_000)
        var invite = try openInvite(mallory, 9)
        invite.person = ann.person
        try ben.perform(.acceptInvite(invite, alias: ""))
        world.run(for: 60_000)
        #expect(!ben.isLinked(to: mallory) && !ben.isLinked(to: ann))
        #expect(try ben.noted(mallory) == nil && mallory.noted(ben) == nil)
        #expect(try ben.state(of: ann) == .accepted)
        world.heal()
        world.run(for: 400_000)
        #expect(ben.isLinked(to: ann))
        #expect(try NodeCore.takenInvite(of: ann.person, in: ben.store) == nil)
    }

    @Test("an alias is kept of who is a contact already, of who is asked, and can be changed")
    func aliases() throws {
        try world.introduce(ann, ben)
        world.run(for: 5_000)
        let invite = try openInvite(ann, 1)
        try ben.perform(.acceptInvite(invite, alias: "Annie"))
        #expect(try ben.noted(ann)?.alias == "Annie")
        try ben.perform(.acceptInvite(try openInvite(ann, 2), alias: ""))
        #expect(try ben.noted(ann)?.alias == "Annie", "none was said")
        try ben.perform(.requestContact(card: try ann.card(), alias: "Anna"))
        #expect(try ben.noted(ann)?.alias == "Anna")
        try ben.perform(.setAlias(ann.person, ""))
        #expect(try ben.noted(ann)?.alias == "")
        #expect(throws: WorldError.self) { try ben.perform(.setAlias(ann.person, "a\u{202E}b")) }
        // Of whom an invite was taken, and who has not answered.
        let cara = try world.addNode("cara")
        world.partition([cara], [ann, ben])
        #expect(throws: WorldError.self) { try ben.perform(.setAlias(cara.person, "C")) }
        try ben.perform(.acceptInvite(try openInvite(cara, 3), alias: "C"))
        try ben.perform(.setAlias(cara.person, "Cara of the mill"))
        world.heal()
        world.run(for: 400_000)
        #expect(try ben.state(of: cara) == .accepted)
        #expect(try ben.noted(cara)?.alias == "Cara of the mill")
    }
}
