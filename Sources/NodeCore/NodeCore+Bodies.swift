import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// Operations that came erased though nobody took them back: the payload is asked for elsewhere.
///
/// A member can serve the operations of others without their payloads, and everything verifies: a
/// deletion looks the same until it is known. What no deletion covers is therefore remembered, and
/// asked of one member after the other; the commitment tells whether what comes is right. Members are asked
/// on links, and by letter where none is linked.
/// Source: `Protocol/06-sync.md`, "Missing payloads".
extension NodeCore {
    /// Payloads are asked for this often, and less and less often while none comes: 2 s … 128 s.
    static let bodyPatience: UInt64 = 2_000
    /// A question about one log covers at most so many places.
    static let bodySpanMax: UInt64 = 128
    /// Of so many rounds that bring nothing one asks by letter, in the end.
    private static let letterInterval: UInt64 = 32

    /// Takes note that an operation came without its payload.
    mutating func lacksBody(
        _ applied: AppliedOperation, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        let place = MissingBody(
            space: space.id, tag: applied.log.tag, sequence: applied.operation.sequence)
        guard try !isTakenBack(applied.operation.operation, at: place, in: space, store) else {
            return
        }
        try store.setValue([1], .missingBody, place.key)
        hasMissingBodies = true
    }

    /// Asks soon, if something is missing.
    mutating func askForBodies(at now: Instant, _ effects: inout [Effect]) {
        guard hasMissingBodies else { return }
        let time = now.monotonic + Self.bodyPatience << min(fruitlessBodyCount, 6)
        if let bodiesDue, bodiesDue <= time { return }
        bodiesDue = time
        effects.append(.timer(.bodies, at: time))
    }

    /// Somebody new is there, who may have what those did not bring that were asked.
    mutating func askAnewForBodies(at now: Instant, _ effects: inout [Effect]) {
        fruitlessBodyCount = 0
        askForBodies(at: now, &effects)
    }

    /// Looks what is still missing and asks one member of each space for it, the next one in turn.
    mutating func wantBodies(
        at now: Instant, _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        // An earlier time took the place of this one.
        guard let due = bodiesDue, due <= now.monotonic else { return }
        bodiesDue = nil
        var wanted: [SpaceNumber: [Want.Range]] = [:]
        hasMissingBodies = false
        for (key, _) in try store.values(.missingBody) {
            guard let place = MissingBody(key: key), let space = try store.space(place.space),
                let log = try store.log(place.tag, in: space.number),
                let stored = try store.operation(at: place.sequence, in: log.number),
                stored.operation.isErased,
                try !isTakenBack(stored.operation, at: place, in: space, store)
            else {
                try store.setValue(nil, .missingBody, key)
                continue
            }
            // What lies behind a cut or a fork nobody serves, nor a range that reaches so far.
            if let bound = log.bound, place.sequence >= bound.sequence { continue }
            hasMissingBodies = true
            // Keys ascend by space, log and place.
            var ranges = wanted[space.number] ?? []
            if let last = ranges.last, last.tag == place.tag {
                if place.sequence < last.first + Self.bodySpanMax {
                    ranges[ranges.count - 1].last = place.sequence
                }
            } else if ranges.count < Limits.wantRangeCountMax {
                ranges.append(
                    Want.Range(tag: place.tag, first: place.sequence, last: place.sequence))
            }
            wanted[space.number] = ranges
        }
        for number in wanted.keys.sorted() {
            guard let ranges = wanted[number] else { continue }
            let able = links.keys.sorted().filter { links[$0]?.session?.shares(number) == true }
            guard !able.isEmpty else {
                try askByLetter(for: ranges, of: number, at: now, store, &random, &effects)
                continue
            }
            let id = able[Int(fruitlessBodyCount % UInt64(able.count))]
            send(links[id]?.session?.wantBodies(ranges, in: number) ?? [], on: id, &effects)
        }
        askForBodies(at: now, &effects)
        fruitlessBodyCount += 1
    }

