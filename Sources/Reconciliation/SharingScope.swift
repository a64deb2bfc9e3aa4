public import ParleyLedger
public import ParleyWire

/// How much of a space passes on one link. The roster decides who may have what; see
/// `Protocol/06-sync.md`, "What may be served".
public enum SharingScope: Equatable, Sendable {
    /// Everything, to the peer from these places on: below them is what came before its admission.
    case everything(from: [LogTag: UInt64] = [:])
    /// Lane 0 alone, each log below this place: one of the two was removed, and that is how far
    /// everybody agrees it may know.
    case control(below: [LogTag: UInt64])
    /// Lane 0 only, each log below this place, for a device that lacks it: both devices belong to
    /// one person who was in the space and is out, and each of the devices is to know of it.
    case departed(below: [LogTag: UInt64])
    /// All of lane 0: one of the two belongs to a member who has not accepted yet, or is a member's
    /// device that the space has not been told of, and lets itself in after reading it.
    case welcome

    /// Whether both belong to the space.
    public var isEverything: Bool {
        switch self {
        case .everything: true
        case .control, .departed, .welcome: false
        }
    }

    /// Whether the peer is sent what it lacks, and asked for what is missing here: for a removed
    /// member nothing is missing.
    var isMutual: Bool {
        switch self {
        case .everything, .departed, .welcome: true
        case .control: false
        }
    }

    /// The logs as far as they count on this link, ascending by tag.
    func logs(
        of space: SpaceNumber, in store: some LogStore
    ) throws(StoreError) -> [LogRecord] {
        switch self {
        case .everything: return try store.agreedLogs(in: space)
        case .welcome: return try store.agreedLogs(in: space).filter { $0.lane == .control }
        case .control(let ends), .departed(let ends):
            var logs: [LogRecord] = []
            for tag in ends.keys.sorted() {
                if let log = try log(tag, of: space, in: store) { logs.append(log) }
            }
            return logs
        }
    }

    /// One log as far as it counts on this link, or nil.
    func log(
        _ tag: LogTag, of space: SpaceNumber, in store: some LogStore
    ) throws(StoreError) -> LogRecord? {
        let log = try store.agreedLog(tag, in: space)
        if isEverything { return log }
        guard let log, log.lane == .control else { return nil }
        let ends: [LogTag: UInt64]
        switch self {
        case .everything, .welcome: return log
        case .control(let below), .departed(let below): ends = below
        }
        guard let end = ends[tag], end > 0 else { return nil }
        guard log.end > end else { return log }
        guard let last = try store.operation(at: end - 1, in: log.number) else { return nil }
        return log.below(LogPoint(sequence: end, anchor: last.id))
    }

    /// The first place of a log that the peer may be sent.
    func first(of tag: LogTag) -> UInt64 {
        switch self {
        case .everything(let firsts): firsts[tag] ?? 0
        case .control, .departed, .welcome: 0
        }
    }
}

/// A space that two linked devices share, and how much of it.
public struct SharedSpace: Sendable {
    /// The space.
    public var record: SpaceRecord
    /// How much of it passes.
    public var scope: SharingScope

    /// This much of this space.
    public init(_ record: SpaceRecord, scope: SharingScope = .everything()) {
        self.record = record
        self.scope = scope
    }
}
