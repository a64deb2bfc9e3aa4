public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// How far a message has come. Only what was observed is ever shown.
public enum MessageState: String, Comparable, Sendable {
    /// It is on this device's disk.
    case saved
    /// A relay has it on its disk, for others to fetch.
    case relayed
    /// A device of another person holds it on its disk.
    case delivered
    /// Another person has read it.
    case read

    private var rank: Int {
        switch self {
        case .saved: 0
        case .relayed: 1
        case .delivered: 2
        case .read: 3
        }
    }

    /// States order by how far they are.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

/// A message as a screen shows it.
public struct Message: Equatable, Sendable {
    /// An emoji, and who reacted with it.
    public struct Reactions: Equatable, Sendable {
        /// The emoji.
        public var emoji: String
        /// Who reacted, in the order in which they did.
        public var persons: [PersonID]
    }

    /// Its row here: how commands of this node name it.
    public var number: OperationNumber
    /// How operations of the space name it.
    public var reference: OperationReference
    /// Where it stands.
    public var order: OrderKey
    /// Who wrote it, or who brought it in.
    public var author: PersonID
    /// The text as last edited; nil where it was deleted or has not arrived.
    public var text: String?
    /// Where it came from, unless it was written here.
    public var origin: ImportedOrigin?
    /// When it was written by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// The message that it replies to.
    public var parent: OperationReference?
    /// Earlier texts, oldest first; empty where it was never edited.
    public var history: [String]
    /// Reactions, in the order in which the first of each came.
    public var reactions: [Reactions]
    /// What a screen marks.
    public var flags: MessageRow.Flags
    /// How far it has come; nil for messages of others.
    public var state: MessageState?
}

/// Reads a space's messages as screens show them.
public struct Timeline {
    private let space: SpaceRecord
    private let roster: Roster
    private let ownPerson: PersonID
    private let relayed: [LogTag: [Range<UInt64>]]

    /// A timeline of this space, seen by this person.
    ///
    /// - Parameter relayed: which places of own logs relays have on their disks.
    public init(
        of space: SpaceRecord, roster: Roster, ownPerson: PersonID,
        relayed: [LogTag: [Range<UInt64>]] = [:]
    ) {
        self.space = space
        self.roster = roster
        self.ownPerson = ownPerson
        self.relayed = relayed
    }

    /// At most `limit` messages below `before` (or the newest), newest first.
    public func page(
        before: OrderKey? = nil, limit: Int, in store: some MergeStore
    ) throws(StoreError) -> [Message] {
        let rows = try store.messages(in: space.number, before: before, limit: limit)
        let states = try MessageStates(
            in: space, roster: roster, besides: ownPerson, relayed: relayed, store: store)
        var messages: [Message] = []
        messages.reserveCapacity(rows.count)
        for row in rows {
            if let message = try message(row, states: states, in: store) {
                messages.append(message)
            }
        }
        return messages
    }

    /// The message in this row of the store, or nil where it is none of this space.
    public func message(
        _ number: OperationNumber, in store: some MergeStore
    ) throws(StoreError) -> Message? {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            log.space == space.number,
            let row = try store.message(stored.messageOrder(in: log), in: space.number)
        else { return nil }
        let states = try MessageStates(
            in: space, roster: roster, besides: ownPerson, relayed: relayed, store: store)
        return try message(row, states: states, in: store)
    }

    private func message(
        _ row: MessageRow, states: MessageStates, in store: some MergeStore
    ) throws(StoreError) -> Message? {
        guard let stored = try store.operation(row.operation), let log = try store.log(row.log),
            let author = roster.person(of: log.device)
        else { return nil }
        let content = stored.operation.payload.flatMap(TextMessage.init)
        let notes = try store.entries(
            about: .operation(log.tag, stored.sequence), in: space.number, field: nil)
        let edits = try texts(of: notes.filter { $0.field == .edit }, in: store)
        let isDeleted = row.flags.contains(.deleted)
        let versions = isDeleted ? [] : (content.map { [$0.text] } ?? []) + edits
        return Message(
            number: row.operation,
            reference: OperationReference(
                tag: log.tag, sequence: stored.sequence, check: stored.id.check),
            order: row.order, author: author, text: versions.last, origin: content?.origin,
            time: content?.origin?.time ?? stored.operation.header.wallClock,
            parent: stored.operation.header.references.first,
            history: Array(versions.dropLast()),
            reactions: isDeleted ? [] : try reactions(notes, in: store), flags: row.flags,
            state: author == ownPerson ? states.state(of: log.tag, stored.sequence) : nil)
    }

