import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// What a person has before their eyes: a terminal, a pipe, or a program that reads.
@Suite("What the program draws", .timeLimit(.minutes(5)))
struct ScreenProcessTests {
    private static let escape = "\u{1B}["

    /// A home that has a group with one long message.
    private func written(_ folder: TemporaryFolder) async throws -> NodeProcess {
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        #expect(try await node.run("group", "create", "notes").status == 0)
        let text = "the key hangs at the farm behind the green door"
        #expect(try await node.run("send", "notes", text).status == 0)
        return node
    }

    @Test(
        "is wrapped and coloured on a terminal, has no colour where NO_COLOR says so, nor in a pipe"
    )
    func colours() async throws {
        let folder = try TemporaryFolder()
        let node = try await written(folder)
        let words = ["read", "notes", "--home", node.home]
        let coloured = try await TerminalProgram(
            words, columnCount: 50, environment: ["NO_COLOR": ""]
        ).ended()
        #expect(coloured.contains(Self.escape + "1m"), "\(coloured)")
        for environment in [["NO_COLOR": "1"], ["NO_COLOR": "", "TERM": "dumb"]] {
            let plain = try await TerminalProgram(
                words, columnCount: 50, environment: environment
            ).ended()
            #expect(plain.contains("the key hangs at the") && !plain.contains("\u{1B}"), "\(plain)")
            let lines = plain.split(whereSeparator: \.isNewline)
            #expect(lines.allSatisfy { $0.count <= 50 }, "\(plain)")
            #expect(lines.count == 3, "a day, and a message of two lines: \(plain)")
        }
        let piped = try await node.run("read", "notes").output
        #expect(!piped.contains("\u{1B}"))
        #expect(piped.contains("the key hangs at the farm behind the green door"), "\(piped)")
    }

