import ArgumentParser
import Foundation
import Synchronization
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("Arguments", .timeLimit(.minutes(3)))
struct ArgumentTests {
    static let long = String(repeating: "x", count: 40_000)

    @Test(
        "that are wrong are told in two lines, exit with 64, and open nothing",
        arguments: [
            ["fly"], ["send"], ["send", "home", ""], ["send", "home", long], ["send", long, "x"],
            ["send", "home", "x", "--lines"], ["edit", "one", "x"], ["edit", "0", "x"],
            ["edit", "-1", "x"], ["react", "1", long], ["react", "1", " "],
            ["forward", "one", "home"], ["forward", "1", ""],
            ["star", "one"], ["pin", "one"], ["pins", ""], ["mentions", "--limit", "0"],
            ["thread", "one"], ["profile", "ben", "--status", "x"], ["profile", ""],
            ["group", "describe", "trip"], ["group", "describe", "trip", "x", "--remove"],
            ["thread", "1", "--limit", "0"], ["threads", ""], ["threads", "--limit", "0"],
            ["send", "home", "--lines", "--thread", "1"],
            ["mentions", "--from", ""], ["archive", ""], ["unarchive", " "],
            ["unread", ""], ["draft", "home", "x", "--send"],
            ["draft", "home", "--send", "--remove"],
            ["mute", "home", "--for", "31d"], ["mute", "home", "--for", "8h", "--off"],
            ["poll", "new", "home", "when?", "alone"], ["poll", "new", "home", "", "a", "b"],
            ["poll", "vote", "1"],
            ["poll", "vote", "1", "2", "--retract"], ["poll", "close", "one"],
            ["poll", "list", "--to-answer", "--all"],
            ["action", "new", "home", ""], ["action", "new", "home", "x", "--due", "2026-02-30"],
            ["action", "new", "home", "x", "--due", "tomorrow"], ["action", "edit", "1"],
            ["action", "edit", "one", "--title", "x"], ["action", "list", "--done", "--all"],
            ["note", "new", "home", ""], ["note", "new", "", "x"], ["note", "show", "one"],
            ["note", "rename", "1", " "], ["note", "restore", "1"],
            ["note", "history", "1", "--limit", "0"],
            ["decision", "propose", "home"], ["decision", "propose", "home", ""],
            ["decision", "propose", "home", "x", "--from", "1", "--from-poll", "2"],
            ["decision", "approve", "one"], ["decision", "supersede", "1"],
            ["decision", "list", "--state", "lost"], ["decision", "list", "--since", "tomorrow"],
            ["decision", "list", "--limit", "0"],
            ["remind", "--at", "2h"], ["remind", "x"], ["remind", "x", "--at", "tomorrow"],
            ["remind", "x", "--at", "24:00"], ["remind", "x", "--at", "2026-02-30 09:00"],
            ["remind", "--message", "1", "--item", "2", "--at", "2h"], ["reminders", "done", ""],
            ["stars", "--limit", "0"],
            ["stars", "--from", "-1"],
            ["read", "home", "--limit", "0"],
            ["read", "home", "--limit", "201"], ["read", "home", "--before", ""],
            ["invite", "--expires", "0h"], ["invite", "--expires", "31d"],
            ["invite", "--expires", "99999999999999999999d"], ["invite", "--uses", "0"],
            ["invite", "--uses", "101"], ["invite", "revoke", ""], ["contact", "request", ""],
            ["contact", "accept", " "], ["contact", "verify", "ben", "--equal", "--code", "x"],
            ["accept", ""], ["group", "create", ""],
            ["group", "create", "a", long], ["group", "add", "trip", ""],
            ["group", "role", "trip", "ben", "king"], ["group", "join", ""],
            ["group", "invite", "trip", "--role", "admin"],
            ["group", "settings", "trip", "--rotation", "0"],
            ["group", "rename", "home", " "], ["why", " "], ["import", "irc", "--into", "x"],
            ["import", "irc", "log.txt", "--into", "x"], ["run", "--listen", "nowhere"],
            ["run", "--listen", "a:70000"], ["init", "--name", long], ["status", "--home", ""],
        ])
    func misuse(arguments: [String]) async {
        let terminal = Terminal()
        let result = await terminal.run(arguments)
        let lines = result.talk.split(separator: "\n")
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(lines.first?.hasPrefix("parley: error: ") == true)
        #expect(lines.last?.hasPrefix("parley: hint: ") == true)
        #expect(terminal.openCount.withLock { $0 } == 0)
    }

