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

    /// Writes down again what is held of the files whose bytes are all there. Of the others it drops
    /// what does not hold, so that it is fetched again: but nothing of what nobody else is known to
    /// have.
    ///
    /// - Parameter findings: what is known of the files that are not as they should be.
    /// - Returns: those that are whole again, and those of which something was dropped.
    func mend(
        _ findings: [FileFinding], in folder: BlobFolder
    ) throws -> (whole: [FileFinding], dropped: [FileFinding]) {
        var mended: (whole: [FileFinding], dropped: [FileFinding]) = ([], [])
        for finding in findings {
            if let shape = finding.shape, try folder.rebuildMap(of: finding.blob, shape) {
                mended.whole.append(finding)
                continue
            }
            guard finding.isElsewhere || finding.message == nil else { continue }
            mended.dropped.append(finding)
            if unreadable.contains(finding.blob) {
                try folder.removeBlob(finding.blob)
                continue
            }
            for chunk in damaged.first(where: { $0.blob == finding.blob })?.chunks ?? [] {
                try folder.loseChunk(chunk, of: finding.blob)
            }
        }
        return mended
    }

    /// Files that are not as they should be.
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
    /// Compares all sealed files with their hashes. Of each that is not as it should be, a sentence
    /// tells who has it.
    func compareFiles() async -> (outcome: DoctorReport.Outcome, sentences: [String]) {
        do {
            let audit = try await depot.audit()
            let findings = try await running.read { try $0.findings(audit.touched) }
            return (audit.outcome, FileFinding.sentences(findings))
        } catch {
            return (.wrong("cannot be read: \(words(of: error))"), [])
        }
    }

    /// Mends files where that takes nothing away that nobody else has, and wants again what it
    /// dropped. Returns what it did, each a sentence.
    func mendFiles() async throws -> [String] {
        let audit = try await depot.audit()
        let findings = try await running.read { try $0.findings(audit.touched) }
        let mended = try await depot.mend(audit, findings)
        for finding in findings { await running.reread(finding.blob) }
        for message in mended.dropped.compactMap(\.message) {
            _ = try await running.perform(.file(.fetch(message)))
        }
        var sentences: [String] = []
        if !mended.whole.isEmpty {
            sentences.append("Whole again: \(FileFinding.names(mended.whole)).")
        }
        if !mended.dropped.isEmpty {
            sentences.append(
                "Damaged parts of files were removed; they will be fetched again: "
                    + "\(FileFinding.names(mended.dropped)).")
        }
        if mended.whole.count + mended.dropped.count < findings.count {
            sentences.append(
                "Nothing was removed of files that nobody else is known to have.")
        }
        return sentences
    }
}
