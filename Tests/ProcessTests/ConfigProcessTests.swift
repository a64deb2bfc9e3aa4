import Foundation
import Parley
import Testing

/// What is set for a machine, and several homes on it, at the command line.
@Suite("Configuration and homes", .timeLimit(.minutes(5)))
struct ConfigProcessTests {
    /// A person with a home folder of their own.
    private struct Desk {
        let folder: TemporaryFolder
        init() throws { folder = try TemporaryFolder() }

        var config: String { folder.path + "/config/parley/config.toml" }

        func run(
            _ words: String..., environment: [String: String] = [:]
        ) async throws -> (status: Int32, output: String) {
            let own = [
                "HOME": folder.path, "XDG_DATA_HOME": folder.home("data"),
                "XDG_CONFIG_HOME": folder.home("config"),
            ]
            let program = try Program(words, environment: own.merging(environment) { $1 })
            return (try await program.ended(), program.output)
        }
    }

    @Test("a key is set, shown, checked and removed, and a command heeds what holds")
    func keys() async throws {
        let desk = try Desk()
        #expect(try await desk.run("config", "set", "log.level", "debug").status == 0)
        let mode = try FileManager.default.attributesOfItem(
            atPath: desk.folder.home("config/parley"))[.posixPermissions]
        #expect(mode as? Int == 0o700)
        #expect(try await desk.run("config", "get", "log.level").output == "\"debug\"\n")
        #expect(
            try await desk.run(
                "config", "get", "log.level", environment: ["PARLEY_LOG_LEVEL": "error"]
            ).output == "\"error\"\n")
        #expect(try await desk.run("config", "check").status == 0)
        let wrong = try await desk.run("config", "set", "log.level", "loud")
        #expect(wrong.status == 1 && wrong.output.contains("log.level takes"))
        #expect(
            try await desk.run("config", "get", "log.leve").output.contains("Was it log.level?"))
        #expect(
            try await desk.run("config", "set", "notify.command", "--", "/bin/echo", "--x y")
                .status == 0)
        #expect(
            try await desk.run("config", "get", "notify.command").output
                == "[\"/bin/echo\", \"--x y\"]\n")
        #expect(try await desk.run("config", "unset", "log.level").status == 0)
        #expect(try await desk.run("config", "get", "log.level").output == "\"notice\"\n")
        let listed = try await desk.run("config", "list", "--json").output
        let list = try #require(
            JSONSerialization.jsonObject(with: Data(listed.utf8)) as? [[String: Any]])
        #expect(list.count >= 13)
    }

    @Test("no command works by a configuration that does not say what its author thinks")
    func wrong() async throws {
        let desk = try Desk()
        #expect(try await desk.run("config", "set", "run.lan", "false").status == 0)
        try Data("[run]\nlan = false\nlsten = []\n".utf8).write(
            to: URL(fileURLWithPath: desk.config))
        let told = try await desk.run("status", "--json")
        #expect(told.status == 1)
        #expect(
            told.output.contains("config.toml:3:1: there is no key run.lsten; was it run.listen?"))
        #expect(try await desk.run("config", "check").status == 1)
        #expect(try await desk.run("status", "--help").status == 0)
        let other = try await desk.run("status", "--config", "/nowhere/x.toml")
        #expect(other.output.contains("/nowhere/x.toml: there is no such file"))
        let variable = try await desk.run(
            "config", "check", environment: ["PARLEY_RUN_LAN": "maybe"])
        #expect(variable.output.contains("PARLEY_RUN_LAN: it takes true or false"))
    }

    @Test("homes are made, listed, named and chosen, and --home goes on as before")
    func homes() async throws {
        let desk = try Desk()
        #expect(try await desk.run("homes").output.contains("no homes"))
        #expect(try await desk.run("init", "--name", "Ada").status == 0)
        let made = try await desk.run("homes", "new", "work", "--name", "Ada at work")
        #expect(made.status == 0 && made.output.contains("parley run --profile work"))
        #expect(try await desk.run("homes", "new", "../x").status == 64)
        #expect(try await desk.run("homes", "new", "work", "--name", "Ada").status == 1)
        func name(_ words: String..., environment: [String: String] = [:]) async throws -> String {
            let own = [
                "HOME": desk.folder.path, "XDG_DATA_HOME": desk.folder.home("data"),
                "XDG_CONFIG_HOME": desk.folder.home("config"),
            ]
            let program = try Program(
                ["name"] + words, environment: own.merging(environment) { $1 })
            #expect(try await program.ended() == 0, "\(program.output)")
            return program.output.trimmingCharacters(in: .newlines)
        }
        #expect(try await name().contains("Ada"))
        #expect(try await !name().contains("work"))
        #expect(try await name("--profile", "work").contains("Ada at work"))
        #expect(try await name(environment: ["PARLEY_PROFILE": "work"]).contains("at work"))
        #expect(
            try await !name("--profile", "default", environment: ["PARLEY_PROFILE": "work"])
                .contains("at work"))
        #expect(try await desk.run("homes", "use", "wrok").output.contains("Was it work?"))
        #expect(try await desk.run("homes", "use", "work").status == 0)
        #expect(try await name().contains("at work"))
        #expect(
            try await !name("--home", desk.folder.home("data/parley")).contains("at work"))
        #expect(
            try await !name(environment: ["PARLEY_HOME": desk.folder.home("data/parley")])
                .contains("at work"))
        let listed = try await desk.run("homes").output.split(separator: "\n").map(String.init)
        #expect(listed.count == 2)
        #expect(listed[0].contains("default") && listed[1].hasPrefix("*  work"))
        #expect(try await desk.run("homes", "use", "default").status == 0)
        #expect(try await !name().contains("at work"))
        #expect(try await desk.run("status", "--profile", "a", "--home", "b").status == 64)
    }

    @Test("quiet says nothing but data and errors")
    func quiet() async throws {
        let desk = try Desk()
        let made = try await desk.run("init", "--name", "Ada", "--quiet")
        #expect(made.status == 0)
        #expect(made.output.split(separator: "\n").count == 1, "the recovery code alone")
        let failed = try await desk.run("read", "nobody", "-q")
        #expect(failed.status == 1 && failed.output.hasPrefix("parley: error: "))
    }

    @Test(
        "the manual is clean, complete, and the same on any day",
        .enabled(if: Tool.exists("mandoc")))
    func manual() async throws {
        let folder = try TemporaryFolder()
        #expect(try await Program.run("man", folder.path).status == 0)
        let names = try await Program.run("man").output.split(separator: "\n").map(String.init)
        #expect(names.count > 60 && names.contains("parley.toml.5") && names.contains("parley.7"))
        let files = names.map { "\(folder.path)/man\($0.last ?? "1")/\($0)" }
        let lint = try Program([], by: ["mandoc", "-T", "lint"] + files)
        #expect(try await lint.ended() == 0, "\(lint.output)")
        #expect(lint.output.isEmpty, "\(lint.output)")
        let page = try Program([], by: ["mandoc", "-T", "utf8", folder.home("man5/parley.toml.5")])
        #expect(try await page.ended() == 0)
        for word in ["quiet-hours", "PARLEY_EVENT", "22:00-07:00"] {
            #expect(page.output.contains(word), "\(word)")
        }
    }
}
