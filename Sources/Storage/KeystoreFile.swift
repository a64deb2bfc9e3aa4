import ParleySealing
import ParleyWire

/// The keystore of a home and, where no passphrase opens it, the key file that does.
struct KeystoreFile {
    private static let magic: [UInt8] = Array("LPKS".utf8) + [1, 0]
    let home: Home

    init(_ home: Home) { self.home = home }

    func openOrMake(
        _ unlock: Unlock, using random: RandomSource
    ) throws(HomeError) -> (keys: VaultKeys, isProtectedByPassphrase: Bool) {
        if let bytes = try home.read(home.keystore) {
            guard let key = try home.read(home.keyFile),
                let content = XChaCha.open(
                    bytes[30...], key: key, nonce: Array(bytes[6..<30]))
            else { throw HomeError(.keystoreBroken, path: home.keystore) }
            return (
                VaultKeys(
                    master: Secret(content[..<32]), generation: 1, current: Secret(content[32...])),
                false
            )
        }
        let key = random.bytes(32)
        let content = random.bytes(64)
        let nonce = random.bytes(24)
        try home.replace(home.keyFile, with: key)
        try home.replace(
            home.keystore,
            with: Self.magic + nonce + XChaCha.seal(content, key: key, nonce: nonce))
        return (
            VaultKeys(
                master: Secret(content[..<32]), generation: 1, current: Secret(content[32...])),
            false
        )
    }
}