    /// Asks one device of the space by letter, another each time: at the first fruitless time, the second,
    /// the fourth … and then at each 32nd, which is about once an hour.
    private mutating func askByLetter(
        for ranges: [Want.Range], of number: SpaceNumber, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        let count = fruitlessBodyCount
        guard count.nonzeroBitCount <= 1 || count % Self.letterInterval == 0,
            let space = try store.space(number), let roster = try roster(of: space, store),
            belongs(to: roster)
        else { return }
        let others = roster.participatingDevices.map(\.device).filter { $0 != identity.device }
        guard !others.isEmpty else { return }
        let turn = UInt64(count.bitWidth - count.leadingZeroBitCount) + count / Self.letterInterval
        let device = others[Int(turn % UInt64(others.count))]
        guard let person = roster.person(of: device) else { return }
        let want = Want(
            space: space.id, limit: UInt64(Limits.wantOperationCountMax), ranges: ranges)
        _ = try send(
            [.want(want)], to: device, of: person, at: now, store, &random, &effects)
    }

    /// Puts back what a run brings of operations that are held without their payload.
    mutating func restore(
        _ run: Run, in log: LogRecord, _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [ViewChange] {
        guard let roster = try roster(of: space, store) else { return [] }
        let context = try context(of: space, roster: roster, store)
        var changes: [ViewChange] = []
        for (offset, operation) in run.operations.enumerated() where operation.payload != nil {
            let place = run.first + UInt64(offset)
            guard let stored = try store.operation(at: place, in: log.number),
                stored.operation.isErased,
                let previous = try identifier(before: place, in: log, store),
                OperationHash.operation(operation, after: previous) == stored.id
            else { continue }
            let missing = MissingBody(space: context.space.id, tag: log.tag, sequence: place)
            try store.setValue(nil, .missingBody, missing.key)
            // A peer that has not heard of the deletion must not undo it here.
            guard try !isTakenBack(operation, at: missing, in: context.space, store) else {
                continue
            }
            changes += try restore(operation, as: stored, in: log, context, store)
            fruitlessBodyCount = 0
        }
        return changes
    }

    private mutating func restore(
        _ operation: Operation, as stored: StoredOperation, in log: LogRecord,
        _ context: MergeContext, _ store: some Store
    ) throws(StoreError) -> [ViewChange] {
        // Its row stands where it stood without a payload; an imported one has another place.
        let erased = VerifiedOperation(stored: stored, tag: log.tag)
        if let row = try store.message(erased.orderKey, in: context.space.number) {
            try store.remove(row)
        }
        let whole = StoredOperation(
            number: stored.number, log: stored.log, sequence: stored.sequence, id: stored.id,
            operation: operation, stand: stored.stand)
        let verified = VerifiedOperation(stored: whole, tag: log.tag)
        try store.restore(verified, in: stored.number)
        let applied = AppliedOperation(
            number: stored.number, log: log, operation: verified, isBackfill: true)
        guard var judge = judges[context.space.number] else { return [] }
        return try Merge.apply(applied, context, judging: &judge, in: store)
    }

    private func identifier(
        before place: UInt64, in log: LogRecord, _ store: some Store
    ) throws(StoreError) -> OperationID? {
        if place == 0 { return OperationID(reinterpreting: log.id) }
        if let span = log.spans.first(where: { $0.first == place }) { return span.anchor }
        return try store.operation(at: place - 1, in: log.number)?.id
    }

    /// Whether a deletion covers the operation: then its payload is gone by right.
    private func isTakenBack(
        _ operation: Operation, at place: MissingBody, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        let header = operation.header
        let own = OperationReference(
            tag: place.tag, sequence: place.sequence, check: Check(high: 0, low: 0))
        switch header.kind {
        case .text: return try Overview.isDeleted(own, in: space.number, store: store)
        case .edit:
            guard let target = header.references.first else { return false }
            return try Overview.isDeleted(target, in: space.number, store: store)
        default: return false
        }
    }
}

/// The place of an operation whose payload is missing, as the store's key of it.
private struct MissingBody {
    var space: SpaceID
    var tag: LogTag
    var sequence: UInt64

    init(space: SpaceID, tag: LogTag, sequence: UInt64) {
        self.space = space
        self.tag = tag
        self.sequence = sequence
    }

    init?(key: [UInt8]) {
        var reader = ByteReader(key)
        do {
            self.init(
                space: try reader.identifier(), tag: LogTag(try reader.uint64()),
                sequence: try reader.uint64())
        } catch {
            // The key is our own; if it ever were not, it is dropped.
            return nil
        }
    }

    var key: [UInt8] {
        var writer = ByteWriter(capacity: 48)
        writer.identifier(space)
        writer.uint64(tag.value)
        writer.uint64(sequence)
        return writer.bytes
    }
}
