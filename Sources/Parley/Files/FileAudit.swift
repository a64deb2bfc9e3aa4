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

    /// What a repair did about files.
    struct Mended: Sendable {
        /// Those that are whole again.
        var whole: [FileFinding] = []
        /// Those of which it dropped what did not hold.
        var dropped: [FileFinding] = []
        /// Those of which parts are missing that somebody else has or has had.
        var missing: [FileFinding] = []
    }

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
    func mend(_ findings: [FileFinding], in folder: BlobFolder) throws -> Mended {
        var mended = Mended()
        for finding in findings {
            if let shape = finding.shape, try folder.rebuildMap(of: finding.blob, shape) {
                mended.whole.append(finding)
                continue
            }
            guard finding.isElsewhere || finding.message == nil else { continue }
            if finding.isMissing {
                mended.missing.append(finding)
                continue
            }
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

    /// Files of which something is here that is not as it should be.
    var touched: [BlobID] { (damaged.map(\.blob) + unreadable).sorted() }

    /// - Parameter findings: all that is known of files that are not as they should be.
    func outcome(_ findings: [FileFinding]) -> DoctorReport.Outcome {
        var words = [counted(fileCount, "file"), "\(byteCount / 1_000_000) MB"]
        let awaitedCount = findings.count(where: \.isAwaited)
        if awaitedCount > 0 { words.append("\(awaitedCount) to be fetched again") }
        let missingCount = findings.count { $0.isMissing && !$0.isAwaited }
        guard !touched.isEmpty || missingCount > 0 else {
            return .fine(words.joined(separator: ", "))
        }
        if !damaged.isEmpty {
            let partCount = damaged.reduce(0) { $0 + $1.chunks.count }
            words.append(
                "\(counted(partCount, "part")) of \(counted(damaged.count, "file")) "
                    + (partCount == 1 ? "is damaged" : "are damaged"))
        }
        if !unreadable.isEmpty { words.append("\(unreadable.count) cannot be read") }
        if missingCount > 0 { words.append("\(missingCount) missing") }
        return .wrong(words.joined(separator: ", "))
    }
}

extension Node {
    /// Compares all sealed files with their hashes, and those that should be here with those that
    /// are. Of each that is not as it should be, a sentence tells who has it.
    func compareFiles() async -> (outcome: DoctorReport.Outcome, sentences: [String]) {
        do {
            let audit = try await depot.audit()
            let findings = try await running.read { try $0.findings(audit.touched) }
            return (audit.outcome(findings), FileFinding.sentences(findings))
        } catch {
            return (.wrong("cannot be read: \(words(of: error))"), [])
        }
    }

    /// Mends files where that takes nothing away that nobody else has, and wants again what it
    /// dropped and what is missing. Returns what it did, each a sentence.
    func mendFiles() async throws -> [String] {
        let audit = try await depot.audit()
        let findings = try await running.read { try $0.findings(audit.touched) }
        let mended = try await depot.mend(audit, findings)
        for finding in findings { await running.reread(finding.blob) }
        for message in (mended.dropped + mended.missing).compactMap(\.message) {
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
        if !mended.missing.isEmpty {
            sentences.append(
                "Missing files will be fetched again: \(FileFinding.names(mended.missing)).")
        }
        let done = Set((mended.whole + mended.dropped + mended.missing).map(\.blob))
        if findings.contains(where: { !$0.isMissing && !done.contains($0.blob) }) {
            sentences.append(
                "Nothing was removed of files that nobody else is known to have.")
        }
        return sentences
    }
}
