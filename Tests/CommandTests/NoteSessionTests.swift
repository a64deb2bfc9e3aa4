import Foundation
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("Notes on the screen", .timeLimit(.minutes(3)))
struct NoteSessionTests {
    @Test("a note is begun, added to, renamed, looked back at, brought back and deleted")
    func life() async {
        let terminal = Terminal()
        #expect(await terminal.run("note", "list").talk.contains("no notes"))
        let begun = await terminal.run("note", "new", "home", "to bring", "a stove")
        #expect(
            begun.output == "#1  to bring  (“home”, 1 edit, the last by ada, 14 Nov 2023 23:13)\n",
            "\(begun.output)")
        let added = await terminal.run("note", "write", "1", "a tent", "--append")
        #expect(added.output == "a stove\na tent\n", "\(added.output)")
        #expect(added.talk.hasPrefix("#1  to bring"), "\(added.talk)")
        let history = await terminal.run("note", "history", "1")
        #expect(
            history.output == """
                #102  14 Nov 2023 23:13  ada  +15 −0  a stove  (and 1 more line)
                #101  14 Nov 2023 23:13  ada  +8 −0  a stove

                """, "\(history.output)")
        #expect(
            await terminal.run("note", "history", "1", "--limit", "1").talk
                .contains("note history 1 --before 102"))
        #expect(await terminal.run("note", "show", "1", "--after", "101").output == "a stove\n")
        #expect(await terminal.run("note", "restore", "1", "101").output == "a stove\n")
        let renamed = await terminal.run("note", "rename", "1", "along")
        #expect(renamed.output.hasPrefix("#1  along  ("), "\(renamed.output)")
        let nothing = await terminal.run("note", "write", "1")
        #expect(nothing.status == 1 && nothing.talk.contains("nothing to write"))
        #expect(
            await terminal.run("note", "write", "1", input: Array("x\ny".utf8)).output == "x\ny\n")
        let empty = await terminal.run("note", "write", "1", "")
        #expect(empty.output.isEmpty && empty.talk.contains("the note is empty"))
        #expect(await terminal.run("note", "delete", "1").talk.contains("deleted: along"))
        let unknown = await terminal.run("note", "show", "1")
        #expect(unknown.status == 1 && unknown.talk.contains("no such note"), "\(unknown.talk)")
    }

    @Test("Attack 203: neither a title nor a text writes on the terminal by itself")
    func harmlessLines() async {
        let node = FakeNode()
        let terminal = Terminal(node: node)
        let evil = "a\u{1b}[2Jb\u{202E}c\r\nnext\u{7}"
        _ = await terminal.run("note", "new", "home", evil, evil)
        for words in [["list"], ["show", "1"], ["history", "1"]] {
            let shown = await terminal.run(list: ["note"] + words)
            let all = shown.output + shown.talk
            #expect(!all.contains("\u{1b}") && !all.contains("\u{202E}"), "\(words)")
            #expect(!all.unicodeScalars.contains("\u{7}") && !all.contains("\r"), "\(words)")
        }
    }

    @Test("what an editor leaves becomes edits; one that fails changes nothing")
    func editing() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("note-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // What stays of a test that failed harms nobody.
        defer { try? FileManager.default.removeItem(at: folder) }
        let terminal = Terminal()
        _ = await terminal.run("note", "new", "home", "to bring", "a stove")
        func edit(with editor: String) async -> Terminal.Result {
            await terminal.run(
                list: ["note", "edit", "1"],
                environment: ["EDITOR": editor, "XDG_RUNTIME_DIR": folder.path])
        }
        let edited = await edit(with: "sed -i -e s/stove/tent/")
        #expect(edited.output == "a tent\n", "\(edited)")
        #expect(await edit(with: "true").talk.contains("nothing was changed"))
        let failed = await edit(with: "false")
        #expect(failed.status == 1 && failed.talk.contains("ended with 1"), "\(failed)")
        let none = await edit(with: "/no/such/editor")
        #expect(none.status == 1 && none.talk.contains("There is no editor"), "\(none)")
        // Nothing of it stays in clear on the disk.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(await terminal.run("note", "show", "1").output == "a tent\n")
    }
}
