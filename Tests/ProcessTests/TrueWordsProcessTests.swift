import Foundation
import Parley
import ParleyLocalAPI
import ParleyTransport
import Testing

/// Screens that were once asked in a state in which what they said was not true.
@Suite("What is shown is so", .serialized, .timeLimit(.minutes(4)))
struct TrueWordsProcessTests {
    @Test("relays are not connecting where no node runs, or where it is cut off")
    func idleRelays() async throws {
        let all = try await Hidden()
        let added = try await all.ann.run("relays", "add", all.text)
        let home = all.ann.home
        let idle = "no node is running, so nothing is connected: parley run --home \(home)\n"
        let listed = try await all.ann.run("relays", "list")
        for shown in [added, listed] {
            #expect(shown.status == 0)
            #expect(shown.output.contains("  not connected\n"), "\(shown.output)")
            #expect(shown.output.contains(idle) && !shown.output.contains("connecting"))
        }
        #expect(try await all.ann.run("relays", "--json").output.contains(#""state":"idle""#))

        let ann = try await all.ann.start(isHidden: true)
        try await eventually("the relay is reached", on: [all.ann]) {
            try await ann.perform(ListRelays()).first?.state == "connected"
        }
        #expect(try await all.ann.run("offline", "on").status == 0)
        let cut = try await all.ann.run("relays").output
        let end = "this node is offline: parley offline --home \(home) off ends that\n"
        #expect(cut.contains("  not connected\n") && cut.contains(end), "\(cut)")
        #expect(try await all.ann.run("offline", "off").status == 0)
        try await eventually("the relay is reached again", on: [all.ann]) {
            try await ann.perform(ListRelays()).first?.state == "connected"
        }
        #expect(try await !all.ann.run("relays").output.contains("is offline"))
        #expect(try await all.ann.stop() == 0)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }

    @Test("who was asked into a group and did not want to has declined, and who was in it has left")
    func declined() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.client(all.ben).perform(SetAdditionPolicy(policy: .nobody))
        try await all.client(all.ann).perform(CreateConversation(name: "trip", members: ["ben"]))
        func asked() async throws {
            try await eventually("ben is asked", on: [all.ben]) {
                try await all.client(all.ben).perform(ListInvitations()).waiting.count == 1
            }
        }
        func isOut() async throws {
            try await eventually("ann hears that ben is out", on: [all.ann]) {
                try await all.members(of: "trip", on: all.ann) == ["ann"]
            }
        }
        try await asked()
        #expect(try await all.ben.run("invitations", "decline", "trip").status == 0)
        try await isOut()
        let declined = try await all.ann.run("read", "trip").output
        #expect(declined.contains("– ben declined\n") && !declined.contains("left"), "\(declined)")
        let why = try await all.ann.run("why", "ben", "--in", "trip").output
        #expect(why.contains("declined") && !why.contains("left"), "\(why)")

        #expect(try await all.ann.run("group", "add", "trip", "ben").status == 0)
        try await asked()
        #expect(try await all.ben.run("invitations", "accept", "trip").status == 0)
        try await eventually("ann sees that ben takes part", on: [all.ann]) {
            try await all.client(all.ann).perform(GetGroup(conversation: "trip")).members.allSatisfy
            { !$0.isInvited }
        }
        #expect(try await all.ben.run("group", "leave", "trip").status == 0)
        try await isOut()
        let left = try await all.ann.run("read", "trip").output
        #expect(left.contains("– ben declined\n") && left.contains("– ben left\n"), "\(left)")
        let listed = try await all.ben.run("conversations").output
        #expect(listed.contains("you are not in it any more"), "\(listed)")
        let both = try await all.ann.run("why", "ben", "--in", "trip").output
        #expect(both.contains("declined  ") && both.contains("left  "), "\(both)")
        try await all.end()
    }

