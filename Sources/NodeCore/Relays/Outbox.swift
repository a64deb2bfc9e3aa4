import ParleyConversation
public import ParleyLedger
import ParleySealing
public import ParleyWire

/// What relays hold of this device's own logs.
///
/// The logs themselves are the outbox: for each log and relay it is stored how far the relay
/// confirmed it durably. Sealed bytes are never stored.
/// Source: `Protocol/06-relay.md`, "Outbox".
public enum Outbox {
    /// What a relay has of one log: consecutive places that it confirmed.
    struct Entry: Equatable {
        var first: UInt64
        var end: UInt64
        /// When the oldest of these was put, in Unix milliseconds.
        var since: UInt64

        init(first: UInt64, end: UInt64, since: UInt64) {
            self.first = first
            self.end = end
            self.since = since
        }

        init?(_ bytes: [UInt8]) {
            var reader = ByteReader(bytes)
            do {
                first = try reader.uint64()
                end = try reader.uint64()
                since = try reader.uint64()
                try reader.finish()
            } catch { return nil }
            guard first <= end else { return nil }
        }

        var bytes: [UInt8] {
            var writer = ByteWriter(capacity: 24)
            writer.uint64(first)
            writer.uint64(end)
            writer.uint64(since)
            return writer.bytes
        }
    }

    static func key(_ relay: NoiseKey, _ space: SpaceID, _ tag: LogTag) -> [UInt8] {
        var writer = ByteWriter(capacity: 72)
        writer.identifier(relay)
        writer.identifier(space)
        writer.uint64(tag.value)
        return writer.bytes
    }

    /// The relay of a key, if it is one of this log.
    static func relay(of key: [UInt8], _ space: SpaceID, _ tag: LogTag) -> NoiseKey? {
        guard key.count == 72, let relay = NoiseKey(key.prefix(32)),
            key == Self.key(relay, space, tag)
        else { return nil }
        return relay
    }

    /// Relays in use that answered that an operation of this device is on their disks, ascending.
    ///
    /// - Parameter sequence: its place in the log.
    static func relays(
        holding sequence: UInt64, of log: LogRecord, in space: SpaceRecord,
        _ store: some NodeStore
    ) throws(StoreError) -> [NoiseKey] {
        var relays: [NoiseKey] = []
        for (key, _) in try store.values(.relay) {
            guard let relay = NoiseKey(key),
                let entry = try store.value(.outbox, Self.key(relay, space.id, log.tag))
                    .flatMap(Entry.init), (entry.first..<entry.end).contains(sequence)
            else { continue }
            relays.append(relay)
        }
        return relays.sorted()
    }

    /// Which operations of this device in lanes 0, 1, 3 and 4 some relay has on its disk, as places of its logs,
    /// ascending: what no relay answered for lies between them.
    ///
    /// - Parameter lost: relays that do not count: others answer in their place now.
    public static func relayed(
        of space: SpaceRecord, by device: DeviceID, besides lost: Set<NoiseKey> = [],
        in store: some NodeStore
    ) throws(StoreError) -> [LogTag: [Range<UInt64>]] {
        var all: [LogTag: [Range<UInt64>]] = [:]
        for lane in [Lane.content] + SharedWord.acknowledgedLanes {
            let tag = LogTag(OperationHash.log(space: space.id, device: device, lane: lane))
            var found: [Range<UInt64>] = []
            for (relay, _) in try store.values(.relay) {
                guard let relay = NoiseKey(relay), !lost.contains(relay),
                    let entry = try store.value(.outbox, key(relay, space.id, tag))
                        .flatMap(Entry.init)
                else { continue }
                found.append(entry.first..<entry.end)
            }
            all[tag] = joined(found)
        }
        return all
    }

    /// The same places, as ranges that do not touch, ascending.
    private static func joined(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
        var joined: [Range<UInt64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}
