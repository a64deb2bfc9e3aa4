import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("Notes at the command line", .serialized, .timeLimit(.minutes(3)))
struct NoteProcessTests {
    private func run(
        _ words: String..., at node: NodeProcess, editor: String? = nil
    ) async throws -> String {
        let program = try Program(
            words + ["--home", node.home], environment: editor.map { ["EDITOR": $0] } ?? [:])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    @Test("two who edit a note at once keep what both wrote, and bring it back")
    func writing() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let begun = try await run("note", "new", "club", "to bring", "a stove", at: all.ann)
        #expect(begun.contains("to bring  (“club”, 1 edit, the last by ann"), "\(begun)")
        let note = MessageReference(
            try #require(try await ann.perform(ListNotes()).first).id)
        func text(_ node: NodeClient) async throws -> String {
            try await node.perform(GetNote(note: note)).text
        }
        try await eventually("ben has the note", on: [all.ben]) {
            try await ben.perform(ListNotes(conversation: "club")).first?.editCount == 1
        }
        // Ben's editor is open while Ann writes twice: its text is the one before.
        let pipe = all.folder.path + "/pipe"
        guard mkfifo(pipe, 0o600) == 0 else { throw Late(description: "no pipe at \(pipe)") }
        let script =
            "sh -c 'echo the editor is open; cat \(pipe); "
            + "sed -i -e \"s/a stove/a small stove/\" \"$1\"' sh"
        let editor = try Program(
            ["note", "edit", note.text, "--home", all.ben.home], environment: ["EDITOR": script])
        try await editor.says("the editor is open")
        _ = try await run("note", "edit", note.text, at: all.ann, editor: "sed -i -e '1i a tent'")
        _ = try await run("note", "write", note.text, "two lamps", "--append", at: all.ann)
        try await eventually("ben has what ann wrote", on: [all.ben]) {
            try await text(ben) == "a tent\na stove\ntwo lamps\n"
        }
        FileHandle(forWritingAtPath: pipe)?.closeFile()
        #expect(try await editor.ended() == 0, "\(editor.output)")
        try await eventually("both have all of it", on: [all.ann, all.ben]) {
            let whole = "a tent\na small stove\ntwo lamps\n"
            let (one, other) = (try await text(ann), try await text(ben))
            return one == whole && other == whole
        }
        let history = try await ann.perform(GetNoteHistory(note: note, limit: 9))
        #expect(history.map(\.author).sorted() == ["ann", "ann", "ann", "ben"])
        let first = try #require(history.last)
        let old = try await run("note", "show", note.text, "--after", first.id, at: all.ben)
        #expect(old.hasSuffix("a stove\n"), "\(old)")
        _ = try await run("note", "restore", note.text, first.id, at: all.ben)
        _ = try await run("note", "rename", note.text, "all that we bring", at: all.ben)
        try await eventually("ann has the first text and the new title", on: [all.ann]) {
            let shown = try await ann.perform(GetNote(note: note))
            return shown.text == "a stove\n" && shown.note.title == "all that we bring"
        }
        try await eventually("both see the same", on: [all.ann, all.ben]) {
            func digest(_ node: NodeClient) async throws -> String? {
                try await node.perform(ListDigests()).first { $0.name == "club" }?.digest
            }
            let (seen, other) = (try await digest(ann), try await digest(ben))
            return seen != nil && seen == other
        }
        #expect(try await run("note", "delete", note.text, at: all.ann).contains("deleted: all"))
        try await eventually("it is gone", on: [all.ben]) {
            try await ben.perform(ListNotes()).isEmpty
        }
    }

    /// Once the file went with an editor that was killed, and all that had been saved in it.
    @Test("what was saved in an editor that failed stays, and is said where")
    func failedEditor() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("ada")
        let (ada, _) = try await Node.create(NodeSettings(home: home), name: "Ada")
        _ = try await ada.perform(CreateConversation(name: "trip", members: []))
        let note = try await ada.perform(
            CreateNote(conversation: "trip", title: "to bring", text: "a stove\n"))
        await ada.shutdown()
        func edit(_ script: String) async throws -> (left: [String], output: String) {
            let place = folder.path + "/edited"
            try FileManager.default.createDirectory(
                atPath: place, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: place) }
            let program = try Program(
                ["note", "edit", note.id, "--home", home],
                environment: [
                    "EDITOR": "sh -c '\(script)' sh", "VISUAL": "", "XDG_RUNTIME_DIR": place,
                ])
            #expect(try await program.ended() == 1, "\(program.output)")
            let files = try FileManager.default.subpathsOfDirectory(atPath: place)
            let texts = try files.filter { $0.hasSuffix("note.txt") }.map {
                try String(contentsOfFile: place + "/" + $0, encoding: .utf8)
            }
            return (texts + files.filter { $0.hasSuffix(".swp") }, program.output)
        }
        let killed = try await edit("echo a tent >> \"$1\"; kill -9 $$")
        #expect(killed.left == ["a stove\na tent\n"], "\(killed)")
        #expect(killed.output.contains("ended with 137"), "\(killed)")
        #expect(killed.output.contains("what you wrote is in \(folder.path)"), "\(killed)")
        let beside = try await edit("touch \"$(dirname \"$1\")/.note.txt.swp\"; kill -9 $$")
        #expect(beside.left.count == 2, "\(beside)")
        #expect(beside.output.contains("what your editor left is in"), "\(beside)")
        let unchanged = try await edit("exit 1")
        #expect(unchanged.left.isEmpty && !unchanged.output.contains("is in /"), "\(unchanged)")
        let gone = try await edit("rm \"$1\"")
        #expect(gone.left.isEmpty && gone.output.contains("The editor left no text"), "\(gone)")
        #expect(!gone.output.contains("Domain"), "\(gone)")
    }

    @Test("two who are parted edit the same lines, and come to see one text once they meet")
    func parted() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "hello")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        _ = try await run("note", "new", "club", "list", "milk\neggs", at: all.ann)
        let note = MessageReference(
            try #require(try await ann.perform(ListNotes()).first).id)
        try await eventually("ben has the note", on: [all.ben]) {
            try await ben.perform(ListNotes()).first?.editCount == 1
        }
        // Neither node runs: each edits the home alone.
        #expect(try await all.ann.stop() == 0)
        #expect(try await all.ben.stop() == 0)
        _ = try await run(
            "note", "edit", note.text, at: all.ann, editor: "sed -i -e 's/milk/oat milk/'")
        _ = try await run(
            "note", "edit", note.text, at: all.ben, editor: "sed -i -e 's/eggs/ten eggs/'")
        try await all.ann.start()
        try await all.ben.start()
        let (here, there) = (try await all.client(all.ann), try await all.client(all.ben))
        try await eventually("both have both", on: [all.ann, all.ben]) {
            let whole = "oat milk\nten eggs\n"
            let one = try await here.perform(GetNote(note: note))
            let other = try await there.perform(GetNote(note: note))
            return one.text == whole && other.text == whole && one.version.count == 2
        }
        // A cursor behind "ten" moves along with what is changed before it.
        let before = try await here.perform(GetNote(note: note))
        let edits = [NoteEdit(position: 0, deleted: 4), NoteEdit(position: 5, text: "two ")]
        let shown = try await here.perform(ChangeNote(note: note, edits: edits))
        #expect(shown.text == "milk\ntwo ten eggs\n" && shown.version.count == 1)
        let moved = try await here.perform(
            FollowNotePositions(note: note, version: before.version, positions: [4, 12]))
        #expect(moved.positions == [0, 12] && moved.version == shown.version)
    }
}
