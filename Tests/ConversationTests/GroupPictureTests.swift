import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Kinds".
@Suite("A picture of a group")
struct GroupPictureTests {
    private let cast: Cast

    init() throws { cast = try Cast(seed: 77) }

    private func picture(_ replica: Replica) throws -> [UInt8]? {
        try Overview.picture(of: replica.space.number, in: replica.store)
    }

    private func show(_ picture: [UInt8], by writer: Writer) throws {
        let previous = try Overview.pictureReferences(
            of: writer.replica.space.number, in: writer.replica.store)
        try writer.write(GroupPicture(content: picture).draft(replacing: previous))
    }

    @Test("Attack 247: admins choose it, members do not, and the largest is the limit")
    func whoMay() throws {
        try show([1], by: cast.cara)
        try show([2], by: cast.ann)
        try cast.meet()
        for writer in cast.all { #expect(try picture(writer.replica) == [2]) }
        let limit = Limits.inlineFileByteCountMax
        try show([UInt8](repeating: 3, count: limit + 1), by: cast.ann)
        try cast.meet()
        #expect(try picture(cast.dan.replica) == [2])
        try show([UInt8](repeating: 3, count: limit), by: cast.ann)
        try cast.meet()
        #expect(try picture(cast.dan.replica)?.count == limit)
    }

    @Test("a picture replaces what its author saw, of two the last stands, and none ends it")
    func register() throws {
        let none = try cast.dan.replica.digest()
        try show([1], by: cast.ann)
        try cast.meet()
        #expect(try cast.dan.replica.digest() != none)
        // Ben's clock is far behind: he saw what he replaces all the same.
        cast.ben.wallClock = 1_000
        try show([2], by: cast.ben)
        try cast.meet()
        #expect(try picture(cast.dan.replica) == [2])
        try show([3], by: cast.ann)
        cast.ben.wallClock = cast.ann.wallClock + 60_000
        try show([4], by: cast.ben)
        try cast.meet()
        for writer in cast.all { #expect(try picture(writer.replica) == [4]) }
        try show([], by: cast.ann)
        try cast.meet()
        for writer in cast.all {
            #expect(try picture(writer.replica) == nil)
            #expect(try writer.replica.digest() == cast.ann.replica.digest())
        }
    }
}
