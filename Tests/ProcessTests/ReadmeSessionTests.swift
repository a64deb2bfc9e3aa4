import Foundation
import Parley
import Testing

/// A person at a keyboard: what is typed is run by a shell that knows the program as `parley`.
private struct Keyboard {
    let folder: TemporaryFolder
    private let talk: String

    init() throws {
        folder = try TemporaryFolder()
        talk = folder.home("talk")
        try FileManager.default.createSymbolicLink(
            atPath: folder.home("parley"), withDestinationPath: Program.path)
    }

    /// Begins a line. What the program says on standard error is left out where it is no data.
    func begin(_ line: String, home: String? = nil, isData: Bool = true) throws -> Program {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        var variables = ["PATH": folder.path + ":" + path]
        if let home { variables["PARLEY_HOME"] = folder.home(home) }
        return try Program(
            [], environment: variables,
            by: [
                "env", "-C", folder.path, "sh", "-c", (isData ? "exec 2>>\(talk); " : "") + line,
            ])
    }

    /// Runs a line to its end, which is good.
    func type(_ line: String, home: String? = nil) async throws -> String {
        let program = try begin(line, home: home)
        let status = try await program.ended()
        let said = try String(contentsOfFile: talk, encoding: .utf8)
        #expect(status == 0, "\(line): \(said)")
        return program.output
    }

    /// Runs a node until the test is over, on a port that no other one has.
    func run(_ line: String, home: String? = nil) async throws -> Program {
        let port = try FreePort.some()
        let node = try begin(
            "exec \(line) --listen 127.0.0.1:\(port)", home: home, isData: false)
        try await node.says("Ctrl-C stops it")
        return node
    }
}