    private func texts(
        of edits: [Entry], in store: some MergeStore
    ) throws(StoreError) -> [String] {
        var texts: [String] = []
        for entry in edits.sorted(by: { $0.order < $1.order }) {
            let payload = try store.operation(entry.operation)?.operation.payload
            if let edit = payload.flatMap(MessageEdit.init) { texts.append(edit.text) }
        }
        return texts
    }

    private func reactions(
        _ notes: [Entry], in store: some MergeStore
    ) throws(StoreError) -> [Message.Reactions] {
        var reactions: [Message.Reactions] = []
        let active = notes.filter { $0.field == .reaction && $0.isOn }
        for entry in active.sorted(by: { $0.order < $1.order }) {
            guard let stored = try store.operation(entry.operation),
                let reaction = stored.operation.payload.flatMap(Reaction.init),
                let log = try store.log(stored.log),
                let person = roster.person(of: log.device)
            else { continue }
            if let index = reactions.firstIndex(where: { $0.emoji == reaction.emoji }) {
                reactions[index].persons.append(person)
            } else {
                reactions.append(.init(emoji: reaction.emoji, persons: [person]))
            }
        }
        return reactions
    }
}

/// How far others are with the logs of a space.
///
/// Who came later counts for nothing that lies below their horizon: they do not hold it, or, if they
/// have come back, nobody knows how much of it.
struct MessageStates {
    private var read: [LogTag: [Range<UInt64>]] = [:]
    private var delivered: [LogTag: [Range<UInt64>]] = [:]
    private let relayed: [LogTag: [Range<UInt64>]]

    init(
        in space: SpaceRecord, roster: Roster, besides ownPerson: PersonID,
        relayed: [LogTag: [Range<UInt64>]] = [:], store: some MergeStore
    ) throws(StoreError) {
        self.relayed = relayed
        var authors: [LogTag: DeviceID] = [:]
        for device in roster.devicesEver(of: ownPerson) {
            let log = OperationHash.log(space: space.id, device: device, lane: .content)
            authors[LogTag(log)] = device
        }
        func first(of tag: LogTag, for device: DeviceID) -> UInt64 {
            guard let author = authors[tag] else { return 0 }
            return roster.horizon(of: device).place(of: author, .content).map { $0.sequence + 1 }
                ?? 0
        }
        var held: [PersonID: [LogTag: UInt64]] = [:]
        for kind in [MarkKind.delivered, .acknowledged] {
            for mark in try store.marks(kind, in: space.number) {
                let device = DeviceID(reinterpreting: mark.actor)
                guard let person = roster.person(of: device), person != ownPerson else {
                    continue
                }
                held[person, default: [:]][mark.tag] = max(
                    held[person]?[mark.tag] ?? 0, mark.sequence)
                Self.add(mark, from: first(of: mark.tag, for: device), to: &delivered)
            }
        }
        let saysDelivered = roster.members.count <= Receipts.deliveryMemberCountMax
        for var mark in try store.marks(.read, in: space.number)
        where mark.actor != Digest(reinterpreting: ownPerson) {
            let person = PersonID(reinterpreting: mark.actor)
            if saysDelivered {
                // Who reads the newest may lack some before it, and has not read those.
                guard let held = held[person]?[mark.tag] else { continue }
                mark.sequence = min(mark.sequence, held)
            }
            let devices = roster.devicesEver(of: person)
            let first = devices.map { first(of: mark.tag, for: $0) }.min() ?? 0
            Self.add(mark, from: first, to: &read)
        }
    }

    private static func add(
        _ mark: Mark, from first: UInt64, to ranges: inout [LogTag: [Range<UInt64>]]
    ) {
        guard first <= mark.sequence else { return }
        let range = first..<mark.sequence + 1
        var known = ranges[mark.tag] ?? []
        if known.contains(where: { $0.clamped(to: range) == range }) { return }
        known.removeAll { range.clamped(to: $0) == $0 }
        ranges[mark.tag] = known + [range]
    }

    /// The place after the last that somebody else holds.
    func deliveredEnd(of tag: LogTag) -> UInt64 {
        ((delivered[tag] ?? []) + (read[tag] ?? [])).map(\.upperBound).max() ?? 0
    }

    func state(of tag: LogTag, _ sequence: UInt64) -> MessageState {
        func isIn(_ ranges: [LogTag: [Range<UInt64>]]) -> Bool {
            ranges[tag]?.contains { $0.contains(sequence) } == true
        }
        if isIn(read) { return .read }
        if isIn(delivered) { return .delivered }
        return isIn(relayed) ? .relayed : .saved
    }
}
