import Parley
import ParleyWire

/// Decisions as lines.
///
/// ```
/// #12  we take the train  (accepted by ann)
///      The bus is full.
///      ann in “trip”, approved by ann, ben  [travel]
/// ```
enum DecisionLines {
    /// A line between messages: that somebody proposes something, and how it stands.
    static func text(_ decision: DecisionView) -> String {
        let name = decision.isOwn ? "you propose" : "\(harmless(decision.author)) proposes"
        let count = decision.approvers.count
        let approved = decision.state == "proposed" ? ", \(count) approve" : ""
        return "\(name): \(words(decision))  "
            + "(decision #\(decision.number), \(state(decision))\(approved))"
            + WaitingMarks.text(decision.waiting) + MessageLines.mark(decision.timeDoubt)
    }

    private static func words(_ decision: DecisionView) -> String {
        decision.isHidden ? MessageLines.hidden : harmless(decision.title)
    }

    /// All of them, with a line between two.
    static func text(_ decisions: [DecisionView]) -> String {
        decisions.map { lines($0).joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private static func lines(_ decision: DecisionView) -> [String] {
        let start = "#\(decision.number)  "
        let margin = String(repeating: " ", count: start.count)
        var lines = [
            start + words(decision) + "  (\(state(decision)))"
                + MessageLines.mark(decision.timeDoubt) + WaitingMarks.text(decision.waiting)
        ]
        if !decision.text.isEmpty {
            lines += decision.text.split(omittingEmptySubsequences: false) {
                $0 == "\n" || $0 == "\r\n"
            }.map { margin + harmless(String($0)) }
        }
        if let successor = decision.successor {
            let title = decision.successorTitle.map { "“\(harmless($0))”" } ?? "not here"
            lines.append(margin + "in its place: \(successor), \(title)")
        }
        if let source = decision.source { lines.append(margin + "from the message \(source)") }
        if let poll = decision.poll { lines.append(margin + "from the poll \(poll)") }
        return lines + [margin + foot(decision)]
    }

    private static func state(_ decision: DecisionView) -> String {
        let person = decision.settledBy.map { " by \(harmless($0))" } ?? ""
        switch decision.state {
        case "proposed": return decision.settledBy == nil ? "proposed" : "opened again\(person)"
        case "untaken": return "nobody accepts it"
        case "superseded": return "superseded, says \(harmless(decision.settledBy ?? "somebody"))"
        default: return decision.state + person
        }
    }

    private static func foot(_ decision: DecisionView) -> String {
        let who = decision.isOwn ? "you" : harmless(decision.author)
        let names = VisibleName.list(decision.approvers.map(harmless))
        let tags = decision.tags.map(harmless).joined(separator: ", ")
        return "\(who) in “\(harmless(decision.place))”, "
            + (names.isEmpty ? "approved by nobody" : "approved by \(names)")
            + (tags.isEmpty ? "" : "  [\(tags)]")
    }
}
