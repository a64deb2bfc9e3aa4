import Foundation
import ParleyAssistant
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Which messages of a conversation are looked at.
struct SaidFilter: Sendable {
    /// The thread that begins with this message, or that it is in.
    var thread: OperationNumber?
    /// In Unix milliseconds, from the first on and before the second.
    var since: UInt64?
    var until: UInt64?
    /// Whether to begin with the first message that is not read.
    var isUnread = false
}

/// Messages of a conversation, as the assistant takes them.
struct SaidMessages: Sendable {
    /// What else is known of one.
    struct Origin: Sendable {
        var reference: OperationReference
        var parent: OperationReference?
        /// Whether it was imported or forwarded: who put it here promises nothing by it.
        var isForeign: Bool
        var editCount: Int
        var isUnread: Bool
    }
    var space: SpaceNumber
    /// Oldest first.
    var messages: [SaidMessage] = []
    var origins: [Int64: Origin] = [:]
    var people: [AddressedPerson] = []
    var hasMore = false

    var looked: LookedAt { LookedAt(messageCount: messages.count, hasMore: hasMore) }
}

extension Node {
    /// So many messages are read in one turn of the node's actor.
    private static let turnCount = 500
    /// A clock that is ahead or behind by more is not followed: in Unix milliseconds.
    private static let clockSlack: UInt64 = 24 * 3_600_000

    /// The newest messages of a conversation that pass a filter, in turns: others work between them.
    func said(
        in number: SpaceNumber, _ filter: SaidFilter, zone: TimeZone
    ) async throws -> SaidMessages {
        var said = SaidMessages(space: number)
        said.people = try await read { try $0.addressed(in: number) }
        let root = try await read { views in
            try filter.thread.map { try views.threadReference(of: $0) }
        }
        var (before, seen): (OrderKey?, Int) = (nil, 0)
        var pages: [[SaidMessages.Entry]] = []
        while true {
            // Who asked may be gone.
            try Task.checkCancellation()
            let place = before
            let count = min(Self.turnCount, Analysis.messageCountMax - seen)
            let page = try await read { try $0.said(in: number, before: place, limit: count, zone) }
            seen += page.entries.count
            pages.append(
                page.entries.filter { entry in
                    (root == nil || entry.origin.reference == root || entry.thread == root)
                        && entry.message.time >= filter.since ?? 0
                        && entry.message.time < filter.until ?? .max
                        && (!filter.isUnread || entry.origin.isUnread || entry.message.isOwn)
                })
            guard let last = page.last else { break }
            // What stands above was read, or is older.
            if filter.isUnread, try await read({ try !$0.isUnread(above: last, in: number) }) {
                break
            }
            if let since = filter.since, last.stand >> 16 + Self.clockSlack < since { break }
            if seen >= Analysis.messageCountMax {
                said.hasMore = try await read {
                    try $0.store.messageCount(before: last, in: number) > 0
                }
                break
            }
            before = last
        }
        let entries = pages.reversed().flatMap { $0.reversed() }
        // Own messages above what is not read were said before it.
        let first = filter.isUnread ? entries.firstIndex { $0.origin.isUnread } : 0
        said.add(Array(entries[(first ?? entries.count)...]))
        return said
    }
}

extension SaidMessages {
    /// A message and what else is known of it.
    struct Entry: Sendable {
        var message: SaidMessage
        var origin: Origin
        var thread: OperationReference?
    }

    /// Adds messages, and what each of them replies to.
    fileprivate mutating func add(_ entries: [Entry]) {
        let numbers = Dictionary(
            entries.map { ($0.origin.reference, $0.message.number) }, uniquingKeysWith: { $1 })
        messages = entries.map { entry in
            var message = entry.message
            message.replyTo = entry.origin.parent.flatMap { numbers[$0] }
            return message
        }
        origins = Dictionary(
            entries.map { ($0.message.number, $0.origin) }, uniquingKeysWith: { $1 })
    }
}

extension Views {
    /// The members, as others address them.
    fileprivate func addressed(in number: SpaceNumber) throws -> [AddressedPerson] {
        guard let space = try store.space(number), let roster = try roster(of: space) else {
            return []
        }
        return try roster.members.map {
            AddressedPerson(
                id: $0.person.description, name: try bareName(of: $0.person, in: roster))
        }
    }

