import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Writes messages, in order; all are saved when it returns. If the conversation waits to recover
/// what this device wrote before, they are queued, and written after that.
public struct SendMessages: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "send", RequestScope.write,
        "Writes messages, in order; all are saved when it returns."
    )
    /// An example of the request.
    public static let example = SendMessages(
        conversation: "trip", texts: ["who brings the tent?"], replyTo: 12)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The texts, in their order.
    public var texts: [String]
    /// The message that they answer; nil if they answer nothing.
    public var replyTo: MessageReference?
    /// The thread that they go to, named by any of its messages: they answer the one that it begins with.
    /// Without a meaning beside `replyTo`.
    public var thread: MessageReference?
    /// Whether `@` and a name mention nobody; nil for false.
    public var withoutMentions: Bool?
    /// Tickets of files, as ``StageFile`` gave them, which the one message brings; its text may be empty.
    public var files: [String]?
    /// The ticket of a preview, as ``MakeLinkPreview`` gave it for the one text; nil for none.
    public var link: String?
    /// The caller's idempotency key: if the same name is used again in the same conversation,
    /// nothing is written again, and the answer is what was written then. At most 200 bytes; the
    /// newest 16,384 such names are known, also after a restart.
    public var once: String?
    /// Whether the name stands for the caller's last attempt, whatever that was about, until
    /// ``ForgetOnce`` ends it: it counts if it wrote the same texts within an hour, and else these are
    /// written. Nil for false.
    public var resumes: Bool?

    /// A request with these parameters.
    public init(
        conversation: String, texts: [String], replyTo: MessageReference? = nil,
        thread: MessageReference? = nil, withoutMentions: Bool? = nil, files: [String]? = nil,
        link: String? = nil, once: String? = nil, resumes: Bool? = nil
    ) {
        self.once = once
        self.resumes = resumes
        self.link = link
        self.files = files
        self.thread = thread
        self.conversation = conversation
        self.texts = texts
        self.replyTo = replyTo
        self.withoutMentions = withoutMentions
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [MessageView] {
        let key = try await onceKey(on: node)
        // The earlier result is returned before tickets are looked up that went with it.
        if let key, try await node.read({ try key.isKnown(in: $0.store) }) {
            let sent = try await node.send([], to: node.space(conversation), once: key)
            if resumes != true || isSame(sent, at: node.running.now.wall) { return sent }
            try await node.running.transact { store throws(StoreError) in
                try key.forget(in: store)
            }
        }
        let attachments = try attachments(on: node)
        let preview = try linkPreview(on: node)
        let (space, parent, messages) = try await node.read { views in
            let parent =
                try replyTo.map { try views.message($0) }
                ?? thread.map { try views.threadRoot(of: views.message($0)) }
            let space = try views.writable(conversation, answering: parent)
            let messages = try texts.map { text in
                guard withoutMentions != true else {
                    return TextMessage(text: text, files: attachments, link: preview)
                }
                let (written, mentions) = try views.resolvingMentions(text, in: space)
                return TextMessage(
                    text: written, mentions: mentions, files: attachments, link: preview)
            }
            return (space.id, parent, messages)
        }
        let sent = try await node.send(messages, to: space, replyingTo: parent, once: key)
        for ticket in files ?? [] { await node.depot.drop(ticket) }
        if let link { node.links.drop(link) }
        // A draft whose names are written otherwise than they were typed is sent all the same.
        if texts.count == 1, messages[0].text != texts[0],
            try await node.read({ try $0.draft(in: space) }) == texts[0]
        {
            _ = try await node.running.perform(.keepUnsent(space, ""))
        }
        return sent
    }
}

extension SendMessages {
    /// Who was cut off and repeats the same does so soon; what is said again later is meant.
    private static let resumedMillisecondsMax: UInt64 = 60 * 60 * 1_000

