import Parley

/// Shows something again whenever a node changes, and at least every few seconds: links and network
/// figures are not reported by changes.
struct StatusWatch {
    let node: any NodeService
    /// How long a figure may be old.
    static let pause: Duration = .seconds(2)

    /// Shows it until the person has enough, the reader leaves, or the node stops.
    func run(_ show: () async throws -> Void) async throws {
        let (wake, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let changes = try await node.changes()
        let listener = Task {
            for await _ in changes { continuation.yield() }
            continuation.finish()
        }
        let clock = Task {
            while !Task.isCancelled {
                // Cut short at the end.
                try? await Task.sleep(for: Self.pause)
                continuation.yield()
            }
        }
        World.current.output.whenReaderIsGone { continuation.finish() }
        let stop = Stop.watch { _ in continuation.finish() }
        defer {
            stop.cancel()
            listener.cancel()
            clock.cancel()
        }
        try await frame(show)
        for await _ in wake { try await frame(show) }
    }

    /// On a terminal each takes the place of the one before.
    private func frame(_ show: () async throws -> Void) async throws {
        let output = World.current.output
        if output.isTerminal { output.put("\u{1B}[H\u{1B}[2J\u{1B}[3J") }
        try await show()
    }
}
