import CSodium

/// Whether the library has chosen its fast routines and opened its source of randomness.
///
/// A global is initialised once and on first use; everything that calls the library touches it.
private let isReady: Bool = sodium_init() >= 0

/// Makes sure that the library was started. There is no going on without it.
@inline(__always)
func requireSodium() {
    precondition(isReady, "the cryptographic library must start")
}

/// The operating system's randomness: what production passes wherever randomness is an argument.
public struct SystemRandom: RandomNumberGenerator, Sendable {
    /// The source; there is one.
    public init() {}

    /// Eight random bytes.
    public mutating func next() -> UInt64 {
        requireSodium()
        var value: UInt64 = 0
        randombytes_buf(&value, MemoryLayout<UInt64>.size)
        return value
    }
}

extension RandomNumberGenerator {
    /// So many random bytes. The same generator gives the same bytes in every process.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }

    /// Fills the buffer with random bytes.
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        if Self.self == SystemRandom.self {
            // One call of the system instead of one for every eight bytes.
            requireSodium()
            if let start = buffer.baseAddress { randombytes_buf(start, buffer.count) }
            return
        }
        var offset = 0
        while offset < buffer.count {
            var word = next().littleEndian
            let count = min(8, buffer.count - offset)
            withUnsafeBytes(of: &word) {
                buffer[offset..<offset + count].copyBytes(from: $0[..<count])
            }
            offset += count
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes as the library wants to be given them.
    var bytes: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

    /// The same where the library reads in any case.
    var start: UnsafePointer<UInt8> {
        guard let bytes else { preconditionFailure("a buffer that is read must lie somewhere") }
        return bytes
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The place as the library wants to be given it.
    var bytes: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }

    /// The same where the library writes in any case.
    var start: UnsafeMutablePointer<UInt8> {
        guard let bytes else { preconditionFailure("a buffer that is written must lie somewhere") }
        return bytes
    }
}

/// Overwrites the bytes in a way the compiler cannot leave out.
func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    sodium_memzero(bytes.start, bytes.count)
}
