import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// Which files go into a backup.
public enum BackupFiles: String, Codable, CaseIterable, Sendable {
    /// Those that no other device is known to have: all others can be fetched again.
    case needed
    /// All that are here.
    case all
    /// None.
    case none

    func takes(_ file: HeldFile) -> Bool {
        guard file.state == .whole else { return false }
        switch self {
        case .needed: return !file.canComeAgain
        case .all: return true
        case .none: return false
        }
    }
}

extension Views {
    /// The files that go into a backup, by their names.
    func files(for choice: BackupFiles) throws -> [HeldFile] {
        try HeldFile.all(in: store).filter(choice.takes)
    }
}

extension Node {
    /// Writes a file as a link would carry it, a piece at a time. A missing or damaged piece is
    /// left out: it comes from other holders.
    func write(_ file: HeldFile, _ add: (BackupItem) throws -> Void) async throws {
        for number in 0..<file.shape.sectionCount {
            let index = SectionIndex(clamping: UInt64(number))
            let section = try await running.read {
                try $0.store.blobs.section(index, of: file.blob)
            }
            guard let section else { continue }
            try add(.frame(Frame.blobSection(section).encoded()))
            for place in file.shape.chunks(of: index) {
                try Task.checkCancellation()
                let chunk = ChunkIndex(clamping: UInt64(place))
                let bytes = try await running.read {
                    try $0.store.blobs.soundChunk(chunk, of: file.blob)
                }
                guard let bytes else { continue }
                let piece = BlobChunk(blob: file.blob, index: chunk, bytes: bytes)
                try add(.frame(Frame.blobChunk(piece).encoded()))
            }
        }
    }
}

/// The files of a backup, each piece proven by its hash.
struct BackupFileCheck {
    /// The file at hand.
    private var section: BlobSection?
    private var seen: Set<BlobID> = []
    /// Pieces of how many files there are.
    var fileCount: Int { seen.count }

    /// The hashes of a part of a file.
    mutating func take(_ section: BlobSection) throws {
        guard section.isGenuine else { throw BackupFault.unproven("a file") }
        seen.insert(section.blob)
        self.section = section
    }

    /// A piece of that part.
    func take(_ chunk: BlobChunk) throws {
        guard let section, section.blob == chunk.blob, let shape = BlobShape(section.size) else {
            throw BackupFault.outOfOrder
        }
        let range = shape.chunks(of: section.index)
        guard range.contains(Int(chunk.index.value)),
            chunk.bytes.count == shape.byteCount(of: chunk.index),
            BlobHash.leaf(chunk.bytes)
                == section.leaves[Int(chunk.index.value) - range.lowerBound]
        else { throw BackupFault.unproven("a file") }
    }
}

extension BlobStore {
    /// Keeps the hashes of a file that came with a backup.
    func restore(_ section: BlobSection) throws {
        guard let shape = BlobShape(section.size) else { throw BackupFault.unproven("a file") }
        try beginBlob(section.blob, shape)
        try keep(section)
    }
}
