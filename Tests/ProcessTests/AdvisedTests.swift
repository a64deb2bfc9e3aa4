import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Each hint is read from what is printed in its state, and done as it stands there.
@Suite("Advice, in the state in which it is given", .serialized, .timeLimit(.minutes(5)))
struct AdvisedTests {
    private func write(_ text: String?, _ file: String) throws {
        try Data(try #require(text).utf8).write(to: URL(filePath: file))
    }

    /// Runs a command, which must say what can be done, and does that.
    @discardableResult
    private func follow(
        _ words: [String], at node: NodeProcess, _ advised: String,
        _ values: [String: String] = [:], adding options: String = "", in folder: String,
        isRefused: Bool = true
    ) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        let status = try await program.ended()
        #expect((status != 0) == isRefused, "\(words): \(program.output)")
        let done = try await Advised.first(advised, in: program.output)
            .run(values, adding: options, in: folder)
        #expect(done.status == 0, "\(advised): \(done.output)")
        return done.output
    }

    @Test("about keys, the recovery code and backups leads on")
    func keys() async throws {
        let folder = try TemporaryFolder()
        let (path, none) = (folder.path, NodeProcess(home: folder.home("none"), address: ""))
        try await follow(["status"], at: none, "init", ["YOURNAME": "nora"], in: path)
        #expect(try await none.run("status").output.contains("nora"))
        let ann = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        let (code, paper) = (path + "/code", "--code-file code")
        try write(ann.recoveryCode, code)
        let told = try await follow(
            ["status"], at: ann, "recovery check", adding: paper, in: path, isRefused: false)
        #expect(told.contains("keep the paper"), "\(told)")
        #expect(try await !ann.run("status").output.contains("recovery check"))

        try write("first\n", path + "/one")
        try write("second\n", path + "/two")
        for words in [["change"], ["remove"]] {
            let refused = try Program(["passphrase"] + words + ["--home", ann.home])
            #expect(try await refused.ended() == 1)
            _ = try Advised.first("passphrase set", in: refused.output)
        }
        let (new, old) = (" --new-passphrase-file ", "--passphrase-file ")
        try await follow(
            ["passphrase", "change"], at: ann, "passphrase set", adding: new + "one", in: path)
        try await follow(
            ["passphrase", "set", "--passphrase-file", path + "/one"], at: ann,
            "passphrase change", adding: old + "one" + new + "two", in: path)
        let closed = try await ann.run("status")
        #expect(closed.status == 1 && closed.output.contains("with --passphrase-file"))
        #expect(try await ann.run("status", "--passphrase-file", path + "/two").status == 0)
        #expect(
            try await ann.run("passphrase", "remove", "--passphrase-file", path + "/two").status
                == 0)

