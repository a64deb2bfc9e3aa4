public import Parley
internal import ParleyWire

/// Reads an IRC log, line by line: `[HH:MM] <nick> text` is a message, `[HH:MM]  * nick text` an
/// action, `===` begins a line of the server.
///
/// The log knows the day of its first line and no time zone; its times are taken as UTC. A step
/// of more than twelve hours back begins the next day; smaller ones are clocks being set, and
/// stay. It is a value that is fed lines: no file, no clock.
public struct IRCLog: Sendable {
    /// What became of a line.
    public enum Outcome: Equatable, Sendable {
        /// It is a message.
        case message(ImportMessages.Row)
        /// It is none.
        case skipped(SkipReason)
    }

    /// A step back by more than this is midnight. In minutes.
    static let midnightStep = 12 * 60

    /// Lines that were no UTF-8 and were read as Latin-1, in which every byte means something.
    public private(set) var repairedLineCount = 0
    /// Lines read.
    public private(set) var lineCount = 0

    private var dayStart: UInt64
    private var lastMinute: Int?

    /// A log that begins on this day.
    public init(day: CalendarDay) { dayStart = day.start }

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
        return .message(
            ImportMessages.Row(
                line: lineCount, author: String(author), time: time, text: String(words),
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
        if let lastMinute, lastMinute - minute > Self.midnightStep {
            dayStart += CalendarDay.millisecondCount
        }
        lastMinute = minute
        return dayStart + UInt64(minute) * 60_000
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
