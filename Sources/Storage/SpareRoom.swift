import ParleySealing

/// Room that a home keeps for what frees room: on a disk that is full even a deletion has to be noted first.
extension Home {
    /// What is reserved, in bytes: the pages that a deletion changes, many times over.
    private static let spareByteCount = 512 << 10
    /// It is taken only of a disk that has so much free.
    private static let freeByteCountMin: UInt = 8 << 20

    /// Holds nothing but room.
    public var spareFile: String { path + "/spare" }

    /// Keeps room, where none is kept and the disk has enough. Of a disk that does not take it none is kept.
    public func keepSpareRoom() {
        guard disk is MachineDisk, !disk.exists(spareFile),
            let room = MachineDisk.room(at: path), room >= Self.freeByteCountMin
        else { return }
        // Not zeros: some file systems keep none of these.
        var random = SystemRandom()
        let bytes = (0..<Self.spareByteCount / 8).flatMap { _ in
            withUnsafeBytes(of: random.next(), Array.init)
        }
        // It is kept at the next start.
        try? disk.replace(spareFile, with: bytes)
    }

    /// Gives back the room that is kept. Returns whether there was any.
    public func giveSpareRoom() -> Bool {
        guard disk.exists(spareFile) else { return false }
        // What cannot be removed still exists.
        try? disk.remove(spareFile)
        return !disk.exists(spareFile)
    }
}
