@testable import Parley
import Testing

@Suite("A thread of the lowest priority")
struct ThreadExecutorTests {
    private actor Worker {
        nonisolated let executor = ThreadExecutor(label: "parley.test")
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }
        private var count = 0

        func work() -> Int {
            count += 1
            return count
        }
    }

    /// A process that ends while it is there takes seconds for it on a busy machine. Left alone it
    /// waits ten seconds for more to do.
    @Test("ends at once where it is told to, and comes back for what is still asked of it")
    func ends() async throws {
        let worker = Worker()
        #expect(await worker.work() == 1)
        worker.executor.end()
        try await Self.isGone(worker.executor)
        #expect(await worker.work() == 2)
        try await Self.isGone(worker.executor)
    }

    private static func isGone(_ executor: ThreadExecutor) async throws {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(8)
        while executor.isRunning {
            try #require(clock.now < deadline)
            await Task.yield()
        }
    }
}
