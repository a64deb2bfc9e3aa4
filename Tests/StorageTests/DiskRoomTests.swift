import Glibc
import Testing

@testable import ParleyStorage

@Suite("Room for files")
struct DiskRoomTests {
    private func room(_ free: UInt, of whole: UInt) -> statvfs {
        var room = statvfs()
        room.f_frsize = 4_096
        room.f_bavail = free / 4_096
        room.f_blocks = whole / 4_096
        return room
    }

    @Test("files leave 64 MiB of a disk free, and of a small one a sixteenth")
    func spared() {
        let (large, small): (UInt, UInt) = (1 << 40, 64 << 20)
        #expect(DiskRoom.byteCount(of: room(65 << 20, of: large)) > 0)
        #expect(DiskRoom.byteCount(of: room(64 << 20, of: large)) <= 0)
        #expect(DiskRoom.byteCount(of: room(5 << 20, of: small)) > 0)
        #expect(DiskRoom.byteCount(of: room(4 << 20, of: small)) <= 0)
        #expect(DiskRoom.byteCount(of: room(0, of: 0)) <= 0)
    }

    @Test("a file is begun only where the whole of it leaves that free")
    func whole() {
        let small: UInt = 64 << 20
        #expect(DiskRoom.byteCount(of: room(35 << 20, of: small)) > 30 << 20)
        #expect(DiskRoom.byteCount(of: room(34 << 20, of: small)) <= 30 << 20)
    }
}
