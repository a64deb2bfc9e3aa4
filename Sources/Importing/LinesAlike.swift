import Parley

/// Counts equal lines of one day of a log, because a person may say something twice in a minute. It
/// keeps one day, so that no log is too long.
struct LinesAlike {
    private struct Words: Hashable {
        var time: UInt64
        var author: String
        var isAction: Bool
        var text: String
    }

    /// What is still known of a line that was deleted.
    private struct Shape: Hashable {
        var time: UInt64
        var author: String
        var isAction: Bool
        var byteCount: Int
    }

    private var day: UInt64 = 0
    private var counts: [Words: Int] = [:]
    private var shapes: [Shape: Int] = [:]

    /// The row, with how many like it stand above it, by what they say and by what stays of them.
    ///
    /// - Parameter mayGrow: whether nothing ends its line: longer ones that begin with it are like it.
    mutating func add(_ row: ImportMessages.Row, mayGrow: Bool) -> ImportMessages.Row {
        if row.time / CalendarDay.millisecondCount != day {
            day = row.time / CalendarDay.millisecondCount
            counts = [:]
            shapes = [:]
        }
        let words = Words(
            time: row.time, author: row.author, isAction: row.isAction, text: row.text)
        var numbered = row
        numbered.alikeAbove =
            mayGrow
            ? counts.reduce(0) { $0 + (Self.begins($1.key, with: words) ? $1.value : 0) }
            : counts[words, default: 0]
        let shape = Shape(
            time: row.time, author: row.author, isAction: row.isAction,
            byteCount: row.text.utf8.count)
        numbered.likeLengthAbove = shapes[shape, default: 0]
        shapes[shape, default: 0] += 1
        if mayGrow { numbered.mayGrow = true }
        counts[words, default: 0] += 1
        return numbered
    }

    private static func begins(_ longer: Words, with words: Words) -> Bool {
        longer.time == words.time && longer.author == words.author
            && longer.isAction == words.isAction
            && longer.text.utf8.starts(with: words.text.utf8)
    }
}
