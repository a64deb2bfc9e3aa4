import CSodium

/// Bytes that can key a derivation or a cipher: a ``Secret``, or bytes that live shortly.
public protocol KeyBytes {
    /// Lends the bytes to the closure. They must not be kept.
    func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R
}

extension [UInt8]: KeyBytes {
    /// Lends the bytes to the closure.
    public func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        withUnsafeBytes(body)
    }
}

extension ArraySlice<UInt8>: KeyBytes {
    /// Lends the bytes to the closure.
    public func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        withUnsafeBytes(body)
    }
}

/// Secret bytes: in locked memory between guard pages, wiped when released.
///
/// There is no way to a `String` or into a log: its description and its mirror say nothing, and
/// the only door to the bytes is ``withUnsafeBytes(_:)``. Unchecked, because it holds a pointer;
/// safe to share between threads, because nothing writes after `init`.
public final class Secret: @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer

    /// How many bytes it holds.
    public var count: Int { memory.count }

    /// A secret of so many bytes that the closure fills in; it starts as zeros.
    public init(byteCount: Int, filling fill: (UnsafeMutableRawBufferPointer) -> Void) {
        requireSodium()
        precondition(byteCount > 0, "a secret must hold something")
        memory = LockedMemory.take(byteCount: byteCount)
        fill(memory)
        LockedMemory.protect(memory)
    }

    /// A secret with these bytes. The caller's copy stays the caller's: wipe it.
    public convenience init(_ bytes: some Collection<UInt8>) {
        self.init(byteCount: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// A secret of so many random bytes.
    public static func random(
        _ byteCount: Int = 32, using random: inout some RandomNumberGenerator
    ) -> Secret {
        Secret(byteCount: byteCount) { random.fill($0) }
    }

    deinit { LockedMemory.giveBack(memory) }

    /// Lends the bytes to the closure. They must not be kept.
    public func withUnsafeBytes<R, E>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try body(UnsafeRawBufferPointer(memory))
    }
}

extension Secret: KeyBytes {
    /// Lends the bytes to the closure.
    public func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(memory))
    }
}

extension Secret: Equatable {
    /// Whether the bytes are equal, in a time that does not tell where they differ.
    public static func == (left: Secret, right: Secret) -> Bool {
        left.withUnsafeBytes { left in
            right.withUnsafeBytes { equalInConstantTime(left, $0) }
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says that there is a secret, and nothing about it.
    public var description: String { "Secret(redacted)" }
    /// Says that there is a secret, and nothing about it.
    public var debugDescription: String { description }
    /// Without children: `dump` finds nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Whether the bytes are equal, in a time that does not tell where they differ.
func equalInConstantTime(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
) -> Bool {
    guard left.count == right.count else { return false }
    guard let a = left.baseAddress, let b = right.baseAddress else { return true }
    return sodium_memcmp(a, b, left.count) == 0
}

extension [UInt8] {
    /// Overwrites the bytes in a way the compiler cannot leave out. A holder of the array's shared
    /// storage keeps a copy, so only the sole owner calls it.
    mutating func wipe() {
        withUnsafeMutableBytes { buffer in
            if let start = buffer.baseAddress { sodium_memzero(start, buffer.count) }
        }
    }
}