        let backup = path + "/backup"
        let created = try await ann.run("backup", "create", backup)
        #expect(created.output.contains(": parley backup verify \(backup) shows"))
        let back = NodeProcess(home: folder.home("back"), address: "")
        let restored = try await back.run("backup", "restore", backup, "--code-file", code, "--yes")
        #expect(restored.status == 0, "\(restored.output)")
        let set = try await Advised.first("passphrase set", in: restored.output).run(
            adding: new + "one", in: path)
        #expect(set.status == 0, "\(set.output)")
        let run = try Advised.first("run", in: restored.output).start(
            adding: old + "one", in: path)
        try await run.says("Ctrl-C stops it")
        run.signal(SIGTERM)
        #expect(try await run.ended() == 0)
    }

    @Test("about a node that runs, or does not, leads on")
    func running() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("a"), name: "ann", port: try FreePort.some())
        for words in [["follow"], ["offline", "on"], ["device", "link"]] {
            let refused = try Program(words + ["--home", node.home])
            #expect(try await refused.ended() == 1)
            let run = try Advised.first("run", in: refused.output).start(in: folder.path)
            try await run.says("Ctrl-C stops it")
            run.signal(SIGTERM)
            #expect(try await run.ended() == 0)
        }
        try await node.start()
        try await follow(["run"], at: node, "status", in: folder.path)
        let repair = try await node.run("doctor", "--repair")
        #expect(repair.status == 1)
        #expect(try await node.run("offline", "on").status == 0)
        try await follow(["device", "link"], at: node, "offline off", in: folder.path)
        #expect(try await node.client?.perform(GetStatus()).isOffline == false)
        #expect(try await node.stop() == 0)
        let mended = try await Advised.first("doctor --repair", in: repair.output).run(
            in: folder.path)
        #expect(mended.status == 0, "\(mended.output)")
    }

    @Test("about own devices leads on: to leave the only one, and to come back with a new one")
    func devices() async throws {
        let pair = try await ProcessPair()
        let (ann, path) = (pair.ann, pair.folder.path)
        try write(ann.recoveryCode, path + "/code")
        let device = try #require(try await ann.client?.perform(GetStatus()).device)
        let only = try await ann.run("device", "revoke", String(device.prefix(8)))
        #expect(only.status == 1)
        let link = try Advised.first("device link", in: only.output).start(in: path)
        try await link.says("waiting for")
        let text = try #require(link.output.firstMatch(of: /parley-device:1:[^\s]+/)).0
        let phone = NodeProcess(
            home: pair.folder.home("phone"), address: "127.0.0.1:\(try FreePort.some())")
        #expect(try await phone.run("device", "accept-link", String(text)).status == 0)
        try await phone.start()
        // There, as it was said, with the code; without it that is what it says.
        let junior = try await phone.run("device", "revoke", String(device.prefix(8)))
        #expect(junior.status == 1 && junior.output.contains("add --code-file FILE"))
        let revoked = try await phone.run(
            "device", "revoke", String(device.prefix(8)), "--code-file", path + "/code")
        #expect(revoked.status == 0, "\(revoked.output)")
        try await eventually("the laptop knows", on: [ann]) {
            try await ann.client?.perform(GetStatus()).isRevoked == true
        }
        for words in [["send", "ben", "hi"], ["status"]] {
            let told = try Program(words + ["--home", ann.home])
            try await told.ended()
            let name = "new" + words[0]
            let elsewhere = try Advised.first("device link", in: told.output)
            let again = try Program(
                elsewhere.command.split(separator: " ").dropFirst().map(String.init)
                    + ["--home", phone.home])
            try await again.says("waiting for")
            let text = try #require(again.output.firstMatch(of: /parley-device:1:[^\s]+/)).0
            let accepted = try await Advised.first("device accept-link", in: told.output).run(
                ["FOLDER": pair.folder.home(name), "TEXT": String(text)], in: path)
            #expect(accepted.status == 0, "\(accepted.output)")
            let sent = try await Program.run(
                "send", "ben", "on", "--home", pair.folder.home(name))
            #expect(sent.status == 0, "\(sent.output)")
            // Whoever did not expect it is told what ends it.
            try await again.ended()
            let ended = try await Advised.first("device revoke", in: again.output).run(in: path)
            #expect(ended.status == 0, "\(again.output)\(ended.output)")
        }
        for node in [ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }

    @Test("about people leads on: to answer, to block, to let in again, to delete")
    func people() async throws {
        let all = try await Neighbours()
        let (ann, path) = (all.ann, all.folder.path)
        try await all.meet(ann, all.ben, named: "ben")
        let card = try await all.client(ann).perform(GetCard()).text
        #expect(try await all.cara.run("contact", "request", card).status == 0)
        try await eventually("ann is asked", on: [ann]) {
            try await all.state(of: "cara", for: ann) == "pending"
        }
        // What goes elsewhere is said by what it is.
        let link = try await all.client(all.ben).perform(CreateInvite(hours: 1)).link
        for (words, text, advised) in [
            (["accept"], card, "contact request"), (["group", "join"], card, "contact request"),
            (["contact", "request"], link, "accept"), (["group", "join"], link, "accept"),
        ] {
            try await follow(words + [text], at: all.cara, advised, adding: text, in: path)
        }
        try await follow(["send", "cara", "hi"], at: ann, "contact accept", in: path)
        #expect(try await ann.run("send", "cara", "hi").status == 0)

        try await follow(["conversations", "delete", "ben"], at: ann, "contact block", in: path)
        try await follow(
            ["send", "ben", "hi"], at: ann, "contact unblock", ["PERSON": "ben"], in: path)
        #expect(try await ann.run("send", "ben", "hi").status == 0)
        try await follow(["conversations", "delete", "ben"], at: ann, "contact block", in: path)
        #expect(try await ann.run("conversations", "delete", "ben").status == 0)
        try await all.end()
    }

    @Test("about devices of somebody who was verified, and about whoever ranks higher, leads on")
    func standing() async throws {
        let pair = try await ProcessPair()
        let (ann, ben, path) = (pair.ann, pair.ben, pair.folder.path)
        let client = try #require(await ann.client)
        let other = try #require(await ben.client)
        let code = try await other.perform(GetSafetyNumber(person: "ann")).code
        #expect(try await client.perform(VerifyContact(person: "ben", code: code)).isVerified)
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: ben),
            address: "127.0.0.1:\(try FreePort.some())")
        try await phone.start()
        try await eventually("ann is told of the phone", on: [ann]) {
            try await !client.perform(GetStatus()).notices.isEmpty
        }
        try await follow(
            ["status"], at: ann, "contact verify", in: path, isRefused: false)
        #expect(try await client.perform(GetStatus()).notices.isEmpty)
        // Of two owners the first ranks higher: to the other one a way out is told.
        #expect(try await ann.run("group", "role", "log", "ben", "owner").status == 0)
        try await eventually("ben is an owner", on: [ben]) {
            try await ben.client?.perform(GetGroup(conversation: "log")).members
                .first(where: \.isSelf)?.role == "owner"
        }
        let words = ["group", "role", "log", "ann", "member"]
        try await follow(
            words, at: ben, "group create", ["NAME": "other", "PERSON": "ann"], in: path)
        try await follow(words, at: ben, "group leave", in: path)
        for node in [ann, ben, phone] { #expect(try await node.stop() == 0) }
    }

    @Test("about leaving a group leads out of it, and then to delete it")
    func leaving() async throws {
        let all = try await Neighbours()
        let (ann, path) = (all.ann, all.folder.path)
        try await all.gather(in: "our club", saying: "welcome")
        // The last owner makes somebody else one, as it is printed, and leaves.
        try await follow(["group", "leave", "our club"], at: ann, "group role", in: path)
        try await follow(
            ["conversations", "delete", "our club"], at: ann, "group leave", in: path)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await all.members(of: "our club", on: all.ben) == ["ben"]
        }
        #expect(try await ann.run("conversations", "delete", "our club").status == 0)
        // Of one whom nobody is left in: oneself, and that nobody adds one again.
        try await follow(
            ["group", "remove", "our club", "ben"], at: all.ben, "group leave", in: path)
        let out = try await all.ben.run("group", "leave", "our club").output
        #expect(out.contains("Nobody in it can add you again"), "\(out)")
        #expect(try await all.ben.run("conversations", "delete", "our club").status == 0)

        // What nobody has yet is said; it can be left behind.
        try await all.client(ann).perform(CreateConversation(name: "team", members: ["ben"]))
        try await eventually("ben is in", on: [ann]) {
            let group = try await all.client(ann).perform(GetGroup(conversation: "team"))
            return group.members.count == 2 && !group.members.contains(where: \.isInvited)
        }
        #expect(try await ann.run("group", "role", "team", "ben", "owner").status == 0)
        try await eventually("ben owns it", on: [all.ben]) {
            try await all.client(all.ben).perform(GetGroup(conversation: "team")).members
                .first(where: \.isSelf)?.role == "owner"
        }
        #expect(try await ann.run("offline", "on").status == 0)
        #expect(try await ann.run("send", "team", "alone with it").status == 0)
        let refused = try await ann.run("group", "leave", "team")
        #expect(refused.status == 1 && refused.output.contains("Nobody in this group has"))
        let shown = try await Advised.first("outbox", in: refused.output).run(in: path)
        #expect(shown.output.contains("1 saved here"), "\(shown.output)")
        // That the node is offline is said there, with what ends it.
        let left = try await Advised.first("group leave", in: refused.output).run(in: path)
        #expect(left.status == 0, "\(left.output)")
        let online = try await Advised.first("offline", in: shown.output).run(in: path)
        #expect(online.status == 0, "\(online.output)")
        try await all.end()
    }

    @Test("about a relay that wants a ticket leads to one")
    func tickets() async throws {
        let folder = try TemporaryFolder()
        let (path, home) = (folder.path, folder.home("relay"))
        let none = try await Program.run("relay", "ticket", "list", "--home", home)
        #expect(none.status == 1)
        let relay = try Advised.first("relay run", in: none.output).start(
            adding: "--listen 127.0.0.1:0 --tickets", in: path)
        defer { relay.signal(SIGKILL) }
        try await relay.says("Ctrl-C stops the relay")
        let text = try #require(relay.output.firstMatch(of: /parley-relay:[^\s]+/)).0
        let node = try await NodeProcess(
            home: folder.home("a"), name: "ann", port: try FreePort.some())
        try await node.start()
        #expect(try await node.run("relays", "add", String(text)).status == 0)
        try await eventually("a ticket is needed", on: [node]) {
            try await node.client?.perform(ListRelays()).first?.state == "ticket-needed"
        }
        let ticket = try await Program.run("relay", "ticket", "new", "--home", home)
        let secret = try #require(ticket.output.firstMatch(of: /parley-ticket:[^\s]+/)).0
        try await follow(
            ["relays"], at: node, "relays add", ["TEXT": String(text), "TICKET": String(secret)],
            in: path, isRefused: false)
        try await eventually("the relay is used", on: [node]) {
            try await node.client?.perform(ListRelays()).first?.state == "connected"
        }
        #expect(try await node.stop() == 0)
    }

    @Test("about tokens, polls, notes and what is sent later leads on")
    func others() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        #expect(try await node.run("group", "create", "solo").status == 0)
        let new = ["token", "new", "bot", "--scope", "read"]
        #expect(try await Program(new + ["--home", node.home]).ended() == 0)
        let token = try await follow(new, at: node, "token rotate", in: path)
        #expect(token.contains("parley_"), "\(token)")
        #expect(try await node.run("poll", "new", "solo", "When?", "now", "later").status == 0)
        let number = try #require(
            try await node.run("poll", "list", "--json").output.firstMatch(
                of: /"number":([0-9]+)/)
        ).1
        let propose = ["decision", "propose", "solo", "--from-poll", String(number)]
        try await follow(propose, at: node, "poll close", in: path)
        // One that has no result is told otherwise.
        let vain = try Program(propose + ["--home", node.home])
        try await vain.ended()
        #expect(!vain.output.contains("poll close"), "\(vain.output)")
        for (words, advised) in [
            (["scheduled", "delete", "zz"], "scheduled"),
            (["invite", "revoke", "zz"], "invite list"),
            (["reminders", "done", "zz"], "reminders list"),
            (["relays", "remove", "zz"], "relays list"),
            (["device", "revoke", "zz"], "device list"), (["note", "show", "99"], "note list"),
            (["webhook", "delete", "zz"], "webhook list"),
            (["group", "show", "zz"], "conversations"),
            (["files", "get", "99"], "read"), (["contact", "block", "zz"], "contacts"),
        ] {
            try await follow(
                words, at: node, advised, ["CONVERSATION": "solo"], in: path)
        }
    }
}
