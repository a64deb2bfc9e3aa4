internal import NIOCore
internal import Parley
internal import ParleyLocalAPI

/// Pages of changes, which are waited for where there is nothing yet: for who cannot read a stream.
extension Desk {
    /// The changes after a cursor, as far as the token may see them; nothing yet if none is named.
    func changes(
        _ head: RequestHead, _ grant: TokenGrant, _ channel: any Channel
    ) async throws -> Answer {
        let wait = try number("wait", in: head, 0...HTTPAPI.waitSecondsMax) ?? 0
        let limit = try number("limit", in: head, 1...ChangePage.changeCountMax) ?? 100
        let since = head.query?["since"] ?? head.lastEvent
        var page = try await requests.changes(after: since, limit: limit, holding: grant)
        if page.changes.isEmpty, page.isEnd, wait > 0 {
            guard gate.beginStream(of: grant.name) else { throw Refusal.tooManyStreams }
            defer { gate.endStream(of: grant.name) }
            try await awaitChange(after: page.cursor, wait, grant, channel)
            guard keeper(of: grant).isAlive(grant) else { throw Refusal.unauthorized }
            page = try await requests.changes(after: page.cursor, limit: limit, holding: grant)
        }
        return Answer(body: ByteBuffer(bytes: try EventText.json(page) + [0x0A]))
    }

    /// Waits until something is in the log that the token may hear of, so many seconds at most.
    private func awaitChange(
        after cursor: String, _ seconds: Int, _ grant: TokenGrant, _ channel: any Channel
    ) async throws {
        let reader = ChangeReader(try await node.changes(after: cursor))
        channel.closeFuture.whenComplete { _ in reader.end() }
        let watcher = keeper(of: grant).whenEnded(grant) { reader.end() }
        let timer = channel.eventLoop.scheduleTask(in: .seconds(Int64(seconds))) { reader.end() }
        while let change = await reader.next() {
            // Transient events are in no page: they have the cursor of what was reported before.
            if change.cursor != cursor, grant.allows(change) { break }
        }
        reader.end()
        timer.cancel()
        if let watcher { keeper(of: grant).forget(watcher) }
    }

    /// A number of the query; nil where it is not there.
    private func number(
        _ name: String, in head: RequestHead, _ range: ClosedRange<Int>
    ) throws(Refusal) -> Int? {
        guard let text = head.query?[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .badQuery(name, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
