public import ParleySealing
public import ParleyWire

/// An operation that this device is about to write.
public struct Draft: Equatable, Sendable {
    /// The kind.
    public var kind: OperationKind
    /// The lane.
    public var lane: Lane
    /// The subject.
    public var references: [OperationReference]
    /// The payload; at least one byte.
    public var payload: [UInt8]?
    /// Whether the payload may be erased one day: its commitment then hides it.
    public var isErasable: Bool

    /// A draft with these fields.
    public init(
        kind: OperationKind, lane: Lane, references: [OperationReference] = [], payload: [UInt8]?,
        isErasable: Bool = true
    ) {
        self.kind = kind
        self.lane = lane
        self.references = references
        self.payload = payload
        self.isErasable = isErasable
    }
}

extension Draft {
    /// The name of the space that begins with this draft, written at this moment.
    public func space(begunAt wallClock: UInt64) -> SpaceID {
        let wallClock = min(wallClock, Limits.wallClockMax - 1)
        let header = OperationHeader(
            kind: kind, wallClock: wallClock, clock: wallClock << 16)
        return OperationHash.space(begunBy: operation(under: header, salt: []))
    }

    fileprivate func operation(under header: OperationHeader, salt: [UInt8]) -> Operation {
        do {
            return try Operation.make(header, salt: salt, payload: payload)
        } catch {
            preconditionFailure("a draft is checked before it is written: \(error)")
        }
    }
}

/// An operation that was just stored, with all that merging it needs.
public struct AppliedOperation: Equatable, Sendable {
    /// Its row here.
    public let number: OperationNumber
    /// Its log.
    public let log: LogRecord
    /// The operation, proven.
    public let operation: VerifiedOperation
    /// Whether newer operations of its log were applied before it.
    public let isBackfill: Bool

    /// An applied operation with these fields.
    public init(
        number: OperationNumber, log: LogRecord, operation: VerifiedOperation, isBackfill: Bool
    ) {
        self.number = number
        self.log = log
        self.operation = operation
        self.isBackfill = isBackfill
    }

    /// Its stand. In lane 2, where nothing is about what others wrote, its place alone.
    public var orderKey: OrderKey {
        var order = operation.orderKey
        if log.lane == .receipts { order.stand = operation.sequence }
        return order
    }
}

/// The place in its log that an operation is going to take.
public struct NextPlace: Equatable, Sendable {
    /// The place.
    public let sequence: UInt64
    /// The operation before it; the log's own name at place 0.
    public let previous: OperationID
    /// What it will name as seen.
    public let dependencies: [OperationReference]
}

/// Writes operations of this device into its logs of one space and signs them.
///
/// Heads are signed once a flush: a receiver verifies one signature for up to 256 operations.
/// Source: `Protocol/03-operations.md`, "Signed heads".
public struct LogAuthor {
    private let key: DeviceSigningKey
    private let space: SpaceRecord
    private let authority: UInt64
    private let rule: StandRule
    private let wallClock: UInt64

    /// An author of this device in this space.
    ///
    /// - Parameters:
    ///   - authority: the digest of the authority that the device acts under.
    ///   - rule: what the order of the space follows from.
    ///   - wallClock: now, in Unix milliseconds.
    public init(
        key: DeviceSigningKey, space: SpaceRecord, authority: UInt64,
        placing rule: StandRule = StandRule(), wallClock: UInt64
    ) {
        self.key = key
        self.space = space
        self.authority = authority
        self.rule = rule
        self.wallClock = min(wallClock, Limits.wallClockMax - 1)
    }

    /// Stores the drafts as operations, in order, the last of each log signed.
    ///
    /// - Returns: each operation as stored; `merge` operations that it took are among them.
    /// - Throws: only what the store throws. Drafts are checked by their callers: one that no
    ///   decoder would accept is our own bug.
    public func append(
        _ drafts: [Draft], to store: some LogStore, using random: inout some RandomNumberGenerator
    ) throws(StoreError) -> [AppliedOperation] {
        var applied: [AppliedOperation] = []
        var unsigned: [LogNumber: Int] = [:]
        for draft in drafts {
            var log = try ownLog(draft.lane, in: store)
            applied += try merge(into: &log, for: draft, store: store)
            let causes = try causes(of: draft, in: log, store: store)
            let salt = draft.isErasable && draft.payload != nil ? random.bytes(16) : []
            let written = try write(draft, causes: causes, salt: salt, in: &log, store: store)
            applied.append(written)
            unsigned[log.number, default: 0] += written.operation.operation.byteCount
            if written.operation.sequence % UInt64(Limits.flushOperationCountMax)
                == UInt64(Limits.flushOperationCountMax - 1)
                || unsigned[log.number, default: 0] >= Limits.flushByteCountMax
            {
                try sign(log, store: store)
                unsigned[log.number] = nil
            }
        }
        for number in unsigned.keys.sorted() {
            if let log = try store.log(number) { try sign(log, store: store) }
        }
        return applied
    }

    /// Stores one operation of lane 0 whose payload depends on the place that it takes.
    ///
    /// - Parameter make: gives the payload for that place, or nil where there is nothing to say.
    public func append(
        _ kind: OperationKind, to store: some LogStore, payload make: (NextPlace) -> [UInt8]?
    ) throws(StoreError) -> [AppliedOperation] {
        var draft = Draft(kind: kind, lane: .control, payload: nil, isErasable: false)
        var log = try ownLog(.control, in: store)
        var applied = try merge(into: &log, for: draft, store: store)
        let causes = try causes(of: draft, in: log, store: store)
        draft.payload = make(
            NextPlace(
                sequence: log.end, previous: log.tip, dependencies: Self.references(to: causes)))
        if draft.payload != nil {
            applied.append(try write(draft, causes: causes, salt: [], in: &log, store: store))
        }
        if !applied.isEmpty { try sign(log, store: store) }
        return applied
    }

