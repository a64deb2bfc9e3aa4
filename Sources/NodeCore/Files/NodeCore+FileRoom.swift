import ParleyConversation
import ParleyFiles
public import ParleyLedger
public import ParleyWire

/// How much space sealed files use on this disk, how much they may use, and what is given up for others.
/// Source: `Protocol/13-files.md`, "Room".
extension NodeCore {
    /// Candidates for giving up are sought among this many files at a time, the least recently used ones.
    static let spareFileCountMax = 512
    /// How long answers about holders of files are collected, in milliseconds.
    static let fileRoomDelay: UInt64 = 200

    /// Bytes that sealed files take here: those that messages name.
    public var fileByteCount: Int { fileDesk.room.byteCount }

    /// Whether a file is wanted and does not fit into what files may take here.
    public func hasNoRoom(for blob: BlobID) -> Bool { fileDesk.room.isLacking(for: blob) }

    // MARK: What is there

    /// Scans the disk after a start: a crash may have separated it from the records, an earlier version
    /// recorded nothing, and somebody may have removed files by hand.
    mutating func countFiles(_ turn: inout some Turn) throws(StoreError) {
        let rows = try HeldFile.all(in: turn.store)
        var known: [BlobID: HeldFile] = [:]
        for row in rows { known[row.blob] = row }
        let blobs = try turn.store.blobs.blobs()
        let onDisk = Set(blobs)
        for row in rows where row.state != .givenUp && !onDisk.contains(row.blob) {
            known[row.blob] = nil
            try HeldFile.drop(row.blob, in: turn.store)
        }
        for blob in blobs {
            if let row = known[blob] {
                // It was given up and is still on the disk: it is removed, unless it is wanted again.
                if row.state == .givenUp { turn.emit(.removeFile(blob)) }
            } else if let found = try unnoted(blob, turn) {
                known[blob] = found
                try found.keep(in: turn.store)
            }
        }
        // A sum has no order.
        fileDesk.room.begin(with: known.values.reduce(0) { $0 + $1.byteCount })
        let own = known.values.filter { $0.state == .whole && (!$0.cameFromOthers || $0.isDoubted) }
            .sorted { ($0.lastUse, $0.blob) < ($1.lastUse, $1.blob) }
        for row in own.suffix(Self.spareFileCountMax)
        where try isLackedByOthers(row.blob, turn.store) { fileDesk.holders.add(row.blob) }
        try holdBound(&turn)
    }

    /// A file that is on the disk, that a message names and of which nothing is noted; else nil.
    private func unnoted(_ blob: BlobID, _ turn: some Turn) throws(StoreError) -> HeldFile? {
        guard let held = try turn.store.blobs.heldBlob(blob) else { return nil }
        guard try turn.store.names(blob) else { return nil }
        return HeldFile(
            blob: blob, shape: held.shape, state: held.chunks.isWhole ? .whole : .begun,
            lastUse: WallTime(clamping: turn.now.wall),
            cameFromOthers: try !HeldFile.isSent(blob, by: identity.device, in: turn.store))
    }

    /// A message of this device names files that lie here: nobody else is known to have them.
    ///
    /// - Parameter areNew: whether it is sent in this step; otherwise a given-up file stays given
    ///   up, though it may still be on the disk.
    mutating func noteOwnFiles(
        _ files: [Attachment], areNew: Bool, _ turn: inout some Turn
    ) throws(StoreError) {
        for blob in files.compactMap(\.blob) {
            guard let held = try turn.store.blobs.heldBlob(blob), held.chunks.isWhole else {
                continue
            }
            var row = try HeldFile.kept(blob, in: turn.store)
            if row?.state == .whole || row?.state == .givenUp && !areNew { continue }
            row = HeldFile(
                blob: blob, shape: held.shape, state: .whole,
                lastUse: WallTime(clamping: turn.now.wall),
                cameFromOthers: row?.cameFromOthers ?? false)
            try row?.keep(in: turn.store)
            fileDesk.room.take(held.shape.sealedByteCount)
            if row?.cameFromOthers == false { fileDesk.holders.add(blob) }
        }
    }

