import Parley
import Testing

@testable import ParleyImporting

@Suite("An IRC log")
struct IRCLogTests {
    static let midnight: UInt64 = 12_777 * 86_400_000

    static func read(_ lines: [String]) throws -> [IRCLog.Outcome] {
        var log = IRCLog(day: try #require(CalendarDay("2004-12-25")))
        return lines.map { log.read(Array($0.utf8)[...]) }
    }

    static func minutes(_ lines: [String]) throws -> [Int] {
        try read(lines).compactMap {
            guard case .message(let row) = $0 else { return nil }
            return (Int(row.time) - Int(midnight)) / 60_000
        }
    }

    @Test("has messages and actions, with their spaces")
    func messages() throws {
        let found = try Self.read([
            "[09:14] <crimsun> a: I'm  afraid ", "[13:56]  * genii sips a coffee",
            "[13:57] * genii sips", "[13:58] <a> <b> c",
        ])
        func row(
            _ line: Int, _ author: String, _ minute: UInt64, _ text: String, action: Bool = false
        ) -> IRCLog.Outcome {
            .message(
                .init(
                    line: line, author: author, time: Self.midnight + minute * 60_000, text: text,
                    isAction: action))
        }
        #expect(
            found == [
                row(1, "crimsun", 554, "a: I'm  afraid "),
                row(2, "genii", 836, "sips a coffee", action: true),
                row(3, "genii", 837, "sips", action: true), row(4, "a", 838, "<b> c"),
            ])
    }

    @Test(
        "says why a line is no message",
        arguments: [
            ("=== a [~a@example.com]  has joined #ubuntu", SkipReason.joined),
            ("=== a [~a@example.com]  has left #Ubuntu []", .left),
            ("=== a was kicked off #ubuntu by b (b)", .left),
            ("=== a is now known as b", .renamed),
            ("=== mode/#ubuntu [+o a] by b", .channel), ("=== Topic for #ubuntu: x", .channel),
            ("=== a sighs", .server), ("", .blank), (" \t", .blank),
            ("[09:43] <a>", .emptyText), ("[09:43] <a> ", .emptyText), ("[09:43]  * a", .emptyText),
            ("[24:00] <a> b", .badTime), ("[09:60] <a> b", .badTime),
            ("[9:43] <a> b", .unknown), ("[-1:43] <a> b", .unknown), ("[09:43]<a> b", .unknown),
            ("[09:43] -a:#ubuntu- b", .unknown), ("[09:43] <> b", .unknown), ("<a> b", .unknown),
            ("[09:43] <a", .unknown), ("[09:43", .unknown), ("[09:43] ", .unknown),
        ])
    func skipped(line: String, reason: SkipReason) throws {
        #expect(try Self.read([line]) == [.skipped(reason)])
    }

    @Test("skips, and never cuts, what no message may hold")
    func tooLong() throws {
        let longest = String(repeating: "x", count: 32 * 1024)
        #expect(try Self.minutes(["[00:01] <a> \(longest)"]) == [1])
        let name = String(repeating: "n", count: 257)
        #expect(
            try Self.read(["[00:01] <a> \(longest)x", "[00:01] <\(name)> x"])
                == [.skipped(.tooLong), .skipped(.tooLong)])
    }

    @Test("goes on with the next day after midnight, and does not go back where a clock does")
    func midnightPasses() throws {
        let lines = ["23:58", "00:01", "00:00", "12:00", "23:59", "00:00"].map { "[\($0)] <a> b" }
        #expect(
            try Self.minutes(lines) == [1438, 1441, 1441, 2160, 2879, 2880])
    }

    @Test(
        "has a clock of twelve hours where that goes round, and no hour after the twelfth",
        arguments: [
            (["11:59", "00:00", "00:13"], [719, 720, 733]),
            (["11:55", "00:05", "11:50", "00:01"], [715, 725, 1430, 1441]),
            (["12:59", "01:00"], [779, 780]),
            (["11:59", "00:00", "13:00"], [719, 719, 780]),
            (["10:00", "09:59", "10:01"], [600, 600, 601]),
        ])
    func halfDay(clocks: [String], minutes: [Int]) throws {
        let lines = clocks.map { Array("[\($0)] <a> b".utf8)[...] }
        var log = IRCLog(
            day: try #require(CalendarDay("2004-12-25")), clock: IRCLog.clock(of: lines))
        let read = lines.compactMap { line -> Int? in
            guard case .message(let row) = log.read(line) else { return nil }
            return (Int(row.time) - Int(Self.midnight)) / 60_000
        }
        #expect(read == minutes)
    }

    @Test("reads stray Latin-1 as such, loses no byte, and counts it")
    func latin1() throws {
        var log = IRCLog(day: try #require(CalendarDay("2004-12-25")))
        let dirty = Array("[09:14] <a> caf".utf8) + [0xE9, 0x20, 0xFF]
        guard case .message(let row) = log.read(dirty[...]) else {
            Issue.record("no message")
            return
        }
        #expect(row.text == "café ÿ")
        #expect(log.repairedLineCount == 1)
        guard case .message(let clean) = log.read(Array("[09:14] <a> café".utf8)[...]) else {
            Issue.record("no message")
            return
        }
        #expect(clean.text == "café")
        #expect(log.repairedLineCount == 1)
    }

    @Test("takes any bytes without stopping the program")
    func anything() throws {
        var log = IRCLog(day: try #require(CalendarDay("2004-12-25")))
        let good = Array("[09:14] <a> caf\u{E9}\u{301} \u{1F469}\u{200D}\u{1F692}".utf8)
        for place in good.indices {
            for byte in [UInt8(0), 0x20, 0x3E, 0x5B, 0x7F, 0x80, 0xC3, 0xF0, 0xFF] {
                var bad = good
                bad[place] = byte
                _ = log.read(bad[...])
                _ = log.read(bad[..<place])
            }
        }
        #expect(log.lineCount == good.count * 18)
    }
}
