import ParleyConversation
public import ParleyLedger
import ParleySealing
public import ParleyWire

/// Where an own log ended of a conversation that was deleted here. Without it a return to the
/// conversation would begin a second history.
public struct FormerLog: Equatable, Sendable {
    /// The place after the last operation.
    public var end: UInt64
    /// That operation.
    public var tip: OperationID
    /// Where it stood.
    public var stand: Stand

    init(_ log: LogRecord) {
        end = log.end
        tip = log.tip
        stand = log.order.tip
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            end = try reader.uint64()
            tip = try reader.identifier()
            stand = Stand(
                value: try reader.uint64(), witness: try reader.uint64(),
                wallClock: try reader.uint64())
            try reader.finish()
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.uint64(end)
        writer.identifier(tip)
        writer.uint64(stand.value)
        writer.uint64(stand.witness)
        writer.uint64(stand.wallClock)
        return writer.bytes
    }

    /// Where this log ended when its conversation was deleted here; nil where it was not.
    public static func kept(
        _ log: LogID, in store: some NodeStore
    ) throws(StoreError) -> FormerLog? {
        try store.value(.formerLog, log.bytes).flatMap(FormerLog.init)
    }
}
