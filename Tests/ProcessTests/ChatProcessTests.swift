import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// A terminal in tmux, in which a chat runs: what a person would see is read, keys are pressed.
private final class Tmux: Sendable {
    private let name = "parley-" + UUID().uuidString.prefix(8)
    private let folder: TemporaryFolder

    /// - Parameter arguments: what the program is told.
    init(_ folder: TemporaryFolder, columns: Int, rows: Int, _ arguments: String...) async throws {
        self.folder = folder
        // What stood there before stands there again, and keys are echoed, once the chat is over.
        let line = ([Program.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let script = """
            echo before the chat
            \(line)
            echo "ended with $?"
            stty -a | grep -o ' -*icanon\\| -*echo ' | tr -d ' \\n'
            exec cat

            """
        try script.write(toFile: folder.path + "/\(name)", atomically: true, encoding: .utf8)
        try await run(
            [
                "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)",
                "sh '\(folder.path)/\(name)'",
            ],
            // Its server stays, and would hold open that by which the end of what was started is heard.
            by: [
                "bash", "-c",
                """
                for fd in /proc/$$/fd/*; do
                    fd=${fd##*/}
                    if ((fd > 2)); then eval "exec $fd>&-"; fi
                done
                exec tmux "$@" >/dev/null 2>&1
                """, "tmux",
            ])
    }

    @discardableResult
    func run(_ words: String...) async throws -> String { try await run(words, by: ["tmux"]) }

    @discardableResult
    private func run(_ words: [String], by way: [String]) async throws -> String {
        let program = try Program(
            words, environment: ["LC_ALL": "C.UTF-8", "TERM": "xterm-256color"],
            by: way + ["-u", "-L", name, "-f", "/dev/null"])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    func type(_ text: String) async throws { try await run("send-keys", "-l", text) }

    func press(_ keys: String...) async throws {
        for key in keys { try await run("send-keys", key) }
    }

    /// Waits until the screen is so; returns its lines.
    @discardableResult
    func shows(
        _ what: String, _ fits: @Sendable ([String]) -> Bool
    ) async throws -> [String] {
        let (beats, beat) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let looking = Task {
            while !Task.isCancelled {
                beat.yield()
                // tmux tells nobody that its screen has changed: it is looked at, again and again.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        defer { looking.cancel() }
        var lines: [String] = []
        do {
            try await eventually(what, within: 60, after: [beats]) {
                lines = try await run("capture-pane", "-p").components(separatedBy: "\n")
                return fits(lines)
            }
        } catch let late as Late {
            throw Late(description: late.description + "\n" + lines.joined(separator: "\n"))
        }
        return lines
    }

    @discardableResult
    func shows(_ text: String) async throws -> [String] {
        try await shows("“\(text)” in tmux") { $0.contains { $0.contains(text) } }
    }

    /// Waits until the chat is over, and expects the terminal to be as it was.
    func isGivenBack(status: Int) async throws {
        let lines = try await shows("icanonecho")
        #expect(lines.contains("before the chat"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("ended with \(status)") }, "\(lines)")
    }

    /// Its server ends with its only session. A signal, as `kill-server` sends itself one, would not reach it:
    /// the threads that start programs here block all of them, and who is started inherits that.
    func end() async throws { try await run("kill-session") }

    deinit {
        // Of a test that failed it is left; else it has ended, and nobody is there to end.
        _ = try? Program(["-L", name, "kill-session"], by: ["tmux"])
    }
}

@Suite(
    "A chat on a terminal", .timeLimit(.minutes(10)),
    .enabled(if: Tool.exists("tmux"), "tmux is not installed"))
struct ChatProcessTests {
    private func messages(_ node: NodeClient) async throws -> [MessageView] {
        try await node.perform(ReadMessages(conversation: "log", limit: 50)).messages
    }

    @Test("writes in any script, is answered, replies, sends a file, searches, and is resized")
    func talk() async throws {
        let pair = try await ProcessPair()
        let ben = try #require(await pair.ben.client)
        let ann = try #require(await pair.ann.client)
        let tmux = try await Tmux(
            pair.folder, columns: 60, rows: 20, "chat", "log", "--home", pair.ann.home)
        try await tmux.shows("no messages yet")
        let text = "héllo 日本 שלום 👍 नमस्ते"
        try await tmux.type(text)
        try await tmux.shows("> héllo 日本 שלום")
        try await tmux.press("M-Enter")
        try await tmux.type("two lines")
        try await tmux.press("Enter")
        try await eventually("ben has it", on: [pair.ben]) {
            try await messages(ben).last?.text == text + "\ntwo lines"
        }
        try await tmux.shows("two lines  ✓✓")
        try await answer(tmux, pair)
        try await sendFile(tmux, pair)
        try await look(tmux)
        try await tmux.press("i")
        try await tmux.type("not sent yet")
        try await eventually("the draft is kept", on: [pair.ann]) {
            try await ann.perform(GetConversation(conversation: "log")).draft == "not sent yet"
        }
        try await tmux.press("C-q")
        try await tmux.isGivenBack(status: 0)
        try await tmux.end()
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    /// Ben types and answers; that is seen and so read, replied to, and reacted to.
    private func answer(_ tmux: Tmux, _ pair: ProcessPair) async throws {
        let ben = try #require(await pair.ben.client)
        try await ben.perform(SetTyping(conversation: "log", on: true))
        try await tmux.shows("ben …")
        let answer = try await ben.perform(
            SendMessages(conversation: "log", texts: ["and back", "again"]))
        try await tmux.shows("again")
        try await eventually("ben hears that it was read", on: [pair.ben]) {
            try await messages(ben).last?.state == "read"
        }
        try await tmux.press("Up", "Up", "r")
        try await tmux.shows("↳ ben: and back")
        try await tmux.type("a reply")
        try await tmux.press("Enter")
        try await tmux.shows("a reply  ✓")
        try await tmux.press("Up")
        try await tmux.shows("▌ ")
        try await tmux.press("+", "1")
        try await tmux.shows("👍 ann")
        try await eventually("ben has the reply and a reaction to it", on: [pair.ben]) {
            let last = try await messages(ben).last
            return last?.replyTo == answer[0].number && last?.reactions.first?.emoji == "👍"
        }
    }

    private func sendFile(_ tmux: Tmux, _ pair: ProcessPair) async throws {
        let ben = try #require(await pair.ben.client)
        let file = pair.folder.path + "/a file.txt"
        try "what is in it".write(toFile: file, atomically: true, encoding: .utf8)
        // Together with what follows at once an escape would be the key Alt.
        try await tmux.press("Escape")
        try await tmux.shows("Enter send")
        try await tmux.type("/file " + file)
        try await tmux.press("Enter")
        try await eventually("ben has the file", on: [pair.ben]) {
            try await messages(ben).last?.files.first?.name == "a file.txt"
        }
        try await tmux.shows("[a file.txt, 13 bytes")
    }

    /// Finds what Ben wrote, and makes the window larger.
    private func look(_ tmux: Tmux) async throws {
        try await tmux.press("C-f")
        try await tmux.type("back")
        try await tmux.shows("«back»")
        try await tmux.press("Enter")
        try await tmux.shows("the hit") { lines in
            lines.contains { $0.hasPrefix("▌") && $0.contains("and back") }
        }
        try await tmux.run("resize-window", "-x", "200", "-y", "60")
        // It may be looked at in the middle of a drawing.
        try await tmux.shows("two panes") { lines in
            lines.count >= 60 && lines[0].contains("│  log · ") && lines[0].contains("Parley")
                && lines[..<59].allSatisfy { $0.contains("│ ") || $0.hasSuffix("│") }
        }
    }

    @Test("gives the terminal back where it is ended, interrupted twice, or its node stops")
    func ways() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("a"), name: "ann", port: try FreePort.some())
        try await node.start(isHidden: true)
        for way in ["signal", "interrupt", "node"] {
            let tmux = try await Tmux(folder, columns: 120, rows: 24, "chat", "--home", node.home)
            try await tmux.shows("no conversations yet")
            switch way {
            case "signal":
                let shell = try await tmux.run("display-message", "-p", "#{pane_pid}")
                let parent = shell.trimmingCharacters(in: .whitespacesAndNewlines)
                let children = try String(
                    contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
                let child = try #require(children.split(separator: " ").first.flatMap { Int32($0) })
                kill(child, SIGTERM)
            case "interrupt":
                try await tmux.press("C-c")
                try await tmux.shows("Ctrl-C again ends the chat")
                try await tmux.press("C-c")
            default: #expect(try await node.stop() == 0)
            }
            try await tmux.isGivenBack(status: way == "node" ? 1 : 0)
            if way == "node" { try await tmux.shows("The node has stopped.") }
            try await tmux.end()
        }
    }

    @Test("asks again for what was entered and not answered when its node was killed")
    func killed() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(
            home: folder.home("a"), name: "ann", port: try FreePort.some())
        let client = try await node.start(isHidden: true)
        try await client.perform(CreateConversation(name: "log", members: []))
        let log = try await client.perform(GetConversation(conversation: "log"))
        let line = try CutLine(
            home: node.home, processID: #require(await node.processID), method: "send")
        let tmux = try await Tmux(
            folder, columns: 120, rows: 24, "chat", "log", "--home", node.home)
        try await tmux.shows("no messages yet")
        try await tmux.type("said once")
        try await tmux.shows("> said once")
        try await tmux.press("Enter")
        try await tmux.isGivenBack(status: 1)
        try await tmux.shows("saved, and said once: “said once” in log (\(log.id.prefix(8)))")
        try await tmux.shows("The node has stopped.")
        try await tmux.end()
        withExtendedLifetime(line) {}
        try await node.kill()
        let again = try await node.start(isHidden: true)
        #expect(try await messages(again).map(\.text) == ["said once"])
        #expect(try await node.stop() == 0)
    }

    @Test("is the node of a home in which none runs: other commands go through it")
    func isNode() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        #expect(try await node.run("group", "create", "log").status == 0)
        let tmux = try await Tmux(
            folder, columns: 120, rows: 24, "chat", "log", "--home", node.home)
        try await tmux.shows("No other node runs")
        let sent = try await node.run("send", "log", "from beside it")
        #expect(sent.status == 0, "\(sent.output)")
        try await tmux.shows("from beside it")
        let second = try await node.run("run")
        #expect(second.status == 1 && second.output.contains("if it is a chat"), "\(second.output)")
        // Where nobody can be asked, it is named.
        let socket = LocalAPI.socketPath(home: node.home)
        try FileManager.default.moveItem(atPath: socket, toPath: socket + "1")
        let refused = try await node.run("read", "log")
        #expect(
            refused.status == 1 && refused.output.contains("(parley chat)"), "\(refused.output)")
        #expect(refused.output.contains("such as a chat without a node"), "\(refused.output)")
        try await tmux.press("C-q")
        try await tmux.isGivenBack(status: 0)
        try await tmux.end()
        #expect(try await node.run("read", "log").output.contains("from beside it"))
    }

    @Test("shows what was not read first, loads older pages as one goes up, and follows the newest")
    func manyMessages() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (try #require(await pair.ann.client), try #require(await pair.ben.client))
        let texts = (1...600).map { "line \($0)." }
        for start in stride(from: 0, to: 600, by: 200) {
            try await ben.perform(
                SendMessages(conversation: "log", texts: Array(texts[start..<start + 200])))
        }
        try await eventually("ann has them", on: [pair.ann]) {
            try await ann.perform(GetConversation(conversation: "log")).unread == 600
        }
        let tmux = try await Tmux(
            pair.folder, columns: 200, rows: 60, "chat", "log", "--home", pair.ann.home)
        let first = try await tmux.shows("─ new ─")
        #expect(first.contains { $0.hasSuffix("line 1.") }, "\(first)")
        #expect(!first.contains { $0.hasSuffix("line 600.") })
        // What nobody saw is not read.
        try await eventually("what is shown is read", on: [pair.ann]) {
            let unread = try await ann.perform(GetConversation(conversation: "log")).unread
            return unread < 600 && unread >= 500
        }
        try await tmux.press("End")
        try await tmux.shows("line 600.")
        for _ in 0..<12 { try await tmux.press("PageUp") }
        try await tmux.shows("older ones") { lines in
            !lines.contains { $0.hasSuffix("line 600.") } && lines[0].contains("log")
        }
        try await tmux.press("Up", "g")
        try await tmux.shows("line 1.")
        // Somebody writes: the view stays, and says so.
        try await ben.perform(SendMessages(conversation: "log", texts: ["the last word"]))
        let stays = try await tmux.shows("new: End")
        #expect(stays.contains { $0.hasSuffix("line 1.") }, "\(stays)")
        try await tmux.press("G")
        try await tmux.shows("the last word")
        try await tmux.press("C-q")
        try await tmux.isGivenBack(status: 0)
        try await tmux.end()
        for node in [pair.ann, pair.ben] { #expect(try await node.stop() == 0) }
    }

    @Test("is refused where there is no terminal to draw on")
    func noTerminal() async throws {
        let folder = try TemporaryFolder()
        let node = try await NodeProcess(home: folder.home("a"), name: "ann", port: 1)
        let refused = try await node.run("chat")
        #expect(refused.status == 1 && refused.output.contains("needs a terminal"))
        let unknown = try await node.run("chat", "nowhere")
        #expect(
            unknown.status == 1 && unknown.output.contains("No conversation or contact matches"),
            "\(unknown.output)")
    }
}
