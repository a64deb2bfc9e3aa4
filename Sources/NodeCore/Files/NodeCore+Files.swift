import ParleyConversation
import ParleyFiles
import ParleyLedger
import ParleyReconciliation
public import ParleyWire

/// Files of messages: which are fetched, from whom, and which peers are served.
extension NodeCore {
    /// Who names a file is looked at in so many messages.
    public static let namingCountMax = 64
    /// How long after something ended files that nobody names any more are removed, in milliseconds.
    static let collectionDelay: UInt64 = 1_000
    /// How often it is looked whether a peer that owes something gives anything.
    static let fileInterval: UInt64 = 10_000
    /// What the disk refused is tried again after this long.
    static let fileRetryInterval: UInt64 = 600_000

    /// Whether a file is being fetched now, from a peer that has some of it.
    public func isFetching(_ blob: BlobID) -> Bool { fileDesk.fetcher.isHeld(blob) }

    // MARK: Wanting

    /// Continues with files wanted before this start, and removes those that nobody names.
    mutating func resumeFiles(_ turn: inout some Turn) throws(StoreError) {
        try keepFiles(&turn)
        try countFiles(&turn)
        try lookAtFiles(&turn)
        try fetchFiles(&turn)
        try collectFilesSoon(&turn)
    }

    /// Removes files that nobody names in a moment, when what ended is on the disk.
    mutating func collectFilesSoon(_ turn: inout some Turn) throws(StoreError) {
        // The key of a file that this device sent outlives its bytes here, and not its last message.
        if try turn.store.blobs.blobs().isEmpty, try turn.store.values(.wantedFile).isEmpty,
            try turn.store.values(.ownFile).isEmpty
        {
            return
        }
        timers.set(.collection, in: Self.collectionDelay, &turn)
    }

    /// Follows up which messages name files after a step: some arrived or were removed, and after a
    /// recomputation of a conversation any of them may count no longer, or again.
    mutating func heedFiles(_ turn: inout some Turn) throws(StoreError) {
        var fresh: [OperationNumber] = []
        var refolded: Set<SpaceNumber> = []
        for case .changed(let changes) in turn.effects {
            for change in changes {
                if case .files(_, let message) = change { fresh.append(message) }
                if case .refolded(let space) = change { refolded.insert(space) }
            }
        }
        try heedFiles(of: fresh, areNew: true, &turn)
        guard !refolded.isEmpty else { return }
        for space in refolded.sorted() { try lookAtFiles(FileLook(at: space), &turn) }
        try collectFilesSoon(&turn)
    }

    /// Messages that bring files came, are gone, or count.
    ///
    /// - Parameter areNew: whether they arrived or were removed in this step. A file that this
    ///   device sends is here or was requested; if a message counts again, its file may have been
    ///   removed meanwhile.
    mutating func heedFiles(
        of messages: [OperationNumber], areNew: Bool, _ turn: inout some Turn
    ) throws(StoreError) {
        guard !messages.isEmpty else { return }
        let settings = try FileSettings.kept(in: turn.store)
        var (isWanted, isOwn) = (false, false)
        for number in messages {
            guard let stored = try turn.store.operation(number),
                let log = try turn.store.log(stored.log)
            else { continue }
            guard let message = stored.operation.payload.flatMap(TextMessage.init(payload:)) else {
                // A peer that is being served one of them gets no more of it.
                try collectFilesSoon(&turn)
                continue
            }
            // Who asked before may have it only now, that a message names it here.
            for blob in message.files.compactMap(\.blob) { try tellAskers(of: blob, &turn) }
            if log.device == identity.device {
                try noteOwnFiles(message.files, areNew: areNew, &turn)
                try noteShelves(of: message, &turn)
                isOwn = isOwn || !message.files.isEmpty
                if areNew {
                    try endWants(of: message.files, &turn)
                    continue
                }
            } else {
                try noteFileReceipts(of: number, &turn)
            }
            isWanted = try wantFiles(of: message, by: settings, &turn) || isWanted
        }
        if isWanted { try fetchFiles(&turn) }
        guard isOwn else { return }
        try holdBound(&turn)
        for link in peers.links.keys.sorted() { try inquireAfterFiles(on: link, &turn) }
    }

