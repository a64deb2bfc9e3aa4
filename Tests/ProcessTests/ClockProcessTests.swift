import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("A clock that is wrong", .serialized, .timeLimit(.minutes(5)))
struct ClockProcessTests {
    /// How wrong the clock is, and whether it is ever right again.
    struct Fault: CustomTestStringConvertible {
        var seconds: Int
        var comesRight: Bool
        var words: String
        var testDescription: String { "\(words), \(comesRight ? "for a while" : "for good")" }
    }

    /// Three people in a group, of whom Ben's clock can be set.
    private struct Trip {
        let clock: SetClock
        let nodes: Neighbours
        var all: [NodeProcess] { [nodes.ann, nodes.ben, nodes.cara] }

        init() async throws {
            clock = try SetClock()
            nodes = try await Neighbours(ofBen: clock)
            try await nodes.meet(nodes.ann, nodes.ben, named: "ben")
            try await nodes.meet(nodes.ann, nodes.cara, named: "cara")
            try await nodes.meet(nodes.ben, nodes.cara, named: "cara")
            try await nodes.client(nodes.ann).perform(
                CreateConversation(name: "trip", members: ["ben", "cara"]))
            try await eventually("all are in", on: all) {
                for node in all {
                    guard
                        let group = try? await nodes.client(node).perform(
                            GetGroup(conversation: "trip")),
                        group.members.count == 3, group.members.allSatisfy({ !$0.isInvited })
                    else { return false }
                }
                return true
            }
        }

        /// One writes, and all have it.
        @discardableResult
        func say(
            _ text: String, by node: NodeProcess, answering parent: MessageView? = nil
        ) async throws -> MessageView {
            let sent = try await nodes.client(node).perform(
                SendMessages(
                    conversation: "trip", texts: [text],
                    replyTo: parent.map { MessageReference($0.id) }))
            for other in all {
                try await eventually("\(text) comes", on: [other]) {
                    try await texts(of: other).contains(text)
                }
            }
            return try #require(sent.first)
        }

        func texts(of node: NodeProcess) async throws -> [String] {
            try await nodes.texts("trip", of: node)
        }

        /// One changes what somebody may do, and all know it.
        func change(_ person: String, to role: MemberRole, by node: NodeProcess) async throws {
            try await nodes.client(node).perform(
                SetMemberRole(conversation: "trip", person: person, role: role))
            for other in all {
                try await eventually("\(person) is \(role.rawValue)", on: [other]) {
                    let group = try await nodes.client(other).perform(
                        GetGroup(conversation: "trip"))
                    return group.members.first { $0.name == person }?.role == role.rawValue
                }
            }
        }

        /// The texts that lines about somebody's role stand directly above, on a node.
        func lines(about person: String, at node: NodeProcess) async throws -> [String?] {
            let client = try await nodes.client(node)
            let messages = try await client.perform(
                ReadMessages(conversation: "trip", limit: 100)
            ).messages
            return try await client.perform(ListMembershipEvents(conversation: "trip"))
                .filter { $0.change == "role" && $0.name == person }
                .map { event in messages.first { $0.id == event.below }?.text }
        }

        func unread(of node: NodeProcess) async throws -> Int {
            try await nodes.client(node).perform(GetConversation(conversation: "trip")).unread
        }

        func warnings(of node: NodeProcess) async throws -> [String] {
            try await nodes.client(node).perform(GetStatus()).warnings.filter {
                $0.contains("clock")
            }
        }
    }

    @Test("a conversation is listed by when its message came, though its author's clock is behind")
    func list() async throws {
        let trip = try await Trip()
        let (ann, ben, cara) = (trip.nodes.ann, trip.nodes.ben, trip.nodes.cara)
        // To somebody whose clock is hours ahead everybody else's is as far behind.
        var ahead = 5 * 3_600
        func passTime() throws {
            ahead += 120
            try trip.clock.set(ahead: ahead)
        }
        try passTime()
        try await trip.say("who brings the tent?", by: ben)
        func list() async throws -> [String] {
            try await trip.nodes.client(ben).perform(ListConversations()).map(\.name)
        }
        func write(_ text: String, by node: NodeProcess, named name: String) async throws
            -> MessageView
        {
            try passTime()
            let sent = try await trip.nodes.client(node).perform(
                SendMessages(conversation: "ben", texts: [text]))
            try await eventually("\(text) stands first", on: [ben, node]) {
                try await list().first == name
            }
            return try #require(sent.first)
        }
        let first = try await write("I do", by: ann, named: "ann")
        _ = try await write("and I the stove", by: cara, named: "cara")
        #expect(try await list() == ["cara", "ann", "trip"])
        // A reaction to what was said before moves nothing.
        try passTime()
        try await trip.nodes.client(ann).perform(
            ReactToMessage(message: MessageReference(first.id), emoji: "👍", on: true))
        try await eventually("the reaction comes", on: [ann, ben]) {
            let shown = try await trip.nodes.client(ben).perform(
                ReadMessages(conversation: "ann", limit: 1))
            return shown.messages.first?.reactions.isEmpty == false
        }
        // Somebody else's words come after it, and with them the word that it was received.
        _ = try await write("and who the rope?", by: cara, named: "cara")
        #expect(try await list() == ["cara", "ann", "trip"])
    }

