/// Everything that people and programs ask of a node, as plain values.
///
/// The running node, and the local socket to one, both answer it: a command need not know whether
/// a node runs. Identifiers are lower-case hex; a `conversation` argument also takes a name or an
/// start of the identifier, and a `person` argument a name, alias or start of an identifier. Eight
/// hex digits and more are always an identifier, never a name; what fits two is refused.
public protocol NodeService: RelayService, SearchService, CallService {
    /// Answers a request.
    @discardableResult
    func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply
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
