/// Which of a device's logs in a space an operation belongs to.
/// Source: `Protocol/03-operations.md`, "Lanes".
public enum Lane: UInt8, CaseIterable, Comparable, Sendable {
    /// Membership, devices, epochs, settings, and nothing else; causally closed.
    case control = 0
    /// Messages, edits, deletes, reactions.
    case content = 1
    /// Receipts and cards: never named as a cause.
    case receipts = 2
    /// Shared notes.
    case notes = 3
    /// Names, pins, polls: shared state that age never prunes.
    case shared = 4

    /// Whether operations of this lane name causes and are named as causes by content.
    public var isCausal: Bool { self != .receipts }

    /// Whether operations of this lane carry the digest of the authority they were written under.
    public var carriesAuthority: Bool {
        switch self {
        case .content, .notes, .shared: true
        case .control, .receipts: false
        }
    }

    /// Lanes order by number.
    public static func < (left: Lane, right: Lane) -> Bool { left.rawValue < right.rawValue }
}

/// The kind of an operation. Unknown kinds are kept and passed on.
///
/// The registry is in `Protocol/03-operations.md`, "Kinds"; each room names its own.
public struct OperationKind: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number on the wire.
    public let rawValue: UInt64
    /// The kind with this number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Only ties open heads together.
    public static let merge = OperationKind(rawValue: 0)
    /// The longest encoding of an operation of this kind: an epoch, which is kind 7, has an entry
    /// for every device of a space.
    var byteCountMax: Int {
        rawValue == 7 ? Limits.epochByteCountMax : Limits.operationByteCountMax
    }
    /// Kinds order by number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The first eight bytes of a log's identifier: how operations of a space name its logs.
public struct LogTag: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The eight bytes as a big-endian number.
    public let value: UInt64
    /// The tag with this value.
    public init(_ value: UInt64) { self.value = value }
    /// The tag of this log.
    public init(_ log: LogID) { value = log.prefix }
    /// Tags order as their bytes.
    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
    /// The bytes in hex.
    public var description: String { withUnsafeBytes(of: value.bigEndian) { hex($0) } }
}

/// How one operation names another of the same space.
public struct OperationReference: Hashable, Sendable {
    /// The log.
    public let tag: LogTag
    /// The place in the log, from 0.
    public let sequence: UInt64
    /// The start of the operation's identifier: the reference holds for no other branch.
    public let check: Check

    /// A reference to the operation with these coordinates.
    public init(tag: LogTag, sequence: UInt64, check: Check) {
        self.tag = tag
        self.sequence = sequence
        self.check = check
    }
}

/// The header of an operation: everything except its payload.
public struct OperationHeader: Equatable, Sendable {
    /// What the operation does.
    public var kind: OperationKind
    /// The author's wall clock in Unix milliseconds: advice for display, never a reason to refuse.
    public var wallClock: UInt64
    /// The hybrid clock, at least `wallClock << 16`.
    public var clock: UInt64
    /// The digest of the authority the author acted under; lanes 1, 3 and 4 carry it.
    public var authority: UInt64?
    /// The heads that the author had seen, strictly ascending by tag.
    public var dependencies: [OperationReference]
    /// The operations that this one is about; the kind defines the meaning of each place.
    public var references: [OperationReference]

    /// A header with these fields.
    public init(
        kind: OperationKind, wallClock: UInt64, clock: UInt64, authority: UInt64? = nil,
        dependencies: [OperationReference] = [], references: [OperationReference] = []
    ) {
        self.kind = kind
        self.wallClock = wallClock
        self.clock = clock
        self.authority = authority
        self.dependencies = dependencies
        self.references = references
    }
}

/// The part of an operation that can be erased while its log still verifies.
public enum OperationBody: Equatable, Sendable {
    /// There never was one.
    case none
    /// The salt (16 bytes, or none if it is never erased) and the payload, verbatim.
    case present(salt: [UInt8], payload: [UInt8])
    /// Erased: the commitment remains, so that the operation still hashes as it did.
    case erased(commitment: Digest, salted: Bool, payloadByteCount: Int)
}

/// One step of a log, as it travels and as it is kept.
///
/// `head` is the exact bytes of the header: hashed and signed bytes are never encoded again.
/// Source: `Protocol/03-operations.md`, "Bytes".
public struct Operation: Equatable, Sendable {
    /// The header's bytes: version to payload length, without commitment or payload.
    public let head: [UInt8]
    /// The same, read.
    public let header: OperationHeader
    /// The payload or what is left of it.
    public let body: OperationBody

    init(head: [UInt8], header: OperationHeader, body: OperationBody) {
        self.head = head
        self.header = header
        self.body = body
    }

    /// The payload, or nothing if there is none or it was erased.
    public var payload: [UInt8]? {
        if case .present(_, let payload) = body { payload } else { nil }
    }

    /// Whether the payload was erased.
    public var isErased: Bool {
        if case .erased = body { true } else { false }
    }

    /// How many bytes the transfer form has.
    public var byteCount: Int {
        switch body {
        case .none: head.count
        case .present(let salt, let payload): head.count + salt.count + payload.count
        case .erased: head.count + Digest.byteCount
        }
    }

    /// The same operation with only the commitment left of its payload.
    ///
    /// - Parameter commitment: what the sealing room computed from salt and payload.
    public func erased(commitment: Digest) -> Operation {
        guard case .present(let salt, let payload) = body else { return self }
        return Operation(
            head: head, header: header,
            body: .erased(
                commitment: commitment, salted: !salt.isEmpty, payloadByteCount: payload.count))
    }
}
