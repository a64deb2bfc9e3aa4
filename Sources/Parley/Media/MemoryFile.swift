import CProcess
import Glibc
import ParleyFiles

/// A file in memory, without a name: what one program wrote, for another one to read.
final class MemoryFile: PlacedBytes {
    /// Its number in this process: it is closed with this value.
    let descriptor: Int32
    /// How many bytes it has.
    let byteCount: UInt64

    /// A file with this content.
    init(_ content: [UInt8]) throws(CageFailure) {
        descriptor = parley_memory_file()
        byteCount = UInt64(content.count)
        guard descriptor >= 0 else { throw .notStarted(String(cString: strerror(errno))) }
        var done = 0
        while done < content.count {
            let count = content[done...].withUnsafeBytes {
                write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .notStarted(String(cString: strerror(errno))) }
            done += count
        }
        guard parley_seal_memory_file(descriptor) == 0 else {
            throw .notStarted(String(cString: strerror(errno)))
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Its bytes: exactly this many.
    func bytes(at place: UInt64, count: Int) throws -> [UInt8] {
        let bytes = FileBytes.read(descriptor, at: place, count: count)
        guard bytes.count == count else { throw FormFailure.broken }
        return bytes
    }
}

extension FileBytes {
    /// Bytes of an open file: so many, or as many as there are.
    static func read(_ file: Int32, at place: UInt64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let got = pread(
                    file, buffer.baseAddress?.advanced(by: filled), count - filled,
                    off_t(clamping: place) + off_t(filled))
                if got < 0, errno == EINTR { continue }
                if got <= 0 { return }
                filled += got
            }
        }
    }
}
