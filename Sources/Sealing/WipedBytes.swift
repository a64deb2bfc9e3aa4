import CSodium

/// A short-lived key: ordinary memory, wiped when released.
///
/// Locked memory costs whole pages and system calls; keys that live for a message or a link lie
/// here. Unchecked, because it holds a pointer; safe, because nothing writes after `init`.
final class WipedBytes: KeyBytes, CustomReflectable, CustomStringConvertible, @unchecked Sendable {
    private let memory: UnsafeMutableRawBufferPointer

    init(byteCount: Int, filling fill: (UnsafeMutableRawBufferPointer) -> Void) {
        memory = .allocate(byteCount: byteCount, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        fill(memory)
    }

    convenience init(_ bytes: UnsafeRawBufferPointer) {
        self.init(byteCount: bytes.count) { $0.copyMemory(from: bytes) }
    }

    deinit {
        sodium_memzero(memory.baseAddress, memory.count)
        memory.deallocate()
    }

    func withKeyBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(memory))
    }

    var description: String { "WipedBytes(redacted)" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
