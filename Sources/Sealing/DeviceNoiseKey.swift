import CSodium
public import ParleyWire

/// A device's private X25519 key for links. Its public key stands in the device's certificate.
public struct DeviceNoiseKey: Sendable {
    /// The public half.
    public let publicKey: NoiseKey
    private let secret: Secret

    /// The key with this scalar of 32 bytes.
    public init(secret: Secret) {
        requireSodium()
        precondition(secret.count == 32, "a scalar has 32 bytes")
        self.secret = secret
        publicKey = NoiseKey { output in
            secret.withUnsafeBytes { secret in
                _ = crypto_scalarmult_base(output.start, secret.start)
            }
        }
    }

    /// A new key.
    public static func generate(using random: inout some RandomNumberGenerator) -> DeviceNoiseKey {
        DeviceNoiseKey(secret: .random(using: &random))
    }

    /// The scalar: what the vault keeps.
    public var scalar: Secret { secret }

    /// The secret shared with the holder of the other key, or nil where that key is of small
    /// order: then the result would be known to everybody.
    func agree(with other: NoiseKey) -> WipedBytes? {
        var isSafe = false
        let shared = WipedBytes(byteCount: 32) { output in
            secret.withUnsafeBytes { secret in
                other.withUnsafeBytes { other in
                    isSafe = crypto_scalarmult(output.start, secret.start, other.start) == 0
                }
            }
        }
        return isSafe ? shared : nil
    }
}

extension DeviceNoiseKey: CustomStringConvertible {
    /// Names the public key, and tells nothing of the private one.
    public var description: String { "DeviceNoiseKey(\(publicKey.short), redacted)" }
}

/// A short-lived key: ordinary memory, wiped when let go of.
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
