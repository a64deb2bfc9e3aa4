public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension EntryField {
    /// Which thread an answer is in: about the answer, with the thread as the element. Stores have an index
    /// of this number.
    public static let answer = EntryField(rawValue: 44)
    /// That there is a thread: about the space, one for each, established by its newest answer. Stores have
    /// indexes of this number.
    public static let thread = EntryField(rawValue: 45)
}

/// A thread: a message, and all that answers it, or answers an answer.
public enum MessageThread {
    /// The first message of an answer's thread: the one it names, or the one that it answers; nil
    /// for a message that answers none.
    public static func root(of header: OperationHeader) -> OperationReference? {
        header.kind.isMessage
            ? header.references.dropFirst().first ?? header.references.first : nil
    }

    /// What an answer to a message refers to.
    ///
    /// - Parameter header: that of the message which is answered.
    package static func references(
        answering parent: OperationReference, _ header: OperationHeader
    ) -> [OperationReference] {
        // An answer to the first message need not say twice which that is.
        [parent] + (root(of: header).map { [$0] } ?? [])
    }

    /// Tells threads apart. Of two messages at one place of a forked log each begins one of its own.
    static func element(
        of root: OperationReference, in store: some ConversationStore
    ) throws(StoreError) -> UInt64 {
        var writer = ByteWriter(capacity: 40)
        writer.uint64(root.tag.value)
        writer.uint64(root.sequence)
        writer.check(root.check)
        return try store.locator(writer.bytes)
    }

    /// Records an answer that arrived, or whose text arrived; a deleted one is none.
    ///
    /// - Parameter order: where it stands.
    static func note(
        _ answer: AppliedOperation, at order: OrderKey, isDeleted: Bool, _ context: MergeContext,
        in store: some MergeStore
    ) throws(StoreError) {
        let operation = answer.operation
        guard let root = root(of: operation.operation.header) else { return }
        let entry = Entry(
            space: context.space.number, object: .operation(operation.tag, operation.sequence),
            field: .answer, element: try element(of: root, in: store), operation: answer.number,
            order: order)
        if isDeleted { try store.remove(entry) } else { try store.put(entry) }
        try settle(like: entry, in: store)
    }

    /// An answer was deleted.
    static func forget(
        _ stored: StoredOperation, at order: OrderKey, in space: SpaceNumber,
        _ store: some MergeStore
    ) throws(StoreError) {
        guard let root = root(of: stored.operation.header) else { return }
        let entry = Entry(
            space: space, object: .operation(order.tag, order.sequence), field: .answer,
            element: try element(of: root, in: store), operation: stored.number, order: order)
        try store.remove(entry)
        try settle(like: entry, in: store)
    }

    /// Moves the thread to the place of its newest answer; a message without answers is not a
    /// thread.
    private static func settle(
        like answer: Entry, in store: some MergeStore
    ) throws(StoreError) {
        let newest = try store.answers(
            in: answer.element, of: answer.space, before: nil, limit: 1
        ).first
        let wanted = newest.map { newest in
            var thread = newest
            (thread.object, thread.field) = (.space, .thread)
            return thread
        }
        let kept = try store.entries(
            about: .space, in: answer.space, field: .thread, element: answer.element)
        if kept == (wanted.map { [$0] } ?? []) { return }
        for thread in kept { try store.remove(thread) }
        if let wanted { try store.put(wanted) }
    }
}

/// A thread in one line.
public struct ThreadSummary: Equatable, Sendable {
    /// The conversation.
    public var space: SpaceNumber
    /// The message that it begins with, which need not be here.
    public var root: OperationReference
    /// The newest answer.
    public var newest: OperationNumber
    /// Where that stands.
    public var order: OrderKey
    /// How many answers there are.
    public var answerCount: Int
    /// How many of them, of others, the person has not read.
    public var unreadCount: Int
}

extension Overview {
    /// At most `limit` threads, of one conversation or of all, the one with the newest answer first.
    ///
    /// - Parameters:
    ///   - before: the last thread of the page before.
    ///   - unread: what the person has not read of a conversation; nil of one that is not shown.
    public static func threads(
        in space: SpaceNumber?, before: Entry?, limit: Int, store: some MergeStore,
        unread: (SpaceNumber) throws(StoreError) -> UnreadPlaces?
    ) throws(StoreError) -> [(entry: Entry, summary: ThreadSummary?)] {
        var found: [(Entry, ThreadSummary?)] = []
        var counts: [SpaceNumber: [UInt64: Int]] = [:]
        for entry in try store.threads(in: space, before: before, limit: limit) {
            if counts[entry.space] == nil {
                counts[entry.space] = try unread(entry.space)?.answerCounts(
                    in: entry.space, store)
            }
            guard let unreadCounts = counts[entry.space],
                let newest = try store.operation(entry.operation),
                let root = MessageThread.root(of: newest.operation.header)
            else {
                found.append((entry, nil))
                continue
            }
            found.append(
                (
                    entry,
                    ThreadSummary(
                        space: entry.space, root: root, newest: entry.operation,
                        order: entry.order,
                        answerCount: try store.answerCount(
                            in: entry.element, of: entry.space, before: nil),
                        unreadCount: unreadCounts[entry.element] ?? 0)
                ))
        }
        return found
    }

    /// The thread that begins with a message; nil where nothing answers it.
    public static func thread(
        of root: OperationReference, in space: SpaceNumber, _ unread: UnreadPlaces,
        store: some MergeStore
    ) throws(StoreError) -> ThreadSummary? {
        let element = try MessageThread.element(of: root, in: store)
        let kept = try store.entries(about: .space, in: space, field: .thread, element: element)
        guard let entry = kept.first else { return nil }
        return ThreadSummary(
            space: space, root: root, newest: entry.operation, order: entry.order,
            answerCount: try store.answerCount(in: element, of: space, before: nil),
            unreadCount: try unread.answerCounts(in: space, store)[element] ?? 0)
    }

    /// How many answers of a thread stand below `before`.
    public static func answerCount(
        to root: OperationReference, in space: SpaceNumber, before: OrderKey,
        store: some MergeStore
    ) throws(StoreError) -> Int {
        let element = try MessageThread.element(of: root, in: store)
        return try store.answerCount(in: element, of: space, before: before)
    }

    /// At most `limit` answers of a thread that stand below `before`, or the newest; newest first.
    public static func answers(
        to root: OperationReference, in space: SpaceNumber, before: OrderKey?, limit: Int,
        store: some MergeStore
    ) throws(StoreError) -> [Entry] {
        let element = try MessageThread.element(of: root, in: store)
        return try store.answers(in: element, of: space, before: before, limit: limit)
    }
}

extension UnreadPlaces {
    /// How many answers of each thread are not read.
    func answerCounts(
        in space: SpaceNumber, _ store: some MergeStore
    ) throws(StoreError) -> [UInt64: Int] {
        var counts: [UInt64: Int] = [:]
        for (tag, gap) in sortedGaps {
            for element in try store.threadsAnswered(
                on: tag, gap, above: end ?? 0, in: space)
            { counts[element, default: 0] += 1 }
        }
        return counts
    }
}