    /// All of a file came.
    mutating func noteWhole(_ blob: BlobID, _ shape: BlobShape, _ turn: inout some Turn)
        throws(StoreError)
    {
        let row = try HeldFile.kept(blob, in: turn.store)
        if row == nil || row?.state == .givenUp {
            fileDesk.room.take(shape.sealedByteCount)
        }
        // A file that this device sealed may have been made whole from its own bytes.
        let isOwn = try HeldFile.isSent(blob, by: identity.device, in: turn.store)
        let cameFromOthers = row?.cameFromOthers ?? !isOwn
        try HeldFile(
            blob: blob, shape: shape, state: .whole, lastUse: WallTime(clamping: turn.now.wall),
            cameFromOthers: cameFromOthers, heldBy: row?.holders ?? []
        ).keep(in: turn.store)
        if !cameFromOthers { fileDesk.holders.add(blob) }
        try holdBound(&turn)
    }

    // MARK: Room

    /// Whether a file whose first hashes arrived fits; from now on it reserves its full size. If it does not
    /// fit, it is not fetched until there is room.
    mutating func takeRoom(
        for section: BlobSection, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        let blob = section.blob
        // What is not genuine or was not requested is refused elsewhere.
        guard let shape = fileDesk.fetcher.shape(of: blob), section.size == shape.size,
            section.isGenuine
        else { return true }
        let row = try HeldFile.kept(blob, in: turn.store)
        if let row, row.state != .givenUp { return true }
        guard try makeRoom(for: shape.sealedByteCount, &turn) else {
            fileDesk.fetcher.stop(blob)
            fileDesk.room.lack(blob)
            timers.set(.fileRetry, in: Self.fileRetryInterval, &turn)
            try tellScreens(of: blob, &turn)
            try fetchFiles(&turn)
            return false
        }
        fileDesk.room.take(shape.sealedByteCount)
        try HeldFile(
            blob: blob, shape: shape, state: .begun, lastUse: WallTime(clamping: turn.now.wall),
            cameFromOthers: true, heldBy: row?.holders ?? []
        ).keep(in: turn.store)
        return true
    }

    private mutating func makeRoom(
        for byteCount: Int, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        let limit = Int(try FileSettings.kept(in: turn.store).roomByteCount)
        let lacking = fileDesk.room.byteCount + byteCount - limit
        guard lacking > 0 else { return true }
        guard byteCount <= limit else { return false }
        return try freeRoom(of: lacking, orLess: false, limit, &turn)
    }

    /// Gives up what may be, as far as more is taken than may be.
    mutating func holdBound(_ turn: inout some Turn) throws(StoreError) {
        let limit = Int(try FileSettings.kept(in: turn.store).roomByteCount)
        let lacking = fileDesk.room.byteCount - limit
        guard lacking > 0 else { return }
        let isEnough = try freeRoom(of: lacking, orLess: true, limit, &turn)
        // Possible holders are reached later, or answer otherwise.
        if !isEnough { timers.set(.fileRetry, in: Self.fileRetryInterval, &turn) }
    }

    /// Gives up files of so many bytes together, and a little more, so that not each that comes looks for
    /// others.
    ///
    /// - Parameter orLess: whether less than that is worth it.
    private mutating func freeRoom(
        of byteCount: Int, orLess: Bool, _ limit: Int, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        var (chosen, freed) = ([HeldFile](), 0)
        var unconfirmed: [BlobID] = []
        for file in try spareFiles(turn) {
            guard freed < byteCount || freed + file.byteCount <= byteCount + limit / 32 else {
                break
            }
            if try isStarred(file.blob, turn.store) { continue }
            guard mayGiveUp(file.blob, turn) else {
                unconfirmed.append(file.blob)
                continue
            }
            chosen.append(file)
            freed += file.byteCount
        }
        if freed < byteCount { try confirmSpareFiles(unconfirmed, &turn) }
        guard freed >= byteCount || orLess else { return false }
        for file in chosen { try giveUp(file, &turn) }
        return freed >= byteCount
    }

    /// Whether somebody keeps a file, and nobody relies on it that this device does.
    private func mayGiveUp(_ blob: BlobID, _ turn: some Turn) -> Bool {
        let now = turn.now.monotonic
        return fileDesk.holders.isConfirmed(blob, at: now) && !fileDesk.promises.hold(blob, at: now)
    }

