public import Parley

/// Every function is the method of the same name in ``Route``, and throws the `NodeError` that
/// the node threw.
extension NodeClient: NodeService {
    /// Has the running node answer a request.
    @discardableResult
    public func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply {
        try await ask(R.name, request)
    }

    /// See `NodeService.status()`.
    public func status() async throws -> NodeStatus { try await call("status") }

    /// See `NodeService.invite(uses:hours:)`.
    public func invite(uses: Int, hours: Int) async throws -> InviteView {
        try await call("invite", ["hours": hours, "uses": uses])
    }

    /// See `NodeService.invites()`.
    public func invites() async throws -> [InviteView] { try await call("invites") }

    /// See `NodeService.revokeInvite(_:)`.
    public func revokeInvite(_ id: String) async throws {
        let _: Nothing = try await call("revokeInvite", ["id": id])
    }

    /// See `NodeService.accept(link:alias:)`.
    public func accept(link: String, alias: String?) async throws -> ContactView {
        try await call("accept", ["link": link, "alias": alias])
    }

    /// See `NodeService.card()`.
    public func card() async throws -> CardView { try await call("card") }

    /// See `NodeService.requestContact(card:alias:)`.
    public func requestContact(card: String, alias: String?) async throws -> ContactView {
        try await call("requestContact", ["card": card, "alias": alias])
    }

    /// See `NodeService.decide(about:_:)`.
    public func decide(
        about person: String, _ decision: ContactDecision
    ) async throws -> ContactView {
        try await call("decide", ["person": person, "decision": decision])
    }

    /// See `NodeService.setAlias(person:alias:)`.
    public func setAlias(person: String, alias: String?) async throws -> ContactView {
        try await call("setAlias", ["person": person, "alias": alias])
    }

    /// See `NodeService.contacts()`.
    public func contacts() async throws -> [ContactView] { try await call("contacts") }

    /// See `NodeService.conversations()`.
    public func conversations() async throws -> [ConversationView] {
        try await call("conversations")
    }

    /// See `NodeService.conversation(_:)`.
    public func conversation(_ argument: String) async throws -> ConversationView {
        try await call("conversation", ["conversation": argument])
    }

    /// See `NodeService.newConversation(name:members:)`.
    public func newConversation(
        name: String, members: [String]
    ) async throws -> ConversationView {
        try await call("newConversation", ["name": name, "members": members])
    }

    /// See `NodeService.rename(to:)`.
    public func rename(to name: String) async throws {
        let _: Nothing = try await call("renameSelf", ["name": name])
    }

    /// See `NodeService.rename(conversation:to:)`.
    public func rename(conversation: String, to name: String) async throws {
        let _: Nothing = try await call("rename", ["conversation": conversation, "name": name])
    }

    /// See `NodeService.mute(conversation:on:)`.
    public func mute(conversation: String, on: Bool) async throws {
        let _: Nothing = try await call("mute", ["conversation": conversation, "on": on])
    }

    /// See `NodeService.markRead(conversation:messages:last:)`.
    public func markRead(
        conversation: String, messages: [MessageReference], last: Int64?
    ) async throws -> Int {
        try await call(
            "markRead", ["conversation": conversation, "messages": messages, "last": last])
    }

    /// See `NodeService.unread(conversation:limit:)`.
    public func unread(conversation: String, limit: Int) async throws -> MessagePage {
        try await call("unread", ["conversation": conversation, "limit": limit])
    }

    /// See `NodeService.history(message:from:)`.
    public func history(message: MessageReference, from: Int) async throws -> HistoryPage {
        try await call("history", ["message": message, "from": from])
    }

    /// See `NodeService.messages(conversation:before:limit:)`.
    public func messages(
        conversation: String, before: String?, limit: Int
    ) async throws -> MessagePage {
        try await call(
            "messages", ["conversation": conversation, "before": before, "limit": limit])
    }

    /// See `NodeService.safetyNumber(person:)`.
    public func safetyNumber(person: String) async throws -> SafetyNumberView {
        try await call("safetyNumber", ["person": person])
    }

    /// See `NodeService.verify(person:code:)`.
    public func verify(person: String, code: String) async throws -> SafetyNumberView {
        try await call("verify", ["person": person, "code": code])
    }

    /// See `NodeService.markVerified(person:)`.
    public func markVerified(person: String) async throws {
        let _: Nothing = try await call("markVerified", ["person": person])
    }

    /// See `NodeService.devices()`.
    public func devices() async throws -> [DeviceView] { try await call("devices") }

    /// See `NodeService.openLink()`.
    public func openLink() async throws -> DeviceLinkView { try await call("openLink") }

    /// See `NodeService.closeLink()`.
    public func closeLink() async throws { let _: Nothing = try await call("closeLink") }

    /// See `NodeService.revoke(device:recoveryCode:)`.
    public func revoke(device: String, recoveryCode: String?) async throws {
        let _: Nothing = try await call(
            "revokeDevice", ["device": device, "recoveryCode": recoveryCode])
    }

    /// See `NodeService.rename(device:to:)`.
    public func rename(device: String, to name: String) async throws {
        let _: Nothing = try await call("renameDevice", ["device": device, "name": name])
    }

    /// See `NodeService.digests()`.
    public func digests() async throws -> [DigestView] { try await call("digests") }

    /// See `NodeService.doctor()`.
    public func doctor() async throws -> DoctorReport { try await call("doctor") }

    /// See `NodeService.createBackup(file:replacing:)`.
    public func createBackup(file: String, replacing: Bool) async throws -> BackupReport {
        try await call("createBackup", ["file": file, "replacing": replacing])
    }

    /// See `NodeService.noteRecoveryCode(root:backupKey:signature:)`.
    public func noteRecoveryCode(
        root: String, backupKey: String, signature: String
    ) async throws -> BackupKeyFinding {
        try await call(
            "noteRecoveryCode",
            ["root": root, "backupKey": backupKey, "signature": signature])
    }

    /// See `NodeService.changes(after:limit:)`.
    public func changes(after cursor: String?, limit: Int) async throws -> ChangePage {
        try await call("changes", ["after": cursor, "limit": limit])
    }

    /// See `NodeService.changes(after:)`. The stream ends when the node stops.
    public func changes(after cursor: String?) async throws -> AsyncStream<ChangeView> {
        try await follow(after: cursor)
    }
}
