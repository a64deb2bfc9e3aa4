import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// How far its author has received and read.
    public static let receipts = OperationKind(rawValue: 112)
}

/// The payload of receipts: only what grew.
public struct Receipts: Equatable, Sendable {
    /// Nobody says in larger spaces what they received: such receipts would grow with its square.
    public static let deliveryMemberCountMax = 64

    /// How far the author is with one log.
    public struct Progress: Equatable, Sendable {
        /// The log.
        public var tag: LogTag
        /// The last place.
        public var sequence: UInt64

        /// Progress up to this place.
        public init(tag: LogTag, sequence: UInt64) {
            self.tag = tag
            self.sequence = sequence
        }
    }

    /// What the person has read.
    public var read: [Progress]
    /// What the device has received.
    public var delivered: [Progress]

    /// Receipts with these fields.
    public init(read: [Progress] = [], delivered: [Progress] = []) {
        self.read = read
        self.delivered = delivered
    }

    /// The receipts in a payload, or nil.
    public init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadReceipts.self, payload) else { return nil }
        read = message.read.map { Progress(tag: LogTag($0.tag), sequence: $0.sequence) }
        delivered = message.delivered.map { Progress(tag: LogTag($0.tag), sequence: $0.sequence) }
    }

    /// The operation that says this.
    public func draft() -> Draft {
        var message = PayloadReceipts()
        message.read = read.map(Self.mark)
        message.delivered = delivered.map(Self.mark)
        return Draft(
            kind: .receipts, lane: .receipts, payload: Payload.encode(message),
            isErasable: false)
    }

    private static func mark(_ progress: Progress) -> PayloadReceiptMark {
        var mark = PayloadReceiptMark()
        mark.tag = progress.tag.value
        mark.sequence = progress.sequence
        return mark
    }
}

/// Marks only grow, so order and repetition do not matter.
enum ReceiptsRule: MergeRule {
    static let kind = OperationKind.receipts
    static let lane = Lane.receipts
    static let role = Role.reader

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let payload = applied.operation.operation.payload,
            let receipts = Receipts(payload: payload)
        else { return [] }
        for progress in try possible(receipts.read, context, in: store) {
            try store.raise(
                Mark(
                    space: context.space.number, kind: .read,
                    actor: Digest(reinterpreting: context.author.person), tag: progress.tag,
                    sequence: progress.sequence))
        }
        for progress in try possible(receipts.delivered, context, in: store) {
            try store.raise(
                Mark(
                    space: context.space.number, kind: .delivered,
                    actor: Digest(reinterpreting: applied.log.device), tag: progress.tag,
                    sequence: progress.sequence))
        }
        return [.receipts(context.space.number)]
    }

    /// What can be true: a place that a log can have, of a log of content that a member can write.
    /// Marks of logs that nobody will ever write would fill the disk.
    private static func possible(
        _ list: [Receipts.Progress], _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [Receipts.Progress] {
        var tags: Set<LogTag>?
        var kept: [Receipts.Progress] = []
        for progress in list where progress.sequence < Limits.placeMax {
            if let log = try store.log(progress.tag, in: context.space.number) {
                // Of whom nothing counts, no mark does either, whoever happens to hold the log.
                if log.lane == .content, context.roster.person(of: log.device) != nil {
                    kept.append(progress)
                }
                continue
            }
            // It may name a log of which nothing has come yet.
            let all = tags ?? contentTags(of: context)
            tags = all
            if all.contains(progress.tag) { kept.append(progress) }
        }
        return kept
    }

    private static func contentTags(of context: MergeContext) -> Set<LogTag> {
        Set(
            context.roster.everyDevice.map {
                LogTag(
                    OperationHash.log(space: context.space.id, device: $0, lane: .content))
            })
    }
}
