import ParleyFiles
import ParleyWire

/// Files that are fetched and given, and which links have room for more of them.
struct FileDesk: Sendable {
    var fetcher = BlobFetcher<LinkID>()
    var server = BlobServer<LinkID>()
    /// What files take on the disk.
    var room = FileRoom()
    /// Who else has files that were sent from here.
    var holders = FileHolders()
    /// Files that are kept because others may rely on them.
    var promises = FilePromises()
    /// Files that lie at relays.
    var shelves = ShelfDesk()
    /// Links on which something waits to be taken by the peer: the shell tells once it was.
    private var full: Set<LinkID> = []
    /// Files of which the disk took nothing, until the next try.
    private var refused: Set<BlobID> = []
    /// Where the next turn begins among the files that are wanted, when these are more than are fetched
    /// at a time, and when the last turn was.
    private var turn = (start: 0, begun: UInt64(0))
    /// Whether more are wanted than are fetched.
    private var isCrowded = false

    /// Links whose peers wait for something and have room for it, ascending.
    var served: [LinkID] { server.waiting.filter { !full.contains($0) } }

    /// Something was sent on a link; more is once it was taken.
    mutating func fill(_ link: LinkID) { full.insert(link) }

    /// A peer consumed what was sent on a link.
    mutating func empty(_ link: LinkID) { full.remove(link) }

    /// The length of a turn, in milliseconds: files that nobody has must not block the others.
    static let turnTime: UInt64 = 300_000

    /// Which of the wanted files are to be fetched now. If there are more than are fetched at a
    /// time, those that a peer has continue, and the others take turns.
    mutating func choose(among wanted: [WantedFile], at now: UInt64) -> [WantedFile] {
        let wanted = wanted.filter {
            !refused.contains($0.blob) && !room.isLacking(for: $0.blob)
        }
        let limit = BlobFetcher<LinkID>.fetchCountMax
        isCrowded = wanted.count > limit
        guard isCrowded else { return wanted }
        let kept = wanted.filter { $0.isAskedFor || fetcher.isHeld($0.blob) }.prefix(limit)
        let keptBlobs = Set(kept.map(\.blob))
        let others = wanted.filter { !keptBlobs.contains($0.blob) }
        if turn.begun == 0 { turn.begun = max(now, 1) }
        if now >= turn.begun + Self.turnTime {
            turn = ((turn.start + limit - kept.count) % others.count, now)
        }
        return kept
            + (0..<limit - kept.count).map { others[(turn.start + $0) % others.count] }
    }

    /// Whether others are to be chosen: half of those that were fetched have come.
    var hasRoomForMore: Bool {
        isCrowded && fetcher.blobs.count <= BlobFetcher<LinkID>.fetchCountMax / 2
    }

    /// The disk did not take a file.
    mutating func refuse(_ blob: BlobID) { refused.insert(blob) }

    /// Whether the disk did not take a file when it was last tried.
    func isRefused(_ blob: BlobID) -> Bool { refused.contains(blob) }

    /// What the disk refused is tried again.
    mutating func tryAgain() { refused = [] }

    /// The link is gone, and all that was wanted on it by the peer.
    mutating func close(_ link: LinkID) {
        server.close(link)
        holders.close(link)
        full.remove(link)
    }
}
