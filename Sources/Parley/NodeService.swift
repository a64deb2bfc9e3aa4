/// A node that answers requests and tells what changes.
///
/// The running node, and the local socket to one, are both: a command need not know whether a node
/// runs. What can be asked is declared in ``NodeRequests``.
public protocol NodeService: Sendable {
    /// Answers a request.
    ///
    /// - Throws: ``NodeError``.
    @discardableResult
    func perform<R: NodeRequest>(_ request: R) async throws -> R.Reply
    /// Changes after a cursor, as fast as they are taken, and then as they come; from now on where it
    /// is nil.
    ///
    /// - Parameters:
    ///   - cursor: what the last change that was read had; nil to begin now.
    ///   - seat: a name drawn by the reader, under which it handles the media of calls as long as the
    ///     stream lasts; nil for a reader that does not.
    func changes(after cursor: String?, seat: String?) async throws -> AsyncStream<ChangeView>
}

extension NodeService {
    /// Changes after a cursor, for a reader without a part in calls.
    public func changes(after cursor: String?) async throws -> AsyncStream<ChangeView> {
        try await changes(after: cursor, seat: nil)
    }

    /// Changes from now on.
    public func changes() async throws -> AsyncStream<ChangeView> { try await changes(after: nil) }
}
