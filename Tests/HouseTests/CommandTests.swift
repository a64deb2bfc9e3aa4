import Testing

@Suite("Commands")
struct CommandHelpTests {
    static let good = """
        static let configuration = CommandConfiguration(
            commandName: "send", abstract: "say (or pipe) something",
            discussion: \"""
                Example:
                  parley send ben "hi :)"
                \""",
            subcommands: [])
        """

    static func declarations(_ text: String) -> [CommandDeclaration] {
        CommandDeclaration.all(in: SourceFile(path: "Sources/Command/Send.swift", text: text))
    }

    @Test("a command with help, an example and a place in README is complete")
    func complete() throws {
        let found = try #require(Self.declarations(Self.good).first)
        #expect(found.name == "send")
        #expect(found.abstract == "say (or pipe) something")
        #expect(found.gaps(readme: "$ parley --home x send ben hi").isEmpty)
        #expect(found.gaps(readme: "the command `send` says it").isEmpty)
    }

    @Test("a command that README does not show is found")
    func absent() throws {
        let found = try #require(Self.declarations(Self.good).first)
        #expect(found.gaps(readme: "parley sends it").count == 1)
        #expect(found.gaps(readme: "send it, says parley").count == 1)
    }

    @Test(
        "a command without a name, help or an example is found",
        arguments: [
            ("CommandConfiguration(abstract: \"a\", discussion: \"Example: x\")", 1),
            ("CommandConfiguration(commandName: \"send\", discussion: \"Example: x\")", 1),
            ("CommandConfiguration(commandName: \"send\", abstract: \"a\")", 1),
            ("CommandConfiguration()", 3),
        ])
    func gaps(text: String, count: Int) {
        #expect(Self.declarations(text).flatMap { $0.gaps(readme: "`send`") }.count == count)
    }

    @Test("every command has help with an example and stands in README.md")
    func all() throws {
        let files = SourceTree.swift.filter { $0.path.hasPrefix("Sources/Command/") }
        // Nothing to say before the program exists.
        if files.isEmpty { return }
        let readme = try #require(SourceTree.read("README.md"), "README.md is missing")
        let commands = files.flatMap(CommandDeclaration.all)
        let found = commands.flatMap { $0.gaps(readme: readme) }
        #expect(commands.count > 10, "found only \(commands.compactMap(\.name))")
        #expect(found.isEmpty, "\(list(found))")
    }
}
