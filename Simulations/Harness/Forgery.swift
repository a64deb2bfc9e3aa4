import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyWire

/// Writes operations with the valid keys of a member and whatever fields the liar likes.
struct Forgery {
    let liar: SimulatedNode
    let space: SpaceRecord
    let authority: UInt64

    /// Nil where the liar never belonged to the space. One that was removed goes on under the
    /// authority under which it last wrote.
    init?(_ liar: SimulatedNode, in id: SpaceID) throws(StoreError) {
        guard let space = try liar.store.space(id),
            let roster = try RosterReader.roster(of: space, in: liar.store)
        else { return nil }
        self.liar = liar
        self.space = space
        if roster.contains(liar.identity.device) {
            authority = roster.authority
        } else {
            let tag = LogTag(
                OperationHash.log(space: id, device: liar.identity.device, lane: .content))
            guard let log = try liar.store.log(tag, in: space.number), log.end > 0,
                let last = try liar.store.operation(at: log.end - 1, in: log.number),
                let authority = last.operation.header.authority
            else { return nil }
            self.authority = authority
        }
    }

    /// The liar's log of a lane; nil before its first operation.
    func log(_ lane: Lane) throws(StoreError) -> LogRecord? {
        try liar.store.log(LogTag(id(of: lane)), in: space.number)
    }

    func id(of lane: Lane) -> LogID {
        OperationHash.log(space: space.id, device: liar.identity.device, lane: lane)
    }

    /// The tips of the others' logs: what an honest author would name.
    func causes(of lane: Lane) throws(StoreError) -> [OperationReference] {
        guard lane.isCausal else { return [] }
        let open = try liar.store.logs(in: space.number).filter { log in
            guard log.device != liar.identity.device else { return false }
            return lane == .control
                ? log.lane == .control && log.end > log.controlCoveredEnd
                : log.lane.isCausal && log.end > log.coveredEnd
        }
        return open.prefix(Limits.dependencyCountMax).map {
            OperationReference(tag: $0.tag, sequence: $0.end - 1, check: $0.tip.check)
        }
    }

    /// One signed operation of the liar's log.
    ///
    /// - Parameters:
    ///   - clock: the wall clock that it claims, in Unix milliseconds.
    ///   - low: the place that it takes instead of what stands there; nil for the next one.
    ///   - former: the roster that it claims to be written under; nil for that of now.
    func run(
        _ draft: Draft, at clock: UInt64, naming causes: [OperationReference],
        insteadOf low: UInt64? = nil, under former: UInt64? = nil
    ) throws(StoreError) -> Run? {
        let log = try log(draft.lane)
        let place = low ?? log?.end ?? 0
        var tip = log?.tip ?? OperationID(reinterpreting: id(of: draft.lane))
        if low != nil, let log {
            let before = try place == 0 ? nil : liar.store.operation(at: place - 1, in: log.number)
            tip = before?.id ?? OperationID(reinterpreting: log.id)
        }
        let header = OperationHeader(
            kind: draft.kind, wallClock: clock, clock: clock << 16,
            authority: draft.lane.carriesAuthority ? former ?? authority : nil,
            dependencies: causes,
            references: draft.references)
        let salt = draft.isErasable ? liar.randomBytes(Limits.saltByteCount) : []
        // A forgery that no decoder would take is none: nothing is written then.
        guard let operation = try? Operation.make(header, salt: salt, payload: draft.payload)
        else { return nil }
        let name = OperationHash.operation(operation, after: tip)
        return Run(
            device: liar.identity.device, lane: draft.lane, first: place,
            anchor: place == 0 ? nil : tip, operations: [operation],
            heads: [signed(place, name, in: id(of: draft.lane))])
    }

    func signed(_ place: UInt64, _ name: OperationID, in log: LogID) -> SignedHead {
        var message = ByteWriter(capacity: 72)
        message.identifier(log)
        message.uint64(place)
        message.identifier(name)
        return SignedHead(
            sequence: place, signature: liar.identity.key.sign(.head, message.bytes))
    }

    /// Puts a run into the liar's own store, so that what it writes next follows it.
    func keep(_ run: Run) throws {
        let store = liar.store
        guard
            let new = try OperationVerifier.verify(
                run, in: space.id, held: try log(run.lane)?.spans ?? []
            ).first
        else { return }
        try store.begin(.full)
        do {
            var log =
                try log(run.lane)
                ?? store.addLog(
                    new.log, device: new.device, lane: new.lane, in: space.number)
            _ = try store.insert(new.operations, in: log.number)
            log.hold(new)
            try store.update(log)
            for head in new.heads { try store.addHead(head, in: log.number) }
            try store.commit()
        } catch {
            store.rollback()
            throw error
        }
    }
}

extension Forgery {
    func text(_ text: String, _ now: UInt64) -> Draft {
        TextMessage(text: "\(liar.name) says \(text) at \(now)").draft()
    }

    /// A frame whose one operation is longer than any may be.
    func tooLargeOperation() -> [UInt8] {
        var writer = ByteWriter(capacity: 64 << 10)
        writer.byte(4)
        writer.identifier(space.id)
        writer.byte(0)
        writer.number(1)
        writer.identifier(liar.identity.device)
        writer.byte(Lane.content.rawValue)
        writer.byte(0)
        writer.number(0)
        writer.number(1)
        writer.number(UInt64(Limits.operationByteCountMax + 1) << 1)
        writer.raw([UInt8](repeating: 0, count: Limits.operationByteCountMax + 1))
        writer.number(0)
        return writer.bytes
    }

    /// One frame of each kind that calls for an answer, all of them valid.
    func noise() -> [Frame] {
        let tag = LogTag(liar.randomNumber())
        let range = Want.Range(tag: tag, first: 0, last: 1_000)
        let entry = Frontier.Entry(tag: tag, sequence: 1_000, check: Check(high: 0, low: 0))
        return [
            .spaces(Spaces(salt: liar.randomNumber(), entries: [])),
            .frontier(
                Frontier(
                    space: space.id, isComplete: true, asksForMissing: true, entries: [entry])),
            .want(Want(space: space.id, limit: 4_096, ranges: [range])),
            .acknowledge(
                Acknowledgement(
                    space: space.id,
                    entries: [.init(tag: tag, sequence: 1_000, check: entry.check)])),
            .credit(1),
        ]
    }
}
