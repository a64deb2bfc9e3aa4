import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// What went, what waits and who could do something, told to whoever asks.
@Suite("What a person is told", .serialized, .timeLimit(.minutes(4)))
struct ToldProcessTests {
    private func run(
        _ words: String..., at node: NodeProcess, fails: Bool = false
    ) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == (fails ? 1 : 0), "\(words): \(program.output)")
        return program.output
    }

    private func newest(_ conversation: String, of node: NodeClient) async throws -> MessageView {
        let page = try await node.perform(ReadMessages(conversation: conversation, limit: 1))
        return try #require(page.messages.last)
    }

    @Test("every device says who deleted a message and when, whoever wrote it")
    func deleted() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "mine")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let mine = try await newest("club", of: ann).id
        try await ben.perform(SendMessages(conversation: "club", texts: ["his"]))
        try await eventually("ann has it", on: [all.ann]) {
            try await all.texts("club", of: all.ann) == ["mine", "his"]
        }
        let his = try await newest("club", of: ann).id
        let device = try await ann.perform(GetStatus()).device.prefix(8)
        for id in [mine, his] {
            let standing = try await run("why", id, at: all.ben)
            #expect(!standing.contains("deletion"), "\(standing)")
            _ = try await run("delete", id, "--others", at: all.ann)
            try await eventually("it is gone for ben", on: [all.ben]) {
                try await ben.perform(ReadMessages(conversation: "club", limit: 9)).messages
                    .first { $0.id == id }?.isDeleted == true
            }
            let other = try await run("why", id, at: all.ben)
            let line = try #require(other.split(separator: "\n").first { $0.contains("deletion") })
            #expect(line.contains("by ann  ") && line.contains("device \(device)  "), "\(other)")
            let own = try await run("why", id, at: all.ann)
            #expect(own.contains("  deletion ") && own.contains("  by you  "), "\(own)")
            #expect(!own.contains("by ann"), "\(own)")
        }
        try await all.end()
    }

    @Test(
        "who follows reads of what is to be done, of notes, and how a group is called from now on")
    func followed() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let ann = try await all.client(all.ann)
        let follower = try Program(["follow", "--home", all.ben.home])
        // It says nothing of a beginning: it is there once it tells something.
        let name = "we meet"
        for round in 0..<2_000 where !follower.output.contains(name) {
            try await ann.perform(SendMessages(conversation: "club", texts: ["\(name) \(round)"]))
        }
        let item = try await ann.perform(CreateItem(conversation: "club", title: "buy bread"))
        try await follower.says("– ann: buy bread  (item #")
        try await ann.perform(ChangeItem(item: MessageReference(item.id), done: true))
        try await follower.says("done by ann)")
        try await ann.perform(CreateNote(conversation: "club", title: "the list", text: ""))
        try await follower.says("– ann: the list  (note #")
        try await ann.perform(RenameConversation(conversation: "club", name: "circle"))
        try await follower.says("club: – it is called “circle” now\n")
        try await ann.perform(SendMessages(conversation: "circle", texts: ["good bye"]))
        try await follower.says("good bye")
        let last = follower.output.split(separator: "\n").last { $0.contains("good bye") }
        #expect(last?.hasPrefix("circle: ") == true, "\(follower.output)")
        follower.signal(SIGKILL)
        try await follower.ended()
        try await all.end()
    }

    @Test("who took a link into a group is told that they wait, and can wait no more")
    func waiting() async throws {
        let all = try await Neighbours()
        let ann = try await all.client(all.ann)
        try await ann.perform(CreateConversation(name: "open", members: []))
        let link = try await ann.perform(
            CreateGroupInvite(conversation: "open", role: .member, uses: 2, hours: 1)
        ).link
        #expect(try await all.ann.stop() == 0)
        _ = try await run("group", "join", link, at: all.ben)
        let words = "you wait for ann to add you to “open”, until "
        for command in ["conversations", "invitations", "status"] {
            let shown = try await run(command, at: all.ben)
            #expect(shown.contains(words), "\(command): \(shown)")
            #expect(!shown.contains("No conversations yet"), "\(command): \(shown)")
        }
        for command in ["invitations", "status"] {
            let told = try await run(command, "--json", at: all.ben)
            #expect(told.contains(#""joins":[{"#) && told.contains(#""inviter":"ann""#), "\(told)")
        }
        let unknown = try await run("group", "join", "shut", "--withdraw", at: all.ben, fails: true)
        #expect(
            unknown.contains(
                "You are not waiting for a group that matches “shut”."), "\(unknown)")
        let gone = try await run("group", "join", "OPEN", "--withdraw", at: all.ben)
        #expect(gone.contains("you no longer wait for “open”"), "\(gone)")
        for command in ["conversations", "invitations", "status"] {
            #expect(try await !run(command, at: all.ben).contains("you wait for"))
        }
        // Cara waits on, and comes; ben does not.
        _ = try await run("group", "join", link, at: all.cara)
        _ = try await all.ann.start()
        try await eventually("cara is in", on: [all.ann, all.cara]) {
            try await all.members(of: "open", on: all.ann) == ["ann", "cara"]
        }
        #expect(try await !run("conversations", at: all.cara).contains("you wait for"))
        #expect(try await all.client(all.ben).perform(ListJoins()).isEmpty)
        try await all.end()
    }

    @Test("whoever sends a file sees who has it")
    func files() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        // Larger than what comes by itself.
        let path = all.folder.path + "/hut.bin"
        try Data(count: 20_000_000).write(to: URL(filePath: path))
        _ = try await run("send", "club", "the hut", "--file", path, at: all.ann)
        try await eventually("the message comes", on: [all.ben]) {
            try await newest("club", of: ben).files.first?.state == "absent"
        }
        let id = try await newest("club", of: ann).id
        let nobody = "nobody has fetched it yet"
        #expect(
            try await run("read", "club", "--newest", at: all.ann).contains("20 MB, \(nobody)]"))
        #expect(try await run("why", id, at: all.ann).contains("file hut.bin "))
        #expect(try await run("why", id, at: all.ann).contains(nobody))
        #expect(
            try await run("files", "why", id, at: all.ann).contains("Nobody else has fetched it"))
        _ = try await run("files", "get", id, at: all.ben)
        try await eventually("ann hears that ben has it", on: [all.ann]) {
            let file = try await newest("club", of: ann).files.first
            return file?.holders == ["ben"] || file?.receivers == ["ben"]
        }
        let file = try #require(try await newest("club", of: ann).files.first)
        let words = file.holders == ["ben"] ? "ben has it" : "came to ben"
        let read = try await run("read", "club", "--newest", at: all.ann)
        #expect(read.contains("20 MB, \(words)]"), "\(read)")
        #expect(try await run("why", id, at: all.ann).contains("  \(words)  "))
        // Of a file that somebody else sent it is not told.
        #expect(try await newest("club", of: ben).files.first?.holders == nil)
        #expect(try await !run("read", "club", at: all.ben).contains(nobody))
        try await all.end()
    }

    @Test("whoever takes an invite whose relay does not answer is told so")
    func deadRelay() async throws {
        let all = try await Hidden()
        let ann = try await all.ann.start(isHidden: true)
        try await ann.perform(AddRelay(text: all.text))
        try await eventually("ann's invites name the relay", on: [all.ann]) {
            try await ann.perform(CreateInvite(uses: 1, hours: 1)).relay != nil
        }
        let link = try await ann.perform(CreateInvite(hours: 1)).link
        #expect(try await all.ann.stop() == 0)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
        let ben = try await all.ben.start(isHidden: true)
        let accepted = try await run("accept", link, at: all.ben)
        try await eventually("the relay was called in vain", on: [all.ben]) {
            try await ben.perform(ListContacts()).first?.notices.isEmpty == false
        }
        let shown = try await run("contacts", at: all.ben)
        for output in [accepted, shown] {
            #expect(output.contains("(no name yet)  "), "\(output)")
        }
        #expect(shown.contains("notice: The relay 127.0.0.1:"), "\(shown)")
        #expect(shown.contains("cannot be reached. Your node keeps trying"), "\(shown)")
        #expect(accepted.contains("you meet as soon as"), "\(accepted)")
        #expect(try await all.ben.stop() == 0)
    }

    @Test("a group is not called as everybody is, and one that comes so is quoted")
    func everybody() async throws {
        let folder = try TemporaryFolder()
        let ann = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        for name in ["@everyone", " @All", "#7", "# 12"] {
            let refused = try await run("group", "create", name, at: ann, fails: true)
            #expect(refused.contains("error: That "), "\(name): \(refused)")
        }
        for (name, words) in [
            ("a\tb", "The name contains a tab."), ("a\nb", "The name has more than one line."),
        ] {
            let refused = try await run("group", "create", name, at: ann, fails: true)
            #expect(refused.contains("error: \(words)"), "\(refused)")
        }
        for name in ["@everyone", "#7"] {
            _ = try await run("name", name, at: ann, fails: true)
        }
        _ = try await run("group", "create", "everyone", at: ann)
        #expect(try await run("conversations", at: ann).hasPrefix("everyone "))
    }

    @Test(
        "two devices of one person are not called the same, and a revoked one is advised what works"
    )
    func devices() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann),
            address: "127.0.0.1:\(try FreePort.some())")
        let client = try await phone.start()
        let laptop = try #require(await pair.ann.client)
        let own = try #require(try await laptop.perform(ListDevices()).first { $0.isThis })
        let taken = try await run(
            "device", "rename", own.device, "Phone", at: pair.ann, fails: true)
        #expect(taken.contains("Another device of yours is already called “phone”, "), "\(taken)")
        // Its own name is no other's.
        _ = try await run("device", "rename", "phone", "phone", at: pair.ann)

        _ = try await run("remind", "call the hut", "--at", "2h", at: phone)
        try await eventually("the laptop knows", on: [pair.ann]) {
            try await laptop.perform(ListReminders()).count == 1
        }
        try await laptop.perform(RevokeDevice(device: "phone"))
        try await eventually("the phone knows", on: [phone]) {
            try await client.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        let id = try #require(try await laptop.perform(ListReminders()).first).id.prefix(8)
        let there = try await run("reminders", at: phone)
        let advice = "rings nowhere: “parley reminders here \(id)” on another device of yours"
        #expect(there.contains(advice), "\(there)")
        let here = try await run("reminders", at: pair.ann)
        let command = "`parley reminders here --home \(pair.ann.home) \(id)`"
        #expect(here.contains("rings nowhere: \(command)"), "\(here)")
        _ = try await run("reminders", "here", String(id), at: pair.ann)
        #expect(try await !run("reminders", at: pair.ann).contains("nowhere"))
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }
}
