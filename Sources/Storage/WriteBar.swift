public import ParleyLedger
import ParleyWire

/// Why a store is only read.
public enum WriteBar: Equatable, Sendable {
    /// The folder, or the database in it, may not be written.
    case readOnly
    /// There was no room left on the disk when it was opened.
    case full
    /// The database is damaged, as a note beside it says.
    case damaged(DamageNote)

    /// Whether nothing at all is written beside the database either.
    var isOfDisk: Bool {
        switch self {
        case .readOnly, .full: true
        case .damaged: false
        }
    }
}

/// The damage that was found, and when. It lies beside the database until that is repaired, so that
/// no later process writes into it.
public struct DamageNote: Equatable, Sendable {
    /// When, in Unix milliseconds.
    public var time: UInt64
    /// What SQLite or the store said. It names tables, never content.
    public var what: String

    /// A note with these fields.
    public init(time: UInt64, what: String) {
        self.time = time
        self.what = what
    }

    private static let byteCountMax = 4096

    fileprivate var bytes: [UInt8] {
        let line = what.replacing("\n", with: " ").prefix(1_000)
        return Array("\(time) \(line)\n".utf8)
    }

    /// Whatever the file contains, its existence says enough.
    fileprivate init(bytes: [UInt8]) {
        let words = String(decoding: bytes.prefix(Self.byteCountMax), as: UTF8.self)
            .split(separator: " ", maxSplits: 1)
        time = words.first.flatMap { UInt64($0) } ?? 0
        what = words.count > 1 ? String(words[1].filter { $0 != "\n" }) : "damage was found"
    }

    fileprivate static func read(_ home: Home) -> DamageNote? {
        guard home.disk.exists(home.damageFile) else { return nil }
        // A note that cannot be read is one.
        let bytes = try? home.read(home.damageFile, atMost: byteCountMax)
        return DamageNote(bytes: bytes ?? [])
    }
}

extension Home {
    /// The known damage, or nil.
    public var damage: DamageNote? { DamageNote.read(self) }

    /// Notes that the database is damaged; the first note stays.
    public func note(_ damage: DamageNote) throws(HomeError) {
        guard !disk.exists(damageFile) else { return }
        try replace(damageFile, with: damage.bytes)
    }

    /// The database was found to be whole, or another one took its place.
    public func forgetDamage() throws(HomeError) { try disk.remove(damageFile) }

    /// Why this home is read-only; nil if it may be written.
    var bar: WriteBar? {
        guard isMade else { return nil }
        return disk.isReadOnly(self) ? .readOnly : damage.map { .damaged($0) }
    }
}

extension StoreError {
    /// The error of a write to a read-only store.
    public init(_ bar: WriteBar) {
        switch bar {
        case .readOnly: self.init(.readOnly, attempt: "beginning to write")
        case .full: self.init(.full, attempt: "beginning to write")
        case .damaged(let note):
            self.init(.corrupt, attempt: "beginning to write", detail: note.what)
        }
    }
}
