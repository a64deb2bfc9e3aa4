import Parley
import ParleyLocalAPI
import Testing

/// Source: Protocol/03-operations.md, "The log of a group".
@Suite("The log of a group at the command line")
struct GroupLogProcessTests {
    @Test("shows who did what, in pages, and as JSON")
    func shown() async throws {
        let pair = try await ProcessPair()
        let (ann, ben) = (pair.ann, pair.ben)
        for words in [
            ["group", "describe", "log", "what we do"],
            ["group", "rules", "log", "--pin", "everybody"],
            ["conversations", "disappear", "log", "1d"],
            ["conversations", "disappear", "log", "--off"],
            ["group", "role", "log", "ben", "admin"],
        ] { #expect(try await ann.run(words).status == 0, "\(words)") }
        try await eventually("ben has it", on: [ann, ben]) {
            try await ben.run(["group", "log", "log"]).output.contains("made ben admin")
        }
        #expect(try await ben.run(["group", "rename", "log", "diary"]).status == 0)
        try await eventually("ann has it", on: [ann, ben]) {
            try await ann.run(["group", "log", "diary"]).output.contains("diary")
        }
        let told = try await ann.run(["group", "log", "diary"]).output
        for line in [
            "you created it with ben", "you named it “log”", "you described it: what we do",
            "you set: every member may pin messages",
            "you let new messages disappear 1 day after they were read",
            "you made ben admin", "ben named it “diary”",
        ] { #expect(told.contains(line), "\(line) in \(told)") }
        #expect(
            told.split(separator: "\n").last?.contains("ben named it “diary”") == true, "\(told)")
        let client = try #require(await ben.client)
        let page = try await client.perform(GetGroupLog(conversation: "diary", limit: 1))
        #expect(page.entries.map(\.change) == ["name"] && page.entries[0].isOwn)
        let before = try #require(page.before)
        let next = try await ben.run([
            "group", "log", "diary", "--limit", "1", "--before", before, "--json",
        ])
        #expect(next.output.contains("\"change\":\"role\""), "\(next)")
        let wrong = try await ben.run(["group", "log", "diary", "--before", "nonsense"])
        #expect(wrong.status == 1 && wrong.output.contains("is not a change"), "\(wrong)")
        #expect(try await ben.run(["group", "log", "ann"]).status == 1)
        #expect(try await ben.run(["group", "log", "diary", "--limit", "0"]).status == 64)
        _ = try await pair.ann.stop()
        _ = try await pair.ben.stop()
    }
}
