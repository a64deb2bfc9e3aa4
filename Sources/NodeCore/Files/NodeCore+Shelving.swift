import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// Putting own files on relays for devices that are away, and removing them once all have them.
/// Source: `Protocol/13-files.md`, "Shelves".
extension NodeCore {
    /// How long a linked device has to fetch a file before it is put on a relay, in milliseconds.
    static let shelfDelay: UInt64 = 10_000
    /// How often it is checked who lacks what, in milliseconds: while something is to be put
    /// somewhere, and while it only lies there.
    static let shelfInterval: UInt64 = 600_000
    static let quietShelfInterval: UInt64 = 6 * 3_600_000
    /// Files that are laid at relays at a time.
    static let laidFileCountMax = 32
    /// Pieces of files that are on their way to one relay.
    static let laidPieceCountMax = 4
    /// How often files on a relay are checked, in milliseconds: the shelf may have been emptied.
    static let shelfCheckInterval: UInt64 = day
    /// How often at most a file is put on a relay again, whatever the relay says and whoever lacks
    /// it.
    static let shelfRoundCountMax: UInt8 = 5
    /// So many tickets are left for other mailboxes.
    static let ticketReserveCount = 4

    // MARK: Keys

    /// The key of this device's shelves of a file.
    func shelfKey(of blob: BlobID, _ turn: inout some Turn) throws(StoreError) -> DeviceSigningKey {
        ShelfKeys.owner(of: blob, secret: try inboxSecret(&turn))
    }

    /// The same messages, with this device's shelves for their files.
    func shelved(
        _ messages: [TextMessage], _ turn: inout some Turn
    ) throws(StoreError) -> [TextMessage] {
        var messages = messages
        for index in messages.indices {
            for place in messages[index].files.indices {
                guard let blob = messages[index].files[place].blob else { continue }
                messages[index].files[place].shelf = try shelfKey(of: blob, &turn).device
            }
        }
        return messages
    }

    // MARK: Who lacks what

    /// A message of this device brings files.
    mutating func noteShelves(of message: TextMessage, _ turn: inout some Turn) throws(StoreError) {
        for file in message.files {
            guard let blob = file.blob, file.shelf == (try shelfKey(of: blob, &turn)).device else {
                continue
            }
            _ = try OwnShelf.note(blob, at: turn.now.wall, in: turn.store)
            shelves.hasOwn = true
            lookAtShelves(in: Self.shelfDelay, &turn)
        }
    }

    /// Continues with what was put on relays before this start.
    mutating func resumeShelves(_ turn: inout some Turn) throws(StoreError) {
        shelves.hasOwn = try !turn.store.values(.ownShelf).isEmpty
        lookAtShelves(in: Self.shelfDelay, &turn)
    }

    /// Checks later who lacks what, if there is anything to check.
    mutating func lookAtShelves(in milliseconds: UInt64, _ turn: inout some Turn) {
        let moment = turn.now.monotonic + milliseconds
        guard shelves.hasOwn, shelves.lookAt.map({ moment < $0 }) ?? true else { return }
        shelves.lookAt = moment
        timers.move(.shelves, to: moment, &turn)
    }

    /// Checks who lacks which of this device's files, and which relays they read.
    mutating func lookAfterShelves(_ turn: inout some Turn) throws(StoreError) {
        shelves.lookAt = nil
        var laid: [BlobID: ShelfDesk.Laying] = [:]
        var isWorkLeft = false
        for own in try OwnShelf.all(in: turn.store) {
            switch try need(of: own.blob, &turn) {
            case .nobody: isWorkLeft = try takeAway(own.blob, &turn) || isWorkLeft
            case .linked: break
            case .absent(let laying):
                guard laid.count < Self.laidFileCountMax else {
                    isWorkLeft = true
                    break
                }
                laid[own.blob] = laying
            }
        }
        shelves.lay(laid)
        for blob in laid.keys.sorted() {
            for relay in (laid[blob]?.lacking ?? [:]).keys.sorted() {
                let place = ShelfPlace(blob: blob, relay: relay)
                guard try isUnfinished(place, at: turn.now, turn.store) else { continue }
                isWorkLeft = true
                if courier.lines[relay]?.phase != .open { call(relay, &turn) }
            }
        }
        shelves.hasOwn = try !turn.store.values(.ownShelf).isEmpty
        shelves.noteDue()
        lookAtShelves(in: isWorkLeft ? Self.shelfInterval : Self.quietShelfInterval, &turn)
    }

    private enum ShelfNeed {
        /// All have it, or no message of this device names it.
        case nobody
        /// Those who lack it are linked; or it is not here.
        case linked
        case absent(ShelfDesk.Laying)
    }