    @Test(
        "scrambles nothing, is marked where it is seen, and told to its owner",
        arguments: [
            Fault(seconds: 3_600, comesRight: true, words: "1 h"),
            Fault(seconds: 400 * 86_400, comesRight: true, words: "400 days"),
            Fault(seconds: 400 * 86_400, comesRight: false, words: "400 days"),
            Fault(seconds: -3_600, comesRight: false, words: "1 h"),
        ])
    func order(fault: Fault) async throws {
        let trip = try await Trip()
        let (ann, ben, cara) = (trip.nodes.ann, trip.nodes.ben, trip.nodes.cara)
        try await trip.change("ben", to: .admin, by: ann)
        try await trip.change("cara", to: .reader, by: ann)
        try trip.clock.set(ahead: fault.seconds)
        var expected = [
            "who brings the tent?", "gladly I", "how good", "and the stove?", "cara does",
        ]
        let question = try await trip.say(expected[0], by: ann)
        let answer = try await trip.say(expected[1], by: ben, answering: question)
        try await trip.change("cara", to: .member, by: ben)
        try await trip.say(expected[2], by: cara, answering: answer)
        try await trip.say(expected[3], by: ann)
        try await trip.say(expected[4], by: cara)
        for node in trip.all { #expect(try await trip.texts(of: node) == expected) }
        try await marks(fault, trip)
        try await warns(fault, trip)
        try await reads(trip)

        if fault.comesRight {
            try trip.clock.set(ahead: 0)
            expected += ["my clock is right again", "so it is"]
            try await trip.say("my clock is right again", by: ben)
            try await trip.say("so it is", by: cara)
            #expect(try await trip.warnings(of: ben) == [])
        }
        try await trip.change("cara", to: .reader, by: ann)
        expected.append("last of all")
        try await trip.say("last of all", by: ann)
        for node in trip.all {
            #expect(try await trip.texts(of: node) == expected)
            let lines = try await trip.lines(about: "cara", at: node)
            #expect(lines == [expected[0], "how good", "last of all"], "\(lines)")
        }
        try await eventually("all show the same", on: trip.all) {
            var digests: Set<String> = []
            for node in trip.all {
                let all = try await trip.nodes.client(node).perform(ListDigests())
                digests.insert(all.first { $0.name == "trip" }?.digest ?? "")
            }
            return digests.count == 1
        }
        #expect(try await ben.stop() == 0)
        try await trip.nodes.end()
    }

    /// Once the line of who had written no message stood above what they had read, and the conversation
    /// stood above all others for a year.
    @Test("leaves the lines of who only reads below what they had read, and lists in their order")
    func linesAndLists() async throws {
        let trip = try await Trip()
        let (ann, ben, cara) = (trip.nodes.ann, trip.nodes.ben, trip.nodes.cara)
        try await trip.say("right", by: cara)
        try trip.clock.set(ahead: 400 * 86_400)
        try await trip.say("from the future", by: ben)
        let early = try await trip.nodes.client(ben).perform(
            AskPoll(conversation: "trip", question: "a year ahead?", options: ["yes", "no"]))
        try await eventually("ann is asked", on: [ann]) {
            try await trip.nodes.client(ann).perform(ListPolls()).count == 1
        }
        try trip.clock.set(ahead: 0)
        let client = try await trip.nodes.client(ann)
        try await client.perform(ProposeDecision(conversation: "trip", title: "between them"))
        let late = try await client.perform(
            AskPoll(conversation: "trip", question: "and now?", options: ["yes", "no"]))
        try await trip.change("cara", to: .reader, by: ann)
        try await trip.say("after", by: ben)
        for node in trip.all {
            let lines = try await trip.lines(about: "cara", at: node)
            #expect(lines == ["after"], "\(lines)")
        }
        let shown = try await ann.run("read", "trip", "--newest").output
        let first = try #require(shown.range(of: "a year ahead?"))
        let second = try #require(shown.range(of: "and now?"))
        let decision = try #require(shown.range(of: "between them"))
        #expect(
            first.lowerBound < decision.lowerBound && decision.lowerBound < second.lowerBound,
            "\(shown)")
        #expect(shown[first.upperBound...].prefix { $0 != "\n" }.contains("(clock ahead)"))

        try await client.perform(SendMessages(conversation: "ben", texts: ["newer"]))
        let asked = try await client.perform(
            AskPoll(conversation: "ben", question: "newest?", options: ["yes", "no"]))
        try await eventually("ben has both", on: [ben]) {
            let polls = try await trip.nodes.client(ben).perform(ListPolls()).map(\.id)
            let texts = try await trip.nodes.texts("ann", of: ben)
            return polls == [asked.id, late.id, early.id] && texts == ["newer"]
        }
        for (node, name) in [(ann, "ben"), (ben, "ann")] {
            let listed = try await trip.nodes.client(node).perform(ListConversations()).map(\.name)
            #expect(listed.first == name, "\(listed)")
        }
        #expect(try await client.perform(ListPolls()).map(\.id) == [asked.id, late.id, early.id])
        try await trip.nodes.end()
    }

