public import ParleyFiles

/// The folder of one node: database, keystore, guard and lock.
public struct Home: Sendable {
    /// The folder.
    public let path: String
    /// What the folder lies on.
    public let disk: any HomeDisk

    /// The home in this folder of this machine, which need not exist yet.
    public init(_ path: String) { self.init(path, on: MachineDisk()) }

    /// The home in this folder of a disk, which need not exist yet.
    public init(_ path: String, on disk: any HomeDisk) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.disk = disk
    }

    /// The database; beside it lie its log and its index while it is open.
    public var database: String { path + "/database" }
    /// The keys of the vault, sealed.
    public var keystore: String { path + "/keystore" }
    /// What opens the keystore where no passphrase does; only the owner may read it.
    public var keyFile: String { path + "/key" }
    /// How far this device's own logs are at least, sealed.
    public var guardFile: String { path + "/guard" }
    /// The folder of sealed files; it does not exist before the first.
    public var files: String { path + "/files" }
    /// What keeps a second process out; holds the number of the first.
    public var lock: String { path + "/lock" }

    /// Lies here once damage was found: the database is only read as long as it does.
    public var damageFile: String { path + "/damage" }

    /// Lies here while a home is made in several steps, and is removed with the last one.
    public var unfinished: String { path + "/unfinished" }

    /// Whether a home was begun here and never completed.
    public var isUnfinished: Bool { disk.exists(unfinished) }

    /// Begins to create a home in several steps: leftovers of an earlier try are removed.
    public func beginMaking() throws(HomeError) {
        try disk.makeFolder(path)
        if isUnfinished { try discard() }
        try disk.replace(unfinished, with: Array("1\n".utf8))
    }

    /// The home is whole: it can be opened from now on.
    public func endMaking() throws(HomeError) {
        try disk.remove(unfinished)
        // As long as it lies there, the next command that makes a home removes this one.
        guard !isUnfinished else {
            throw HomeError(.other, path: unfinished, detail: "it cannot be removed")
        }
    }

    /// Removes the parts of an unfinished home. The mark goes last.
    public func discard() throws(HomeError) {
        guard isUnfinished else { return }
        let held = try disk.lock(self)
        for file in [
            keystore, keystore + ".new", keyFile, keyFile + ".new", guardFile,
            guardFile + ".new", database, database + "-wal", database + "-shm", spareFile,
        ] { try disk.remove(file) }
        try disk.remove(unfinished)
        withExtendedLifetime(held) {}
    }

    /// Whether there is no database beside the keys that would open it, or an empty one.
    public var lacksDatabase: Bool {
        disk.exists(keystore) && !isUnfinished && (disk.byteCount(database) ?? 0) == 0
    }

    /// Refuses a folder that this user may not list: its content is not known.
    public func requireSight() throws(HomeError) { try disk.requireSight(of: self) }

    /// Whether a relay keeps its mailboxes here.
    public var isOfRelay: Bool { disk.exists(path + "/relay.sqlite") }

    /// Whether a node was made here.
    public var isMade: Bool { disk.exists(keystore) || disk.exists(database) }

    /// The bytes of a file, or nil if it does not exist.
    func read(_ file: String, atMost limit: Int = 1 << 20) throws(HomeError) -> [UInt8]? {
        try disk.read(file, atMost: limit)
    }

    /// Replaces a file: after a crash it holds the old bytes or the new ones, never a part.
    func replace(_ file: String, with bytes: [UInt8]) throws(HomeError) {
        try disk.replace(file, with: bytes)
    }
}

/// The storage of a home: this machine's file system, or a simulated disk.
///
/// Every file that the store touches past SQLite is touched through it, so that both shells run
/// the same code down to here.
public protocol HomeDisk: Sendable {
    /// The file system of SQLite that reaches the database; nil for the machine's own.
    var fileSystem: String? { get }
    /// Refuses a home that may not be looked into; one that is not there may.
    func requireSight(of home: Home) throws(HomeError)
    /// Creates the folder if it does not exist, and its parents.
    func makeFolder(_ path: String) throws(HomeError)
    /// Keeps every other process out of the home until the returned value is released.
    func lock(_ home: Home) throws(HomeError) -> AnyObject
    /// Whether there is such a file.
    func exists(_ file: String) -> Bool
    /// The bytes of a file, or nil if it does not exist. Larger ones are refused.
    func read(_ file: String, atMost limit: Int) throws(HomeError) -> [UInt8]?
    /// Replaces a file, durably: after a crash it holds the old bytes or the new ones.
    func replace(_ file: String, with bytes: [UInt8]) throws(HomeError)
    /// Removes a file, durably. Does nothing if it does not exist.
    func remove(_ file: String) throws(HomeError)
    /// Creates an empty, writable database, durably, if there is none.
    func makeDatabase(_ file: String) throws(HomeError)
    /// Whether a home may be read and not written.
    func isReadOnly(_ home: Home) -> Bool
    /// Keeps those away who write, as far as the disk lets one: a home that may not be written.
    func lockToRead(_ home: Home) throws(HomeError) -> AnyObject
    /// The length of a file; nil if it does not exist.
    func byteCount(_ file: String) -> Int?
    /// When a file was last changed or renamed, in Unix seconds; nil if it does not exist, or nobody knows.
    func changeTime(of file: String) -> UInt64?
    /// Renames a file, durably. No file has that name yet.
    func move(_ file: String, to other: String) throws(HomeError)
    /// The sealed files in a folder, which need not exist.
    func blobs(in folder: String) -> any BlobStore
}

/// The default behaviour of a disk.
extension HomeDisk {
    /// It shows everything.
    public func requireSight(of home: Home) throws(HomeError) {}

    /// It takes writes.
    public func isReadOnly(_ home: Home) -> Bool { false }

    /// As to write.
    public func lockToRead(_ home: Home) throws(HomeError) -> AnyObject { try lock(home) }

    /// By reading it.
    public func byteCount(_ file: String) -> Int? {
        // An unreadable file exists all the same.
        exists(file) ? ((try? read(file, atMost: Int.max)) ?? [0])?.count ?? 0 : nil
    }

    /// It knows no times.
    public func changeTime(of file: String) -> UInt64? { nil }

    /// By a copy.
    public func move(_ file: String, to other: String) throws(HomeError) {
        guard let bytes = try read(file, atMost: Int.max) else { return }
        try replace(other, with: bytes)
        try remove(file)
    }
}
