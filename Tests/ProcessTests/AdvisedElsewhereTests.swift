import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// As in ``AdvisedTests``: files, calls and the service.
@Suite("Advice about files, calls and the service", .serialized, .timeLimit(.minutes(4)))
struct AdvisedElsewhereTests {
    @Test("about files that are not here, or do not fit, brings them")
    func files() async throws {
        let all = try await Neighbours()
        let (ben, path) = (all.ben, all.folder.path)
        try await all.meet(all.ann, ben, named: "ben")
        let source = path + "/large.bin"
        try Data(repeating: 7, count: 3_000_000).write(to: URL(filePath: source))
        let room = ["files", "room", "--limit", "1M", "--by-itself", "0"]
        #expect(try await Program(room + ["--home", ben.home]).ended() == 0)
        let sent = try await all.ann.run("send", "ben", "--file", source)
        #expect(sent.status == 0, "\(sent.output)")
        let client = try await all.client(ben)
        try await eventually("ben has the message", on: [ben]) {
            try await client.perform(ListFiles()).entries.count == 1
        }
        let message = try #require(try await client.perform(ListFiles()).entries.first).message
        let why = try await ben.run("files", "why", message.id).output
        let values = ["MESSAGE": message.id]
        let refused = try await Advised.first("files get", in: why).run(values, in: path)
        #expect(refused.status == 1, "\(refused.output)")
        let more = try await Advised.first("files room", in: refused.output).run(in: path)
        #expect(more.status == 0 && more.output.contains("20"), "\(more.output)")
        let got = try await Advised.first("files get", in: why).run(values, in: path)
        #expect(got.status == 0, "\(got.output)")
        #expect(try await ben.run("files", "forget", message.id).status == 0)
        let removed = try await ben.run("files", "why", message.id).output
        #expect(removed.contains("was removed"), "\(removed)")
        let again = try await Advised.first("files get", in: removed).run(values, in: path)
        #expect(again.status == 0, "\(again.output)")
        try await all.end()
    }

    @Test("about calls leads to a running node, a program, and the list")
    func calls() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("a"), name: "ann", port: try FreePort.some())
        let idle = try await node.run("calls", "media")
        let named = try await Advised.first("calls media", in: idle.output)
            .run(["PROGRAM": "sh"], in: folder.path)
        #expect(named.status == 0 && named.output.contains("/sh"), "\(named.output)")
        let refused = try await node.run("hangup")
        #expect(refused.status == 1, "\(refused.output)")
        let run = try Advised.first("run", in: refused.output).start(in: folder.path)
        try await run.says("Ctrl-C stops it")
        let none = try await node.run("hangup")
        #expect(none.status == 1, "\(none.output)")
        let list = try await Advised.first("calls", in: none.output).run(in: folder.path)
        #expect(list.status == 0, "\(list.output)")
        run.signal(SIGTERM)
        #expect(try await run.ended() == 0)
    }

    /// Of a home that is in no list of homes, too.
    @Test("about the service makes the home, ends the other one, and says why it does not start")
    func service() async throws {
        let folder = try TemporaryFolder()
        let bin = folder.home("bin")
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        let script = "#!/bin/sh\ncase \"$*\" in *enable*) exit $(cat '\(bin)/code');; esac\n"
        for name in ["systemctl", "journalctl"] {
            try Data(script.utf8).write(to: URL(filePath: bin + "/" + name))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: bin + "/" + name)
        }
        func starting(ends code: Int) throws {
            try Data("\(code)\n".utf8).write(to: URL(filePath: bin + "/code"))
        }
        try starting(ends: 0)
        let environment = [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder.home("c"),
            "XDG_DATA_HOME": folder.home("d"), "PATH": bin + ":/usr/bin:/bin",
        ]
        func run(_ words: String...) async throws -> (status: Int32, output: String) {
            let program = try Program(words, environment: environment)
            return (try await program.ended(), program.output)
        }
        func follow(
            _ words: String, in output: String, _ values: [String: String] = [:]
        ) async throws -> String {
            let done = try await Advised.first(words, in: output, isBare: true)
                .run(values, in: folder.path, environment: environment)
            #expect(done.status == 0, "\(words): \(done.output)")
            return done.output
        }
        let vacant = try await run("service", "install")
        _ = try await follow("init", in: vacant.output, ["YOURNAME": "ann"])
        #expect(try await run("service", "install").status == 0)
        let other = folder.home("x")
        #expect(try await run("init", "--name", "ann", "--home", other).status == 0)
        let taken = try await run("service", "install", "--home", other)
        #expect(taken.status == 1, "\(taken.output)")
        _ = try await follow("service uninstall", in: taken.output)
        #expect(try await run("service", "install", "--home", other).status == 0)
        try starting(ends: 1)
        let failed = try await run("service", "install", "--home", other)
        #expect(failed.status == 1, "\(failed.output)")
        _ = try await follow("service logs", in: failed.output)
    }
}
