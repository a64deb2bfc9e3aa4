public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// What changed on screens.
public enum ViewChange: Hashable, Sendable {
    /// A message appeared or changed.
    case message(SpaceNumber, OperationNumber)
    /// A conversation's name, mute or unread count changed.
    case conversation(SpaceNumber)
    /// Somebody received or read something.
    case receipts(SpaceNumber)
    /// A contact appeared or changed.
    case contact(PersonID)
    /// Devices of a person came, were named or were revoked.
    case devices(PersonID)
    /// A device showed a space's members its card, with this operation.
    case card(OperationNumber)
}

/// What a merge rule may know beside the operation itself.
public struct MergeContext: Sendable {
    /// The space.
    public let space: SpaceRecord
    /// Who is in it.
    public let roster: Roster
    /// The person whose node this is.
    public let ownPerson: PersonID
    /// The clock of the newest message before these operations came, for marking late ones.
    public let newestClock: UInt64

    /// A context with these fields.
    public init(
        space: SpaceRecord, roster: Roster, ownPerson: PersonID, newestClock: UInt64
    ) {
        self.space = space
        self.roster = roster
        self.ownPerson = ownPerson
        self.newestClock = newestClock
    }

    /// The person who writes this log, or nil for none of the roster.
    func person(writing log: LogRecord) -> PersonID? {
        roster.member(with: log.device)?.person
    }
}

/// How operations of one kind change the views.
///
/// A rule must come to the same views whatever the order in which operations arrive: what it is
/// about may come later, since history is fetched backwards. See `Sources/Conversation/README.md`.
protocol MergeRule: SendableMetatype {
    /// The kind that it merges.
    static var kind: OperationKind { get }
    /// The only lane in which that kind has an effect.
    static var lane: Lane { get }
    /// The least that the author must be in the space.
    static var role: Role { get }
    /// Folds an operation into the views. The author has been checked against ``role``.
    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange]
}

/// What merge rules are written against.
public typealias MergeStore = LogStore & ConversationStore

/// Verified operations in, changed rows out, whatever the order.
public enum Merge {
    /// Every feature. A new one adds its rule here.
    static let rules: [any MergeRule.Type] = [
        TextRule.self, EditRule.self, DeleteRule.self, ReactionRule.self, ReceiptsRule.self,
        NameRule.self, MuteRule.self, ContactRule.self, SharedCardRule.self,
        DeviceNameRule.self,
    ]

    private static let rulesByKind = Dictionary(
        uniqueKeysWithValues: rules.map { ($0.kind.rawValue, $0) })

    /// Folds one applied operation into the views.
    ///
    /// Unknown kinds, and operations that their author was not entitled to, have no effect.
    public static func apply(
        _ applied: AppliedOperation, _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let header = applied.operation.operation.header
        guard let rule = rulesByKind[header.kind.rawValue], rule.lane == applied.log.lane else {
            return []
        }
        let authority = applied.log.lane.carriesAuthority ? header.authority : nil
        let expected = applied.log.lane.carriesAuthority ? context.roster.authority : nil
        guard authority == expected,
            let member = context.roster.member(with: applied.log.device),
            member.role >= rule.role
        else { return [] }
        return try rule.merge(applied, context, into: store)
    }

    /// Drops the views of a space and folds its operations again.
    public static func rebuild(
        _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) {
        try store.clearViews(of: context.space.number)
        for log in try store.logs(in: context.space.number) {
            for span in log.spans {
                try fold(log, span.first...span.last, context, in: store)
            }
        }
    }

    private static func fold(
        _ log: LogRecord, _ range: ClosedRange<UInt64>, _ context: MergeContext,
        in store: some MergeStore
    ) throws(StoreError) {
        var next = range.lowerBound
        while next <= range.upperBound {
            let block = try store.operations(in: log.number, next...range.upperBound, limit: 1024)
            guard let last = block.last else { return }
            for stored in block {
                let applied = AppliedOperation(
                    number: stored.number, log: log,
                    operation: VerifiedOperation(stored: stored, tag: log.tag), isBackfill: true)
                _ = try apply(applied, context, in: store)
            }
            next = last.sequence + 1
        }
    }
}
