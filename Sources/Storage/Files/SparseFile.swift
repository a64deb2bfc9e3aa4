import Glibc

/// A file of this machine with random access, and with holes.
final class SparseFile {
    private let descriptor: Int32
    private let path: String

    /// Opens a file, or makes it; only the owner may read it.
    ///
    /// - Parameter makes: whether it is created if it does not exist.
    /// - Returns: nil if it does not exist, and is not created.
    init?(_ path: String, makes: Bool) throws(HomeError) {
        self.path = path
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (makes ? O_CREAT : 0)
        var descriptor = open(path, flags, 0o600)
        // A home on a medium that cannot be written is read all the same.
        if descriptor < 0, !makes, errno == EROFS || errno == EACCES || errno == EPERM {
            descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        }
        self.descriptor = descriptor
        guard descriptor >= 0 else {
            if errno == ENOENT, !makes { return nil }
            throw HomeError(errno: errno, path: path)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// How long it is.
    var byteCount: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// So many bytes from a place on; fewer where it ends before. Holes are zeros.
    func read(_ count: Int, at place: Int) throws(HomeError) -> [UInt8] {
        var failure: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let got = pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled,
                    place + filled)
                if got < 0, errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { return }
                filled += got
            }
        }
        if let failure { throw HomeError(errno: failure, path: path) }
        return bytes
    }

    /// Writes bytes at a place; it grows where it must.
    func write(_ bytes: [UInt8], at place: Int) throws(HomeError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                pwrite(
                    descriptor, buffer.baseAddress?.advanced(by: done), bytes.count - done,
                    place + done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw HomeError(errno: count < 0 ? errno : ENOSPC, path: path) }
            done += count
        }
    }

    /// Sets its length; the added part is a hole.
    func setByteCount(_ count: Int) throws(HomeError) {
        guard ftruncate(descriptor, count) == 0 else { throw HomeError(errno: errno, path: path) }
    }

    /// Makes sure that there is room for this many more bytes beside what is reserved for messages.
    ///
    /// - Throws: `diskFull`.
    func requireRoom(for byteCount: Int) throws(HomeError) {
        guard DiskRoom.byteCount(at: descriptor) <= UInt64(byteCount) else { return }
        throw HomeError(errno: ENOSPC, path: path)
    }

    /// Makes written data survive a crash of the machine.
    func synchronize() throws(HomeError) {
        guard fdatasync(descriptor) == 0 else { throw HomeError(errno: errno, path: path) }
    }
}
