import Glibc
import ParleyFiles

/// The file system of this machine: folders with mode 0700, files with 0600.
///
/// Files are replaced as a whole or not at all: written beside the old one, forced to the disk,
/// renamed over it, and the folder forced to the disk as well.
struct MachineDisk: HomeDisk {
    var fileSystem: String? { nil }

    func lock(_ home: Home) throws(HomeError) -> AnyObject { try HomeLock(home) }

    func exists(_ file: String) -> Bool { access(file, F_OK) == 0 }

    func requireSight(of home: Home) throws(HomeError) {
        var status = stat()
        guard stat(home.path, &status) == 0 else {
            guard errno == EACCES else { return }
            throw HomeError(.other, path: home.path, detail: "you are not allowed to read it")
        }
        guard status.st_uid == geteuid() || access(home.path, X_OK) == 0 else {
            throw HomeError(.foreignOwner, path: home.path)
        }
    }

    func makeFolder(_ path: String) throws(HomeError) {
        var parent = ""
        var refusal: Int32 = 0
        for part in path.split(separator: "/") {
            parent += (parent.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            // A folder that exists may lie in one where none can be made.
            if mkdir(parent, 0o700) != 0, errno != EEXIST { refusal = errno }
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw HomeError(errno: refusal == 0 ? errno : refusal, path: path)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw HomeError(.other, path: path, detail: "it is not a folder")
        }
        // Anybody who may write into the folder can put other files in place of ours.
        try Self.checkOwner(status, allowing: 0o755, path)
        guard access(path, W_OK | X_OK) == 0 else { throw HomeError(errno: errno, path: path) }
    }

    func isReadOnly(_ home: Home) -> Bool {
        [home.path, home.database].contains { (path: String) in
            access(path, W_OK) != 0 && (errno == EROFS || errno == EACCES || errno == EPERM)
        }
    }

    func lockToRead(_ home: Home) throws(HomeError) -> AnyObject {
        var status = stat()
        guard stat(home.path, &status) == 0 else { throw HomeError(errno: errno, path: home.path) }
        try Self.checkOwner(status, allowing: 0o755, home.path)
        return try HomeLock(reading: home)
    }

    func byteCount(_ file: String) -> Int? {
        var status = stat()
        return stat(file, &status) == 0 ? Int(status.st_size) : nil
    }

    func changeTime(of file: String) -> UInt64? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        return UInt64(clamping: status.st_ctim.tv_sec)
    }

    func blobs(in folder: String) -> any BlobStore { BlobFolder(folder) }

    func move(_ file: String, to other: String) throws(HomeError) {
        guard rename(file, other) == 0 else { throw HomeError(errno: errno, path: file) }
        try synchronizeFolder(of: other)
    }

    /// Refuses a file or folder of another user, or one with more permissions than allowed.
    private static func checkOwner(
        _ status: stat, allowing mode: mode_t, _ path: String
    ) throws(HomeError) {
        guard status.st_uid == geteuid() else { throw HomeError(.foreignOwner, path: path) }
        let excess = status.st_mode & 0o777 & ~mode
        guard excess == 0 else {
            let shown = String(status.st_mode & 0o777, radix: 8)
            throw HomeError(.openToOthers, path: path, detail: "its mode is \(shown)")
        }
    }

    /// Refuses an open file that others may read or change.
    fileprivate static func checkOwner(
        of descriptor: Int32, _ path: String
    ) throws(HomeError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw HomeError(errno: errno, path: path) }
        // Archives and other file systems add execute bits; the owner's let nobody else in.
        try checkOwner(status, allowing: 0o700, path)
    }

    func read(_ file: String, atMost limit: Int) throws(HomeError) -> [UInt8]? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw HomeError(errno: errno, path: file)
        }
        defer { close(descriptor) }
        try Self.checkOwner(of: descriptor, file)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw HomeError(errno: errno, path: file)
            }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else {
                throw HomeError(.other, path: file, detail: "larger than \(limit) bytes")
            }
        }
    }

    func replace(_ file: String, with bytes: [UInt8]) throws(HomeError) {
        let temporary = file + ".new"
        // Leftovers of a crash are removed; what exists then is ours, and leads nowhere else.
        unlink(temporary)
        let descriptor = open(
            temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HomeError(errno: errno, path: file) }
        do throws(HomeError) {
            defer { close(descriptor) }
            try Self.write(bytes, descriptor, file)
            guard fsync(descriptor) == 0 else { throw HomeError(errno: errno, path: file) }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, file) == 0 else {
            let error = HomeError(errno: errno, path: file)
            unlink(temporary)
            throw error
        }
        try synchronizeFolder(of: file)
    }

    func remove(_ file: String) throws(HomeError) {
        if unlink(file) == 0 { try synchronizeFolder(of: file) }
    }

    func makeDatabase(_ file: String) throws(HomeError) {
        let isNew = !exists(file)
        if !isNew, access(file, W_OK) != 0 { throw HomeError(errno: errno, path: file) }
        // Every file that SQLite makes beside the database gets the database's permissions.
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw HomeError(errno: errno, path: file) }
        defer { close(descriptor) }
        try Self.checkOwner(of: descriptor, file)
        if isNew { try synchronizeFolder(of: file) }
    }

    /// Forces names in the folder to the disk.
    func synchronizeFolder(of file: String) throws(HomeError) {
        let path = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw HomeError(errno: errno, path: path) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw HomeError(errno: errno, path: path) }
    }

    static func write(
        _ bytes: [UInt8], _ descriptor: Int32, _ file: String
    ) throws(HomeError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw HomeError(errno: errno, path: file)
            }
            done += count
        }
    }
}

