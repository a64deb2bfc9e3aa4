internal import Logging
internal import NIOCore
internal import NIOPosix
public import Parley
internal import ParleySealing
internal import ParleyWire
internal import Synchronization

/// Tells webhooks what changes, each at its own pace, until it is stopped.
///
/// A refused event is tried again after ever longer times; after ``Patience/attemptCountMax`` it
/// becomes a dead letter, and the next one is sent. The position of each is kept in its book: after
/// a crash an event may be sent again, under the same cursor.
public final class WebhookCourier: Sendable {
    /// How long things may take. Tests have less patience.
    struct Patience: Sendable {
        /// For an answer.
        var answer = Duration.seconds(10)
        /// Before the second attempt; each further one waits twice as long.
        var first = Duration.seconds(1)
        /// The longest wait between two attempts.
        var most = Duration.seconds(60)
        /// Attempts of one event. With these times they take about five minutes.
        var attemptCountMax = 10
        /// How often positions are stored.
        var flush = Duration.seconds(1)
    }

    private let node: any NodeService
    private let book: WebhookBook
    private let patience: Patience
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let tasks = Mutex<[String: (webhook: Webhook, task: Task<Void, Never>)]>([:])
    private let keeper = Mutex<Task<Void, Never>?>(nil)
    private let isStopped = Mutex(false)
    /// Whether the book could not be read when it was last looked at.
    private let isUnread = Mutex(false)
    private let logger: Logger

    /// Begins to tell all webhooks of this node.
    public convenience init(node: any NodeService, book: WebhookBook) {
        self.init(node: node, book: book, patience: Patience())
    }

    init(
        node: any NodeService, book: WebhookBook, patience: Patience,
        logger: Logger = Logger(label: "parley")
    ) {
        (self.node, self.book, self.patience) = (node, book, patience)
        self.logger = logger
        book.watch { [weak self] in self?.adjust() }
        adjust()
        let keeping = Task { [weak self, book] in
            while !Task.isCancelled {
                // A sleep that is cut short is the end.
                try? await Task.sleep(for: patience.flush)
                // A full disk is reported elsewhere; sent events may then be sent again.
                try? book.flush()
                self?.adjustIfUnread()
            }
        }
        keeper.withLock { $0 = keeping }
    }

    /// Sends nothing more, and stores all positions.
    public func stop() async {
        isStopped.withLock { $0 = true }
        let ended = tasks.withLock { tasks in
            defer { tasks = [:] }
            return tasks.values.map(\.task)
        }
        let keeping = keeper.withLock { $0 }
        for task in ended + (keeping.map { [$0] } ?? []) { task.cancel() }
        for task in ended { await task.value }
        await keeping?.value
        // It fails only where it was shut down before.
        try? await group.shutdownGracefully()
    }

    /// Begins with those that are new, and ends those that are gone. Where the book cannot be read, those
    /// that are told go on, and it is read again.
    private func adjust() {
        let wanted: [Webhook]
        do {
            wanted = try book.all()
        } catch {
            let isNews = isUnread.withLock { isUnread in
                defer { isUnread = true }
                return !isUnread
            }
            if isNews {
                logger.error("the webhooks cannot be read", metadata: ["error": "\(error)"])
            }
            return
        }
        isUnread.withLock { $0 = false }
        guard !isStopped.withLock({ $0 }) else { return }
        tasks.withLock { tasks in
            for (name, entry) in tasks.sorted(by: { $0.key < $1.key })
            where !wanted.contains(where: { $0.name == name && $0.created == entry.webhook.created }
            ) {
                entry.task.cancel()
                tasks[name] = nil
            }
            for webhook in wanted where tasks[webhook.name] == nil {
                tasks[webhook.name] = (webhook, Task { await self.tell(webhook) })
            }
        }
    }

    private func adjustIfUnread() { if isUnread.withLock({ $0 }) { adjust() } }

    /// Tells one webhook what changes until nobody wants that any more. Changes end where the node could not
    /// read them, as when it may open no further file: then it goes on after what was told last.
    private func tell(_ webhook: Webhook) async {
        guard let target = WebhookTarget(webhook.address) else { return }
        var cursor = webhook.cursor
        var wait = patience.first
        while true {
            let told = await tell(webhook, at: target, after: cursor)
            guard !Task.isCancelled else { return }
            if told != cursor { wait = patience.first }
            cursor = told
            do { try await Task.sleep(for: wait) } catch { return }
            wait = min(wait * 2, patience.most)
        }
    }

    /// Tells changes as long as the node tells them. Returns after which of them one goes on.
    private func tell(
        _ webhook: Webhook, at target: WebhookTarget, after cursor: String
    ) async -> String {
        var told = cursor
        var reason = "the changes ended"
        do {
            for await change in try await node.changes(after: cursor) {
                guard !Task.isCancelled else { return told }
                // What may be forgotten is told to those who listen.
                guard let cursor = change.cursor, cursor != told else { continue }
                if webhook.conversation.map(change.isTold(in:)) ?? true {
                    guard await deliver(change, cursor, to: target, of: webhook) else {
                        return told
                    }
                } else {
                    // A file that cannot be written keeps less: then more is told again.
                    try? book.advance(webhook.name, to: cursor)
                }
                told = cursor
            }
        } catch {
            reason = "\(error)"
        }
        guard !Task.isCancelled else { return told }
        logger.warning(
            "a webhook is told no changes for now",
            metadata: ["webhook": "\(webhook.name)", "why": "\(reason)"])
        return told
    }

    /// Tells one change. Returns false once nobody is to be told any more.
    private func deliver(
        _ change: ChangeView, _ cursor: String, to target: WebhookTarget, of webhook: Webhook
    ) async -> Bool {
        // A view that cannot be written as JSON does not exist.
        guard let body = try? EventText.json(change) else { return true }
        var wait = patience.first
        var reason = ""
        for attempt in 1...patience.attemptCountMax {
            let time = wallClock()
            let request = target.request(
                body, cursor: cursor, attempt: attempt, time: time,
                secret: bytes(hex: webhook.secret) ?? [])
            let outcome = await WebhookCall.post(
                request, to: target, within: patience.answer, on: group)
            guard !Task.isCancelled else { return false }
            if case .answered(let status) = outcome, (200..<300).contains(status) {
                // As above.
                try? book.advance(webhook.name, to: cursor)
                return true
            }
            reason = outcome.reason
            guard attempt < patience.attemptCountMax else { break }
            do { try await Task.sleep(for: wait) } catch { return false }
            wait = min(wait * 2, patience.most)
        }
        let letter = DeadLetter(
            cursor: cursor, kind: change.kind, time: wallClock() * 1_000, reason: reason)
        // As above.
        try? book.giveUp(letter, of: webhook.name)
        return true
    }
}
