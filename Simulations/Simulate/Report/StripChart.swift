/// A run as lines: one for each change of state, one column for each node.
///
/// ```
///  time        ann        ben        cara       dan
///  0:01:00.0   A 24       A 24       B 24       B 24       ann ben | cara dan
///  0:02:00.0   A 31-4     A 31-4     B 28-7     x 27-8     dan lost its power
///  0:05:02.1   = 39       = 39       = 39       = 39       all equal
/// ```
///
/// Of each node: how it is, how many operations it holds of conversations, and behind a minus
/// how many it lacks that others hold.
public struct StripChart: Equatable, Sendable {
    /// How a node is.
    public enum State: Equatable, Sendable {
        /// Nothing is in its way.
        case well
        /// In the group of this letter; small letters where only one direction is held back.
        case parted(Character)
        /// It reaches nobody.
        case alone
        /// Its process is not running.
        case dead
        /// It holds and shows what all others do.
        case equal
        /// It is one of those between whom a promise was broken.
        case broken

        /// The one character that stands for it.
        public var symbol: Character {
            switch self {
            case .well: "."
            case .parted(let letter): letter
            case .alone: "/"
            case .dead: "x"
            case .equal: "="
            case .broken: "!"
            }
        }
    }

    /// One node in one line.
    public struct Cell: Equatable, Sendable {
        /// How it is.
        public var state: State
        /// Operations of conversations that it holds.
        public var held: Int
        /// Operations that others hold of its conversations, and it does not.
        public var lacking: Int
    }

    /// Characters of one column.
    static let columnWidth = 11
    /// Characters of the time, in front.
    static let timeWidth = 12
    /// Characters of the words, at the end.
    static let wordsWidth = 72

    private let names: [String]

    /// A chart with a column for each of these.
    public init(names: [String]) {
        self.names = names.map { Self.plain($0) }
    }

    /// What stands above: the names.
    public var header: String {
        let columns = names.map { Self.padded(String($0.prefix(Self.columnWidth - 1))) }
        return Self.trimmed(Self.padded(" time", Self.timeWidth) + columns.joined())
    }

    /// One line.
    ///
    /// - Parameters:
    ///   - time: virtual milliseconds.
    ///   - words: what changed.
    public func line(at time: UInt64, _ cells: [Cell], _ words: String) -> String {
        let columns = cells.map { cell in
            let lacking = cell.lacking > 0 ? "-\(Self.short(cell.lacking))" : ""
            return Self.padded("\(cell.state.symbol) \(Self.short(cell.held))\(lacking)")
        }
        let plain = Self.plain(words)
        let told =
            plain.count > Self.wordsWidth ? plain.prefix(Self.wordsWidth - 1) + "…" : plain[...]
        return Self.trimmed(
            Self.padded(" \(Self.clock(time))", Self.timeWidth) + columns.joined() + told)
    }

    /// A time as "1:02:03.4".
    public static func clock(_ milliseconds: UInt64) -> String {
        let (seconds, tenths) = (milliseconds / 1_000, milliseconds % 1_000 / 100)
        func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(two(seconds % 60)).\(tenths)"
    }

    private static func short(_ count: Int) -> String {
        switch count {
        case ..<10_000: "\(count)"
        case ..<10_000_000: "\(count / 1_000)k"
        default: "\(count / 1_000_000)M"
        }
    }

    private static func padded(_ text: String, _ width: Int = columnWidth) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func trimmed(_ text: String) -> String {
        String(text.reversed().drop { $0 == " " }.reversed())
    }

    /// What a terminal shows and does not obey.
    private static func plain(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate,
                    .privateUse, .unassigned:
                    "?"
                default: Character(scalar)
                }
            })
    }
}
