/// Something that a person should know though they look at no screen of this program.
struct Notice: Equatable, Sendable {
    /// The event; the word that programs get.
    enum Event: String, Sendable {
        case message, mention, call, callEnded = "call-ended", reminder, request, invitation
        /// More than may be told one by one.
        case more
    }

    var event: Event
    /// Who did it, as this node calls them; empty where nobody did.
    var sender = ""
    /// The conversation's name, and its identifier in hex; empty where it is about none.
    var conversation = ""
    var conversationID = ""
    /// Whether the conversation is a group.
    var isGroup = false
    /// The text; empty if there is none.
    var text = ""
    /// The message's number on this node, or the call's identifier.
    var reference = ""
    /// How many others this one stands for.
    var count = 0

    /// How much of a notice is shown.
    enum Content: String, Sendable {
        case all, sender, none
    }

    /// Bytes of a text that a program or a desktop is given, at most.
    static let textByteCountMax = 4_096

    /// Its title on a desktop.
    func title(_ content: Content) -> String {
        guard content != .none else { return "Parley" }
        switch event {
        case .more: return "Parley"
        case .reminder: return "Reminder"
        case .call: return "\(sender) calls"
        case .callEnded: return "The call is over"
        case .request: return "\(sender) asks to be your contact"
        case .invitation: return "\(sender) invites you into \(conversation)"
        case .message, .mention:
            return isGroup ? "\(sender) in \(conversation)" : sender
        }
    }

    /// Its body there.
    func body(_ content: Content) -> String {
        if event == .more { return "\(count) more" }
        if content == .all, !text.isEmpty { return Self.bounded(text) }
        switch event {
        case .message: return "a new message"
        case .mention: return "mentions you"
        case .reminder: return "it is time"
        case .call: return content == .none ? "a call" : ""
        case .callEnded, .more: return ""
        case .request, .invitation: return content == .none ? "somebody asks you something" : ""
        }
    }

    /// The environment of a notification program. The name of a variable is a promise.
    func facts(_ content: Content) -> [String: String] {
        var facts = ["PARLEY_EVENT": event.rawValue]
        if count > 0 { facts["PARLEY_COUNT"] = "\(count)" }
        guard content != .none else { return facts }
        facts["PARLEY_SENDER"] = sender
        facts["PARLEY_CONVERSATION"] = conversation
        facts["PARLEY_CONVERSATION_ID"] = conversationID
        facts["PARLEY_REFERENCE"] = reference
        if content == .all { facts["PARLEY_TEXT"] = text }
        // An environment holds no zeros, and is bounded.
        return facts.filter { !$0.value.isEmpty }.mapValues(Self.bounded)
    }

    /// A text that is not too long, and has no zero in it.
    static func bounded(_ text: String) -> String {
        let whole = text.replacing("\0", with: "\u{2400}")
        guard whole.utf8.count > textByteCountMax else { return whole }
        var (shown, count) = ("", 0)
        for character in whole {
            count += character.utf8.count
            guard count <= textByteCountMax - 3 else { break }
            shown.append(character)
        }
        return shown + "…"
    }
}
