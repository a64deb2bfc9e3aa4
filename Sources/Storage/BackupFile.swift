import Glibc
public import ParleySealing

/// Writes a backup: sealed chunk by chunk beside its place, and put there once it is whole.
///
/// Whatever happens in between, the file that was there before stays as it was.
public final class BackupWriter {
    /// A backup that lies where another is to be written.
    public struct Occupant: Equatable, Sendable {
        /// Whether it was sealed to the same recovery code.
        public let isOfSameCode: Bool
        /// When it was written last, in Unix milliseconds.
        public let time: UInt64
    }

    /// Bytes written so far, sealed.
    public private(set) var byteCount = 0

    private let path: String
    private let temporary: String
    private let occupant: Occupant?
    private var descriptor: Int32
    private var sealer: BackupSealer
    private var opener: BackupOpener
    private var waiting: [UInt8] = []

    /// Begins a backup that is to lie at `path`. A file there is replaced at the end if it is a
    /// backup of the same recovery code, and else left alone.
    public init(path: String, sealer: BackupSealer) throws(HomeError) {
        self.path = path
        temporary = path + ".new"
        self.sealer = sealer
        opener = sealer.opener
        occupant = try Self.occupant(of: path, besides: sealer)
        try Self.requireOwn(occupant, path)
        // Leftovers of an interrupted backup; one that begins later may be another person's.
        try Self.requireOwn(try Self.occupant(of: temporary, besides: sealer), temporary)
        unlink(temporary)
        descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw HomeError(errno: errno, path: path) }
        try write(sealer.header)
        waiting.reserveCapacity(2 * BackupFormat.chunkByteCount)
    }

    deinit { abandon() }

    /// The backup that lies at this place; nil where nothing does.
    ///
    /// - Throws: where something else than a backup lies there.
    public static func occupant(
        of path: String, besides sealer: BackupSealer
    ) throws(HomeError) -> Occupant? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else { throw nothingOfOurs(path) }
        let header = try MachineDisk().begins(path, byteCount: BackupFormat.headerByteCount)
        guard header.starts(with: BackupFormat.magic) else { throw nothingOfOurs(path) }
        let time = status.st_mtim
        return Occupant(
            isOfSameCode: BackupFormat.areOfOneCode(header, sealer.header),
            time: UInt64(max(0, time.tv_sec)) * 1_000 + UInt64(max(0, time.tv_nsec)) / 1_000_000)
    }

    private static func nothingOfOurs(_ path: String) -> HomeError {
        HomeError(.other, path: path, detail: "that file exists and is not a backup")
    }

    private static func requireOwn(_ found: Occupant?, _ path: String) throws(HomeError) {
        guard found?.isOfSameCode == false else { return }
        throw HomeError(
            .other, path: path, detail: "that file is a backup for another recovery code")
    }

    /// Adds bytes to the stream.
    public func append(_ bytes: [UInt8]) throws(HomeError) {
        waiting += bytes
        let size = BackupFormat.chunkByteCount
        var start = 0
        // The last chunk may be a full one, so a chunk is written once something follows it.
        while waiting.count - start > size {
            try write(sealer.seal(Array(waiting[start..<start + size]), isLast: false))
            start += size
        }
        if start > 0 { waiting = Array(waiting[start...]) }
    }

    /// Ends the stream, reads all of it back, and puts the file in its place, durably.
    ///
    /// - Returns: the bytes of the file.
    public func finish() throws(HomeError) -> Int {
        do throws(HomeError) {
            try write(sealer.seal(waiting, isLast: true))
            guard fsync(descriptor) == 0 else { throw HomeError(errno: errno, path: path) }
            try readBack()
            // Somebody else may have written there meanwhile.
            guard try Self.occupant(of: path, besides: sealer) == occupant else {
                throw HomeError(.other, path: path, detail: "another file was put there meanwhile")
            }
            guard rename(temporary, path) == 0 else { throw HomeError(errno: errno, path: path) }
        } catch {
            abandon()
            throw error
        }
        close(descriptor)
        descriptor = -1
        try MachineDisk().synchronizeFolder(of: path)
        return byteCount
    }

    /// Discards what was written. The earlier file is unchanged.
    public func abandon() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(temporary)
    }

    private func write(_ bytes: [UInt8]) throws(HomeError) {
        do throws(HomeError) {
            try MachineDisk.write(bytes, descriptor, path)
        } catch {
            abandon()
            throw error
        }
        byteCount += bytes.count
    }

    /// A disk that took the bytes may still give back others: better to hear it now.
    private func readBack() throws(HomeError) {
        var place = BackupFormat.headerByteCount
        while place < byteCount {
            let count = min(BackupFormat.sealedChunkByteCount, byteCount - place)
            let chunk = try MachineDisk.read(descriptor, count, at: place, path)
            place += count
            do throws(BackupRejection) {
                _ = try opener.open(chunk, isLast: place == byteCount)
            } catch {
                throw HomeError(
                    .other, path: path, detail: "the disk returns other bytes than were written")
            }
        }
    }
}