    /// Asks who holds the files that could be given up, and checks again when that is known, or when this
    /// device's promises end: two devices with mutual promises do not check at the same time.
    private mutating func confirmSpareFiles(
        _ blobs: [BlobID], _ turn: inout some Turn
    ) throws(StoreError) {
        let now = turn.now.monotonic
        let promised = blobs.filter { fileDesk.promises.hold($0, at: now) }
        let asked = blobs.filter { !promised.contains($0) }.prefix(Limits.askedBlobCountMax)
        try confirmFiles(Array(asked), &turn)
        if !promised.isEmpty {
            let apart = UInt64(identity.device.bytes.last ?? 0) * 20
            timers.set(.fileRoom, in: FilePromises.term + apart, &turn)
        }
    }

    /// Somebody keeps a file that may have to be given up here: whether it has to is looked at in a moment,
    /// once for many answers.
    mutating func reconsiderRoomSoon(_ turn: inout some Turn) throws(StoreError) {
        let limit = Int(try FileSettings.kept(in: turn.store).roomByteCount)
        guard fileDesk.room.byteCount > limit || !fileDesk.room.isEnough else { return }
        timers.set(.fileRoom, in: Self.fileRoomDelay, &turn)
    }

    /// Looks again whether there is too much here, and whether what did not fit does.
    mutating func tendRoom(_ turn: inout some Turn) throws(StoreError) {
        try holdBound(&turn)
        try reconsiderRoom(&turn)
        try fetchFiles(&turn)
    }

    /// The files that may be given up according to the records, first to go first: those that can be fetched
    /// again and were not used recently.
    private func spareFiles(_ turn: some Turn) throws(StoreError) -> [HeldFile] {
        let days = try FileSettings.kept(in: turn.store).keptDayCount
        let (now, age) = (WallTime(clamping: turn.now.wall).value, days * 86_400_000)
        return try HeldFile.all(in: turn.store).filter {
            $0.state == .whole && $0.canComeAgain && $0.lastUse.value + age <= now
        }.sorted(by: HeldFile.precedes).prefix(Self.spareFileCountMax).map { $0 }
    }

    /// Whether the person marked a message that names a file.
    private func isStarred(_ blob: BlobID, _ store: some Store) throws(StoreError) -> Bool {
        guard let ownSpace else { return false }
        for entry in try store.naming(blob, limit: Self.namingCountMax) {
            guard let stored = try store.operation(entry.operation),
                let log = try store.log(stored.log), let space = try store.space(log.space)
            else { continue }
            let message = OperationReference(
                tag: log.tag, sequence: stored.sequence, check: stored.id.check)
            if try Overview.isStarred(
                message, in: space.id, ownSpace: ownSpace.number, store: store)
            {
                return true
            }
        }
        return false
    }

    /// Frees the space of a file. The messages that name it stay, and it can be fetched again.
    private mutating func giveUp(_ file: HeldFile, _ turn: inout some Turn) throws(StoreError) {
        fileDesk.fetcher.stop(file.blob)
        fileDesk.room.free(file.byteCount)
        fileDesk.holders.remove(file.blob)
        var row = file
        row.state = .givenUp
        try row.keep(in: turn.store)
        try WantedFile.drop(file.blob, in: turn.store)
        try turn.store.setValue(nil, .unkeptFile, file.blob.bytes)
        turn.emit(.removeFile(file.blob))
        try tellGivenUp(file.blob, &turn)
        try tellScreens(of: file.blob, &turn)
    }

    /// Tells all linked devices that may have a file that it is no longer here: they may rely on it, whether or
    /// not they asked about it on this link.
    private mutating func tellGivenUp(
        _ blob: BlobID, _ turn: inout some Turn
    ) throws(StoreError) {
        fileDesk.server.withdraw(blob)
        let nothing = Frame.blobHave(BlobHolding(blob: blob, ranges: [])).encoded()
        for link in peers.links.keys.sorted() {
            guard try isNamed(blob, toPeerOn: link, turn.store) else { continue }
            turn.emit(.send(link, nothing))
        }
    }