    @Test("that is past the end of an invite is named where the invite is refused")
    func pastAnInvite() async throws {
        let folder = try TemporaryFolder()
        let ann = try await NodeProcess(
            home: folder.home("ann"), name: "Ann", port: try FreePort.some())
        let ben = try await NodeProcess(
            home: folder.home("ben"), name: "Ben", port: try FreePort.some())
        let link = try await ann.start().perform(CreateInvite(uses: 1, hours: 1)).link
        let clock = try SetClock()
        try clock.set(ahead: 400 * 86_400)
        func moment() -> String {
            let date = Date(timeIntervalSinceNow: 400 * 86_400)
            return MomentWords(.current).moment(UInt64(date.timeIntervalSince1970 * 1_000))
        }
        let before = moment()
        let accept = try Program(
            ["accept", link, "--home", ben.home], environment: clock.environment)
        #expect(try await accept.ended() == 1)
        let words = "That invite has expired: this device's clock says "
        let moments = [before, moment()]
        #expect(
            moments.contains { accept.output.contains(words + $0 + ".\n") }, "\(accept.output)")
        try clock.set(ahead: 0)
        #expect(try await Program.run("accept", link, "--home", ben.home).status == 0)
        #expect(try await ann.stop() == 0)
    }

    @Test("that an invite would end by is told to who makes it, and is a reason to who takes it")
    func ofWhoInvites() async throws {
        let trip = try await Trip()
        let ben = trip.nodes.ben
        let right = try await ben.run("invite").output
        #expect(!right.contains("clock"), "\(right)")
        try trip.clock.set(ahead: -365 * 86_400)
        let made = try await ben.run("invite")
        #expect(made.status == 0)
        let words = "warning: This device's clock seems wrong: it is behind those of 2 of 2 peers ("
        #expect(made.output.contains(words), "\(made.output)")
        #expect(made.output.contains("The link expires by this device's clock"), "\(made.output)")
        let link = try await trip.nodes.client(ben).perform(CreateInvite(hours: 1)).link
        let dora = try await NodeProcess(
            home: trip.nodes.folder.home("dora"), name: "dora", port: try FreePort.some())
        let refused = try await Program.run("accept", link, "--home", dora.home)
        #expect(refused.status == 1 && refused.output.contains("That invite has expired"))
        #expect(
            refused.output.contains("or the clock of its maker is wrong"),
            "\(refused.output)")
        try await trip.nodes.end()
    }

    @Test("that is a year behind marks also what answers nothing, and no message of others")
    func ofWhoIsBehind() async throws {
        let trip = try await Trip()
        try await trip.say("right", by: trip.nodes.ann)
        try trip.clock.set(ahead: -365 * 86_400)
        try await trip.say("long ago", by: trip.nodes.ben)
        try await trip.say("and now", by: trip.nodes.cara)
        let shown = try await trip.nodes.ann.run("read", "trip", "--keep-unread", "--newest").output
        for line in shown.split(separator: "\n") where line.contains("  ") {
            #expect(line.contains("(clocks differ)") == line.contains("long ago"), "\(line)")
        }
        #expect(shown.contains("long ago") && shown.contains("and now"), "\(shown)")
        try await trip.nodes.end()
    }

    @Test("puts no empty conversation above what was written since")
    func ofFounder() async throws {
        let trip = try await Trip()
        let (ann, ben) = (
            try await trip.nodes.client(trip.nodes.ann), try await trip.nodes.client(trip.nodes.ben)
        )
        try trip.clock.set(ahead: 3 * 3_600)
        try await ben.perform(CreateConversation(name: "empty", members: ["ann"]))
        try await eventually("ann has it", on: [trip.nodes.ann]) {
            try await ann.perform(ListConversations()).contains { $0.name == "empty" }
        }
        try await trip.say("something", by: trip.nodes.cara)
        #expect(try await ann.perform(ListConversations()).first?.name == "trip")
        try await trip.nodes.end()
    }

    @Test("of another device of one's own is called that")
    func ofOwnDevice() async throws {
        let (pair, clock) = (try await ProcessPair(), try SetClock())
        let home = try await pair.linkPhone(to: pair.ann)
        try clock.set(ahead: 365 * 86_400)
        let phone = NodeProcess(
            home: home, address: "127.0.0.1:\(try FreePort.some())",
            environment: clock.environment)
        let device = try await phone.start().perform(GetStatus()).device.prefix(8)
        let ann = try #require(await pair.ann.client)
        let words =
            "The clock of your device \(device) is 365 days ahead of this device's: one of the two "
            + "is wrong."
        try await eventually("ann's computer compares clocks", on: [pair.ann]) {
            try await ann.perform(GetStatus()).warnings.contains(words)
        }
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }

    /// What a person sees of it: on Ann's screen Ben's time lies ahead, or before that of the question.
    private func marks(_ fault: Fault, _ trip: Trip) async throws {
        let shown = try await Program.run(
            "read", "trip", "--keep-unread", "--newest", "--home", trip.nodes.ann.home)
        #expect(shown.status == 0)
        func line(_ text: String) -> Substring? {
            shown.output.split(separator: "\n").first { $0.contains(text) }
        }
        let isAhead = fault.seconds > 0
        #expect(line("gladly I")?.contains(isAhead ? "(clock ahead)" : "(clocks differ)") == true)
        #expect(line("how good")?.contains("(clocks differ)") == isAhead)
        for text in ["who brings the tent?", "and the stove?", "cara does"] {
            #expect(line(text)?.contains("(clock") == false, "\(text)")
        }
        try await finds(fault, trip)
    }

    /// A search for a time means the one that messages show, whatever their places are.
    private func finds(_ fault: Fault, _ trip: Trip) async throws {
        let shown = try #require(
            try await trip.nodes.client(trip.nodes.ann).perform(
                ReadMessages(conversation: "trip", limit: 100)
            ).messages.first { $0.text == "gladly I" })
        let format = Date.ISO8601FormatStyle().year().month().day()
        func day(_ days: Double) -> String {
            Date(timeIntervalSince1970: Double(shown.time) / 1000 + days * 86_400).formatted(format)
        }
        for (words, isFound) in [
            ("gladly after:\(day(0)) before:\(day(1))", true), ("gladly after:\(day(1))", false),
            ("gladly before:\(day(0))", false), ("from:ben after:\(day(0))", true),
        ] {
            let found = try await trip.nodes.ann.run("search", words)
            #expect(found.output.contains("I") == isFound, "\(fault), \(words): \(found.output)")
        }
    }

    private func warns(_ fault: Fault, _ trip: Trip) async throws {
        let (way, back) = fault.seconds > 0 ? ("ahead of", "ahead of") : ("behind", "behind")
        let own = try await trip.warnings(of: trip.nodes.ben)
        let start = "This device's clock seems wrong: it is \(way) those of 2 of 2 peers ("
        #expect(own.count == 1 && own[0].hasPrefix(start), "\(own)")
        #expect(own.first?.contains("\(fault.words) ann") == true, "\(own)")
        #expect(own.first?.contains("\(fault.words) cara") == true, "\(own)")
        // Who watches the node hears of it when it happens.
        #expect(await trip.nodes.ben.output.contains("warning: " + start))
        // The others know it from the next greeting on.
        let ben = trip.nodes.ben
        #expect(try await ben.stop() == 0)
        try await ben.start()
        for node in [trip.nodes.ann, trip.nodes.cara] {
            try await eventually("they compare clocks again", on: [node]) {
                try await trip.warnings(of: node) == [
                    "The clock of ben is \(fault.words) \(back) this device's: one of the two is "
                        + "wrong."
                ]
            }
        }
    }

    /// The newest page marks nothing as read that it did not show.
    private func reads(_ trip: Trip) async throws {
        let before = try await trip.unread(of: trip.nodes.ann)
        #expect(before == 3)
        let newest = try await Program.run(
            "read", "trip", "--newest", "--limit", "1", "--home", trip.nodes.ann.home)
        #expect(newest.output.contains("cara does"))
        #expect(try await trip.unread(of: trip.nodes.ann) == before - 1)
        let rest = try await Program.run("read", "trip", "--home", trip.nodes.ann.home)
        #expect(rest.output.contains("gladly I") && rest.output.contains("how good"))
        #expect(try await trip.unread(of: trip.nodes.ann) == 0)
    }
}
