import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire

/// One thing in a backup.
///
/// `u8 kind ‖ number length ‖ body`. Operations are in the same frames that a link would carry, so
/// they are read by the same decoder and verified by the same verifier.
/// Source: `Protocol/05-identity.md`, "Backups".
enum BackupItem: Equatable {
    /// The author, first of all.
    case about(BackupAbout)
    /// A value of the node's own tables.
    case value(table: ValueTable, key: [UInt8], value: [UInt8])
    /// The following items, up to the next one of this kind, are of this space.
    case space(SpaceID, SpaceKind)
    /// Operations, or the proof of a fork; behind all of these, pieces of files.
    case frame([UInt8])
    /// The number of written items, last of all.
    case end(spaceCount: Int, operationCount: Int)

    /// No item is longer: a frame with what frames it.
    static let byteCountMax = Limits.frameByteCountMax + 1024

    /// The tables that go along. What belongs to this device alone does not, nor open invites.
    static let tables: [ValueTable] = [
        .card, .importProgress, .introduction, .missingBody, .awaitedLog, .invitation, .heldFile,
    ]

    private enum Kind: UInt8 {
        case about = 1
        case value = 2
        case space = 3
        case frame = 4
        case end = 5
    }

    var encoded: [UInt8] {
        var body = ByteWriter()
        let kind: Kind
        switch self {
        case .about(let about):
            kind = .about
            about.write(to: &body)
        case .value(let table, let key, let value):
            kind = .value
            body.byte(table.rawValue)
            body.counted(key)
            body.counted(value)
        case .space(let space, let spaceKind):
            kind = .space
            body.identifier(space)
            body.byte(spaceKind.rawValue)
        case .frame(let bytes):
            kind = .frame
            body.raw(bytes)
        case .end(let spaceCount, let operationCount):
            kind = .end
            body.number(UInt64(spaceCount))
            body.number(UInt64(operationCount))
        }
        var item = ByteWriter(capacity: body.bytes.count + 8)
        item.byte(kind.rawValue)
        item.uint32(UInt32(body.bytes.count))
        item.raw(body.bytes)
        return item.bytes
    }

    static let headByteCount = 5

    /// The length of the body, by the first bytes of an item.
    static func bodyByteCount(head: [UInt8]) throws(DecodingFailure) -> Int {
        var reader = ByteReader(head)
        _ = try reader.byte()
        let count = Int(try reader.uint32())
        guard count <= byteCountMax else {
            throw .tooLarge(
                field: "item", value: UInt64(count), limit: UInt64(byteCountMax))
        }
        return count
    }

    init(kind byte: UInt8, body: [UInt8]) throws(DecodingFailure) {
        guard let kind = Kind(rawValue: byte) else { throw .unknownVersion(byte) }
        var reader = ByteReader(body)
        switch kind {
        case .about:
            self = .about(try BackupAbout(from: &reader))
        case .value:
            let number = try reader.byte()
            guard let table = ValueTable(rawValue: number), Self.tables.contains(table) else {
                throw .forbidden(field: "table")
            }
            let key = try reader.counted("key", atMost: 4096)
            self = .value(
                table: table, key: key,
                value: try reader.counted("value", atMost: Self.byteCountMax))
        case .space:
            let space: SpaceID = try reader.identifier()
            guard let spaceKind = SpaceKind(rawValue: try reader.byte()) else {
                throw .forbidden(field: "space kind")
            }
            self = .space(space, spaceKind)
        case .frame:
            self = .frame(Array(try reader.slice(body.count)))
        case .end:
            self = .end(
                spaceCount: try reader.count("spaces", atMost: 1 << 40),
                operationCount: try reader.count("operations", atMost: 1 << 40))
        }
        try reader.finish()
    }
}

/// Who made a backup, and when.
struct BackupAbout: Equatable, Sendable {
    /// The device that made it.
    var device: DeviceID
    /// When, in Unix milliseconds.
    var time: UInt64
    /// The person's identity log.
    var identity: [[UInt8]]

    /// The version of the stream; the file has a separate version for its sealing.
    private static let version: UInt8 = 1

    init(device: DeviceID, time: UInt64, identity: [[UInt8]]) {
        self.device = device
        self.time = time
        self.identity = identity
    }

    func write(to writer: inout ByteWriter) {
        writer.byte(Self.version)
        writer.identifier(device)
        writer.uint64(time)
        writer.number(UInt64(identity.count))
        for operation in identity { writer.counted(operation) }
    }

    init(from reader: inout ByteReader) throws(DecodingFailure) {
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        device = try reader.identifier()
        time = try reader.uint64()
        let count = try reader.count("identity", atMost: IdentityLog.operationCountMax)
        identity = []
        for _ in 0..<count {
            identity.append(try reader.counted("identity", atMost: 1024))
        }
    }
}

extension ByteReader {
    fileprivate mutating func counted(
        _ field: StaticString, atMost limit: Int
    ) throws(DecodingFailure) -> [UInt8] {
        Array(try slice(try count(field, atMost: limit)))
    }
}
