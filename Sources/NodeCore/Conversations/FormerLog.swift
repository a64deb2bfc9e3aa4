import ParleyConversation
public import ParleyLedger
import ParleyRoster
import ParleySealing
public import ParleyWire

/// Where a log of a deleted conversation ended: if the conversation returns, what was deleted does
/// not. Without the end of an own log, a return would begin a second history.
public struct FormerLog: Equatable, Sendable {
    /// The author of the log; nil for own logs of lanes 0 and 2, and in records of earlier
    /// versions.
    var author: Author?
    /// The place after the last operation.
    public var end: UInt64
    /// That operation.
    public var tip: OperationID
    /// Where it stood.
    public var stand: Stand

    /// Whose log it is, and what of lane 0 it had seen where it ended.
    struct Author: Equatable, Sendable {
        var device: DeviceID
        var lane: Lane
        var view: [LogTip]

        init(_ place: LogPlace) {
            (device, lane, view) = (place.device, place.lane, place.view)
        }

        init(device: DeviceID, lane: Lane, view: [LogTip]) {
            (self.device, self.lane, self.view) = (device, lane, view)
        }
    }

    init(_ log: LogRecord) {
        end = log.end
        tip = log.tip
        stand = log.order.tip
    }

    /// That of another device's log.
    init(_ place: LogPlace) {
        author = Author(place)
        end = place.sequence + 1
        tip = place.operation
        stand = place.stand
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            end = try reader.uint64()
            tip = try reader.identifier()
            stand = Stand(
                value: try reader.uint64(), witness: try reader.uint64(),
                wallClock: try reader.uint64())
            if reader.remaining > 0 {
                let device: DeviceID = try reader.identifier()
                guard let lane = Lane(rawValue: try reader.byte()) else { return nil }
                var view: [LogTip] = []
                while reader.remaining > 0 {
                    view.append(
                        LogTip(tag: LogTag(try reader.uint64()), sequence: try reader.number()))
                }
                author = Author(device: device, lane: lane, view: view)
            }
            try reader.finish()
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.uint64(end)
        writer.identifier(tip)
        writer.uint64(stand.value)
        writer.uint64(stand.witness)
        writer.uint64(stand.wallClock)
        guard let author else { return writer.bytes }
        writer.identifier(author.device)
        writer.byte(author.lane.rawValue)
        for tip in author.view {
            writer.uint64(tip.tag.value)
            writer.number(tip.sequence)
        }
        return writer.bytes
    }

    /// Where the continued log begins.
    var point: LogPoint { LogPoint(sequence: end, anchor: tip) }

    /// Where this log ended when its conversation was deleted here; nil where it was not.
    public static func kept(
        _ log: LogID, in store: some NodeStore
    ) throws(StoreError) -> FormerLog? {
        try store.value(.formerLog, log.bytes).flatMap(FormerLog.init)
    }
}
