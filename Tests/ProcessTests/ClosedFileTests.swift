import Foundation
import Parley
import Testing

/// What a shell closes by `>&-`, and a service manager by having no output.
@Suite("Files that were closed when the program began", .timeLimit(.minutes(3)))
struct ClosedFileTests {
    private static let text = "the key hangs at the farm"

    /// A home that has a group with one message.
    private func written(_ folder: TemporaryFolder) async throws -> NodeProcess {
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        #expect(try await node.run("group", "create", "notes").status == 0)
        #expect(try await node.run("send", "notes", Self.text).status == 0)
        return node
    }

    private func program(_ words: [String], _ closed: String, at home: String) throws -> Program {
        try Program(
            words + ["--home", home],
            by: ["sh", "-c", "exec \"$0\" \"$@\" \(closed)", Program.path])
    }

    /// No file of the home has anything that was meant for a person.
    private func holdsNothingSaid(_ home: String) throws {
        let files = try #require(FileManager.default.enumerator(atPath: home))
        for case let name as String in files {
            // A socket has no content.
            guard let content = FileManager.default.contents(atPath: home + "/" + name) else {
                continue
            }
            for said in [
                Self.text, "parley: ", "could not be written", "Ctrl-C", "Copy this invite",
            ] {
                #expect(content.range(of: Data(said.utf8)) == nil, "“\(said)” is in \(name)")
            }
        }
    }

    @Test(
        "get nothing of the home or of a node: output fails, input is none, and talk is dropped",
        arguments: [false, true])
    func commands(isRunning: Bool) async throws {
        let folder = try TemporaryFolder()
        let node = try await written(folder)
        if isRunning { try await node.start(isHidden: true) }
        for (words, closed, status, said) in [
            (["read", "notes"], ">&-", 1, "The output could not be written: it is closed"),
            (["read", "notes"], "<&- >&-", 1, "The output could not be written"),
            (["read", "notes", "--json"], ">&-", 1, "could not show its result"),
            (["--help"], ">&-", 1, ""),
            (["read", "notes"], ">&- 2>&-", 1, ""),
            (["read", "notes"], "<&-", 0, Self.text),
            (["read", "notes"], "2>&-", 0, Self.text),
            (["read", "nowhere"], "2>&-", 1, ""),
            (["read", "nowhere"], "<&- >&- 2>&-", 1, ""),
            (["send", "notes"], "<&-", 1, "it is closed, or is not a file"),
            (["send", "notes", "--lines"], "<&- 2>&-", 1, ""),
        ] as [([String], String, Int32, String)] {
            let place = words == ["--help"] ? folder.path : node.home
            let command = try program(words, closed, at: place)
            #expect(try await command.ended() == status, "\(words) \(closed): \(command.output)")
            #expect(
                said.isEmpty ? command.output.isEmpty : command.output.contains(said),
                "\(words) \(closed): \(command.output)")
        }
        try holdsNothingSaid(node.home)
        #expect(try await node.run("read", "notes").output.contains(Self.text))
        #expect(try await node.run("doctor").status == 0)
        if isRunning { #expect(try await node.stop() == 0) }
    }

    /// The system's library, which waits for events, had these numbers: it took any eight bytes for a count,
    /// and the command ended well.
    @Test("that another part of the process would have got do not count as written")
    func eightBytes() async throws {
        let folder = try TemporaryFolder()
        let node = try await written(folder)
        let made = try await node.run("note", "new", "notes", "list", "seven s", "--json")
        let note = try JSONDecoder().decode(NoteView.self, from: Data(made.output.utf8))
        for closed in [">&-", "<&- >&-", "<&- >&- 2>&-"] {
            let shown = try program(["note", "show", "\(note.number)"], closed, at: node.home)
            #expect(try await shown.ended() == 1, "\(closed): \(shown.output)")
        }
    }

    @Test("let a node run without any of them, and write into none of its files")
    func node() async throws {
        let folder = try TemporaryFolder()
        let home = try await written(folder).home
        let running = try program(["run", "--no-listen"], "<&- >&- 2>&-", at: home)
        // It can tell nobody that it is ready, so it is asked.
        var hasAnswered = false
        for _ in 0..<100 where !hasAnswered {
            let status = try await Program.run("status", "--json", "--home", home)
            hasAnswered = status.output.contains(#""isRunning":true"#)
        }
        #expect(hasAnswered)
        let asked = try program(["read", "notes"], ">&-", at: home)
        #expect(try await asked.ended() == 1, "\(asked.output)")
        running.signal(SIGTERM)
        #expect(try await running.ended() == 0 && running.output.isEmpty)
        try holdsNothingSaid(home)
        let doctor = try await Program.run("doctor", "--home", home)
        #expect(doctor.status == 0, "\(doctor.output)")
    }
}