    @Test(
        "a device that recovers is called by its machine, and one whose name is lost by its number")
    func recovered() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let lost = String(try await all.client(all.ann).perform(GetStatus()).device.prefix(12))
        let backup = all.folder.path + "/backup"
        #expect(try await all.ann.run("backup", "create", backup).status == 0)
        #expect(try await all.ann.stop() == 0)
        let code = all.folder.path + "/code"
        try Data(try #require(all.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        let invite = try await all.client(all.ben).perform(CreateInvite(hours: 1)).link
        let again = all.folder.home("again")
        let recovered = try await Program.run(
            "recover", "--code-file", code, "--from", invite, "--yes", "--home", again)
        #expect(recovered.status == 0, "\(recovered.output)")
        let machine = String(ProcessInfo.processInfo.hostName.prefix(60))
        func devices(_ home: String) async throws -> [Substring] {
            let shown = try await Program.run("device", "list", "--home", home)
            #expect(shown.status == 0 && !shown.output.contains("(no name)"), "\(shown.output)")
            return shown.output.split(separator: "\n")
        }
        var lines = try await devices(again)
        #expect(lines.count == 2 && lines[0].hasPrefix(machine + " "), "\(lines)")
        #expect(
            lines[1].hasPrefix("\(lost.prefix(8)) ") && lines[1].contains("  \(lost)  revoked  "))
        #expect(lines[1].hasSuffix("  its name is not known here"), "\(lines)")

