/// Why a line of a log became no message.
public enum SkipReason: Int, CaseIterable, Comparable, Sendable {
    /// `=== name has joined`.
    case joined
    /// `=== name has left`, or quit, or was kicked.
    case left
    /// `=== name is now known as other`.
    case renamed
    /// `=== mode`, and topics.
    case channel
    /// Any other line that starts with `===`: words of the server or of a client.
    case server
    /// Nothing stands in the line.
    case blank
    /// A name without words.
    case emptyText
    /// A text or a name that is longer than a message of ours may be.
    case tooLong
    /// A time of day that does not exist.
    case badTime
    /// Nothing that this reader knows: notices and broken lines.
    case unknown

    /// Earlier cases are told first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// What the lines are, for a person: "10 joins".
    public var words: String {
        switch self {
        case .joined: "joins"
        case .left: "departures"
        case .renamed: "changes of name"
        case .channel: "modes and topics"
        case .server: "other === lines"
        case .blank: "blank lines"
        case .emptyText: "empty messages"
        case .tooLong: "messages or names that are too long"
        case .badTime: "lines with an impossible time"
        case .unknown: "lines in another format"
        }
    }
}

/// Lines that are counted, and the first of them named.
public struct NotedLines: Equatable, Sendable {
    /// How many lines are named.
    public static let exampleCountMax = 3

    /// How many.
    public private(set) var count = 0
    /// Where the first of them stand, as `2004-12-25.log:17`.
    public private(set) var examples: [String] = []

    /// No lines.
    public init() {}

    mutating func add(file: String, line: Int) {
        count += 1
        guard examples.count < Self.exampleCountMax else { return }
        examples.append("\(file):\(line)")
    }
}

/// Lines that became no message, counted by reason.
public struct SkippedLines: Equatable, Sendable {
    /// The lines of one reason.
    public struct Group: Equatable, Sendable {
        /// Why.
        public let reason: SkipReason
        fileprivate var lines = NotedLines()
        /// How many.
        public var count: Int { lines.count }
        /// Where the first of them stand, as `2004-12-25.log:17`.
        public var examples: [String] { lines.examples }
    }

    private var byReason = SkipReason.allCases.map { Group(reason: $0) }

    /// Nothing was skipped.
    public init() {}

    /// Every reason that occurred, in the order of the reasons.
    public var groups: [Group] { byReason.filter { $0.count > 0 } }

    /// How many lines in all.
    public var count: Int { byReason.reduce(0) { $0 + $1.count } }

    /// How many for this reason.
    public func count(_ reason: SkipReason) -> Int { byReason[reason.rawValue].count }

    mutating func add(_ reason: SkipReason, file: String, line: Int) {
        byReason[reason.rawValue].lines.add(file: file, line: line)
    }
}
