/// A signature as bytes; the sealing room alone can judge it.
public struct SignatureBytes: Hashable, Sendable {
    /// How many bytes every signature has.
    public static let byteCount = 64
    /// The 64 bytes.
    public let bytes: [UInt8]

    /// The signature with these bytes, or nil unless there are exactly 64.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }
}

/// A signature over the log up to one operation.
public struct SignedHead: Hashable, Sendable {
    /// The place of the operation in its log.
    public let sequence: UInt64
    /// `SIG("lp1/head", log ‖ sequence ‖ operation)`.
    public let signature: SignatureBytes

    /// A signature of the operation at this place.
    public init(sequence: UInt64, signature: SignatureBytes) {
        self.sequence = sequence
        self.signature = signature
    }
}

/// Consecutive operations of one log, in transit. Nothing in it is verified yet.
/// Source: `Protocol/06-sync.md`, "OPS".
public struct Run: Equatable, Sendable {
    /// The author.
    public var device: DeviceID
    /// The lane; with space and device it names the log.
    public var lane: Lane
    /// The place of the first operation.
    public var first: UInt64
    /// The identifier of the operation before the first, where the receiver may not hold it.
    public var anchor: OperationID?
    /// At least one.
    public var operations: [Operation]
    /// Signatures over places inside the run, ascending.
    public var heads: [SignedHead]

    /// A run of these operations.
    public init(
        device: DeviceID, lane: Lane, first: UInt64, anchor: OperationID?,
        operations: [Operation], heads: [SignedHead]
    ) {
        self.device = device
        self.lane = lane
        self.first = first
        self.anchor = anchor
        self.operations = operations
        self.heads = heads
    }

    /// The place of the last operation.
    public var last: UInt64 { first + UInt64(operations.count) - 1 }

    /// How many bytes it counts towards credit: about its size on a link, before compression. Both
    /// sides compute it from the same fields, so credit never leaks away.
    public var byteCount: Int {
        operations.reduce(80 + heads.count * 66) {
            $0 + max(Limits.operationCreditByteCount, $1.byteCount + 2)
        }
    }

    /// Whether it travels compressed. Content alone: nothing of keys or receipts ever is.
    var isCompressed: Bool {
        lane == .content && operations.count > Limits.uncompressedOperationCountMax
    }
}

extension ByteWriter {
    /// A run: device, lane, flags, first, anchor, operations, heads.
    mutating func run(_ run: Run) {
        identifier(run.device)
        byte(run.lane.rawValue)
        byte((run.anchor == nil ? 0 : 1) | (run.isCompressed ? 2 : 0))
        number(run.first)
        if let anchor = run.anchor { identifier(anchor) }
        number(UInt64(run.operations.count))
        if run.isCompressed {
            var plain = ByteWriter(capacity: run.byteCount)
            plain.operations(run.operations)
            let compressed = Zstandard.compress(plain.bytes)
            number(UInt64(plain.bytes.count))
            counted(compressed)
        } else {
            operations(run.operations)
        }
        number(UInt64(run.heads.count))
        for head in run.heads {
            number(head.sequence - run.first)
            raw(head.signature.bytes)
        }
    }

    private mutating func operations(_ operations: [Operation]) {
        for operation in operations {
            number(UInt64(operation.byteCount) << 1 | (operation.isErased ? 1 : 0))
            raw(operation.head)
            switch operation.body {
            case .none: break
            case .present(let salt, let payload):
                raw(salt)
                raw(payload)
            case .erased(let commitment, _, _): identifier(commitment)
            }
        }
    }
}

/// The remaining limit on expansion: taken from before anything is allocated.
///
/// One for a frame on a link, and one for all frames of an envelope or a letter.
public struct DecodingRoom: Sendable {
    /// Bytes of runs that travel compressed.
    public fileprivate(set) var byteCount = Limits.runByteCountMax
    /// Operations.
    public fileprivate(set) var operationCount = Limits.frameOperationCountMax

    /// All of it.
    public init() {}

    /// How many operations were decoded within it, and how many bytes came of compressed runs.
    public var taken: (operationCount: Int, byteCount: Int) {
        (Limits.frameOperationCountMax - operationCount, Limits.runByteCountMax - byteCount)
    }
}

extension ByteReader {
    /// A run, in the same order.
    ///
    /// - Parameter room: what the runs may still grow to. One bound for all of them: a few bytes each
    ///   would otherwise grow to gigabytes.
    mutating func run(room: inout DecodingRoom) throws(DecodingFailure) -> Run {
        let device: DeviceID = try identifier()
        guard let lane = Lane(rawValue: try byte()) else { throw .forbidden(field: "lane") }
        let flags = try byte()
        guard flags <= 3 else { throw .unknownFlags(flags) }
        let first = try place()
        guard first < Limits.placeMax - UInt64(Limits.runOperationCountMax) else {
            throw .forbidden(field: "first")
        }
        let anchor: OperationID? = flags & 1 == 1 ? try identifier() : nil
        let count = try count(
            "operations", atMost: min(Limits.runOperationCountMax, room.operationCount))
        room.operationCount -= count
        guard count > 0 else { throw .forbidden(field: "empty run") }
        if lane == .control, first + UInt64(count) > Limits.controlOperationCountMax {
            throw .forbidden(field: "place in lane 0")
        }
        let operations: [Operation]
        if flags & 2 == 2 {
            let byteCount = try self.count("compressed run", atMost: room.byteCount)
            room.byteCount -= byteCount
            let compressed = try slice(
                try self.count("compressed bytes", atMost: Limits.frameByteCountMax))
            var plain = ByteReader(try Zstandard.decompress(compressed, byteCount: byteCount))
            operations = try plain.operations(count, in: lane)
            try plain.finish()
        } else {
            operations = try self.operations(count, in: lane)
        }
        let run = Run(
            device: device, lane: lane, first: first, anchor: anchor, operations: operations,
            heads: try heads(first: first, operationCount: count))
        // One rule says which runs are compressed, so that a run has one form.
        guard run.isCompressed == (flags & 2 == 2) else { throw .forbidden(field: "compression") }
        return run
    }

    private mutating func operations(
        _ count: Int, in lane: Lane
    ) throws(DecodingFailure) -> [Operation] {
        let limit =
            lane == .control ? Limits.epochByteCountMax : Limits.operationByteCountMax
        var operations: [Operation] = []
        operations.reserveCapacity(min(count, remaining / 8))
        for _ in 0..<count {
            let mark = try self.count("operation", atMost: limit << 1 | 1)
            operations.append(
                try Operation(transferForm: try slice(mark >> 1), isErased: mark & 1 == 1))
        }
        return operations
    }

    private mutating func heads(
        first: UInt64, operationCount: Int
    ) throws(DecodingFailure) -> [SignedHead] {
        let count = try count("heads", atMost: operationCount)
        var heads: [SignedHead] = []
        for _ in 0..<count {
            let offset = try number()
            guard offset < UInt64(operationCount) else { throw .forbidden(field: "head") }
            if let last = heads.last, first + offset <= last.sequence {
                throw .unsorted(field: "heads")
            }
            guard let signature = SignatureBytes(try slice(SignatureBytes.byteCount)) else {
                throw .truncated
            }
            heads.append(SignedHead(sequence: first + offset, signature: signature))
        }
        return heads
    }
}