    private static func references(to causes: [LogRecord]) -> [OperationReference] {
        causes.map { OperationReference(tag: $0.tag, sequence: $0.end - 1, check: $0.tip.check) }
    }

    private func ownLog(_ lane: Lane, in store: some LogStore) throws(StoreError) -> LogRecord {
        let id = OperationHash.log(space: space.id, device: key.device, lane: lane)
        if let log = try store.log(LogTag(id), in: space.number) { return log }
        return try store.addLog(id, device: key.device, lane: lane, in: space.number)
    }

    /// Ties together open heads that are more than one operation may name.
    private func merge(
        into log: inout LogRecord, for draft: Draft, store: some LogStore
    ) throws(StoreError) -> [AppliedOperation] {
        var applied: [AppliedOperation] = []
        let merge = Draft(kind: .merge, lane: draft.lane, payload: nil)
        while true {
            let heads = try openHeads(for: log, store: store)
            guard heads.count > Limits.dependencyCountMax else { return applied }
            let named = heads.prefix(Limits.dependencyCountMax)
            applied.append(
                try write(
                    merge, causes: named.sorted { $0.tag < $1.tag }, salt: [], in: &log,
                    store: store))
        }
    }

    private func causes(
        of draft: Draft, in log: LogRecord, store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        let open = try openHeads(for: log, store: store)
        let doubtful = try Causality.doubtfulHeads(
            for: log.lane, besides: log.tag, in: space.number, store: store)
        let room = Limits.dependencyCountMax - open.count
        return (open + doubtful.prefix(max(0, room))).sorted { $0.tag < $1.tag }
    }

    /// What the next operation of this log must name: of lane 0 what this same log has not named
    /// yet, because its authority is computed from its own names; of the others what nobody has
    /// named.
    private func openHeads(
        for log: LogRecord, store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        guard log.lane.isCausal else { return [] }
        let control = try Causality.controlHeads(in: space.number, store: store)
        if log.lane == .control { return control.filter { $0.tag != log.tag } }
        let view = try view(of: log, store: store)
        let unnamed = control.filter { !view.contains($0.lastPlace) }
        return unnamed
            + (try Causality.openHeads(
                for: log.lane, besides: log.tag, in: space.number, store: store))
    }

    /// The tips of lane 0 that the log has named so far.
    private func view(
        of log: LogRecord, store: some LogStore
    ) throws(StoreError) -> [LogTip] {
        guard log.end > 0 else { return [] }
        return try store.view(at: log.end - 1, in: log.number)?.tips ?? []
    }

    /// Keeps what the operation at this place was written under.
    private func noteView(
        of log: LogRecord, naming causes: [LogRecord], at sequence: UInt64, store: some LogStore
    ) throws(StoreError) {
        let named = causes.filter { $0.lane == .control }.map(\.lastPlace)
        guard log.lane.carriesAuthority, !named.isEmpty else { return }
        let heads = try Causality.controlHeads(in: space.number, store: store).map(\.lastPlace)
        let seen = Set(try view(of: log, store: store) + named)
        // Once all open heads are named, everything else lies in their past.
        let tips = heads.allSatisfy(seen.contains) ? heads : seen.sorted()
        try store.setView(LogView(first: sequence, tips: tips.sorted()), in: log.number)
    }

    private func write(
        _ draft: Draft, causes: [LogRecord], salt: [UInt8], in log: inout LogRecord,
        store: some LogStore
    ) throws(StoreError) -> AppliedOperation {
        let header = OperationHeader(
            kind: draft.kind, wallClock: wallClock,
            clock: wallClock << 16,
            authority: log.lane.carriesAuthority ? authority : nil,
            dependencies: Self.references(to: causes), references: draft.references)
        let operation = draft.operation(under: header, salt: salt)
        var walk = try StandWalk(at: log.end, in: log, rule, store)
        let names = log.names(in: header, at: log.end)
        let verified = VerifiedOperation(
            id: OperationHash.operation(operation, after: log.tip), tag: log.tag,
            sequence: log.end, operation: operation,
            stand: try walk.step(header, naming: names, store))
        let numbers = try store.insert([verified], in: log.number)
        try noteView(of: log, naming: causes, at: log.end, store: store)
        log.hold(
            Span(
                first: verified.sequence, last: verified.sequence, anchor: log.tip,
                tip: verified.id), tip: verified.stand)
        if walk.isSettled, verified.sequence == max(log.order.settledEnd, log.base) {
            log.order.settledEnd = verified.sequence + 1
        }
        try store.update(log)
        try Causality.cover(
            header, at: verified.sequence, in: log, store: store)
        if let current = try store.log(log.number) { log = current }
        return AppliedOperation(
            number: numbers[0], log: log, operation: verified, isBackfill: false)
    }

    private func sign(_ log: LogRecord, store: some LogStore) throws(StoreError) {
        guard let last = log.spans.last else { return }
        let head = OperationHash.sign(
            log: log.id, sequence: last.last, operation: last.tip, with: key)
        try store.addHead(head, in: log.number)
    }
}

extension LogRecord {
    /// The place of the last operation. There is one.
    var lastPlace: LogTip { LogTip(tag: tag, sequence: end - 1) }
}