    /// The parser takes such a number for an option, and called the value missing.
    @Test(
        "a number below zero is told as what is wrong, not as one that is missing",
        arguments: [
            (["read", "home", "--limit", "-1"], "--limit must be from 1 to 200"),
            (["read", "home", "--limit", "-1", "--json"], "--limit must be from 1 to 200"),
            (["calls", "list", "--limit", "-1"], "--limit must be from 0 to 1000"),
            (["note", "history", "1", "--limit", "-1"], "--limit must be from 1 to 1000"),
            (["invite", "--uses", "-2"], "--uses"),
            (["read", "home", "--limit", "-many"], "Missing value"),
            (["read", "home", "--limit"], "Missing value"),
        ])
    func belowZero(arguments: [String], reason: String) async {
        let result = await Terminal().run(arguments)
        #expect(result.status == 64 && result.talk.contains(reason), "\(result.talk)")
        #expect(result.talk.contains("Missing") == (reason == "Missing value"), "\(result.talk)")
    }

    @Test("a word that is no command is told as that, with the one that it resembles")
    func unknownCommand() async {
        #expect(
            await Terminal().run("sned", "ben", "hello").talk == """
                parley: error: There is no command “sned”.
                parley: hint: Was it `parley send`?

                """)
        #expect(
            await Terminal().run("telephone", "ben").talk == """
                parley: error: There is no command “telephone”.
                parley: hint: `parley --help` lists them all.

                """)
        #expect(
            await Terminal().run("help", "group", "creat").talk == """
                parley: error: parley group has no command “creat”.
                parley: hint: Was it `parley group create`?

                """)
        #expect(
            await Terminal().run("help", "contact", "nosuch").talk == """
                parley: error: parley contact has no command “nosuch”.
                parley: hint: `parley contact --help` lists them all.

                """)
    }

    @Test("help offers the roles that a link into a group can give, and no other")
    func guestRoles() async {
        let help = await Terminal().run("help", "group", "invite").output
        #expect(help.contains("reader") && help.contains("member"))
        #expect(!help.contains("owner"), "\(help)")
    }

    @Test("help of what the help shows as a command is that command's help")
    func helped() async {
        for word in ["search", "relay", "append"] {
            let help = await Terminal().run("help", "bench", word)
            #expect(help.status == 0 && help.talk.isEmpty, "\(help.talk)")
            #expect(help.output == (await Terminal().run("bench", word, "--help")).output)
            #expect(help.output.contains("--texts"))
        }
        #expect(await Terminal().run("help", "bench", "nonsense").status == 64)
    }

    @Test("a home that is asked for a conversation it does not have says what to do")
    func unknown() async {
        let result = await Terminal().run("read", "nowhere")
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(
            result.talk == """
                parley: error: there is no conversation "nowhere"
                parley: hint: parley conversations lists them

                """)
    }

    @Test("help goes to standard output and succeeds")
    func help() async {
        let result = await Terminal().run("send", "--help")
        #expect(result.status == 0)
        #expect(result.talk.isEmpty)
        #expect(result.output.contains("Example:"))
    }

    @Test("help is wrapped to the screen alone: no paragraph has lines of its own")
    func paragraphs() {
        func look(_ command: any ParsableCommand.Type) {
            let lines = command.configuration.discussion.split(
                separator: "\n", omittingEmptySubsequences: false)
            for (line, next) in zip(lines, lines.dropFirst()) {
                let isParagraph = !line.isEmpty && !line.hasPrefix(" ")
                let goesOn = !next.isEmpty && !next.hasPrefix(" ")
                #expect(
                    !isParagraph || !goesOn || line.hasSuffix(":"), "\(command): \(line)")
            }
            for part in command.configuration.subcommands { look(part) }
            for part in command.configuration.groupedSubcommands.flatMap(\.subcommands) {
                look(part)
            }
        }
        look(ParleyCommand.self)
    }

    @Test("every command that shows something has --json, and it is one value")
    func json() async throws {
        let terminal = Terminal()
        _ = await terminal.run("send", "home", "hi")
        let reading = [
            ["status"], ["contacts"], ["conversations"], ["read", "home"],
            ["contact", "verify", "ben"], ["contact", "card"], ["contact", "request", "x"],
            ["contact", "accept", "ben"], ["contact", "decline", "ben"],
            ["contact", "block", "ben"], ["contact", "unblock", "ben"], ["invite", "list"],
            ["digest"], ["doctor"], ["invite"], ["accept", "x"], ["group", "create", "n"],
            ["group", "show", "trip"], ["group", "join"], ["why", "1"],
            ["send", "home", "x"], ["reply", "home", "1", "x"], ["edit", "1", "x"],
            ["react", "1", "x"], ["forward", "1", "home"], ["star", "1"],
            ["stars"], ["pin", "1"], ["pins", "home"], ["mentions"], ["thread", "1"], ["threads"],
            ["profile"], ["profile", "--status", "x"],
            ["poll", "new", "home", "when?", "a", "b"], ["poll", "vote", "1", "2"],
            ["poll", "show", "1"], ["poll", "list"], ["poll", "close", "1"],
            ["poll", "delete", "1"],
            ["action", "new", "home", "x"], ["action", "edit", "1", "--title", "y"],
            ["action", "done", "1"], ["action", "reopen", "1"], ["action", "show", "1"],
            ["action", "list"], ["action", "delete", "1"],
            ["note", "new", "home", "x", "y"], ["note", "write", "1", "z"], ["note", "show", "1"],
            ["note", "list"], ["note", "rename", "1", "w"], ["note", "history", "1"],
            ["note", "restore", "1", "101"], ["note", "delete", "1"], ["draft", "home", "x"],
            ["remind", "x", "--at", "2h"], ["reminders"], ["reminders", "done", "00000001"],
            ["reminders", "here", "00000001"], ["reminders", "delete", "00000001"],
            ["decision", "propose", "home", "x"], ["decision", "approve", "1"],
            ["decision", "accept", "1"], ["decision", "reject", "1"], ["decision", "reopen", "1"],
            ["decision", "propose", "home", "y"], ["decision", "supersede", "1", "2"],
            ["decision", "show", "1"], ["decision", "list"], ["decision", "delete", "1"],
            ["draft", "home", "--send"], ["delete", "1"],
        ]
        for arguments in reading {
            let result = await terminal.run(arguments + ["--json"])
            let value = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
            #expect(value is [String: Any] || value is [Any], "\(arguments)")
            #expect(result.output.split(separator: "\n").count == 1, "\(arguments)")
        }
    }

    @Test("that every command takes may stand in front of it, and behind it means the same")
    func options() async {
        let words = { CommandWords($0).all }
        #expect(
            words(["--home", "h", "--json", "device", "list", "x"])
                == ["device", "list", "--home", "h", "--json", "x"])
        #expect(
            words(["--home=h", "-q", "send", "--", "--json"])
                == ["send", "--home=h", "-q", "--", "--json"])
        #expect(words(["--json"]) == ["--json"])
        #expect(words(["--home"]) == ["--home"])
        #expect(words(["--json", "fly", "x"]) == ["--json", "fly", "x"])
        #expect(words(["send", "home", "--json"]) == ["send", "home", "--json"])
        let before = await Terminal().run("--json", "status")
        let behind = await Terminal().run("status", "--json")
        #expect(before.status == 0 && before.output == behind.output)
    }

    @Test(
        "name the home: option, PARLEY_HOME, XDG_DATA_HOME, then the usual place",
        arguments: [
            (nil, [:], "/home/ada/.local/share/parley"),
            (nil, ["XDG_DATA_HOME": "/data"], "/data/parley"),
            (nil, ["XDG_DATA_HOME": "data"], "/home/ada/.local/share/parley"),
            (nil, ["XDG_DATA_HOME": "/data", "PARLEY_HOME": "/p"], "/p"),
            (nil, ["PARLEY_HOME": ""], "/home/ada/.local/share/parley"),
            ("/h/../i/", ["PARLEY_HOME": "/p"], "/i"),
        ] as [(String?, [String: String], String)])
    func home(option: String?, variables: [String: String], path: String) {
        let environment = variables.merging(["HOME": "/home/ada"]) { given, _ in given }
        #expect(HomeOptions.path(home: option, environment: environment) == path)
    }

    @Test("a passphrase is the first line of its file")
    func passphrase() throws {
        let home = try TemporaryHome()
        let file = home.path + "/p"
        try Data("open sesame\r\nrest".utf8).write(to: URL(fileURLWithPath: file))
        #expect(try Passphrase.read(file: file) == Array("open sesame".utf8))
        try Data("\n".utf8).write(to: URL(fileURLWithPath: file))
        #expect(throws: (any Error).self) { try Passphrase.read(file: file) }
        #expect(throws: (any Error).self) { try Passphrase.read(file: home.path + "/none") }
    }

    @Test("many messages are handed over in bounded pieces, in order")
    func batches() {
        let short = (0..<600).map { "\($0)" }
        #expect(Composition.batches(short).map(\.count) == [256, 256, 88])
        #expect(Composition.batches(short).flatMap { $0 } == short)
        let big = Array(repeating: String(repeating: "x", count: 32_768), count: 70)
        #expect(Composition.batches(big).map(\.count) == [32, 32, 6])
        #expect(Composition.batches([]).isEmpty)
    }
}

extension Terminal {
    func run(_ arguments: [String]) async -> Result { await run(list: arguments) }
}
