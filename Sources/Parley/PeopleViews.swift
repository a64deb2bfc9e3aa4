/// An invite.
public struct InviteView: Codable, Equatable, Sendable {
    /// Its name on this node: 16 hex digits.
    public var id: String
    /// The link to pass on, over a channel that others do not read; empty for a token that only reads.
    public var link: String
    /// When it ends, in Unix milliseconds.
    public var expires: UInt64
    /// How many persons may take it yet.
    public var usesLeft: Int
    /// Names of those who did.
    public var guests: [String]
    /// The group that it leads into; nil where it makes a contact. Its link is shown once only.
    public var group: String? = nil
    /// Where the link says that this node is, where it names no relay. Nobody elsewhere can use one
    /// that says nothing.
    public var addresses: [String] = []
    /// The relay on which the person's card is for users of the link: then the two need never be
    /// online together. Nil if it names none.
    public var relay: String? = nil
    /// Whether the card is not there yet, so that a user of the link waits for it.
    public var isWaitingForRelay = false
    /// The key of that relay, in hex.
    public var relayKey: String? = nil
    /// What is wrong with that relay: `leaving` (another one has its place, and it is read for some
    /// days), `removed` (this device does not use it any more), `mistaken` (the answering relay
    /// does not show its key). A user of the link of the last two is never answered. Nil if nothing
    /// is.
    public var relayState: String? = nil
    /// Known problems with clocks, if it was just made: it expires by this device's.
    public var clockWarning: String? = nil
}

extension InviteView {
    /// Whether a user of the link is never answered.
    public var leadsNowhere: Bool { relayState == "removed" || relayState == "mistaken" }
}

/// The person's own card.
public struct CardView: Codable, Equatable, Sendable {
    /// The card in one word, to pass on to anybody.
    public var text: String
}

/// A decision of a person about another.
public enum ContactDecision: String, Codable, CaseIterable, Sendable {
    /// Takes up a request.
    case accept
    /// Lets a request come to nothing; who asked is not told.
    case decline
    /// Keeps the person away: no links, no requests, nothing written to them.
    case block
    /// Ends that: things are as they were before.
    case unblock
}

/// A person one knows.
public struct ContactView: Codable, Equatable, Sendable {
    /// The person, in hex.
    public var person: String
    /// What one calls them.
    public var name: String
    /// `invited` if this person used their invite and `requested` if this person sent a request,
    /// before they answered; `refused` if they did not accept the invite; `pending` if they ask;
    /// `accepted`, `declined`, `blocked`; or `known`, if they are no contact and were only
    /// verified, or if the note about them is lost.
    public var state: String
    /// Whether safety numbers were compared.
    public var isVerified: Bool
    /// Whether a link to one of their devices is open.
    public var isLinked: Bool
    /// Where their devices were last known to be.
    public var addresses: [String]
    /// Whether there is a conversation with them alone in which one can write, whatever has become of
    /// an invite or a request.
    public var isWritable = false
    /// What happened to their devices, each a sentence, oldest first; of a verified person, whenever
    /// one came or went.
    public var notices: [String] = []
    /// Others whose name looks like this one, oneself included: each the name, and the start of the
    /// identifier in brackets. Somebody may have taken the name to be mistaken for them.
    public var resembles: [String] = []
}

/// A safety number.
public struct SafetyNumberView: Codable, Equatable, Sendable {
    /// The other person's name.
    public var name: String
    /// Sixty digits, in groups of five.
    public var number: String
    /// The same for a camera: what the other's `verify` compares in full. It holds no secret.
    public var code: String
    /// Whether it was compared.
    public var isVerified: Bool
}

extension NodeError {
    /// No invite that this device knows, of a person with several.
    static let inviteElsewhere = NodeError(
        "unknown-invite",
        "This device has no such invite that can still be used.",
        hint:
            "An invite that another device of yours made is listed and revoked only on that "
            + "device. `parley invite list` shows those of this one.")

    /// An invite that its creator refused.
    public init(refusing contact: ContactView) {
        self.init(
            "invite-refused",
            "\(contact.name) did not accept the invite: somebody else has used it, or it was "
                + "revoked.",
            hint: "Ask them for another one, and accept that.")
    }

    /// A new conversation with a person.
    init(notMet contact: ContactView) {
        let start = contact.person.prefix(8)
        switch contact.state {
        case "pending":
            self.init(
                "asked",
                "\(contact.name) has sent you a contact request, and waits for your answer.",
                hint:
                    "`parley contact accept \(start)` accepts it and begins your conversation, "
                    + "`parley contact decline \(start)` declines it.")
        case "requested":
            self.init(
                "not-answered", "\(contact.name) has not answered your contact request.",
                hint:
                    "Your conversation begins when they accept it, since their card names no relay. "
                    + "You are not told if they decline.")
        case "refused": self.init(refusing: contact)
        case "accepted":
            self.init(
                "not-here", "Your conversation with \(contact.name) is not on this device yet.",
                hint:
                    "It comes from their node or from a relay: leave `parley run` running.")
        default:
            self.init(
                "not-met", "\(contact.name) and you have not met yet.",
                hint:
                    "Your conversation begins when their card arrives from the relay that the "
                    + "invite names, or when both nodes are running and reach each other: "
                    + "leave `parley run` running.")
        }
    }

    /// A link into a group that its creator refused.
    public init(refusing join: JoinView) {
        self.init(
            "link-refused", join.fate, hint: "Ask for another one, and accept that.")
    }
}
