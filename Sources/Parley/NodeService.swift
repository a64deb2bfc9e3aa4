/// Everything that people and programs ask of a node, as plain values.
///
/// The running node, and the local socket to one, both answer it: a command need not know whether
/// a node runs. Identifiers are lower-case hex; a `conversation` argument also takes a name or an
/// start of the identifier, and a `person` argument a name, alias or start of an identifier. Eight
/// hex digits and more are always an identifier, never a name; what fits two is refused.
public protocol NodeService: RelayService, SearchService, CallService {
    /// Who this node is and how it is doing.
    func status() async throws -> NodeStatus
    /// Gives oneself another name, which contacts see once they hear of it.
    func rename(to name: String) async throws
    /// A link that lets so many other persons become contacts.
    func invite(uses: Int, hours: Int) async throws -> InviteView
    /// Invites that somebody may still take: those that make contacts, the newest first, and those
    /// into groups whose admin one is.
    func invites() async throws -> [InviteView]
    /// Ends an invite, named by its `id` or the start of that.
    func revokeInvite(_ id: String) async throws
    /// Takes an invite link; the two nodes meet as soon as they can reach each other.
    func accept(link: String, alias: String?) async throws -> ContactView
    /// One's own card as text: who has it can ask to be a contact. It holds no secret.
    func card() async throws -> CardView
    /// Asks the person whose card this is to be a contact; or somebody of whom nothing is noted any
    /// more, by their name.
    func requestContact(card: String, alias: String?) async throws -> ContactView
    /// Accepts, declines, blocks or unblocks a person.
    func decide(about person: String, _ decision: ContactDecision) async throws -> ContactView
    /// Calls a person so; by the name on their card where it is nil.
    func setAlias(person: String, alias: String?) async throws -> ContactView
    /// Everyone known, by name.
    func contacts() async throws -> [ContactView]
    /// All conversations, newest first.
    func conversations() async throws -> [ConversationView]
    /// The conversation that an argument means.
    func conversation(_ argument: String) async throws -> ConversationView
    /// A new group of these contacts.
    func newConversation(name: String, members: [String]) async throws -> ConversationView
    /// A group: who is in it, and what holds there.
    func group(_ conversation: String) async throws -> GroupView
    /// Takes a contact into a group, as `reader`, `member`, `admin` or `owner`.
    func addMember(conversation: String, person: String, role: String) async throws -> GroupView
    /// Takes a person out of a group: they get nothing of what is written from then on.
    func removeMember(conversation: String, person: String) async throws -> GroupView
    /// Lets a person do more or less in a group.
    func setRole(conversation: String, person: String, role: String) async throws -> GroupView
    /// Goes out of a group; what was written stays here to read. Refused where no owner would be left
    /// who takes part, unless it is wanted anyway.
    func leave(conversation: String, anyway: Bool) async throws
    /// Groups that others added one to and that wait for an answer, and who may do so unasked.
    func invitations() async throws -> InvitationsView
    /// Accepts or declines an invitation into a group.
    func answerInvitation(conversation: String, accepting: Bool) async throws -> InvitationsView
    /// Says who may add one to groups without asking: `nobody` or `contacts`.
    func setAdditionPolicy(_ policy: String) async throws -> InvitationsView
    /// Forgets a conversation that one is not in on this device, or one with who is no contact.
    func deleteConversation(_ conversation: String) async throws
    /// Changes what newcomers are given (`none`, `all`, or days as `30d`), and after how many hours
    /// keys are replaced; what is nil stays.
    func changeSettings(
        conversation: String, history: String?, rotationHours: Int?
    ) async throws -> GroupView
    /// A link by which so many persons may come into a group, as `member` or `reader`.
    func inviteToGroup(
        conversation: String, role: String, uses: Int, hours: Int
    ) async throws -> GroupLinkView
    /// Takes a link into a group; one is in as soon as a device of its maker is reached.
    func joinGroup(link: String) async throws -> JoinView
    /// Groups that one wants to come into and is not in yet.
    func joins() async throws -> [JoinView]
    /// What changed who is in a conversation, oldest first.
    func events(conversation: String) async throws -> [MembershipView]
    /// Why a message (by its number), a person, a device or a conversation stands as it does; in one
    /// conversation or in all.
    func why(_ subject: String, conversation: String?) async throws -> ExplanationView
    /// Names a conversation.
    func rename(conversation: String, to name: String) async throws
    /// Silences a conversation, or ends that.
    func mute(conversation: String, on: Bool) async throws
    /// Writes messages, in order; all are saved when it returns.
    func send(conversation: String, texts: [String], replyTo: MessageReference?) async throws
        -> [MessageView]
    /// Writes a part of something longer, in one transaction with the note of how far it got: lines that
    /// are in already are passed over, so that the same part can be said again. `importedLineCount`
    /// tells how far it got.
    ///
    /// - Parameters:
    ///   - key: 64 hex digits that name the whole in this conversation.
    ///   - firstLine: the place of the first text in the whole, from 1.
    func sendLines(
        conversation: String, texts: [String], key: String, firstLine: Int
    ) async throws -> ImportResult
    /// Gives an own message a new text.
    func edit(message: MessageReference, text: String) async throws -> MessageView
    /// Takes a message back for everyone.
    func delete(message: MessageReference) async throws -> MessageView
    /// Adds a reaction to a message, or takes it back.
    func react(message: MessageReference, emoji: String, on: Bool) async throws -> MessageView
    /// Marks messages of a conversation as read, and nothing else: those that a screen showed. Returns
    /// how many were unread.
    ///
    /// - Parameter last: the `last` of the page that showed them: an edit that came later was not
    ///   seen. Nil for as they are now.
    func markRead(conversation: String, messages: [MessageReference], last: Int64?) async throws
        -> Int
    /// The page that begins at the first message that is not read; the newest page where all are.
    func unread(conversation: String, limit: Int) async throws -> MessagePage
    /// Texts that a message had, from the one with this number on, counted from 0, oldest first; at
    /// most ``HistoryPage/versionCountMax``.
    func history(message: MessageReference, from: Int) async throws -> HistoryPage
    /// A page of messages, oldest first within the page, that ends below `before` (a `cursor` of
    /// an earlier page) or at the newest.
    func messages(
        conversation: String, before: String?, limit: Int
    ) async throws -> MessagePage
    /// The safety number shared with a person.
    func safetyNumber(person: String) async throws -> SafetyNumberView
    /// Compares the code that a person's own screen shows with what is known here, and notes that
    /// they are equal. Where they are not it throws `mismatch`, and nothing is noted.
    func verify(person: String, code: String) async throws -> SafetyNumberView
    /// Notes that the safety numbers were compared and are equal.
    func markVerified(person: String) async throws
    /// The person's own devices, this one first.
    func devices() async throws -> [DeviceView]
    /// Waits five minutes for one new device that is given what is returned.
    func openLink() async throws -> DeviceLinkView
    /// Waits for no device any more.
    func closeLink() async throws
    /// Ends a device for good, with the recovery code where this device may not by itself. A
    /// device is named by its name, or by the start of its identifier.
    func revoke(device: String, recoveryCode: String?) async throws
    /// What one calls a device of one's own. Nobody else sees it.
    func rename(device: String, to name: String) async throws
    /// What each conversation looks like here, in one hash each.
    func digests() async throws -> [DigestView]
    /// Checks everything that is stored: the database, chains, signatures, keys, views against the log,
    /// the indexes of the search. Changes nothing of it.
    func doctor() async throws -> DoctorReport
    /// Brings in messages from elsewhere, in one transaction with the note of how far it got.
    /// Lines below what was noted before are skipped, and rows that say how many like them stand above
    /// them where more than that were brought in before, by this person.
    func importMessages(_ batch: ImportBatch) async throws -> ImportResult
    /// How many lines of this file are in, or 0.
    func importedLineCount(conversation: String, fileHash: String) async throws -> Int
    /// Writes everything that a new device of this person could use into one sealed file, which the
    /// recovery code alone opens. The path is absolute. With `replacing` it takes the place of an older
    /// backup of this person; of another person's it never does.
    func createBackup(file: String, replacing: Bool) async throws -> BackupReport
    /// Notes that the person has the recovery code, whose public keys these are, in hex, with the root's
    /// signature of the one for backups; tells what was noted of that one before.
    func noteRecoveryCode(
        root: String, backupKey: String, signature: String
    ) async throws -> BackupKeyFinding
    /// A page of changes after a cursor, as ``ChangeView`` tells; with nil it is empty and names the
    /// cursor after everything.
    func changes(after cursor: String?, limit: Int) async throws -> ChangePage
    /// Changes after a cursor, as fast as they are taken, and then as they come; from now on where it
    /// is nil.
    func changes(after cursor: String?) async throws -> AsyncStream<ChangeView>
}

