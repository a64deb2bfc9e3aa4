import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleyWire

/// Messages written while a space may not be written in: stored in order, also over a restart, and
/// written in one step once the space's own logs are complete.
extension NodeCore {
    /// So many drafts are kept for one space.
    static let keptCountMax = 1_000

    /// Whether a space waits for operations that this device once wrote there, and for how many at
    /// most; nil if it does not.
    public func missingOwnCount(
        of space: SpaceNumber, in store: some Store
    ) throws(StoreError) -> UInt64? {
        guard let ends = ownHistory.gap(in: space) else { return nil }
        var count: UInt64 = 0
        for (tag, end) in ends {
            let held = UInt64(try store.log(tag, in: space)?.heldCount ?? 0)
            count += end - min(end, held)
        }
        return count
    }

    /// Texts of messages that are kept for a space, in the order in which they were written.
    public func keptMessages(
        for space: SpaceNumber, in store: some Store
    ) throws(StoreError) -> [(text: String, time: UInt64)] {
        try store.values(.keptDraft).filter { $0.key.starts(with: space.key) }.compactMap {
            _, value in
            guard let kept = KeptDraft(value), kept.draft.kind.isMessage,
                let message = kept.draft.payload.flatMap({ TextMessage(payload: $0) })
            else { return nil }
            return (message.text, kept.time)
        }
    }

    func keptCount(of space: SpaceNumber, _ store: some Store) throws(StoreError) -> Int {
        try store.values(.keptDraft).count { $0.key.starts(with: space.key) }
    }

    /// Stores what people write; automatic operations are found due again later.
    func keep(_ drafts: [Draft], for space: SpaceRecord, _ turn: inout some Turn) throws(StoreError)
    {
        let last = try turn.store.values(.keptDraft).last { $0.key.starts(with: space.number.key) }
        var next = last.map { $0.key[8...].reduce(0 as UInt64) { $0 << 8 | UInt64($1) } + 1 } ?? 0
        for draft in drafts where draft.lane.carriesAuthority {
            var key = ByteWriter(capacity: 16)
            key.raw(space.number.key)
            key.uint64(next)
            next += 1
            try turn.store.setValue(
                KeptDraft(draft: draft, time: turn.now.wall).bytes, .keptDraft, key.bytes)
        }
        turn.emit(.commitFully)
        turn.emit(.changed([.conversation(space.number)]))
    }

    /// Writes the stored messages for spaces that may be written in again.
    mutating func writeKept(_ turn: inout some Turn) throws(StoreError) {
        let numbers = ownHistory.takeClosedGaps()
        guard !numbers.isEmpty else { return }
        // A peer may have proven more in the same step.
        for number in numbers where !ownHistory.hasGap(in: number) {
            let kept = try turn.store.values(.keptDraft).filter { $0.key.starts(with: number.key) }
            for (key, _) in kept { try turn.store.setValue(nil, .keptDraft, key) }
            turn.emit(.changed([.conversation(number)]))
            // What became due meanwhile was not written either.
            timers.set(.upkeep(number), in: Self.upkeepDelay, &turn)
            timers.set(.epoch(number), in: Self.upkeepDelay, &turn)
            guard let space = try turn.store.space(number),
                try refusal(writingIn: space, turn.store) == nil
            else { continue }
            let roster = try knownRoster(of: space, turn.store)
            let rights = (roster?.member(identity.person)?.role).flatMap { roster?.rights(of: $0) }
            // The rules may have changed since.
            let drafts = kept.compactMap { KeptDraft($0.value)?.draft }.filter { draft in
                Merge.act(of: draft.kind).map { rights?.contains($0) ?? false } ?? true
            }
            guard !drafts.isEmpty else { continue }
            _ = try write(drafts, in: space, &turn)
        }
        watchDevices(&turn)
        shareCard(&turn)
    }
}

/// A draft as the store keeps it.
struct KeptDraft {
    var draft: Draft
    /// When it was written, on the wall clock.
    var time: UInt64

    init(draft: Draft, time: UInt64) {
        self.draft = draft
        self.time = time
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            time = try reader.uint64()
            let kind = OperationKind(rawValue: try reader.uint64())
            guard let lane = Lane(rawValue: try reader.byte()) else { return nil }
            let flags = try reader.byte()
            let count = try reader.count("references", atMost: Limits.referenceCountMax)
            var references: [OperationReference] = []
            for _ in 0..<count {
                references.append(
                    OperationReference(
                        tag: LogTag(try reader.uint64()), sequence: try reader.number(),
                        check: try reader.check()))
            }
            let payload = flags & 1 == 0 ? nil : Array(try reader.slice(reader.remaining))
            draft = Draft(
                kind: kind, lane: lane, references: references, payload: payload,
                isErasable: flags & 2 != 0)
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.uint64(time)
        writer.uint64(draft.kind.rawValue)
        writer.byte(draft.lane.rawValue)
        writer.byte((draft.payload == nil ? 0 : 1) | (draft.isErasable ? 2 : 0))
        writer.number(UInt64(draft.references.count))
        for reference in draft.references {
            writer.uint64(reference.tag.value)
            writer.number(reference.sequence)
            writer.check(reference.check)
        }
        writer.raw(draft.payload ?? [])
        return writer.bytes
    }
}
