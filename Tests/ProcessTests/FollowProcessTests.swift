import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// What `parley follow --json` wrote, line by line; a line that a kill cut off is none.
private struct Followed {
    private struct Line: Decodable {
        struct Message: Decodable { var text: String? }
        var kind: String?
        var cursor: String?
        var isNew: Bool?
        var missed: String?
        var message: Message?
    }
    private let lines: [Line]

    init(_ program: Program) throws {
        let output = program.output
        let whole = output.lastIndex(of: "\n").map { output[...$0] } ?? ""
        lines = try whole.split(separator: "\n").filter { $0.hasPrefix("{\"") }.map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }.filter { $0.kind != nil }
    }

    /// The texts of messages that appeared, in the order in which that was told.
    var texts: [String] { lines.filter { $0.isNew == true }.compactMap { $0.message?.text } }
    /// Where to go on.
    var cursor: String? { lines.last { $0.cursor != nil }?.cursor }
    var missed: [String] { lines.compactMap(\.missed) }
}

@Suite("parley follow", .serialized, .timeLimit(.minutes(6)))
struct FollowProcessTests {
    private func follow(_ node: NodeProcess, after cursor: String? = nil) throws -> Program {
        try Program(
            ["follow", "--json", "--home", node.home] + (cursor.map { ["--after", $0] } ?? []))
    }

    /// Once 44 of 300 were shown, and of 1,000 none.
    @Test("shows every one of a thousand lines that come at once, in their order, on both sides")
    func burst() async throws {
        let pair = try await ProcessPair()
        let (here, there) = (try follow(pair.ann), try follow(pair.ben))
        for program in [here, there] { try await program.says(#""kind":"start""#) }
        let texts = (1...1_000).map { "line \($0)." }
        let ann = try #require(await pair.ann.client)
        try await ann.perform(SendMessages(conversation: "log", texts: texts))
        for program in [here, there] {
            try await program.says("line 1000.")
            #expect(try Followed(program).texts == texts)
            #expect(try Followed(program).missed == [])
            program.signal(SIGKILL)
            try await program.ended()
        }
    }

    @Test("goes on after a cursor exactly, when it and the node were killed in the middle")
    func resumes() async throws {
        let pair = try await ProcessPair()
        let texts = (1...1_500).map { "line \($0)." }
        let ann = try #require(await pair.ann.client)
        let first = try follow(pair.ben)
        try await first.says(#""kind":"start""#)
        try await ann.perform(SendMessages(conversation: "log", texts: Array(texts[..<700])))
        try await first.says("line 150.")
        first.signal(SIGKILL)
        try await first.ended()
        try await pair.ben.kill()
        let told = try Followed(first)
        // What comes while neither of them is there is told as well.
        try await ann.perform(SendMessages(conversation: "log", texts: Array(texts[700..<900])))
        try await pair.ben.start()
        let second = try follow(pair.ben, after: told.cursor)
        try await ann.perform(SendMessages(conversation: "log", texts: Array(texts[900..<1_499])))
        try await second.says("line 1000.")
        try await pair.ben.kill()
        try await second.ended()
        let more = try Followed(second)
        // On a quick machine all that came before was told by now: something is left in any case.
        try await ann.perform(SendMessages(conversation: "log", texts: Array(texts[1_499...])))
        try await pair.ben.start()
        let third = try follow(pair.ben, after: more.cursor)
        try await third.says("line 1500.")
        let rest = try Followed(third)
        #expect(told.texts + more.texts + rest.texts == texts)
        #expect(told.missed + more.missed + rest.missed == [])
        third.signal(SIGKILL)
        try await third.ended()
    }

    @Test("says that a cursor is of another node, and refuses what is none")
    func foreignCursor() async throws {
        let pair = try await ProcessPair()
        let ann = try #require(await pair.ann.client)
        let ben = try #require(await pair.ben.client)
        let cursor = try await ann.perform(ReadChanges(limit: 1)).cursor
        let page = try await ben.perform(ReadChanges(after: cursor, limit: 10))
        #expect(page.changes.first?.missed == "foreign")
        #expect(page.changes.count > 1)
        let again = try await ben.perform(ReadChanges(after: page.changes.first?.cursor, limit: 10))
        #expect(again.changes.first == page.changes[1])
        let refused = try await Program.run(
            "follow", "--json", "--after", "nonsense", "--home", pair.ben.home)
        #expect(refused.status == 1)
        #expect(refused.output.contains("bad-cursor"))
    }

    @Test("after a cursor it says once that members changed, and where that can be read")
    func membersAfterCursor() async throws {
        let all = try await Neighbours()
        try await all.gather(in: "club", saying: "welcome")
        let ann = try await all.client(all.ann)
        let cursor = try await ann.perform(ReadChanges(limit: 1)).cursor
        for _ in 0..<2 {
            try await ann.perform(RemoveGroupMember(conversation: "club", person: "ben"))
            try await ann.perform(
                AddGroupMember(conversation: "club", person: "ben", role: .member))
        }
        try await ann.perform(SendMessages(conversation: "club", texts: ["here again"]))
        let follower = try Program(["follow", "--after", cursor, "--home", all.ann.home])
        try await follower.says("here again")
        let shown = follower.output
        #expect(shown.components(separatedBy: "who is in it changed").count == 2, "\(shown)")
        #expect(shown.contains("parley read "), "\(shown)")
        follower.signal(SIGKILL)
        try await follower.ended()
        try await all.end()
    }

    @Test("ends once nobody reads what it writes, though nothing happens")
    func readerGone() async throws {
        let pair = try await ProcessPair()
        let line = [
            "sh", "-c", "\"$0\" follow --json --home \"$1\" | head -n 1; echo over", Program.path,
            pair.ben.home,
        ]
        let shell = try Program([], by: line)
        #expect(try await shell.ended() == 0)
        #expect(shell.output.contains(#""kind":"start""#) && shell.output.contains("over"))
    }

    @Test("says so where what it writes does not arrive")
    func fullDevice() async throws {
        let pair = try await ProcessPair()
        let shell = try Program(
            [],
            by: [
                "sh", "-c", "exec \"$0\" follow --json --home \"$1\" > /dev/full", Program.path,
                pair.ben.home,
            ])
        #expect(try await shell.ended() == 1)
        #expect(shell.output.contains("output-failed"), "\(shell.output)")
    }
}
