public import ParleyWire

/// The keys of shelves, on which a device lays one sealed file for those who cannot link with it.
///
/// None of them has to be stored: the owner's is derived from a secret of the device, so it is the
/// same after any start; the reader's from the file's key, so anybody who can open the file can
/// read all its shelves.
/// Source: `Protocol/13-files.md`, "Shelves".
public enum ShelfKeys {
    /// The key that makes, fills and empties a device's shelf of a file, at whatever relay.
    ///
    /// - Parameter secret: 32 bytes that the device alone has.
    public static func owner(of blob: BlobID, secret: Secret) -> DeviceSigningKey {
        DeviceSigningKey(seed: deriveSecret(key: secret, .shelfOwner, context: blob.bytes))
    }

    /// The key that reads shelves of a file.
    ///
    /// - Parameter fileKey: the 32 bytes that open the file.
    public static func reader(fileKey: [UInt8]) -> DeviceSigningKey {
        DeviceSigningKey(seed: deriveSecret(key: Secret(fileKey), .shelfReader))
    }
}
