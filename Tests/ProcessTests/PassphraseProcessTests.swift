import Foundation
import Parley
import Testing

/// The passphrase of a node with a long history is changed by the program, also where it is killed in
/// the middle of that.
@Suite("A passphrase that is changed", .serialized, .timeLimit(.minutes(5)))
struct PassphraseProcessTests {
    private static let count = 1200

    /// A home with many messages, all of them in the index.
    private func made(_ home: String) async throws {
        let (node, _) = try await Node.create(NodeSettings(home: home), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        for start in stride(from: 0, to: Self.count, by: 100) {
            let texts = (start..<start + 100).map { "zucchini number\($0) of the garden" }
            try await node.perform(SendMessages(conversation: "notes", texts: texts))
        }
        #expect(try await node.perform(SearchMessages("number7")).hits.count == 1)
        await node.shutdown()
    }

    private func file(_ words: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.path + "/words-\(words)"
        try Data((words + "\n").utf8).write(to: URL(filePath: path))
        return path
    }

    /// What a search says, by the program itself.
    private func finds(_ home: String, _ words: String, by passphrase: String?) async throws -> Bool
    {
        let options = passphrase.map { ["--passphrase-file", $0] } ?? []
        let ended = try await run(["search", words, "--home", home] + options)
        return ended.status == 0 && ended.output.contains("of the garden")
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        let program = try Program(arguments)
        let status = try await program.ended()
        return (status, program.output)
    }

    @Test("set, changed and removed, all is found again by its words")
    func searches() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        try await made(home)
        let (one, two) = (try file("one", in: folder), try file("two", in: folder))
        for (words, now) in [
            (["set", "--new-passphrase-file", one], one),
            (["change", "--passphrase-file", one, "--new-passphrase-file", two], two),
            (["remove", "--passphrase-file", two], nil),
        ] as [([String], String?)] {
            let ended = try await run(["passphrase"] + words + ["--home", home])
            #expect(ended.status == 0, "\(ended.output)")
            for number in [0, 7, Self.count - 1] {
                #expect(try await finds(home, "number\(number)", by: now), "\(words)")
            }
            let check = try await run(
                ["search", "check", "--home", home] + (now.map { ["--passphrase-file", $0] } ?? []))
            #expect(check.status == 0, "\(check.output)")
        }
    }

    /// A write of a file that the change is cut off after.
    struct Cut: CustomTestStringConvertible {
        let file: String
        let count: Int
        let testDescription: String

        /// The keys of index and guard are new, and Argon2 works at the new lock for some time.
        static let beforeTheLock = Cut(file: "guard", count: 1, testDescription: "before the lock")
        static let afterTheLock = Cut(file: "keystore", count: 1, testDescription: "after the lock")
        /// The old lock opens nothing any more, and the index has begun to follow again.
        static let whileIndexing = Cut(
            file: "keystore", count: 2, testDescription: "while the index follows")
    }

    /// Starts a program, and kills it once it has written a file so often.
    private func kill(_ arguments: [String], after cut: Cut, in home: String) async throws {
        let file = URL(filePath: home + "/" + cut.file)
        var last = try Data(contentsOf: file)
        let program = try Program(arguments + ["--home", home])
        var seen = 0
        while seen < cut.count, program.status == nil {
            // A file that is replaced is whole at any time.
            let now = try Data(contentsOf: file)
            if now != last { seen += 1 }
            last = now
            // Polls a file of another process, which tells nobody when it writes.
            try await Task.sleep(for: .milliseconds(1))
        }
        program.signal(SIGKILL)
        try await program.ended()
    }

    /// A killed process leaves either lock. Its index was emptied with the key, so what is missing is
    /// made at the next start: nothing is ever silently not found.
    @Test(
        "killed anywhere in between, all is found again by its words",
        arguments: [Cut.beforeTheLock, .afterTheLock, .whileIndexing])
    func killed(cut: Cut) async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        try await made(home)
        let one = try file("one", in: folder)
        try await kill(["passphrase", "set", "--new-passphrase-file", one], after: cut, in: home)
        let isSet = try Node.isProtectedByPassphrase(at: home)
        #expect(isSet == (cut.file == "keystore"))
        let now = isSet ? one : nil
        for number in [7, Self.count - 1] {
            #expect(try await finds(home, "number\(number)", by: now), "\(cut)")
        }
        let check = try await run(
            ["search", "check", "--home", home] + (now.map { ["--passphrase-file", $0] } ?? []))
        #expect(check.status == 0, "\(check.output)")
    }
}
