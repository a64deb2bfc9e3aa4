import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Rules of a group".
@Suite("Rules of a group, between nodes")
struct GroupRulesTests {
    private func set(
        _ act: GroupAct, _ rule: GroupRule, in village: Village, by node: SimulatedNode? = nil
    ) throws {
        var rules = GroupRules()
        rules[act] = rule
        try village.perform(
            .changeSettings(village.group, SpaceSettings(rules: rules)), node ?? village.ann)
    }

    private func send(_ text: String, to village: Village) -> Command {
        .send(village.group, [TextMessage(text: text)], replyingTo: nil)
    }

    private func number(
        of text: String, at node: SimulatedNode, in village: Village
    ) throws -> OperationNumber {
        try #require(try node.messages(in: village.group).last { $0.text == text }).number
    }

    @Test("where only admins write, members read, react, vote and take back, and no more")
    func broadcast() throws {
        let village = try Village(seed: 21)
        try village.type("mine", village.ben)
        village.world.run(for: 2_000)
        try village.perform(
            .together(
                .ask(
                    village.group,
                    PollQuestion(question: "when", options: ["now", "then"], isMultiple: false))),
            village.ann)
        try set(.write, .admins, in: village)
        village.world.run(for: 3_000)
        let (ben, group) = (village.ben, village.group)
        let own = try number(of: "mine", at: ben, in: village)
        let refused: [Command] = [
            send("on", to: village), .edit(own, text: "changed"),
            .together(
                .ask(group, PollQuestion(question: "why", options: ["a", "b"], isMultiple: false))),
            .together(.begin(group, ItemBeginning(title: "a"), from: nil)),
            .schedule(
                .add(
                    TextMessage(text: "later"), to: group,
                    at: World.epoch + village.world.now + 60_000)),
        ]
        for command in refused {
            #expect(village.refusal(command, ben) == .notAllowed, "\(command)")
        }
        #expect(village.refusal(send("all read this", to: village), village.ann) == nil)
        village.world.run(for: 2_000)
        let said = try number(of: "all read this", at: ben, in: village)
        try village.perform(.react(said, Reaction(emoji: "👍", isOn: true)), ben)
        try village.perform(.delete(own), ben)
        village.settle()
        for node in village.nodes {
            #expect(try village.texts(node) == ["(deleted)", "all read this"], "\(node.name)")
            let shown = try node.messages(in: group).last
            #expect(shown?.reactions.map(\.emoji) == ["👍"])
        }
        try set(.write, .everybody, in: village)
        village.world.run(for: 3_000)
        #expect(village.refusal(send("again", to: village), ben) == nil)
    }

    @Test("what was written before a rule, and by who had not heard of it, stays for everybody")
    func before() throws {
        let village = try Village(seed: 22)
        let world = village.world
        try village.type("before", village.cara)
        world.run(for: 2_000)
        world.partition([village.ann, village.ben, village.dora], [village.cara])
        try set(.write, .admins, in: village)
        try village.type("unaware", village.cara)
        village.settle()
        for node in village.nodes {
            #expect(try village.texts(node) == ["before", "unaware"], "\(node.name)")
        }
        #expect(village.refusal(send("aware", to: village), village.cara) == .notAllowed)
        #expect(try village.frontiers(village.nodes) == 1)
    }

    @Test("members add, pin and open links where all may; nobody else's node refuses it")
    func everybody() throws {
        let village = try Village(seed: 23, memberCount: 3)
        try village.type("pin this", village.ann)
        village.world.run(for: 2_000)
        let (ben, group) = (village.ben, village.group)
        let message = try number(of: "pin this", at: ben, in: village)
        let dora = village.dora.identity.person
        let link = Command.createGroupInvite(
            group, secret: [UInt8](repeating: 7, count: 32), role: .member, uses: 1,
            expires: World.epoch + village.world.now + 3_600_000)
        let commands: [Command] = [
            .addMember(group, dora, .member), link, .pin(message, isOn: true),
            .setLifetime(group, seconds: 60),
        ]
        for command in commands {
            #expect(village.refusal(command, ben) == .notAllowed, "\(command)")
        }
        for act in GroupAct.allCases { if act != .write { try set(act, .everybody, in: village) } }
        village.world.run(for: 3_000)
        #expect(village.refusal(.addMember(group, dora, .admin), ben) == .notAllowed)
        for command in commands { #expect(village.refusal(command, ben) == nil, "\(command)") }
        village.settle()
        for node in village.nodes {
            #expect(try village.members(node) == ["ann", "ben", "cara", "dora"], "\(node.name)")
            #expect(try village.roster(node).invites.count == 1)
            let space = try village.record(node)
            try node.observed {
                // Dora came later, and has the message from nobody.
                let pins = try Overview.pins(in: space.number, store: node.store).count
                #expect(pins == (node === village.dora ? 0 : 1), "\(node.name)")
                #expect(try Overview.messageLifetime(of: space.number, in: node.store) == 60)
            }
        }
        #expect(try village.frontiers([village.ann, village.ben, village.cara]) == 1)
        // Whom a member added writes like anybody.
        try village.perform(.setLifetime(group, seconds: 0), ben)
        village.world.run(for: 2_000)
        try village.type("hello", village.dora)
        village.settle()
        #expect(try village.texts(village.ann).last == "hello")
    }

    @Test("are refused to members and admins, in conversations of two, and where nothing changes")
    func refusals() throws {
        let village = try Village(seed: 24)
        var rules = GroupRules()
        rules[.write] = .admins
        let command = Command.changeSettings(village.group, SpaceSettings(rules: rules))
        #expect(village.refusal(command, village.ben) == .notAllowed)
        try village.perform(
            .setRole(village.group, village.ben.identity.person, .admin), village.ann)
        village.world.run(for: 2_000)
        #expect(village.refusal(command, village.ben) == .notAllowed)
        try village.perform(command, village.ann)
        #expect(village.refusal(command, village.ann) == .unchanged)
        let spaces = try village.ann.observed { try village.ann.store.spaces() }
        let direct = try #require(spaces.first { $0.kind == .direct })
        let inTwo = Command.changeSettings(direct.id, SpaceSettings(rules: rules))
        let refusal = try #require(village.refusal(inTwo, village.ann))
        #expect([.notAllowed, .directConversation].contains(refusal))
    }
}