/// Reads a backup from its beginning to its end, in bounded memory.
public final class BackupReader {
    /// Bytes of the file.
    public let byteCount: Int
    /// How many of them were read.
    public private(set) var readByteCount = 0

    private let path: String
    private let descriptor: Int32
    private var opener: BackupOpener
    private var waiting: [UInt8] = []
    private var start = 0

    /// Opens a file with what the recovery code gives.
    ///
    /// - Throws: `HomeError` where the file cannot be read, ``ParleySealing/BackupRejection``
    ///   where it is not what the code opens.
    public init(path: String, key: BackupKey) throws {
        self.path = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw HomeError(errno: errno, path: path) }
        do {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else {
                throw HomeError(errno: errno, path: path)
            }
            guard status.st_mode & S_IFMT == S_IFREG else { throw BackupRejection.notABackup }
            byteCount = Int(status.st_size)
            let count = min(byteCount, BackupFormat.headerByteCount)
            opener = try BackupOpener(
                try MachineDisk.read(descriptor, count, at: 0, path), with: key)
            readByteCount = count
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The next bytes of the stream; nil at its end.
    ///
    /// - Throws: as `init`; `truncated` where fewer are left.
    public func read(_ count: Int) throws -> [UInt8]? {
        while waiting.count - start < count {
            guard try readChunk() else {
                if waiting.count == start { return nil }
                throw BackupRejection.truncated
            }
        }
        defer { start += count }
        return Array(waiting[start..<start + count])
    }

    private func readChunk() throws -> Bool {
        guard readByteCount < byteCount else {
            // A file without a single chunk ends right after its header.
            if byteCount == BackupFormat.headerByteCount { throw BackupRejection.truncated }
            return false
        }
        let count = min(BackupFormat.sealedChunkByteCount, byteCount - readByteCount)
        let chunk = try MachineDisk.read(descriptor, count, at: readByteCount, path)
        readByteCount += count
        waiting = Array(waiting[start...])
        start = 0
        waiting += try opener.open(chunk, isLast: readByteCount == byteCount)
        return true
    }
}

extension MachineDisk {
    /// The first bytes of a file.
    func begins(_ file: String, byteCount: Int) throws(HomeError) -> [UInt8] {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw HomeError(errno: errno, path: file) }
        defer { close(descriptor) }
        return try Self.read(descriptor, byteCount, at: 0, file)
    }

    /// So many bytes from a place of an open file; fewer where it ends before.
    static func read(
        _ descriptor: Int32, _ count: Int, at place: Int, _ file: String
    ) throws(HomeError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(
                    descriptor, buffer.baseAddress?.advanced(by: done), count - done, place + done)
            }
            if read < 0 {
                if errno == EINTR { continue }
                throw HomeError(errno: errno, path: file)
            }
            if read == 0 { break }
            done += read
        }
        return Array(bytes.prefix(done))
    }
}
