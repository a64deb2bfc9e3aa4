import Glibc

/// What files may take of a disk: they must not take the room of what people say, nor that of the deletion that
/// would remove them.
public enum DiskRoom {
    /// What files leave free: 64 MiB, of a small disk a sixteenth.
    private static let sparedByteCountMax: UInt64 = 64 << 20
    private static let sparedFraction: UInt64 = 16

    /// The bytes that files may take of the disk on which an open file lies. Where nobody says how many are
    /// free, the disk itself says it when there are none.
    public static func byteCount(at descriptor: Int32) -> UInt64 {
        var room = statvfs()
        return fstatvfs(descriptor, &room) == 0 ? byteCount(of: room) : .max
    }

    static func byteCount(of room: statvfs) -> UInt64 {
        let whole = UInt64(room.f_blocks) * UInt64(room.f_frsize)
        let free = UInt64(room.f_bavail) * UInt64(room.f_frsize)
        return free - min(free, sparedByteCountMax, whole / sparedFraction)
    }
}
