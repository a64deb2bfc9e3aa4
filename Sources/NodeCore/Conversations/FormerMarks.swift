import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// What this device had reported of conversations that were deleted here: what it had received from
/// others, and what was read on it. If one returns, its next receipts include that: a device's last
/// receipt holds, and it takes nothing back.
/// Source: `Protocol/08-roster.md`, "Deleting".
enum FormerMarks {
    /// Stores what was reported of a space, and what was held and not reported yet.
    static func keep(
        of space: SpaceRecord, by device: DeviceID, _ judge: inout Judge?, in store: some Store
    ) throws(StoreError) {
        for log in try store.agreedLogs(in: space.number)
        where log.lane == .content && log.device != device {
            for kind in [MarkKind.read, .delivered] {
                var places = try kept(kind, of: log.tag, in: space, store)
                let said = try store.mark(
                    kind, of: Digest(reinterpreting: device), on: log.tag, in: space.number)
                places.tell(said?.places ?? PlaceSet())
                if kind == .delivered {
                    let lacking = try MissingBodies.places(of: log.tag, in: space, store)
                    let held = try received(log, lacking: lacking, &judge, in: store)
                    places.tell(held ?? PlaceSet())
                }
                guard !places.isEmpty else { continue }
                try store.setValue(
                    bytes(places), .formerMark, key(kind, of: log.tag, in: space))
            }
        }
    }

    /// The places of a log that a device holds with what they say, that count here, and of which it may tell;
    /// nil where there are none.
    ///
    /// - Parameter lacking: places of which the words have not come.
    static func received(
        _ log: LogRecord, lacking: PlaceSet, _ judge: inout Judge?, in store: some Store
    ) throws(StoreError) -> PlaceSet? {
        guard let place = try store.lastSoundPlace(of: log), log.holds(place), place >= log.base
        else { return nil }
        let held = log.base..<place + 1
        // Almost always nobody was removed or made a reader.
        let endings = judge?.roster.endings(of: log.device, lane: log.lane) ?? []
        var left = lacking
        if endings.contains(where: { $0 <= place }) {
            let rows = try store.views(in: log.number, 0...UInt64.max)
            for range in judge?.untaken(of: log, rows) ?? [] { left.insert(range) }
        }
        var places = PlaceSet()
        for range in left.gaps(in: held) { places.insert(range) }
        return places.isEmpty ? nil : places
    }

    /// What was reported of a log before its conversation was deleted here; empty if it was not.
    static func kept(
        _ kind: MarkKind, of tag: LogTag, in space: SpaceRecord, _ store: some NodeStore
    ) throws(StoreError) -> PlaceSet {
        guard let value = try store.value(.formerMark, key(kind, of: tag, in: space)) else {
            return PlaceSet()
        }
        var reader = ByteReader(value)
        var counts: [UInt64] = []
        do throws(DecodingFailure) {
            while reader.remaining > 0 { counts.append(try reader.number()) }
        } catch { return PlaceSet() }
        return PlaceSet(counts: counts) ?? PlaceSet()
    }

    /// Adds what was reported before to what is reported of these logs now.
    static func complete(
        _ progress: [Receipts.Progress], _ kind: MarkKind, in space: SpaceRecord,
        _ store: some NodeStore
    ) throws(StoreError) -> [Receipts.Progress] {
        var all = progress
        for index in all.indices {
            var places = try kept(kind, of: all[index].tag, in: space, store)
            guard !places.isEmpty else { continue }
            places.tell(all[index].places)
            all[index].places = places
        }
        return all
    }

    private static func bytes(_ places: PlaceSet) -> [UInt8] {
        var writer = ByteWriter()
        for count in places.counts { writer.number(count) }
        return writer.bytes
    }

    private static func key(_ kind: MarkKind, of tag: LogTag, in space: SpaceRecord) -> [UInt8] {
        var writer = ByteWriter(capacity: 48)
        writer.identifier(space.id)
        writer.byte(kind.rawValue)
        writer.uint64(tag.value)
        return writer.bytes
    }
}