    /// The message that a thread begins with, as others name it.
    fileprivate func threadReference(of message: OperationNumber) throws -> OperationReference {
        let root = try threadRoot(of: message)
        guard let stored = try store.operation(root), let log = try store.log(stored.log) else {
            throw NodeError(.unknownMessage)
        }
        return OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
    }

    /// Whether a message is unread that stands above a place.
    fileprivate func isUnread(above place: OrderKey, in number: SpaceNumber) throws -> Bool {
        guard let space = try store.space(number), let roster = try roster(of: space) else {
            return false
        }
        let first = try Overview.firstUnread(
            of: space, roster: roster, ownPerson: ownPerson, ownSpace: core.ownSpace?.number,
            in: store)
        return first.map { $0 < place } ?? false
    }

    /// A page of messages that have a text, newest first, and where it ends; nil at the end of all.
    fileprivate func said(
        in number: SpaceNumber, before: OrderKey?, limit: Int, _ zone: TimeZone
    ) throws -> (entries: [SaidMessages.Entry], last: OrderKey?) {
        guard let space = try store.space(number), let roster = try roster(of: space),
            let unread = try unreadPlaces(in: number)
        else { return ([], nil) }
        let part = try timeline(of: space, roster).part(before: before, limit: limit, in: store)
        let shown = try part.messages.filter { try !hides($0.author, in: space) }
        return (try shown.compactMap { try entry(for: $0, roster, unread, zone) }, part.end)
    }

    private func entry(
        for message: Message, _ roster: Roster, _ unread: UnreadPlaces, _ zone: TimeZone
    ) throws -> SaidMessages.Entry? {
        guard let whole = message.text, !message.flags.contains(.deleted) else { return nil }
        // Of a longer one no more is looked at, and five thousand of them would fill the memory.
        let text = String(decoding: whole.utf8.prefix(Analysis.byteCountMax), as: UTF8.self)
        // Whoever imported what others said did not say it.
        let isOwn = message.author == ownPerson && message.origin == nil
        let name =
            try message.origin.map { VisibleName.shownPerson($0.author) }
            ?? bareName(of: message.author, in: roster)
        let moment = Date(timeIntervalSince1970: Double(min(message.time, Limits.clockMax)) / 1_000)
        let mentions = !isOwn && message.mentions.includes(ownPerson)
        return SaidMessages.Entry(
            message: SaidMessage(
                number: message.number.rawValue,
                author: message.origin.map { "\(message.author):\($0.author)" }
                    ?? message.author.description,
                name: name, time: message.time, offset: zone.secondsFromGMT(for: moment),
                text: text, reactionCount: message.reactions.reduce(0) { $0 + $1.persons.count },
                mentionsReader: mentions, isOwn: isOwn),
            origin: SaidMessages.Origin(
                reference: message.reference, parent: message.parent,
                isForeign: message.origin != nil || message.forwardedFrom != nil,
                editCount: message.editCount,
                isUnread: message.author != ownPerson && unread.contains(message.order)),
            thread: message.thread)
    }

    /// Lines for sentences, by their messages. What a message does not say any more has none.
    func lines(
        of sentences: [CitedSentence], in number: SpaceNumber
    ) throws -> [CitedSentence.Key: CitedLine] {
        guard let space = try store.space(number), let roster = try roster(of: space) else {
            return [:]
        }
        var found: [CitedSentence.Key: CitedLine] = [:]
        let numbers = Set(sentences.map(\.message)).sorted().map { OperationNumber($0) }
        let messages = try timeline(of: space, roster).messages(numbers, in: store)
        let current = Dictionary(
            messages.map { ($0.number.rawValue, $0) }, uniquingKeysWith: { $1 })
        for sentence in sentences {
            guard let message = current[sentence.message], !message.flags.contains(.deleted),
                message.text?.contains(sentence.text) == true
            else { continue }
            found[sentence.key] = CitedLine(
                number: sentence.message,
                id: try identifier(message.reference, in: number),
                conversation: space.id.description,
                author: try message.origin.map { VisibleName.shownPerson($0.author) }
                    ?? name(of: message.author, in: roster),
                person: message.author.description, time: message.time,
                isOwn: message.author == ownPerson && message.origin == nil,
                sentence: sentence.ordinal,
                text: sentence.text, isCut: sentence.isCut)
        }
        return found
    }
}

extension CitedSentence {
    /// A message, and which of its sentences.
    struct Key: Hashable, Sendable {
        var message: Int64
        var ordinal: Int
    }

    var key: Key { Key(message: message, ordinal: ordinal) }
}