    /// Whether these are an attempt to say the same. A message that was edited or deleted since is not.
    private func isSame(_ sent: [MessageView], at now: UInt64) -> Bool {
        let window = Self.resumedMillisecondsMax
        let near = (now - min(now, window))...(now + window)
        return sent.map(\.text) == texts && sent.allSatisfy { near.contains($0.time) }
    }

    /// The key under which it is sent once; nil where none is named.
    private func onceKey(on node: Node) async throws -> OnceKey? {
        guard let once else { return nil }
        guard (1...OnceKey.byteCountMax).contains(once.utf8.count) else {
            throw NodeError(
                "bad-once", "“once” must have 1 to \(OnceKey.byteCountMax) bytes.",
                hint: "The identifier of what you answer is a good one.")
        }
        return OnceKey(once, in: try await node.space(conversation))
    }

    /// What its author saw behind an address in the message.
    private func linkPreview(on node: Node) throws -> LinkPreview? {
        guard let link else { return nil }
        guard let preview = node.links.preview(link) else { throw NodeError.noTicket }
        guard texts.count == 1, LinkPreview.addresses(in: texts[0]).contains(preview.address) else {
            throw NodeError(
                "other-link", "The text does not contain the address of that preview.")
        }
        return preview
    }

    /// The files that the message brings.
    private func attachments(on node: Node) throws -> [Attachment] {
        let files = files ?? []
        guard files.isEmpty || texts.count == 1 else {
            throw NodeError("one-message", "Files can be sent with one message only.")
        }
        return try files.map { ticket in
            guard let staged = node.depot.staged(ticket) else { throw NodeError.noTicket }
            if let failure = staged.view.failure { throw failure }
            guard let attachment = staged.attachment else {
                throw NodeError(
                    "not-sealed",
                    "A file is not encrypted yet.", hint: "Wait a moment.")
            }
            return attachment
        }
    }
}

/// Forgets what was sent under an idempotency key: the next messages under it are new ones.
public struct ForgetOnce: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "forgetOnce", RequestScope.write,
        "Forgets what was sent under an idempotency key; the messages stay."
    )
    /// An example of the request.
    public static let example = ForgetOnce(conversation: "trip", once: "question-1")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The key, as ``SendMessages/once`` named it.
    public var once: String

    /// A request with these parameters.
    public init(conversation: String, once: String) {
        self.conversation = conversation
        self.once = once
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let key = OnceKey(once, in: try await node.space(conversation))
        try await node.running.transact { store throws(StoreError) in
            try key.forget(in: store)
        }
        return NoReply()
    }
}

/// Gives an own message a new text.
public struct EditMessage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "edit", RequestScope.write,
        "Changes the text of one of the person's own messages; an imported one is refused."
    )
    /// An example of the request.
    public static let example = EditMessage(message: 12, text: "at nine")

    /// The message.
    public var message: MessageReference
    /// Its new text.
    public var text: String
    /// Whether `@` and a name mention nobody; nil for false.
    public var withoutMentions: Bool?

    /// A request with these parameters.
    public init(message: MessageReference, text: String, withoutMentions: Bool? = nil) {
        self.message = message
        self.text = text
        self.withoutMentions = withoutMentions
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessageView {
        let (number, written, mentions) = try await node.read { views in
            let number = try views.message(message)
            // Its words are those of whoever said them, as they were imported.
            if let shown = try views.message(number), shown.isImported, shown.isOwn,
                !shown.isDeleted
            {
                throw NodeError(
                    "imported", "That message was imported: it stays as it was said.",
                    hint: "`parley delete \(number.rawValue)` deletes it for everyone.")
            }
            guard withoutMentions != true, let space = try views.conversation(of: number) else {
                return (number, text, Mentions())
            }
            let (written, mentions) = try views.resolvingMentions(text, in: space)
            return (number, written, mentions)
        }
        return try await node.changed(
            node.write(.edit(number, text: written, mentions: mentions)))
    }
}

