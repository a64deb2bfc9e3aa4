import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleySealing
import ParleyWire

/// Reading files from shelves that others put them on, if no linked device delivers them. Source:
/// `Protocol/13-files.md`, "Shelves".
extension NodeCore {
    /// Pages of shelves that are asked for at a time.
    static let shelfPageCountMax = 2
    /// How long after a shelf had nothing new it is asked again.
    static let shelfBackoff = Backoff(first: 10_000, max: 600_000)
    /// How long a shelf with too many useless envelopes is left, in milliseconds.
    static let uselessShelfPause: UInt64 = 3_600_000
    /// Which shelves a file may lie on is looked up so often, in milliseconds.
    static let shelfSourcesInterval: UInt64 = 60_000

    /// Asks for pages of shelves, those of files first that are wanted first.
    mutating func readShelves(_ turn: inout some Turn) throws(StoreError) {
        let now = turn.now.monotonic
        let relays = courier.lines.keys.sorted().filter { relay in
            guard let line = courier.lines[relay], line.isReading, line.isOpenAndDrained else {
                return false
            }
            return !line.pace.isBusy(at: now) && !shelves.isPaused(relay, at: now)
        }
        guard !relays.isEmpty else { return }
        for blob in fileDesk.fetcher.blobs where !fileDesk.fetcher.isHeld(blob) {
            guard shelves.askedCount < Self.shelfPageCountMax else { return }
            for source in try sources(of: blob, &turn).shelves {
                for relay in relays where shelves.askedCount < Self.shelfPageCountMax {
                    let shelf = ForeignShelf(blob: blob, relay: relay, owner: source.owner)
                    try readShelf(shelf, key: source.key, &turn)
                }
            }
        }
    }

    /// Where a file lies, by the messages that name it: own shelves hold nothing that is not here.
    private mutating func sources(
        of blob: BlobID, _ turn: inout some Turn
    ) throws(StoreError) -> ShelfDesk.Sources {
        if let known = shelves.sources(of: blob, at: turn.now.monotonic) { return known }
        var found: [DeviceID: [UInt8]] = [:]
        let own = try shelfKey(of: blob, &turn).device
        for entry in try turn.store.naming(blob, limit: Self.namingCountMax) {
            let stored = try turn.store.operation(entry.operation)
            let message = stored?.operation.payload.flatMap(TextMessage.init(payload:))
            for file in message?.files ?? [] {
                guard case .blob(blob, let key) = file.content, let shelf = file.shelf, shelf != own
                else { continue }
                found[shelf] = key
            }
        }
        let sources = ShelfDesk.Sources(
            shelves: found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            until: turn.now.monotonic + Self.shelfSourcesInterval)
        shelves.note(sources, of: blob)
        return sources
    }

    private mutating func readShelf(
        _ shelf: ForeignShelf, key: [UInt8], _ turn: inout some Turn
    ) throws(StoreError) {
        var reading: ShelfDesk.Reading
        if let known = shelves.readings[shelf] {
            reading = known
        } else {
            reading = ShelfDesk.Reading(at: turn.now)
            // With nothing of the file here, what was read of the shelf has been lost since.
            let held = try turn.store.blobs.heldBlob(shelf.blob)
            if let held, held.chunks.count > 0,
                let kept = try ShelfCursor.kept(shelf, in: turn.store)
            {
                reading.cursor = kept
            }
        }
        guard !reading.isAsked, turn.now.monotonic >= reading.nextAt else { return }
        if reading.reader == nil {
            reading.reader = try reader(of: shelf.blob, key: key, turn.store)
        }
        guard reading.reader != nil else { return }
        reading.isAsked = true
        shelves.readings[shelf] = reading
        ask(
            .get(RelayRange(after: reading.cursor.counter)), of: shelf.mailbox,
            as: ShelfKeys.reader(fileKey: key), on: shelf.relay, for: .shelfPage(shelf), &turn)
    }

    private func reader(
        of blob: BlobID, key: [UInt8], _ store: some Store
    ) throws(StoreError) -> ShelfReader? {
        // Nothing of it is on the disk before something arrived.
        guard let shape = fileDesk.fetcher.shape(of: blob) else { return nil }
        var known: [BlobSection] = []
        for number in 0..<shape.sectionCount {
            let index = SectionIndex(clamping: UInt64(number))
            if let section = try store.blobs.section(index, of: blob) { known.append(section) }
        }
        return ShelfReader(blob, shape, key: key, knowing: known)
    }

    // MARK: Answers

