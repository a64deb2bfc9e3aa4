import ParleyWire

/// Who is asked whether they hold files, and for how long their answers may be relied on.
///
/// Two devices that hold the same file could each give it up relying on the other. So a device asks
/// first, and one that answers that it holds the whole file keeps it for a while
/// (``FilePromises``).
/// Source: `Protocol/13-files.md`, "Room".
struct FileHolders: Sendable {
    /// Files that are asked about by themselves: the newest.
    static let unsharedCountMax = 64

    /// Files of which it is noted that a peer was asked about them: the latest. Of others it is not heard any
    /// more what the peer tells.
    static let inquiredCountMax = 1024

    /// How long after the question an answer is relied on, in milliseconds: less, for clocks do not run alike.
    static let relianceTime: UInt64 = 10_000

    /// A question about a file.
    private struct Inquiry: Sendable {
        var blob: BlobID
        /// On the monotonic clock.
        var askedAt: UInt64
        /// Whether it holds the whole file, by its last answer; nil before there is one.
        var isWhole: Bool?
        /// Whether an answer would be relied on.
        func isRecent(at now: UInt64) -> Bool { now < askedAt + FileHolders.relianceTime }
    }

    private var files: [BlobID] = []
    private var inquiries: [LinkID: [Inquiry]] = [:]

    /// The files that are asked about by themselves, the newest last.
    var unshared: [BlobID] { files }

    /// A file was sent.
    mutating func add(_ blob: BlobID) {
        files.removeAll { $0 == blob }
        files = (files + [blob]).suffix(Self.unsharedCountMax)
    }

    /// Nobody is asked about a file automatically any more. Devices that were asked may still
    /// announce that they gave it up.
    mutating func remove(_ blob: BlobID) { files.removeAll { $0 == blob } }

    /// Whether a peer was asked about a file.
    func isInquired(_ blob: BlobID, on link: LinkID) -> Bool {
        inquiries[link]?.contains { $0.blob == blob } ?? false
    }

    /// Whether a peer was asked so lately that its answer would be relied on.
    func isInquired(_ blob: BlobID, on link: LinkID, lately now: UInt64) -> Bool {
        inquiries[link]?.contains { $0.blob == blob && $0.isRecent(at: now) } ?? false
    }

    /// Whether a peer may still answer in time that it holds a file.
    func isAwaited(_ blob: BlobID, at now: UInt64) -> Bool {
        inquiries.values.contains {
            $0.contains { $0.blob == blob && $0.isWhole == nil && $0.isRecent(at: now) }
        }
    }

    /// Whether somebody keeps a file, so that it may be given up here.
    func isConfirmed(_ blob: BlobID, at now: UInt64) -> Bool {
        inquiries.values.contains {
            $0.contains { $0.blob == blob && $0.isWhole == true && $0.isRecent(at: now) }
        }
    }

    /// A peer is asked about files.
    mutating func inquire(_ blobs: [BlobID], on link: LinkID, at now: UInt64) {
        let asked = Set(blobs)
        var kept = inquiries[link, default: []].filter { !asked.contains($0.blob) }
        kept += blobs.map { Inquiry(blob: $0, askedAt: now) }
        inquiries[link] = kept.suffix(Self.inquiredCountMax)
    }

    /// A peer reported what it holds of a file. Returns whether it may be relied on from now on: it
    /// holds everything, and was asked recently.
    mutating func answer(
        _ blob: BlobID, isWhole: Bool, on link: LinkID, at now: UInt64
    ) -> Bool {
        guard let place = inquiries[link]?.firstIndex(where: { $0.blob == blob }) else {
            return false
        }
        inquiries[link]?[place].isWhole = isWhole
        return isWhole && inquiries[link]?[place].isRecent(at: now) == true
    }

    /// The link is gone.
    mutating func close(_ link: LinkID) { inquiries[link] = nil }
}

/// Files that this device keeps because it told somebody that it holds them.
struct FilePromises: Sendable {
    /// How long a promise holds, in milliseconds.
    static let term: UInt64 = 15_000
    /// Files that are promised at a time; beyond them all are for as long as one is.
    static let countMax = 4096

    private var ends: [BlobID: UInt64] = [:]
    private var endOfAll: UInt64 = 0

    /// A peer that asked is told that the whole file is held.
    mutating func make(_ blob: BlobID, at now: UInt64) {
        if ends[blob] == nil, ends.count >= Self.countMax { ends = ends.filter { now < $0.value } }
        guard ends[blob] != nil || ends.count < Self.countMax else {
            endOfAll = now + Self.term
            return
        }
        ends[blob] = now + Self.term
    }

    /// Whether somebody may rely on it that a file is here.
    func hold(_ blob: BlobID, at now: UInt64) -> Bool { now < max(endOfAll, ends[blob] ?? 0) }
}
