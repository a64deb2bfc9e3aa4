import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

/// Source: Protocol/05-identity.md, "Discretion".
@Suite("Discretion about reading and typing")
struct DiscretionTests {
    private func read(_ node: SimulatedNode, _ village: Village) throws {
        let messages = try node.messages(in: village.group).map(\.number)
        try village.perform(.markRead(village.group, ShownMessages(messages)), node)
    }

    private func unread(_ node: SimulatedNode, _ village: Village) throws -> Int {
        let space = try village.record(node)
        let roster = try village.roster(node)
        return try node.observed {
            try Overview.unreadCount(
                of: space, roster: roster, ownPerson: node.identity.person,
                ownSpace: node.core.ownSpace?.number, in: node.store)
        }
    }

    private func states(_ node: SimulatedNode, _ village: Village) throws -> [MessageState?] {
        try node.messages(in: village.group).filter { $0.author == node.identity.person }
            .map(\.state)
    }

    @Test("what is read is told to own devices alone, and that it came to everybody")
    func quietly() throws {
        let village = try Village(seed: 41)
        let phone = try village.world.addDevice("phone", of: village.ben)
        village.world.run(for: 10_000)
        try village.perform(.setDisclosure(.reading, isTold: false, in: nil), village.ben)
        try village.type("one", village.ann)
        try village.type("two", village.ann)
        village.settle()
        #expect(try unread(village.ben, village) == 2 && unread(phone, village) == 2)
        try read(village.ben, village)
        #expect(try unread(village.ben, village) == 0)
        village.settle()
        #expect(try unread(phone, village) == 0)
        #expect(try states(village.ann, village) == [.delivered, .delivered])
        let marks = try village.ann.observed {
            try village.ann.store.marks(.read, in: village.record(village.ann).number)
        }
        #expect(marks.isEmpty)
        // Reading further on the other device, and folding anew, change nothing of that.
        try village.type("three", village.ann)
        village.settle()
        #expect(try unread(phone, village) == 1)
        try read(phone, village)
        village.settle()
        #expect(try unread(village.ben, village) == 0)
        village.world.restart(village.ben)
        #expect(try unread(village.ben, village) == 0)
        #expect(try !states(village.ann, village).contains(.read))
    }

    @Test("it holds for one conversation or for all, and what comes later is told again")
    func one() throws {
        let village = try Village(seed: 42)
        let (ben, group) = (village.ben, village.group)
        try village.perform(.setDisclosure(.reading, isTold: false, in: group), ben)
        try village.type("quiet", village.ann)
        village.settle()
        try read(ben, village)
        village.settle()
        #expect(try states(village.ann, village) == [.delivered])
        try village.perform(.setDisclosure(.reading, isTold: nil, in: group), ben)
        try village.type("loud", village.ann)
        village.settle()
        try read(ben, village)
        village.settle()
        // What was read quietly is never told.
        #expect(try states(village.ann, village) == [.delivered, .read])
        #expect(try unread(ben, village) == 0)
        try village.perform(.setDisclosure(.reading, isTold: false, in: nil), ben)
        try village.perform(.setDisclosure(.reading, isTold: true, in: group), ben)
        try village.type("loud as well", village.ann)
        village.settle()
        try read(ben, village)
        village.settle()
        #expect(try states(village.ann, village) == [.delivered, .read, .read])
    }

    @Test("nobody is told of typing who is not to be")
    func typing() throws {
        let village = try Village(seed: 43, memberCount: 2)
        let (ann, ben, group) = (village.ann, village.ben, village.group)
        func isSeen() -> Bool { !ann.core.typing.persons(in: group).isEmpty }
        try village.perform(.setDisclosure(.typing, isTold: false, in: group), ben)
        try village.perform(.types(group, true), ben)
        village.world.run(for: 1_000)
        #expect(!isSeen())
        try village.perform(.setDisclosure(.typing, isTold: true, in: group), ben)
        try village.perform(.types(group, true), ben)
        village.world.run(for: 1_000)
        #expect(isSeen())
    }

    @Test("Attack 300: what is no set of places was read by nobody")
    func broken() {
        for value in [[], [0], [0, 0, 1], [1, 1], [1, 0, 1], [255]] as [[UInt8]] {
            #expect(QuietReading.places(value) == nil, "\(value)")
        }
        let many = (0..<131).map { _ in 1 as UInt8 }
        #expect(QuietReading.places(many) == nil)
        #expect(QuietReading.places([3]) == PlaceSet(0..<3))
    }

    @Test("are refused of a conversation that is not known")
    func refusals() throws {
        let village = try Village(seed: 45)
        #expect(
            village.refusal(
                .setDisclosure(.reading, isTold: false, in: SpaceID { $0[0] = 9 }), village.ben)
                == .unknownConversation)
    }
}
