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

    /// Places that are looked at in one step.
    static let bodyLookCountMax = 512

    /// Takes note of operations of one log that came without their payload.
    mutating func lacksBodies(
        of operations: [VerifiedOperation], in log: LogRecord, _ space: SpaceRecord,
        _ store: some Store
    ) throws(StoreError) {
        guard !operations.isEmpty else { return }
        let name = MissingBodyLog(space: space.id, tag: log.tag)
        let known = try store.value(.missingBody, name.key).map(MissingBodies.init)
        var missing = known ?? MissingBodies()
        for operation in operations
        where try !isTakenBack(
            operation.operation, at: operation.sequence, operation.id, of: log.tag, in: space, store
        ) {
            missing.insert(operation.sequence)
        }
        guard !missing.ranges.isEmpty, missing != known else { return }
        try store.setValue(missing.bytes, .missingBody, name.key)
        hasMissingBodies = true
    }

    /// Asks soon, if something is missing.
    mutating func askForBodies(_ turn: inout some Turn) {
        guard hasMissingBodies else { return }
        let time = turn.now.monotonic + Self.bodyPatience << min(fruitlessBodyCount, 6)
        if let bodiesDue, bodiesDue <= time { return }
        bodiesDue = time
        timers.move(.bodies, to: time, &turn)
    }

    /// Somebody new is there, who may have what those did not bring that were asked.
    mutating func askAnewForBodies(_ turn: inout some Turn) {
        fruitlessBodyCount = 0
        askForBodies(&turn)
    }

    /// Looks what is still missing and asks one member of each space for it, the next one in turn.
    mutating func wantBodies(_ turn: inout some Turn) throws(StoreError) {
        // An earlier time took the place of this one.
        guard let due = bodiesDue, due <= turn.now.monotonic else { return }
        bodiesDue = nil
        var wanted: [SpaceNumber: [Want.Range]] = [:]
        hasMissingBodies = false
        var room = Self.bodyLookCountMax
        for (key, value) in try missingBodies(in: turn.store) {
            guard let name = MissingBodyLog(key: key), let space = try turn.store.space(name.space),
                let log = try turn.store.log(name.tag, in: space.number)
            else {
                try turn.store.setValue(nil, .missingBody, key)
                continue
            }
            guard room > 0 else {
                hasMissingBodies = true
                continue
            }
            let missing = try stillMissing(
                MissingBodies(value), in: log, space, room: &room, turn.store)
            if missing.bytes != value {
                try turn.store.setValue(
                    missing.ranges.isEmpty ? nil : missing.bytes, .missingBody, key)
            }
            bodyWalk = key
            // What lies behind a cut or a fork nobody serves, nor a range that reaches so far.
            let end = log.bound?.sequence ?? .max
            guard let first = missing.ranges.first?.lowerBound, first < end else { continue }
            hasMissingBodies = true
            let near = missing.ranges.last { $0.lowerBound < first + Self.bodySpanMax }
            let last = min(near?.upperBound ?? first, first + Self.bodySpanMax - 1, end - 1)
            if wanted[space.number]?.count ?? 0 < Limits.wantRangeCountMax {
                wanted[space.number, default: []].append(
                    Want.Range(tag: log.tag, first: first, last: last))
            }
        }
        wanted = wanted.mapValues { $0.sorted { $0.tag < $1.tag } }
        for number in wanted.keys.sorted() {
            guard let ranges = wanted[number] else { continue }
            let able = links.keys.sorted().filter { links[$0]?.session?.shares(number) == true }
            if !able.isEmpty {
                let id = able[Int(fruitlessBodyCount % UInt64(able.count))]
                send(links[id]?.session?.wantBodies(ranges, in: number) ?? [], on: id, &turn)
            }
            // Who is linked may lack it as well, as the person's own other device does.
            guard fruitlessBodyCount >= UInt64(able.count) else { continue }
            try askByLetter(for: ranges, of: number, &turn)
        }
        askForBodies(&turn)
        fruitlessBodyCount += 1
    }

    /// What is remembered, beginning behind the log that was looked at last.
    private func missingBodies(
        in store: some Store
    ) throws(StoreError) -> [(key: [UInt8], value: [UInt8])] {
        let all = try store.values(.missingBody)
        let later = all.filter { bodyWalk.lexicographicallyPrecedes($0.key) }
        return later + all.prefix(all.count - later.count)
    }

    /// Without what has come since or was taken back, from the lowest place up to the first that is
    /// still missing.
    private func stillMissing(
        _ missing: MissingBodies, in log: LogRecord, _ space: SpaceRecord, room: inout Int,
        _ store: some Store
    ) throws(StoreError) -> MissingBodies {
        var next: UInt64 = 0
        for range in missing.ranges {
            for place in range {
                guard room > 0 else { break }
                room -= 1
                next = place
                let stored = try store.operation(at: place, in: log.number)
                if let stored, stored.operation.isErased,
                    try !isTakenBack(
                        stored.operation, at: place, stored.id, of: log.tag, in: space, store)
                {
                    var rest = missing
                    rest.removeAll(below: place)
                    return rest
                }
                next = place + 1
            }
        }
        var rest = missing
        rest.removeAll(below: next)
        return rest
    }

    /// Asks one device of the space that is not linked by letter, another each time: at the first fruitless
    /// time, the second, the fourth … and then at each 32nd, which is about once an hour.
    private mutating func askByLetter(
        for ranges: [Want.Range], of number: SpaceNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        let count = fruitlessBodyCount
        guard count.nonzeroBitCount <= 1 || count % Self.letterInterval == 0,
            let space = try turn.store.space(number),
            let roster = try roster(of: space, turn.store),
            belongs(to: roster)
        else { return }
        let linked = devicesLinked(in: number)
        let others = roster.participatingDevices.map(\.device).filter {
            $0 != identity.device && !linked.contains($0)
        }
        guard !others.isEmpty else { return }
        let round = UInt64(count.bitWidth - count.leadingZeroBitCount) + count / Self.letterInterval
        let device = others[Int(round % UInt64(others.count))]
        guard let person = roster.person(of: device) else { return }
        let want = Want(
            space: space.id, limit: UInt64(Limits.wantOperationCountMax), ranges: ranges)
        _ = try send([.want(want)], to: device, of: person, &turn)
    }

    /// Puts back what a run brings of operations that are held without their payload.
    mutating func restore(
        _ run: Run, in log: LogRecord, _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [ViewChange] {
        guard let roster = try roster(of: space, store) else { return [] }
        let context = try context(of: space, roster: roster, store)
        let name = MissingBodyLog(space: space.id, tag: log.tag)
        let known = try store.value(.missingBody, name.key).map(MissingBodies.init)
        var missing = known ?? MissingBodies()
        var changes: [ViewChange] = []
        for (offset, operation) in run.operations.enumerated() where operation.payload != nil {
            let place = run.first + UInt64(offset)
            guard let stored = try store.operation(at: place, in: log.number),
                stored.operation.isErased,
                let previous = try identifier(before: place, in: log, store),
                OperationHash.operation(operation, after: previous) == stored.id
            else { continue }
            missing.remove(place)
            // A peer that has not heard of the deletion must not undo it here.
            guard
                try !isTakenBack(
                    operation, at: place, stored.id, of: log.tag, in: context.space, store)
            else { continue }
            changes += try restore(operation, as: stored, in: log, context, store)
            fruitlessBodyCount = 0
        }
        if let known, missing != known {
            try store.setValue(
                missing.ranges.isEmpty ? nil : missing.bytes, .missingBody, name.key)
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
        _ operation: Operation, at place: UInt64, _ id: OperationID, of tag: LogTag,
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        let header = operation.header
        let own = OperationReference(
            tag: tag, sequence: place, check: id.check)
        switch header.kind {
        case .text: return try Overview.isDeleted(own, in: space.number, store: store)
        case .edit:
            guard let target = header.references.first else { return false }
            return try Overview.isDeleted(target, in: space.number, store: store)
        default: return false
        }
    }
}