/// README.md, as far as it shows what to type.
private enum Readme {
    static func text() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    }

    /// The lines of the block of code that begins like this.
    static func block(_ start: String) throws -> [String] {
        let blocks = try text().components(separatedBy: "```\n")
        let block = try #require(blocks.first { $0.hasPrefix(start) })
        return block.split(separator: "\n").map(String.init)
    }

    /// The commands of a session after `$ `, each with what it shows.
    static func session() throws -> [(command: String, output: [String])] {
        var session: [(command: String, output: [String])] = []
        for line in try block("$ parley ") {
            if line.hasPrefix("$ ") {
                session.append((String(line.dropFirst(2)), []))
            } else {
                session[session.count - 1].output.append(line)
            }
        }
        return session
    }

    /// What the sentence below the session says to have come before.
    static func before() throws -> [String] {
        let sentence = try #require(
            text().split(separator: "\n").first { $0.hasPrefix("Both run on one machine: ") })
        return sentence.matches(of: /`(parley [^`]+)`/).map { String($0.1) }
    }

    /// A line with a word in the place of all that is another each time.
    static func stable(_ line: String) -> String {
        line.replacing(/\[?[0-9a-f.:]+\]?:\d{4,5}/, with: "ADDRESS")
            .replacing(/ADDRESS(, ADDRESS)*/, with: "ADDRESS")
            .replacing(/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+ [A-Z][a-z]{2} \d{4}/, with: "DAY")
            .replacing(/\b\d\d:\d\d\b/, with: "TIME")
            .replacing(/\b[0-9a-f]{64}\b/, with: "DIGEST")
            .replacing(/\b[0-9a-f]{8}\b/, with: "IDENTIFIER")
    }
}

@Suite("The sessions in README.md", .timeLimit(.minutes(3)))
struct ReadmeSessionTests {
    @Test("show what it shows, from making the nodes on")
    func shown() async throws {
        let keyboard = try Keyboard()
        let before = try Readme.before()
        try #require(before.count == 2 && before[1].hasPrefix("parley run "))
        var nodes: [Program] = []
        // "so for Ben"
        for (large, small) in [("Ada", "ada"), ("Ben", "ben")] {
            func own(_ line: String) -> String {
                line.replacing("Ada", with: large).replacing("ada", with: small)
            }
            let code = try await keyboard.type(own(before[0]))
            #expect(code.split(separator: "-").count == 14, "\(code)")
            nodes.append(try await keyboard.run(own(before[1])))
        }
        defer { for node in nodes { node.signal(SIGKILL) } }
        let homes = ["ada", "ben"].map { NodeProcess(home: keyboard.folder.home($0), address: "") }
        let session = try Readme.session()
        #expect(session.count == 5)
        for (command, output) in session {
            // Whether the other has it by the time it is told is a matter of moments.
            let isSending = command.hasPrefix("parley send ")
            let expected = output.map { Self.told(Readme.stable($0), isSending) }
            var shown = try await keyboard.type(command)
            // A person looks again a moment later; what was sent is sent.
            if command.hasPrefix("parley read ") || command.hasPrefix("parley digest ") {
                try? await eventually(command, on: homes, within: 60) {
                    if Self.lines(shown) == expected { return true }
                    shown = try await keyboard.type(command)
                    return Self.lines(shown) == expected
                }
            }
            #expect(
                Self.lines(shown).map { Self.told($0, isSending) } == expected,
                "\(command) shows \(shown)")
            if command.hasPrefix("parley digest ") {
                let digests = shown.matches(of: /[0-9a-f]{64}/).map { String($0.0) }
                #expect(digests.count == 2 && Set(digests).count == 1)
            }
        }
        for node in nodes {
            node.signal(SIGTERM)
            #expect(try await node.ended() == 0)
        }
    }

    /// A line with one tick where it may have two.
    private static func told(_ line: String, _ isSending: Bool) -> String {
        isSending ? line.replacing("✓✓", with: "✓") : line
    }

    private static func lines(_ output: String) -> [String] {
        output.split(separator: "\n").map { Readme.stable(String($0)) }
    }

    @Test("“A node of your own, and a friend” goes on as it says")
    func friend() async throws {
        let keyboard = try Keyboard()
        let block = try Readme.block("parley init ")
        let start = try #require(block[0].range(of: "prints "))
        let column = block[0].distance(from: block[0].startIndex, to: start.lowerBound)
        let commands = block.map { $0.prefix(column).trimmingCharacters(in: .whitespaces) }
        try #require(
            commands.map { $0.split(separator: " ")[1] }
                == ["init", "run", "invite", "contact", "send", "follow"])
        _ = try await keyboard.type(commands[0], home: "ada")
        let ada = try await keyboard.run(commands[1], home: "ada")
        defer { ada.signal(SIGKILL) }
        _ = try await keyboard.type("parley init --name Ben", home: "ben")
        let ben = try await keyboard.run("parley run", home: "ben")
        defer { ben.signal(SIGKILL) }
        let link = try await keyboard.type(commands[2], home: "ada")
            .trimmingCharacters(in: .newlines)
        #expect(block[2].contains("parley accept LINK"))
        let met = try await keyboard.type("parley accept \(link)", home: "ben")
        #expect(met.hasPrefix("Ada") && met.contains("  linked  "), "\(met)")
        let number = try await keyboard.type(commands[3], home: "ada")
        #expect(number.contains(/\d{5} \d{5}/), "\(number)")
        let equal = try await keyboard.type(commands[3] + " --equal", home: "ada")
        #expect(equal.contains("verified") && !equal.contains("not verified"), "\(equal)")
        let sent = try await keyboard.type(commands[4], home: "ada")
        #expect(sent.contains("Ada  hello  ✓"), "\(sent)")
        let follow = try keyboard.begin("exec " + commands[5], home: "ada")
        defer { follow.signal(SIGKILL) }
        // What comes before it looks on is in the conversation, and not shown by it.
        for count in 1...100 where !follow.output.contains("answer") {
            _ = try await keyboard.type("parley send Ada 'answer \(count)'", home: "ben")
        }
        try await follow.says("answer")
        for node in [ada, ben] {
            node.signal(SIGTERM)
            #expect(try await node.ended() == 0)
        }
    }
}
