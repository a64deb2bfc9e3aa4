import Parley
import ParleyWire

/// Polls as lines.
///
/// ```
/// #12  when do we go?  (closed, Friday (2 votes))
///      1  Friday    2  ann, ben
///      2  Saturday  0
///      ann in “trip”, closed by ann, 2 answered
/// ```
enum PollLines {
    /// A line between messages: that somebody asks something, and how it stands.
    static func text(_ poll: PollView) -> String {
        let name = poll.isOwn ? "you ask" : "\(harmless(poll.author)) asks"
        let state = poll.state == "closed" ? closed(poll) : "\(poll.voterCount) answered"
        return "\(name): \(words(poll))  (poll #\(poll.number), \(state))"
            + WaitingMarks.text(poll.waiting) + MessageLines.mark(poll.timeDoubt)
    }

    private static func words(_ poll: PollView) -> String {
        poll.isHidden ? MessageLines.hidden : harmless(poll.question)
    }

    private static func closed(_ poll: PollView) -> String {
        poll.isHidden ? "closed" : "closed, \(result(poll))"
    }

    /// What most chose: `Friday (2 votes)`, or `tied: Friday and Saturday (2 votes each)`.
    static func result(_ poll: PollView) -> String {
        let leading = poll.leading.map { poll.options[$0 - 1] }
        guard let first = leading.first else { return "nobody answered" }
        let votes = counted(first.count, "vote")
        guard let last = leading.dropFirst().last else {
            return "\(harmless(first.text)) (\(votes))"
        }
        let others = leading.dropLast().map { harmless($0.text) }.joined(separator: ", ")
        return "tied: \(others) and \(harmless(last.text)) (\(votes) each)"
    }

    /// Everything about it.
    static func lines(_ poll: PollView) -> [String] {
        let start = "#\(poll.number)  "
        let margin = String(repeating: " ", count: start.count)
        let optionColumns = poll.options.map { columnCount(harmless($0.text)) }.max() ?? 0
        let countColumns = poll.options.map { "\($0.count)".count }.max() ?? 1
        let options = poll.options.enumerated().map { place, option in
            let number = "\(place + 1)"
            let text = column(harmless(option.text), optionColumns)
            let gap = String(repeating: " ", count: max(0, 2 - number.count))
            let count = "\(option.count)"
            let before = String(repeating: " ", count: countColumns - count.count)
            let names = VisibleName.list(option.names.map(harmless))
            let own = option.isOwn ? "  ✓ yours" : ""
            return margin + "\(gap)\(number)  \(text)  \(before)\(count)"
                + (names.isEmpty ? "" : "  \(names)") + own
        }
        let waiting = WaitingMarks.text(poll.waiting)
        let doubt = MessageLines.mark(poll.timeDoubt)
        return [start + words(poll) + "  (\(state(poll)))" + doubt + waiting] + options
            + [margin + foot(poll)]
    }

    /// All of them, with a line between two.
    static func text(_ polls: [PollView]) -> String {
        polls.map { lines($0).joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private static func state(_ poll: PollView) -> String {
        let how = poll.isMultiple ? "several answers" : "one answer"
        let clock = Clock()
        switch poll.state {
        case "closed": return closed(poll)
        case "untaken": return "nobody accepts it"
        case "over": return "its time is over, not counted yet"
        default:
            let until = poll.until.map { ", until \(clock.day($0)) \(clock.time($0))" }
            return how + (until ?? "")
        }
    }

    private static func foot(_ poll: PollView) -> String {
        let who = poll.isOwn ? "you" : harmless(poll.author)
        var parts = ["\(who) in “\(harmless(poll.title))”"]
        if let closer = poll.closedBy { parts.append("closed by \(harmless(closer))") }
        parts.append("\(poll.voterCount) answered")
        if !poll.uncounted.isEmpty {
            let names = VisibleName.list(poll.uncounted.map(harmless))
            parts.append("not counted, since their answer came after it was closed: \(names)")
        }
        return parts.joined(separator: ", ")
    }
}
