import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@Suite("Membership")
struct MembershipTests {
    @Test("who is added sees what comes, who is removed sees nothing new")
    func addAndRemove() throws {
        let village = try Village(seed: 1, memberCount: 3)
        try village.type("before", village.ann)
        village.world.run(for: 1_000)
        try village.add(village.dora, by: village.ann)
        village.world.run(for: 3_000)
        try village.type("with dora", village.ben)
        village.world.run(for: 1_000)
        #expect(try village.texts(village.dora) == ["with dora"])
        #expect(try village.frontiers(village.nodes) == 1)
        try village.remove(village.cara, by: village.ann)
        village.world.run(for: 1_000)
        try village.type("without cara", village.dora)
        village.settle()
        #expect(try village.texts(village.cara) == ["before", "with dora"])
        #expect(try village.members(village.cara) == ["ann", "ben", "dora"])
        let others = [village.ann, village.ben, village.dora]
        #expect(try village.frontiers(others) == 1)
        for node in others { #expect(try village.texts(node).last == "without cara") }
        let send = Command.send(village.group, [TextMessage(text: "still here")], replyingTo: nil)
        #expect(village.refusal(send, village.cara) == .notMember)
    }

    @Test("Attack 38: what a removed member writes on counts nowhere, what was seen before stays")
    func keepsSending() throws {
        let village = try Village(seed: 2)
        let world = village.world
        try village.type("seen by all", village.cara)
        world.run(for: 1_000)
        world.partition([village.ann, village.ben, village.dora], [village.cara])
        world.run(for: 100_000)
        try village.remove(village.cara, by: village.ann)
        for count in 0..<5 { try village.type("unseen \(count)", village.cara) }
        world.run(for: 5_000)
        village.settle()
        let others = [village.ann, village.ben, village.dora]
        for node in others { #expect(try village.texts(node) == ["seen by all"]) }
        #expect(try village.frontiers(others) == 1)
        #expect(try village.texts(village.cara).count == 1)
        #expect(try village.members(village.cara) == ["ann", "ben", "dora"])
    }

    @Test("a message that one half saw and the remover did not is taken back when the halves meet")
    func beyondTheCut() throws {
        let village = try Village(seed: 3)
        let world = village.world
        world.partition([village.ann, village.dora], [village.ben, village.cara])
        world.run(for: 100_000)
        try village.type("only ben saw it", village.cara)
        world.run(for: 1_000)
        #expect(try village.texts(village.ben) == ["only ben saw it"])
        try village.remove(village.cara, by: village.ann)
        village.settle()
        for node in [village.ann, village.ben, village.dora] {
            #expect(try village.texts(node).isEmpty)
        }
        #expect(try village.frontiers([village.ann, village.ben, village.dora]) == 1)
    }

    /// A cut that a return followed has granted what others took by it; that must not depend on who
    /// happens to hold it.
    @Test(
        "Attack 41: of two cuts the higher counts, log by log, and one before a return as well",
        arguments: [false, true])
    func union(hasReturned: Bool) throws {
        let village = try Village(seed: 4)
        let world = village.world
        try village.perform(
            .setRole(village.group, village.ben.identity.person, .admin), village.ann)
        world.run(for: 2_000)
        world.partition([village.ann, village.dora], [village.ben, village.cara])
        world.run(for: 100_000)
        try village.type("ben saw it", village.cara)
        world.run(for: 1_000)
        try village.remove(village.cara, by: village.ann)
        try village.remove(village.cara, by: village.ben)
        if hasReturned { try village.add(village.cara, by: village.ben) }
        village.settle()
        for node in [village.ann, village.ben, village.dora] {
            #expect(try village.members(node) == ["ann", "ben", "dora"])
            #expect(try village.texts(node) == ["ben saw it"])
        }
        #expect(try village.frontiers([village.ann, village.ben, village.dora]) == 1)
    }

    @Test("who comes back sees what comes then, and what was written in between stays away")
    func readd() throws {
        let village = try Village(seed: 5)
        try village.type("one", village.cara)
        village.world.run(for: 1_000)
        try village.remove(village.cara, by: village.ann)
        village.world.run(for: 2_000)
        try village.type("two", village.ben)
        village.world.run(for: 2_000)
        try village.add(village.cara, by: village.ann)
        village.world.run(for: 5_000)
        try village.type("three", village.cara)
        try village.type("four", village.ben)
        village.settle()
        #expect(Set(try village.texts(village.cara)) == ["one", "three", "four"])
        for node in [village.ann, village.ben, village.dora] {
            #expect(Set(try village.texts(node)) == ["one", "two", "three", "four"])
        }
        #expect(try village.frontiers(village.nodes) == 1)
    }

    @Test("what is written while somebody is out is not said to be delivered to them later")
    func states() throws {
        let village = try Village(seed: 7, memberCount: 2)
        func say(_ text: String) throws {
            try village.type(text, village.ann)
            village.world.run(for: 2_000)
        }
        try village.remove(village.ben, by: village.ann)
        village.world.run(for: 2_000)
        try say("they are out")
        try village.add(village.ben, by: village.ann)
        village.world.run(for: 5_000)
        try say("they are back")
        try village.remove(village.ben, by: village.ann)
        village.settle()
        func states() throws -> [MessageState?] {
            try village.ann.messages(in: village.group).map(\.state)
        }
        #expect(try states() == [.saved, .delivered])
        _ = try village.perform(.leave(village.group), village.ann)
        #expect(try states() == [.saved, .delivered], "who leaves knows no more than before")
    }

    /// Who is removed is told lane 0 up to places that others named, which may lie anywhere.
    @Test("all signatures of lane 0 are passed on")
    func signatures() throws {
        let village = try Village(seed: 8, memberCount: 2)
        for role in [Role.admin, .member, .reader] {
            try village.perform(
                .setRole(village.group, village.ben.identity.person, role), village.ann)
            village.world.run(for: 2_000)
        }
        try village.add(village.cara, by: village.ann)
        village.settle()
        func heads(_ node: SimulatedNode) throws -> [SignedHead] {
            let log = OperationHash.log(
                space: village.group, device: village.ann.identity.device, lane: .control)
            let record = try village.record(node)
            return try node.observed {
                let number = try #require(try node.store.log(LogTag(log), in: record.number)).number
                return try node.store.heads(in: number, 0...999)
            }
        }
        #expect(try heads(village.cara) == heads(village.ann))
        #expect(try heads(village.ann).count > 4)
    }

    @Test("nobody is kept in a group: its last owner leaves where they want to all the same")
    func lastOwner() throws {
        let village = try Village(seed: 16, memberCount: 3)
        #expect(village.refusal(.leave(village.group), village.ann) == .lastOwner)
        try village.perform(.leave(village.group, anyway: true), village.ann)
        village.world.run(for: 2_000)
        #expect(try village.members(village.ben) == ["ben", "cara"])
    }

    @Test("roles, leaving, and what is refused")
    func refusals() throws {
        let village = try Village(seed: 6, memberCount: 3)
        let (ann, ben, cara) = (village.ann, village.ben, village.cara)
        let group = village.group
        let dora = village.dora.identity.person
        #expect(village.refusal(.addMember(group, dora, .member), ben) == .notAllowed)
        #expect(
            village.refusal(.removeMember(group, cara.identity.person), ben) == .notAllowed)
        #expect(village.refusal(.removeMember(group, dora), ann) == .noSuchMember)
        #expect(
            village.refusal(.addMember(group, ben.identity.person, .member), ann)
                == .alreadyMember)
        #expect(village.refusal(.leave(group), ann) == .lastOwner)
        #expect(
            village.refusal(.setRole(group, ben.identity.person, .member), ann) == .unchanged)
        let direct = try #require(try ann.conversations().first { $0.kind == .direct })
        #expect(village.refusal(.leave(direct.id), ann) == .directConversation)
        #expect(village.refusal(.leave(direct.id, anyway: true), ann) == .directConversation)
        try village.perform(.setRole(group, ben.identity.person, .owner), ann)
        village.world.run(for: 2_000)
        #expect(
            village.refusal(.removeMember(group, ann.identity.person), ben) == .outranked)
        try village.perform(.setRole(group, cara.identity.person, .reader), ben)
        village.world.run(for: 2_000)
        let send = Command.send(group, [TextMessage(text: "hm")], replyingTo: nil)
        #expect(village.refusal(send, cara) == .notAllowed)
        try village.perform(.leave(group), cara)
        village.world.run(for: 2_000)
        #expect(try village.members(ann) == ["ann", "ben"])
        #expect(village.refusal(send, cara) == .notMember)
        #expect(
            village.refusal(.changeSettings(group, SpaceSettings(history: .all)), cara)
                == .notMember)
        let events = try ann.observed {
            try MembershipHistory.events(of: village.record(ann), in: ann.store)
        }
        #expect(events.filter(\.holds).count == events.count)
        #expect(events.last?.change == .left)
        #expect(events.last?.person == cara.identity.person)
    }

    @Test("Attack 43: two halves that both add, remove and write come together")
    func halves() throws {
        let village = try Village(seed: 7, memberCount: 3)
        let world = village.world
        try village.perform(
            .setRole(village.group, village.ben.identity.person, .admin), village.ann)
        world.run(for: 2_000)
        world.partition([village.ann, village.cara], [village.ben, village.dora])
        world.run(for: 100_000)
        try village.add(village.dora, by: village.ben)
        try village.type("ann's half", village.ann)
        try village.type("cara's", village.cara)
        world.run(for: 2_000)
        try village.remove(village.cara, by: village.ann)
        try village.type("ben's half", village.ben)
        world.run(for: 2_000)
        try village.type("dora's", village.dora)
        world.run(for: 2_000)
        village.settle()
        let members = [village.ann, village.ben, village.dora]
        for node in members {
            #expect(try village.members(node) == ["ann", "ben", "dora"])
            #expect(
                Set(try village.texts(node))
                    == ["ann's half", "cara's", "ben's half", "dora's"])
        }
        #expect(try village.frontiers(members) == 1)
    }

    /// Dora answered cara, who wrote her first word after ann had removed her: dora's answer names
    /// a log of which nobody serves anything, and ann showed it a minute late.
    @Test("an answer to the first word of who was out by then is shown at once")
    func answerToNobody() throws {
        let village = try Village(seed: 8)
        let world = village.world
        world.partition([village.ann, village.ben], [village.cara, village.dora])
        try village.remove(village.cara, by: village.ann)
        try village.type("still here?", village.cara)
        world.run(for: 2_000)
        try village.type("yes, cara", village.dora)
        world.run(for: 2_000)
        #expect(try village.texts(village.dora) == ["still here?", "yes, cara"])
        world.heal()
        world.run(for: 30_000)
        for node in [village.ann, village.ben, village.dora] {
            #expect(try village.texts(node) == ["yes, cara"], "\(node.name)")
        }
    }

    /// A removal ends all devices that its person ever had, and its cut named only those of then.
    @Test("a removal keeps what a device wrote that its person had left with and came back without")
    func formerDevice() throws {
        let village = try Village(seed: 9)
        let (world, ann, cara) = (village.world, village.ann, village.cara)
        let phone = try world.addDevice("phone", of: cara)
        world.run(for: 30_000)
        try village.type("from my phone", phone)
        world.run(for: 5_000)
        try village.perform(.leave(village.group), cara)
        try village.perform(.revokeDevice(phone.identity.device, root: nil), cara)
        world.run(for: 30_000)
        try village.add(cara, by: ann)
        #expect(try village.roster(ann).member(cara.identity.person)?.devices.count == 1)
        try village.remove(cara, by: ann)
        village.settle()
        for node in [ann, village.ben, village.dora] {
            #expect(try village.texts(node) == ["from my phone"], "\(node.name)")
        }
    }

    /// Nobody took lane 0 from who is out, so nobody else could know by what cara was in: ann could not
    /// tell her why she was not, and she wrote to ann for ever.
    @Test(
        "who was let in by a device that was lost, or is revoked, is in everywhere or hears why not",
        arguments: [true, false], [true, false])
    func letInByALostDevice(isRevoked: Bool, wasIn: Bool) throws {
        let village = try Village(seed: 10, memberCount: wasIn ? 3 : 2)
        let (world, ann, cara) = (village.world, village.ann, village.cara)
        let phone = try world.addDevice("phone", of: ann)
        world.run(for: 30_000)
        if wasIn { try village.remove(cara, by: ann) }
        world.run(for: 5_000)
        world.partition([ann, village.ben], [phone, cara])
        try village.add(cara, by: phone)
        world.run(for: 5_000)
        try village.type("here I am", cara)
        if isRevoked {
            try village.perform(.revokeDevice(phone.identity.device, root: nil), ann)
        }
        world.run(for: 5_000)
        world.stopProcess(of: phone)
        village.settle()
        for node in [ann, village.ben, cara] {
            let others = isRevoked ? ["ann", "ben"] : ["ann", "ben", "cara"]
            #expect(try village.members(node) == Set(others), "\(node.name)")
        }
        #expect(try village.texts(ann) == (isRevoked ? [] : ["here I am"]))
    }

    /// Two devices told each other without end that they had received what dora wrote: of her, whom
    /// nobody had let in by right, no mark is kept.
    @Test("nobody says that they received what somebody wrote who was let in by nothing that holds")
    func receiptsOfNobody() throws {
        let village = try Village(seed: 10, memberCount: 3)
        let (world, ann, cara) = (village.world, village.ann, village.cara)
        let tablet = try world.addDevice("tablet", of: cara)
        try village.perform(
            .setRole(village.group, village.ben.identity.person, .admin), ann)
        world.run(for: 30_000)
        world.partition([ann], [village.ben, cara, tablet, village.dora])
        world.run(for: 100_000)
        try village.add(village.dora, by: village.ben)
        world.run(for: 5_000)
        try village.type("am I in?", village.dora)
        world.run(for: 5_000)
        #expect(try village.texts(tablet) == ["am I in?"])
        try village.remove(village.ben, by: ann)
        village.settle()
        #expect(try village.members(cara) == ["ann", "cara"])
        try village.type("only us", ann)
        world.run(for: 10_000)
        #expect(try village.texts(tablet) == ["only us"])
        let before = cara.store.operationCount
        world.run(for: 60_000)
        #expect(cara.store.operationCount == before)
    }

    /// Each of the two devices told that it had received nothing, which no mark is, and took the
    /// other's receipt for a reason to tell it again: nine operations a second, without end.
    @Test("who comes back says nothing of a log that they hold up to where it begins for them")
    func receiptsBelowAFloor() throws {
        let village = try Village(seed: 11)
        let (world, ann, ben) = (village.world, village.ann, village.ben)
        let tablet = try world.addDevice("tablet", of: ben)
        world.run(for: 30_000)
        try village.type("one", village.cara)
        world.run(for: 5_000)
        try village.remove(ben, by: ann)
        world.run(for: 5_000)
        try village.add(ben, by: ann)
        world.run(for: 30_000)
        try village.type("two", ann)
        world.run(for: 10_000)
        #expect(try village.texts(tablet).contains("two"))
        let before = ben.store.operationCount
        world.run(for: 60_000)
        #expect(ben.store.operationCount == before)
    }
}
