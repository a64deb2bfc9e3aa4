public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// What changed on screens.
public enum ViewChange: Hashable, Sendable {
    /// A message appeared or changed.
    case message(SpaceNumber, OperationNumber)
    /// A message, or an edit of one, arrived that mentions this person, and no earlier version did.
    case mention(SpaceNumber, OperationNumber)
    /// A message came that disappears.
    case disappearing(SpaceNumber, OperationNumber)
    /// A message that brings files came, or is gone.
    case files(SpaceNumber, OperationNumber)
    /// A conversation's name, mute or unread count changed.
    case conversation(SpaceNumber)
    /// Somebody received or read something.
    case receipts(SpaceNumber)
    /// A contact appeared or changed.
    case contact(PersonID)
    /// Devices of a person came, were named or were revoked.
    case devices(PersonID)
    /// A relay was chosen or given up by one of the person's devices.
    case relays
    /// A device showed a space's members its card, with this operation.
    case card(OperationNumber)
    /// The members of a conversation, or their rights, changed.
    case membership(SpaceNumber)
    /// An invitation into a group came, changed or was answered.
    case invitation(SpaceID)
    /// Who may add the person without asking changed.
    case additionPolicy
    /// Something changed that holds for the person on all devices.
    case preference(PreferenceKey)
    /// Everything in a conversation may have changed: some operations count no longer, or again.
    case refolded(SpaceNumber)
    /// Who types in a conversation changed.
    case typing(SpaceNumber)
    /// A person's presence changed.
    case presence(PersonID)
    /// A call in a conversation began, changed or ended.
    case calls(SpaceNumber)
    /// A poll, something to be done, a note or a decision came, changed or was taken back.
    case together(SpaceNumber, OperationNumber)
    /// This device rang for something that the person wanted to be reminded of.
    case reminder(Reminder.ID)
    /// A message that this device was to send could not be written when its time had come.
    case notSent(ScheduledMessage.ID)
    /// Clocks of peers differ from this device's, or do no longer.
    case clocks
}

/// What a merge rule may know beside the operation itself.
public struct MergeContext: Sendable {
    /// The space.
    public let space: SpaceRecord
    /// The roster.
    public let roster: Roster
    /// The person whose node this is.
    public let ownPerson: PersonID
    /// Where the newest message stood before these operations came, for marking late ones.
    public let newestStand: UInt64
    /// What the person deleted there for themselves; nil where that is nothing.
    public let ownDeletions: OwnDeletions?

    /// The author of the operation being merged.
    var author: Author

    /// A context with these fields.
    public init(
        space: SpaceRecord, roster: Roster, ownPerson: PersonID, newestStand: UInt64,
        ownDeletions: OwnDeletions? = nil
    ) {
        self.space = space
        self.roster = roster
        self.ownPerson = ownPerson
        self.newestStand = newestStand
        self.ownDeletions = ownDeletions
        author = Author(person: ownPerson, role: .reader)
    }

    /// The person who writes this log, in the space or out of it; nil if there is none.
    func person(writing log: LogRecord) -> PersonID? { roster.person(of: log.device) }
}

/// How operations of one kind change the views.
///
/// A rule must produce the same views in whatever order operations arrive: the subject of an
/// operation may arrive later, since history is fetched backwards. See
/// `Sources/Conversation/README.md`.
protocol MergeRule: SendableMetatype {
    /// The kind that it merges.
    static var kind: OperationKind { get }
    /// The only lane in which that kind has an effect.
    static var lane: Lane { get }
    /// The least that the author must be in the space.
    static var role: Role { get }
    /// What its author must have had the right to, by the rules of the space; nil for nothing.
    static var act: GroupAct? { get }
    /// Folds an operation into the views. Its author, ``MergeContext/author``, has been checked
    /// against ``role`` and ``act``.
    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange]
}

extension MergeRule {
    static var act: GroupAct? { nil }
}

/// What merge rules are written against.
public typealias MergeStore = LogStore & ConversationStore

