public import ParleyConversation
import ParleyFiles
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// Reports in receipts which messages' files are here, so that the device that put them on a relay
/// removes them.
/// Source: `Protocol/13-files.md`, "Held".
extension NodeCore {
    /// A file arrived. Nobody is told before the disk has stored it durably: the device that put it
    /// on a relay removes it then, and a crash here could leave nobody who has it.
    mutating func noteUnkept(_ blob: BlobID, _ turn: inout some Turn) throws(StoreError) {
        try turn.store.setValue([1], .unkeptFile, blob.bytes)
        turn.emit(.keepFile(blob))
    }

    /// The disk has stored a file durably, or refused it: of the messages that name it, those whose
    /// files are all here now are reported.
    mutating func kept(
        _ blob: BlobID, isDurable: Bool, _ turn: inout some Turn
    ) throws(StoreError) {
        guard try turn.store.value(.unkeptFile, blob.bytes) != nil else { return }
        guard isDurable else {
            timers.set(.fileRetry, in: Self.fileRetryInterval, &turn)
            return
        }
        try turn.store.setValue(nil, .unkeptFile, blob.bytes)
        for entry in try turn.store.naming(blob, limit: Self.namingCountMax) {
            try noteFileReceipts(of: entry.operation, &turn)
        }
    }

    /// Continues with files that arrived and that the disk may not have stored durably. Those that
    /// a crash lost are wanted again.
    mutating func keepFiles(_ turn: inout some Turn) throws(StoreError) {
        for (key, _) in try turn.store.values(.unkeptFile) {
            if let blob = BlobID(key), try turn.store.blobs.heldBlob(blob)?.chunks.isWhole == true {
                turn.emit(.keepFile(blob))
                continue
            }
            try turn.store.setValue(nil, .unkeptFile, key)
            guard let blob = BlobID(key), let row = try HeldFile.kept(blob, in: turn.store),
                row.state == .whole
            else { continue }
            try WantedFile(
                blob: blob, shape: row.shape, since: WallTime(clamping: turn.now.wall),
                isAskedFor: false
            ).keep(in: turn.store)
        }
    }

    /// Notes that a message of somebody else is to be told of, if all sealed files that it brings are here.
    mutating func noteFileReceipts(
        of number: OperationNumber, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let stored = try turn.store.operation(number),
            let log = try turn.store.log(stored.log), log.device != identity.device,
            log.lane == .content,
            let message = stored.operation.payload.flatMap(TextMessage.init(payload:))
        else { return }
        guard message.files.contains(where: { $0.blob != nil }), try isAllHere(message, turn.store)
        else { return }
        let actor = Digest(reinterpreting: identity.device)
        let said = try turn.store.mark(.held, of: actor, on: log.tag, in: log.space)
        guard said?.places.contains(stored.sequence) != true else { return }
        let key = Self.heldKey(log.space, log.tag, stored.sequence)
        try turn.store.setValue([1], .untoldFiles, key)
        intake.unreceipted.insert(log.space)
        timers.set(.receipts, in: Self.receiptDelay, &turn)
    }

    /// Whether all sealed files of a message are stored durably here.
    private func isAllHere(
        _ message: TextMessage?, _ store: some Store
    ) throws(StoreError) -> Bool {
        for blob in message?.files.compactMap(\.blob) ?? [] {
            guard try store.blobs.heldBlob(blob)?.chunks.isWhole == true,
                try store.value(.unkeptFile, blob.bytes) == nil
            else { return false }
        }
        return true
    }

    /// Continues with what was not reported before this start.
    mutating func resumeFileReceipts(_ turn: inout some Turn) throws(StoreError) {
        for (key, _) in try turn.store.values(.untoldFiles) {
            guard let space = SpaceNumber(key: Array(key.prefix(8))) else { continue }
            intake.unreceipted.insert(space)
            timers.set(.receipts, in: Self.receiptDelay, &turn)
        }
    }

