import ParleyConversation
import ParleyLedger
import ParleyNodeCore

/// A page of messages, oldest first within the page, that ends below `before` or at the newest, or begins
/// with the message that `from` others stand above.
public struct ReadMessages: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "messages", RequestScope.read,
        "A page of messages, oldest first: up to the newest, up to the place before, or from the "
            + "message that has from messages above it."
    )
    /// An example of the request.
    public static let example = ReadMessages(conversation: "trip", limit: 50)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// A `cursor` of an earlier page; nil for the newest.
    public var before: String?
    /// How many messages stand above the page, for who shows a place of the whole: where there are not so
    /// many, it is the newest page. Not with `before`.
    public var from: Int?
    /// At most so many messages.
    public var limit: Int

    /// A request with these parameters.
    public init(conversation: String, before: String? = nil, from: Int? = nil, limit: Int) {
        self.conversation = conversation
        self.before = before
        self.from = from
        self.limit = limit
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessagePage {
        try MessagePage.check(limit: limit)
        guard (0...Int(Int32.max)).contains(from ?? 0), from == nil || before == nil else {
            throw NodeError(
                "bad-place", "A page begins with a place of the conversation, or ends below one.")
        }
        return try await node.read { views in
            if let from {
                return try views.page(
                    of: views.conversation(conversation), from: from, limit: limit)
            }
            return try views.page(
                of: views.conversation(conversation), before: before, limit: limit)
        }
    }

    /// One line of the local API carries no more.
    public var remoteFault: String? { MessagePage.remoteFault(limit: limit) }
}

/// The page that begins at the first message that is not read; the newest page where all are.
public struct ReadUnread: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "unread", RequestScope.read,
        "The page that begins at the first unread message; the newest page if all are read."
    )
    /// An example of the request.
    public static let example = ReadUnread(conversation: "trip", limit: 50)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// At most so many messages.
    public var limit: Int

    /// A request with these parameters.
    public init(conversation: String, limit: Int) {
        self.conversation = conversation
        self.limit = limit
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessagePage {
        try MessagePage.check(limit: limit)
        return try await node.read {
            try $0.unreadPage(of: $0.conversation(conversation), limit: limit)
        }
    }

    /// One line of the local API carries no more.
    public var remoteFault: String? { MessagePage.remoteFault(limit: limit) }
}

/// Marks messages of a conversation as read, and nothing else: those that a screen showed. The
/// reply is how many were unread.
public struct MarkRead: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "markRead", RequestScope.write,
        "Marks messages that a screen showed as read; the reply is how many were unread."
    )
    /// An example of the request.
    public static let example = MarkRead(conversation: "trip", messages: [12, 13], last: 40)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The messages.
    public var messages: [MessageReference]
    /// The `last` of the page that showed them: an edit that came later was not seen. Nil for as
    /// they are now.
    public var last: Int64?

    /// A request with these parameters.
    public init(conversation: String, messages: [MessageReference], last: Int64? = nil) {
        self.conversation = conversation
        self.messages = messages
        self.last = last
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> Int {
        guard messages.count <= MessagePage.messageCountMax else {
            throw NodeError(
                "too-many",
                "At most \(MessagePage.messageCountMax) messages can be marked at once.")
        }
        let (space, numbers) = try await node.read { views in
            (
                try views.conversation(conversation).id,
                try messages.map { try views.message($0) as OperationNumber }
            )
        }
        let shown = ShownMessages(numbers, last: last.map { OperationNumber($0) })
        let reply = try await node.running.perform(.markRead(space, shown))
        guard case .count(let count) = reply else { return 0 }
        return count
    }
}

/// Marks a conversation as unread for this person, until something is read there, or removes the
/// mark. Nobody else hears of it, and no receipt is taken back.
public struct MarkUnread: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "markUnread", RequestScope.write,
        "Marks a conversation as unread for oneself, until something is read there, or removes "
            + "that mark."
    )
    /// An example of the request.
    public static let example = MarkUnread(conversation: "trip", on: true)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// Whether it is marked.
    public var on: Bool

    /// A request with these parameters.
    public init(conversation: String, on: Bool) {
        self.conversation = conversation
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let space = try await node.space(conversation)
        _ = try await node.running.perform(.markUnread(space, isOn: on))
        return NoReply()
    }
}

/// Texts that a message had, oldest first; at most ``HistoryPage/versionCountMax``.
public struct GetMessageHistory: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "history", RequestScope.read,
        "Texts that a message had, oldest first."
    )
    /// An example of the request.
    public static let example = GetMessageHistory(message: 12, from: 0)

    /// The message.
    public var message: MessageReference
    /// The number of the first one wanted, counted from 0.
    public var from: Int

    /// A request with these parameters.
    public init(message: MessageReference, from: Int) {
        self.message = message
        self.from = from
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> HistoryPage {
        try await node.read {
            try $0.history(of: $0.message(message), from: from, limit: HistoryPage.versionCountMax)
        }
    }
}

/// A page of changes after a cursor, as ``ChangeView`` tells; with nil it is empty and names the
/// cursor after everything.
public struct ReadChanges: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "changes", RequestScope.read,
        "A page of changes after a cursor; without a cursor, an empty page with the newest cursor."
    )
    /// An example of the request.
    public static let example = ReadChanges(after: "1a2b3c4d5.7", limit: 100)

    /// The cursor; nil for the one after everything.
    public var after: String?
    /// At most so many changes.
    public var limit: Int

    /// A request with these parameters.
    public init(after: String? = nil, limit: Int) {
        self.after = after
        self.limit = limit
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ChangePage {
        guard (1...ChangePage.changeCountMax).contains(limit) else {
            throw NodeError(
                "bad-limit", "A page holds from 1 to \(ChangePage.changeCountMax) changes.")
        }
        let cursor = try after.map { try EventCursor(text: $0) }
        return try await node.read { try $0.changes(after: cursor, limit: limit, isKnown: false) }
    }
}

extension MessagePage {
    /// Messages of a page, at most.
    static let messageCountMax = 1000
    /// Messages of a page that one line of the local API carries, however long they are.
    public static let remoteMessageCountMax = 200

    static func check(limit: Int) throws {
        guard (1...messageCountMax).contains(limit) else {
            throw NodeError("bad-limit", "A page holds from 1 to \(messageCountMax) messages.")
        }
    }

    fileprivate static func remoteFault(limit: Int) -> String? {
        (1...remoteMessageCountMax).contains(limit)
            ? nil : "\"limit\" must be 1 to \(remoteMessageCountMax)"
    }
}
