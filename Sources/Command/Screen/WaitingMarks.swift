import Parley

/// What one did oneself and is not delivered, as marks behind it.
enum WaitingMarks {
    /// `(edited, not yet delivered)`.
    static func text(_ change: MessageView.Waiting) -> String {
        let noun = noun(of: change.change)
        if let reason = notTaken(change.state) { return "(\(spaced(noun))\(reason))" }
        if change.state == "stranded" { return "(\(spaced(noun))never leaves this device)" }
        let subject =
            switch change.change {
            case "edit": "edited, "
            case "deletion": "deleted, "
            case "close": "closed, "
            case "change": "changed, "
            default: spaced(noun)
            }
        return "(\(subject)\(how(change.state)))"
    }

    /// All of them, behind a line; empty for none.
    static func text(_ changes: [MessageView.Waiting]) -> String {
        changes.map { "  " + text($0) }.joined()
    }

    /// Why nobody takes a change any more; nil where it waits.
    static func notTaken(_ state: String?) -> String? {
        switch state {
        case "removed": "not taken: whoever removed you did not have it"
        case "revoked": "not taken: whoever revoked this device did not have it"
        case "cut-off": "not taken: whoever removed you or made you a reader did not have it"
        default: nil
        }
    }

    /// What was done, where that is not the very thing behind which the mark stands.
    private static func noun(of change: String) -> String {
        switch change {
        case "poll", "item", "note", "decision": ""
        case "vote": "your answer"
        case "close": "closing"
        case "approval": "your approval"
        case "settling": "its state"
        case "lifetime": "how long messages stay:"
        case "acceptance": "your acceptance"
        default: change
        }
    }

    private static func spaced(_ noun: String) -> String { noun.isEmpty ? "" : noun + " " }

    /// From when something is that others are not given.
    static func time(_ state: String?) -> String {
        state == "returned"
            ? "from before the others joined or came back" : "from before anybody else joined"
    }

    private static func how(_ state: String) -> String {
        switch state {
        case "earlier", "returned": time(state)
        case "relayed": "on a relay"
        case "unknown", "untold": "not known whether it arrived"
        case "unaccepted": "waits until somebody accepts the invitation"
        default: "not yet delivered"
        }
    }
}
