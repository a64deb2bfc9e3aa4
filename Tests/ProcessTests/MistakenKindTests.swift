import Parley
import Testing

@Suite("What is given to a command of another kind", .timeLimit(.minutes(3)))
struct MistakenKindTests {
    /// A home with a group, and in it a note and a decision.
    private struct Begun {
        let folder: TemporaryFolder
        let note: NoteView
        let decision: DecisionView

        init() async throws {
            folder = try TemporaryFolder()
            let (ada, _) = try await Node.create(
                NodeSettings(home: folder.home("ada")), name: "Ada")
            _ = try await ada.perform(CreateConversation(name: "trip", members: []))
            note = try await ada.perform(CreateNote(conversation: "trip", title: "to bring"))
            decision = try await ada.perform(
                ProposeDecision(conversation: "trip", title: "we take the train"))
            await ada.shutdown()
        }

        func run(_ words: [String]) async throws -> (status: Int32, output: String) {
            let program = try Program(words + ["--home", folder.home("ada")])
            return (try await program.ended(), program.output)
        }
    }

    /// Once a reminder of a note was taken, and said that the note was not here.
    @Test("is refused with what it is, and with the command that shows it")
    func refused() async throws {
        let begun = try await Begun()
        let (note, decision) = (begun.note, begun.decision)
        let numbered = ["react", "\(note.number)", "👍"]
        let decided = ["remind", "--message", decision.id, "--at", "1h"]
        for words in [
            ["edit", note.id, "x"], ["react", note.id, "👍"], ["star", note.id],
            ["thread", note.id], ["reply", "trip", note.id, "x"], ["pin", note.id],
            ["forward", note.id, "trip"], ["remind", "--message", note.id, "--at", "1h"],
            numbered, decided,
        ] {
            let (status, output) = try await begun.run(words)
            let what =
                words == decided
                ? "#\(decision.number) is not a message, but a decision."
                : "#\(note.number) is not a message, but a note."
            #expect(status == 1 && output.contains(what), "\(words): \(output)")
            let command = words == decided ? "parley decision show" : "parley note show"
            #expect(output.contains(command), "\(words): \(output)")
        }
        for name in [note.id, "\(note.number)"] {
            let (status, output) = try await begun.run(["remind", "--item", name, "--at", "1h"])
            #expect(status == 1, "\(output)")
            #expect(
                output.contains("#\(note.number) is not an action item, but a note."), "\(output)")
        }
        let taken = try await begun.run(["remind", "--item", decision.id, "--at", "1h"])
        #expect(taken.status == 0 && taken.output.contains("we take the train"), "\(taken)")
    }

    @Test("is explained as messages are")
    func explained() async throws {
        let begun = try await Begun()
        for name in [begun.note.id, "\(begun.note.number)", begun.decision.id] {
            let (status, output) = try await begun.run(["why", name])
            #expect(status == 0 && output.contains("counts: Ada could write it"), "\(output)")
        }
    }
}
