import Parley

/// A short wait of a command for what a node is about to learn.
enum Moment {
    /// As long as two who reach each other need, and a command may keep a person waiting.
    private static let patience = Duration.seconds(2)

    /// What a node says once that is as it is awaited, or as it is after a moment.
    ///
    /// - Parameter changes: asked for before whatever leads there was.
    static func look<T: Sendable>(
        following changes: AsyncStream<ChangeView>, until isDone: @escaping @Sendable (T) -> Bool,
        _ look: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        let first = try await withThrowingTaskGroup(of: T?.self) { group in
            group.addTask {
                var found = try await look()
                var iterator = changes.makeAsyncIterator()
                while !isDone(found), await iterator.next() != nil { found = try await look() }
                return found
            }
            group.addTask {
                // Ends early where the other is done first.
                try? await Task.sleep(for: patience)
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            return first
        }
        guard let first else { return try await look() }
        return first
    }
}
