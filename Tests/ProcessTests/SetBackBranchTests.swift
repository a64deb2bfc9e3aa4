import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ann asked something, ben answered; then her home is set back and she asks something else, at the
/// same place of the same log.
@Suite("A home that was set back and wrote on", .timeLimit(.minutes(4)))
struct SetBackBranchTests {
    private let all: Neighbours

    init() async throws {
        all = try await Neighbours()
        #expect(try await all.cara.stop() == 0)
        try await all.meet(all.ann, all.ben, named: "ben")
        try await says("one")
        #expect(try await all.ann.stop() == 0)
        let copy = all.folder.home("copy")
        try FileManager.default.copyItem(atPath: all.ann.home, toPath: copy)
        try await all.ann.start()
        let asked = try await says("Shall I sell the house?")
        #expect(try await all.ben.run("reply", "ann", "\(asked)", "No!").status == 0)
        #expect(try await all.ben.run("react", "\(asked)", "👎").status == 0)
        #expect(try await all.ann.run("poll", "new", "ben", "Sell it?", "yes", "no").status == 0)
        let ben = try await all.client(all.ben)
        try await eventually("ben is asked", on: [all.ann, all.ben]) {
            try await ben.perform(ListPolls()).map(\.question) == ["Sell it?"]
        }
        for node in [all.ann, all.ben] { #expect(try await node.stop() == 0) }
        try FileManager.default.removeItem(atPath: all.ann.home)
        try FileManager.default.moveItem(atPath: copy, toPath: all.ann.home)
        #expect(try await all.ann.run("send", "ben", "Shall I keep the house?").status == 0)
        for words in [
            ["poll", "new", "ben", "Keep it?", "yes", "no"], ["action", "new", "ben", "paint it"],
        ] {
            let program = try Program(words + ["--home", all.ann.home])
            #expect(try await program.ended() == 0, "\(program.output)")
        }
        for node in [all.ben, all.ann] { try await node.start() }
        let ann = try await all.client(all.ann)
        try await eventually("ann has the answer, and knows", on: [all.ann, all.ben]) {
            guard try await ann.perform(GetStatus()).forkedDevices.count == 1 else { return false }
            return try await page(of: "ben", on: all.ann).contains { $0.text == "No!" }
        }
    }

    /// Ann says it, and ben has it: its number there.
    @discardableResult private func says(_ text: String) async throws -> Int64 {
        #expect(try await all.ann.run("send", "ben", text).status == 0)
        try await eventually("ben has “\(text)”", on: [all.ann, all.ben]) {
            try await page(of: "ann", on: all.ben).last?.text == text
        }
        return try #require(try await page(of: "ann", on: all.ben).last).number
    }

    private func page(of name: String, on node: NodeProcess) async throws -> [MessageView] {
        try await all.client(node).perform(ReadMessages(conversation: name, limit: 50)).messages
    }

    @Test("shows what was about the other branch as about nothing that is here")
    func otherBranch() async throws {
        let messages = try await page(of: "ben", on: all.ann)
        let asked = try #require(messages.first { $0.text == "Shall I keep the house?" })
        let answer = try #require(messages.first { $0.text == "No!" })
        #expect(asked.reactions.isEmpty)
        #expect(answer.replyTo == nil)
        #expect(answer.replyToID?.hasPrefix(asked.id.prefix(16)) == true)
        #expect(answer.replyToID != asked.id)
        let shown = try await all.ann.run("read", "ben", "--newest").output
        #expect(shown.contains("↳ (not here) No!") && !shown.contains("👎"), "\(shown)")
        // Where it is, both are still about it.
        let told = try await page(of: "ann", on: all.ben)
        let known = try #require(told.first { $0.text == "Shall I sell the house?" })
        #expect(known.reactions.map(\.emoji) == ["👎"])
        #expect(told.first { $0.text == "No!" }?.replyTo == known.number)
        try await all.end()
    }

    @Test(
        "says what never leaves it, and takes nothing from who has read it once its advice is followed"
    )
    func stranded() async throws {
        let ann = try await all.client(all.ann)
        try await eventually("each log is known to be forked", on: [all.ann]) {
            try await ann.perform(ListOutbox()).map(\.strandedCount) == [3]
        }
        let status = try await all.ann.run("status").output
        #expect(status.contains("3 messages and changes of yours never leave"), "\(status)")
        #expect(status.contains("undeliverable"), "\(status)")
        let outbox = try await all.ann.run("outbox").output
        #expect(outbox.contains("3 here for good"), "\(outbox)")
        #expect(!outbox.contains("Nothing waits"), "\(outbox)")
        #expect(outbox.contains("parley status --home"), "\(outbox)")
        let kept = try await all.ann.run("outbox", "--stranded").output
        #expect(kept.contains("ben:") && kept.contains("keep the house?"), "\(kept)")
        #expect(!kept.contains("one") && !kept.contains("No!"), "\(kept)")
        #expect(kept.contains("poll: Keep it? (yes, no)"), "\(kept)")
        #expect(kept.contains("item: paint it"), "\(kept)")
        for words in [["poll", "list"], ["action", "list"], ["read", "ben", "--newest"]] {
            let program = try Program(words + ["--home", all.ann.home])
            try await program.ended()
            let marked = program.output.split(separator: "\n").filter {
                $0.contains("Keep it?") || $0.contains("paint it")
            }
            #expect(
                marked.count == 1 && marked[0].contains("(never leaves this device)"),
                "\(program.output)")
        }
        let said = all.folder.home("said.json")
        let json = try await all.ann.run("outbox", "--stranded", "--json").output
        let line = try #require(json.split(separator: "\n").first { $0.hasPrefix("[{") })
        try Data(line.utf8).write(to: URL(filePath: said))
        #expect(status.contains("parley outbox --home"), "\(status)")
        let again = try await all.ann.run("send", "ben", "--stranded", said)
        #expect(again.status == 1 && again.output.contains("another device"), "\(again.output)")
        let anew = try await comeBack()
        // What it had to keep is said again, once, however often that is asked for.
        let saved = try await anew.run("send", "ben", "--stranded", said)
        #expect(saved.status == 0 && saved.output.contains("saved 1 message"), "\(saved.output)")
        #expect(saved.output.contains("please do this again: poll: Keep it? (yes, no)"))
        let twice = try await anew.run("send", "ben", "--stranded", said)
        #expect(twice.status == 1 && twice.output.contains("sent before"), "\(twice.output)")
        try await eventually("ben has what ann wanted to say", on: [anew, all.ben]) {
            try await page(of: "ann", on: all.ben).compactMap(\.text).last
                == "Shall I keep the house?"
        }
        #expect(
            try await page(of: "ann", on: all.ben).count { $0.text == "Shall I keep the house?" }
                == 1)
        #expect(try await anew.stop() == 0)
        try await all.end()
    }

    /// Recovers the home by its backup, and looks that nobody loses what they have read.
    private func comeBack() async throws -> NodeProcess {
        let backup = all.folder.home("ann.parley")
        let made = try await all.ann.run("backup", "create", backup).output
        #expect(made.contains("not in it: 3 of your messages"), "\(made)")
        let whole = try await all.ben.run("backup", "create", all.folder.home("ben.parley")).output
        #expect(!whole.contains("not in it"), "\(whole)")
        #expect(try await all.ann.stop() == 0)

        let code = all.folder.home("code")
        try Data(try #require(all.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        let anew = NodeProcess(home: all.folder.home("anew"), address: all.ann.address)
        let recovered = try await anew.run(
            "recover", "--backup", backup, "--code-file", code, "--yes")
        #expect(recovered.status == 0, "\(recovered.output)")
        try await anew.start()
        let ben = try await all.client(all.ben)
        try await eventually("ben knows that the device is out", on: [anew, all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "ann")).contains {
                $0.change == "device-revoked" && $0.hiddenCount == nil
            }
        }
        try await eventually("ann has what ben has read", on: [anew, all.ben]) {
            let texts = try await page(of: "ben", on: anew).map(\.text)
            return texts == ["one", "Shall I sell the house?", "No!"]
        }
        let asked = try #require(
            try await page(of: "ann", on: all.ben).first { $0.text == "Shall I sell the house?" })
        #expect(asked.reactions.map(\.emoji) == ["👎"])
        let shown = try await all.ben.run("read", "ann", "--newest").output
        #expect(shown.contains("a device of ann was revoked\n"), "\(shown)")
        #expect(!shown.contains("not shown, because"), "\(shown)")
        // What the new device holds can be kept, and read.
        let kept = all.folder.home("again.parley")
        #expect(try await anew.run("backup", "create", kept).status == 0)
        let verified = try Program(["backup", "verify", kept, "--code-file", code])
        #expect(try await verified.ended() == 0, "\(verified.output)")
        return anew
    }
}
