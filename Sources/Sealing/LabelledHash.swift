import CSodium
public import ParleyWire

/// `H(label, message) = BLAKE2b-256(u8 length ‖ label ‖ message)`, fed piece by piece.
///
/// The state lies inside the value: making, feeding and finishing one allocates nothing.
/// Source: `Protocol/02-encoding.md`, "Hashes".
public struct LabelledHash {
    // The library's state, at whatever place this value lies.
    private var state = InlineArray<48, UInt64>(repeating: 0)

    /// A hash for this purpose.
    public init(_ label: Label) {
        requireSodium()
        withState { $0.begin(nil, byteCount: 32) }
        update(label.prefixed)
    }

    /// Appends these bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        withState { $0.update(bytes) }
    }

    /// Appends these bytes.
    public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Appends these bytes.
    public mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Appends the 32 bytes of an identifier.
    public mutating func update<Subject>(_ identifier: Identifier<Subject>) {
        identifier.withUnsafeBytes { update($0) }
    }

    /// Appends a number as eight bytes, big-endian.
    public mutating func update(_ number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { update($0) }
    }

    /// Appends one byte.
    public mutating func update(_ byte: UInt8) {
        withUnsafeBytes(of: byte) { update($0) }
    }

    /// The hash of everything that was appended. Nothing may be appended afterwards.
    public mutating func finalize<Subject>() -> Identifier<Subject> {
        Identifier { output in withState { $0.finish(into: output) } }
    }

    /// Lends the state where the library can work on it.
    ///
    /// The library's type demands a multiple of 64, which Swift gives no value: unless the place
    /// happens to be one, the state is worked on in a copy on the stack.
    private mutating func withState(_ body: (HashState) -> Void) {
        var span = state.mutableSpan
        span.withUnsafeMutableBytes { place in
            if UInt(bitPattern: place.baseAddress) & 63 == 0 { return body(HashState(place)) }
            HashState.withTemporary { copy in
                copy.memory.copyMemory(from: UnsafeRawBufferPointer(place))
                body(copy)
                place.copyMemory(from: UnsafeRawBufferPointer(copy.memory))
            }
        }
    }
}

/// The library's state of one hash, at a place that suits it.
struct HashState {
    /// Where it lies: 384 bytes at a multiple of 64.
    let memory: UnsafeMutableRawBufferPointer
    private let pointer: OpaquePointer

    /// The state at this place.
    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
        pointer = OpaquePointer(memory.start)
    }

    /// Lends a state on the stack.
    static func withTemporary<R>(_ body: (HashState) -> R) -> R {
        withUnsafeTemporaryAllocation(byteCount: 384, alignment: 64) { body(HashState($0)) }
    }

    func begin(_ key: UnsafeRawBufferPointer?, byteCount: Int) {
        _ = crypto_generichash_init(pointer, key?.bytes, key?.count ?? 0, byteCount)
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.bytes else { return }
        _ = crypto_generichash_update(pointer, start, UInt64(bytes.count))
    }

    func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    func finish(into output: UnsafeMutableRawBufferPointer) {
        _ = crypto_generichash_final(pointer, output.start, output.count)
    }

    func wipe() { sodium_memzero(memory.baseAddress, memory.count) }
}

/// `H(label, message)` of what the closure feeds. Allocates nothing.
public func digest<Subject>(
    _ label: Label, _ feed: (inout LabelledHash) -> Void
) -> Identifier<Subject> {
    var hash = LabelledHash(label)
    feed(&hash)
    return hash.finalize()
}

/// `H(label, bytes)`. Allocates nothing.
public func digest<Subject>(
    _ label: Label, _ bytes: UnsafeRawBufferPointer
) -> Identifier<Subject> {
    requireSodium()
    return Identifier { output in
        HashState.withTemporary { state in
            state.begin(nil, byteCount: output.count)
            state.update(label.prefixed)
            state.update(bytes)
            state.finish(into: output)
        }
    }
}

/// `H(label, bytes)`. Allocates nothing.
public func digest<Subject>(_ label: Label, _ bytes: [UInt8]) -> Identifier<Subject> {
    bytes.withUnsafeBytes { digest(label, $0) }
}

/// Whether two hashes are equal, in a time that does not tell where they differ.
public func equalInConstantTime(_ left: Digest, _ right: Digest) -> Bool {
    left.withUnsafeBytes { a in right.withUnsafeBytes { b in equalInConstantTime(a, b) } }
}

/// `H(label, first ‖ rest)`: the name of an operation, on the hot path. Allocates nothing.
public func digest<First, Subject>(
    _ label: Label, _ first: Identifier<First>, _ rest: UnsafeRawBufferPointer
) -> Identifier<Subject> {
    requireSodium()
    return Identifier { output in
        HashState.withTemporary { state in
            state.begin(nil, byteCount: output.count)
            state.update(label.prefixed)
            first.withUnsafeBytes { state.update($0) }
            state.update(rest)
            state.finish(into: output)
        }
    }
}
