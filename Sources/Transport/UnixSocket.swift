import Glibc

/// Sockets in the file system: what the system offers and the network library does not, namely
/// a mode from the very first moment, and telling a dead socket from a living one.
enum UnixSocket {
    /// The longest path a socket can have, in bytes; one more ends it.
    static let pathByteCountMax = 107

    /// Makes a socket file that only its owner can open, and binds it.
    ///
    /// A socket file that nobody listens on, left behind by a crash, is replaced. Two programs that
    /// start at the same moment may both consider it dead: callers that need more use a lock.
    ///
    /// - Returns: the descriptor, which the caller now owns.
    static func bind(_ path: String) throws(TransportFailure) -> CInt {
        let attempt = "listen on \(path)"
        try removeIfDead(path, attempt: attempt)
        let descriptor = try make(attempt: attempt)
        // On Linux the mode of the unbound socket is the mode that the file is born with.
        let isBound =
            fchmod(descriptor, 0o600) == 0
            && withAddress(path) { Glibc.bind(descriptor, $0, $1) } == 0
        guard isBound else {
            let error = failure(attempt)
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Removes the file, if it is a socket.
    static func remove(_ path: String) {
        if isSocket(path) == true { unlink(path) }
    }

    private static func removeIfDead(_ path: String, attempt: String) throws(TransportFailure) {
        guard path.utf8.count <= pathByteCountMax, !path.isEmpty else {
            throw TransportFailure(.pathTooLong, attempt: attempt)
        }
        guard let isSocket = isSocket(path) else { return }
        guard isSocket else { throw TransportFailure(.notASocket, attempt: attempt) }
        let descriptor = try make(attempt: attempt)
        defer { Glibc.close(descriptor) }
        let isDead = withAddress(path) { connect(descriptor, $0, $1) } != 0 && errno == ECONNREFUSED
        guard isDead else { throw TransportFailure(.addressInUse, attempt: attempt) }
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(attempt) }
    }

    /// `nil` if nothing exists there.
    private static func isSocket(_ path: String) -> Bool? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return status.st_mode & S_IFMT == S_IFSOCK
    }

    private static func make(attempt: String) throws(TransportFailure) -> CInt {
        let type =
            CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
            | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw failure(attempt) }
        return descriptor
    }

    private static func failure(_ attempt: String) -> TransportFailure {
        let code = errno
        return TransportFailure(
            TransportFailure.code(errno: code), attempt: attempt,
            underlying: String(cString: strerror(code)))
    }

    private static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
        }
    }
}