/// Takes a message back for everyone.
public struct DeleteMessage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "delete", RequestScope.write,
        "Deletes a message for everyone."
    )
    /// An example of the request.
    public static let example = DeleteMessage(message: 12)

    /// The message.
    public var message: MessageReference

    /// A request with these parameters.
    public init(message: MessageReference) {
        self.message = message
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessageView {
        let number = try await node.number(of: message)
        let before = try await node.read { try $0.message(number) }
        let reply = try await node.performFreeing(.delete(number))
        if let shown = try await node.messages(reply).first { return shown }
        // One that disappears is no row any more, and told as any other that was deleted.
        guard let before else { throw NodeError(.unknownMessage) }
        return try await node.read { try $0.deleted(before) }
    }
}

extension Views {
    /// A message that the person has just deleted and that is not here any more.
    func deleted(_ message: MessageView, forOneself: Bool = false) throws -> MessageView {
        var deleted = message.withoutContent()
        (deleted.isHidden, deleted.isDeleted) = (false, true)
        (deleted.isPinned, deleted.isStarred, deleted.reactions) = (false, false, [])
        (deleted.lifetime, deleted.disappears, deleted.state) = (nil, nil, nil)
        deleted.waiting = []
        if !forOneself, let space = try conversation(of: OperationNumber(message.number)),
            let roster = try roster(of: space), mayReachOthers(roster)
        {
            deleted.waiting = [
                MessageView.Waiting(
                    change: WaitingChange.Subject.deletion.rawValue,
                    state: try shown(.saved, in: space, roster))
            ]
        }
        return deleted
    }
}

/// Adds a reaction to a message, or takes it back.
public struct ReactToMessage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "react", RequestScope.write,
        "Adds a reaction to a message, or takes it back."
    )
    /// An example of the request.
    public static let example = ReactToMessage(message: 12, emoji: "👍", on: true)

    /// The message.
    public var message: MessageReference
    /// One emoji.
    public var emoji: String
    /// Whether it is added.
    public var on: Bool

    /// A request with these parameters.
    public init(message: MessageReference, emoji: String, on: Bool) {
        self.message = message
        self.emoji = emoji
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessageView {
        try await node.changed(
            node.write(.react(node.number(of: message), Reaction(emoji: emoji, isOn: on))))
    }
}

extension Node {
    /// Writes something; a caller who may not is told who may.
    func write(_ command: Command) async throws -> CommandReply {
        do {
            return try await running.perform(command)
        } catch let error as NodeError where error.code == "not-allowed" {
            throw try await read { try $0.refusal(of: command) } ?? error
        } catch let error as NodeError where error.code == "not-a-member" {
            throw try await read { try $0.shutOut(by: command) } ?? error
        }
    }

    /// Writes messages, in order, and tells them as they are shown; as well where they are kept for later.
    func send(
        _ messages: [TextMessage], to space: SpaceID, replyingTo parent: OperationNumber? = nil,
        once key: OnceKey? = nil
    ) async throws -> [MessageView] {
        let reply = try await write(
            key.map { .sendOnce(space, messages, replyingTo: parent, $0) }
                ?? .send(space, messages, replyingTo: parent))
        guard case .kept(let count) = reply else { return try await self.messages(reply) }
        return try await read { views in
            guard let record = try views.store.space(space),
                let roster = try views.roster(of: record)
            else { return [] }
            return try views.kept(in: record, roster).suffix(count)
        }
    }

    fileprivate func number(of message: MessageReference) async throws -> OperationNumber {
        try await read { try $0.message(message) }
    }

    fileprivate func changed(_ reply: CommandReply) async throws -> MessageView {
        guard let message = try await messages(reply).first else {
            throw NodeError(.unknownMessage)
        }
        return message
    }

    fileprivate func messages(_ reply: CommandReply) async throws -> [MessageView] {
        guard case .messages(let numbers) = reply else { return [] }
        return try await read { views in try numbers.compactMap { try views.message($0) } }
    }
}
