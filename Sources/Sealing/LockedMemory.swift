import CSodium
import Synchronization

/// Locked memory between guard pages, for secrets: released memory is wiped, and reused.
///
/// A block costs the system ten calls to make and to give back, and most secrets live for a
/// moment: a derived key seals one envelope. So some blocks of each small size stay here.
enum LockedMemory {
    /// Blocks of these sizes stay, in bytes: keys, and pairs of keys.
    static let keptSizes = 1...64
    /// So many of each size: with 64 no more than 512 KiB of locked memory.
    static let keptCountMax = 64

    /// Addresses of wiped blocks that may be written, by their size.
    private static let kept = Mutex<[Int: [UInt]]>([:])

    /// A block of so many zeros, which may be written until ``protect(_:)``.
    static func take(byteCount: Int) -> UnsafeMutableRawBufferPointer {
        let address = kept.withLock { $0[byteCount]?.popLast() }
        if let start = address.flatMap(UnsafeMutableRawPointer.init(bitPattern:)) {
            return UnsafeMutableRawBufferPointer(start: start, count: byteCount)
        }
        guard let start = sodium_malloc(byteCount) else {
            preconditionFailure("locked memory must be available for keys")
        }
        sodium_memzero(start, byteCount)
        return UnsafeMutableRawBufferPointer(start: start, count: byteCount)
    }

    /// Nothing writes the block from here on.
    static func protect(_ block: UnsafeMutableRawBufferPointer) {
        if let start = block.baseAddress { sodium_mprotect_readonly(start) }
    }

    /// Wipes a block and keeps it, or gives it back to the system.
    static func giveBack(_ block: UnsafeMutableRawBufferPointer) {
        guard let start = block.baseAddress, keptSizes.contains(block.count),
            sodium_mprotect_readwrite(start) == 0
        else { return sodium_free(block.baseAddress) }
        sodium_memzero(start, block.count)
        let isKept = kept.withLock { kept in
            guard kept[block.count, default: []].count < keptCountMax else { return false }
            kept[block.count, default: []].append(UInt(bitPattern: start))
            return true
        }
        if !isKept { sodium_free(start) }
    }
}
