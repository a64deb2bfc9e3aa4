import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

extension Node: NodeService {
    func read<R: Sendable>(_ body: @Sendable (Views) throws -> R) async throws -> R {
        do {
            return try await running.read { try body($0) }
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }

    /// Answers a request.
    @discardableResult
    public func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply {
        try await request.perform(on: self)
    }

    // MARK: Oneself

    /// Who this node is and how it is doing.
    public func status() async throws -> NodeStatus {
        let addresses = network.addresses
        let remote = network.remoteAddresses
        let refused = network.refusals
        let traffic = network.traffic
        let failure = await running.lastFailure
        let path = home.path
        var status = try await read { views in
            try views.status(
                home: path, addresses: addresses, remoteAddresses: remote,
                traffic: traffic, transportRefusals: refused, failure: failure)
        }
        status.isOffline = network.isOffline
        status.isRunning = network.isRunning
        return status
    }

    // MARK: Conversations

    /// All conversations, newest first.
    public func conversations() async throws -> [ConversationView] {
        try await read { try $0.conversations() }
    }

    /// The conversation that an argument means.
    public func conversation(_ argument: String) async throws -> ConversationView {
        try await read { try $0.view(of: $0.conversation(argument)) }
    }

    /// A new group of these contacts.
    public func newConversation(name: String, members: [String]) async throws -> ConversationView {
        let persons = try await read { views in try members.map { try views.person($0) } }
        let reply = try await running.perform(.createGroup(name: name, members: persons))
        return try await read { views in
            guard case .space(let number) = reply, let space = try views.store.space(number) else {
                throw NodeError(.unknownConversation)
            }
            return try views.view(of: space)
        }
    }

    /// Names a conversation.
    public func rename(conversation: String, to name: String) async throws {
        _ = try await write(.rename(try await space(conversation), name))
    }

    /// Silences a conversation, or ends that.
    public func mute(conversation: String, on: Bool) async throws {
        _ = try await running.perform(.mute(try await space(conversation), isOn: on))
    }

    func space(_ argument: String) async throws -> SpaceID {
        try await read { try $0.conversation(argument).id }
    }

    // MARK: Messages

    /// A page of messages, oldest first within the page.
    public func messages(
        conversation: String, before: String?, limit: Int
    ) async throws -> MessagePage {
        try Self.check(limit: limit)
        return try await read { views in
            try views.page(of: views.conversation(conversation), before: before, limit: limit)
        }
    }

    // MARK: Checks

    /// What each conversation looks like here, in one hash each.
    public func digests() async throws -> [DigestView] { try await read { try $0.digests() } }
}
