import ParleyConversation
@testable import ParleyLedger
import ParleyNodeCore
import ParleyWire

/// Values that tests make up: nothing here is proven, which is all right for a store.
enum Sample {
    static func id<Subject>(_ number: UInt64, _ salt: UInt8 = 7) -> Identifier<Subject> {
        Identifier { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: salt)
            buffer.storeBytes(of: number.bigEndian, as: UInt64.self)
        }
    }

    static let spaceID: SpaceID = id(0x5bac_e000_0000_0001)
    static let device: DeviceID = id(0xde71_ce00_0000_0001)

    /// An operation at this place, with a clock in steps of one millisecond unless told.
    static func operation(
        _ log: LogRecord, _ sequence: UInt64, milliseconds: UInt64? = nil,
        text: String = "hello"
    ) throws -> VerifiedOperation {
        let wallClock = milliseconds ?? (1_000_000 + sequence)
        let header = OperationHeader(
            kind: OperationKind(rawValue: 64), wallClock: wallClock, clock: wallClock << 16,
            authority: 42)
        return VerifiedOperation(
            id: id(log.tag.value ^ (sequence &+ 1) &* 0x9e37_79b9, 9), tag: log.tag,
            sequence: sequence,
            operation: try Operation.make(
                header, salt: [UInt8](repeating: 3, count: 16), payload: Array(text.utf8)))
    }

    static func operations(
        _ log: LogRecord, _ range: Range<UInt64>, text: String = "hello"
    ) throws -> [VerifiedOperation] {
        try range.map { try operation(log, $0, text: "\(text) \($0)") }
    }

    static func message(
        _ operation: VerifiedOperation, _ number: OperationNumber, _ log: LogRecord,
        flags: MessageRow.Flags = []
    ) -> MessageRow {
        MessageRow(
            space: log.space, order: operation.orderKey, operation: number, log: log.number,
            flags: flags)
    }

    /// Evidence as a store keeps it; its signatures were checked by somebody else.
    static func evidence(
        _ log: LogRecord, _ space: SpaceID, parting place: UInt64
    ) throws -> ForkEvidence {
        func run(_ text: String) throws -> Run {
            Run(
                device: log.device, lane: log.lane, first: place,
                anchor: place == 0 ? nil : id(77),
                operations: [try operation(log, place, text: text).operation],
                heads: [SignedHead(sequence: place, signature: try signature(1))])
        }
        return ForkEvidence(
            stored: ForkProof(space: space, left: try run("left"), right: try run("right")))
    }

    static func signature(_ byte: UInt8) throws -> SignatureBytes {
        guard let made = SignatureBytes([UInt8](repeating: byte, count: 64)) else {
            throw StoreError(.other, attempt: "making a signature")
        }
        return made
    }
}

extension TransactionalStore {
    /// Runs the closure in a transaction of its own.
    @discardableResult
    func transaction<R>(
        _ durability: Durability = .normal, _ body: () throws -> R
    ) throws -> R {
        try begin(durability)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            rollback()
            throw error
        }
    }

    /// A log of a new space.
    func sampleLog(
        space: SpaceID = Sample.spaceID, tag: UInt64 = 0x8000_0000_0000_0001,
        lane: Lane = .content
    ) throws -> LogRecord {
        let record = try self.space(space) ?? addSpace(space, kind: .group)
        return try addLog(
            Sample.id(tag), device: Sample.device, lane: lane, in: record.number)
    }

    /// Stores operations and a message row for each, as the core would.
    @discardableResult
    func store(
        _ operations: [VerifiedOperation], _ log: LogRecord
    ) throws -> [OperationNumber] {
        let numbers = try insert(operations, in: log.number)
        for (operation, number) in zip(operations, numbers) {
            try insert(Sample.message(operation, number, log))
        }
        guard let first = operations.first, let last = operations.last else { return numbers }
        guard var record = try self.log(log.number) else { return numbers }
        record.spans = [
            Span(
                first: record.spans.first?.first ?? first.sequence, last: last.sequence,
                anchor: OperationID(reinterpreting: log.id), tip: last.id)
        ]
        record.order.tip = last.stand
        try update(record)
        return numbers
    }
}

extension Sample {
    /// An operation that never had a payload.
    static func bare(_ log: LogRecord, _ sequence: UInt64) throws -> VerifiedOperation {
        let header = OperationHeader(kind: .merge, wallClock: 5, clock: 5 << 16)
        return VerifiedOperation(
            id: id(sequence), tag: log.tag, sequence: sequence,
            operation: try Operation.make(header))
    }

    /// An operation whose payload was erased before it arrived.
    static func erased(_ log: LogRecord, _ sequence: UInt64) throws -> VerifiedOperation {
        let full = try operation(log, sequence)
        return VerifiedOperation(
            id: full.id, tag: log.tag, sequence: sequence,
            operation: full.operation.erased(commitment: id(88)))
    }
}
