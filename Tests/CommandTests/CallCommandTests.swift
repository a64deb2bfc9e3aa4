import Foundation
import Parley
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("Commands about calls", .timeLimit(.minutes(3)))
struct CallCommandTests {
    @Test("show and choose the program for sound and pictures")
    func media() async {
        let terminal = Terminal()
        #expect(await terminal.run("calls", "media").output == "/usr/bin/media -q\n")
        #expect(await terminal.run("calls", "media", "sh", "-c", "true").status == 64)
        _ = await terminal.run("calls", "media", "--", "/bin/../bin/sh", "-c", "true")
        let none = await terminal.run("calls", "media", "--none")
        #expect(none.talk.contains("no program"))
        #expect(await terminal.run("calls", "media", "no-such-program-here").status == 1)
        #expect(await terminal.run("calls", "media", "--none", "sh").status == 64)
        #expect(
            terminal.node.calls == [
                "setMediaProgram [\"/bin/sh\", \"-c\", \"true\"]", "setMediaProgram []",
            ])
    }

    @Test("keep servers, and take passwords from files alone")
    func servers() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/parley-\(UUID().uuidString)"
        try Data("squeamish\nrest\n".utf8).write(to: URL(fileURLWithPath: folder))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let terminal = Terminal()
        let list = await terminal.run("calls", "turn")
        #expect(list.output == "turn:turn.example:3478  takes a password of  ada\n")
        let turn = ["calls", "turn", "add", "turn:t.example"]
        _ = await terminal.run(list: turn + ["--secret-file", folder])
        _ = await terminal.run(list: turn + ["--name", "ada", "--password-file", folder])
        _ = await terminal.run("calls", "turn", "remove", "turn:t.example")
        for wrong in [["--name", "ada"], ["--password-file", folder], ["--secret-file", ""]] {
            #expect(await terminal.run(list: turn + wrong).status == 64)
        }
        #expect(await terminal.run(list: turn + ["--secret-file", "/nowhere/x"]).status == 1)
        #expect(
            terminal.node.calls == [
                "addTurnServer turn:t.example - - squeamish",
                "addTurnServer turn:t.example ada squeamish -",
                "removeTurnServer turn:t.example",
            ])
    }
}