    /// Files that this device sends again are whole again: nobody else has to bring them.
    private mutating func endWants(
        of files: [Attachment], _ turn: inout some Turn
    ) throws(StoreError) {
        for blob in files.compactMap(\.blob)
        where try WantedFile.kept(blob, in: turn.store) != nil {
            guard try turn.store.blobs.heldBlob(blob)?.chunks.isWhole == true else { continue }
            fileDesk.fetcher.stop(blob)
            try completed(blob, &turn)
        }
    }

    /// Wants the files of a message that are fetched automatically, and says whether any is not
    /// held.
    private func wantFiles(
        of message: TextMessage, by settings: FileSettings, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        var isWanted = false
        for file in message.files where settings.comesByItself(file.size, type: file.type) {
            let isNew = try want(file, isAskedFor: false, at: turn.now, turn.store)
            isWanted = isWanted || isNew
        }
        return isWanted
    }

    /// Notes that a file is wanted, and says whether it is not held.
    private func want(
        _ file: Attachment, isAskedFor: Bool, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let blob = file.blob, let shape = BlobShape(file.size),
            try store.blobs.heldBlob(blob)?.chunks.isWhole != true
        else { return false }
        // A given-up file is fetched when the person wants it.
        if !isAskedFor, try HeldFile.kept(blob, in: store)?.state == .givenUp { return false }
        let known = try WantedFile.kept(blob, in: store)
        if let known, known.isAskedFor || !isAskedFor { return true }
        try WantedFile(
            blob: blob, shape: shape, since: known?.since ?? WallTime(clamping: now.wall),
            isAskedFor: isAskedFor
        ).keep(in: store)
        return true
    }

    /// The person wants the files of a message.
    mutating func fetchFiles(of number: OperationNumber, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let stored = try turn.store.operation(number), stored.operation.header.kind.isMessage
        else { return .failure(.unknownMessage) }
        guard let payload = stored.operation.payload else { return .failure(.deleted) }
        let files = TextMessage(payload: payload)?.files ?? []
        guard !files.isEmpty else { return .failure(.noFile) }
        var count = 0
        for file in files where try want(file, isAskedFor: true, at: turn.now, turn.store) {
            if let blob = file.blob { fileDesk.room.tryAgain(blob) }
            count += 1
        }
        fileDesk.tryAgain()
        try fetchFiles(&turn)
        return .success(.count(count))
    }

    /// A member who forwards a file serves it as well: the recipients may reach nobody else who has
    /// it.
    mutating func fetchWhatIsPassedOn(_ messages: [TextMessage], _ turn: inout some Turn)
        throws(StoreError)
    {
        var isWanted = false
        for file in messages.flatMap(\.files) {
            let isNew = try want(file, isAskedFor: true, at: turn.now, turn.store)
            isWanted = isWanted || isNew
        }
        if isWanted { try fetchFiles(&turn) }
    }

    /// Begins to fetch as much as may be fetched at a time.
    mutating func fetchFiles(_ turn: inout some Turn) throws(StoreError) {
        let chosen = fileDesk.choose(
            among: try WantedFile.all(in: turn.store), at: turn.now.monotonic)
        let blobs = Set(chosen.map(\.blob))
        for blob in fileDesk.fetcher.blobs where !blobs.contains(blob) {
            fileDesk.fetcher.stop(blob)
        }
        var outputs: [BlobFetcher<LinkID>.Output] = []
        for wanted in chosen {
            outputs += try fileDesk.fetcher.fetch(
                wanted.blob, wanted.shape, into: turn.store.blobs)
        }
        try perform(outputs, &turn)
        guard !chosen.isEmpty else { return }
        timers.set(.files, in: Self.fileInterval, &turn)
        shelves.noteDue()
        for link in peers.links.keys.sorted() { try askForFiles(on: link, &turn) }
    }

