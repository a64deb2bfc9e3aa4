import ParleyLedger

/// Why a node's home could not be opened. Written for the person who reads it.
public struct HomeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Code: Equatable, Sendable {
        /// The passphrase does not open the keystore.
        case wrongPassphrase
        /// The keystore is protected by a passphrase, and none was given.
        case passphraseNeeded
        /// A passphrase was given, but the keystore is opened by a file.
        case passphraseNotUsed
        /// There is no keystore although there is a database, or no key file that it needs.
        case keyMissing
        /// The keystore or its key file is not one that this program wrote.
        case keystoreBroken
        /// The database was made with another keystore.
        case databaseOfAnotherNode
        /// The folder or a file in it may not be written.
        case readOnly
        /// The folder or a file in it belongs to another user of this machine.
        case foreignOwner
        /// Other users of this machine may change the folder, or read or change a file in it.
        case openToOthers
        /// A file in the folder is a symbolic link, which could lead anywhere.
        case symbolicLink
        /// There is no room left.
        case diskFull
        /// A newer version of this program wrote the database.
        case newerSchema
        /// Another process uses the home. Its number is known unless it is just starting.
        case locked(process: Int32?)
        /// The database file is not one, or is damaged.
        case databaseDamaged
        /// There are keys, and no database that they would open, or an empty one.
        case databaseGone
        /// Anything else that the operating system or the database refused.
        case other
    }

    /// What is wrong.
    public let code: Code
    /// The file or folder.
    public let path: String
    /// What the operating system or the database said, or nothing.
    public let detail: String

    /// An error with these fields.
    public init(_ code: Code, path: String, detail: String = "") {
        self.code = code
        self.path = path
        self.detail = detail
    }

    /// One sentence: what is wrong, and where.
    public var description: String {
        switch code {
        case .wrongPassphrase: "the passphrase does not open \(path)"
        case .passphraseNeeded: "\(path) is protected by a passphrase, and none was given"
        case .passphraseNotUsed: "\(path) is opened by a key file, not by a passphrase"
        case .keyMissing: "\(path) is missing, and the database cannot be read without it"
        case .keystoreBroken: "\(path) is damaged or is not a keystore (\(detail))"
        case .databaseOfAnotherNode: "\(path) belongs to another node: its keys are not here"
        case .readOnly: "\(path) cannot be written\(said)"
        case .foreignOwner: "\(path) belongs to another user"
        case .openToOthers: "other users can access \(path)\(said)"
        case .symbolicLink: "\(path) is a symbolic link"
        case .diskFull: "the disk that holds \(path) is full"
        case .newerSchema: "\(path) was written by a newer version of Parley"
        case .locked(let process?): "\(path) is in use by process \(process)\(said)"
        case .locked(nil): "\(path) is in use by another process"
        case .databaseDamaged: "\(path) is damaged\(said)"
        case .databaseGone:
            "\(path) is gone or empty, with the messages and with this device's own keys; the "
                + "other files of the home are still there"
        case .other: "\(path) cannot be opened\(said)"
        }
    }

    /// What the person can do, in one sentence.
    public var hint: String {
        switch code {
        case .wrongPassphrase: "try again; nothing was changed"
        case .passphraseNeeded:
            "give the passphrase that was set for this home: type it at a terminal, or name a file "
                + "with --passphrase-file"
        case .passphraseNotUsed: "do not give a passphrase, or set one first"
        case .keyMissing, .keystoreBroken:
            "without the right file, nothing here can be read, and no repair helps: "
                + Self.newDevice
        case .databaseOfAnotherNode: "use the database and the keystore of the same home"
        case .readOnly: "check the owner and the permissions of the folder"
        case .foreignOwner: "run parley as that user, or use a folder of your own"
        case .openToOthers: "if nobody else has used it: chmod go-rwx '\(path)'"
        case .symbolicLink: "replace the link by the file itself"
        case .diskFull: "free some space; nothing that was saved is lost"
        case .newerSchema: "install the newer version again; nothing was changed"
        case .locked:
            "a node runs there, or a command that has not ended, such as a chat without a node: "
                + "end it, or use another home"
        case .databaseDamaged:
            "`parley doctor` says what is lost, and `parley doctor --repair` saves what can be "
                + "read; nothing is removed"
        case .databaseGone where detail.isEmpty: Self.newDevice
        case .databaseGone:
            "keep the folder: if you find the file, put it back there. If it is lost: an earlier repair "
                + "has kept \(detail), and `parley doctor --repair` saves what can be read of that"
        case .other: "nothing was changed"
        }
    }

    private static let newDevice =
        "keep the folder: if you find the file, put it back there. Else create a new device in "
        + "another folder: with the text that “parley device link” shows on another device of "
        + "yours, or with `parley recover --home FOLDER`, the recovery code, and a backup or a "
        + "contact's invite"

    private var said: String { detail.isEmpty ? "" : " (\(detail))" }
}

extension HomeError {
    /// What the store said, as an answer to opening a home.
    init(_ error: StoreError, path: String) {
        let code: Code =
            switch error.code {
            case .full: .diskFull
            case .readOnly: .readOnly
            // SQLite calls it a failure of the disk where it cannot make room for its index.
            case .inputOutput: MachineDisk.isFull(path) ? .diskFull : .other
            case .other: .other
            case .corrupt: .databaseDamaged
            case .locked: .locked(process: nil)
            case .newerSchema: .newerSchema
            }
        self.init(code, path: path, detail: error.detail)
    }
}
