import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// A thread: the message that it begins with, and its answers in their order; the newest page, or the one
/// above another.
public struct ReadThread: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "thread", RequestScope.read,
        "A thread: the message that it begins with, and a page of its answers in their order."
    )
    /// An example of the request.
    public static let example = ReadThread(message: 12, limit: 50)

    /// The message that the thread begins with, or any of its answers.
    public var message: MessageReference
    /// How many answers, from 1 to 200.
    public var limit: Int
    /// ``ThreadPage/cursor`` of the page below; nil for the newest page.
    public var before: String?

    /// A request with these parameters.
    public init(message: MessageReference, limit: Int, before: String? = nil) {
        self.message = message
        self.limit = limit
        self.before = before
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ThreadPage {
        try await node.read { try $0.thread(of: message, before: before, limit: limit) }
    }
}

/// Threads of a conversation or of all, the one with the newest answer first.
public struct ListThreads: NodeRequest {
    /// The most that are returned at once.
    public static let limitMax = 100
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "threads", RequestScope.read,
        "Threads of a conversation or of all, the one with the newest answer first."
    )
    /// An example of the request.
    public static let example = ListThreads(conversation: "trip", limit: 20)

    /// The conversation: its name, its identifier or a start of that; nil for all.
    public var conversation: String?
    /// How many, from 1 to 100.
    public var limit: Int
    /// Where to continue: ``ThreadList/next`` of the page before; nil for the first page.
    public var from: String?

    /// A request with these parameters.
    public init(conversation: String? = nil, limit: Int, from: String? = nil) {
        self.conversation = conversation
        self.limit = limit
        self.from = from
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ThreadList {
        try await node.read { try $0.threads(in: conversation, limit: limit, from: from) }
    }
}

/// A page of a thread.
public struct ThreadPage: Codable, Equatable, Sendable {
    /// The conversation, in hex.
    public var conversation: String
    /// The name of the message that the thread begins with.
    public var rootID: String
    /// That message as it is now; nil where it is not here.
    public var root: MessageView?
    /// True where it is not here because it has disappeared; else nil.
    public var rootHasDisappeared: Bool?
    /// Answers, oldest first.
    public var answers: [MessageView]
    /// The value of `before` for the page above this one; nil if there is none.
    public var cursor: String?
    /// How many answers stand above the page.
    public var aboveCount: Int
    /// How many answers there are in all.
    public var answerCount: Int
    /// How many of them one has not read.
    public var unreadCount: Int
    /// The last operation that was stored when the page was made, for `markRead`.
    public var last: Int64
}

/// Threads, each in one line.
public struct ThreadList: Codable, Equatable, Sendable {
    /// One of them.
    public struct Entry: Codable, Equatable, Sendable {
        /// The name of its conversation.
        public var title: String
        /// The conversation, in hex.
        public var conversation: String
        /// The name of the message that it begins with.
        public var rootID: String
        /// That message as it is now; nil where it is not here.
        public var root: MessageView?
        /// True where it is not here because it has disappeared; else nil.
        public var rootHasDisappeared: Bool?
        /// The newest answer.
        public var newest: MessageView
        /// How many answers there are.
        public var answerCount: Int
        /// How many of them one has not read.
        public var unreadCount: Int
    }
    /// The one with the newest answer first.
    public var threads: [Entry]
    /// The value of `from` for the next page; nil if there is none.
    public var next: String?
}

extension Views {
    /// What this person has not read of a conversation; nil if it is not shown.
    func unreadPlaces(in number: SpaceNumber) throws(StoreError) -> UnreadPlaces? {
        guard let space = try store.space(number), space.kind != .own,
            let roster = try rosters.roster(of: space, in: store)
        else { return nil }
        return try UnreadPlaces(
            of: space, roster: roster, ownPerson: ownPerson, ownSpace: core.ownSpace?.number,
            in: store)
    }

    /// A message as one that answers it shows it; nil where it does not count.
    func quote(
        of stored: StoredOperation, in space: SpaceRecord, _ roster: Roster
    ) throws -> MessageView.Quote? {
        guard
            let message = try Timeline(
                of: space, roster: roster, ownPerson: ownPerson, includesHistory: false
            ).content(of: stored, in: store)
        else { return try quote(ofAbsent: stored, roster) }
        let isHidden = try hides(message.author, in: space)
        let text = isHidden ? nil : message.text
        let start = text.map { String($0.prefix(MessageView.Quote.characterCountMax)) }
        return MessageView.Quote(
            author: try message.origin.map { VisibleName.shownPerson($0.author) }
                ?? name(of: message.author, in: roster),
            text: start, isDeleted: message.isDeleted, isEdited: message.isEdited && !isHidden,
            isHidden: isHidden,
            files: isHidden || message.files.isEmpty ? nil : message.files.map(FileKind.word))
    }

