import Foundation
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("Configuration")
struct ConfigTests {
    private func configuration(
        _ text: String, _ environment: [String: String] = [:]
    ) throws -> Configuration {
        let folder = try TemporaryHome()
        let file = folder.path + "/config.toml"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return Configuration(path: file, environment: environment)
    }

    /// Of each fault its line, its column and its words.
    private func faults(_ text: String) throws -> [String] {
        try configuration(text).faults.map {
            "\($0.place?.line ?? 0):\($0.place?.column ?? 0) \($0.what)"
        }
    }

    @Test("the usual holds where nothing is set, above it the file, above that the variable")
    func order() throws {
        let key = try #require(ConfigKey.named("log.level"))
        #expect(try configuration("").value(of: key) == .string("notice"))
        let set = try configuration("[log]\nlevel = \"debug\"\n")
        #expect(set.value(of: key) == .string("debug"))
        #expect(set.source(of: key) == .file(.init(line: 2, column: 1)))
        let above = try configuration("log.level = 'debug'", ["PARLEY_LOG_LEVEL": "error"])
        #expect(above.value(of: key) == .string("error"))
        #expect(above.source(of: key) == .variable)
    }

    @Test("everything that is wrong is told with its place, and what was meant")
    func wrong() throws {
        #expect(
            try faults("[notify]\ncomand = []\n") == [
                "2:1 there is no key notify.comand; was it notify.command?"
            ])
        #expect(
            try faults("[notfy]\n") == ["1:1 there is no table notfy; was it notify?"])
        #expect(
            try faults("[log]\nlevel = \"debgu\"\n") == [
                "2:9 log.level: “debgu” is none of error, warning, notice, info, debug; was it debug?"
            ])
        #expect(
            try faults("notify.per-minute = 0\nrun.lan = \"yes\"") == [
                "1:21 notify.per-minute: it is from 1 to 600",
                "2:11 run.lan: it takes true or false",
            ])
        #expect(
            try faults("run.listen = [\"nowhere\"]") == [
                "1:14 run.listen: “nowhere” is not an address: it needs HOST:PORT"
            ])
        #expect(
            try faults("notify.command = [\"ring\"]") == [
                "1:18 notify.command: the program needs an absolute path"
            ])
        #expect(try faults("notify.command = [1]").count == 1)
        #expect(try faults("profile = \"../x\"").count == 1)
        #expect(try faults("a = [") == ["1:6 a list ends with ]"])
    }

    @Test(
        "a file that is too long, no text, or a folder is refused; one that was named has to be there"
    )
    func files() throws {
        #expect(try configuration(String(repeating: "#", count: 70_000)).faults.count == 1)
        let folder = try TemporaryHome()
        let file = folder.path + "/x"
        try Data([0xFF, 0xFE]).write(to: URL(fileURLWithPath: file))
        #expect(Configuration(path: file, environment: [:]).faults.count == 1)
        #expect(Configuration(path: folder.path, environment: [:]).faults.count == 1)
        #expect(Configuration(path: file + "y", environment: [:]).faults.isEmpty)
        #expect(Configuration(path: file + "y", isNamed: true, environment: [:]).faults.count == 1)
    }

    @Test(
        "variables are typed as in a shell",
        arguments: [
            ("run.lan", "off", ConfigValue.boolean(false)), ("run.lan", "1", .boolean(true)),
            ("notify.per-minute", "7", .integer(7)),
            ("run.listen", "*:1 [::]:2", .strings(["*:1", "[::]:2"])),
            ("notify.command", "[\"/a b\", 'c']", .strings(["/a b", "c"])),
            ("notify.quiet-hours", "22:00-07:00", .string("22:00-07:00")),
        ])
    func variables(name: String, text: String, value: ConfigValue) throws {
        let key = try #require(ConfigKey.named(name))
        let read = try configuration("", [key.variable: text])
        #expect(read.faults.isEmpty, "\(read.faults)")
        #expect(read.value(of: key) == value)
    }

    @Test("every key takes what is usual, is named once, and says what it is for")
    func table() {
        for key in ConfigKey.all {
            #expect(key.fault(of: key.fallback) == nil, "\(key.name)")
            #expect(key.meaning.hasSuffix("."), "\(key.name)")
            #expect(key.name.wholeMatch(of: /[a-z-]+(\.[a-z-]+)?/) != nil, "\(key.name)")
        }
        #expect(Set(ConfigKey.all.map(\.name)).count == ConfigKey.all.count)
        #expect(Set(ConfigKey.all.map(\.variable)).count == ConfigKey.all.count)
    }

    @Test("setting a key leaves everything else as it was written")
    func setting() throws {
        let old = "# mine\nprofile = \"a\" # why\n\n[log]\n  level = 'debug'\t# loud\n[notify]\n"
        func set(_ name: String, _ value: ConfigValue?) throws -> String {
            try ConfigFile.text(old, with: name, set: value)
        }
        #expect(
            try set("log.level", .string("info"))
                == old.replacing("'debug'", with: "\"info\""))
        #expect(try set("log.level", nil) == old.replacing("  level = 'debug'\t# loud\n", with: ""))
        #expect(
            try set("notify.desktop", .boolean(false))
                == old.replacing("[notify]\n", with: "[notify]\ndesktop = false\n"))
        #expect(try set("run.lan", .boolean(false)) == old + "\n[run]\nlan = false\n")
        #expect(
            try ConfigFile.text("[notify]", with: "notify.desktop", set: .boolean(true))
                == "[notify]\ndesktop = true\n")
        #expect(
            try ConfigFile.text("log.level = 'info'", with: "profile", set: .string("w"))
                == "profile = \"w\"\nlog.level = 'info'")
        #expect(try ConfigFile.text("", with: "run.lan", set: nil) == "")
        #expect(throws: TOMLDocument.Fault.self) {
            _ = try ConfigFile.text("log = { level = 'info' }", with: "log.level", set: nil)
        }
    }

    @Test("a value that is set is read back, whatever the file holds")
    func readBack() throws {
        for text in [
            "", "\n\n", "#", "[log]", "[log]\n#x", "run.lan = true", "log.level = 'info'\n[run]",
        ] {
            for key in ConfigKey.all where key.kind != .home {
                let new = try ConfigFile.text(text, with: key.name, set: key.fallback)
                let read = try configuration(new)
                #expect(read.faults.isEmpty, "\(new): \(read.faults)")
                #expect(read.value(of: key) == key.fallback)
            }
        }
    }
}
