import Foundation
import Synchronization
import Testing

@testable import LocalAPITests
@testable import ParleyImporting
@testable import parley

@Suite("parley import irc", .timeLimit(.minutes(3)))
struct ImportCommandTests {
    static func file(_ home: TemporaryHome) throws -> String {
        let path = home.path + "/2004-12-25.log"
        let text = "=== a has joined #x\n[09:14] <a> one\n[09:15] <b> two\n\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test("says what it stored, what it knew and what it skipped, and why")
    func summary() async throws {
        let home = try TemporaryHome()
        let file = try Self.file(home)
        let terminal = Terminal()
        let first = await terminal.run("import", "irc", file, "--into", "ubuntu")
        #expect(first.talk == "created the conversation ubuntu\n")
        #expect(
            first.output == """
                stored    2 messages
                known     0 that were imported before
                skipped   joins: 1 (2004-12-25.log:1)
                skipped   blank lines: 1 (2004-12-25.log:4)
                repaired  0 lines that were Latin-1
                from      1 whole file, 4 lines

                """)
        let again = await terminal.run("import", "irc", file, "--into", "ubuntu", "--json")
        #expect(again.talk.isEmpty)
        #expect(again.output.contains(#""known":2"#))
        #expect(again.output.contains(#""stored":0"#))
    }

    @Test("hints that a file holds the same log twice, and says nothing of what people repeat")
    func twice() async throws {
        let home = try TemporaryHome()
        let path = home.path + "/2004-12-25.log"
        let log = (1...9).map { "[09:1\($0)] <a> line \($0)\n" }.joined()
        let same = String(repeating: "[09:14] <a> ha\n", count: 20)
        for (text, isHinted) in [(log + log, true), (log, false), (same, false)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let result = await Terminal().run("import", "irc", path, "--into", "ubuntu")
            #expect(result.status == 0)
            #expect(
                result.talk.contains("repeats its first 9 lines further down") == isHinted,
                "\(result.talk)")
        }
    }

    @Test("names a file that cannot be read")
    func unreadable() async {
        let result = await Terminal().run(
            "import", "irc", "/nowhere/2004-12-25.log", "--into", "home")
        #expect(result.status == 1)
        #expect(result.talk == "parley: error: Cannot read /nowhere/2004-12-25.log.\n")
    }

    @Test("says that there is no file before it asks for a date in its name")
    func noFile() async throws {
        let missing = await Terminal().run("import", "irc", "/nonexistent", "--into", "home")
        #expect(missing.status == 64)
        #expect(missing.talk.contains("There is no file /nonexistent."), "\(missing.talk)")
        let home = try TemporaryHome()
        let file = home.path + "/log.txt"
        try Data("[09:14] <a> one\n".utf8).write(to: URL(fileURLWithPath: file))
        let undated = await Terminal().run("import", "irc", file, "--into", "home")
        #expect(undated.talk.contains("does not begin with a date"), "\(undated.talk)")
    }

    @Test("tells how far it is")
    func progress() {
        let progress = ImportProgress.sample
        #expect(
            progress.text(after: .milliseconds(500))
                == "25 %  file 1 of 2  1000 lines  2000 lines/s  2004-12-25.log")
    }
}

extension ImportProgress {
    fileprivate static let sample = ImportProgress(
        fileName: "2004-12-25.log", fileNumber: 1, fileCount: 2, linesRead: 1_000,
        lineCount: 4_000)
}
