internal import NIOCore
internal import Parley
internal import Synchronization

/// Files that come in over HTTP to be sent with a message.
final class Uploads: Sendable {
    private let node: any NodeService
    private let home: String
    private let times: Times
    private let now: @Sendable () -> NIODeadline
    private let book = Mutex(UploadBook())

    /// - Parameter home: where those lie that are too large for memory.
    init(
        node: any NodeService, home: String, times: Times,
        now: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        (self.node, self.home, self.times, self.now) = (node, home, times, now)
    }

    /// How many there are.
    var count: Int { book.withLock { $0.count } }

    /// Begins one, which is taken then.
    func begin(
        _ about: UploadBook.Description, for owner: TokenGrant
    ) throws -> UploadBook.Upload {
        var random = SystemRandomNumberGenerator()
        let id = (0..<2).map { _ in String(random.next() | 1 << 63, radix: 16) }.joined()
        let now = now()
        var upload = try book.withLock { book throws(Refusal) in
            try book.begin(id, about, for: owner, at: now)
        }
        do {
            let file = try IncomingFile(of: about.size, in: upload.isInMemory ? nil : home)
            upload.file = file
            book.withLock { $0.change(id, at: now) { $0.file = file } }
        } catch {
            _ = book.withLock { $0.drop(id) }
            throw error
        }
        return upload
    }

    /// Takes one, to continue it at a byte.
    func take(
        _ id: String, of owner: TokenGrant, from offset: UInt64
    ) throws(Refusal) -> UploadBook.Upload {
        let now = now()
        return try book.withLock { book throws(Refusal) in
            try book.take(id, of: owner, from: offset, at: now)
        }
    }

    /// One of this owner's.
    func upload(_ id: String, of owner: TokenGrant) throws(Refusal) -> UploadBook.Upload {
        guard let upload = book.withLock({ $0.upload(id, of: owner) }) else { throw .noUpload }
        return upload
    }

    /// Records the result of one.
    func note(_ id: String, _ body: (inout UploadBook.Upload) -> Void) {
        let now = now()
        book.withLock { $0.change(id, at: now, body) }
    }

    /// Drops one, and what the node sealed of it: a sent one stays.
    func drop(_ id: String) async {
        guard let upload = book.withLock({ $0.drop(id) }) else { return }
        await letGo(upload)
    }

    /// Drops expired ones.
    ///
    /// - Parameter isAlive: whether an owner may do anything still.
    func dropOver(_ isAlive: (TokenGrant) -> Bool) async {
        let now = now()
        let over = book.withLock { $0.dropOver(at: now, times, isAlive) }
        for upload in over { await letGo(upload) }
    }

    private func letGo(_ upload: UploadBook.Upload) async {
        guard let ticket = upload.ticket else { return }
        // A node that has stopped has dropped it already.
        _ = try? await node.perform(DropStagedFile(ticket: ticket))
    }
}
