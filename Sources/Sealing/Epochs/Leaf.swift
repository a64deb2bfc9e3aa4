public import ParleyWire

/// The short name of a leaf in an epoch: `H("lp1/leaf", device ‖ leaf)[0..<8]`.
///
/// The device is part of it, so that naming another's leaf as one's own gains no entry that anybody
/// could open, and takes none away.
/// Source: `Protocol/09-epochs.md`, "Leaves".
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
