import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// The bots of `Protocol/14-local-api.md`, as somebody would run them.
@Suite("Bots", .serialized, .timeLimit(.minutes(8)))
struct BotProcessTests {
    private static let folder =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().path + "/BotTests"

    /// What starts one of them; nil where this machine cannot.
    private static func way(_ name: String, in place: String) async throws -> [String]? {
        guard name != "echo.py" else {
            let python = try Program(["--version"], by: ["python3"])
            return try await python.ended() == 0 ? ["python3", "\(folder)/echo.py"] : nil
        }
        let compiler = try Program(
            ["-swift-version", "6", "\(folder)/\(name)", "-o", place + "/echo"], by: ["swiftc"])
        let status = try await compiler.ended(within: 240)
        #expect(status == 0 || status == 127, "\(compiler.output)")
        return status == 0 ? [place + "/echo"] : nil
    }

    /// The token of a bot in the conversation, and that one's identifier.
    private static func bot(of node: NodeProcess) async throws -> (token: String, place: String) {
        let made = try await Program.run(
            "bot", "new", "echo", "--conversation", "log", "--json", "--home", node.home)
        let fresh = try JSONDecoder().decode(
            FreshToken.self, from: Data(made.output.split(separator: "\n")[0].utf8))
        return (fresh.token, try #require(fresh.view.conversation))
    }

    @Test(
        "answer each message once, though they and their node are killed again and again",
        arguments: ["echo.py", "Echo.swift"])
    func once(name: String) async throws {
        let pair = try await ProcessPair()
        guard let way = try await Self.way(name, in: pair.folder.path) else { return }
        let bot = try await Self.bot(of: pair.ann)
        try await pair.ann.kill()
        try await pair.ann.start(options: ["--http"])
        let state = pair.folder.path + "/state"
        let words = way + [pair.ann.home, bot.token, bot.place, state]
        func begin() throws -> Program {
            try Program([], environment: ["no_proxy": "*"], by: words)
        }
        let ben = try #require(await pair.ben.client)
        var program = try begin()
        // It has begun once it keeps where it is: what was said before is not for it.
        while !FileManager.default.fileExists(atPath: state) {
            #expect(program.status == nil, "\(program.output)")
            // Polls a file: the bot says nothing of itself.
            try await Task.sleep(for: .milliseconds(50))
        }
        var random = SystemRandomNumberGenerator()
        let texts = (1...60).map { "line \($0)." }
        for (place, text) in texts.enumerated() {
            try await ben.perform(SendMessages(conversation: "log", texts: [text]))
            if place % 10 == 4 {
                // That the moment depends on nothing is the point: sleep is what makes it random.
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
                program.signal(SIGKILL)
                try await program.ended()
                program = try begin()
            }
            if place % 25 == 20 {
                try await pair.ann.kill()
                try await pair.ann.start(options: ["--http"])
            }
        }
        func answers() async throws -> [String] {
            let page = try await ben.perform(ReadMessages(conversation: "log", limit: 200))
            return page.messages.filter { !$0.isOwn }.compactMap(\.text)
        }
        try await eventually("all are answered", on: [pair.ben], within: 240) {
            try await Set(answers()).isSuperset(of: texts)
        }
        program.signal(SIGKILL)
        try await program.ended()
        #expect(try await answers().sorted() == texts.sorted())
    }

    @Test(
        "are less than 40 lines, and are shown as they are tested",
        arguments: ["echo.py", "Echo.swift"])
    func shown(name: String) throws {
        let code = try String(contentsOfFile: "\(Self.folder)/\(name)", encoding: .utf8)
        let lines = code.split(separator: "\n")
        #expect(lines.count < 40, "\(lines.count) lines")
        let page = try String(
            contentsOfFile: Self.folder + "/../../Protocol/14-local-api.md", encoding: .utf8)
        #expect(page.contains("../Tests/BotTests/\(name)"))
    }
}
