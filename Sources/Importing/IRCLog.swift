public import Parley
internal import ParleyWire

/// Reads an IRC log, line by line: `[HH:MM] <nick> text` is a message, `[HH:MM]  * nick text` an
/// action, `===` begins a line of the server.
///
/// The log knows the day of its first line and no time zone; its times are taken as UTC. A step
/// back by more than half of what its clock counts begins the next round of that clock; a smaller
/// one is a clock being set. Messages stand by their times, and a log is read from above: a line
/// whose time is before that of a line above gets that one's time. It is a value that is fed
/// lines: no file, no clock.
public struct IRCLog: Sendable {
    /// What became of a line.
    public enum Outcome: Equatable, Sendable {
        /// It is a message.
        case message(ImportMessages.Row)
        /// It is none.
        case skipped(SkipReason)
    }

    /// What the clock of a log counts before it begins again.
    public enum Clock: Int, Sendable {
        /// Twelve hours, without a word for which half of the day it is.
        case halfDay = 720
        /// A day.
        case day = 1440

        /// Minutes of a round.
        var minuteCount: Int { rawValue }
    }

    /// Messages whose time is before that of a line above, and which got that one's time.
    public private(set) var heldBackCount = 0
    /// Lines that were no UTF-8 and were read as Latin-1, in which every byte means something.
    public private(set) var repairedLineCount = 0
    /// Lines read.
    public private(set) var lineCount = 0

    private let clock: Clock
    private var roundStart: UInt64
    private var lastMinute: Int?
    private var lastTime: UInt64 = 0

    /// A log that begins on this day, and whose times are of such a clock.
    public init(day: CalendarDay, clock: Clock = .day) {
        self.clock = clock
        roundStart = day.start
    }

    /// The clock of these lines: one of twelve hours where none is later than 12:59, and the time goes
    /// back by more than half of that.
    static func clock(of lines: some Sequence<ArraySlice<UInt8>>) -> Clock {
        var lastMinute = 0
        var isRound = false
        for line in lines {
            // Times are ASCII, whatever stands behind them.
            let text = String(decoding: line.prefix(8), as: UTF8.self)[...]
            guard let (clock, _) = splitClock(text), let minute = minute(clock) else { continue }
            if minute >= 13 * 60 { return .day }
            isRound = isRound || lastMinute - minute > Clock.halfDay.minuteCount / 2
            lastMinute = minute
        }
        return isRound ? .halfDay : .day
    }

    /// Reads the next line, without its end.
    public mutating func read(_ line: ArraySlice<UInt8>) -> Outcome {
        lineCount += 1
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return .skipped(.blank) }
        let text = decode(line)
        if text.hasPrefix("===") { return .skipped(Self.serverReason(text)) }
        guard let (clock, rest) = Self.splitClock(text) else { return .skipped(.unknown) }
        guard let minute = Self.minute(clock) else { return .skipped(.badTime) }
        let time = time(at: minute)
        guard let (author, words, isAction) = Self.splitAuthor(rest) else {
            return .skipped(.unknown)
        }
        guard !words.allSatisfy(\.isWhitespace) else { return .skipped(.emptyText) }
        guard
            words.utf8.count <= Limits.messageByteCountMax,
            author.utf8.count <= Limits.nameByteCountMax
        else { return .skipped(.tooLong) }
        if time < lastTime { heldBackCount += 1 }
        lastTime = max(lastTime, time)
        return .message(
            ImportMessages.Row(
                line: lineCount, author: String(author), time: lastTime, text: String(words),
                isAction: isAction))
    }

    private mutating func decode(_ line: ArraySlice<UInt8>) -> Substring {
        if let text = String(validating: line, as: UTF8.self) { return text[...] }
        repairedLineCount += 1
        var text = String.UnicodeScalarView()
        for byte in line { text.append(Unicode.Scalar(byte)) }
        return String(text)[...]
    }

    private mutating func time(at minute: Int) -> UInt64 {
        if let lastMinute, lastMinute - minute > clock.minuteCount / 2 {
            roundStart += UInt64(clock.minuteCount) * 60_000
        }
        lastMinute = minute
        return roundStart + UInt64(minute) * 60_000
    }

    /// `[HH:MM] rest`.
    private static func splitClock(_ text: Substring) -> (Substring, Substring)? {
        let bytes = text.utf8
        guard bytes.first == UInt8(ascii: "["), bytes.count >= 8 else { return nil }
        let clockEnd = bytes.index(bytes.startIndex, offsetBy: 6)
        let restStart = bytes.index(clockEnd, offsetBy: 2)
        // On bytes: a letter may combine with the space before it, and still be a letter.
        guard bytes[clockEnd..<restStart].elementsEqual("] ".utf8) else { return nil }
        let clock = Substring(bytes[bytes.index(after: bytes.startIndex)..<clockEnd])
        let isClock = clock.utf8.enumerated().allSatisfy { index, byte in
            index == 2 ? byte == UInt8(ascii: ":") : (0x30...0x39).contains(byte)
        }
        return isClock ? (clock, Substring(bytes[restStart...])) : nil
    }

    private static func minute(_ clock: Substring) -> Int? {
        guard let hour = Int(clock.prefix(2)), let minute = Int(clock.suffix(2)) else { return nil }
        return hour < 24 && minute < 60 ? hour * 60 + minute : nil
    }

    /// `<nick> text`, or ` * nick text`.
    private static func splitAuthor(_ rest: Substring) -> (Substring, Substring, Bool)? {
        let bytes = rest.utf8
        let isAction: Bool
        let author: Substring.UTF8View
        var words: Substring.UTF8View
        if bytes.first == UInt8(ascii: "<") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            author = bytes[bytes.index(after: bytes.startIndex)..<end]
            words = bytes[bytes.index(after: end)...]
            isAction = false
        } else {
            let marked = bytes.drop { $0 == 0x20 }
            guard marked.starts(with: "* ".utf8) else { return nil }
            let named = marked.dropFirst(2)
            author = named.prefix { $0 != 0x20 }
            words = named[author.endIndex...]
            isAction = true
        }
        if words.first == 0x20 { words = words.dropFirst() }
        return author.isEmpty ? nil : (Substring(author), Substring(words), isAction)
    }

    private static func serverReason(_ text: Substring) -> SkipReason {
        let words = text.lowercased()
        if words.contains(" has joined ") { return .joined }
        if words.contains(" is now known as ") { return .renamed }
        let departures = [" has left ", " has quit ", " was kicked off "]
        if departures.contains(where: words.contains) { return .left }
        if words.hasPrefix("=== mode/") || words.contains("topic") { return .channel }
        return .server
    }
}
