import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Lines that the person brought in and that were deleted since.
///
/// Any other deleted message still shows who wrote it, when, and how long it was, because its
/// operation says so. For an imported line the payload said so, and it is erased. These facts are
/// kept here, and nothing derived from the text, not even under a key: a thief of this device could
/// test guesses.
struct DeletedImports {
    /// One of them.
    struct Line: Equatable {
        var tag: LogTag
        var sequence: UInt64
        /// How long its text was.
        var byteCount: UInt64
    }

    /// Lines of equal length that one author wrote in one minute cannot be told apart.
    private(set) var lines: [Line] = []

    /// So many of one author at one time are kept. Beyond, one is brought in again.
    static let countMax = 256

    init() {}

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            for _ in 0..<(try reader.count("lines", atMost: Self.countMax)) {
                lines.append(
                    Line(
                        tag: LogTag(try reader.uint64()), sequence: try reader.uint64(),
                        byteCount: try reader.uint64()))
            }
            try reader.finish()
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.number(UInt64(lines.count))
        for line in lines {
            writer.uint64(line.tag.value)
            writer.uint64(line.sequence)
            writer.uint64(line.byteCount)
        }
        return writer.bytes
    }

    static func key(of origin: ImportedOrigin, in space: SpaceID) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(space.bytes)
        writer.uint64(origin.time)
        writer.byte(origin.isAction ? 1 : 0)
        writer.raw(Array(origin.author.utf8))
        return writer.bytes
    }

    /// Those of one author at one time that are still deleted: a deletion may count no more, and others
    /// then bring the text back.
    static func lines(
        of origin: ImportedOrigin, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [Line] {
        let known = try store.value(.deletedImport, key(of: origin, in: space.id))
        var lines: [Line] = []
        for line in known.flatMap(DeletedImports.init)?.lines ?? [] {
            guard let log = try store.log(line.tag, in: space.number),
                let stored = try store.operation(at: line.sequence, in: log.number),
                try isDeleted(line, stored.id.check, in: space, store)
            else { continue }
            lines.append(line)
        }
        return lines
    }

    private static func isDeleted(
        _ line: Line, _ check: Check, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        try Overview.isDeleted(
            OperationReference(tag: line.tag, sequence: line.sequence, check: check),
            in: space.number, store: store)
    }

    private mutating func add(_ line: Line) -> Bool {
        guard lines.count < Self.countMax,
            !lines.contains(where: { $0.tag == line.tag && $0.sequence == line.sequence })
        else { return false }
        lines.append(line)
        return true
    }
}

extension DeletedImports {
    /// A line as it was before something was merged that may delete it.
    struct Doomed {
        fileprivate let operation: OperationNumber
        fileprivate let origin: ImportedOrigin
        fileprivate let line: Line
    }

    /// The imported line that an operation deletes, or that is deleted before it arrives; nil if it
    /// is not a line that the person imported.
    ///
    /// - Parameter isOwn: whether a device is the person's.
    static func doomed(
        by applied: AppliedOperation, in space: SpaceRecord, _ store: some Store,
        isOwn: (DeviceID) -> Bool
    ) throws(StoreError) -> Doomed? {
        let operation = applied.operation.operation
        if applied.isKind(.delete) {
            guard let target = operation.header.references.first,
                let log = try store.log(target.tag, in: space.number), isOwn(log.device),
                let stored = try store.operation(at: target.sequence, in: log.number)
            else { return nil }
            return doomed(stored.operation, stored.number, at: target.sequence, of: log)
        }
        // Where nothing named its place, nothing deleted it: so it is with almost all that comes.
        guard applied.isKind(.text), isOwn(applied.log.device),
            applied.isBackfill || applied.operation.sequence < applied.log.coveredEnd,
            let doomed = doomed(
                operation, applied.number, at: applied.operation.sequence, of: applied.log),
            try isDeleted(doomed.line, applied.operation.id.check, in: space, store)
        else { return nil }
        return doomed
    }

    private static func doomed(
        _ operation: Operation, _ number: OperationNumber, at place: UInt64, of log: LogRecord
    ) -> Doomed? {
        guard operation.header.kind == .text,
            let message = operation.payload.flatMap(TextMessage.init), let origin = message.origin
        else { return nil }
        return Doomed(
            operation: number, origin: origin,
            line: Line(
                tag: log.tag, sequence: place, byteCount: UInt64(message.text.utf8.count)))
    }

    /// Keeps so much of a line as its deletion leaves of every message, if it is gone now.
    static func note(
        _ doomed: Doomed?, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        guard let doomed, try store.operation(doomed.operation)?.operation.isErased == true else {
            return
        }
        let key = key(of: doomed.origin, in: space.id)
        var known = try store.value(.deletedImport, key).flatMap(DeletedImports.init) ?? Self()
        guard known.add(doomed.line) else { return }
        try store.setValue(known.bytes, .deletedImport, key)
    }
}

extension NodeCore {
    /// Merges an operation, and records the facts to keep about an imported line that it deletes,
    /// or that was deleted before it arrived.
    func merging(
        _ applied: AppliedOperation, _ context: MergeContext, _ store: some Store,
        _ merge: () throws(StoreError) -> [ViewChange]
    ) throws(StoreError) -> [ViewChange] {
        let doomed = try DeletedImports.doomed(by: applied, in: context.space, store) {
            context.roster.person(of: $0) == identity.person
        }
        let changes = try merge()
        try DeletedImports.note(doomed, in: context.space, store)
        return changes
    }
}
