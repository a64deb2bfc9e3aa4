public import ParleyWire

/// The tag by which holders of a device's card recognise it on a local network.
///
/// `first 8 bytes of H("lp1/lan/tag", link key[32] ‖ salt[8])`: the key is never sent in the clear,
/// and the salt is renewed all the time.
/// Source: `Protocol/04-links.md`, "Neighbours".
public enum LocalTag {
    /// Bytes of a salt, and of a tag.
    public static let byteCount = 8

    /// The tag of a device under a salt.
    public static func tag(of key: NoiseKey, salt: [UInt8]) -> [UInt8] {
        let hash: Digest = digest(.localTag, key.bytes + salt)
        return Array(hash.bytes.prefix(byteCount))
    }
}
