import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// Operations that came erased though nobody took them back: the payload is asked for elsewhere.
///
/// A member can serve other members' operations without payloads, and everything verifies: a
/// deletion looks the same until it is known. Missing payloads that no deletion covers are
/// therefore recorded, and requested from one member after the other; the commitment shows whether
/// an answer is right. Members are asked on links, and by letter if none is linked. Source:
/// `Protocol/06-sync.md`, "Missing payloads".
extension NodeCore {
    /// Places that are looked at in one step.
    static let bodyLookCountMax = 512
    /// Words that disappear are asked for until so long after they were written, in milliseconds: as long as
    /// relays keep what waits for somebody who is away.
    static let disappearingWordsLookback: UInt64 = 30 * 86_400_000

    /// Notes operations of one log that came without their payload.
    mutating func noteMissingBodies(
        of operations: [VerifiedOperation], in log: LogRecord, _ space: SpaceRecord,
        _ store: some Store
    ) throws(StoreError) {
        guard !operations.isEmpty else { return }
        let name = MissingBodyLog(space: space.id, tag: log.tag)
        let known = try store.value(.missingBody, name.key).map(MissingBodies.init)
        var missing = known ?? MissingBodies()
        var begun: PlaceSet?
        for operation in operations
        where try !isTakenBack(
            operation.operation, at: operation.sequence, operation.id, of: log.tag, in: space,
            begun: &begun, store)
        {
            missing.insert(operation.sequence)
        }
        guard !missing.ranges.isEmpty, missing != known else { return }
        try store.setValue(missing.bytes, .missingBody, name.key)
        intake.bodyRequests.setMissing(true)
    }

    /// Requests payloads soon, if some are missing.
    mutating func scheduleBodyRequests(_ turn: inout some Turn) {
        guard let moment = intake.bodyRequests.scheduleRound(at: turn.now.monotonic) else { return }
        timers.move(.bodies, to: moment, &turn)
    }

    /// A new peer is connected, which may have what the others did not deliver.
    mutating func restartBodyRequests(_ turn: inout some Turn) {
        intake.bodyRequests.resetBackoff()
        scheduleBodyRequests(&turn)
    }

    /// Checks what is still missing and asks one member of each space for it, the next one in turn.
    mutating func requestBodies(_ turn: inout some Turn) throws(StoreError) {
        guard intake.bodyRequests.beginRound(at: turn.now.monotonic) else { return }
        let (wanted, next, isLast) = try missingRanges(at: turn.now.wall, turn.store)
        var linkCount = 0
        for (number, ranges) in wanted {
            let able = peers.links.keys.sorted().filter {
                peers.links[$0]?.session?.shares(number) == true
            }
            linkCount = max(linkCount, able.count)
            if let id = intake.bodyRequests.link(among: able) {
                send(peers.links[id]?.session?.wantBodies(ranges, in: number) ?? [], on: id, &turn)
            }
            // A linked device may lack it as well, as the person's own other device does.
            guard intake.bodyRequests.asksByLetter(besides: able.count) else { continue }
            try askByLetter(for: ranges, of: number, &turn)
        }
        intake.bodyRequests.noteRound(to: next, linkCount: linkCount, isLast: isLast)
        guard let moment = intake.bodyRequests.endRound(at: turn.now.monotonic) else { return }
        timers.move(.bodies, to: moment, &turn)
    }

    /// The places of each space whose payloads are to be requested, spaces ascending; each range of
    /// one log, tags ascending; where the next round begins; and whether there is none. Payloads that are no longer
    /// missing are forgotten.
    private mutating func missingRanges(
        at now: UInt64, _ store: some Store
    ) throws(StoreError) -> (
        wanted: [(SpaceNumber, [Want.Range])], next: BodyRequests.Cursor, isLast: Bool
    ) {
        var wanted: [SpaceNumber: [Want.Range]] = [:]
        var look = BodyLook(
            lookCount: Self.bodyLookCountMax, placeCount: intake.bodyRequests.placeCountMax,
            asksForPassing: intake.bodyRequests.passingRoundCount + peers.links.count > 0)
        var next: BodyRequests.Cursor?
        for (key, value) in intake.bodyRequests.inTurn(try store.values(.missingBody)) {
            guard let name = MissingBodyLog(key: key), let space = try store.space(name.space),
                let log = try store.log(name.tag, in: space.number)
            else {
                try store.setValue(nil, .missingBody, key)
                continue
            }
            guard look.hasRoom else {
                intake.bodyRequests.setMissing(true)
                if next == nil { next = .init(key: key) }
                continue
            }
            let missing = MissingBodies(value)
            let start = key == intake.bodyRequests.cursor.key ? intake.bodyRequests.cursor.place : 0
            let (rest, range) = try stillMissing(
                missing, from: start, in: log, space, at: now, &look, store)
            if rest != missing {
                try store.setValue(rest.ranges.isEmpty ? nil : rest.bytes, .missingBody, key)
            }
            // Nobody serves what lies behind a cut or a fork.
            guard let first = rest.ranges.first?.lowerBound, first < log.bound?.sequence ?? .max
            else { continue }
            intake.bodyRequests.setMissing(true)
            if let place = look.next.take(), next == nil, place < log.bound?.sequence ?? .max {
                next = .init(key: key, place: place)
            }
            if let range, wanted[space.number]?.count ?? 0 < Limits.wantRangeCountMax {
                wanted[space.number, default: []].append(
                    Want.Range(tag: log.tag, first: range.lowerBound, last: range.upperBound))
            }
        }
        let sorted = wanted.sorted { $0.key < $1.key }.map { number, ranges in
            (number, ranges.sorted { $0.tag < $1.tag })
        }
        let isLast = wanted.isEmpty && next == nil && look.hasLeftOut
        return (sorted, next ?? .init(), isLast)
    }