    /// Asks a peer for wanted files that it may hold.
    mutating func askForFiles(on link: LinkID, _ turn: inout some Turn) throws(StoreError) {
        var asked: [BlobID] = []
        for blob in fileDesk.fetcher.blobs
        where try isNamed(blob, toPeerOn: link, turn.store) { asked.append(blob) }
        guard !asked.isEmpty else { return }
        try perform(fileDesk.fetcher.ask(asked, on: link, at: turn.now.monotonic), &turn)
    }

    /// Whether a readable message names a file in a conversation that a peer takes part in: then
    /// the peer may know of the file, and may have it.
    func isNamed(
        _ blob: BlobID, toPeerOn link: LinkID, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let session = peers.links[link]?.session else { return false }
        return try store.naming(blob, limit: Self.namingCountMax).contains {
            session.shares($0.space)
        }
    }

    /// Whether a file may be sent: it is all here, or a message that can be read names it, so that others
    /// have it.
    func mayPassOn(_ blob: BlobID, _ store: some Store) throws(StoreError) -> Bool {
        if try store.blobs.heldBlob(blob)?.chunks.isWhole == true { return true }
        return try store.names(blob)
    }

    // MARK: Frames

    /// A frame about files came.
    ///
    /// - Returns: whether it was one.
    mutating func receivedFile(_ frame: Frame, on link: LinkID, _ turn: inout some Turn)
        throws(StoreError) -> Bool
    {
        let (now, store) = (turn.now.monotonic, turn.store.blobs)
        switch frame {
        case .blobAsk(let blobs):
            for blob in blobs {
                fileDesk.server.note(blob, askedOn: link)
                let isWhole = try tell(blob, on: link, &turn)
                // The asking device may give it up now, relying on this one.
                if isWhole { fileDesk.promises.make(blob, at: now) }
            }
        case .blobWant(let want):
            try serve(want, on: link, &turn)
        case .blobHave(let holding):
            try noteHolder(holding, on: link, &turn)
            try perform(fileDesk.fetcher.learn(holding, on: link, at: now, in: store), &turn)
        case .blobSection(let section):
            // What nobody owes is not even hashed.
            if fileDesk.fetcher.isOwed(.section(section.blob, section.index), by: link) {
                guard try takeRoom(for: section, &turn) else { return true }
            }
            try perform(fileDesk.fetcher.take(section, on: link, at: now, in: store), &turn)
        case .blobChunk(let chunk):
            try perform(fileDesk.fetcher.take(chunk, on: link, at: now, in: store), &turn)
        default:
            return false
        }
        return true
    }

    /// Tells a peer what is held of a file, if it may have it. Returns whether that is the whole
    /// file.
    private mutating func tell(
        _ blob: BlobID, on link: LinkID, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        var (holding, isWhole) = (BlobHolding(blob: blob, ranges: []), false)
        if try isNamed(blob, toPeerOn: link, turn.store) {
            fileDesk.server.grant(blob, to: link)
            holding = try BlobServer<LinkID>.holding(of: blob, in: turn.store.blobs)
            isWhole = try turn.store.blobs.heldBlob(blob)?.chunks.isWhole ?? false
        }
        turn.emit(.send(link, Frame.blobHave(holding).encoded()))
        return isWhole
    }

    private mutating func serve(_ want: BlobWant, on link: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        // A grant is checked again once it was withdrawn, or after many others.
        guard fileDesk.server.isGranted(want.blob, to: link) else {
            _ = try tell(want.blob, on: link, &turn)
            return
        }
        if !fileDesk.server.take(want, on: link) { try count(.tooManyPieces, turn.store) }
    }

