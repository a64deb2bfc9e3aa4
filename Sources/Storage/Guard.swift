import Glibc
import ParleyLedger
public import ParleyNodeCore
import ParleySealing
public import ParleyWire

/// How far one of this device's own logs was, at least.
public struct GuardedHead: Equatable, Sendable {
    /// The log.
    public let log: LogID
    /// The place of its last operation.
    public let sequence: UInt64
    /// That operation.
    public let operation: OperationID

    /// A head with these coordinates.
    public init(log: LogID, sequence: UInt64, operation: OperationID) {
        self.log = log
        self.sequence = sequence
        self.operation = operation
    }
}

/// Why a node may not write before it has taken its own operations back from a peer.
///
/// Writing at a place that was written before would fork the own log.
public enum RejoinReason: Equatable, Sendable {
    /// There is a database with operations, and no guard beside it.
    case guardMissing
    /// The guard cannot be read.
    case guardDamaged
    /// The guard was written beside another database.
    case anotherInstance
    /// So many of this device's logs end before the place that the guard remembers, or differ.
    case behind(logCount: Int)
}

/// The guard: a small sealed file beside the database that remembers how far this device's own logs
/// are at least, so that a database that was set back is found out.
///
/// Source: `Protocol/06-sync.md`, "Claims about one's own logs".
struct GuardFile {
    private static let magic: [UInt8] = Array("LPGD".utf8) + [2]
    /// The same of guards that do not remember a card.
    private static let magicWithoutCard: [UInt8] = Array("LPGD".utf8) + [1]
    /// More logs than one device writes: a quarter of a million spaces have so many.
    private static let headCountMax = 1 << 20
    /// The longest guard: those, and the header.
    private static let byteCountMax = 256 + headCountMax * 76

    let home: Home
    let instance: [UInt8]

    /// Replaces the guard. At most once a second and at shutdown is often enough.
    ///
    /// - Parameter cardVersion: of the newest part of its card that this device is known to have signed.
    func write(
        _ heads: [GuardedHead], cardVersion: CardVersion, under key: Secret
    ) throws(HomeError) {
        var writer = ByteWriter(capacity: 32 + heads.count * 72)
        writer.counted(instance)
        writer.number(UInt64(heads.count))
        for head in heads {
            writer.identifier(head.log)
            writer.number(head.sequence)
            writer.identifier(head.operation)
        }
        writer.uint64(cardVersion.value)
        try seal(writer.bytes, Self.magic, under: key)
    }

    /// The content of the guard, if one of these keys opens it; nil if there is none.
    func read(openedBy keys: [Secret]) throws(HomeError) -> Guard? {
        guard let bytes = try bytes() else { return nil }
        for key in keys {
            if let content = Self.open(bytes, key) { return decode(content, bytes) }
        }
        return Guard(isReadable: false)
    }

    /// Re-encrypts the guard, whatever its content. One that the old key does not open is left as
    /// it is; so is one that the new key already opens.
    func reseal(from old: Secret, to new: Secret) throws(HomeError) {
        guard let bytes = try bytes(), let content = Self.open(bytes, old) else { return }
        try seal(content, Array(bytes[..<5]), under: new)
    }

    private func bytes() throws(HomeError) -> [UInt8]? {
        try home.read(home.guardFile, atMost: Self.byteCountMax)
    }

    private func seal(
        _ content: [UInt8], _ magic: [UInt8], under key: Secret
    ) throws(HomeError) {
        // A nonce from the content, as for a row: a copied node repeats no nonce with other bytes.
        let name: Digest = digest(.rowContent, content)
        let nonce = derive(key: key, .rowNonce, context: name.bytes, byteCount: 24)
        let sealed = XChaCha.seal(content, key: key, nonce: nonce, authenticating: magic)
        try home.replace(home.guardFile, with: magic + nonce + sealed)
    }

    private static func open(_ bytes: [UInt8], _ key: Secret) -> [UInt8]? {
        guard bytes.count > 45 else { return nil }
        let magic = Array(bytes[..<5])
        guard magic == Self.magic || magic == magicWithoutCard else { return nil }
        return XChaCha.open(
            bytes[29...], key: key, nonce: Array(bytes[5..<29]), authenticating: magic)
    }

    private func decode(_ content: [UInt8], _ bytes: [UInt8]) -> Guard {
        var reader = ByteReader(content)
        do {
            let instance = Array(try reader.slice(try reader.count("instance", atMost: 64)))
            let count = try reader.count("heads", atMost: Self.headCountMax)
            var heads: [GuardedHead] = []
            for _ in 0..<count {
                heads.append(
                    GuardedHead(
                        log: try reader.identifier(), sequence: try reader.number(),
                        operation: try reader.identifier()))
            }
            var cardVersion = CardVersion.zero
            if bytes.starts(with: Self.magic) { cardVersion = try reader.bounded64() }
            try reader.finish()
            return Guard(
                isReadable: true, isOfThisDatabase: instance == self.instance, heads: heads,
                cardVersion: cardVersion)
        } catch {
            return Guard(isReadable: false)
        }
    }
}

/// The content of a guard file.
struct Guard {
    var isReadable: Bool
    var isOfThisDatabase = false
    var heads: [GuardedHead] = []
    var cardVersion = CardVersion.zero
}

