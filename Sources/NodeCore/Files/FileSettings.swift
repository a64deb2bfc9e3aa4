public import ParleyLedger
public import ParleyWire

/// What files may take on this device, and which come by themselves. Each device has its own: disks and
/// lines differ.
public struct FileSettings: Equatable, Sendable {
    /// The kind of a file as its sender claims. It only decides up to which size the file is
    /// fetched automatically. The numbers are stored: never reuse one.
    public enum Kind: UInt8, CaseIterable, Sendable {
        /// A picture.
        case picture = 1
        /// A video.
        case video = 2
        /// Something to hear.
        case sound = 3
        /// Anything else.
        case other = 4

        /// The kind for a type such as "image/jpeg".
        public init(type: String) {
            switch type.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).first
            {
            case "image": self = .picture
            case "video": self = .video
            case "audio": self = .sound
            default: self = type == "application/ogg" ? .sound : .other
            }
        }
    }

    /// What the disk may hold of sealed files, in bytes.
    public var roomByteCount: UInt64
    /// A file of at most this many bytes is fetched automatically; with 0 none is.
    public var fetchByteCountMax: UInt64
    /// The same for one kind of file, in place of ``fetchByteCountMax``, which applies to the other
    /// kinds.
    public var fetchByteCountMaxByKind: [Kind: UInt64] = [:]
    /// A file that arrived or was opened within this many days is not given up to make room.
    public var keptDayCount: UInt64

    /// The most that may be set: a pebibyte, the largest file, a hundred years.
    public static let most = FileSettings(
        roomByteCount: 1 << 50, fetchByteCountMax: Limits.fileByteCountMax, keptDayCount: 36_500)

    /// What holds where nothing was set: 10 GiB, 16 MiB of every kind, a week.
    public init(
        roomByteCount: UInt64 = 10 << 30, fetchByteCountMax: UInt64 = 16 << 20,
        keptDayCount: UInt64 = 7
    ) {
        self.roomByteCount = roomByteCount
        self.fetchByteCountMax = fetchByteCountMax
        self.keptDayCount = keptDayCount
    }

    /// Whether a file of a message is fetched automatically.
    ///
    /// - Parameter type: the type that its sender claims, for example "image/jpeg".
    public func comesByItself(_ size: BlobSize, type: String) -> Bool {
        size.value <= fetchByteCountMaxByKind[Kind(type: type)] ?? fetchByteCountMax
    }

    private static let key = Array("files".utf8)

    /// What holds on this device.
    public static func kept(in store: some NodeStore) throws(StoreError) -> FileSettings {
        guard let bytes = try store.value(.profile, key) else { return FileSettings() }
        var reader = ByteReader(bytes)
        do {
            var settings = try FileSettings(
                roomByteCount: reader.uint64(), fetchByteCountMax: reader.uint64(),
                keptDayCount: reader.uint64())
            while reader.remaining > 0 {
                let (kind, limit) = (Kind(rawValue: try reader.byte()), try reader.uint64())
                // One that a later program knows says nothing here.
                if let kind { settings.fetchByteCountMaxByKind[kind] = limit }
            }
            return settings.bounded
        } catch {
            // What cannot be read was never set by this program.
            return FileSettings()
        }
    }

    /// The same, as far as it may be set.
    var bounded: FileSettings {
        var settings = FileSettings(
            roomByteCount: min(roomByteCount, Self.most.roomByteCount),
            fetchByteCountMax: min(fetchByteCountMax, Self.most.fetchByteCountMax),
            keptDayCount: min(keptDayCount, Self.most.keptDayCount))
        settings.fetchByteCountMaxByKind = fetchByteCountMaxByKind.mapValues {
            min($0, Self.most.fetchByteCountMax)
        }
        return settings
    }

    func keep(in store: some NodeStore) throws(StoreError) {
        var writer = ByteWriter(capacity: 60)
        writer.uint64(roomByteCount)
        writer.uint64(fetchByteCountMax)
        writer.uint64(keptDayCount)
        for kind in Kind.allCases {
            guard let limit = fetchByteCountMaxByKind[kind] else { continue }
            writer.byte(kind.rawValue)
            writer.uint64(limit)
        }
        try store.setValue(writer.bytes, .profile, Self.key)
    }
}
