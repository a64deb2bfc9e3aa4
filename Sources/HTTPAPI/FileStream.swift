internal import Foundation
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Parley
internal import ParleyWire

/// Serves a file of a message, or a part of it, while it is read: nothing is read before the client
/// has consumed the previous bytes.
///
/// It is read with the same requests that programs make, so that a token or a session gets what it
/// could read by these, and nothing else.
struct FileStream: Sendable {
    let desk: Desk
    let grant: TokenGrant
    let channel: any Channel
    /// Bytes that are read at once: chunks of a sealed file, so that each is opened once.
    private static let partByteCount = 4 * Limits.plainChunkByteCount
    /// What that takes in memory, in its forms, of what ``Gate`` gives out.
    private static let roomByteCount = 4 * partByteCount

    /// The request.
    private struct Wish {
        let message: MessageReference
        let number: Int?
        let isPreview: Bool
        let isSaved: Bool
    }

    /// What there is to give.
    private enum Found {
        /// All of it.
        case answer(Desk.Answer)
        /// A head, and the bytes that follow it.
        case file(Wish, HTTPResponse, Range<UInt64>)
    }

    /// Answers.
    func run(_ head: RequestHead, _ writer: consuming ResponseWriter) async throws {
        guard desk.gate.takeRoom(Self.roomByteCount, for: grant.digest) else {
            return try await desk.refuse(.busy, head, writer)
        }
        defer { desk.gate.giveRoom(Self.roomByteCount, of: grant.digest) }
        let found: Found
        do {
            found = try await find(Self.wish(head), head)
        } catch {
            return try await desk.refuse(Refusal(error), head, writer)
        }
        switch found {
        case .answer(let answer): try await desk.write(answer, writer)
        case .file(let wish, let response, let range):
            let body = try await writer.writeHead(response)
            try await give(range, of: wish, body)
        }
    }

    private static func wish(_ head: RequestHead) throws(Refusal) -> Wish {
        let query = head.query ?? [:]
        let message = query["message"].map { MessageReference($0) }
        guard let message, message.isWellFormed else {
            throw .badQuery("message", "a message's number or identifier")
        }
        let number = query["number"].flatMap { Int($0) }
        guard query["number"] == nil || number != nil else {
            throw .badQuery("number", "a number from 1")
        }
        return try Wish(
            message: message, number: number, isPreview: flag("preview", query),
            // A browser that opens it in a whole window is shown nothing.
            isSaved: flag("save", query) || head.isNavigation)
    }

    static func flag(_ name: String, _ query: [String: String]) throws(Refusal) -> Bool {
        guard let text = query[name] else { return false }
        guard text == "1" else { throw .badQuery(name, "1, or left out") }
        return true
    }

    /// The small picture, in one piece: it is in its message.
    private func preview(_ wish: Wish) async throws -> Found {
        let preview = try await ask(ReadPreview(message: wish.message, number: wish.number))
        let bytes = Data(base64Encoded: preview.base64) ?? Data()
        return .answer(
            Desk.Answer(
                mediaType: preview.type, body: ByteBuffer(bytes: bytes),
                fields: FileForm.fields(preview.type, called: "preview", isSaved: wish.isSaved)))
    }

    private func find(_ wish: Wish, _ head: RequestHead) async throws -> Found {
        if wish.isPreview { return try await preview(wish) }
        let files = try await ask(ListMessageFiles(message: wish.message))
        // The next request says which one it is, if none was named, and that it exists.
        let start = try await read(0, FileKind.startByteCount, of: wish)
        guard let file = files.first(where: { $0.number == wish.number ?? 1 }) else {
            throw Refusal.unknownPath
        }
        let type = FileKind.type(of: Array(start.bytes))
        var response = HTTPResponse(
            status: .ok,
            headerFields: FileForm.fields(type, called: file.name, isSaved: wish.isSaved))
        response.headerFields[.acceptRanges] = "bytes"
        let tag = file.blob.map { "\"\($0)\"" }
        response.headerFields[.eTag] = tag
        // A part of another file than the one begun does not belong to it.
        let isSame = head.rangeCondition == nil || head.rangeCondition == tag
        var range = 0..<start.size
        switch ByteRange(isSame ? head.range : nil, of: start.size) {
        case .whole: break
        case .part(let part):
            range = part
            response.status = .partialContent
            response.headerFields[.contentRange] =
                "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(start.size)"
        case .beyond: throw Refusal.beyondEnd(start.size)
        }
        response.headerFields[.contentLength] = "\(range.count)"
        return .file(wish, response, range)
    }

    /// Reads and writes, part by part. If that fails, the connection is closed: the client sees
    /// that it is incomplete.
    private func give(
        _ range: Range<UInt64>, of wish: Wish, _ body: some ResponseBodyWriter
    ) async throws {
        var body = body
        let keeper = desk.keeper(of: grant)
        let watcher = keeper.whenEnded(grant) { [channel] in channel.close(promise: nil) }
        defer { if let watcher { keeper.forget(watcher) } }
        var place = range.lowerBound
        while place < range.upperBound {
            // A session also ends by the time that passes, of which nobody tells.
            guard keeper.isAlive(grant) else { throw Desk.Over() }
            let edge = UInt64(Self.partByteCount)
            let count = min(range.upperBound - place, edge - place % edge)
            let part = try await read(Int(place), Int(count), of: wish)
            guard part.bytes.count == Int(count) else { throw Desk.Over() }
            try await body.write(ByteBuffer(bytes: part.bytes))
            place += count
        }
        try await body.finish(nil)
    }

    private func read(
        _ place: Int, _ count: Int, of wish: Wish
    ) async throws -> (bytes: Data, size: UInt64) {
        let part = try await ask(
            ReadFile(message: wish.message, number: wish.number, offset: place, count: count))
        return (Data(base64Encoded: part.base64) ?? Data(), part.size)
    }

    /// Calls the node with this grant.
    private func ask<R: NodeRequest>(_ request: R) async throws -> R.Reply {
        try await desk.node.perform(grant.admit(request, on: desk.node))
    }
}