extension SQLiteStore {
    /// Replaces the guard with these heads of this device's own logs. As long as the database is
    /// behind, what the guard remembered beyond them stays. Where the guard told nothing of this
    /// database, none is written before a peer has shown what there was: one made of a database that
    /// was set back would say at the next start that nothing is missing.
    ///
    /// - Parameter cardVersion: of this device's part of its card. The greatest that the guard ever
    ///   remembered stays.
    public func writeGuard(
        heads: [GuardedHead], cardVersion: CardVersion = .zero
    ) throws(HomeError) {
        guardedCardVersion = max(guardedCardVersion, cardVersion)
        switch rejoin {
        case nil: return try replaceGuard(heads)
        case .guardMissing, .guardDamaged, .anotherInstance: return
        case .behind: break
        }
        var highest: [LogID: GuardedHead] = [:]
        for head in try readGuard() + heads
        where highest[head.log].map({ $0.sequence < head.sequence }) ?? true {
            highest[head.log] = head
        }
        try replaceGuard(highest.values.sorted { $0.log < $1.log })
    }

    /// Replaces the guard with what the database holds of this device: the heads of its logs, and the
    /// version of its card.
    public func writeGuard(of identity: NodeIdentity) throws(HomeError) {
        let version: CardVersion
        do {
            version = try CardReader.version(of: identity, self)
        } catch {
            throw HomeError(error, path: home.database)
        }
        try writeGuard(heads: heads(of: identity.device), cardVersion: version)
    }

    /// The heads that the guard remembers; empty where it is missing or cannot be read.
    public func readGuard() throws(HomeError) -> [GuardedHead] {
        try guardFile.read(openedBy: guardKeys())?.heads ?? []
    }

    /// The last operation of every log that a device writes here, ascending by log.
    public func heads(of device: DeviceID) -> [GuardedHead] {
        var heads: [GuardedHead] = []
        for space in records.spaces {
            for log in records.logs[space.number] ?? [] where log.device == device {
                guard let last = log.spans.last else { continue }
                heads.append(
                    GuardedHead(log: log.id, sequence: last.last, operation: last.tip))
            }
        }
        return heads.sorted { $0.log < $1.log }
    }

    /// The node has recovered its own operations: it may write again, once the guard was rewritten.
    public func rejoined(heads: [GuardedHead]) throws(HomeError) {
        try replaceGuard(heads)
        rejoin = nil
    }

    private func replaceGuard(_ heads: [GuardedHead]) throws(HomeError) {
        guard let key = try guardKeys().first else {
            throw HomeError(.databaseDamaged, path: home.database, detail: "the guard has no key")
        }
        try guardFile.write(heads, cardVersion: guardedCardVersion, under: key)
    }

    /// Compares the database with the guard.
    func compareWithGuard() throws(HomeError) {
        let known = try guardFile.read(openedBy: guardKeys())
        guardedCardVersion = known?.cardVersion ?? .zero
        guard let found = known else {
            if nextOperation > 1 { rejoin = .guardMissing }
            return
        }
        guard found.isReadable, found.isOfThisDatabase else {
            rejoin = found.isReadable ? .anotherInstance : .guardDamaged
            return
        }
        var logs: [LogID: LogRecord] = [:]
        for log in records.spaces.flatMap({ records.logs[$0.number] ?? [] }) { logs[log.id] = log }
        var behind = 0
        for head in found.heads where try !holds(head, logs[head.log]) {
            // The end of a log whose conversation was deleted here is kept.
            if try isOfDeleted(head) { continue }
            behind += 1
        }
        if behind > 0 { rejoin = .behind(logCount: behind) }
    }

    /// Whether the guard remembers nothing of this device's own that is not held here.
    ///
    /// - Parameter mayAdopt: whether one of another database is accepted for this one: for example
    ///   if only the name of the database was lost. It is then sealed for the new name, with its
    ///   whole content.
    public func fitsGuard(mayAdopt: Bool) throws(HomeError) -> Bool {
        guard let found = try guardFile.read(openedBy: guardKeys()), found.isReadable,
            found.isOfThisDatabase || mayAdopt
        else { return false }
        guardedCardVersion = max(guardedCardVersion, found.cardVersion)
        var logs: [LogID: LogRecord] = [:]
        for log in records.spaces.flatMap({ records.logs[$0.number] ?? [] }) { logs[log.id] = log }
        for head in found.heads where try !holds(head, logs[head.log]) {
            guard try isOfDeleted(head) else { return false }
        }
        if !found.isOfThisDatabase { try replaceGuard(found.heads) }
        return true
    }

    private func isOfDeleted(_ head: GuardedHead) throws(HomeError) -> Bool {
        do {
            return try FormerLog.kept(head.log, in: self).map { head.sequence < $0.end } ?? false
        } catch {
            throw HomeError(error, path: home.database)
        }
    }

    private func holds(_ head: GuardedHead, _ log: LogRecord?) throws(HomeError) -> Bool {
        guard let log, log.holds(head.sequence) else { return false }
        do {
            return try operation(at: head.sequence, in: log.number)?.id == head.operation
        } catch {
            throw HomeError(error, path: home.database)
        }
    }
}