    /// Takes what is to be reported about files of a space: for each log everything that can be
    /// said.
    mutating func takeFileReceipts(
        in space: SpaceNumber, _ store: some Store
    ) throws(StoreError) -> [Receipts.Progress] {
        let actor = Digest(reinterpreting: identity.device)
        var new: [LogTag: PlaceSet] = [:]
        var keys: [LogTag: [(key: [UInt8], place: UInt64)]] = [:]
        for (key, _) in try store.values(.untoldFiles) where key.starts(with: space.key) {
            guard key.count == 24 else { continue }
            let tag = LogTag(key[8..<16].reduce(0) { $0 << 8 | UInt64($1) })
            let place = key[16...].reduce(0) { $0 << 8 | UInt64($1) }
            new[tag, default: PlaceSet()].insert(place..<place + 1)
            keys[tag, default: []].append((key, place))
        }
        var progress: [Receipts.Progress] = []
        var (room, untoldCount) = (Self.closingCountMax, 0)
        for (tag, places) in new.sorted(by: { $0.key < $1.key }) {
            // For an author who does not count, no mark is kept either.
            guard let log = try store.log(tag, in: space),
                let roster = rosters.judges[space]?.roster,
                roster.person(of: log.device) != nil,
                roster.members.count <= Receipts.deliveryMemberCountMax
            else {
                for row in keys[tag] ?? [] { try store.setValue(nil, .untoldFiles, row.key) }
                continue
            }
            var told = try store.mark(.held, of: actor, on: tag, in: space)?.places ?? PlaceSet()
            var all = told
            all.formUnion(places)
            try closeGaps(in: &all, of: log, &room, store)
            told.tell(all)
            progress.append(.init(tag: tag, places: told))
            // What does not fit in one receipt is reported once gaps close.
            for row in keys[tag] ?? [] {
                if !told.contains(row.place), untoldCount < Self.untoldFileCountMax {
                    untoldCount += 1
                    continue
                }
                try store.setValue(nil, .untoldFiles, row.key)
            }
        }
        return progress
    }

    /// Places that are looked at for one receipt, to close gaps.
    static let closingCountMax = 256
    /// Messages of a space that are remembered because no receipt has room for them yet.
    static let untoldFileCountMax = 256

    /// Adds the places between messages that lack no file: otherwise a person who is sent many
    /// files between texts could not report them all. Each gap is looked at from its beginning as far
    /// as nothing is missing, the latest gap first; the rest of them with the next receipt.
    private mutating func closeGaps(
        in places: inout PlaceSet, of log: LogRecord, _ room: inout Int, _ store: some Store
    ) throws(StoreError) {
        guard places.ranges.count > PlaceSet.rangeCountMax / 2,
            let received = try FormerMarks.received(
                log, lacking: PlaceSet(), &rosters.judges[log.space], in: store)
        else { return }
        for (left, right) in zip(places.ranges, places.ranges.dropFirst()).reversed() {
            let gap = left.upperBound..<right.lowerBound
            guard room > 0 else { return }
            guard received.contains(PlaceSet(gap)) else { continue }
            var end = gap.lowerBound
            while end < gap.upperBound, room > 0 {
                room -= 1
                let stored = try store.operation(at: end, in: log.number)
                let message = stored?.operation.payload.flatMap(TextMessage.init(payload:))
                guard try isAllHere(message, store) else { break }
                end += 1
            }
            places.insert(gap.lowerBound..<end)
        }
    }

    private static func heldKey(
        _ space: SpaceNumber, _ tag: LogTag, _ sequence: UInt64
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 24)
        writer.raw(space.key)
        writer.uint64(tag.value)
        writer.uint64(sequence)
        return writer.bytes
    }
}

extension Receipts {
    /// Whether a device said that it holds all files of the message at a place of a log.
    public static func tell(
        _ device: DeviceID, holdsFilesAt place: UInt64, of log: LogRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        let actor = Digest(reinterpreting: device)
        guard let mark = try store.mark(.held, of: actor, on: log.tag, in: log.space) else {
            return false
        }
        return try store.shared(mark, in: log).contains(place)
    }
}
