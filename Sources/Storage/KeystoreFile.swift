import ParleyLedger
import ParleyNodeCore
import ParleySealing

/// How a home's keystore is opened.
public enum Unlock: Sendable {
    /// By the key file beside it, which only its owner may read.
    case keyFile
    /// By a passphrase.
    case passphrase([UInt8])
}

/// The keystore of a home and, where no passphrase opens it, the key file that does.
final class KeystoreFile {
    let home: Home
    let random: RandomSource
    /// The cost of a guess at the passphrase; only tests ask for less than the standard.
    let cost: KeystoreCost
    /// What the file on the disk is sealed by: no passphrase is kept to write it again.
    private var seal: KeystoreSeal?

    init(home: Home, random: RandomSource, cost: KeystoreCost = .standard) {
        self.home = home
        self.random = random
        self.cost = cost
    }

    /// Opens the keystore, or makes one where the home is new.
    func openOrMake(_ unlock: Unlock) throws(HomeError) -> Keystore {
        if let bytes = try home.read(home.keystore) {
            let keystore = try open(bytes, unlock)
            // A change to a passphrase was cut off before its last step.
            if case .passphrase = unlock { try home.disk.remove(home.keyFile) }
            return keystore
        }
        guard !home.isMade else { throw HomeError(.keyMissing, path: home.keystore) }
        var source = random
        let keystore = Keystore.create(using: &source)
        try write(keystore, unlock)
        return keystore
    }

    /// Opens the keystore, and changes nothing.
    func openToRead(_ unlock: Unlock) throws(HomeError) -> Keystore {
        guard let bytes = try home.read(home.keystore) else {
            throw HomeError(.keyMissing, path: home.keystore)
        }
        return try open(bytes, unlock)
    }

    private func open(_ bytes: [UInt8], _ unlock: Unlock) throws(HomeError) -> Keystore {
        let bounds: KeystoreCost.Bounds = cost == .standard ? .standard : .tests
        var lock: KeystoreLock
        switch unlock {
        case .passphrase(let passphrase): lock = .passphrase(passphrase)
        case .keyFile:
            guard let key = try readKey() else { throw withoutKey(bytes, bounds) }
            lock = .key(key)
        }
        do {
            let (keystore, seal) = try Keystore.open(bytes, unlockedWith: lock, allowing: bounds)
            self.seal = seal
            return keystore
        } catch {
            throw HomeError(error, unlock, path: home.keystore)
        }
    }

    /// The message if there is no key file: perhaps a passphrase is missing.
    private func withoutKey(_ bytes: [UInt8], _ bounds: KeystoreCost.Bounds) -> HomeError {
        do {
            // Nothing is locked by this key: only the header is asked what it needs.
            _ = try Keystore(bytes, unlockedWith: .key(random.secret()), allowing: bounds)
        } catch KeystoreRejection.needsPassphrase {
            return HomeError(.passphraseNeeded, path: home.keystore)
        } catch {
            return HomeError(.keyMissing, path: home.keyFile)
        }
        return HomeError(.keyMissing, path: home.keyFile)
    }

    /// Writes the keystore. After a crash in between, what opened it before still does.
    func write(_ keystore: Keystore, _ unlock: Unlock) throws(HomeError) {
        switch unlock {
        case .passphrase(let passphrase):
            try replace(keystore, .passphrase(passphrase))
            // The key file opens nothing any more.
            try home.disk.remove(home.keyFile)
        case .keyFile:
            let key = try readKey() ?? random.secret()
            var bytes = key.withUnsafeBytes { Array($0) }
            defer { bytes.wipe() }
            try home.replace(home.keyFile, with: bytes)
            try replace(keystore, .key(key))
        }
    }

    private func replace(_ keystore: Keystore, _ lock: KeystoreLock) throws(HomeError) {
        var source = random
        let seal: KeystoreSeal
        do {
            seal = try KeystoreSeal(lock, cost: cost, using: &source)
        } catch {
            throw HomeError(.other, path: home.keystore, detail: "\(error)")
        }
        try home.replace(home.keystore, with: keystore.sealed(with: seal, using: &source))
        self.seal = seal
    }

    /// Rewrites the keystore, opened as before.
    func rewrite(_ keystore: Keystore) throws(HomeError) {
        guard let seal else {
            throw HomeError(.other, path: home.keystore, detail: "it was never opened")
        }
        var source = random
        try home.replace(home.keystore, with: keystore.sealed(with: seal, using: &source))
    }

    private func readKey() throws(HomeError) -> Secret? {
        guard var bytes = try home.read(home.keyFile, atMost: 4096) else { return nil }
        defer { bytes.wipe() }
        guard bytes.count == 32 else {
            throw HomeError(.keystoreBroken, path: home.keyFile, detail: "not 32 bytes")
        }
        return Secret(bytes)
    }
}

