internal import NIOCore
internal import Parley

/// What is known about uploads: their owners, their progress, and until when they stay.
///
/// A value that is told what happens, and when. Each upload belongs to one token or session, and to
/// nobody else; one request at a time continues it.
///
/// ```
/// begin ─▶ taken ◀──▶ waiting ─▶ sealed ─▶ sent, dropped, or over
///            every piece
/// ```
struct UploadBook {
    /// Files of all at once, and of one token or session.
    static let countMax = 128, ofOneCountMax = 32
    /// Bytes of all of them, as they are to be.
    static let byteCountMax: UInt64 = 16 << 30
    /// A file of at most this many bytes is in memory, while all of them together have no more than
    /// the second.
    static let (smallByteCountMax, memoryByteCountMax): (UInt64, UInt64) = (8 << 20, 64 << 20)

    /// What its sender says about a file.
    struct Description: Equatable {
        var name: String
        var size: UInt64
        var isVoice = false
        var keepsMetadata = false
        /// How much of its message it may take; nil for all that one file may.
        var room: Int?
    }

    /// A file that comes in.
    struct Upload {
        let id: String
        let owner: TokenGrant
        let about: Description
        let isInMemory: Bool
        /// Where its bytes are; nil once it was sealed.
        var file: IncomingFile?
        /// The received bytes, from the first on.
        var receivedByteCount: UInt64 = 0
        /// Its name once the node seals it.
        var ticket: String?
        /// Whether a request continues it.
        var isTaken = true
        /// When something was last done with it.
        var used: NIODeadline

        var isWhole: Bool { receivedByteCount == about.size }
    }

    private var uploads: [String: Upload] = [:]

    /// How many there are.
    var count: Int { uploads.count }

    /// Begins one, and takes it.
    ///
    /// - Throws: ``Refusal`` where there is no place for it.
    mutating func begin(
        _ id: String, _ about: Description, for owner: TokenGrant, at now: NIODeadline
    ) throws(Refusal) -> Upload {
        let own = uploads.values.count { $0.owner.digest == owner.digest }
        guard uploads.count < Self.countMax, own < Self.ofOneCountMax else {
            throw .tooManyUploads
        }
        let waiting = uploads.values.filter { $0.ticket == nil }
        let byteCount = waiting.reduce(0) { $0 + $1.about.size }
        guard byteCount + about.size <= Self.byteCountMax else { throw .tooManyUploads }
        let inMemory = waiting.filter(\.isInMemory).reduce(0) { $0 + $1.about.size }
        let isInMemory =
            about.size <= Self.smallByteCountMax
            && inMemory + about.size <= Self.memoryByteCountMax
        let upload = Upload(
            id: id, owner: owner, about: about, isInMemory: isInMemory, used: now)
        uploads[id] = upload
        return upload
    }

    /// One of this owner's; nil if there is none.
    func upload(_ id: String, of owner: TokenGrant) -> Upload? {
        uploads[id].flatMap { $0.owner.digest == owner.digest ? $0 : nil }
    }

    /// Takes one to continue it at a byte.
    mutating func take(
        _ id: String, of owner: TokenGrant, from offset: UInt64, at now: NIODeadline
    ) throws(Refusal) -> Upload {
        guard var upload = upload(id, of: owner) else { throw .noUpload }
        guard !upload.isTaken else { throw .uploadTaken }
        guard offset == upload.receivedByteCount else {
            throw .otherOffset(upload.receivedByteCount)
        }
        (upload.isTaken, upload.used) = (true, now)
        uploads[id] = upload
        return upload
    }

    /// The request that continues a file changes it; nothing if that was dropped meanwhile.
    mutating func change(_ id: String, at now: NIODeadline, _ body: (inout Upload) -> Void) {
        guard var upload = uploads[id] else { return }
        body(&upload)
        upload.used = now
        uploads[id] = upload
    }

    /// Drops one: the received part; nil if there is none.
    mutating func drop(_ id: String) -> Upload? { uploads.removeValue(forKey: id) }

    /// Drops those with which nothing was done for long, and those whose owner may do nothing more.
    ///
    /// - Parameter isAlive: whether an owner may.
    mutating func dropOver(
        at now: NIODeadline, _ times: Times, _ isAlive: (TokenGrant) -> Bool
    ) -> [Upload] {
        let over = uploads.values.filter { upload in
            let time = upload.ticket == nil ? times.upload : times.ticket
            return !upload.isTaken && now - upload.used > TimeAmount(time)
                || !isAlive(upload.owner)
        }
        for upload in over { uploads[upload.id] = nil }
        return over
    }
}
