import Logging
import Synchronization
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySearch
import ParleyStorage
import ParleyWords

/// Follows the log at its own pace: words and vectors of new messages, and of those that arrived
/// while it was not running. It blocks nothing: texts are read and rows are written in short turns
/// of the node's actor, and all work between is done by one thread of the lowest priority.
actor SearchIndexer {
    /// Operations of one turn, and of one while the node has other things to do.
    private static let turnCount = 128, busyTurnCount = 32

    private nonisolated let executor = ThreadExecutor(label: "parley.search")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let running: RunningNode
    /// Models in memory.
    let shelf: ModelShelf
    /// Models that this thread works with.
    var workers: [ModelPackage: any TextEmbedder] = [:]
    private var broken: Set<ModelPackage> = []
    /// How often those were used, and what waits until they are used no more.
    private var useCount = 0
    private var rest: Task<Void, Never>?
    private let logger: Logger
    private nonisolated let task = Mutex<Task<Void, Never>?>(nil)
    /// Operations that got a vector out of turn: readers that already loaded the vectors lack them.
    private nonisolated let late = Mutex<[ModelPackage: [Int64]]>([:])
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init(running: RunningNode, shelf: ModelShelf, logger: Logger) {
        self.running = running
        self.shelf = shelf
        self.logger = logger
        (wake, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Begins to follow, once however often it is asked to.
    func start() async {
        guard await running.bar == nil else { return }
        let (running, waker) = (running, waker)
        task.withLock { task in
            // Nothing is waited for between the look and the note.
            guard task == nil else { return }
            task = Task { [weak self, wake] in
                let listener = await running.listen { _, _ in waker.yield() }
                waker.yield()
                for await _ in wake {
                    guard let self, !Task.isCancelled else { break }
                    await self.work()
                }
                await running.unlisten(listener)
            }
        }
    }

    /// Whether it follows by itself.
    nonisolated var isFollowing: Bool { task.withLock { $0 != nil } }

    /// Notes operations that got a vector out of turn, where somebody wants to know.
    nonisolated func noteLate(_ operations: [Int64], _ package: ModelPackage) {
        late.withLock { $0[package]? += operations }
    }

    /// Operations that got a vector out of turn since this was first or last asked.
    nonisolated func takeLate(_ package: ModelPackage) -> [Int64] {
        late.withLock { late in
            defer { late[package] = [] }
            return late[package] ?? []
        }
    }

    /// There is something to do.
    nonisolated func poke() { waker.yield() }

    /// Ends. Nobody waits for the current turn, which a busy machine may delay for long: its
    /// results are refused by a node that is shut down.
    nonisolated func stop() {
        waker.finish()
        task.withLock { $0?.cancel() }
        executor.end()
    }

    /// Does what there is to do.
    private func work() async {
        do {
            try await Self.followWords(running)
            try await purge()
            try await followMeaning()
        } catch  where Task.isCancelled {
            // The node is going down; the rest is done when it is up again.
        } catch {
            logger.warning("indexing failed", metadata: ["error": "\(error)"])
        }
    }

    /// Indexes words until nothing is left, or until the time is over.
    ///
    /// - Returns: whether nothing is left.
    ///
    /// A search does it as well, on its own thread: duplicate work is stored once. Between the
    /// turns of the node's actor it runs where it is called.
    @discardableResult
    static func followWords(
        _ running: RunningNode, atMost limit: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        let start = ContinuousClock.now
        while !Task.isCancelled {
            let count = running.isBusy ? Self.busyTurnCount : Self.turnCount
            let (state, pending) = try await running.read { views in
                (try views.store.wordIndexState(), try views.store.pendingTexts(limit: count))
            }
            if state.isOff { return true }
            if await running.bar != nil {
                return state.isCurrent && pending.isEmpty(after: state.through)
            }
            if !state.isCurrent {
                try await running.transact { store throws(StoreError) in
                    try store.resetWordIndex(isOff: false)
                }
                continue
            }
            guard !pending.isEmpty(after: state.through) else { return true }
            let terms = pending.texts.map { Terms.ofText($0.text.text, author: $0.text.author) }
            try await running.transact { store throws(StoreError) in
                try store.index(pending, terms: terms)
            }
            if let limit, ContinuousClock.now - start > limit { return false }
        }
        throw CancellationError()
    }

    /// Says once that a model cannot be used.
    func noteBroken(_ package: ModelPackage, _ error: ModelError) {
        guard broken.insert(package).inserted else { return }
        logger.warning(
            "a model cannot be used",
            metadata: ["model": "\(package.rawValue)", "error": "\(error)"])
    }

    /// Drops the models: nobody needs them now.
    func letGo() {
        workers = [:]
        late.withLock { $0 = [:] }
        shelf.letGo()
    }

    /// Models that this thread has in memory.
    var workerCount: Int { workers.count }

    /// Models are in use: they are dropped some idle minutes later.
    func noteUse() {
        useCount += 1
        guard rest == nil else { return }
        rest = Task { [weak self] in
            var before: Int?
            repeat {
                before = await self?.useCount
                // Cancelled only with the process: then there is nothing to drop.
                try? await Task.sleep(for: .seconds(SearchDesk.idleSeconds))
            } while await self?.isInUse(since: before ?? 0) == true
        }
    }

    /// Whether models were used meanwhile. If they were not, this thread drops them; a running
    /// search keeps what it has.
    private func isInUse(since before: Int) -> Bool {
        guard useCount == before else { return true }
        workers = [:]
        shelf.letGo()
        rest = nil
        return false
    }

    /// Removes erased data from the files of the index as well.
    private func purge() async throws {
        guard try await running.read({ try $0.store.wordIndexState().needsPurge }) else { return }
        while !Task.isCancelled {
            let isDone = try await running.transact { store throws(StoreError) in
                try store.purgeWordIndex()
            }
            if isDone { break }
        }
        // Old pages lie in the log of changes until it is emptied; a reader can prevent that, and
        // then the next emptying does it.
        try await running.write { store in _ = try store.checkpoint() }
    }
}

extension RunningNode {
    /// Writes what is not part of a step, in one transaction that a crash may lose: it can be
    /// computed again.
    func transact<R: Sendable>(
        _ body: @Sendable (SQLiteStore) throws(StoreError) -> R
    ) throws -> R {
        try write { store in
            try store.begin(.normal)
            do {
                let result = try body(store)
                try store.commit()
                return result
            } catch {
                store.rollback()
                throw error
            }
        }
    }
}
