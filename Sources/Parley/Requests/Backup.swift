import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// Writes everything that a new device of this person could use into one sealed file, which only
/// the recovery code opens: contacts, conversations, settings; no key of this device. The node
/// continues meanwhile; the backup shows it as of one instant.
public struct CreateBackup: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "createBackup", RequestScope.admin,
        "Writes everything that a new device of this person could use into one sealed file."
    )
    /// An example of the request.
    public static let example = CreateBackup(file: "/home/ada/parley.backup", replacing: true)

    /// Where to; over the local API, an absolute path.
    public var file: String
    /// Whether a backup of this person that lies there is replaced, once the new one is whole;
    /// false where nil. One of another person never is.
    public var replacing: Bool?
    /// Which files of messages go along; those that no other device is known to have where nil.
    public var files: BackupFiles?

    /// A request with these parameters.
    public init(file: String, replacing: Bool? = nil, files: BackupFiles? = nil) {
        self.file = file
        self.replacing = replacing
        self.files = files
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> BackupReport {
        try await node.writeBackup(
            to: absolute(file), replacing: replacing ?? false, files: files ?? .needed)
    }

    /// The node may work in another folder than its client.
    public var remoteFault: String? {
        file.hasPrefix("/") && file.utf8.count < 4096 ? nil : "\"file\" must be an absolute path"
    }
}

/// Records that the person has the recovery code: the one thing that nobody can give them again.
/// The reply is the key for backups that this device used until now.
///
/// The code itself never comes here: the client derives its public keys, and signs with its root
/// the one that backups are sealed to. A different key is replaced. Refused if the root is another
/// person's, or has not signed that key.
public struct NoteRecoveryCode: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "noteRecoveryCode", RequestScope.admin,
        "Records that the person has the recovery code, by its public keys."
    )
    /// An example of the request.
    public static let example = NoteRecoveryCode(
        root: String(repeating: "0a", count: 32), backupKey: String(repeating: "0b", count: 32),
        signature: String(repeating: "0c", count: 64))

    /// The public key of its root, in hex.
    public var root: String
    /// The public key that backups are sealed to, in hex.
    public var backupKey: String
    /// The root's signature of that, in hex.
    public var signature: String

    /// A request with these parameters.
    public init(root: String, backupKey: String, signature: String) {
        self.root = root
        self.backupKey = backupKey
        self.signature = signature
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> BackupKeyFinding {
        guard let bytes = bytes(hex: backupKey + signature), let backup = BackupCertificate(bytes)
        else { throw NodeError("bad-code", "That is not the key of a recovery code.") }
        let own = try await node.running.read { $0.core.node.log.root }
        guard root == own.description else {
            throw NodeError(
                "another-code", "That is the recovery code of somebody else.",
                hint: "Look for the one that “parley init” printed for this node.")
        }
        guard backup.key(of: own) != nil else {
            throw NodeError(
                "bad-code", "Your recovery code did not sign that key for backups.",
                hint: "`parley recovery check` asks for the code itself.")
        }
        // An existing note is only compared, even if nothing may be written.
        if await node.running.bar != nil,
            let known = try await node.read({
                try NodeKeys.knownRecoveryCode(backup, in: $0.store)
            })
        {
            return known
        }
        let finding: BackupKeyFinding
        do {
            finding = try await node.running.write {
                try NodeKeys.noteRecoveryCheck(backup, at: SystemClock.now.wall, in: $0)
            }
        } catch let error as StoreError {
            throw NodeError(error)
        }
        await node.tellRecoveryCheck()
        return finding
    }
}

extension NoteRecoveryCode {
    /// The public values of a recovery code.
    ///
    /// - Throws: ``NodeError`` where the text is no recovery code.
    public init(ofRecoveryCode text: String) throws {
        let code = try RecoveryCode(person: text)
        self.init(
            root: code.rootKey.device.description, backupKey: code.backupKey.publicKey.description,
            signature: hex(code.backupCertificate.signature.bytes))
    }
}
