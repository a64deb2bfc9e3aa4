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
    /// Its clock.
    public var clock: UInt64

    init(_ log: LogRecord) {
        end = log.end
        tip = log.tip
        clock = log.tipClock
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            end = try reader.uint64()
            tip = try reader.identifier()
            clock = try reader.uint64()
            try reader.finish()
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 48)
        writer.uint64(end)
        writer.identifier(tip)
        writer.uint64(clock)
        return writer.bytes
    }

    /// Where this log ended when its conversation was deleted here; nil where it was not.
    public static func kept(
        _ log: LogID, in store: some NodeStore
    ) throws(StoreError) -> FormerLog? {
        try store.value(.formerLog, log.bytes).flatMap(FormerLog.init)
    }
}