extension NodeService {
    /// Changes from now on.
    public func changes() async throws -> AsyncStream<ChangeView> { try await changes(after: nil) }

    /// Goes out of a group that has another owner.
    public func leave(conversation: String) async throws {
        try await leave(conversation: conversation, anyway: false)
    }
}

/// What went wrong, in a sentence for a person, with what to do about it.
public struct NodeError: Error, Equatable, Codable, Sendable, CustomStringConvertible {
    /// A stable word for programs, as `unknown-conversation`.
    public var code: String
    /// The sentence.
    public var message: String
    /// What to do about it.
    public var hint: String?

    /// An error with these fields.
    public init(_ code: String, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// The sentence.
    public var description: String { message }
}

/// Who a node is and how it is doing.
public struct NodeStatus: Codable, Equatable, Sendable {
    /// A link to another device.
    public struct Link: Codable, Equatable, Sendable {
        /// The other person's name.
        public var name: String
        /// The other device, in hex.
        public var device: String
        /// Where it is.
        public var address: String
        /// How many milliseconds its clock is ahead; negative where it is behind, nil where it did not
        /// say.
        public var clockAhead: Int64?
    }
    /// What the person is called.
    public var name: String
    /// The person, in hex.
    public var person: String
    /// This device, in hex.
    public var device: String
    /// The folder of the node.
    public var home: String
    /// Whether a passphrase protects the keys; else they lie in a file that only the owner reads.
    public var isProtectedByPassphrase: Bool
    /// Where the node listens; empty while it does not run.
    public var addresses: [String]
    /// Open links.
    public var links: [Link]
    /// Conversations held.
    public var conversationCount: Int
    /// Operations held.
    public var operationCount: Int
    /// Bytes of the database on disk.
    public var databaseByteCount: Int
    /// Bytes that links sent and received since the node was started.
    public var sentByteCount: Int
    /// The same, received.
    public var receivedByteCount: Int
    /// Own messages that no device of another person has yet.
    public var pendingCount: Int
    /// When the recovery code was last asked back, in Unix milliseconds; nil if never.
    public var recoveryCheckTime: UInt64?
    /// Why nothing may be written, or nil.
    public var readOnlyReason: String?
    /// How often something was refused, by its code.
    public var refusals: [String: Int]
    /// Devices that were seen to write two histories, in hex.
    public var forkedDevices: [String]
    /// What the person should know, each a sentence.
    public var warnings: [String]
    /// Whether something that others hold is still being fetched.
    public var isCatchingUp = false
    /// Whether the disk had no room for what was last to be stored.
    public var isDiskFull = false
    /// Own messages and changes that never leave this device: it wrote two histories, and nobody takes
    /// them.
    public var strandedCount = 0
    /// Own messages and changes of which this device, which was revoked, does not hear any more whether
    /// they arrived.
    public var unknownCount = 0
    /// Whether the node runs; else its home was opened for this question alone.
    public var isRunning = false
    /// Whether the node was cut off, see ``RelayService/setOffline(_:)``: what is written waits.
    public var isOffline = false
    /// Names of those who ask to be a contact and wait for an answer.
    public var requests: [String] = []
    /// Invitations into groups that wait for an answer.
    public var invitationCount = 0
    /// The keys of each conversation that one is in, the newest first.
    public var epochs: [EpochView] = []
    /// What happened to people's devices in the last thirty days, each a sentence, oldest first.
    public var notices: [String] = []
}

/// A conversation in one line.
public struct ConversationView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var id: String
    /// `direct` or `group`.
    public var kind: String
    /// Its name, or that of the other person.
    public var name: String
    /// Names of everyone in it.
    public var members: [String]
    /// Messages not read.
    public var unread: Int
    /// Whether it is silenced.
    public var isMuted: Bool
    /// When the newest message was written, in Unix milliseconds.
    public var newest: UInt64?
    /// What must come before anything is written in it: "waiting for …"; nil where nothing must.
    public var waitingFor: String?
    /// The conversation of the same two that new messages go into instead, in hex; nil for all but those
    /// that were begun while that one was not known here.
    public var supersededBy: String?
    /// Whether one was in it before, was added again, and has not answered: it can be read, and nothing
    /// new comes.
    public var isInvited = false
    /// Whether one was in it, went and came back, and what was said before is on other devices alone: on
    /// those that held it then. Nobody gives it again.
    public var lacksEarlier = false
    /// Of a group that one is out of and this device never was in: the names of those of one's devices that
    /// were, which alone have what was said there; nil for any other conversation.
    public var heldOn: [String]?
    /// Other conversations whose names look like that of this group, in the list of all: each the name,
    /// and the start of the identifier in brackets.
    public var resembles: [String] = []
}

