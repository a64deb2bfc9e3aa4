internal import Foundation
internal import Parley
internal import ParleyTransport
internal import Synchronization

/// One program at the socket. Its requests are answered one after the other, in their order.
///
/// Lines wait in a queue of at most ``LocalAPI/waitingLineCountMax``; when it is full, no more is
/// read until half of it is answered, so a flooding program is slowed down.
final class ServerConnection: ConnectionHandler {
    fileprivate struct State {
        var framer = LineFramer()
        var connection: Connection?
        var waitingCount = 0
        var isPaused = false
        /// Changes that are asked for and begin once the asker has its answer.
        var changes: AsyncStream<ChangeView>?
        var worker: Task<Void, Never>?
        var follower: Task<Void, Never>?
        /// Writers that wait until the peer has consumed the output.
        var writer: CheckedContinuation<Void, Never>?
        var isClosed = false
    }

    private let node: any NodeService
    private let state = Mutex(State())
    private let lines: AsyncStream<[UInt8]>
    private let queue: AsyncStream<[UInt8]>.Continuation

    init(node: any NodeService) {
        self.node = node
        (lines, queue) = AsyncStream.makeStream(of: [UInt8].self)
    }

    func opened(_ connection: Connection) {
        let worker = Task { await self.work(connection) }
        state.withLock {
            $0.connection = connection
            $0.worker = worker
        }
    }

    func received(_ bytes: [UInt8]) {
        do {
            let added = try state.withLock { state in
                let added = try state.framer.add(bytes)
                state.waitingCount += added.count
                // Within the lock, so that it cannot overtake the order to read on.
                if state.waitingCount > LocalAPI.waitingLineCountMax, !state.isPaused {
                    state.isPaused = true
                    state.connection?.pauseReading()
                }
                return added
            }
            for line in added { queue.yield(line) }
        } catch {
            refuse()
        }
    }

    func becameWritable() { state.withLock { $0.takeWriter() }?.resume() }

    func closed(_ reason: CloseReason) {
        queue.finish()
        let (tasks, writer) = state.withLock { state in
            defer { (state.worker, state.follower, state.connection) = (nil, nil, nil) }
            state.isClosed = true
            return ([state.worker, state.follower], state.takeWriter())
        }
        for task in tasks { task?.cancel() }
        writer?.resume()
    }

    /// What follows an overlong line is no line: report it and hang up.
    private func refuse() {
        let connection = state.withLock { $0.connection }
        let failure = Failure.invalidRequest(
            "a line can have at most \(LocalAPI.lineByteCountMax) bytes")
        // Encoding three texts cannot fail; without them the hanging up says it all.
        if let bytes = try? line(Answer(id: .none, error: failure)) {
            connection?.send(bytes)
        }
        queue.finish()
        connection?.close()
    }

    private func work(_ connection: Connection) async {
        for await line in lines {
            if let answer = await answer(line) { connection.send(answer) }
            state.withLock { state in
                if let changes = state.changes, !state.isClosed {
                    state.changes = nil
                    state.follower = Task { await self.tell(changes, connection) }
                }
                state.waitingCount -= 1
                if state.isPaused, state.waitingCount <= LocalAPI.waitingLineCountMax / 2 {
                    state.isPaused = false
                    connection.resumeReading()
                }
            }
        }
    }

    /// The line that answers this one; nil where none was asked for.
    private func answer(_ bytes: [UInt8]) async -> [UInt8]? {
        var id = RequestID.none
        do {
            let request = try Request(bytes: bytes)
            id = request.id ?? .none
            let result = try await perform(request)
            guard request.id != nil else { return nil }
            let answer = try line(Answer(id: id, result: AnyResult(value: result)))
            guard answer.count <= LocalAPI.lineByteCountMax else { throw Failure.answerTooLarge }
            return answer
        } catch {
            // Encoding numbers and texts cannot fail.
            return try? line(Answer(id: id, error: Failure(error)))
        }
    }

    private func perform(_ request: Request) async throws -> any Encodable & Sendable {
        guard request.method == "follow" else {
            return try await Method.named(request.method).answer(request.arguments, from: node)
        }
        try Method.check(request.arguments, allowed: ["after", "seat"], method: request.method)
        guard state.withLock({ $0.follower == nil && $0.changes == nil }) else {
            throw Failure.invalidRequest("this connection already follows changes")
        }
        let given = try request.arguments.decode(FollowParameters.self)
        let after =
            if let after = given.after { after } else {
                try await node.perform(ReadChanges(limit: 1)).cursor
            }
        let changes = try await node.changes(after: after, seat: given.seat)
        state.withLock { $0.changes = changes }
        return FollowAnswer(cursor: after)
    }

    /// Sends changes until there are none, or nobody takes them. The next one is read when the peer
    /// has consumed most of the output: a slow one delays only itself.
    private func tell(_ changes: AsyncStream<ChangeView>, _ connection: Connection) async {
        for await change in changes {
            // A view that cannot be written as JSON does not exist: it was made to be.
            guard let bytes = try? line(Notification(method: "change", params: change)) else {
                continue
            }
            guard connection.send(bytes) else { return }
            await writable(connection)
        }
        connection.close()
    }

    private func writable(_ connection: Connection) async {
        guard !connection.isWritable else { return }
        await withCheckedContinuation { continuation in
            state.withLock { $0.writer = continuation }
            // It may have become so, or have ended, before anybody waited.
            let isOver = connection.isWritable || state.withLock { $0.isClosed }
            if isOver { becameWritable() }
        }
    }
}

extension ServerConnection.State {
    fileprivate mutating func takeWriter() -> CheckedContinuation<Void, Never>? {
        defer { writer = nil }
        return writer
    }
}
