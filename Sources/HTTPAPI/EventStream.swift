internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Parley

/// Tells one client what changes, until it goes, its token ends, or the node stops.
///
/// The next change is read when the client has consumed most of the output: what it has not taken
/// is only in the node's log.
struct EventStream: Sendable {
    let desk: Desk
    let grant: TokenGrant
    let channel: any Channel
    /// After how many changes that are not for this token its position is sent.
    private static let skippedCountMax = 256

    /// Sends what follows this cursor; from now on if there is none.
    func run(
        after cursor: String?, _ head: RequestHead, _ writer: consuming ResponseWriter
    ) async throws {
        guard desk.gate.beginStream(of: grant.name) else {
            return try await desk.refuse(.tooManyStreams, head, writer)
        }
        defer { desk.gate.endStream(of: grant.name) }
        let changes: AsyncStream<ChangeView>
        let start: String
        do {
            // Sent first, so that a client that is disconnected before anything happens resumes
            // from here.
            start =
                if let cursor { cursor } else {
                    try await desk.node.perform(ReadChanges(limit: 1)).cursor
                }
            let seat = head.query?["seat"]
            if seat != nil { try grant.checkSeat() }
            changes = try await desk.node.changes(after: start, seat: seat)
        } catch {
            return try await desk.refuse(Refusal(error), head, writer)
        }
        let body = try await writer.writeHead(.answer(.ok, EventText.mediaType))
        try await tell(changes, from: start, body)
        // A stream has no end: a client that is still here comes back on another connection.
        throw Desk.Over()
    }

    private func tell(
        _ changes: AsyncStream<ChangeView>, from start: String, _ body: some ResponseBodyWriter
    ) async throws {
        var body = body
        try await body.write(ByteBuffer(string: EventText.opening + "id: \(start)\n\n"))
        let reader = ChangeReader(changes)
        let keeper = desk.keeper(of: grant)
        guard
            let watcher = keeper.whenEnded(
                grant,
                { [channel] in
                    reader.end()
                    channel.close(promise: nil)
                })
        else { return }
        defer { keeper.forget(watcher) }
        channel.closeFuture.whenComplete { _ in reader.end() }
        var skippedCount = 0
        // A session also ends by the time that passes, of which nobody tells.
        while let change = await reader.next(), keeper.isAlive(grant) {
            if grant.allows(change) {
                skippedCount = 0
                try await body.write(ByteBuffer(bytes: try EventText.bytes(change)))
                continue
            }
            skippedCount += 1
            // Omitted changes move the reader on all the same: it must not fall behind the log.
            if skippedCount % Self.skippedCountMax == 0, let cursor = change.cursor {
                try await body.write(ByteBuffer(string: "id: \(cursor)\n\n"))
            }
        }
    }
}
