import CSodium
public import ParleyWire

/// The short name of a leaf in an epoch: `H("lp1/leaf", device ‖ leaf)[0..<8]`.
///
/// The device is part of it, so that who names another's leaf as its own gains no entry that
/// anybody could open, and takes none away. Source: `Protocol/09-epochs.md`, "Leaves".
public struct LeafID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// How many bytes it has.
    public static let byteCount = 8
    /// The eight bytes as a big-endian number.
    public let value: UInt64

    /// The name with this value.
    public init(_ value: UInt64) { self.value = value }

    /// The name of this leaf of this device.
    public init(device: DeviceID, leaf: LeafKey) {
        let name: Digest = digest(.leaf) { hash in
            hash.update(device)
            hash.update(leaf)
        }
        value = name.prefix
    }

    /// Names order as their bytes.
    public static func < (left: Self, right: Self) -> Bool { left.value < right.value }

    /// The bytes in hex.
    public var description: String { withUnsafeBytes(of: value.bigEndian) { hex($0) } }
}

extension Identifier where Subject == LeafSubject {
    /// Whether something can be sealed to this key: one of small order agrees with everybody on a
    /// secret that everybody knows. Everyone judges alike, whatever scalar is used.
    public var isSound: Bool {
        PrivateLeaf(scalar: Secret(byteCount: 32) { $0[0] = 8 }).agree(with: self) != nil
    }
}

/// A leaf with its private half: an X25519 key that epochs of one space are sealed to.
public struct PrivateLeaf: Sendable {
    /// The public half.
    public let key: LeafKey
    /// The scalar: what the vault keeps until the leaf is erased.
    public let scalar: Secret

    /// The leaf with this scalar of 32 bytes.
    public init(scalar: Secret) {
        requireSodium()
        precondition(scalar.count == 32, "a scalar has 32 bytes")
        self.scalar = scalar
        key = LeafKey { output in
            scalar.withUnsafeBytes { scalar in
                _ = crypto_scalarmult_base(output.start, scalar.start)
            }
        }
    }

    /// A new leaf.
    public static func generate(using random: inout some RandomNumberGenerator) -> PrivateLeaf {
        PrivateLeaf(scalar: .random(using: &random))
    }

    /// The secret shared with the holder of the other key, or nil where that is of small order.
    func agree(with other: LeafKey) -> WipedBytes? {
        var isSafe = false
        let shared = WipedBytes(byteCount: 32) { output in
            scalar.withUnsafeBytes { scalar in
                other.withUnsafeBytes { other in
                    isSafe = crypto_scalarmult(output.start, scalar.start, other.start) == 0
                }
            }
        }
        return isSafe ? shared : nil
    }
}

extension PrivateLeaf: CustomStringConvertible {
    /// Names the public half, and tells nothing of the private one.
    public var description: String { "PrivateLeaf(\(key.short), redacted)" }
}
