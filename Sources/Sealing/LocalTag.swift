public import ParleyWire

/// By what a device is known on a local network, to those alone who hold its card.
///
/// `first 8 bytes of H("lp1/lan/tag", link key[32] ‖ salt[8])`: the key never travels in the clear,
/// and the salt is drawn anew all the time. Source: `Protocol/04-links.md`, "Neighbours".
public enum LocalTag {
    /// Bytes of a salt, and of a tag.
    public static let byteCount = 8

    /// The tag of a device under a salt.
    public static func tag(of key: NoiseKey, salt: [UInt8]) -> [UInt8] {
        let hash: Digest = digest(.localTag, key.bytes + salt)
        return Array(hash.bytes.prefix(byteCount))
    }
}
