import ParleyPayloads
public import ParleyLedger
public import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// A text message that disappears.
    public static let disappearingText = OperationKind(rawValue: 69)
    /// Sets how long messages of a conversation stay.
    public static let messageLifetime = OperationKind(rawValue: 44)

    /// Whether it is a message, which stays or disappears.
    public var isMessage: Bool { self == .text || self == .disappearingText }
}

extension EntryField {
    /// How long messages of a conversation stay: one entry, the last word.
    static let messageLifetime = EntryField(rawValue: 82)
}

/// How long messages of a conversation stay that are written from then on.
public struct MessageLifetime: Equatable, Sendable {
    /// After how many seconds they disappear; 0 for never.
    public var seconds: UInt64

    /// This many seconds.
    public init(seconds: UInt64) { self.seconds = seconds }

    package init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadLifetime.self, payload),
            message.seconds <= Limits.lifetimeSecondsMax
        else { return nil }
        seconds = message.seconds
    }

    /// The operation that says this.
    public var draft: Draft {
        var message = PayloadLifetime()
        message.version = 1
        message.seconds = seconds
        return Draft(kind: .messageLifetime, lane: .shared, payload: Payload.encode(message))
    }
}

/// The last word in order holds: of either in a conversation of two, in a group of whom its rules let.
enum MessageLifetimeRule: MergeRule {
    static let kind = OperationKind.messageLifetime
    static let lane = Lane.shared
    static let role = Role.member
    static let act: GroupAct? = .pin

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.roster.kind != .own,
            applied.operation.operation.payload.flatMap(MessageLifetime.init) != nil,
            try LastWriter.put(.messageLifetime, by: applied, context, in: store)
        else { return [] }
        return [.conversation(context.space.number)]
    }
}

/// A message that disappears is a row like any other until its words are erased; from then on it is
/// no row, here and wherever it comes without them. Nobody wants them, and no digest covers them.
enum DisappearingTextRule: MergeRule {
    static let kind = OperationKind.disappearingText
    static let lane = Lane.content
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let operation = applied.operation
        let mayBeChanged = try TextRule.mayBeDeleted(applied, in: store)
        if mayBeChanged {
            let object = EntryObject.operation(operation.tag, operation.sequence)
            try DeleteRule.eraseEdits(of: object, operation.id.check, context, in: store)
        }
        guard let message = operation.operation.payload.flatMap(TextMessage.init),
            message.lifetime != nil, message.origin == nil
        else { return [] }
        if mayBeChanged, try Deletion.covers(operation, in: context.space, store: store) {
            try Deletion.erase(applied.number, operation.operation, in: store)
            return []
        }
        return try TextRule.merge(applied, context, into: store)
            + [.disappearing(context.space.number, applied.number)]
    }
}

/// What becomes of messages whose time is over.
public enum Disappearance {
    /// Erases a message, and what is noted of it: its thread, mentions and files.
    ///
    /// - Returns: what changed; nothing for a message that is gone, or of another kind.
    public static func erase(
        _ number: OperationNumber, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let stored = try store.operation(number),
            stored.operation.header.kind == .disappearingText,
            let log = try store.log(stored.log)
        else { return [] }
        let order = stored.messageOrder(in: log)
        let object = EntryObject.operation(log.tag, stored.sequence)
        try Deletion.erase(number, stored.operation, in: store)
        // What does not count has no row, and its words go all the same.
        guard let row = try store.message(order, in: log.space) else {
            return try FileNotes.forget(number, object, in: log.space, store: store)
        }
        try store.remove(row)
        try MessageThread.forget(stored, at: order, in: log.space, store)
        try MentionNotes.forget(object, stored.id.check, in: log.space, store: store)
        return try FileNotes.forget(number, object, in: log.space, store: store)
            + [.message(log.space, number), .conversation(log.space)]
    }
}

extension Overview {
    /// After how many seconds messages disappear that are written now; nil if they stay.
    public static func messageLifetime(
        of space: SpaceNumber, in store: some MergeStore
    ) throws(StoreError) -> UInt64? {
        let entry = try store.entries(about: .space, in: space, field: .messageLifetime).first
        let stored = try entry.flatMap { entry throws(StoreError) in
            try store.operation(entry.operation)
        }
        let lifetime = stored?.operation.payload.flatMap(MessageLifetime.init)
        return lifetime.flatMap { $0.seconds > 0 ? $0.seconds : nil }
    }

    /// After how many seconds messages disappear in conversations that the person begins; nil if they stay.
    public static func usualLifetime(
        ownSpace: SpaceNumber?, in store: some MergeStore
    ) throws(StoreError) -> UInt64? {
        guard let ownSpace,
            let seconds = try number(.lifetime, ownSpace: ownSpace, in: store),
            (1...Limits.lifetimeSecondsMax).contains(seconds)
        else { return nil }
        return seconds
    }

    /// Of these logs the places of disappearing messages whose time runs: another person's, once this person has
    /// read them; this person's own, once a device of somebody else holds them or nobody is to have them.
    ///
    /// - Returns: the places of each log of the space; all of them where it has no record here.
    public static func begunToDisappear(
        in tags: [LogTag], of space: SpaceRecord, roster: Roster, ownPerson: PersonID,
        ownSpace: SpaceNumber?, store: some MergeStore
    ) throws(StoreError) -> [LogTag: PlaceSet] {
        let states = try MessageStates(
            in: space, roster: roster, besides: ownPerson, store: store)
        let own = try OwnReading(
            in: space, on: roster.everyDevice(of: ownPerson), ownSpace: ownSpace, store)
        let all = PlaceSet(0..<UInt64.max)
        var begun: [LogTag: PlaceSet] = [:]
        for tag in tags {
            guard let log = try store.log(tag, in: space.number) else {
                begun[tag] = all
                continue
            }
            if states.isOwn(tag) {
                begun[tag] = states.hasOthers ? states.left(in: tag) : all
            } else if let author = roster.person(of: log.device),
                try isHidden(author, in: space, ownSpace: ownSpace, store)
            {
                // What is shown to nobody here is never read.
                begun[tag] = all
            } else {
                begun[tag] = try own.places(of: tag, store)
            }
        }
        return begun
    }
}