    /// The places of a log of which the words have not come, and nobody took them back.
    mutating func lackedPlaces(
        of log: LogRecord, in space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) -> PlaceSet {
        // Almost always nothing is missing anywhere.
        guard intake.bodyRequests.hasMissing else { return PlaceSet() }
        let key = MissingBodyLog(space: space.id, tag: log.tag).key
        guard let value = try turn.store.value(.missingBody, key) else { return PlaceSet() }
        var look = BodyLook(
            lookCount: Self.bodyLookCountMax, placeCount: .max, asksForPassing: true)
        let (rest, _) = try stillMissing(
            MissingBodies(value), from: 0, in: log, space, at: turn.now.wall, &look, turn.store)
        return rest.places
    }

    /// What a round has examined.
    private struct BodyLook {
        /// Places that may still be looked at.
        var lookCount: Int
        /// Places that may still be asked for.
        var placeCount: UInt64
        /// Whether words that disappear are asked for.
        let asksForPassing: Bool
        /// Whether some were left out.
        var hasLeftOut = false
        /// The first place of the log that was not looked at, where it was not looked at to its end.
        var next: UInt64?

        var hasRoom: Bool { lookCount > 0 && placeCount > 0 }
    }

    /// Without what has come since or was taken back, of the places that are looked at, and the range that
    /// is to be asked for: one for each log, from the first place that is missing.
    private mutating func stillMissing(
        _ missing: MissingBodies, from start: UInt64, in log: LogRecord, _ space: SpaceRecord,
        at now: UInt64, _ look: inout BodyLook, _ store: some Store
    ) throws(StoreError) -> (rest: MissingBodies, range: ClosedRange<UInt64>?) {
        var rest = missing
        var range: ClosedRange<UInt64>?
        var begun: PlaceSet?
        look.next = nil
        defer { look.placeCount -= UInt64(range?.count ?? 0) }
        let end = log.bound?.sequence ?? .max
        for places in missing.ranges where places.upperBound >= start {
            for place in max(places.lowerBound, start)...places.upperBound {
                let first = range?.lowerBound ?? place
                guard look.lookCount > 0, place - first < look.placeCount, place < end else {
                    look.next = place
                    return (rest, range)
                }
                look.lookCount -= 1
                let held = try store.operation(at: place, in: log.number)
                if held?.operation.header.kind == .disappearingText { try prepare(space, store) }
                if let stored = held, stored.operation.isErased,
                    !stored.isTooLateToAskFor(at: now),
                    try !isTakenBack(
                        stored.operation, at: place, stored.id, of: log.tag, in: space,
                        begun: &begun, store)
                {
                    if stored.operation.header.kind == .disappearingText, !look.asksForPassing {
                        look.hasLeftOut = true
                    } else {
                        range = first...place
                    }
                } else {
                    rest.remove(place)
                }
            }
        }
        return (rest, range)
    }

    /// Asks one device of the space that is not linked, by letter.
    private mutating func askByLetter(
        for ranges: [Want.Range], of number: SpaceNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let space = try turn.store.space(number),
            let roster = try roster(of: space, turn.store),
            belongs(to: roster)
        else { return }
        let linked = devicesLinked(in: number)
        let others = roster.participatingDevices.map(\.device).filter {
            $0 != identity.device && !linked.contains($0)
        }
        guard let device = intake.bodyRequests.device(among: others),
            let person = roster.person(of: device)
        else { return }
        let want = Want(
            space: space.id, limit: UInt64(Limits.wantOperationCountMax), ranges: ranges)
        _ = try send([.want(want)], to: device, of: person, &turn)
    }

