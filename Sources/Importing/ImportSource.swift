internal import ParleySealing
internal import ParleyWire

/// One file to bring in: its bytes, the day it begins on, and the name its content goes by.
///
/// It holds bytes and reads none, so that everything here can be tried without a disk.
public struct ImportSource: Equatable, Sendable {
    /// Why a file cannot be brought in.
    public enum Rejection: Error, Equatable, Sendable {
        /// The first ten characters of its name are no date, as `2004-12-25`.
        case nameWithoutDate(name: String)
    }

    /// The file's name, without folders.
    public let name: String
    /// The day of its first line.
    public let day: CalendarDay
    /// Everything that stands in it, without a byte order mark.
    public let bytes: [UInt8]
    /// A hash of all bytes in hex: what older versions named a file by, and still may have noted.
    /// Source: `Protocol/02-encoding.md`, "Hashes".
    public let fileHash: String
    /// What its clock counts.
    public let clock: IRCLog.Clock

    /// What some editors put before the first letter of a text; it is none.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The file with this name and content.
    public init(name: String, bytes: [UInt8]) throws(Rejection) {
        guard let day = CalendarDay(name.prefix(10)) else {
            throw .nameWithoutDate(name: name)
        }
        let hash: Digest = digest(.file, bytes)
        self.name = name
        self.day = day
        let text =
            bytes.starts(with: Self.byteOrderMark)
            ? Array(bytes.dropFirst(Self.byteOrderMark.count)) : bytes
        self.bytes = text
        fileHash = hash.description
        clock = IRCLog.clock(of: Self.lines(of: text))
    }

    /// How many lines it has. A last line without an end counts as one.
    public var lineCount: Int {
        let ends = bytes.count { $0 == 0x0A }
        return bytes.isEmpty || bytes.last == 0x0A ? ends : ends + 1
    }

    /// The line that may still be written on, for nothing ends it; 0 where there is none.
    var openLine: Int { bytes.isEmpty || bytes.last == 0x0A ? 0 : lineCount }

    /// Whether any line of it says something that becomes a message.
    public var hasMessages: Bool {
        var log = IRCLog(day: day, clock: clock)
        return lines.contains { if case .message = log.read($0) { true } else { false } }
    }

    /// After how many lines it begins again from its first, and does so to its end, as a file that was put
    /// together of two copies; nil where it does not, or of lines so few that people may have said them
    /// twice.
    public var repetition: Int? {
        let lines = Array(lines)
        // For each line: how many lines up to it are as the first are. Knuth, Morris and Pratt.
        var (alike, counts) = (0, [0])
        for line in lines.dropFirst() {
            while alike > 0, lines[alike] != line { alike = counts[alike - 1] }
            if lines[alike] == line { alike += 1 }
            counts.append(alike)
        }
        guard let last = counts.last, last * 2 >= lines.count else { return nil }
        let period = lines.count - last
        return period >= Self.repetitionLineCountMin ? period : nil
    }

    /// As many lines, with their times and names, nobody says twice in the same order.
    private static let repetitionLineCountMin = 5

    /// Its lines in order, without their ends.
    var lines: some Sequence<ArraySlice<UInt8>> { Self.lines(of: bytes) }

    private static func lines(of bytes: [UInt8]) -> AnyIterator<ArraySlice<UInt8>> {
        var rest = bytes[...]
        return AnyIterator {
            guard !rest.isEmpty else { return nil }
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            let line = rest[rest.startIndex..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            return line.last == 0x0D ? line.dropLast() : line
        }
    }

    /// The line without the bytes of a letter that the end of the file cut through.
    static func withoutCutLetter(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard String(validating: line, as: UTF8.self) == nil else { return line }
        // A letter has at most four bytes.
        for count in 1...3 where count < line.count {
            let part = line.dropLast(count)
            let isCut = line.suffix(count).first.map { $0 >= 0xC2 && $0 <= 0xF4 } ?? false
            if isCut, String(validating: part, as: UTF8.self) != nil { return part }
        }
        return line
    }

    /// In the order in which they were written: by day, then by name.
    public static func inDateOrder(_ sources: [ImportSource]) -> [ImportSource] {
        sources.sorted { ($0.day.start, $0.name) < ($1.day.start, $1.name) }
    }
}
