import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire

/// A store with one space, and devices that write in it, for tests of what follows from that.
final class Desk {
    static let now: UInt64 = 1_700_000_000_000

    let store: MemoryStore
    let space: SpaceRecord
    private var random: SeededRandom

    init(seed: UInt64, space id: SpaceID? = nil) throws {
        random = SeededRandom(seed: seed)
        store = MemoryStore()
        try store.begin(.normal)
        space = try store.addSpace(id ?? Self.spaceID(1), kind: .group)
        try store.commit()
    }

    static func spaceID(_ byte: UInt8) -> SpaceID {
        SpaceID { buffer in
            for index in buffer.indices { buffer[index] = byte }
        }
    }

    func key() -> DeviceSigningKey { DeviceSigningKey.generate(using: &random) }

    /// A draft with a payload of this many bytes.
    static func draft(
        _ byte: UInt8 = 1, lane: Lane = .content, byteCount: Int = 4,
        about references: [OperationReference] = [], isErasable: Bool = true
    ) -> Draft {
        Draft(
            kind: OperationKind(rawValue: 64), lane: lane, references: references,
            payload: [UInt8](repeating: byte, count: byteCount), isErasable: isErasable)
    }

    @discardableResult
    func write(
        _ drafts: [Draft], by key: DeviceSigningKey, placing rule: StandRule = StandRule(),
        at wallClock: UInt64 = now
    ) throws -> [AppliedOperation] {
        let author = LogAuthor(
            key: key, space: space, authority: 42, placing: rule, wallClock: wallClock)
        try store.begin(.full)
        let applied = try author.append(drafts, to: store, using: &random)
        try store.commit()
        return applied
    }

    /// So many operations in one lane, each signed.
    func write(_ count: Int, by key: DeviceSigningKey, lane: Lane = .content) throws {
        for place in 0..<count {
            try write([Self.draft(UInt8(truncatingIfNeeded: place), lane: lane)], by: key)
        }
    }

    func log(of key: DeviceSigningKey, lane: Lane = .content) throws -> LogRecord? {
        let id = OperationHash.log(space: space.id, device: key.device, lane: lane)
        return try store.log(LogTag(id), in: space.number)
    }

    func id(_ place: UInt64, of key: DeviceSigningKey) throws -> OperationID {
        guard let log = try log(of: key),
            let stored = try store.operation(at: place, in: log.number)
        else { throw StoreError(.other, attempt: "looking for an operation of the test") }
        return stored.id
    }

    /// Operations as they travel, with the signatures over these places.
    func run(
        _ range: ClosedRange<UInt64>, of key: DeviceSigningKey, heads places: [UInt64],
        bringsAnchor: Bool = false
    ) throws -> Run {
        guard let log = try log(of: key) else {
            throw StoreError(.other, attempt: "looking for a log of the test")
        }
        let operations = try store.operations(in: log.number, range, limit: 10_000)
        let heads = try store.heads(in: log.number, 0...1 << 40)
        return Run(
            device: key.device, lane: log.lane, first: range.lowerBound,
            anchor: bringsAnchor ? try id(range.lowerBound - 1, of: key) : nil,
            operations: operations.map(\.operation),
            heads: heads.filter { places.contains($0.sequence) })
    }

    /// The span that holding this range makes.
    func span(_ range: ClosedRange<UInt64>, of key: DeviceSigningKey) throws -> Span {
        let log = OperationHash.log(space: space.id, device: key.device, lane: .content)
        let anchor =
            range.lowerBound == 0
            ? OperationID(reinterpreting: log) : try id(range.lowerBound - 1, of: key)
        return Span(
            first: range.lowerBound, last: range.upperBound, anchor: anchor,
            tip: try id(range.upperBound, of: key))
    }
}
