import ParleyConversation
import ParleyFiles
public import ParleyLedger
import ParleyRoster
public import ParleyWire

/// Who else has the files that were sent from here: what only this device has is never given up by itself.
/// Source: `Protocol/13-files.md`, "Room".
extension NodeCore {
    /// Asks a peer whether it holds files of this device that others may lack. It answers, and tells again
    /// once it holds more.
    mutating func inquireAfterFiles(on link: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let person = links[link]?.peer.person, links[link]?.session != nil else { return }
        var asked: [BlobID] = []
        for blob in fileDesk.holders.unshared
        where !fileDesk.holders.isInquired(blob, on: link) {
            guard try HeldFile.kept(blob, in: turn.store)?.holders.contains(person) == false,
                try isNamed(blob, toPeerOn: link, turn.store)
            else { continue }
            asked.append(blob)
        }
        guard !asked.isEmpty else { return }
        fileDesk.holders.inquire(asked, on: link)
        turn.emit(.send(link, Frame.blobAsk(asked.sorted()).encoded()))
    }

    /// A peer told what it holds of a file: of all of one that it was asked about it is noted. That it does
    /// not hold anything of it is heard from whoever says so: the file may have come from there.
    mutating func noteHolder(
        _ holding: BlobHolding, on link: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        let isInquired = fileDesk.holders.isInquired(holding.blob, on: link)
        guard isInquired || holding.ranges.isEmpty, let person = links[link]?.peer.person,
            var row = try HeldFile.kept(holding.blob, in: turn.store)
        else { return }
        var chunks = ChunkSet(of: row.shape.chunkCount)
        chunks.insert(holding.ranges)
        guard chunks.isWhole else {
            // Who gave it up does not have it any more; others are asked again. Who says so unasked may be
            // the one it came from.
            let isLeft = row.withdraw(holder: person)
            let isDoubted = !isInquired && row.doubt()
            guard isLeft || isDoubted else { return }
            try row.keep(in: turn.store)
            guard row.state == .whole, !row.canComeAgain else { return }
            fileDesk.holders.add(holding.blob)
            for other in links.keys.sorted() where other != link {
                try inquireAfterFiles(on: other, &turn)
            }
            return
        }
        guard isInquired, row.note(holder: person) else { return }
        try row.keep(in: turn.store)
        if try !isLackedByOthers(holding.blob, turn.store) {
            fileDesk.holders.remove(holding.blob)
        }
        // It may be given up from now on.
        try holdBound(&turn)
    }

    /// Whether it is worth asking who has a file: somebody who takes part in a conversation that names it is
    /// not known to have had it, or nobody is known to have it now.
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
    /// Who has had a file, by receipts: whose devices said that they held all files of a message of this
    /// device that names it. They may have given it up since.
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
            for other in roster.participatingDevices.map(\.device) where other != device {
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

/// Files of this device that others may lack, and who was asked about them.
struct FileHolders: Sendable {
    /// Files that are asked about at a time: the newest.
    static let unsharedCountMax = 64

    /// Files of which it is noted that a peer was asked about them: the latest. Of others it is not heard any
    /// more what the peer tells.
    static let inquiredCountMax = 1024

    private var files: [BlobID] = []
    private var inquired: [LinkID: [BlobID]] = [:]

    /// The files, the newest last.
    var unshared: [BlobID] { files }

    /// A file was sent.
    mutating func add(_ blob: BlobID) {
        files.removeAll { $0 == blob }
        files = (files + [blob]).suffix(Self.unsharedCountMax)
    }

    /// Nobody is asked about a file any more. Who was may still tell that they gave it up.
    mutating func remove(_ blob: BlobID) { files.removeAll { $0 == blob } }

    /// Whether a peer was asked about a file.
    func isInquired(_ blob: BlobID, on link: LinkID) -> Bool {
        inquired[link]?.contains(blob) ?? false
    }

    /// A peer is asked about files.
    mutating func inquire(_ blobs: [BlobID], on link: LinkID) {
        inquired[link] = (inquired[link, default: []] + blobs).suffix(Self.inquiredCountMax)
    }

    /// The link is gone.
    mutating func close(_ link: LinkID) { inquired[link] = nil }
}

/// What files take, and which of those that are wanted do not fit.
struct FileRoom: Sendable {
    /// Bytes that are taken, by what is noted.
    private(set) var byteCount = 0
    private var blobs: Set<BlobID> = []

    /// Those that do not fit, ascending.
    var lacking: [BlobID] { blobs.sorted() }
    /// Whether everything fits.
    var isEnough: Bool { blobs.isEmpty }

    /// Whether a file does not fit.
    func isLacking(for blob: BlobID) -> Bool { blobs.contains(blob) }

    /// So many bytes are taken after a start.
    mutating func begin(with count: Int) { byteCount = count }

    /// So many bytes more are taken.
    mutating func take(_ count: Int) { byteCount += count }

    /// So many bytes are free again.
    mutating func free(_ count: Int) { byteCount -= count }

    /// A file does not fit.
    mutating func lack(_ blob: BlobID) { blobs.insert(blob) }

    /// It may fit by now.
    mutating func tryAgain(_ blob: BlobID) { blobs.remove(blob) }
}