/// What a conversation looks like here.
public struct DigestView: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// Its name.
    public var name: String
    /// One hash over all that members see alike.
    public var digest: String
    /// Operations held.
    public var operationCount: Int
}

/// Messages from elsewhere.
public struct ImportBatch: Codable, Equatable, Sendable {
    /// One message.
    public struct Row: Codable, Equatable, Sendable {
        /// Its line in the file, from 1.
        public var line: Int
        /// Who wrote it there.
        public var author: String
        /// When, in Unix milliseconds.
        public var time: UInt64
        /// The text.
        public var text: String
        /// Whether it was an action.
        public var isAction: Bool
        /// How many rows above it in the file say the same: the same text at the same time by the same
        /// author. Nil where ``line`` alone tells whether it is in.
        public var alikeAbove: Int?
        /// How many rows above it in the file are as long, at the same time and by the same author: by
        /// that it is known where it was deleted.
        public var likeLengthAbove: Int?
        /// Whether nothing ends its line, so that it may be the beginning of a longer one.
        public var mayGrow: Bool?
        /// A row with these fields.
        public init(line: Int, author: String, time: UInt64, text: String, isAction: Bool) {
            self.line = line
            self.author = author
            self.time = time
            self.text = text
            self.isAction = isAction
        }
    }
    /// Where to.
    public var conversation: String
    /// What names the file up to ``throughLine``, as 64 hex digits.
    public var fileHash: String
    /// Up to which line the file is in once this is stored.
    public var throughLine: Int
    /// Ascending by line.
    public var rows: [Row]
    /// What names its first lines, as ``fileHash`` does: a file that begins so is known by them, however
    /// it goes on.
    public var beginnings: [String]
    /// A batch with these fields.
    public init(
        conversation: String, fileHash: String, throughLine: Int, rows: [Row],
        beginnings: [String] = []
    ) {
        self.conversation = conversation
        self.fileHash = fileHash
        self.throughLine = throughLine
        self.rows = rows
        self.beginnings = beginnings
    }
}

/// What an import did.
public struct ImportResult: Codable, Equatable, Sendable {
    /// Messages stored now.
    public var stored: Int
    /// Messages that were in before.
    public var known: Int
    /// How many of these were deleted since, and stay so.
    public var deleted: Int?
}
