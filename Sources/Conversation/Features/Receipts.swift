import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// How far its author has received and read.
    public static let receipts = OperationKind(rawValue: 112)
}

/// The payload of receipts: of each log that it names, all that the author can say.
public struct Receipts: Equatable, Sendable {
    /// In larger spaces nobody reports what they received: such receipts would grow with the square
    /// of the members.
    public static let deliveryMemberCountMax = 64

    /// What the author has of one log.
    public struct Progress: Equatable, Sendable {
        /// The log.
        public var tag: LogTag
        /// The places.
        public var places: PlaceSet
        /// The start of the identifier of the operation at the last place; nil if it is not given.
        public var check: Check?

        /// Progress at these places.
        public init(tag: LogTag, places: PlaceSet, check: Check? = nil) {
            self.tag = tag
            self.places = places
            self.check = check
        }
    }

    /// What the person has read on this device.
    public var read: [Progress]
    /// What the device has received.
    public var delivered: [Progress]
    /// Of messages that bring sealed files those of which the device holds all of them.
    public var held: [Progress]

    /// Receipts with these fields.
    public init(read: [Progress] = [], delivered: [Progress] = [], held: [Progress] = []) {
        self.read = read
        self.delivered = delivered
        self.held = held
    }

    /// The receipts in a payload, or nil. A mark that can tell nothing is left out.
    public init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadReceipts.self, payload) else { return nil }
        read = message.read.compactMap(Self.progress)
        delivered = message.delivered.compactMap(Self.progress)
        held = message.held.compactMap(Self.progress)
    }

    private static func progress(_ mark: PayloadReceiptMark) -> Progress? {
        guard let places = PlaceSet(counts: mark.counts) else { return nil }
        var reader = ByteReader(fieldBytes(mark.check))
        // A check of another length counts as none.
        let check = reader.remaining == Check.byteCount ? try? reader.check() : nil
        return Progress(tag: LogTag(mark.tag), places: places, check: check)
    }

    /// The operation that says this.
    public func draft() -> Draft {
        var message = PayloadReceipts()
        message.read = read.map(Self.mark)
        message.delivered = delivered.map(Self.mark)
        message.held = held.map(Self.mark)
        return Draft(
            kind: .receipts, lane: .receipts, payload: Payload.encode(message),
            isErasable: false)
    }

    private static func mark(_ progress: Progress) -> PayloadReceiptMark {
        var mark = PayloadReceiptMark()
        mark.tag = progress.tag.value
        mark.counts = progress.places.counts
        if let check = progress.check {
            var writer = ByteWriter(capacity: Check.byteCount)
            writer.check(check)
            mark.check = field(writer.bytes)
        }
        return mark
    }
}

/// Of a device's marks on a log the last in its own log of receipts holds, whichever arrived first:
/// each includes the one before, so a device's marks are bounded by one receipt.
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
        let all = [
            (MarkKind.read, receipts.read), (.delivered, receipts.delivered),
            (.held, receipts.held),
        ]
        for (kind, list) in all {
            for progress in try possible(list, context, in: store) {
                try store.replace(
                    Mark(
                        space: context.space.number, kind: kind,
                        actor: Digest(reinterpreting: applied.log.device), tag: progress.tag,
                        places: progress.places, said: applied.operation.sequence,
                        check: progress.check))
            }
        }
        return [.receipts(context.space.number)]
    }

    /// What can be true: of a log of content that a member can write.
    /// Marks of logs that nobody will ever write would fill the disk.
    private static func possible(
        _ list: [Receipts.Progress], _ context: MergeContext, in store: some MergeStore
    ) throws(StoreError) -> [Receipts.Progress] {
        var tags: Set<LogTag>?
        var kept: [Receipts.Progress] = []
        for progress in list {
            if let log = try store.log(progress.tag, in: context.space.number) {
                // Marks on an author who does not count do not count either, whoever happens to
                // hold the log.
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