    mutating func perform(
        _ outputs: [BlobFetcher<LinkID>.Output], _ turn: inout some Turn
    ) throws(StoreError) {
        var hasEnded = false
        for output in outputs {
            switch output {
            case .send(let link, let frame): turn.emit(.send(link, frame.encoded()))
            case .completed(let blob):
                hasEnded = true
                try completed(blob, &turn)
            case .failed(let blob, _):
                hasEnded = true
                fileDesk.refuse(blob)
                timers.set(.fileRetry, in: Self.fileRetryInterval, &turn)
            case .refused(_, .wrong): try count(.wrongFile, turn.store)
            case .refused(_, .unasked): try count(.unaskedFile, turn.store)
            }
        }
        if hasEnded, fileDesk.hasRoomForMore { try fetchFiles(&turn) }
    }

    /// A file is complete: screens and the peers that asked for it are told.
    private mutating func completed(_ blob: BlobID, _ turn: inout some Turn) throws(StoreError) {
        if let shape = try WantedFile.kept(blob, in: turn.store)?.shape {
            try noteWhole(blob, shape, &turn)
        }
        try WantedFile.drop(blob, in: turn.store)
        try endShelfReading(blob, turn.store)
        try noteUnkept(blob, &turn)
        lookAtShelves(in: Self.shelfDelay, &turn)
        let naming = try turn.store.naming(blob, limit: Self.namingCountMax)
        turn.emit(.changed(naming.map { .message($0.space, $0.operation) }))
        try tellAskers(of: blob, &turn)
    }

    /// Tells the peers that asked about a file what is held of it now.
    private mutating func tellAskers(of blob: BlobID, _ turn: inout some Turn) throws(StoreError) {
        for link in fileDesk.server.askers(of: blob) { _ = try tell(blob, on: link, &turn) }
    }

    // MARK: Ends

    /// A link is gone.
    mutating func closeFiles(on link: LinkID, _ turn: inout some Turn) throws(StoreError) {
        fileDesk.close(link)
        // A device that was linked may now need a relay for it, and so may this device.
        shelves.noteDue()
        lookAtShelves(in: Self.shelfDelay, &turn)
        try perform(
            fileDesk.fetcher.close(link, at: turn.now.monotonic, in: turn.store.blobs), &turn)
    }

    /// Checks on the files being fetched.
    mutating func tendFiles(_ turn: inout some Turn) throws(StoreError) {
        try perform(
            fileDesk.fetcher.endWaiting(at: turn.now.monotonic, in: turn.store.blobs), &turn)
        try fetchFiles(&turn)
    }

    /// Tries again what the disk refused.
    mutating func retryFiles(_ turn: inout some Turn) throws(StoreError) {
        fileDesk.tryAgain()
        try keepFiles(&turn)
        try tendRoom(&turn)
    }

    /// Removes files that no message names any more, and wants of them.
    mutating func collectFiles(_ turn: inout some Turn) throws(StoreError) {
        let held = try turn.store.blobs.blobs()
        let wanted = try WantedFile.all(in: turn.store).map(\.blob)
        let noted = try HeldFile.all(in: turn.store)
        let own = try OwnFile.blobs(in: turn.store)
        var gone: Set<BlobID> = []
        for blob in Set(held + wanted + noted.map(\.blob) + own).sorted() {
            if try turn.store.names(blob) { continue }
            fileDesk.fetcher.stop(blob)
            fileDesk.server.withdraw(blob)
            fileDesk.holders.remove(blob)
            try endShelfReading(blob, turn.store)
            try WantedFile.drop(blob, in: turn.store)
            try HeldFile.drop(blob, in: turn.store)
            try turn.store.setValue(nil, .unkeptFile, blob.bytes)
            gone.insert(blob)
            turn.emit(.removeFile(blob))
        }
        try OwnFile.drop(gone, in: turn.store)
        for row in noted where gone.contains(row.blob) { fileDesk.room.free(row.byteCount) }
        lookAtShelves(in: Self.shelfDelay, &turn)
        // Others may have waited for their turn, or for room.
        guard !gone.isEmpty else { return }
        try reconsiderRoom(&turn)
        try fetchFiles(&turn)
    }
}
