/// A group: who is in it, and what holds there.
public struct GroupView: Codable, Equatable, Sendable {
    /// The group, in hex.
    public var id: String
    /// Its name.
    public var name: String
    /// What it is for, as its admins say; nil where they say nothing.
    public var description: String?
    /// Whether a picture of it is shown. See ``GetGroupPicture``.
    public var hasPicture = false
    /// Who is in it: owners first, then by name.
    public var members: [MemberView]
    /// What a newcomer is given of what was written before: `none`, `all`, or days as `30d`.
    public var history: String
    /// Hours after which the keys are replaced; nil for the default.
    public var rotationHours: Int?
    /// Links by which somebody may still come.
    public var invites: [GroupInviteView]
    /// The keys of now; nil where one is not in it any more.
    public var epoch: EpochView? = nil
    /// A name, a description or a picture that one gave it and that is not delivered.
    public var waiting: [MessageView.Waiting] = []
}

/// The keys that the devices of a conversation share now: those that envelopes are sealed under, on
/// their way through a relay.
public struct EpochView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// Its name.
    public var name: String
    /// The operation that made them, in hex; nil where some are yet to be made for who is in it now.
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

/// A group that somebody added one to, which waits for an answer. Nothing of it is here but who is in
/// it.
public struct InvitationView: Codable, Equatable, Sendable {
    /// The group, in hex.
    public var id: String
    /// What the inviter says that it is called; empty for no name.
    public var name: String
    /// The name of who invites.
    public var inviter: String
    /// Who invites, in hex.
    public var person: String
    /// How many persons are in it, invited ones included.
    public var memberCount: Int
    /// When it was first heard of, in Unix milliseconds.
    public var since: UInt64
}

/// Invitations into groups.
public struct InvitationsView: Codable, Equatable, Sendable {
    /// Who may add one to groups without asking: `nobody` or `contacts`.
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
    /// Who made it.
    public var inviter: String
    /// What a newcomer may do.
    public var role: String
    /// How many persons may come by it yet.
    public var usesLeft: Int
    /// When it ends, in Unix milliseconds.
    public var expires: UInt64
}

/// A link into a group, to pass on.
public struct GroupLinkView: Codable, Equatable, Sendable {
    /// The link: whoever has it can come in.
    public var link: String
    /// The invite behind it.
    public var invite: GroupInviteView
    /// What is known to be wrong with clocks: the link ends by this device's.
    public var clockWarning: String? = nil
}

/// A group that one wants to come into.
public struct JoinView: Codable, Equatable, Sendable {
    /// The group, in hex.
    public var id: String
    /// What it was called when the link was made.
    public var name: String
    /// Who made the link: they, or their devices, let one in.
    public var inviter: String
    /// When the link ends, in Unix milliseconds.
    public var expires: UInt64
    /// Whether who made it took it not: it is used up, or was ended.
    public var isRefused = false
    /// Whether one is in.
    public var isMember = false
    /// Whether one was removed from the group after the link was made, which lets nobody in again whom
    /// that hit.
    public var isBeforeRemoval = false
    /// Whether one came into the group by this very link before.
    public var wasOwnUse = false

    /// What has come of a link that was not taken, as a sentence.
    public var fate: String {
        let reason =
            isBeforeRemoval
            ? "you were removed from that group since it was made."
            : wasOwnUse
                ? "you have used it yourself, and it lets in nobody any more."
                : "it was used up or ended, or who made it is not in the group any more."
        return "\(inviter) did not take the link into “\(name)”: \(reason)"
    }
}

/// Something that changed who is in a conversation, or what they may do.
public struct MembershipView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// `founded`, `added`, `joined`, `removed`, `left`, `declined` (asked in, and not willing), `role`,
    /// `devices-added`, `device-revoked`.
    public var change: String
    /// The name of whom it concerns.
    public var name: String
    /// The person, in hex.
    public var person: String
    /// The name of who did it, where it was somebody else's deed.
    public var author: String?
    /// What the person may do from then on, where that changed.
    public var role: String?
    /// By the author's clock, in Unix milliseconds.
    public var time: UInt64
    /// `ahead` where that time has not come yet by this device's clock; else nil.
    public var timeDoubt: String? = nil
    /// Whether it holds; what does not has changed nothing.
    public var holds: Bool
    /// Messages of whom it took out that are here and shown no more: they lie beyond its cut, for
    /// whoever did it did not have them. Nil where there is none.
    public var hiddenCount: Int?
    /// The message right below it, by its `id`; nil where it stands below all.
    public var below: String? = nil
    /// Where it stands among all that is right above the same message: what is greater, as text, stands
    /// further below. The same for everybody who holds the same.
    public var order: String = ""
}

/// Why something stands as it does: what is known, from whom, since when.
public struct ExplanationView: Codable, Equatable, Sendable {
    /// One thing that is known.
    public struct Fact: Codable, Equatable, Sendable {
        /// Whom or what it is about.
        public var about: String
        /// What is known, as a phrase.
        public var what: String
        /// How it is known.
        public var source: String
        /// Since when, in Unix milliseconds, by the clock of who said so; nil where nobody did.
        public var since: UInt64?
        /// A fact with these fields.
        public init(about: String, what: String, source: String, since: UInt64? = nil) {
            self.about = about
            self.what = what
            self.source = source
            self.since = since
        }
    }
    /// What it is about, in a sentence.
    public var title: String
    /// What is known.
    public var facts: [Fact]
}
