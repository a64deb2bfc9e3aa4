import Foundation
import ParleyConversation
import ParleyFiles
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire
import Synchronization

/// Seals files that are to be sent, and opens those that came, away from the node's own thread.
final class FileDepot: Sendable {
    /// Files that wait to be sent, at most: unsent ones are dropped, the oldest first.
    static let stagedCountMax = 64

    /// A file on its way into a message.
    struct Staged {
        var view: StagedFile
        /// What its message says about it, once it is sealed.
        var attachment: Attachment?
    }

    private struct State {
        var staged: [String: Staged] = [:]
        var order: [String] = []
    }

    private let running: RunningNode
    private let folder: String
    private let queue = DispatchQueue(label: "parley.files", qos: .utility)
    /// Where programs look at files before they are sealed: others are opened and saved meanwhile.
    private let looking = DispatchQueue(label: "parley.media", qos: .utility)
    /// Where parts of files are read for those who show them, who wait for no file that is sealed.
    private let reading = DispatchQueue(
        label: "parley.files.read", qos: .utility, attributes: .concurrent)
    private let state = Mutex(State())

    init(running: RunningNode, folder: String) {
        self.running = running
        self.folder = folder
        // Files being sealed when the last process ended; nothing is sealed before this is done.
        queue.async { BlobFolder(folder).removeUnfinished() }
    }

    /// What is known about a file that is to be sent; nil if the ticket is unknown.
    func staged(_ ticket: String) -> Staged? { state.withLock { $0.staged[ticket] } }

    /// A file was sent, or is not to be.
    func drop(_ ticket: String) async {
        let gone = state.withLock { state in
            state.order.removeAll { $0 == ticket }
            return state.staged.removeValue(forKey: ticket)
        }
        if let blob = gone?.attachment?.blob { await running.unstage(blob) }
    }

    // MARK: Sealing