    /// A page of a shelf came, or did not.
    mutating func answered(
        page shelf: ForeignShelf, _ answer: RelayAnswer, _ turn: inout some Turn
    ) throws(StoreError) {
        guard var reading = shelves.readings.removeValue(forKey: shelf) else { return }
        reading.isAsked = false
        guard fileDesk.fetcher.blobs.contains(shelf.blob) else { return }
        switch answer {
        case .entries(let entries, let hasMore, let newest):
            courier.lines[shelf.relay]?.pace.noteWork(at: turn.now.monotonic)
            if entries.isEmpty, newest < reading.cursor.counter {
                // It was put there again.
                reading.beginAgain(at: turn.now)
                reading.reader = nil
            } else {
                try take(entries, hasMore: hasMore, from: shelf, &reading, &turn)
            }
        case .refused(let refusal): rest(&reading, after: refusal, at: turn.now)
        default: return
        }
        // The arrived piece may have been the last.
        guard fileDesk.fetcher.blobs.contains(shelf.blob) else { return }
        shelves.readings[shelf] = reading
    }

    private mutating func take(
        _ entries: [RelayEntry], hasMore: Bool, from shelf: ForeignShelf,
        _ reading: inout ShelfDesk.Reading, _ turn: inout some Turn
    ) throws(StoreError) {
        let fresh = entries.sorted { $0.counter < $1.counter }
            .filter { $0.counter > reading.cursor.counter }
        guard var reader = reading.reader else { return }
        var outputs: [BlobFetcher<LinkID>.Output] = []
        var isNew = false
        for entry in fresh {
            switch reader.read(entry.envelope) {
            case .section(let section):
                // What does not fit here is no longer fetched, and nothing of it is kept.
                guard try takeRoom(for: section, &turn) else { return }
                outputs += try fileDesk.fetcher.takeShelved(
                    section, at: turn.now.monotonic, in: turn.store.blobs)
                reading.isToBeRepeated = reading.isToBeRepeated || reading.hasPassedOver
            case .chunk(let chunk):
                outputs += try fileDesk.fetcher.takeShelved(chunk, in: turn.store.blobs)
            case .part: break
            case .nothing:
                reading.hasPassedOver = true
                continue
            }
            isNew = true
        }
        // What the disk did not take is read again from where this page began, once that is tried again.
        let hasFailed = outputs.contains { if case .failed = $0 { true } else { false } }
        if hasFailed { return try perform(outputs, &turn) }
        reading.reader = reader
        if let last = fresh.last { reading.cursor.counter = last.counter }
        // The position within parts is stored nowhere: they are read again after a restart.
        if !reader.awaitsParts, !fresh.isEmpty { try reading.cursor.keep(shelf, in: turn.store) }
        if reader.hasEnough {
            try count(.uselessShelf, turn.store)
            reading.nextAt = turn.now.monotonic + Self.uselessShelfPause
            reading.reader = nil
        } else if !hasMore || fresh.isEmpty {
            try end(&reading, isNew: isNew, shelf, &turn)
        }
        try perform(outputs, &turn)
    }

    /// All that lies on a shelf was read.
    private mutating func end(
        _ reading: inout ShelfDesk.Reading, isNew: Bool, _ shelf: ForeignShelf,
        _ turn: inout some Turn
    ) throws(StoreError) {
        reading.fruitlessCount = isNew ? 0 : reading.fruitlessCount + 1
        reading.nextAt =
            turn.now.monotonic + Self.shelfBackoff.delay(after: reading.fruitlessCount)
        let awaitsParts = reading.reader?.awaitsParts == true
        reading.reader = nil
        // What arrived out of order, or was lost here since, is found by reading everything once
        // more.
        let isDue =
            turn.now.wall >= reading.cursor.begun + Self.day
            || turn.now.monotonic >= reading.begunAt + Self.day
        if reading.isToBeRepeated {
            reading.nextAt =
                turn.now.monotonic + Self.shelfBackoff.delay(after: reading.repeatCount)
            (reading.hasPassedOver, reading.isToBeRepeated) = (false, false)
            reading.repeatCount += 1
            reading.beginAgain(at: turn.now)
            try reading.cursor.keep(shelf, in: turn.store)
        } else if !isNew, isDue || turn.now.wall < reading.cursor.begun {
            reading.beginAgain(at: turn.now)
            try reading.cursor.keep(shelf, in: turn.store)
        } else if awaitsParts {
            let kept = try ShelfCursor.kept(shelf, in: turn.store)
            reading.cursor = kept ?? ShelfCursor(begun: reading.cursor.begun)
        }
    }

    private func rest(
        _ reading: inout ShelfDesk.Reading, after refusal: RelayRefusal, at now: Instant
    ) {
        reading.reader = nil
        switch refusal {
        case .busy(let delay):
            reading.nextAt =
                now.monotonic + min(max(UInt64(delay), Self.shelfRest), Self.uselessShelfPause)
        case .noMailbox:
            reading.fruitlessCount += 1
            reading.nextAt =
                now.monotonic + Self.shelfBackoff.delay(after: reading.fruitlessCount)
        case .forbidden, .ticketNeeded, .badTicket, .malformed, .nobodyThere, .full:
            reading.nextAt = now.monotonic + Self.uselessShelfPause
        }
    }

    /// A file came, or nobody names it any more: it is read from no shelf.
    mutating func endShelfReading(_ blob: BlobID, _ store: some Store) throws(StoreError) {
        shelves.stopReading(blob)
        try ShelfCursor.drop(of: blob, in: store)
    }
}