extension Home {
    /// Whether a passphrase locks the keystore, as its header says.
    public func isProtectedByPassphrase() throws(HomeError) -> Bool {
        guard let bytes = try read(keystore) else { throw HomeError(.keyMissing, path: keystore) }
        guard let isLocked = Keystore.isLockedByPassphrase(bytes) else {
            throw HomeError(.keystoreBroken, path: keystore, detail: "its header is not valid")
        }
        return isLocked
    }
}

extension HomeError {
    /// Why the keystore was not opened, for the person who tried.
    fileprivate init(_ rejection: KeystoreRejection, _ unlock: Unlock, path: String) {
        switch (rejection, unlock) {
        case (.needsPassphrase, _): self.init(.passphraseNeeded, path: path)
        case (.needsKey, _): self.init(.passphraseNotUsed, path: path)
        case (.wrongPassphraseOrDamaged, .passphrase): self.init(.wrongPassphrase, path: path)
        case (.notEnoughMemory, _):
            self.init(.other, path: path, detail: "there is not enough memory for the passphrase")
        case (.wrongPassphraseOrDamaged, .keyFile):
            self.init(.keystoreBroken, path: path, detail: "its key file does not open it")
        case (.notAKeystore, _), (.unknownVersion, _), (.costOutOfBounds, _), (.truncated, _),
            (.trailingBytes, _):
            self.init(.keystoreBroken, path: path, detail: Self.words(rejection))
        }
    }

    private static func words(_ rejection: KeystoreRejection) -> String {
        switch rejection {
        case .notAKeystore: "it does not begin like a keystore"
        case .unknownVersion: "another version of Parley wrote it"
        case .costOutOfBounds: "it requires more work than a keystore may"
        case .truncated: "its end is missing"
        case .trailingBytes: "there is something after its end"
        case .needsPassphrase, .needsKey, .wrongPassphraseOrDamaged, .notEnoughMemory:
            "it cannot be opened"
        }
    }
}

extension SQLiteStore {
    /// Opens the home by this from now on, so that nothing that opened it before opens anything in
    /// it once ``renewVaultKey()`` is done. The word index is empty afterwards, under another key,
    /// and the guard has another key as well; the operations are not touched.
    ///
    /// The order makes every point safe to be interrupted at: the new keys of index and guard are
    /// in the vault before the lock changes, and from the write that changes it the vault is to be
    /// re-encrypted, which the next start finishes.
    ///
    /// - Parameter unlock: for ``Unlock/passphrase(_:)`` the key file is removed.
    public func protect(with unlock: Unlock) throws(HomeError) {
        // A renewal that was cut off is finished first: a third key has no place.
        if vault.keystore.previousVaultKey != nil, try !renewVaultKey() {
            throw HomeError(.other, path: home.database, detail: "another program is reading it")
        }
        try drawKeysAtRest()
        let next = vault.keystore.advanced(using: random)
        try keystoreFile.write(next, unlock)
        vault.use(next)
        switch unlock {
        case .keyFile: isProtectedByPassphrase = false
        case .passphrase: isProtectedByPassphrase = true
        }
    }

    /// Draws new keys for the word index and the guard.
    private func drawKeysAtRest() throws(HomeError) {
        try settleGuardKey()
        let former = try guardKeys().first
        try durably { () throws(StoreError) in
            // In one transaction with the key: an index never has rows of another one.
            try resetWordIndex(isOff: try wordIndexState().isOff)
            try drawGuardKey(former: former)
        }
        try finishGuardKey()
    }

    /// Re-encrypts every key under a new key of the vault and erases the old one, so that nobody
    /// can open old copies of dropped rows. The keys of buckets in which every payload was erased
    /// are dropped as well.
    ///
    /// It is opened as before; the work for a passphrase is not done again.
    ///
    /// - Returns: whether it was finished. Where the log of changes could not be emptied, old and
    ///   new key both stay, and it is to be tried again.
    @discardableResult
    public func renewVaultKey() throws(HomeError) -> Bool {
        // A renewal that was cut off is finished first: a third key has no place.
        if vault.keystore.previousVaultKey == nil {
            let next = vault.keystore.advanced(using: random)
            try keystoreFile.rewrite(next)
            vault.use(next)
        }
        try durably { () throws(StoreError) in
            _ = try dropEmptyBuckets()
            try vault.resealAll()
        }
        do throws(StoreError) {
            guard try checkpoint() else { return false }
        } catch {
            throw HomeError(error, path: home.database)
        }
        let last = vault.keystore.withoutPrevious()
        try keystoreFile.rewrite(last)
        vault.use(last)
        return true
    }
}

extension Keystore {
    fileprivate func advanced(using random: RandomSource) -> Keystore {
        var source = random
        return advanced(using: &source)
    }
}
