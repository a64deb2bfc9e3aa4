import ParleyLedger
import ParleyNodeCore

extension Node: NodeService {
    /// Answers a request.
    @discardableResult
    public func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply {
        try await request.perform(on: self)
    }

    /// Changes after a cursor, and then as they come; from now on if there is none. Each is read
    /// from the log when it is requested.
    public func changes(
        after cursor: String?, seat: String?
    ) async throws -> AsyncStream<ChangeView> {
        let given = try cursor.map { try EventCursor(text: $0) }
        let begin =
            if let given { given } else { try await read { try EventLog.end(in: $0.store) } }
        let running = running
        let feed = ChangeFeed(of: running, after: begin, isKnown: given == nil)
        let id = await running.listen { [weak feed] changes, linksChanged in
            guard let feed else { return }
            // Called in the node's actor right after the commit, so this reads what was shown.
            running.assumeIsolated { node in
                // A node that is shutting down shows nothing more.
                let passing = try? node.read { views in try changes.compactMap(views.passing) }
                for change in passing ?? [] { feed.add(change) }
            }
            if linksChanged { feed.add(ChangeView(kind: "link")) }
            feed.wake()
        }
        // Said at once: a feed that comes to nothing ends as well.
        feed.whenDone { Task { await running.unlisten(id) } }
        let (media, call) = (media, media.listen { [weak feed] in feed?.add($0) })
        feed.whenDone { media.unlisten(call) }
        if let seat {
            let taken = try media.openSeat(seat) { [weak feed] in feed?.order($0) ?? false }
            feed.whenDone { [media] in media.closeSeat(taken) }
        }
        let (watch, work) = (watch, watch.listen { [weak feed] in feed?.add($0) })
        feed.whenDone { watch.unlisten(work) }
        return AsyncStream {
            await feed.next()
        } onCancel: { [weak feed] in
            feed?.end()
        }
    }
}

extension Node {
    /// Reads from the store; its errors are turned into messages for a person.
    func read<R: Sendable>(_ body: @Sendable (Views) throws -> R) async throws -> R {
        do {
            let mistaken = network.mistakenRelays
            return try await running.read {
                var views = $0
                views.mistakenRelays = mistaken
                return try body(views)
            }
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }
}