    /// Who lacks a file, by the messages of this device that name it.
    private mutating func need(
        of blob: BlobID, _ turn: inout some Turn
    ) throws(StoreError) -> ShelfNeed {
        let owner = try shelfKey(of: blob, &turn)
        var (lacking, isLinked): ([NoiseKey: Set<DeviceID>], Bool) = ([:], false)
        var found: (file: Attachment, space: SpaceNumber)?
        for entry in try turn.store.naming(blob, limit: Self.namingCountMax) {
            guard let message = try ownMessage(entry.operation, turn.store),
                let file = message.files.first(where: {
                    $0.blob == blob && $0.shelf == owner.device
                }), let space = try turn.store.space(entry.space),
                let roster = try roster(of: space, turn.store), belongs(to: roster),
                try !isShut(space, turn.store)
            else { continue }
            found = found ?? (file, space.number)
            let lackers = try devicesLacking(message, in: space, roster, turn.store)
            let linked = devicesLinked(in: space.number)
            isLinked = isLinked || lackers.contains { linked.contains($0) }
            let away = lackers.filter { !linked.contains($0) }
            // Of those that one person names only a few are called.
            let all = try readers(away, in: roster, turn.store).sorted { $0.key < $1.key }
            for (relay, readers) in all {
                lacking[relay, default: []].formUnion(readers.devices)
                for (person, mailbox) in readers.names {
                    _ = try note(mailbox, namedBy: person, at: turn.now, turn.store)
                }
            }
        }
        guard let found else { return .nobody }
        guard !lacking.isEmpty || isLinked else { return .nobody }
        guard !lacking.isEmpty, case .blob(_, let key) = found.file.content,
            let shape = BlobShape(found.file.size),
            let held = try turn.store.blobs.heldBlob(blob), held.chunks.isWhole,
            held.shape == shape, let writer = ShelfWriter(blob, shape, key: key)
        else { return .linked }
        return .absent(
            ShelfDesk.Laying(
                writer: writer, owner: owner,
                reader: WriterID(key: ShelfKeys.reader(fileKey: key).device),
                space: found.space, lacking: lacking.mapValues(\.count)))
    }

    /// A message of this device that can be read, with where it stands.
    private struct OwnMessage {
        let log: LogRecord
        let sequence: UInt64
        let files: [Attachment]
    }

    private func ownMessage(
        _ number: OperationNumber, _ store: some Store
    ) throws(StoreError) -> OwnMessage? {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            log.device == identity.device,
            let message = stored.operation.payload.flatMap(TextMessage.init(payload:))
        else { return nil }
        return OwnMessage(log: log, sequence: stored.sequence, files: message.files)
    }

    /// The devices that get a message and have not said that they hold its files, ascending.
    private func devicesLacking(
        _ message: OwnMessage, in space: SpaceRecord, _ roster: Roster, _ store: some Store
    ) throws(StoreError) -> [DeviceID] {
        var lacking: [DeviceID] = []
        for device in roster.participatingDevices.map(\.device) where device != identity.device {
            let floor = roster.horizon(of: device).place(of: identity.device, .content)
            if let floor, message.sequence <= floor.sequence { continue }
            if try !Receipts.tell(device, holdsFilesAt: message.sequence, of: message.log, store) {
                lacking.append(device)
            }
        }
        return lacking
    }

    /// Whether something is to be done about a shelf.
    private func isUnfinished(
        _ place: ShelfPlace, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let laying = shelves.laid[place.blob] else { return false }
        if let room = shelves.room(at: place), room < laying.writer.byteCount { return false }
        guard let record = try ShelfRecord.kept(place, in: store) else { return true }
        guard record.round <= Self.shelfRoundCountMax else { return false }
        if record.pieceCount < laying.writer.pieceCount { return true }
        return record.isToBeSeen(at: now.wall) || record.isOld(at: now.wall)
    }

    // MARK: Laying

    /// Gives relays the next pieces of files: nothing of them goes before what people say.
    mutating func fillShelves(_ turn: inout some Turn) throws(StoreError) {
        for blob in shelves.laid.keys.sorted() {
            for relay in (shelves.laid[blob]?.lacking ?? [:]).keys.sorted() {
                guard mayLay(at: relay, at: turn.now) else { continue }
                try fill(ShelfPlace(blob: blob, relay: relay), &turn)
            }
        }
    }

    private func mayLay(at relay: NoiseKey, at now: Instant) -> Bool {
        guard let line = courier.lines[relay], line.isOpenAndDrained,
            !line.pace.isBusy(at: now.monotonic), !shelves.isPaused(relay, at: now.monotonic)
        else { return false }
        return line.questions.putCount == 0
            && line.questions.pieceCount < Self.laidPieceCountMax
    }

