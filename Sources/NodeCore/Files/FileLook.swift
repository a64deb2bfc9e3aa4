import ParleyConversation
public import ParleyLedger
import ParleyWire

/// A look at all messages of a space, or of all spaces, that bring files: some of them a step, newest first,
/// since there may be very many. It is kept in the store, so a restart goes on with it.
/// Source: `Protocol/13-files.md`, "What is fetched".
struct FileLook {
    /// Messages that one step looks at.
    static let portionCountMax = 256
    /// How long after a portion the next one follows, in milliseconds.
    static let interval: UInt64 = 100

    /// The space; nil for all of them.
    var space: SpaceNumber?
    /// The stand and the row of the last message that was looked at; nil before the first.
    private var last: (stand: UInt64, row: Int64)?

    /// A look that begins with the newest message.
    init(at space: SpaceNumber?) { self.space = space }

    /// The first of the looks that are not finished.
    static func next(in store: some NodeStore) throws(StoreError) -> FileLook? {
        guard let (key, value) = try store.values(.fileLook).first else { return nil }
        var (keyReader, reader) = (ByteReader(key), ByteReader(value))
        // The empty key stands for all spaces.
        let number = try? keyReader.uint64()
        var look = FileLook(at: number.map { SpaceNumber(Int64(bitPattern: $0)) })
        // What cannot be read begins with the newest message.
        if let stand = try? reader.uint64(), let row = try? reader.uint64() {
            look.last = (stand, Int64(bitPattern: row))
        }
        return look
    }

    /// The next messages that bring files.
    ///
    /// Keeps how far it is, and nothing once it is finished.
    mutating func takePortion(
        in store: some ConversationStore & NodeStore
    ) throws(StoreError) -> [OperationNumber] {
        let before = last.map { last in
            Entry.pageEnd(at: last.stand, OperationNumber(last.row), of: .files)
        }
        let found = try store.files(in: space, before: before, limit: Self.portionCountMax)
        last = found.last.map { ($0.order.stand, $0.operation.rawValue) }
        let isFinished = found.count < Self.portionCountMax
        try store.setValue(isFinished ? nil : value, .fileLook, key)
        return found.map(\.operation)
    }

    /// Notes that nothing was looked at yet.
    func keep(in store: some NodeStore) throws(StoreError) {
        try store.setValue(value, .fileLook, key)
    }

    private var key: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        if let space { writer.uint64(UInt64(bitPattern: space.rawValue)) }
        return writer.bytes
    }

    private var value: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        if let last {
            writer.uint64(last.stand)
            writer.uint64(UInt64(bitPattern: last.row))
        }
        return writer.bytes
    }
}

extension NodeCore {
    /// Notes that messages were brought in from a backup: the first start looks which of their files are
    /// wanted.
    public static func noteFilesUnlooked(in store: some NodeStore) throws(StoreError) {
        try FileLook(at: nil).keep(in: store)
    }

    /// Goes on looking which messages bring files.
    mutating func lookAtFiles(_ turn: inout some Turn) throws(StoreError) {
        guard let look = try FileLook.next(in: turn.store) else { return }
        try lookAtFiles(look, &turn)
    }

    /// Looks at the next messages that bring files: some may be wanted now, or not any more.
    mutating func lookAtFiles(_ look: FileLook, _ turn: inout some Turn) throws(StoreError) {
        var look = look
        let messages = try look.takePortion(in: turn.store)
        try heedFiles(of: messages, areNew: false, &turn)
        if try FileLook.next(in: turn.store) != nil {
            timers.set(.fileLook, in: FileLook.interval, &turn)
        }
    }
}
