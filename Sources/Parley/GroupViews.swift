/// A group: its members and settings.
public struct GroupView: Codable, Equatable, Sendable {
    /// The group, in hex.
    public var id: String
    /// Its name.
    public var name: String
    /// Its description, by its admins; nil if there is none.
    public var description: String?
    /// Whether a picture of it is shown. See ``GetGroupPicture``.
    public var hasPicture = false
    /// Its members: owners first, then by name.
    public var members: [MemberView]
    /// What a newcomer is given of earlier messages: `none`, `all`, or days as `30d`.
    public var history: String
    /// Hours after which the keys are replaced; nil for the default.
    public var rotationHours: Int?
    /// Who may do what.
    public var rules = GroupRulesView()
    /// Links by which somebody may still come.
    public var invites: [GroupInviteView]
    /// The present keys; nil if this person is no longer in it.
    public var epoch: EpochView? = nil
    /// What one changed of its name, description, members and settings, and what is not delivered.
    public var waiting: [MessageView.Waiting] = []
}

/// The keys that the devices of a conversation share now: those that envelopes are sealed under, on
/// their way through a relay.
public struct EpochView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// Its name.
    public var name: String
    /// The operation that made them, in hex; nil if some are yet to be made for the present
    /// members.
    public var id: String? = nil
    /// The device that made them, in hex.
    public var device: String? = nil
    /// The name of whose device that is.
    public var author: String? = nil
    /// When they were made, in Unix milliseconds by that device's clock.
    public var madeAt: UInt64? = nil
    /// When this device got them, in Unix milliseconds.
    public var openedAt: UInt64? = nil
    /// How many devices are in the conversation now.
    public var deviceCount: Int
    /// Whether one of them said that it cannot open them; others are made soon.
    public var isFaulted = false
}

/// A person in a group.
public struct MemberView: Codable, Equatable, Sendable {
    /// The person, in hex.
    public var person: String
    /// What one calls them.
    public var name: String
    /// `reader`, `member`, `admin` or `owner`.
    public var role: String
    /// Whether it is oneself.
    public var isSelf: Bool
    /// Whether safety numbers were compared.
    public var isVerified: Bool
    /// Whether a link to one of their devices is open.
    public var isLinked: Bool
    /// Their devices in the group, in hex.
    public var devices: [String]
    /// Whether they were added and have not accepted.
    public var isInvited = false
    /// Whether it is known where one of their devices can be reached, or where it reads.
    public var hasAddress = true
    /// Contacts whose name looks like this one, oneself included, as ``ContactView`` has them.
    public var resembles: [String] = []
}

/// A group that somebody added this person to, which waits for an answer. Only its members are
/// known here.
public struct InvitationView: Codable, Equatable, Sendable {
    /// The group, in hex.
    public var id: String
    /// What the inviter says that it is called; empty for no name.
    public var name: String
    /// The name of the inviter.
    public var inviter: String
    /// Who invites, in hex.
    public var person: String
    /// How many persons are in it, including invited ones.
    public var memberCount: Int
    /// When it was first heard of, in Unix milliseconds.
    public var since: UInt64
}

/// Invitations into groups.
public struct InvitationsView: Codable, Equatable, Sendable {
    /// Who may add this person to groups without asking: `nobody` or `contacts`.
    public var policy: String
    /// Those that wait for an answer, the oldest first.
    public var waiting: [InvitationView]
    /// Groups into which one took a link, and waits for its maker to let one in.
    public var joins: [JoinView] = []
    /// The one that was just answered; nil where none was.
    public var answered: InvitationView?
}

/// A link into a group by which somebody may still come.
public struct GroupInviteView: Codable, Equatable, Sendable {
    /// The operation that made it, in hex.
    public var id: String
    /// Its creator.
    public var inviter: String
    /// What a newcomer may do.
    public var role: String
    /// How many more persons may use it.
    public var usesLeft: Int
    /// When it ends, in Unix milliseconds.
    public var expires: UInt64
}

/// A link into a group, to pass on.
public struct GroupLinkView: Codable, Equatable, Sendable {
    /// The link: anybody who has it can join.
    public var link: String
    /// The invite behind it.
    public var invite: GroupInviteView
    /// Known problems with clocks: the link expires by this device's.
    public var clockWarning: String? = nil
}

/// A group that one wants to come into.
public struct JoinView: Codable, Equatable, Sendable {
    /// The group, in hex.
    public var id: String
    /// The group's name when the link was made.
    public var name: String
    /// The creator of the link: they, or their devices, admit this person.
    public var inviter: String
    /// When the link ends, in Unix milliseconds.
    public var expires: UInt64
    /// Whether its creator refused it: it is used up, or was revoked.
    public var isRefused = false
    /// Whether one is in.
    public var isMember = false
    /// Whether this person was removed from the group after the link was made, so that it no longer
    /// admits them.
    public var isBeforeRemoval = false
    /// Whether one came into the group by this very link before.
    public var wasOwnUse = false

    /// What has come of a link that was not taken, as a sentence.
    public var fate: String {
        let reason =
            isBeforeRemoval
            ? "you were removed from that group after it was made."
            : wasOwnUse
                ? "you have used it yourself, and it has no uses left."
                : "it was used up or revoked, or it does not let you in, or whoever made it is "
                    + "no longer in the group."
        return "\(inviter) did not accept the link into “\(name)”: \(reason)"
    }
}

/// A change of who is in a conversation, or of what they may do.
public struct MembershipView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// `founded`, `added`, `joined`, `removed`, `left`, `declined` (asked in, and not willing), `role`,
    /// `devices-added`, `device-revoked`.
    public var change: String
    /// The name of the affected person.
    public var name: String
    /// The person, in hex.
    public var person: String
    /// The name of the person who did it, if it was somebody else.
    public var author: String?
    /// What the person may do from then on, where that changed.
    public var role: String?
    /// By the author's clock, in Unix milliseconds.
    public var time: UInt64
    /// `ahead` if that time has not come yet by this device's clock; else nil.
    public var timeDoubt: String? = nil
    /// Whether it holds; what does not has changed nothing.
    public var holds: Bool
    /// The removed person's messages that are held here and no longer shown: they lie beyond the
    /// cut, because the remover did not have them. Nil if there are none.
    public var hiddenCount: Int?
    /// The same of what else they did: polls, items, decisions, notes, edits, reactions.
    public var hiddenChangeCount: Int? = nil
    /// The message right below it, by its `id`; nil if it is below all.
    public var below: String? = nil
    /// Its place among everything right above the same message: greater, as text, means further
    /// below. The same for everybody who holds the same.
    public var order: String = ""
}

/// Why something is in its state: what is known, from whom, since when.
public struct ExplanationView: Codable, Equatable, Sendable {
    /// One thing that is known.
    public struct Fact: Codable, Equatable, Sendable {
        /// The subject.
        public var about: String
        /// A fact, as a phrase.
        public var what: String
        /// How it is known.
        public var source: String
        /// Since when, in Unix milliseconds, by the clock of the source; nil if there is none.
        public var since: UInt64?
        /// A fact with these fields.
        public init(about: String, what: String, source: String, since: UInt64? = nil) {
            self.about = about
            self.what = what
            self.source = source
            self.since = since
        }
    }
    /// The subject, in a sentence.
    public var title: String
    /// The facts.
    public var facts: [Fact]
}