    /// Begins to seal a file of this machine.
    ///
    /// - Parameters:
    ///   - source: the file, opened.
    ///   - name: its name.
    func stage(
        _ source: FileSource, called name: String, type: String?, _ wish: FileWish = FileWish()
    ) async throws -> StagedFile {
        var random = SystemRandom()
        let ticket = hex((0..<8).map { _ in UInt8.random(in: 0...255, using: &random) })
        let shown = FileName.harmless(name)
        let view = StagedFile(
            ticket: ticket, name: shown, size: source.byteCount, sealedByteCount: 0,
            isReady: false, hasPreview: false)
        let displaced = state.withLock { state in
            state.staged[ticket] = Staged(view: view)
            state.order.append(ticket)
            return state.order.count > Self.stagedCountMax ? state.order.first : nil
        }
        if let displaced { await drop(displaced) }
        let key = (0..<FileSeal.keyByteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
        let nonce = random.next()
        looking.async {
            let looked = Result { try OutgoingFile(source, called: shown, wish) }
            self.queue.async {
                let result = Result {
                    let file = try looked.get()
                    let sealed = try self.seal(file, ticket, key: key, named: nonce)
                    try source.requireUnchanged()
                    return (file, sealed)
                }
                Task { await self.finish(ticket, shown, type, result) }
            }
        }
        return view
    }

    private enum Sealed {
        case inline([UInt8])
        case blob(BlobWriter.Finished)
    }

    private func seal(
        _ file: OutgoingFile, _ ticket: String, key: [UInt8], named name: UInt64
    ) throws -> Sealed {
        var content = file.content
        if file.isInline {
            return .inline(try content.next(Int(content.byteCount)))
        }
        guard let size = BlobSize(exactly: content.byteCount), let shape = BlobShape(size)
        else { throw NodeError.fileTooLarge }
        state.withLock { $0.staged[ticket]?.view.size = content.byteCount }
        let writer = try Node.explaining {
            try BlobWriter(into: folder, named: name, shape, key: key)
        }
        var done = 0
        while writer.nextByteCount > 0 {
            let bytes = try content.next(writer.nextByteCount)
            try Node.explaining { try writer.add(bytes) }
            done += bytes.count
            let isWanted = state.withLock { state in
                state.staged[ticket]?.view.sealedByteCount = UInt64(done)
                return state.staged[ticket] != nil
            }
            guard isWanted else {
                throw NodeError(
                    "stopped",
                    "That file is not waiting to be sent.")
            }
        }
        return .blob(try Node.explaining { try writer.finish() })
    }

    private func finish(
        _ ticket: String, _ name: String, _ type: String?,
        _ result: Result<(OutgoingFile, Sealed), any Error>
    ) async {
        do {
            let (file, sealed) = try result.get()
            let name = file.look.isVoice ? FileName.ending(name, in: "opus") : name
            var attachment = Attachment(
                name: name, size: 0, type: type ?? file.type, content: .inline([]), look: file.look)
            switch sealed {
            case .inline(let bytes):
                attachment.content = .inline(bytes)
                attachment.size = BlobSize(clamping: UInt64(bytes.count))
            case .blob(let finished):
                let (blob, key) = try await running.take(sealedAsBefore(finished))
                attachment.content = .blob(blob, key: key)
                attachment.size = finished.shape.size
            }
            let isWanted = state.withLock { state in
                state.staged[ticket]?.attachment = attachment
                state.staged[ticket]?.view.size = attachment.size.value
                state.staged[ticket]?.view.sealedByteCount = attachment.size.value
                state.staged[ticket]?.view.hasPreview = !file.look.preview.isEmpty
                state.staged[ticket]?.view.note = file.note
                state.staged[ticket]?.view.isReady = true
                return state.staged[ticket] != nil
            }
            if !isWanted, let blob = attachment.blob { await running.unstage(blob) }
        } catch {
            let failure = error as? NodeError ?? NodeError("file", "\(error)")
            state.withLock { $0.staged[ticket]?.view.failure = failure }
        }
    }

    /// A file whose sealed form is no longer here gets the same one: every message that names it has
    /// it again.
    private func sealedAsBefore(
        _ finished: BlobWriter.Finished
    ) async throws -> BlobWriter.Finished {
        guard let lost = try await running.lostFile(finished.content) else { return finished }
        var random = SystemRandom()
        let nonce = random.next()
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        try Node.explaining {
                            try finished.sealed(with: lost.key, into: self.folder, named: nonce)
                        }
                    })
            }
        }
    }

    // MARK: Looking after what is here

    /// Looks at all sealed files.
    func audit() async throws -> FileAudit {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result { try FileAudit(of: BlobFolder(self.folder)) })
            }
        }
    }

    /// As ``FileAudit/mend(_:in:)``.
    func mend(
        _ audit: FileAudit, _ findings: [FileFinding]
    ) async throws -> FileAudit.Mended {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result { try audit.mend(findings, in: BlobFolder(self.folder)) })
            }
        }
    }

    // MARK: Opening

    /// Writes a file that is here into one of this machine, which must not exist.
    func save(_ attachment: Attachment, to path: String) async throws -> SavedFile {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        let target = try FileTarget(path)
                        try self.open(attachment) { try target.write($0) }
                        return try target.finish()
                    })
            }
        }
    }

    /// Some bytes of a file that is here.
    func bytes(
        of attachment: Attachment, from offset: Int, count: Int
    ) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            reading.async {
                continuation.resume(
                    with: Result { try self.read(attachment, offset, count) })
            }
        }
    }

    private func read(_ attachment: Attachment, _ offset: Int, _ count: Int) throws -> [UInt8] {
        let end = min(Int(attachment.size.value), offset + min(count, FileBytes.countMax))
        guard offset < end else { return [] }
        if case .inline(let bytes) = attachment.content { return Array(bytes[offset..<end]) }
        let reader = try BlobReader(attachment, in: folder)
        var bytes: [UInt8] = []
        let size = Limits.plainChunkByteCount
        for chunk in offset / size...(end - 1) / size {
            let plain = try reader.chunk(chunk)
            let start = chunk * size
            bytes += plain[max(0, offset - start)..<min(plain.count, end - start)]
        }
        return bytes
    }

    private func open(_ attachment: Attachment, _ body: ([UInt8]) throws -> Void) throws {
        if case .inline(let bytes) = attachment.content { return try body(bytes) }
        let reader = try BlobReader(attachment, in: folder)
        for chunk in 0..<reader.chunkCount { try body(reader.chunk(chunk)) }
    }
}

/// Opens the chunks of a sealed file, on any thread: a complete file does not change.
private struct BlobReader {
    private let folder: BlobFolder
    private let seal: FileSeal
    private let blob: BlobID

    init(_ attachment: Attachment, in folder: String) throws {
        guard case .blob(let blob, let key) = attachment.content,
            let shape = BlobShape(attachment.size), let seal = FileSeal(key: key, shape: shape)
        else { throw NodeError.fileBroken }
        self.folder = BlobFolder(folder)
        (self.seal, self.blob) = (seal, blob)
        let held = try Node.explaining { try self.folder.heldBlob(blob) }
        guard held?.chunks.isWhole == true, held?.shape == shape else { throw NodeError.fileAbsent }
    }

    var chunkCount: Int { seal.shape.chunkCount }

    func chunk(_ number: Int) throws -> [UInt8] {
        let index = ChunkIndex(clamping: UInt64(number))
        let sealed = try Node.explaining { try folder.soundChunk(index, of: blob) }
        guard let sealed else { throw NodeError.fileDamaged }
        guard let plain = seal.open(sealed, as: index) else { throw NodeError.fileBroken }
        return plain
    }
}
