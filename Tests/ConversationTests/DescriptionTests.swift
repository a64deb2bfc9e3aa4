import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Kinds".
@Suite("What a group is for")
struct DescriptionTests {
    private let cast: Cast

    init() throws { cast = try Cast(seed: 76) }

    private func text(_ replica: Replica) throws -> String? {
        try Overview.description(of: replica.space.number, in: replica.store)
    }

    private func describe(_ text: String, by writer: Writer) throws {
        let previous = try Overview.descriptionReferences(
            of: writer.replica.space.number, in: writer.replica.store)
        try writer.write(GroupDescription(text: text).draft(replacing: previous))
    }

    @Test("Attack 189: admins say it, members do not, and the longest text is the limit")
    func whoMay() throws {
        try describe("rides", by: cast.cara)
        try describe("food", by: cast.ann)
        try cast.meet()
        for writer in cast.all { #expect(try text(writer.replica) == "food") }
        let limit = Limits.groupDescriptionByteCountMax
        try describe(String(repeating: "a", count: limit + 1), by: cast.ann)
        try cast.meet()
        #expect(try text(cast.dan.replica) == "food")
        try describe(String(repeating: "a", count: limit), by: cast.ann)
        try cast.meet()
        #expect(try text(cast.dan.replica)?.count == limit)
    }

    @Test(
        "a text replaces what its author saw, of two at once the last stands, and an empty one ends it"
    )
    func register() throws {
        try describe("food", by: cast.ann)
        try cast.meet()
        let before = try cast.dan.replica.digest()
        // Ben's clock is far behind: he saw what he replaces all the same.
        cast.ben.wallClock = 1_000
        try describe("rides", by: cast.ben)
        try cast.meet()
        #expect(try text(cast.dan.replica) == "rides")
        #expect(try cast.dan.replica.digest() != before)
        try describe("one", by: cast.ann)
        cast.ben.wallClock = cast.ann.wallClock + 60_000
        try describe("two", by: cast.ben)
        try cast.meet()
        for writer in cast.all { #expect(try text(writer.replica) == "two") }
        try describe("", by: cast.ann)
        try cast.meet()
        for writer in cast.all {
            #expect(try text(writer.replica) == nil)
            #expect(try writer.replica.digest() == cast.ann.replica.digest())
        }
    }
}
