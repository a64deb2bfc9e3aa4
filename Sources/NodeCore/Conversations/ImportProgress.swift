public import ParleyLedger
public import ParleyWire

/// How far files are imported: a line of a file's content goes into a conversation once.
public enum ImportProgress {
    /// The last line of the file that is in, or 0.
    public static func line(
        of hash: Digest, in space: SpaceID, _ store: some NodeStore
    ) throws(StoreError) -> Int {
        try store.value(.importProgress, space.bytes + hash.bytes).map { bytes in
            Int(truncatingIfNeeded: bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        } ?? 0
    }

    static func set(
        _ line: Int, of hash: Digest, in space: SpaceID, _ store: some NodeStore
    ) throws(StoreError) {
        var writer = ByteWriter()
        writer.uint64(UInt64(line))
        try store.setValue(writer.bytes, .importProgress, space.bytes + hash.bytes)
    }
}
