import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ann, and ben with a computer and a telephone; each in a process of its own, over TCP.
@Suite("What own devices know", .serialized, .timeLimit(.minutes(3)))
struct OwnDeviceProcessTests {
    private func told(_ node: NodeClient) async throws -> [String?] {
        let report = try await node.perform(ListPresences())
        return [report.told] + report.people.map(\.told)
    }

    /// Puts ben out of both groups that he was in with ann: one he leaves, from one he is removed.
    private func partWays(_ pair: ProcessPair) async throws {
        let (ann, computer) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        try await ann.perform(CreateConversation(name: "choir", members: ["ben"]))
        try await eventually("ben is in both", on: [pair.ann, pair.ben]) {
            try await computer.perform(ListConversations()).map(\.name).sorted() == [
                "ann", "choir", "log",
            ]
        }
        try await ann.perform(SendMessages(conversation: "log", texts: ["hello"]))
        try await eventually("ben has it", on: [pair.ben]) {
            try await computer.perform(ListConversations()).contains {
                $0.name == "log" && $0.newest != nil
            }
        }
        try await computer.perform(LeaveGroup(conversation: "log"))
        try await ann.perform(RemoveGroupMember(conversation: "choir", person: "ben"))
        try await eventually("ben is out of both", on: [pair.ann, pair.ben]) {
            let members = try await computer.perform(ListConversations())
                .filter { $0.kind == "group" }.map(\.members)
            return members == [["ann"], ["ann"]]
        }
    }