    /// Restores payloads from a run for operations that are held without them.
    mutating func restoreBodies(
        from run: Run, in log: LogRecord, _ space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) -> [ViewChange] {
        let store = turn.store
        guard let roster = try roster(of: space, store) else { return [] }
        let context = try context(of: space, roster: roster, store)
        let name = MissingBodyLog(space: space.id, tag: log.tag)
        let known = try store.value(.missingBody, name.key).map(MissingBodies.init)
        var missing = known ?? MissingBodies()
        var (changes, begun) = ([ViewChange](), PlaceSet?.none)
        for (offset, operation) in run.operations.enumerated() where operation.payload != nil {
            let place = run.first + UInt64(offset)
            guard let stored = try store.operation(at: place, in: log.number),
                stored.operation.isErased,
                let previous = try log.identifier(before: place, store),
                OperationHash.operation(operation, after: previous) == stored.id
            else { continue }
            missing.remove(place)
            // A peer that has not heard of the deletion must not undo it here.
            guard
                try !isTakenBack(
                    operation, at: place, stored.id, of: log.tag, in: context.space,
                    begun: &begun, store)
            else { continue }
            changes += try restore(operation, as: stored, in: log, context, store)
            intake.bodyRequests.resetBackoff()
        }
        if let known, missing != known {
            try store.setValue(
                missing.ranges.isEmpty ? nil : missing.bytes, .missingBody, name.key)
        }
        // They were not told to be here while their words were not.
        if !changes.isEmpty {
            for id in peers.links.keys.sorted() {
                peers.links[id]?.unacknowledged[space.number, default: []].insert(log.tag)
            }
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
        guard var judge = rosters.judges[context.space.number] else { return [] }
        return try Merge.apply(applied, context, judging: &judge, in: store)
    }

    /// Whether a deletion covers the operation, for everyone or for this person: then its payload is gone by
    /// right.
    ///
    /// - Parameter begun: the places of the log at which words that disappear have begun to, once that was asked.
    private func isTakenBack(
        _ operation: Operation, at place: UInt64, _ id: OperationID, of tag: LogTag,
        in space: SpaceRecord, begun: inout PlaceSet?, _ store: some Store
    ) throws(StoreError) -> Bool {
        let header = operation.header
        let own = OperationReference(
            tag: tag, sequence: place, check: id.check)
        let deletions = try OwnDeletions(in: space.id, ownSpace: ownSpace?.number, store: store)
        if try deletions?.takeAlong(header, own, in: store) == true { return true }
        switch header.kind {
        case .text: return try Overview.isDeleted(own, in: space.number, store: store)
        case .disappearingText:
            // Its time was over where it came from. Who has not read it has it from whoever has it still.
            if try Overview.isDeleted(own, in: space.number, store: store) { return true }
            // While operations are taken in nobody is asked: it is looked at again before somebody is.
            guard let roster = rosters.judges[space.number]?.roster else { return false }
            if begun == nil {
                begun = try Overview.begunToDisappear(
                    in: [tag], of: space, roster: roster, ownPerson: identity.person,
                    ownSpace: ownSpace?.number, store: store)[tag]
            }
            return begun?.contains(place) == true
        // Another took its place where it came from.
        case .passingPreference: return true
        case .edit:
            guard let target = header.references.first else { return false }
            if try Target.disappears(target, in: space.number, store) { return true }
            return try Overview.isDeleted(target, in: space.number, store: store)
        case let kind where kind.canBeWithdrawn:
            return try Withdrawal.covers(own, in: space.number, store: store)
        case let kind where kind.goesWithItsTarget:
            guard let target = header.references.first else { return false }
            return try Withdrawal.covers(target, in: space.number, store: store)
        default: return false
        }
    }
}

extension LogRecord {
    fileprivate func identifier(
        before place: UInt64, _ store: some Store
    ) throws(StoreError) -> OperationID? {
        if place == 0 { return OperationID(reinterpreting: id) }
        if let span = spans.first(where: { $0.first == place }) { return span.anchor }
        return try store.operation(at: place - 1, in: number)?.id
    }
}

extension StoredOperation {
    /// Whether these are words that disappear which nobody has by now. Of a clock that is ahead no more counts
    /// than where the message stands.
    fileprivate func isTooLateToAskFor(at now: UInt64) -> Bool {
        let header = operation.header
        guard header.kind == .disappearingText else { return false }
        let written = min(header.wallClock, stand.value >> 16)
        return written + NodeCore.disappearingWordsLookback < now
    }
}
