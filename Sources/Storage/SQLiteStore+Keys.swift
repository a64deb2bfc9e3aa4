public import ParleyLedger
public import ParleyNodeCore
public import ParleySealing

/// Secrets that come and go, as rows of the vault: `u8 length ‖ name ‖ secret`, sealed.
extension SQLiteStore {
    /// The secret with this name, or nil.
    public func secret(
        _ purpose: SecretPurpose, _ name: [UInt8], in space: SpaceNumber?
    ) throws(StoreError) -> Secret? {
        guard let kept = try vault.read(drawer(purpose, space), locator(purpose, name, space))
        else { return nil }
        return try Self.parted(kept).secret
    }

    /// Keeps a secret under this name, in place of the one before, or drops it where it is nil.
    ///
    /// The one before, as the key of a step that was taken, is soon nowhere on the disk.
    public func setSecret(
        _ secret: Secret?, _ purpose: SecretPurpose, _ name: [UInt8], in space: SpaceNumber?
    ) throws(StoreError) {
        erases()
        let kept = secret.map { secret in
            precondition(name.count < 256, "the name of a secret is short")
            return Secret(byteCount: 1 + name.count + secret.count) { output in
                output[0] = UInt8(name.count)
                UnsafeMutableRawBufferPointer(rebasing: output[1...]).copyBytes(from: name)
                secret.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: output[(1 + name.count)...])
                        .copyMemory(from: $0)
                }
            }
        }
        try vault.set(kept, drawer(purpose, space), locator(purpose, name, space))
    }

    /// All of one purpose and space, ascending by name.
    public func secrets(
        _ purpose: SecretPurpose, in space: SpaceNumber?
    ) throws(StoreError) -> [(name: [UInt8], secret: Secret)] {
        var found: [(name: [UInt8], secret: Secret)] = []
        for kept in try vault.all(drawer(purpose, space)) { found.append(try Self.parted(kept)) }
        return found.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    private func drawer(_ purpose: SecretPurpose, _ space: SpaceNumber?) -> Vault.Drawer {
        // 0 and 1 are the vault's own drawers.
        Vault.Drawer(purpose: Int64(purpose.rawValue) + 2, space: space?.rawValue ?? -1)
    }

    private func locator(
        _ purpose: SecretPurpose, _ name: [UInt8], _ space: SpaceNumber?
    ) -> [UInt8] {
        vault.locator(
            4,
            [purpose.rawValue]
                + withUnsafeBytes(of: (space?.rawValue ?? -1).bigEndian) { Array($0) }
                + name)
    }

    private static func parted(
        _ kept: Secret
    ) throws(StoreError) -> (name: [UInt8], secret: Secret) {
        let parts: ([UInt8], Secret)? = kept.withUnsafeBytes { bytes in
            let end = 1 + Int(bytes[0])
            guard end < bytes.count else { return nil }
            return (Array(bytes[1..<end]), Secret(bytes[end...]))
        }
        guard let parts else { throw damaged("reading a secret") }
        return parts
    }

    /// Drops the keys of all buckets in which no payload is left, so that erased payloads there can
    /// never be opened, wherever a disk still keeps them.
    ///
    /// - Returns: how many were dropped.
    func dropEmptyBuckets() throws(StoreError) -> Int {
        writes()
        var empty: [Int64] = []
        for bucket in try bucketsInUse() {
            let query = statements.keys.anyPayload
            query.bind(1, Vault.firstOperation(of: bucket))
            query.bind(2, Vault.firstOperation(of: bucket + 1) - 1)
            defer { query.reset() }
            if try !query.step("looking for payloads") { empty.append(bucket) }
        }
        try vault.dropBuckets(empty)
        return empty.count
    }

    private func bucketsInUse() throws(StoreError) -> [Int64] {
        let last = Vault.bucket(of: max(1, nextOperation - 1))
        var buckets: [Int64] = []
        for bucket in 1...last where try vault.hasKey(of: bucket) { buckets.append(bucket) }
        return buckets
    }
}