/// Verified operations in, changed rows out, whatever the order.
public enum Merge {
    /// Every feature. A new one adds its rule here.
    static let rules: [any MergeRule.Type] = [
        TextRule.self, EditRule.self, DeleteRule.self, ReactionRule.self, ReceiptsRule.self,
        NameRule.self, DescriptionRule.self, GroupPictureRule.self, ProfileRule.self, PinRule.self,
        CallRule.self,
        SharedCardRule.self, OwnNoteRule<Mute>.self,
        OwnNoteRule<Contact>.self,
        OwnNoteRule<DeviceName>.self, OwnNoteRule<RelayChoice>.self,
        OwnNoteRule<AdditionPolicy>.self, OwnNoteRule<Preference>.self,
        PassingPreferenceRule.self,
        OwnNoteRule<Star>.self, OwnDeletionRule.self,
        PollRule.self, VoteRule.self, PollCloseRule.self, WithdrawalRule.self,
        ItemRule.self, ItemChangeRule.self, NoteRule.self, NoteEditRule.self, NoteTitleRule.self,
        DecisionRule.self, ApprovalRule.self, SettlingRule.self,
        DisappearingTextRule.self, MessageLifetimeRule.self, ReportRule.self,
    ]

    private static let rulesByKind = Dictionary(
        uniqueKeysWithValues: rules.map { ($0.kind.rawValue, $0) })

    /// What the rules of a group must allow to whoever writes an operation of this kind; nil where they
    /// say nothing of it.
    public static func act(of kind: OperationKind) -> GroupAct? { rulesByKind[kind.rawValue]?.act }

    /// Folds one applied operation into the views, if it counts.
    ///
    /// Unknown kinds, and operations that their author was not entitled to, have no effect. But words that
    /// disappear do so whether they count or not.
    ///
    /// - Parameter view: the row of the log's views that holds for the operation.
    public static func apply(
        _ applied: AppliedOperation, under view: LogView?, _ context: MergeContext,
        judging judge: inout Judge, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard
            let (rule, author) = entitled(
                applied.operation, in: applied.log, under: view, judging: &judge)
        else {
            let isDisappearing =
                applied.operation.operation.header.kind == .disappearingText
                && applied.log.lane == DisappearingTextRule.lane
            return isDisappearing ? [.disappearing(context.space.number, applied.number)] : []
        }
        var context = context
        context.author = author
        return try rule.merge(applied, context, into: store)
    }

    /// Who wrote a stored operation; nil where its kind is unknown, or they were not entitled to.
    public static func author(
        of stored: StoredOperation, in log: LogRecord, judging judge: inout Judge,
        store: some MergeStore
    ) throws(StoreError) -> PersonID? {
        let view = try store.view(at: stored.sequence, in: log.number)
        let operation = VerifiedOperation(stored: stored, tag: log.tag)
        return entitled(operation, in: log, under: view, judging: &judge)?.author.person
    }

    private static func entitled(
        _ operation: VerifiedOperation, in log: LogRecord, under view: LogView?,
        judging judge: inout Judge
    ) -> (rule: any MergeRule.Type, author: Author)? {
        guard let rule = rulesByKind[operation.operation.header.kind.rawValue],
            rule.lane == log.lane,
            case .effective(let author) = judge.standing(of: operation, in: log, under: view),
            author.role >= rule.role, rule.act.map(author.rights.contains) ?? true
        else { return nil }
        return (rule, author)
    }

    /// The same, with the view as the store has it.
    public static func apply(
        _ applied: AppliedOperation, _ context: MergeContext, judging judge: inout Judge,
        in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let view = try store.view(at: applied.operation.sequence, in: applied.log.number)
        return try apply(applied, under: view, context, judging: &judge, in: store)
    }

    /// Drops the views of a space and folds its operations again.
    ///
    /// - Parameter folded: is shown every operation once it was folded.
    public static func rebuild(
        _ context: MergeContext, judging judge: inout Judge, in store: some MergeStore,
        _ folded: (AppliedOperation) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) {
        try store.clearViews(of: context.space.number)
        for log in try store.logs(in: context.space.number) where log.lane != .control {
            var views = try store.views(in: log.number, 0...UInt64.max)[...]
            var view: LogView?
            for span in log.spans {
                _ = try store.eachOperation(of: log, span) { stored throws(StoreError) in
                    while let row = views.first, row.first <= stored.sequence {
                        view = row
                        _ = views.popFirst()
                    }
                    let applied = AppliedOperation(
                        number: stored.number, log: log,
                        operation: VerifiedOperation(stored: stored, tag: log.tag),
                        isBackfill: true)
                    _ = try apply(applied, under: view, context, judging: &judge, in: store)
                    try folded(applied)
                    return true
                }
            }
        }
    }
}