extension MachineDisk {
    /// The least room that SQLite needs to open a database.
    private static let roomByteCountMin: UInt = 64 << 10

    /// The least that a new home needs, with the log of its database.
    fileprivate static let homeByteCountMin: UInt = 2 << 20

    /// The bytes of room where a file lies, or is to lie; nil where nobody says.
    static func room(at file: String) -> UInt? {
        var place = file[...]
        var room = statvfs()
        // The nearest existing folder.
        while statvfs(place.isEmpty ? "/" : String(place), &room) != 0 {
            guard errno == ENOENT, let end = place.lastIndex(of: "/") else { return nil }
            place = place[..<end]
        }
        return room.f_bavail * room.f_frsize
    }

    /// Whether there is next to no room left where a file lies.
    static func isFull(_ file: String) -> Bool {
        var room = statvfs()
        guard statvfs(file, &room) == 0 else { return false }
        return room.f_bavail * room.f_frsize < roomByteCountMin
    }
}

extension Home {
    /// Makes sure that there is room for a new home.
    ///
    /// - Throws: `diskFull`.
    public func requireRoom() throws(HomeError) {
        guard disk is MachineDisk, let room = MachineDisk.room(at: path),
            room < MachineDisk.homeByteCountMin
        else { return }
        throw HomeError(.diskFull, path: path)
    }
}

extension HomeError {
    /// What the operating system said.
    init(errno number: Int32, path: String) {
        let code: Code =
            switch number {
            case EROFS, EACCES, EPERM: .readOnly
            case ENOSPC, EDQUOT: .diskFull
            case ELOOP: .symbolicLink
            // The system's numbers are not ours: whatever else it says is one case.
            default: .other
            }
        self.init(code, path: path, detail: String(cString: strerror(number)))
    }
}

/// Keeps a second process away from a home for as long as it lives.
///
/// The lock belongs to the open file and ends with the process, however that ends.
final class HomeLock {
    /// Negative where there is nothing to lock.
    private let descriptor: Int32

    /// Of a home that may not be written: without a lock file nobody has it.
    init(reading home: Home) throws(HomeError) {
        descriptor = open(home.lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0, !Self.take(descriptor, LOCK_SH) else { return }
        close(descriptor)
        throw HomeError(.locked(process: nil), path: home.path)
    }

    init(_ home: Home) throws(HomeError) {
        descriptor = open(home.lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw HomeError(errno: errno, path: home.lock) }
        guard Self.take(descriptor) else {
            let number = errno
            close(descriptor)
            guard number == EWOULDBLOCK else { throw HomeError(errno: number, path: home.lock) }
            let text = try MachineDisk().read(home.lock, atMost: 64) ?? []
            let digits = String(decoding: text.prefix { (48...57).contains($0) }, as: UTF8.self)
            let process = Int32(digits)
            throw HomeError(
                .locked(process: process), path: home.path,
                detail: process.map(Self.command) ?? "")
        }
        do {
            ftruncate(descriptor, 0)
            try MachineDisk.write(Array("\(getpid())\n".utf8), descriptor, home.lock)
        } catch {
            // The number only improves a message. On a full disk the lock works without it, and
            // stored data can still be read.
        }
    }

    /// The program and the command that a process runs, such as `parley chat`; nothing where it ended, or
    /// where this machine does not tell.
    private static func command(of process: Int32) -> String {
        let descriptor = open("/proc/\(process)/cmdline", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = read(descriptor, &bytes, bytes.count)
        let words = bytes.prefix(max(0, count)).split(separator: 0).prefix(2).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let program = words.first?.split(separator: "/").last else { return "" }
        // What follows an option may be anybody's text, or a secret.
        let command = words.dropFirst().filter { !$0.isEmpty && $0.allSatisfy(\.isLetter) }
        return ([String(program)] + command).joined(separator: " ")
    }

    /// Tries for a fifth of a second: a program that the former owner was just starting holds its
    /// files too, from its birth until it becomes another program.
    private static func take(_ descriptor: Int32, _ kind: Int32 = LOCK_EX) -> Bool {
        for _ in 0..<20 {
            if flock(descriptor, kind | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK else { return false }
            usleep(10_000)
        }
        return flock(descriptor, kind | LOCK_NB) == 0
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
