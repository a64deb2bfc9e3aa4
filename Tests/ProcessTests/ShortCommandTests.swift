import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Commands of a person whose node does not run: each opens the home for itself alone.
@Suite("Commands without a running node", .serialized, .timeLimit(.minutes(4)))
struct ShortCommandTests {
    @Test("hear from a relay that it has the card of an invite")
    func placed() async throws {
        let all = try await Hidden()
        #expect(try await all.ann.run("relays", "add", all.text).status == 0)
        let invite = try await all.ann.run("invite", "--no-qr")
        #expect(invite.status == 0, "\(invite.output)")
        let list = try await all.ann.run("invite", "list")
        #expect(list.status == 0 && list.output.contains("1 use left"), "\(list.output)")
        #expect(!list.output.contains("card not known"), "\(list.output)")
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }

    @Test("send nothing again where nothing is stranded, and that is no failure")
    func nothingStranded() async throws {
        let folder = try TemporaryFolder()
        let ann = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        #expect(try await ann.run("group", "create", "log").status == 0)
        let said = folder.path + "/said.json"
        try Data(try await json(of: ann).utf8).write(to: URL(filePath: said))
        let sent = try await ann.run("send", "log", "--stranded", said)
        #expect(sent.status == 0, "\(sent.output)")
        #expect(sent.output.contains("holds nothing to send again"), "\(sent.output)")
    }

    private func json(of node: NodeProcess) async throws -> String {
        let output = try await node.run("outbox", "--stranded", "--json").output
        return String(try #require(output.split(separator: "\n").first { $0.hasPrefix("[") }))
    }

    @Test("check which device is to be kept before anybody is asked, and before anything is made")
    func keep() async throws {
        let folder = try TemporaryFolder()
        let ann = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        let (backup, code) = (folder.path + "/ann.parley", folder.path + "/code")
        try Data(try #require(ann.recoveryCode).utf8).write(to: URL(filePath: code))
        let created = try await ann.run("backup", "create", backup)
        #expect(created.status == 0, "\(created.output)")
        let home = folder.home("again")
        let restored = try await Program.run(
            "backup", "restore", backup, "--home", home, "--code-file", code, "--keep", "zebra")
        #expect(restored.status == 1, "\(restored.output)")
        #expect(
            restored.output.contains("None of this person's devices begins with “zebra”"),
            "\(restored.output)")
        #expect(!restored.output.contains("will be revoked"), "\(restored.output)")
        #expect(!FileManager.default.fileExists(atPath: home + "/database"))
    }
}
