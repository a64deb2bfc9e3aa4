import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Proposes something to be decided.
    public static let decision = OperationKind(rawValue: 102)
    /// Approves, or withdraws the approval.
    public static let approval = OperationKind(rawValue: 103)
    /// Says how it stands.
    public static let settling = OperationKind(rawValue: 104)
}

extension EntryField {
    /// Decisions, one entry for each. Stores have indexes of this number.
    public static let decision = EntryField(rawValue: 70)
    /// The last word of each person on whether they approve of one.
    static let approval = EntryField(rawValue: 71)
    /// The last word on how one stands.
    static let settling = EntryField(rawValue: 72)
}

/// The payload that proposes something to be decided. Its words never change: approvals are of them.
public struct DecisionProposal: Equatable, Sendable {
    /// The title.
    public var title: String
    /// The text.
    public var text: String
    /// Its tags: each once, ascending by their bytes.
    public var tags: [String]

    /// A proposal with these fields.
    public init(title: String, text: String = "", tags: [String] = []) {
        self.title = title
        self.text = text
        self.tags = []
        for tag in tags.sorted(by: Self.precedes) {
            if self.tags.last.map({ Self.precedes($0, tag) }) ?? true { self.tags.append(tag) }
        }
    }

    /// The content of a payload; nil if it cannot be read.
    package init?(payload: [UInt8]) {
        guard let decision = Payload.decode(PayloadDecision.self, payload),
            (1...Limits.decisionTitleByteCountMax).contains(decision.title.utf8.count),
            decision.text.utf8.count <= Limits.decisionTextByteCountMax,
            decision.tags.count <= Limits.decisionTagCountMax,
            decision.tags.allSatisfy({
                (1...Limits.decisionTagByteCountMax).contains($0.utf8.count)
            }),
            zip(decision.tags, decision.tags.dropFirst()).allSatisfy(Self.precedes)
        else { return nil }
        self.init(title: decision.title, text: decision.text, tags: decision.tags)
    }

    /// By bytes: how texts are compared otherwise differs from one version of Unicode to the next.
    private static func precedes(_ tag: String, _ other: String) -> Bool {
        tag.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// The operation that proposes it.
    ///
    /// - Parameter source: the message or the poll that it was made from.
    public func draft(from source: OperationReference? = nil) -> Draft {
        var decision = PayloadDecision()
        decision.title = title
        decision.text = text
        decision.tags = tags
        return Draft(
            kind: .decision, lane: .shared, references: source.map { [$0] } ?? [],
            payload: Payload.encode(decision))
    }
}

/// Whether a person approves of a decision.
public enum Approval {
    /// Whether a payload approves; nil where it cannot be read.
    package static func isOn(payload: [UInt8]) -> Bool? {
        Payload.decode(PayloadApproval.self, payload)?.on
    }

    /// The operation that says so. It has no words, so nothing ever erases it.
    public static func draft(of decision: OperationReference, isOn: Bool) -> Draft {
        var approval = PayloadApproval()
        // A payload has at least one byte, also where it takes back.
        approval.version = 1
        approval.on = isOn
        return Draft(
            kind: .approval, lane: .shared, references: [decision],
            payload: Payload.encode(approval), isErasable: false)
    }
}

/// How a decision stands. The numbers are on the wire.
public enum DecisionState: UInt32, CaseIterable, Sendable {
    /// Nobody settled it, or somebody opened it again.
    case proposed = 1
    /// It holds.
    case accepted = 2
    /// It does not.
    case rejected = 3
    /// Another one takes its place.
    case superseded = 4
}

/// The word on how a decision stands.
public struct Settling: Equatable, Sendable {
    /// How it stands.
    public var state: DecisionState
    /// Which decision takes its place, where one does.
    public var successor: OperationReference?

    /// A word with these fields.
    ///
    /// - Parameter successor: given where another one takes its place, and only there.
    public init(_ state: DecisionState, by successor: OperationReference? = nil) {
        self.state = state
        self.successor = successor
    }

    /// The content of an operation; nil if it breaks a rule, such as a decision that supersedes
    /// itself.
    init?(_ operation: Operation) {
        let references = operation.header.references
        guard let state = operation.payload.flatMap(Self.state(payload:)),
            let decision = references.first, references.count == (state == .superseded ? 2 : 1)
        else { return nil }
        let successor = references.dropFirst().first
        if let successor, (successor.tag, successor.sequence) == (decision.tag, decision.sequence) {
            return nil
        }
        self.init(state, by: successor)
    }

    /// How a decision stands, as a payload says; nil where it cannot be read.
    package static func state(payload: [UInt8]) -> DecisionState? {
        Payload.decode(PayloadSettling.self, payload).flatMap { DecisionState(rawValue: $0.state) }
    }

    /// The operation that says this of a decision. It has no words, so nothing ever erases it.
    public func draft(of decision: OperationReference) -> Draft {
        var settling = PayloadSettling()
        settling.state = state.rawValue
        return Draft(
            kind: .settling, lane: .shared, references: [decision] + (successor.map { [$0] } ?? []),
            payload: Payload.encode(settling), isErasable: false)
    }
}

/// A decision is an entry of its conversation until it is taken back.
enum DecisionRule: MergeRule {
    static let kind = OperationKind.decision
    static let lane = Lane.shared
    static let role = Role.member
    static let act: GroupAct? = .write

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        try Withdrawal.keep(
            applied, as: .decision, isReadable: { DecisionProposal(payload: $0) != nil }, context,
            in: store)
    }
}

/// Of each person the last word in order holds, on whichever of their devices: one row, however often
/// somebody changes their mind.
enum ApprovalRule: MergeRule {
    static let kind = OperationKind.approval
    static let lane = Lane.shared
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let operation = applied.operation.operation
        guard let decision = operation.header.references.first,
            try Target.starter(of: decision, context, in: store) != nil,
            try !Withdrawal.covers(decision, in: context.space.number, store: store),
            let isOn = operation.payload.flatMap(Approval.isOn(payload:)),
            try LastWriter.put(
                .approval, of: subject(decision.check, context.author.person),
                about: .operation(decision.tag, decision.sequence), isOn: isOn, by: applied,
                context, in: store)
        else { return [] }
        return try Target.together(decision, context, in: store)
    }

    /// Tells the approval of one person of the decision with this check from all others.
    static func subject(_ check: Check, _ person: PersonID) -> [UInt8] {
        var writer = ByteWriter(capacity: 48)
        writer.check(check)
        writer.identifier(person)
        return writer.bytes
    }
}

/// Of all settlings by those who may settle a decision, the last in order holds. A settling stands
/// above everything its author had seen, so the order decides only between two concurrent ones.
/// Nothing follows a replacement any further, so a cycle costs nothing.
enum SettlingRule: MergeRule {
    static let kind = OperationKind.settling
    static let lane = Lane.shared
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let decision = applied.operation.operation.header.references.first,
            let author = try Target.starter(of: decision, context, in: store),
            context.mayEnd(whatWasBegunBy: author),
            try !Withdrawal.covers(decision, in: context.space.number, store: store),
            Settling(applied.operation.operation) != nil,
            try LastWriter.put(
                .settling, of: subject(decision.check),
                about: .operation(decision.tag, decision.sequence), by: applied, context, in: store)
        else { return [] }
        return try Target.together(decision, context, in: store)
    }

    /// Tells what is said of the decision with this check from what is said of one on another branch.
    static func subject(_ check: Check) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.check(check)
        return writer.bytes
    }
}
