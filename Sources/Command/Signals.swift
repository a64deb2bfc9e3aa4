import Dispatch
import Foundation
import Synchronization

/// The wish of a person or of the system that this process end.
enum Stop {
    /// Yields once for each SIGINT or SIGTERM, which from now on do nothing else.
    ///
    /// - Parameter watchesInput: whether the end of the standard input counts as well: who started
    ///   this process holds the other end, and is gone.
    static func signals(watchesInput: Bool = false) -> AsyncStream<Void> {
        AsyncStream { continuation in
            let owner = watch { _ in continuation.yield() }
            continuation.onTermination = { _ in owner.cancel() }
            guard watchesInput else { return }
            Thread.detachNewThread {
                while readLine() != nil {}
                continuation.yield()
            }
        }
    }

    /// Yields once for each SIGHUP, which from now on does nothing else: a request to reload the
    /// settings.
    static func reloads() -> AsyncStream<Void> {
        AsyncStream { continuation in
            let owner = watch([SIGHUP]) { _ in continuation.yield() }
            continuation.onTermination = { _ in owner.cancel() }
        }
    }

    /// Calls back at each SIGINT or SIGTERM that arrives after this returns; they do nothing else from
    /// then on. On a queue of its own: where all threads of tasks are busy, it does not wait for one.
    static func watch(
        _ numbers: [Int32] = [SIGINT, SIGTERM], _ body: @escaping @Sendable (Int32) -> Void
    ) -> SignalSources {
        let queue = DispatchQueue(label: "signals")
        return SignalSources(
            numbers.map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                source.setEventHandler { body(number) }
                // A source is registered some time after it was resumed, and a signal that comes in
                // between and is ignored is lost.
                let registered = DispatchSemaphore(value: 0)
                source.setRegistrationHandler { registered.signal() }
                source.resume()
                registered.wait()
                return source
            })
    }

    /// Runs the body; the first signal cancels it, the second ends the process at once.
    static func cancelling<R: Sendable>(
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        let work = Task { try await body() }
        let watch = Task {
            var count = 0
            for await _ in signals() {
                count += 1
                if count > 1 { exit(ExitStatus.interrupted.number) }
                work.cancel()
            }
        }
        defer { watch.cancel() }
        return try await work.value
    }
}

/// Notes the first SIGINT or SIGTERM, for work in steps that ends between two of them; the second says
/// what became of it, and ends the process at once.
final class StopWish: Sendable {
    private let count = Atomic<Int>(0)
    private let sources = Mutex<SignalSources?>(nil)

    init(lastWords: String) {
        let world = World.current
        let watched = Stop.watch { [weak self] _ in
            guard let count = self?.count.add(1, ordering: .relaxed).newValue, count > 1 else {
                return
            }
            world.say(lastWords)
            exit(ExitStatus.interrupted.number)
        }
        sources.withLock { $0 = watched }
    }

    /// Whether this is to end.
    var isThere: Bool { count.load(ordering: .relaxed) > 0 }

    /// Listens no more.
    func cancel() { sources.withLock { $0?.cancel() } }
}

/// Keeps the sources alive until they are cancelled.
///
/// Sound to send: sources are thread-safe objects of the system's library.
final class SignalSources: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]
    fileprivate init(_ sources: [any DispatchSourceSignal]) { self.sources = sources }
    func cancel() { for source in sources { source.cancel() } }
}
