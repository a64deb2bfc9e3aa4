internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Parley
internal import ParleyWire

/// Files that come in: in one body, or in pieces that follow each other; then sealed by the node, and sent by
/// the ticket that the answer tells.
extension Desk {
    /// The progress of a file, as it is reported.
    private struct UploadView: Encodable {
        /// Its name here.
        var upload: String
        var size: UInt64
        var receivedByteCount: UInt64
        /// The node's answer once the file is complete: its ticket is what ``SendMessages`` takes.
        var file: StagedFile?
    }

    /// Bytes that are gathered before they are written.
    private static let partByteCount = 256 << 10
    private static let nameByteCountMax = 1_024

    /// Begins a file, continues one, reports its progress, or drops it.
    func upload(
        _ request: Request, _ head: RequestHead, _ grant: TokenGrant, _ channel: any Channel
    ) async throws -> Answer {
        guard grant.allows(.write) else {
            throw Refusal.forbidden(.beyondScope(.write, of: grant))
        }
        let query = head.query ?? [:]
        switch head.method {
        case .get:
            return try await answer(uploads.upload(query["id"] ?? "", of: grant))
        case .delete:
            let upload = try uploads.upload(query["id"] ?? "", of: grant)
            await uploads.drop(upload.id)
            return Answer(status: .noContent, body: ByteBuffer())
        default: return try await receive(request, head, grant, channel)
        }
    }

    private func answer(_ upload: UploadBook.Upload) async throws -> Answer {
        var view = UploadView(
            upload: upload.id, size: upload.about.size,
            receivedByteCount: upload.receivedByteCount)
        if let ticket = upload.ticket {
            view.file = try await node.perform(GetStagedFile(ticket: ticket))
        }
        return Answer(body: ByteBuffer(bytes: try EventText.json(view) + [0x0A]))
    }

    // MARK: A piece

    private func receive(
        _ request: Request, _ head: RequestHead, _ grant: TokenGrant, _ channel: any Channel
    ) async throws -> Answer {
        var upload = try beginOrTake(head, grant)
        // Whatever ends this, the next request continues where it ended.
        defer { uploads.note(upload.id) { $0.isTaken = false } }
        // It takes as long as it takes, as long as it progresses.
        channel.triggerUserOutboundEvent(ConnectionWatch.LongBody(), promise: nil)
        do {
            try await take(request.body, into: &upload, head)
            guard upload.isWhole else { return try await answer(upload) }
            if upload.ticket == nil { try await seal(&upload) }
            try await awaitSealing(upload, channel)
        } catch let refusal as Refusal where refusal == .tooLarge {
            await uploads.drop(upload.id)
            throw refusal
        } catch let error as NodeError {
            // What the node does not take it does not take the next time either.
            await uploads.drop(upload.id)
            throw error.code == "disk-full" ? Refusal(error) : Refusal.unusable(error)
        }
        return try await answer(upload)
    }

    private func beginOrTake(
        _ head: RequestHead, _ grant: TokenGrant
    ) throws -> UploadBook.Upload {
        let query = head.query ?? [:]
        guard let id = query["id"] else {
            guard query["offset"] == nil else {
                throw Refusal.badQuery("id", "there with “offset”")
            }
            return try uploads.begin(Self.description(query, head), for: grant)
        }
        guard Set(query.keys) == ["id", "offset"],
            let offset = query["offset"].flatMap({ UInt64($0) })
        else { throw Refusal.badQuery("offset", "a number from 0, with “id” alone") }
        return try uploads.take(id, of: grant, from: offset)
    }

    private static func description(
        _ query: [String: String], _ head: RequestHead
    ) throws -> UploadBook.Description {
        guard let name = query["name"], (1...nameByteCountMax).contains(name.utf8.count) else {
            throw Refusal.badQuery("name", "the name of the file, at most 1024 bytes")
        }
        let told = query["size"] ?? head.byteCount.map { "\($0)" }
        guard let size = told.flatMap({ UInt64($0) }) else {
            throw Refusal.badQuery("size", "how many bytes the file has")
        }
        guard size <= Limits.fileByteCountMax else { throw Refusal.tooLarge }
        var about = UploadBook.Description(name: name, size: size)
        if let text = query["room"] {
            guard let room = Int(text), room >= 0 else {
                throw Refusal.badQuery("room", "a number from 0")
            }
            about.room = room
        }
        about.isVoice = try FileStream.flag("voice", query)
        about.keepsMetadata = try FileStream.flag("keepsMetadata", query)
        return about
    }

    /// Writes the received bytes, in parts, and records the progress. More bytes than announced end
    /// it.
    private func take(
        _ body: RequestBody, into upload: inout UploadBook.Upload, _ head: RequestHead
    ) async throws {
        let size = upload.about.size
        func requireRoom(_ count: Int) throws {
            let left = size - upload.receivedByteCount
            guard count >= 0, UInt64(count) <= left else { throw Refusal.tooLarge }
        }
        try requireRoom(head.byteCount ?? 0)
        guard let file = upload.file else { return }
        var part = ByteBuffer()
        for try await piece in body {
            try requireRoom(part.readableBytes + piece.readableBytes)
            part.writeImmutableBuffer(piece)
            guard part.readableBytes >= Self.partByteCount else { continue }
            try await write(&part, to: file, of: &upload)
        }
        try await write(&part, to: file, of: &upload)
    }

    private func write(
        _ part: inout ByteBuffer, to file: IncomingFile, of upload: inout UploadBook.Upload
    ) async throws {
        guard part.readableBytes > 0 else { return }
        // The session may have ended while it came.
        guard keeper(of: upload.owner).isAlive(upload.owner) else { throw Refusal.unauthorized }
        try await file.write(Array(part.readableBytesView), at: upload.receivedByteCount)
        let count = upload.receivedByteCount + UInt64(part.readableBytes)
        upload.receivedByteCount = count
        uploads.note(upload.id) { $0.receivedByteCount = count }
        part.clear()
    }

    // MARK: The whole

    /// Passes it to the node, which opens it by itself: the received bytes are not needed here any
    /// more.
    private func seal(_ upload: inout UploadBook.Upload) async throws {
        guard let file = upload.file else { return }
        let about = upload.about
        let staged = try await node.perform(
            StageFile(
                path: file.path, name: about.name,
                keepsMetadata: about.keepsMetadata ? true : nil,
                isVoice: about.isVoice ? true : nil, room: about.room))
        (upload.ticket, upload.file) = (staged.ticket, nil)
        uploads.note(upload.id) { ($0.ticket, $0.file) = (staged.ticket, nil) }
    }

    /// Waits until it can be sent. A client that has hung up meanwhile asks again.
    private func awaitSealing(_ upload: UploadBook.Upload, _ channel: any Channel) async throws {
        guard let ticket = upload.ticket else { return }
        var pause = Duration.milliseconds(5)
        while channel.isActive {
            let file = try await node.perform(GetStagedFile(ticket: ticket))
            if let failure = file.failure { throw failure }
            if file.isReady { return }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(100))
        }
        throw Over()
    }
}
