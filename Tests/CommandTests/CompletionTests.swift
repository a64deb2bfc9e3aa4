import ArgumentParser
import Foundation
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("Completion")
struct CompletionTests {
    private func offer(
        _ line: String, names: [NameKind: [String]] = [:]
    ) async throws -> Completer.Offer {
        try await Completer(line: TypedLine("parley " + line)) { kind in
            (names[kind] ?? []).map { Completer.Candidate(word: $0) }
        }.offer()
    }

    private func words(_ line: String, names: [NameKind: [String]] = [:]) async throws -> [String] {
        guard case .words(let candidates) = try await offer(line, names: names) else { return [] }
        return candidates.map(\.word)
    }

    @Test("commands, those below them, and their help")
    func commands() async throws {
        let all = try await words("")
        #expect(all.contains("send") && all.contains("help") && all.contains("group"))
        #expect(!all.contains("bench-peer"))
        #expect(try await words("sen") == ["send"])
        #expect(try await words("group cre") == ["create"])
        #expect(try await words("help group cre") == ["create"])
        #expect(try await words("nosuch ").isEmpty)
        #expect(try await words("echo a; parley sen") == ["send"])
    }

    @Test("options that are not there yet, and their values")
    func options() async throws {
        #expect(try await words("status --js") == ["--json"])
        #expect(try await words("status --json --js").isEmpty)
        #expect(try await offer("status --home ") == .files(foldersOnly: true))
        #expect(try await offer("send x --file ") == .files(foldersOnly: false))
        #expect(try await words("group role trip ben ").contains("admin"))
        #expect(try await words("config get log.l") == ["log.level"])
        #expect(try await words("send -- --js", names: [.conversation: ["--jsx"]]) == ["--jsx"])
    }

    @Test("names where names stand, in whatever case they are begun")
    func names() async throws {
        let names: [NameKind: [String]] = [
            .conversation: ["My trip", "ben"], .person: ["ben", "Cleo"], .group: ["My trip"],
            .device: ["laptop"], .poll: ["7"],
        ]
        #expect(try await words("send my", names: names) == ["My trip"])
        #expect(try await words("send 'My t", names: names) == ["My trip"])
        #expect(try await words("send My\\ t", names: names) == ["My trip"])
        #expect(try await words("group add My\\ trip ", names: names) == ["ben", "Cleo"])
        #expect(try await words("group create x ben ", names: names) == ["ben", "Cleo"])
        #expect(try await words("device revoke l", names: names) == ["laptop"])
        #expect(try await words("poll show ", names: names) == ["7"])
        #expect(try await words("send ben ", names: names).allSatisfy { $0.hasPrefix("--") })
    }

    @Test(
        "a line is read as bash reads it, and nothing of it is evaluated",
        arguments: [
            ("parley a b", ["parley", "a"], "b", "b", TypedLine.Quotes.none),
            ("parley ", ["parley"], "", "", .none), ("", [], "", "", .none),
            ("parley 'a b", ["parley"], "a b", "'a b", .single),
            ("parley \"a\\\"b\\c", ["parley"], "a\"b\\c", "\"a\\\"b\\c", .double),
            ("x | parley a\\ b", ["parley"], "a b", "a\\ b", .none),
            ("parley a'b'\"c\"d", ["parley"], "ab" + "cd", "a'b'\"c\"d", .none),
            ("parley \\", ["parley"], "", "\\", .none),
            ("parley '' x", ["parley", ""], "x", "x", .none),
        ])
    func lines(
        line: String, words: [String], current: String, typed: String, quotes: TypedLine.Quotes
    ) {
        let read = TypedLine(line)
        #expect(read.words == words)
        #expect(read.current == current && read.typed == typed)
        #expect(read.quotes == quotes)
    }

    /// Names of values that nobody can offer, each looked at: a new one is put here or into the table of
    /// ``CompletionSource``.
    private static let free: Set<String> = [
        "2026-01-01", "2026-12-01", "2026-12-31", "GiB", "MiB", "address", "alias", "answers",
        "by-itself", "call", "card", "code", "count", "cursor", "edit", "emoji", "expires", "for",
        "from", "history", "host:port", "jobs", "json", "keep-days", "language", "limit", "lines",
        "link", "loss", "mebibytes", "message", "minutes", "models", "name", "new-home", "notes",
        "number", "options", "others", "pictures", "points", "port", "program", "question",
        "rotation", "runs", "seconds", "seed", "seed-base", "seeds", "sound", "speed", "status",
        "stranded", "suggestion", "text", "ticket", "time", "title", "uses", "value", "videos",
        "what",
        "word", "words", "zone",
    ]

    @Test("of every argument somebody has decided what its values are")
    func decided() throws {
        var found: Set<String> = []
        func look(_ form: CommandForm) {
            for argument in form.positionals + form.options where argument.kind != .flag {
                guard CompletionSource(argument) == .nothing else { continue }
                let name = argument.valueName ?? "?"
                if !Self.free.contains(name) { found.insert("\(form.commandName): \(name)") }
            }
            for part in form.shownSubcommands { look(part) }
        }
        look(try CommandForm.of(ParleyCommand.self))
        #expect(found.isEmpty, "\(found.sorted().joined(separator: "\n"))")
    }
}