    private func quote(
        ofAbsent stored: StoredOperation, _ roster: Roster
    ) throws -> MessageView.Quote? {
        let isDeleted = try isDeletedForOneself(stored)
        guard isDeleted || hasDisappeared(stored), let log = try store.log(stored.log),
            let author = roster.person(of: log.device)
        else { return nil }
        return MessageView.Quote(
            author: try name(of: author, in: roster), text: nil, isDeleted: isDeleted,
            isEdited: false, hasDisappeared: !isDeleted)
    }

    /// The message that a thread begins with, where it is here; else the one that was named.
    func threadRoot(of message: OperationNumber) throws -> OperationNumber {
        guard let stored = try store.operation(message), let log = try store.log(stored.log),
            let root = MessageThread.root(of: stored.operation.header)
        else { return message }
        return try answered(root, in: log.space).stored?.number ?? message
    }

    fileprivate func thread(
        of reference: MessageReference, before: String?, limit: Int
    ) throws -> ThreadPage {
        guard let stored = try store.operation(message(reference)),
            stored.operation.header.kind.isMessage, let log = try store.log(stored.log),
            let space = try store.space(log.space), let roster = try roster(of: space),
            let unread = try unreadPlaces(in: space.number)
        else { throw NodeError(.unknownMessage) }
        let own = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        let root = MessageThread.root(of: stored.operation.header) ?? own
        let summary = try Overview.thread(of: root, in: space.number, unread, store: store)
        let order = try before.flatMap { try Cursor.order($0, in: space, of: self) }
        let found = try Overview.answers(
            to: root, in: space.number, before: order,
            limit: min(max(1, limit), MessagePage.messageCountMax), store: store)
        var (shown, byteCount): ([(order: OrderKey, view: MessageView)], Int) = ([], 0)
        for message in try timeline(of: space, roster).messages(found.map(\.operation), in: store) {
            let view = try view(message, in: space, roster)
            byteCount += view.lineByteCount
            if !shown.isEmpty, byteCount > MessagePage.byteCountMax { break }
            shown.append((message.order, view))
        }
        let above =
            try shown.last.map {
                try Overview.answerCount(
                    to: root, in: space.number, before: $0.order, store: store)
            } ?? 0
        let (id, held) = try answered(root, in: space.number)
        return ThreadPage(
            conversation: space.id.description, rootID: id,
            root: try held.flatMap { try message($0.number) },
            rootHasDisappeared: held.map(hasDisappeared) == true ? true : nil,
            answers: shown.reversed().map(\.view),
            cursor: above > 0 ? shown.last?.view.id : nil, aboveCount: above,
            answerCount: summary?.answerCount ?? 0, unreadCount: summary?.unreadCount ?? 0,
            last: store.lastOperation.rawValue)
    }

    fileprivate func threads(
        in argument: String?, limit: Int, from cursor: String?
    ) throws -> ThreadList {
        let space = try argument.map { try conversation($0) }
        let count = min(max(1, limit), ListThreads.limitMax)
        var (list, byteCount) = (ThreadList(threads: []), 0)
        var last = try cursor.map { try EntryCursor.entry($0, of: .thread) }
        while true {
            let found = try Overview.threads(
                in: space?.number, before: last, limit: count, store: store
            ) { number throws(StoreError) in try unreadPlaces(in: number) }
            for (entry, summary) in found {
                if let view = try summary.flatMap({ try self.entry(for: $0) }) {
                    byteCount +=
                        view.newest.lineByteCount + (view.root?.lineByteCount ?? 0)
                    if list.threads.count == count
                        || byteCount > MessagePage.byteCountMax && !list.threads.isEmpty
                    {
                        list.next = last.map(EntryCursor.text)
                        return list
                    }
                    list.threads.append(view)
                }
                last = entry
            }
            if found.count < count { return list }
        }
    }

    /// Nil if there is nothing to show.
    private func entry(for thread: ThreadSummary) throws -> ThreadList.Entry? {
        guard let space = try store.space(thread.space), let roster = try roster(of: space),
            let newest = try message(thread.newest)
        else { return nil }
        let (id, held) = try answered(thread.root, in: space.number)
        return ThreadList.Entry(
            title: try title(of: space, roster), conversation: space.id.description, rootID: id,
            root: try held.flatMap { try message($0.number) },
            rootHasDisappeared: held.map(hasDisappeared) == true ? true : nil, newest: newest,
            answerCount: thread.answerCount, unreadCount: thread.unreadCount)
    }
}