    /// Looks whether what did not fit fits by now.
    mutating func reconsiderRoom(_ turn: inout some Turn) throws(StoreError) {
        guard !fileDesk.room.isEnough else { return }
        let limit = Int(try FileSettings.kept(in: turn.store).roomByteCount)
        var spare = 0
        for file in try spareFiles(turn) where try !isStarred(file.blob, turn.store) {
            spare += file.byteCount
        }
        let room = limit - fileDesk.room.byteCount + spare
        for wanted in try WantedFile.all(in: turn.store)
        where wanted.shape.sealedByteCount <= room { fileDesk.room.tryAgain(wanted.blob) }
        // What nobody wants any more lacks nothing.
        for blob in fileDesk.room.lacking where try WantedFile.kept(blob, in: turn.store) == nil {
            fileDesk.room.tryAgain(blob)
        }
        if !fileDesk.room.isEnough { timers.set(.fileRetry, in: Self.fileRetryInterval, &turn) }
    }

    private func tellScreens(of blob: BlobID, _ turn: inout some Turn) throws(StoreError) {
        let naming = try turn.store.naming(blob, limit: Self.namingCountMax)
        turn.emit(.changed(naming.map { .message($0.space, $0.operation) }))
    }

    // MARK: What people do

    /// Performs commands about files.
    mutating func file(_ command: FileCommand, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        switch command {
        case .fetch(let number): return try fetchFiles(of: number, &turn)
        case .forget(let numbers, let anyway):
            return try forgetFiles(of: numbers, anyway: anyway, &turn)
        case .noteUse(let blob):
            guard var row = try HeldFile.kept(blob, in: turn.store) else { break }
            row.lastUse = WallTime(clamping: turn.now.wall)
            try row.keep(in: turn.store)
        case .set(let settings):
            try settings.bounded.keep(in: turn.store)
            try holdBound(&turn)
            try reconsiderRoom(&turn)
            try fetchFiles(&turn)
        }
        return .success(.done)
    }

    /// Frees files of messages. Of complete files only those that somebody else keeps are freed; if that is not
    /// known, all linked devices are asked.
    private mutating func forgetFiles(
        of numbers: [OperationNumber], anyway: Bool, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        var (gone, stays) = ([BlobID: HeldFile](), [BlobID]())
        for number in numbers {
            guard let stored = try turn.store.operation(number),
                stored.operation.header.kind.isMessage
            else { return .failure(.unknownMessage) }
            let files = stored.operation.payload.flatMap(TextMessage.init(payload:))?.files ?? []
            if files.isEmpty, numbers.count == 1 { return .failure(.noFile) }
            for file in files {
                guard let row = try forgettable(file, turn) else { continue }
                if row.state != .whole || anyway || mayGiveUp(row.blob, turn) {
                    gone[row.blob] = row
                } else if !stays.contains(row.blob) {
                    stays.append(row.blob)
                }
            }
        }
        // A file promised to somebody is not asked about: two devices would ask each other forever.
        let now = turn.now.monotonic
        try confirmFiles(stays.filter { !fileDesk.promises.hold($0, at: now) }, &turn)
        let awaited = stays.filter {
            fileDesk.holders.isAwaited($0, at: now) || fileDesk.promises.hold($0, at: now)
        }
        for row in gone.values.sorted(by: HeldFile.precedes) { try giveUp(row, &turn) }
        try reconsiderRoom(&turn)
        try fetchFiles(&turn)
        return .success(
            .freed(
                count: gone.count, awaited: awaited.count, onlyHere: stays.count - awaited.count))
    }

    /// The record of a file that is here or wanted; nil for one that is neither.
    private func forgettable(
        _ file: Attachment, _ turn: some Turn
    ) throws(StoreError) -> HeldFile? {
        guard let blob = file.blob, let shape = BlobShape(file.size) else { return nil }
        let row = try HeldFile.kept(blob, in: turn.store)
        if let row, row.state != .givenUp { return row }
        guard try WantedFile.kept(blob, in: turn.store) != nil else { return nil }
        return HeldFile(
            blob: blob, shape: shape, state: .givenUp,
            lastUse: WallTime(clamping: turn.now.wall), cameFromOthers: true)
    }
}

extension HeldFile {
    /// Whether a shell may remove a file as ordered: no message names it, or it was given up and is not wanted
    /// again.
    public static func isUnneeded(
        _ blob: BlobID, in store: some Store
    ) throws(StoreError) -> Bool {
        guard try store.names(blob) else { return true }
        guard try kept(blob, in: store)?.state == .givenUp else { return false }
        return try WantedFile.kept(blob, in: store) == nil
    }
}
