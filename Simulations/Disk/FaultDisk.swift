import CFaultDisk
public import ParleyFiles
public import ParleySimulation
public import ParleyStorage
import Synchronization

/// A disk in memory that breaks, for the files of a home. No file of this machine is touched.
///
/// What processes see and what is on the platter are two things: a sync makes them one, and when
/// the power goes, every write that no sync covered is kept, dropped, or torn at a sector's edge.
/// The rules are told in `CFaultDisk/include/fault_disk.h`.
///
/// It is sent unchecked: the pointer never changes, and behind it one thread works at a time, the
/// node's own, or GRDB's while the node's waits for it.
public final class FaultDisk: HomeDisk, @unchecked Sendable {
    /// What became of the writes that no sync covered, over all losses of power.
    public struct Losses: Equatable, Sendable {
        /// Writes that reached the platter all the same.
        public let kept: UInt64
        /// Writes of which nothing is left.
        public let dropped: UInt64
        /// Writes of which a part is left.
        public let torn: UInt64
    }

    /// What goes wrong.
    public enum Fault: Sendable {
        /// A write finds no room.
        case full
        /// A read, a write, a truncation or a sync fails.
        case inputOutput
        /// A sync fails, and of what waited for it some is never written, as on Linux.
        case sync
    }

    private let pointer: OpaquePointer
    /// The first part of every path on it; no two disks share one.
    private let name: String
    private static let count = Atomic<UInt64>(0)

    /// The sealed files, which break by themselves: see ``MemoryBlobs``.
    private let sealedFiles = MemoryBlobs()

    /// The sealed files of the one home on it.
    public func blobs(in folder: String) -> any BlobStore { sealedFiles }

    /// How often the home was opened: each process draws its keys from a stream of its own.
    var openCount = 0
    let seed: UInt64

    /// An empty disk; which writes a loss of power takes is drawn from the seed.
    public convenience init(seed: UInt64) {
        self.init(seed: seed) { fault_disk_new($0, seed) }
    }

    private init(seed: UInt64, _ make: (String) -> OpaquePointer?) {
        precondition(fault_disk_register() == 0, "SQLite takes another file system")
        let number = Self.count.add(1, ordering: .relaxed).newValue
        name = "disk\(number)"
        guard let made = make(name) else { preconditionFailure("there is memory for a disk") }
        pointer = made
        self.seed = seed
    }

    deinit { fault_disk_free(pointer) }

    /// Another disk with the same files, all of them durable.
    public func copy() -> FaultDisk {
        let copy = FaultDisk(seed: seed) { fault_disk_copy(pointer, $0, seed) }
        copy.openCount = openCount
        return copy
    }

    /// The home on this disk.
    public var home: Home { Home("/\(name)", on: self) }

    // MARK: What goes wrong

    /// Makes the `call`-th call from now that such a fault can hit fail. The first is number 1.
    ///
    /// - Parameter isLasting: whether all later ones fail as well, until ``failNoMore()``.
    public func fail(_ fault: Fault, atCall call: Int, isLasting: Bool = false) {
        let kind =
            switch fault {
            case .full: FAULT_DISK_FULL
            case .inputOutput: FAULT_DISK_IO
            case .sync: FAULT_DISK_SYNC
            }
        fault_disk_fail(pointer, kind, UInt64(max(1, call)), isLasting)
    }

    /// Forgets a fault that was asked for.
    public func failNoMore() { fault_disk_mend(pointer) }

    /// The process dies: what it has open fails from now on, and what it wrote stays.
    public func kill() { fault_disk_kill(pointer) }

    /// The machine loses its power: what was not synced is kept, dropped or torn.
    public func losePower() { fault_disk_lose_power(pointer) }

    /// Turns these bits of one byte of a file around, for good. False where there is no such byte.
    @discardableResult
    public func rot(_ file: String, at offset: Int, bits: UInt8 = 0x10) -> Bool {
        offset >= 0 && fault_disk_rot(pointer, file, offset, bits)
    }

    /// Puts the files of another disk in the place of all that is here.
    public func restore(_ other: FaultDisk) { fault_disk_restore(pointer, other.pointer) }

    // MARK: Looking on

    /// Whether somebody outside looks on: then no call counts, and none fails.
    public var isObserved = false {
        didSet { fault_disk_observe(pointer, isObserved) }
    }

    /// How often something on it changed, whoever looked on.
    public var changeCount: UInt64 { fault_disk_changes(pointer) }
    /// How many faults came up.
    public var faultCount: UInt64 { fault_disk_faults(pointer) }
    /// What losses of power took so far.
    public var losses: Losses {
        let lost = fault_disk_lost(pointer)
        return Losses(kept: lost.kept, dropped: lost.dropped, torn: lost.torn)
    }

    /// Every file, as processes see it, in the order in which they were made.
    public var files: [StoredFile] {
        (0..<fault_disk_file_count(pointer)).map { index in
            var count = 0
            let bytes = fault_disk_file_bytes(pointer, index, &count)
            return StoredFile(
                name: String(cString: fault_disk_file_name(pointer, index)),
                bytes: Array(UnsafeBufferPointer(start: bytes, count: count)))
        }
    }

    /// The bytes of a file, or nil where there is none.
    public func bytes(of file: String) -> [UInt8]? { files.first { $0.name == file }?.bytes }
}

// MARK: The files of a home

extension FaultDisk {
    /// SQLite's name for file systems like this one.
    public var fileSystem: String? { "parley-fault" }

    /// There is one folder, and it is there.
    public func makeFolder(_ path: String) {}

    /// Nobody else can have it: processes die before the next one starts.
    public func lock(_ home: Home) -> AnyObject { self }

    /// Whether there is such a file.
    public func exists(_ file: String) -> Bool { bytes(of: local(file)) != nil }

    /// The bytes of a file, or nil where there is none.
    public func read(_ file: String, atMost limit: Int) -> [UInt8]? { bytes(of: local(file)) }

    /// Replaces a file, durably, unless a fault hits it: then the old one stays.
    public func replace(_ file: String, with bytes: [UInt8]) throws(HomeError) {
        let code = fault_disk_replace(pointer, local(file), bytes, bytes.count)
        guard code == 0 else {
            throw HomeError(code == 28 ? .diskFull : .other, path: file, detail: "injected")
        }
    }

    /// Removes a file, durably.
    public func remove(_ file: String) { fault_disk_remove(pointer, local(file)) }

    /// Makes an empty database, durably, where there is none.
    public func makeDatabase(_ file: String) throws(HomeError) {
        if !exists(file) { try replace(file, with: []) }
    }

    private func local(_ file: String) -> String {
        file.hasPrefix("/\(name)/") ? String(file.dropFirst(name.utf8.count + 2)) : file
    }
}
