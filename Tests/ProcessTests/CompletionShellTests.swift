import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Programs of this machine that a test needs.
enum Tool {
    static func path(_ name: String) -> String? {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].map { $0 + name }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    static func exists(_ names: String...) -> Bool { names.allSatisfy { path($0) != nil } }
}

/// A shell on a terminal, at which the tabulator is pressed.
private struct Shell {
    let kind: String
    let folder: TemporaryFolder
    private let terminal: TerminalProgram

    init(_ kind: String, home: String) async throws {
        self.kind = kind
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/bin", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/bin/parley", withDestinationPath: Program.path)
        let words =
            switch kind {
            case "bash": ["bash", "--norc", "--noprofile", "-i"]
            case "zsh": ["zsh", "-f", "-i"]
            default: ["fish", "--no-config", "-i"]
            }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        terminal = try TerminalProgram(
            ["-c", "-w"] + words, columnCount: 200,
            environment: [
                "PATH": folder.path + "/bin:" + path, "PARLEY_HOME": home, "HOME": folder.path,
                "LC_ALL": "C.UTF-8", "PS1": "> ",
            ], path: Tool.path("setsid") ?? "setsid")
        let dump = folder.path + "/line"
        let setup =
            switch kind {
            case "bash":
                """
                eval "$(parley completion bash)"
                bind -x '"\\C-x\\C-p": printf "%s" "$READLINE_LINE" >\(dump).new; mv \(dump).new \(dump)'
                """
            case "zsh":
                """
                autoload -U compinit; compinit -u -D; source <(parley completion zsh)
                dump() { print -rn -- "$BUFFER" >\(dump).new; mv \(dump).new \(dump) }
                zle -N dump; bindkey '^X^P' dump
                """
            default:
                """
                parley completion fish | source
                bind \\cx\\cp 'commandline >\(dump).new; mv \(dump).new \(dump)'
                """
            }
        try terminal.type(setup + "\ncd \(folder.path); echo rea''dy\n")
        try await terminal.shows("ready")
    }

    func end() { terminal.end() }

    /// Types a line, presses the tabulator, and says whether the shell reads these words then, the program's
    /// name aside. On a machine with other work a node may not answer in time: then a person tries again.
    func completes(_ line: String, to words: [String]) async throws -> Bool {
        for _ in 0..<20 where try await complete(line) == words { return true }
        return false
    }

    private func complete(_ line: String) async throws -> [String] {
        let dump = folder.path + "/line"
        try? FileManager.default.removeItem(atPath: dump)
        // Control-U first: the line before is no part of this one.
        try terminal.type("\u{15}" + line + "\t\u{18}\u{10}")
        try await eventually("the line of \(kind) behind “\(line)”", within: 60, after: [beats()]) {
            FileManager.default.fileExists(atPath: dump)
        }
        let shown = try String(contentsOfFile: dump, encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        let rest = shown.dropFirst("parley".count)
        let script = "printf '%s\\0'" + rest
        let reader = try Program([], by: ["env", "-C", folder.path, kind, "-c", script])
        #expect(try await reader.ended() == 0, "\(shown)")
        return reader.output.split(separator: "\0", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }

    /// A file appears without a word: it is looked for ten times a second.
    private func beats() -> AsyncStream<Void> {
        AsyncStream {
            // Only ever ends early where the test is over.
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}

@Suite("Completion in shells", .serialized, .timeLimit(.minutes(5)))
struct CompletionShellTests {
    /// Names that a shell would take for something else, each by how one begins to type it.
    private static func names(_ mark: String) -> [(typed: String, name: String)] {
        [
            ("My", "My trip"), ("a", "a$(touch \(mark))b"), ("b", "b`touch \(mark)`"),
            ("c", "c'd\"e\\f"), ("hi", "hi 😀 é"), ("k", "k:l=m"), ("s", "s;touch \(mark)|u&"),
            ("x", "x!!y"), ("z", "z*?[a]{b,c}~$HOME"), ("q", "q#r <s> (t)"),
        ]
    }

    @Test(
        "Attack 260: what is completed is the name, whatever is in it, and nothing of it is run",
        arguments: ["bash", "zsh", "fish"].filter { Tool.exists($0, "setsid") })
    func names(kind: String) async throws {
        let folder = try TemporaryFolder()
        let mark = folder.path + "/mark"
        let node = try await NodeProcess(
            home: folder.home("ada"), name: "ada", port: try FreePort.some())
        let client = try await node.start()
        for (_, name) in Self.names(mark) {
            try await client.perform(CreateConversation(name: name, members: []))
        }
        let shell = try await Shell(kind, home: node.home)
        defer { shell.end() }
        // A folder of the name of a conversation is no conversation.
        try FileManager.default.createDirectory(
            atPath: shell.folder.path + "/My trip", withIntermediateDirectories: true)
        for (typed, name) in Self.names(mark) {
            #expect(try await shell.completes("parley send \(typed)", to: ["send", name]))
        }
        #expect(try await shell.completes("parley send 'My", to: ["send", "My trip"]))
        #expect(try await shell.completes("parley send \"My t", to: ["send", "My trip"]))
        #expect(try await shell.completes("parley send My\\ t", to: ["send", "My trip"]))
        #expect(try await shell.completes("parley send k:l", to: ["send", "k:l=m"]))
        #expect(
            try await shell.completes("parley sta", to: ["sta"]), "stars and stats differ")
        #expect(try await shell.completes("parley statu", to: ["status"]))
        #expect(try await shell.completes("parley status --js", to: ["status", "--json"]))
        #expect(
            try await shell.completes(
                "parley status --home My", to: ["status", "--home", "My trip/"]))
        #expect(!FileManager.default.fileExists(atPath: mark))
        _ = try await node.stop()
    }

    @Test(
        "a script is printed for each shell, and the parser's own, which evaluates names, for none")
    func scripts() async throws {
        for kind in ["bash", "zsh", "fish"] {
            let script = try await Program.run("completion", kind)
            #expect(script.status == 0 && script.output.contains("__complete"))
            let own = try await Program.run("--generate-completion-script", kind)
            #expect(own.status == 0 && own.output == script.output)
        }
        #expect(try await Program.run("completion", "tcsh").status == 64)
    }

    @Test("a shell is never kept waiting, and hears of no error")
    func silent() async throws {
        let folder = try TemporaryFolder()
        for words in [
            ["bash", "parley send x", "x"], ["bash", "", ""], ["zsh"], [], ["tcsh", "x", "y"],
            ["bash", "parley send \"", ""], ["fish", "'", "parley", "send"],
            ["bash", String(repeating: "x", count: 70_000), ""],
        ] {
            let program = try Program(
                ["__complete"] + words, environment: ["PARLEY_HOME": folder.home("none")])
            #expect(try await program.ended() == 0)
            #expect(!program.output.contains("error"), "\(program.output)")
        }
        try Data("[".utf8).write(to: URL(fileURLWithPath: folder.home("config")))
        let program = try Program(
            ["__complete", "bash", "parley sen", "sen"],
            environment: ["PARLEY_CONFIG": folder.home("config")])
        #expect(try await program.ended() == 0)
        #expect(program.output == "words\nsend\n")
    }

    @Test(
        "Attack 260: a name that would move the cursor or end a line is offered by its identifier")
    func hostile() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("ada"), name: "ada", port: try FreePort.some())
        let client = try await node.start()
        var ids: [String] = []
        for name in ["n\nwords", "e\u{1B}[31m", "r\u{202E}x", "-rf"] {
            // Some of these no node takes: then there is nothing to offer.
            if let made = try? await client.perform(CreateConversation(name: name, members: [])) {
                ids.append(String(made.id.prefix(8)))
            }
        }
        #expect(!ids.isEmpty)
        let program = try Program(["__complete", "zsh", "", "parley", "send", "--home", node.home])
        #expect(try await program.ended() == 0)
        let words = program.output.split(separator: "\n").dropFirst().map {
            String($0.prefix { $0 != "\t" })
        }
        #expect(Set(words) == Set(ids), "\(program.output)")
        _ = try await node.stop()
    }
}
