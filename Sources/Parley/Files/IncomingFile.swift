import CProcess
import Dispatch
import Glibc
import ParleyStorage
import ParleyWire

/// A file that comes in piece by piece before it is sealed. It has no name: whatever ends this process takes
/// it along.
///
/// A small one is only in memory: a recording or drawing for a message is never on disk unsealed. A
/// large one is in the home's file system, and leaves free there what other files leave free.
public final class IncomingFile: Sendable {
    private let descriptor: Int32
    /// Disks take long: nothing else waits for them.
    private let queue = DispatchQueue(label: "parley.incoming", qos: .utility)

    /// The path by which this process finds it, as ``StageFile`` takes it, as long as this value
    /// exists.
    public var path: String { "/proc/self/fd/\(descriptor)" }

    /// An empty file.
    ///
    /// - Parameters:
    ///   - byteCount: how long it is going to be.
    ///   - home: in whose file system it lies; nil for memory.
    /// - Throws: ``NodeError``; `disk-full` where there is no room for it twice, as it comes and sealed.
    public init(of byteCount: UInt64, in home: String?) throws {
        descriptor = home.map(Self.nameless) ?? parley_memory_file()
        guard descriptor >= 0 else { throw Self.failure(errno) }
        if home != nil, DiskRoom.byteCount(at: descriptor) / 2 < byteCount {
            throw Self.failure(ENOSPC)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes bytes at a place.
    public func write(_ bytes: [UInt8], at place: UInt64) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Result { try self.writeNow(bytes, at: place) })
            }
        }
    }

    private func writeNow(_ bytes: [UInt8], at place: UInt64) throws {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(clamping: place) + off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure(count < 0 ? errno : ENOSPC) }
            done += count
        }
    }

    /// A file of a folder that has no name there any more; -1 where none can be made.
    private static func nameless(in folder: String) -> Int32 {
        var random = SystemRandomNumberGenerator()
        let name = "\(folder)/incoming-\(String(random.next(), radix: 16))"
        let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { unlink(name) }
        return descriptor
    }

    private static func failure(_ number: Int32) -> NodeError {
        guard number == ENOSPC || number == EDQUOT else {
            return NodeError(
                "unwritable", "The file cannot be stored: \(String(cString: strerror(number))).")
        }
        return NodeError(
            "disk-full",
            "The disk has no space for that file: for a moment, it needs twice its size.",
            hint: "Nothing was sent. `parley files room` shows how much files take here.")
    }
}
