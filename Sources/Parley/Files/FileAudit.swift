import ParleyConversation
import ParleyFiles
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// The findings of a check of all sealed files of a home.
struct FileAudit: Sendable {
    /// Files of which something is held.
    var fileCount = 0
    /// Bytes of them that are held.
    var byteCount = 0
    /// Parts that are not what their hashes say, by file.
    var damaged: [(blob: BlobID, chunks: [ChunkIndex])] = []
    /// Files whose held parts cannot be determined.
    var unreadable: [BlobID] = []

    /// Looks at every part of every file. Nothing is changed.
    init(of folder: BlobFolder) throws {
        for blob in try folder.blobs() {
            guard let held = try folder.heldBlob(blob) else {
                unreadable.append(blob)
                continue
            }
            fileCount += 1
            let chunks = try Self.damagedChunks(of: blob, held, in: folder)
            if !chunks.isEmpty { damaged.append((blob, chunks)) }
            byteCount += held.chunks.count * Limits.plainChunkByteCount
        }
    }

    private static func damagedChunks(
        of blob: BlobID, _ held: HeldBlob, in folder: BlobFolder
    ) throws -> [ChunkIndex] {
        var damaged: [ChunkIndex] = []
        var next = held.chunks.next(from: 0, isHeld: true)
        while let chunk = next {
            let index = ChunkIndex(clamping: UInt64(chunk))
            let number = held.shape.section(of: index)
            let first = held.shape.chunks(of: number).lowerBound
            let leaf = try folder.section(number, of: blob)?.leaves[chunk - first]
            let bytes = try folder.chunk(index, of: blob)
            if leaf == nil || bytes.map(BlobHash.leaf) != leaf { damaged.append(index) }
            next = held.chunks.next(from: chunk + 1, isHeld: true)
        }
        return damaged
    }

    /// Drops what does not hold, so that it is fetched again.
    func mend(in folder: BlobFolder) throws {
        for (blob, chunks) in damaged {
            for chunk in chunks { try folder.loseChunk(chunk, of: blob) }
        }
        for blob in unreadable { try folder.removeBlob(blob) }
    }

    /// Files that a repair takes something of.
    var touched: [BlobID] { (damaged.map(\.blob) + unreadable).sorted() }

    var outcome: DoctorReport.Outcome {
        let figures =
            "\(fileCount) \(fileCount == 1 ? "file" : "files"), \(byteCount / 1_000_000) MB"
        guard !touched.isEmpty else { return .fine(figures) }
        var words = [figures]
        let partCount = damaged.reduce(0) { $0 + $1.chunks.count }
        if partCount > 0 { words.append("\(partCount) parts of \(damaged.count) are damaged") }
        if !unreadable.isEmpty { words.append("\(unreadable.count) cannot be read") }
        return .wrong(words.joined(separator: ", "))
    }
}

extension Node {
    /// Compares all sealed files with their hashes.
    func compareFiles() async -> DoctorReport.Outcome {
        do { return try await depot.audit().outcome } catch {
            return .wrong("cannot be read: \(words(of: error))")
        }
    }

    /// Drops the damaged parts of files, and wants them again.
    func mendFiles() async throws {
        let touched = try await depot.audit(mending: true).touched
        for blob in touched {
            await running.reread(blob)
            let naming = try await running.read { views in
                try views.store.naming(blob, limit: 1)
            }
            guard let message = naming.first?.operation else { continue }
            _ = try await running.perform(.file(.fetch(message)))
        }
    }
}
