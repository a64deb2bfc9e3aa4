/// The keys that protect everything at rest, opened in memory.
///
/// Data is sealed under keys in the vault, the vault under ``vaultKey``, and that under the
/// passphrase. So the passphrase changes without touching data, and forgetting a generation of the
/// vault key makes what was sealed under it permanently unreadable.
/// Source: `Protocol/05-identity.md`, "Keystore".
public struct Keystore: Sendable, Equatable {
    /// What looked-up values are hashed under; it never changes.
    public let master: Secret
    /// Which generation of the vault key is the current one, from 0.
    public let generation: UInt32
    /// The current key of the vault.
    public let vaultKey: Secret
    /// The key of the previous generation, while the vault is being re-encrypted.
    public let previousVaultKey: Secret?

    /// A keystore with these keys, each of 32 bytes.
    public init(
        master: Secret, generation: UInt32, vaultKey: Secret, previousVaultKey: Secret? = nil
    ) {
        for key in [master, vaultKey, previousVaultKey].compactMap({ $0 }) {
            precondition(key.count == keyByteCount, "a key of the keystore has 32 bytes")
        }
        self.master = master
        self.generation = generation
        self.vaultKey = vaultKey
        self.previousVaultKey = previousVaultKey
    }

    /// A new keystore with fresh keys.
    public static func create(using random: inout some RandomNumberGenerator) -> Keystore {
        let master = Secret.random(using: &random)
        return Keystore(master: master, generation: 0, vaultKey: .random(using: &random))
    }

    /// The next generation, with the current vault key kept as the previous one.
    ///
    /// Its file is written before the first row is re-encrypted, so that it reopens after any
    /// crash.
    public func advanced(using random: inout some RandomNumberGenerator) -> Keystore {
        Keystore(
            master: master, generation: generation + 1, vaultKey: .random(using: &random),
            previousVaultKey: vaultKey)
    }

    /// The keystore without the previous generation: written once no row needs it any more.
    public func withoutPrevious() -> Keystore {
        Keystore(master: master, generation: generation, vaultKey: vaultKey)
    }
}

/// What locks a keystore's file.
public enum KeystoreLock: Sendable {
    /// A passphrase, taken as its bytes: the code that reads it from a person chooses the form of
    /// Unicode.
    case passphrase([UInt8])
    /// A key of 32 random bytes from a file of its own. It needs no stretching.
    case key(Secret)
}

extension KeystoreLock: CustomStringConvertible, CustomReflectable {
    /// Says which lock it is, and nothing of what opens it.
    public var description: String {
        switch self {
        case .passphrase: "KeystoreLock.passphrase(redacted)"
        case .key: "KeystoreLock.key(redacted)"
        }
    }
    /// Without children: `dump` finds nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// How much work a guess at the passphrase costs, in Argon2id's terms.
public struct KeystoreCost: Sendable, Equatable {
    /// Passes over the memory.
    public let operations: UInt32
    /// Bytes of memory.
    public let memoryByteCount: UInt64

    /// So many passes over so many bytes.
    public init(operations: UInt32, memoryByteCount: UInt64) {
        self.operations = operations
        self.memoryByteCount = memoryByteCount
    }

    /// 3 passes over 256 MiB: two thirds of a second on a small server.
    public static let standard = KeystoreCost(operations: 3, memoryByteCount: 256 << 20)

    /// Next to no work. Only callers that say so (``Bounds/tests``) open such a file.
    public static let interactiveForTests = KeystoreCost(
        operations: 1, memoryByteCount: 64 << 10)

    /// Which costs a file may name.
    ///
    /// A header that was edited must neither make guessing cheap nor this machine run out of
    /// memory, so both ends are bounded before any work is done.
    public enum Bounds: Sendable {
        /// 2 to 10 passes over 64 MiB to 1 GiB.
        case standard
        /// The same, and ``KeystoreCost/interactiveForTests``.
        case tests
    }

    func isAllowed(by bounds: Bounds) -> Bool {
        let isStandard =
            (2...10).contains(operations) && (64 << 20...1 << 30).contains(memoryByteCount)
        return switch bounds {
        case .standard: isStandard
        case .tests: isStandard || self == .interactiveForTests
        }
    }
}

/// Why a file is not opened as a keystore. Nothing is written when it happens.
public enum KeystoreRejection: Error, Equatable, Sendable {
    /// It does not begin as a keystore does.
    case notAKeystore
    /// A version, or a way of locking, that this program does not know.
    case unknownVersion(UInt8)
    /// The work it asks for is out of bounds; none was done.
    case costOutOfBounds(KeystoreCost)
    /// It ends too early.
    case truncated
    /// It continues after its end.
    case trailingBytes(Int)
    /// It is locked by a passphrase, and a key was given.
    case needsPassphrase
    /// It is locked by a key, and a passphrase was given.
    case needsKey
    /// The machine has not the memory that the work takes.
    case notEnoughMemory(KeystoreCost)
    /// The passphrase or key is wrong, or the bytes were changed: nobody can tell which.
    case wrongPassphraseOrDamaged
}

/// The length of every key in a keystore.
let keyByteCount = 32