    /// An invite is of the device that made it: the other one does not say that there is none.
    private func saysWhoseInvites(_ computer: NodeClient, _ phone: NodeProcess) async throws {
        let invite = try await computer.perform(CreateInvite(hours: 1))
        for words in [["invite", "list"], ["invite", "list", "--json"]] {
            let listed = try Program(words + ["--home", phone.home])
            #expect(try await listed.ended() == 0)
            #expect(
                listed.output.contains("made is listed and revoked only there"), "\(listed.output)")
            #expect(!listed.output.contains("no invite is open"), "\(listed.output)")
        }
        let refused = try await phone.run("invite", "revoke", String(invite.id.prefix(8)))
        #expect(refused.status == 1 && refused.output.contains("another device of yours made"))
        try await computer.perform(RevokeInvite(id: invite.id))
    }

    /// Whoever runs a site would else learn where the computer is, though previews were turned off.
    private func fetchesNoMore(
        _ computer: NodeClient, _ phone: NodeClient, on nodes: [NodeProcess]
    ) async throws {
        try await computer.perform(SetLinkSettings(isOn: true))
        try await eventually("the phone would fetch pages as well", on: nodes) {
            try await phone.perform(GetLinkSettings()).isOn
        }
        try await phone.perform(SetLinkSettings(isOn: false))
        try await eventually("the computer fetches no pages any more", on: nodes) {
            try await !computer.perform(GetLinkSettings()).isOn
        }
    }

    @Test("what is set on one is so on the other, and both list what was left")
    func same() async throws {
        let pair = try await ProcessPair()
        let (ann, computer) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        try await partWays(pair)
        try await computer.perform(SetPrivacy(told: "now"))
        // What was there before there was a second device.
        let (home, said) = try await pair.linkedPhone(to: pair.ben)
        let name = try #require(try await computer.perform(ListDevices()).first { $0.isThis }?.name)
        let notice = "notice: the messages in log are only on \(name)"
        #expect(said.contains("everything is here that the other devices can give"), "\(said)")
        #expect(said.contains(notice), "\(said)")
        let process = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        let phone = try await process.start()
        try await eventually("the new one lists the same", on: [pair.ben, process]) {
            let (all, old) = (
                try await phone.perform(ListConversations()),
                try await computer.perform(ListConversations())
            )
            return Set(all.map(\.id)) == Set(old.map(\.id))
                && Set(all.map(\.name)) == Set(old.map(\.name))
                && Set(all.map(\.members)) == Set(old.map(\.members))
        }
        #expect(try await told(phone) == ["now", nil])
        #expect(try await phone.perform(ListInvitations()).waiting.isEmpty)
        let unseen = try await phone.perform(ReadMessages(conversation: "log", limit: 9)).messages
        #expect(unseen.isEmpty)
        for words in [["read", "log"], ["conversations"]] {
            let command = try Program(words + ["--home", home])
            #expect(try await command.ended() == 0)
            #expect(command.output.contains(notice), "\(command.output)")
            #expect(!command.output.contains("no messages yet"), "\(command.output)")
        }
        #expect(try await !pair.ben.run("conversations").output.contains("notice"))
        let error = await #expect(throws: NodeError.self) {
            try await phone.perform(SendMessages(conversation: "log", texts: ["x"]))
        }
        #expect(error?.code == "not-a-member")

        try await saysWhoseInvites(computer, process)
        // What is set from then on, on either.
        try await phone.perform(SetPrivacy(told: "nothing", person: "ann"))
        try await computer.perform(
            AddTurnServer(address: "turn:t.example:3478", name: "ben", password: "magic"))
        try await eventually("each knows what the other set", on: [pair.ben, process]) {
            let servers = try await phone.perform(GetCallSettings()).servers
            let others = try await computer.perform(GetCallSettings()).servers
            let isTold = try await told(computer) == ["now", "nothing"]
            return isTold && servers == others && servers.first?.name == "ben"
        }
        try await computer.perform(SetPresence(presence: "online"))
        try await phone.perform(SetPresence(presence: "online"))
        #expect(try await process.stop() == 0)
        let again = try await process.start()
        #expect(try await told(again) == ["now", "nothing"])
        #expect(try await again.perform(ListConversations()).count == 3)
        #expect(try await ann.perform(ListPresences()).people.map(\.presence) == ["offline"])
        for node in [pair.ann, pair.ben, process] { #expect(try await node.stop() == 0) }
    }

    @Test("a device that is linked after one went and came back says what it has nothing of")
    func cameBack() async throws {
        let pair = try await ProcessPair()
        let (ann, computer) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        func texts(_ node: NodeClient) async throws -> [String] {
            try await node.perform(ReadMessages(conversation: "log", limit: 50)).messages
                .compactMap(\.text)
        }
        func write(_ text: String, by node: NodeClient) async throws {
            try await node.perform(SendMessages(conversation: "log", texts: [text]))
            try await eventually("both have \(text)", on: [pair.ann, pair.ben]) {
                let (mine, theirs) = (try await texts(computer), try await texts(ann))
                return mine.contains(text) && theirs.contains(text)
            }
        }
        try await write("before, of ann", by: ann)
        try await computer.perform(LeaveGroup(conversation: "log"))
        try await eventually("ben is out", on: [pair.ann]) {
            try await ann.perform(ListConversations()).first { $0.name == "log" }?.members == [
                "ann"
            ]
        }
        try await ann.perform(AddGroupMember(conversation: "log", person: "ben", role: .member))
        try await eventually("ben is in again", on: [pair.ben]) {
            try await computer.perform(ListConversations()).first { $0.name == "log" }?.members
                .count == 2
        }
        try await write("after", by: ann)

        let (home, said) = try await pair.linkedPhone(to: pair.ben)
        let notice = "notice: messages in log from before you left and came back are not here"
        #expect(said.contains("everything is here that the other devices can give"), "\(said)")
        #expect(said.contains(notice), "\(said)")
        let process = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        let phone = try await process.start()
        #expect(try await texts(phone) == ["after"])
        #expect(try await texts(computer) == ["before, of ann", "after"])
        let listed = try await process.run("conversations").output
        #expect(listed.contains(notice), "\(listed)")
        let held = try await pair.ben.run("conversations").output
        #expect(!held.contains("notice"), "it has what was said: \(held)")
        #expect(try await ann.perform(ListConversations()).allSatisfy { !$0.lacksEarlier })
        for node in [pair.ben, process] { #expect(try await node.stop() == 0) }
        try await isToldOnOneRecovered(notice, pair)
    }

    /// Of a device that the code brings, all others are revoked, and with them who wrote of a time before.
    private func isToldOnOneRecovered(_ notice: String, _ pair: ProcessPair) async throws {
        let ann = try #require(await pair.ann.client)
        let code = pair.folder.path + "/code"
        try Data(try #require(pair.ben.recoveryCode).utf8).write(to: URL(filePath: code))
        let again = NodeProcess(
            home: pair.folder.home("again"), address: "127.0.0.1:\(try FreePort.some())")
        let invite = try await ann.perform(CreateInvite(hours: 1)).link
        let recovered = try await again.run(
            "recover", "--code-file", code, "--from", invite, "--yes")
        #expect(recovered.status == 0, "\(recovered.output)")
        let third = try await again.start()
        try await eventually("what is given is there", on: [pair.ann, again]) {
            guard try await third.perform(ListConversations()).contains(where: { $0.name == "log" })
            else { return false }
            return try await third.perform(ReadMessages(conversation: "log", limit: 50)).messages
                .map(\.text) == ["after"]
        }
        let lacking = try await again.run("conversations").output
        #expect(lacking.contains(notice), "\(lacking)")
        for node in [pair.ann, again] { #expect(try await node.stop() == 0) }
    }

    /// Once each device of who had made the link had a line of its own for who came by it.
    @Test("who comes by a link comes once, and a paper that was compared on one was on both")
    func once() async throws {
        let pair = try await ProcessPair()
        let ann = try #require(await pair.ann.client)
        try await ann.perform(MarkVerified(person: "ben"))
        let home = try await pair.linkPhone(to: pair.ben)
        let phone = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        let own = try await phone.start()
        try await eventually("ann hears of it", on: [pair.ann]) {
            try await !ann.perform(GetStatus()).notices.isEmpty
        }
        let verify = "parley contact verify --home \(pair.ann.home) "
        for words in [["contacts"], ["why", "ben"]] {
            let command = try Program(words + ["--home", pair.ann.home])
            #expect(try await command.ended() == 0)
            #expect(command.output.contains(verify), "\(words): \(command.output)")
        }

        let reminder = "never checked the recovery code"
        #expect(try await phone.run("status").output.contains(reminder))
        let file = pair.folder.path + "/code"
        try Data(try #require(pair.ben.recoveryCode).utf8).write(to: URL(filePath: file))
        #expect(
            try await pair.ben.run("recovery", "check", "--code-file", file).status == 0)
        try await eventually("the other one knows", on: [phone]) {
            try await own.perform(GetStatus()).recoveryCheckTime != nil
        }
        for node in [phone, pair.ben] {
            #expect(try await !node.run("status").output.contains(reminder))
        }

        let ben = try #require(await pair.ben.client)
        try await fetchesNoMore(ben, own, on: [pair.ben, phone])
        try await ben.perform(CreateConversation(name: "open", members: []))
        try await eventually("both devices are in", on: [phone]) {
            try await own.perform(ListConversations()).contains { $0.name == "open" }
        }
        let link = try await ben.perform(
            CreateGroupInvite(conversation: "open", role: .member, uses: 5, hours: 1))
        try await ann.perform(JoinGroup(link: link.link))
        try await eventually("ann is in, for all", on: [pair.ann, pair.ben, phone]) {
            for node in [ann, ben, own] {
                guard
                    try await node.perform(ListConversations()).contains(where: {
                        $0.name == "open"
                    }),
                    try await node.perform(GetGroup(conversation: "open")).members.count == 2
                else { return false }
            }
            return true
        }
        for node in [pair.ann, pair.ben, phone] {
            let page = try await node.run("read", "open")
            #expect(page.output.components(separatedBy: "joined with a link").count == 2)
        }
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }
}