    private mutating func fill(_ place: ShelfPlace, _ turn: inout some Turn) throws(StoreError) {
        guard let laying = shelves.laid[place.blob],
            try isUnfinished(place, at: turn.now, turn.store)
        else { return }
        let (relay, mailbox) = (place.relay, MailboxID(shelf: laying.owner.device))
        let opening = Opening(
            key: laying.owner, writers: [laying.reader], use: .shelf(place.blob))
        open(mailbox, opening, on: relay, &turn)
        // The answer says how much it holds.
        guard shelves.room(at: place) != nil else { return }
        let kept = try ShelfRecord.kept(place, in: turn.store)
        var record = kept ?? ShelfRecord(space: laying.space, at: turn.now.wall)
        if record.pieceCount > 0, record.isToBeSeen(at: turn.now.wall) {
            return look(at: place, mailbox, laying.owner, &turn)
        }
        if record.isOld(at: turn.now.wall) {
            try layAnew(place, &record, mailbox, laying.owner, &turn)
        }
        if kept == nil { try record.keep(place, in: turn.store) }
        var next = max(shelves.next(at: place) ?? 0, Int(record.pieceCount))
        while next < laying.writer.pieceCount,
            courier.lines[relay]?.questions.pieceCount ?? .max < Self.laidPieceCountMax
        {
            guard let envelope = try laying.writer.envelope(at: next, from: turn.store.blobs) else {
                // A part was lost here: the file is put there once it is complete again.
                return lookAtShelves(in: Self.shelfDelay, &turn)
            }
            ask(
                .put(envelope: envelope), of: mailbox, as: laying.owner, on: relay,
                for: .piece(place.blob, next), &turn)
            next += 1
            shelves.noteNext(next, at: place)
        }
    }

    /// Checks whether the first piece is still there: a relay that needs room empties shelves, and
    /// says nothing.
    private mutating func look(
        at place: ShelfPlace, _ mailbox: MailboxID, _ key: DeviceSigningKey,
        _ turn: inout some Turn
    ) {
        let question = RelayQuestion.shelf(place.blob)
        guard courier.lines[place.relay]?.questions.contains(question) == false else { return }
        ask(
            .get(RelayRange(after: 0, byteCountMax: 1)), of: mailbox, as: key, on: place.relay,
            for: question, &turn)
    }

    /// Removes what is there, if anything is, so that everything is put in order.
    private mutating func layAnew(
        _ place: ShelfPlace, _ record: inout ShelfRecord, _ mailbox: MailboxID,
        _ key: DeviceSigningKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard record.round < Self.shelfRoundCountMax else { return }
        ask(
            .acknowledge(upTo: .max), of: mailbox, as: key, on: place.relay, for: .whatever,
            &turn)
        record.beginAnew(at: turn.now.wall)
        shelves.noteNext(nil, at: place)
        try record.keep(place, in: turn.store)
    }

    // MARK: Taking away

    /// Removes a file from relays. Returns whether some of it may still be there.
    private mutating func takeAway(
        _ blob: BlobID, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        let key = try shelfKey(of: blob, &turn)
        var isLeft = false
        for (place, record) in try ShelfRecord.all(of: blob, in: turn.store) {
            if courier.lines[place.relay] == nil { try findRelay(of: place, record, &turn) }
            guard let line = courier.lines[place.relay] else {
                // Nobody knows any more where that is; it lives no longer than other envelopes.
                try ShelfRecord.drop(place, in: turn.store)
                continue
            }
            isLeft = true
            guard line.phase == .open else {
                call(place.relay, &turn)
                continue
            }
            let question = RelayQuestion.takenAway(blob)
            guard !line.questions.contains(question) else { continue }
            ask(
                .acknowledge(upTo: .max), of: MailboxID(shelf: key.device), as: key,
                on: place.relay, for: question, &turn)
        }
        if !isLeft { try OwnShelf.drop(blob, in: turn.store) }
        return isLeft
    }

    /// Finds out where a relay is at which a file lies: those say so who read there.
    private mutating func findRelay(
        of place: ShelfPlace, _ record: ShelfRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let space = try turn.store.space(record.space),
            let roster = try roster(of: space, turn.store)
        else { return }
        let devices = roster.participatingDevices.map(\.device).filter { $0 != identity.device }
        let found = try readers(devices, in: roster, turn.store)
        for (person, mailbox) in found[place.relay]?.names ?? [] {
            _ = try note(mailbox, namedBy: person, at: turn.now, turn.store)
        }
    }

    /// A relay may have lost its content: everything that others lack is put again.
    mutating func shelvesAreLost(at relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        for (place, record) in try ShelfRecord.all(in: turn.store) where place.relay == relay {
            var record = record
            record.beginAnew(at: turn.now.wall)
            try record.keep(place, in: turn.store)
            shelves.noteNext(nil, at: place)
        }
        try ShelfCursor.drop(at: relay, in: turn.store)
        shelves.forgetReadings(at: relay)
    }
}

extension ShelfRecord {
    /// Whether it is time to look whether it still lies there. A clock that was set back is one more reason.
    func isToBeSeen(at now: UInt64) -> Bool {
        now >= seen + NodeCore.shelfCheckInterval || now < seen
    }

    /// Whether the relay will soon delete it.
    func isOld(at now: UInt64) -> Bool {
        pieceCount > 0 && now >= since + NodeCore.putAgainTime
            && round < NodeCore.shelfRoundCountMax
    }
}