    @Test(
        "is as wide as COLUMNS says, in a pipe and on a terminal, down to twenty",
        arguments: [("20", 20), ("1", 20), ("33", 33), ("48", 48)])
    func columns(said: String, width: Int) async throws {
        let folder = try TemporaryFolder()
        let node = try await written(folder)
        let environment = ["COLUMNS": said, "NO_COLOR": "1"]
        let commands = [["read", "notes"], ["status"], ["conversations"], ["doctor"]]
        for words in commands.map({ $0 + ["--home", node.home] }) {
            let piped = try Program(words, environment: environment)
            #expect(try await piped.ended() == 0, "\(words): \(piped.output)")
            let drawn = try await TerminalProgram(
                words, columnCount: 90, environment: environment
            ).ended()
            for shown in [piped.output, drawn] {
                let lines = shown.split(whereSeparator: \.isNewline)
                #expect(!lines.isEmpty && lines.allSatisfy { $0.count <= width }, "\(shown)")
            }
        }
        let help = try Program(["help", "outbox"], environment: environment)
        #expect(try await help.ended() == 0)
        let overview = help.output.components(separatedBy: "\nExample:")[0]
        #expect(
            overview.split(separator: "\n").allSatisfy { $0.count <= max(width, 32) }, "\(overview)"
        )
    }

    @Test("takes no COLUMNS for a width that is none: a pipe has whole lines, help eighty columns")
    func noColumns() async throws {
        let folder = try TemporaryFolder()
        let node = try await written(folder)
        for said in ["", "0", "-3", "wide"] {
            let read = try Program(
                ["read", "notes", "--home", node.home], environment: ["COLUMNS": said])
            #expect(try await read.ended() == 0)
            #expect(read.output.contains("the key hangs at the farm behind the green door"))
            let help = try Program(["help", "outbox"], environment: ["COLUMNS": said])
            #expect(try await help.ended() == 0)
            // The line of the usage is never broken.
            let lines = help.output.split(separator: "\n").filter { !$0.hasPrefix("USAGE") }
            let count = lines.map(\.count).max() ?? 0
            #expect((60...80).contains(count), "\(said): \(help.output)")
        }
    }

    @Test("has the picture of an invite on a terminal that is wide enough, and none in a pipe")
    func picture() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        let words = ["invite", "--home", node.home]
        let wide = try await TerminalProgram(words, columnCount: 200).ended()
        let rows = wide.split(whereSeparator: \.isNewline).filter { $0.contains("█") }
        #expect(rows.count > 10 && Set(rows.map(\.count)).count == 1, "\(wide)")
        let narrow = try await TerminalProgram(words, columnCount: 30).ended()
        #expect(narrow.contains("needs a window of") && !narrow.contains("█"), "\(narrow)")
        let piped = try await node.run("invite").output
        #expect(!piped.contains("█"))
        // What is advised beside it is meant for this home.
        for word in ["run", "invite"] {
            #expect(piped.contains("parley \(word) --home \(node.home)"), "\(piped)")
        }
        let nobody = try await node.run("contacts").output
        #expect(
            nobody.contains("No contacts yet. `parley invite --home \(node.home)`"), "\(nobody)")
    }

    @Test("stands in columns, whatever signs a name has")
    func columns() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        // Each of the signs takes two columns of a terminal, and so as much as two letters.
        for name in ["✨⭐✅☺️", "ab✨", "abcdefgh"] {
            #expect(try await node.run("group", "create", name).status == 0)
        }
        let lines = try await node.run("conversations").output.split(separator: "\n")
        #expect(lines.count == 3)
        func column(_ line: Substring) -> Int {
            let name = line.prefix { $0 != " " }
            let signs = name.count { !$0.isASCII }
            let gap = line.dropFirst(name.count).prefix { $0 == " " }
            return name.count + signs + gap.count
        }
        #expect(lines.map(column) == [10, 10, 10], "\(lines)")
    }

    @Test("is not cut short in a pipe, where a column has no end")
    func pipes() async throws {
        let folder = try TemporaryFolder()
        let models = ["PARLEY_MODELS": folder.home("models")]
        let piped = try Program(["model", "status"], environment: models)
        #expect(try await piped.ended() == 0)
        for licence in ["(all-MiniLM-L6-v2, sentence-transformers)\n", "multilingual 3, Google)\n"]
        {
            #expect(piped.output.contains(licence), "\(piped.output)")
        }
        #expect(!piped.output.contains("…"))
    }

    /// A line is as long as the next word lets it be: what is wrapped twice is ragged.
    @Test("of help fills its lines", arguments: ["demo", "bench", "simulate"])
    func help(command: String) async throws {
        let help = try await Program.run("help", command)
        #expect(help.status == 0 && help.output.hasPrefix("OVERVIEW: "))
        let overview = help.output.components(separatedBy: "\nUSAGE:")[0]
        let lines = overview.split(separator: "\n", omittingEmptySubsequences: false)
        var pairCount = 0
        for (line, next) in zip(lines, lines.dropFirst()) {
            let isWrapped = !line.isEmpty && !line.hasPrefix(" ") && !line.hasSuffix(":")
            guard isWrapped, !next.isEmpty, !next.hasPrefix(" ") else { continue }
            pairCount += 1
            let word = next.prefix { $0 != " " }
            #expect(line.count < 80 && line.count + 1 + word.count >= 80, "\(line)")
        }
        #expect(pairCount > 1)
    }

    @Test("is an object of JSON where that was asked for, errors as well")
    func errors() async throws {
        struct Failure: Decodable {
            struct Reason: Decodable {
                var code: String
                var message: String
                var hint: String?
            }
            var error: Reason
        }
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        for (words, status, code, hint) in [
            (
                ["read", "nowhere", "--home", node.home], 1, "unknown-conversation",
                "parley conversations --home \(node.home)"
            ),
            (["status", "--home", node.home + "-none"], 1, "no-node", "parley init --home"),
            (["read"], 64, "usage", "parley read --help"),
            (["fly"], 64, "usage", "Was it `parley why`?"),
        ] as [([String], Int32, String, String)] {
            let program = try Program(words + ["--json"])
            #expect(try await program.ended() == status, "\(words)")
            let failure = try JSONDecoder().decode(Failure.self, from: Data(program.output.utf8))
            #expect(failure.error.code == code, "\(program.output)")
            #expect(!failure.error.message.isEmpty)
            #expect(failure.error.hint?.contains(hint) == true, "\(program.output)")
        }
    }

    @Test("and does not arrive fails the command, and marks nothing as read")
    func fullDevice() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (try #require(await pair.ann.client), try #require(await pair.ben.client))
        try await ann.perform(SendMessages(conversation: "log", texts: ["hello"]))
        try await eventually("ben has it", on: [pair.ben]) {
            try await ben.perform(GetConversation(conversation: "log")).unread == 1
        }
        let shell = ["sh", "-c", "exec \"$0\" \"$@\" > /dev/full", Program.path]
        for words in [["read", "log"], ["contacts"], ["conversations", "--json"], ["--help"]] {
            let place = words == ["--help"] ? [] : ["--home", pair.ben.home]
            let full = try Program(words + place, by: shell)
            #expect(try await full.ended() == 1, "\(words): \(full.output)")
        }
        #expect(try await ben.perform(GetConversation(conversation: "log")).unread == 1)
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    @Test("and does not arrive leaves no new node, whose recovery code nobody saw")
    func unseenCode() async throws {
        let folder = try TemporaryFolder()
        let words = ["init", "--home", folder.home("a"), "--name", "Ada"]
        for sink in ["> /dev/full", ">&-", "| sleep 0 >&-"] {
            // The pipe has lost its reader before the program starts.
            let script =
                sink.hasPrefix("|")
                ? "set -o pipefail; { sleep 1; exec \"$0\" \"$@\"; } \(sink)"
                : "exec \"$0\" \"$@\" \(sink)"
            let full = try Program(words, by: ["bash", "-c", script, Program.path])
            #expect(try await full.ended() == 1, "\(sink): \(full.output)")
            #expect(full.output.contains("The recovery code could not be shown"), "\(sink)")
            #expect(full.output.contains("The new node was removed again"), "\(sink)")
        }
        let again = try await Program.run(words[0], words[1], words[2], words[3], words[4])
        #expect(again.status == 0, "\(again.output)")
    }
}