        // What a backup tells of the names of others is kept, and none is given twice.
        let restored = all.folder.home("restored")
        let third = try await Program.run(
            "recover", "--code-file", code, "--backup", backup, "--yes", "--home", restored)
        #expect(third.status == 0, "\(third.output)")
        lines = try await devices(restored)
        // Between them may stand the one that was recovered before: ben tells of it.
        #expect(
            lines[0].hasPrefix(machine + " 2 ")
                && lines.contains { $0.hasPrefix(machine + "  ") && $0.contains("revoked") },
            "\(lines)")
        // What is set there counts at once, before anything was reached.
        for words in [
            ["device", "rename", machine + " 2", "desk"], ["contact", "alias", "ben", "Benny"],
        ] {
            let program = try Program(words + ["--home", restored])
            #expect(try await program.ended() == 0, "\(program.output)")
        }
        #expect(try await devices(restored)[0].hasPrefix("desk "))
        let contacts = try await Program.run("contacts", "--home", restored)
        #expect(contacts.output.hasPrefix("Benny "), "\(contacts.output)")
        try await all.end()
    }

    @Test("a backup is proven without any home, whatever home is named")
    func backupAlone() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        let (file, code) = (folder.path + "/backup", folder.path + "/code")
        try Data(try #require(node.recoveryCode).utf8).write(to: URL(filePath: code))
        #expect(try await node.run("backup", "create", file).status == 0)
        try FileManager.default.removeItem(atPath: node.home)
        let nowhere = folder.path + "/nowhere"
        let words = ["backup", "verify", file, "--code-file", code]
        let homes = [[], ["--home", node.home], ["--home", nowhere], ["--home", file]]
        for home in homes {
            let verify = try Program(
                words + home,
                environment: [
                    "HOME": nowhere, "XDG_DATA_HOME": nowhere, "PARLEY_HOME": nowhere,
                    "TMPDIR": nowhere,
                ])
            #expect(try await verify.ended() == 0, "\(home): \(verify.output)")
            #expect(verify.output.contains("the backup is complete and valid"))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["backup", "code"])
    }

    @Test(
        "a device that was revoked says of what it wrote that it hears no more whether it arrived")
    func revoked() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann),
            address: "127.0.0.1:\(try FreePort.some())")
        let client = try await phone.start()
        try await eventually("the phone has the conversation", on: [phone]) {
            try await client.perform(ListConversations()).contains { $0.name == "ben" }
        }
        #expect(try await phone.run("send", "ben", "this arrives").status == 0)
        try await eventually("it arrives", on: [phone]) {
            let page = try await client.perform(ReadMessages(conversation: "ben", limit: 9))
            return page.messages.last?.state == "delivered"
        }
        #expect(try await phone.run("group", "create", "notes").status == 0)
        #expect(try await phone.run("send", "notes", "for me").status == 0)
        #expect(try await pair.ben.stop() == 0)
        let sent = try await phone.run("send", "ben", "does this?")
        #expect(sent.output.contains("does this?  ✓\n"), "\(sent.output)")
        #expect(try await phone.run("outbox").output.contains("1 saved here"))
        #expect(try await pair.ann.run("device", "revoke", "phone").status == 0)
        try await eventually("the phone knows", on: [phone]) {
            try await client.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        let reason = "another device of yours has revoked this one, so it no longer learns"
        let read = try await phone.run("read", "ben", "--newest").output
        #expect(read.contains("this arrives  ✓✓\n"), "\(read)")
        #expect(read.contains("does this?  ✓ not known whether it arrived\n"), "\(read)")
        #expect(read.contains(reason))
        let notes = try await phone.run("read", "notes").output
        #expect(notes.contains("for me  ✓\n") && !notes.contains(reason), "\(notes)")
        let outbox = try await phone.run("outbox").output
        #expect(outbox.contains("ben  1 may have arrived or not\n"), "\(outbox)")
        #expect(outbox.contains(reason) && !outbox.contains("saved here"), "\(outbox)")
        let status = try await phone.run("status").output
        #expect(status.contains("waiting    0 messages and changes\n"), "\(status)")
        #expect(status.contains("whether 1 message or change of yours arrived"), "\(status)")
        // What is advised is not refused.
        let advice = "`parley device accept-link --home FOLDER TEXT`"
        #expect(status.contains(advice) && status.contains("gets nothing more"), "\(status)")
        let refused = try await phone.run("send", "ben", "and this?")
        #expect(refused.status == 1 && refused.output.contains(advice), "\(refused.output)")
        #expect(try await phone.run("relays").output == "No relay yet.\n")
        let page = try await client.perform(ReadMessages(conversation: "ben", limit: 1))
        #expect(page.messages.map(\.state) == ["unknown"])
        let number = try #require(page.messages.first?.number)
        let why = try await phone.run("why", "\(number)").output
        #expect(
            why.contains("not known here: this device was revoked, and learns no more"), "\(why)")
        #expect(!why.contains("not known to have it"), "\(why)")
        for node in [pair.ann, phone] { #expect(try await node.stop() == 0) }
    }

    @Test("who is asked to be a contact and was not reached is in the outbox until they are")
    func requests() async throws {
        let all = try await Hidden()
        let cards = try await all.ben.run("contact", "card").output
        let card = String(try #require(cards.split(separator: "\n").last))
        #expect(try await all.ann.run("contact", "request", card, "--alias", "ben").status == 0)
        let idle =
            "no node is running: a command sends and fetches what it can while it lasts; "
            + "parley run --home \(all.ann.home) does so all the time\n"
        let waits =
            "ben  your request to be a contact waits until they, or a relay of theirs, are reached\n"
        let before = try await all.ann.run("outbox")
        #expect(before.output == waits + idle, "\(before.output)")
        let ann = NodeProcess(home: all.ann.home, address: "127.0.0.1:\(try FreePort.some())")
        let client = try await ann.start()
        #expect(try await ann.run("outbox").output == waits)
        #expect(try await client.perform(ListOutbox()).map(\.wish) == ["request"])

        // Her card leads ben to her: then it is said, and nothing waits any more.
        let ben = try await all.ben.start(isHidden: true)
        try await ben.perform(RequestContact(card: try await client.perform(GetCard()).text))
        try await eventually("they have met", on: [ann, all.ben]) {
            try await client.perform(ListContacts()).map(\.state) == ["accepted"]
        }
        #expect(try await client.perform(ListOutbox()).isEmpty)
        #expect(try await ann.run("outbox").output == "Nothing waits.\n")
        #expect(try await ann.stop() == 0)
        #expect(try await all.ben.stop() == 0)

        // An invite that was taken while nobody ran waits as well.
        let cara = try await NodeProcess(home: all.folder.home("cara"), name: "cara", port: 1)
        let host = NodeProcess(home: all.ann.home, address: "127.0.0.1:\(try FreePort.some())")
        let invite = try await host.start().perform(CreateInvite(hours: 1)).link
        #expect(try await host.stop() == 0)
        #expect(try await cara.run("accept", invite).status == 0)
        let taken = try await cara.run("outbox").output
        #expect(
            taken.contains("  you accepted their invite: that waits until they are reached\n"),
            "\(taken)")
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }

    @Test("a link that was refused is told in words, beside its code")
    func refusedLink() async throws {
        let folder = try TemporaryFolder()
        let port = try FreePort.some()
        let node = try await NodeProcess(home: folder.home("ann"), name: "ann", port: port)
        try await node.start()
        let (transport, connection) = (Transport(threadCount: 1), RawConnection())
        try await transport.dial(try Endpoint("127.0.0.1:\(port)"), handler: connection)
        connection.send((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) })
        try await connection.ends()
        let status = try await node.run("status").output
        #expect(
            status.contains(
                "link-unsupported: 1, a connection that does not begin as this protocol does\n"),
            "\(status)")
        await transport.shutdown()
        #expect(try await node.stop() == 0)
    }
}
