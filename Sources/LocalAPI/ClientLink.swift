internal import Foundation
internal import Parley
internal import ParleyTransport
internal import Synchronization

/// The client's side of one connection: which answer belongs to which question.
final class ClientLink: ConnectionHandler {
    private struct State {
        var framer = LineFramer()
        var connection: Connection?
        var nextID: Int64 = 1
        var waiting: [Int64: CheckedContinuation<[UInt8], any Error>] = [:]
        var changes: AsyncStream<ChangeView>.Continuation?
        var isClosed = false
    }

    /// What every line has, whatever else is in it.
    private struct Head: Decodable {
        var id: RequestID?
        var method: String?
        var error: Failure?
    }

    static let lost = NodeError(
        "connection-lost", "the running node has stopped or hung up",
        hint: "parley status says whether it runs")

    private let state = Mutex(State())

    func opened(_ connection: Connection) { state.withLock { $0.connection = connection } }

    func received(_ bytes: [UInt8]) {
        do {
            let lines = try state.withLock { try $0.framer.add(bytes) }
            for line in lines { try take(line) }
        } catch {
            hangUp()
        }
    }

    func becameWritable() {}

    func closed(_ reason: CloseReason) {
        let (waiting, changes) = state.withLock { state in
            defer { (state.waiting, state.changes, state.connection) = ([:], nil, nil) }
            state.isClosed = true
            return (state.waiting.values, state.changes)
        }
        for continuation in waiting { continuation.resume(throwing: Self.lost) }
        changes?.finish()
    }

    func hangUp() { state.withLock { $0.connection }?.close() }

    /// Changes that come from now on. Ends with the connection, and ends it where more than
    /// ``LocalAPI/waitingChangeCountMax`` wait to be taken: a gap must not go unseen.
    func changes() -> AsyncStream<ChangeView> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ChangeView.self, bufferingPolicy: .bufferingOldest(LocalAPI.waitingChangeCountMax))
        let isClosed = state.withLock { state in
            if !state.isClosed { state.changes = continuation }
            return state.isClosed
        }
        if isClosed { continuation.finish() }
        return stream
    }

    /// Sends a request and waits for the line that answers it.
    func ask(_ make: (RequestID) throws -> [UInt8]) async throws -> [UInt8] {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        let request = try make(.number(id))
        return try await withCheckedThrowingContinuation { continuation in
            let connection = state.withLock { state -> Connection? in
                guard !state.isClosed, let connection = state.connection else { return nil }
                state.waiting[id] = continuation
                return connection
            }
            guard let connection else { return continuation.resume(throwing: Self.lost) }
            // Bytes that go nowhere end the connection, and that ends the waiting.
            connection.send(request)
        }
    }

    private func take(_ line: [UInt8]) throws {
        let data = Data(line)
        let head = try JSONDecoder().decode(Head.self, from: data)
        if head.method == "change" {
            let note = try JSONDecoder().decode(Notification<ChangeView>.self, from: data)
            let result = state.withLock { $0.changes }?.yield(note.params)
            if case .dropped = result { hangUp() }
            return
        }
        guard case .number(let id) = head.id else {
            // An answer to nothing that was asked: the other side could not read our line.
            return hangUp()
        }
        let continuation = state.withLock { $0.waiting.removeValue(forKey: id) }
        if let error = head.error {
            continuation?.resume(throwing: error.nodeError)
        } else {
            continuation?.resume(returning: line)
        }
    }
}
