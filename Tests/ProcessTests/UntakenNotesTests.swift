import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ben writes in a group without knowing that ann has made him a reader, and a member again.
@Suite("Notes and decisions that nobody took", .serialized, .timeLimit(.minutes(4)))
struct UntakenNotesTests {
    private static let why =
        "not taken: whoever removed you or made you a reader did not have it)"

    private func run(_ words: String..., at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    private func outcome(
        _ words: [String], at node: NodeProcess
    ) async throws -> (status: Int32, output: String) {
        let program = try Program(words + ["--home", node.home])
        return (try await program.ended(), program.output)
    }

    /// A note and a decision of ann's, and what ben has done that nobody takes: an edit of that note, a note and
    /// a decision of his own.
    private func lose(
        _ all: Neighbours
    ) async throws -> (shared: NoteView, essay: NoteView, late: DecisionView) {
        try await all.gather(in: "club", saying: "welcome")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let shared = try await ann.perform(
            CreateNote(conversation: "club", title: "shopping", text: "bread\n"))
        try await ann.perform(ProposeDecision(conversation: "club", title: "we meet"))
        try await eventually("ben has both", on: [all.ben]) {
            let notes = try await ben.perform(ListNotes())
            let decisions = try await ben.perform(ListDecisions()).decisions
            return notes.first?.editCount == 1 && decisions.count == 1
        }
        _ = try await run("offline", "on", at: all.ben)
        let essay = try await ben.perform(
            CreateNote(conversation: "club", title: "essay", text: "a very long text\n"))
        _ = try await run("note", "rename", essay.id, "my essay", at: all.ben)
        _ = try await run("note", "write", shared.id, "butter by ben", "--append", at: all.ben)
        let late = try await ben.perform(
            ProposeDecision(conversation: "club", title: "we sing", text: "every day"))
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .reader))
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .member))
        _ = try await run("offline", "off", at: all.ben)
        try await eventually("ben hears of it", on: [all.ben]) {
            try await ben.perform(ListMembershipEvents(conversation: "club")).contains {
                $0.change == "role" && $0.role == "member"
            }
        }
        return (shared, essay, late)
    }

    /// Once they were gone from every screen, with an hour's text.
    @Test("are shown with their words, and are said to be nobody's to change")
    func shown() async throws {
        let all = try await Neighbours()
        let (_, essay, late) = try await lose(all)
        let ben = try await all.client(all.ben)
        let list = try await run("note", "list", at: all.ben)
        #expect(list.contains("my essay") && list.contains("  (\(Self.why)"), "\(list)")
        for words in [["note", "show", essay.id], ["note", "history", essay.id]] {
            let note = try await outcome(words, at: all.ben)
            #expect(note.status == 0 && note.output.contains("a very long text"), "\(note)")
            #expect(note.output.contains("(\(Self.why)"), "\(note)")
        }
        for words in [
            ["decision", "list"], ["decision", "show", late.id],
            ["decision", "list", "--state", "untaken"],
        ] {
            let shown = try await outcome(words, at: all.ben)
            let line = "we sing  (nobody accepts it)  (\(Self.why)"
            #expect(shown.output.contains(line), "\(shown)")
            #expect(shown.output.contains("every day"), "\(shown)")
        }
        let read = try await run("read", "club", "--newest", at: all.ben)
        #expect(read.contains("you propose: we sing"), "\(read)")
        let page = try await ben.perform(ListDecisions(limit: 1))
        let rest = try await ben.perform(ListDecisions(limit: 1, from: page.next))
        #expect(page.decisions.map(\.title) == ["we sing"])
        #expect(rest.decisions.map(\.title) == ["we meet"])

        for (what, words) in [
            ("note", ["note", "write", essay.id, "more"]),
            ("note", ["note", "delete", essay.id]),
            ("decision", ["decision", "approve", late.id]),
            ("decision", ["decision", "delete", late.id]),
        ] {
            let refused = try await outcome(words, at: all.ben)
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.output.contains("Nobody accepts this \(what): whoever"), "\(refused)")
            let told = try await Advised.first(what + " show", in: refused.output)
                .run(in: all.folder.path)
            #expect(told.status == 0, "\(told.output)")
        }
        let ann = try await all.client(all.ann)
        #expect(try await ann.perform(ListNotes()).map(\.title) == ["shopping"])
        #expect(try await ann.perform(ListDecisions()).decisions.map(\.title) == ["we meet"])
        try await all.end()
    }

    @Test("of an edit, too, its author finds the words, and can bring them back")
    func edits() async throws {
        let all = try await Neighbours()
        let (shared, _, _) = try await lose(all)
        let shown = try await run("note", "show", shared.id, at: all.ben)
        #expect(shown.contains("(edit \(Self.why)"), "\(shown)")
        #expect(shown.contains("bread") && !shown.contains("butter"), "\(shown)")
        let had = try await Advised.first("note show", in: shown).run(in: all.folder.path)
        #expect(had.status == 0 && had.output.contains("bread\nbutter by ben"), "\(had.output)")
        let history = try await run("note", "history", shared.id, at: all.ben)
        #expect(history.contains("butter by ben  (\(Self.why)"), "\(history)")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        let note = MessageReference(shared.id)
        let steps = try await ben.perform(GetNoteHistory(note: note, limit: 9))
        #expect(steps.map(\.untaken) == ["cut-off", nil])
        #expect(try await ann.perform(GetNoteHistory(note: note, limit: 9)).count == 1)

        let edit = try #require(steps.first)
        _ = try await run("note", "restore", shared.id, edit.id, at: all.ben)
        try await eventually("ann has it", on: [all.ann]) {
            try await ann.perform(GetNote(note: note)).text == "bread\nbutter by ben\n"
        }
        try await all.end()
    }
}
