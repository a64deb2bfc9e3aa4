import Foundation
import Glibc
import ParleyFiles
import ParleyNodeCore
import ParleyWire

/// A file of this machine that is read while it is sent.
final class FileSource: PlacedBytes {
    /// Its number in this process: it is closed with this value.
    let descriptor: Int32
    private let path: String
    /// How long it was when it was opened.
    let byteCount: UInt64
    /// When it was last changed: its content, or its attributes.
    private let changes: [Int]

    /// Opens a file: a regular one, that its user may read.
    convenience init(_ path: String) throws { try self.init(path, at: Array(path.utf8)) }

    /// Opens a file whose path may be no UTF-8.
    ///
    /// - Parameters:
    ///   - path: its path as it is shown.
    ///   - bytes: its path as the system has it, without a zero.
    init(_ path: String, at bytes: [UInt8]) throws {
        self.path = path
        let name = bytes.map { CChar(bitPattern: $0) } + [0]
        descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        let isOpen = descriptor >= 0 && fstat(descriptor, &status) == 0
        let number = errno
        byteCount = isOpen ? UInt64(clamping: status.st_size) : 0
        changes = Self.changes(status)
        guard isOpen else {
            throw NodeError(
                "unreadable", "\(path) cannot be read: \(String(cString: strerror(number))).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw NodeError(
                "no-file",
                "\(path) is not a file.",
                hint:
                    "To send a folder, send its files or an archive of it."
            )
        }
        guard byteCount <= Limits.fileByteCountMax else { throw NodeError.fileTooLarge }
        // What the system makes as it is read, as in /proc, says that it is empty.
        guard byteCount > 0 || FileBytes.read(descriptor, at: 0, count: 1).isEmpty else {
            throw NodeError(
                "no-file", "\(path) does not say how long it is.",
                hint: "Copy it first, and send the copy.")
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Its bytes: exactly this many.
    func bytes(at place: UInt64, count: Int) throws -> [UInt8] {
        let bytes = FileBytes.read(descriptor, at: place, count: count)
        guard bytes.count == count else { throw Self.changed(path) }
        return bytes
    }

    /// Refuses a file that changed while it was read: what was checked is not what was sent.
    func requireUnchanged() throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0, UInt64(clamping: status.st_size) == byteCount,
            Self.changes(status) == changes
        else { throw Self.changed(path) }
    }

    private static func changes(_ status: stat) -> [Int] {
        [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
            status.st_ctim.tv_nsec,
        ]
    }

    private static func changed(_ path: String) -> NodeError {
        NodeError(
            "changed", "\(path) changed while it was being read.",
            hint: "Nothing was sent. Send it again once it no longer changes.")
    }
}

/// A file written for the person, beside existing ones: nothing is ever overwritten.
final class FileTarget {
    private let descriptor: Int32
    private let path: String
    private let temporary: String
    private var byteCount: UInt64 = 0
    private var isFinished = false

    /// Begins to write a new file. It gets its name when all of it is written.
    init(_ path: String) throws {
        self.path = path
        guard access(path, F_OK) != 0 else {
            descriptor = -1
            temporary = ""
            throw Self.exists(path)
        }
        let folder = (path as NSString).deletingLastPathComponent
        temporary = "\(folder.isEmpty ? "." : folder)/.parley-\(UUID().uuidString).part"
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failed(path, errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if descriptor >= 0, !isFinished { unlink(temporary) }
    }

    func write(_ bytes: [UInt8]) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failed(path, errno) }
            done += count
        }
        byteCount += UInt64(bytes.count)
    }

    /// Gives it its name, unless somebody took that meanwhile.
    func finish() throws -> SavedFile {
        guard fsync(descriptor) == 0 else { throw Self.failed(path, errno) }
        // A link is refused where the name is taken, which a renaming is not.
        guard link(temporary, path) == 0 else {
            throw errno == EEXIST ? Self.exists(path) : Self.failed(path, errno)
        }
        unlink(temporary)
        isFinished = true
        return SavedFile(path: path, size: byteCount)
    }

    private static func exists(_ path: String) -> NodeError {
        NodeError(
            "exists", "\(path) already exists.",
            hint: "Nothing was written. Give another name, or a folder.")
    }

    private static func failed(_ path: String, _ number: Int32) -> NodeError {
        NodeError(
            number == ENOSPC ? "disk-full" : "unwritable",
            "\(path) cannot be written: \(String(cString: strerror(number))).",
            hint: "The file is still on this node: give another place.")
    }
}

extension NodeError {
    static let fileTooLarge = NodeError(
        "file-too-large", "A file has at most \(Limits.fileByteCountMax >> 30) GiB.",
        hint: "`split -b 3G FILE` splits it into several.")
    static let fileAbsent = NodeError(
        "file-absent", "That file is not on this device yet.",
        hint: "`parley files get MESSAGE` fetches it as soon as somebody who has it is reached.")
    static let fileDamaged = NodeError(
        "file-damaged", "A part of that file is damaged on this disk.",
        hint: "`parley files get MESSAGE` fetches that part again.")
    static let fileBroken = NodeError(
        "file-broken", "That file cannot be decrypted.",
        hint: "Ask its sender to send it again.")

    /// Nobody else is known to have files of these names.
    init(onlyHere names: [String]) {
        self.init(
            "file-only-here",
            "Nobody who can be reached now says that they have \(Self.quoted(names)).",
            hint:
                "Try again once somebody who has it can be reached. `--anyway` removes it "
                + "regardless; it may never come back.")
    }

    /// Somebody may rely on this device to keep files of these names.
    init(awaiting names: [String]) {
        self.init(
            "file-awaited",
            "It is not certain yet that somebody else keeps \(Self.quoted(names)).",
            hint:
                "Whoever has it did not answer in time, or relies on this device to keep it. Try "
                + "again in a moment; `--anyway` removes it regardless.")
    }

    private static func quoted(_ names: [String]) -> String {
        names.isEmpty ? "that file" : VisibleName.list(names.map { "“\($0)”" })
    }

    /// The text for a person about a message that could not be sent because of its files.
    init(attaching refusal: CommandRefusal) {
        switch refusal {
        case .noFile:
            self.init(
                "no-file", "That message has no file.",
                hint: "`parley files list` lists those that do.")
        case .tooManyFiles(let limit):
            self.init(
                "too-many-files", "A message can have at most \(limit) files.",
                hint: "Nothing was sent. Send the other files with another message.")
        case .fileNotHeld:
            self.init(
                "file-gone", "A file that was to be sent is no longer here.",
                hint: "Nothing was sent. Try the same again.")
        default: preconditionFailure("a refusal that is not about files")
        }
    }
}
