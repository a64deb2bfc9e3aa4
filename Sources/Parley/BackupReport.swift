/// The content of a backup.
public struct BackupReport: Codable, Equatable, Sendable {
    /// The file.
    public var file: String
    /// Its bytes.
    public var byteCount: Int
    /// Whose it is.
    public var name: String
    /// The same, in hex.
    public var person: String
    /// The device that made it, in hex.
    public var device: String
    /// When it was made, in Unix milliseconds.
    public var time: UInt64
    /// Contacts, as the person's own devices note them.
    public var contactCount: Int
    /// Conversations.
    public var conversationCount: Int
    /// Logs.
    public var logCount: Int
    /// Operations: messages, edits, receipts and the like.
    public var operationCount: Int
    /// Files: small ones are inside their messages and not counted.
    public var fileCount = 0
    /// Messages and changes that are left out because nobody accepts them: the device that made the
    /// backup wrote two histories. Nil if there are none, and for a backup that was only read.
    public var leftOutCount: Int?
    /// Operations that are left out because no signature covers them on the device that made the
    /// backup, for example after a repair: they prove nothing to anybody. Nil if there are none,
    /// and for a backup that was only read.
    public var unsignedCount: Int? = nil
    /// Operations that repairs of the home have lost, and that have not come back. Nil if there are none, and for
    /// a backup that was only read.
    public var lostCount: Int? = nil
}

/// What a check of the recovery code found about the key that this device seals backups to.
public enum BackupKeyFinding: String, Codable, CaseIterable, Equatable, Sendable {
    /// It is that of the code, signed by its root.
    case known
    /// There was none, or nobody had signed it; now there is.
    case added
    /// It was not that of the code, and is replaced: somebody had planted it.
    case replaced
}

/// What became of a person who came back.
public struct RestoreReport: Codable, Equatable, Sendable {
    /// The person's name.
    public var name: String
    /// The person, in hex.
    public var person: String
    /// This new device, in hex.
    public var device: String
    /// Devices that were revoked for good, in hex.
    public var revokedDevices: [String]
    /// Devices that stay the person's, in hex.
    public var keptDevices: [String]
    /// When the backup was made, in Unix milliseconds; nil where there was none.
    public var backupTime: UInt64?
    /// Conversations that are here again.
    public var conversationCount: Int
    /// Operations that are here again.
    public var operationCount: Int
}
