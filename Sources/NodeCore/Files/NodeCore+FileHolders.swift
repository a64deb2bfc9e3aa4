import ParleyConversation
import ParleyFiles
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// Who else has the files that were sent from here: a file that only this device has is never given
/// up automatically.
/// Source: `Protocol/13-files.md`, "Room".
extension NodeCore {
    /// Asks a peer whether it holds files of this device that others may lack. It answers, and tells again
    /// once it holds more.
    mutating func inquireAfterFiles(on link: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let person = peers.links[link]?.peer.person else { return }
        var asked: [BlobID] = []
        for blob in fileDesk.holders.unshared
        where !fileDesk.holders.isInquired(blob, on: link) {
            guard try HeldFile.kept(blob, in: turn.store)?.holders.contains(person) == false else {
                continue
            }
            asked.append(blob)
        }
        try inquire(asked, on: link, &turn)
    }

    /// Asks all linked devices that may hold files that are to be given up, except those asked a
    /// moment ago.
    mutating func confirmFiles(_ blobs: [BlobID], _ turn: inout some Turn) throws(StoreError) {
        let now = turn.now.monotonic
        for link in peers.links.keys.sorted() {
            try inquire(
                blobs.filter { !fileDesk.holders.isInquired($0, on: link, lately: now) }, on: link,
                &turn)
        }
    }

    private mutating func inquire(
        _ blobs: [BlobID], on link: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        var asked: [BlobID] = []
        for blob in blobs.prefix(Limits.askedBlobCountMax)
        where try isNamed(blob, toPeerOn: link, turn.store) { asked.append(blob) }
        guard !asked.isEmpty else { return }
        fileDesk.holders.inquire(asked, on: link, at: turn.now.monotonic)
        turn.emit(.send(link, Frame.blobAsk(asked.sorted()).encoded()))
    }

    /// A peer reported what it holds of a file. If it was asked and holds the whole file, that is
    /// recorded. That it holds nothing is accepted from any peer: the file may have come from it.
    mutating func noteHolder(
        _ holding: BlobHolding, on link: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        let isInquired = fileDesk.holders.isInquired(holding.blob, on: link)
        guard isInquired || holding.ranges.isEmpty, let person = peers.links[link]?.peer.person,
            var row = try HeldFile.kept(holding.blob, in: turn.store)
        else { return }
        var chunks = ChunkSet(of: row.shape.chunkCount)
        chunks.insert(holding.ranges)
        let isConfirmed = fileDesk.holders.answer(
            holding.blob, isWhole: chunks.isWhole, on: link, at: turn.now.monotonic)
        guard chunks.isWhole else {
            // A peer that gave it up no longer has it; others are asked again. One that says so
            // unasked may be the one it came from.
            let isLeft = row.withdraw(holder: person)
            let isDoubted = row.doubt()
            guard isLeft || isDoubted else { return }
            try row.keep(in: turn.store)
            guard row.state == .whole, !row.canComeAgain else { return }
            fileDesk.holders.add(holding.blob)
            for other in peers.links.keys.sorted() where other != link {
                try inquireAfterFiles(on: other, &turn)
            }
            return
        }
        if isInquired, row.note(holder: person) {
            try row.keep(in: turn.store)
            if try !isLackedByOthers(holding.blob, turn.store) {
                fileDesk.holders.remove(holding.blob)
            }
        }
        // It may be given up from now on, for a moment.
        guard isConfirmed, row.state == .whole else { return }
        try reconsiderRoomSoon(&turn)
    }

    /// Whether it is worth asking who has a file: a member of a conversation that names it is not
    /// known to have had it, or nobody is known to have it now.
    func isLackedByOthers(_ blob: BlobID, _ store: some Store) throws(StoreError) -> Bool {
        guard let row = try HeldFile.kept(blob, in: store),
            row.holders.count < HeldFile.holderCountMax
        else { return false }
        guard row.canComeAgain else { return true }
        let receivers = try HeldFile.receivers(of: blob, as: identity.device, in: store)
        let holders = receivers.union(row.holders)
        for entry in try store.naming(blob, limit: Self.namingCountMax) {
            guard let space = try store.space(entry.space),
                let roster = try RosterReader.roster(of: space, in: store)
            else { continue }
            if roster.participants.contains(where: {
                $0.person != identity.person && !holders.contains($0.person)
            }) {
                return true
            }
        }
        return false
    }
}

extension HeldFile {
    /// Whether a message of a device names a file. One that was given up there and fetched again is still a
    /// file that the device sent.
    public static func isSent(
        _ blob: BlobID, by device: DeviceID, in store: some Store
    ) throws(StoreError) -> Bool {
        for entry in try store.naming(blob, limit: NodeCore.namingCountMax) {
            guard let stored = try store.operation(entry.operation),
                let log = try store.log(stored.log), log.device == device
            else { continue }
            return true
        }
        return false
    }

    /// Whether files of a message that this device sent, and its person deleted for themselves, are with
    /// nobody else yet: then it keeps the message as well, which names them.
    static func areAwaited(
        of message: OperationNumber, from identity: NodeIdentity, _ ownSpace: SpaceNumber?,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let stored = try store.operation(message), stored.operation.header.kind.isMessage,
            let blobs = stored.operation.payload.flatMap(TextMessage.init)?.files
                .compactMap(\.blob), !blobs.isEmpty,
            let log = try store.log(stored.log), log.device == identity.device,
            try Overview.isDeletedForOneself(stored, ownSpace: ownSpace, in: store),
            let space = try store.space(log.space),
            try RosterReader.roster(of: space, in: store)?.participants
                .contains(where: { $0.person != identity.person }) == true
        else { return false }
        for blob in blobs {
            guard let row = try HeldFile.kept(blob, in: store), row.state == .whole else {
                continue
            }
            let holders = try receivers(of: blob, as: identity.device, in: store).union(row.holders)
            if !holders.contains(where: { $0 != identity.person }) { return true }
        }
        return false
    }

    /// Who has had a file, according to receipts: their devices said that they held all files of a
    /// message of this device that names it. They may have given it up since.
    ///
    /// - Parameter device: this device.
    public static func receivers(
        of blob: BlobID, as device: DeviceID, in store: some Store
    ) throws(StoreError) -> Set<PersonID> {
        var receivers: Set<PersonID> = []
        for entry in try store.naming(blob, limit: NodeCore.namingCountMax) {
            guard let stored = try store.operation(entry.operation),
                let log = try store.log(stored.log), log.device == device,
                let space = try store.space(log.space),
                let roster = try RosterReader.roster(of: space, in: store)
            else { continue }
            for other in roster.everyDevice where other != device {
                guard let person = roster.person(of: other), !receivers.contains(person) else {
                    continue
                }
                if try Receipts.tell(other, holdsFilesAt: stored.sequence, of: log, store) {
                    receivers.insert(person)
                }
            }
        }
        return receivers
    }
}
