import Parley
import ParleyWire

extension UndeliveredView {
    /// `poll: when do we go? (Friday, Saturday)`.
    static func line(_ change: String, _ text: String) -> String {
        let noun =
            switch change {
            case "message-deletion": "deletion of a message"
            case "message-edit": "edit of a message"
            case "reaction": "reaction"
            case "vote": "answer to a poll"
            case "close": "closing of a poll"
            case "deletion": "deletion of a poll, an item, a note or a decision"
            case "change": "change of an item"
            case "edit": "edit of a note"
            case "title": "title of a note"
            case "approval": "approval of a decision, or its withdrawal"
            case "settling": "change to the state of a decision"
            case "pin": "pin of a message"
            case "lifetime": "how long messages stay"
            case "group": "a new group"
            case "addition": "somebody who was added"
            case "removal": "somebody who was removed"
            case "role": "another role"
            case "settings": "settings of the group"
            case "link": "a link into the group"
            case "acceptance": "your acceptance of the invitation"
            default: change
            }
        let words = harmless(text).split { $0 == "\n" || $0 == "\r\n" }.joined(separator: " ")
        return noun + (words.isEmpty ? "" : ": " + words)
    }
}
