internal import Foundation
internal import Parley
internal import ParleyTransport
internal import ParleyWire
internal import Synchronization

/// The client's side of one connection: which answer belongs to which question.
final class ClientLink: ConnectionHandler {
    fileprivate struct State {
        var framer = LineFramer()
        var connection: Connection?
        var nextID: Int64 = 1
        var waiting: [Int64: CheckedContinuation<[UInt8], any Error>] = [:]
        /// Changes that came and were not taken yet.
        var changes = Queue<ChangeView>()
        var taker: CheckedContinuation<Void, Never>?
        var isPaused = false
        var isClosed = false
    }

    /// The members that every line has.
    private struct Head: Decodable {
        var id: RequestID?
        var method: String?
        var error: Failure?
    }

    static let lost = NodeError(
        "connection-lost",
        "The running node stopped, or closed the connection, before it answered.",
        hint:
            "What you asked for may be done all the same: look before you repeat it. `parley status` "
            + "shows whether the node is running.")

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
        let (waiting, taker) = state.withLock { state in
            defer { (state.waiting, state.taker, state.connection) = ([:], nil, nil) }
            state.isClosed = true
            return (state.waiting.values, state.taker)
        }
        for continuation in waiting { continuation.resume(throwing: Self.lost) }
        taker?.resume()
    }

    func hangUp() { state.withLock { $0.connection }?.close() }

    /// The next change, once there is one; nil once the connection has ended and all were taken.
    /// For one reader.
    func nextChange() async -> ChangeView? {
        while true {
            let (change, isOver) = state.withLock { ($0.takeChange(), $0.isClosed) }
            if change != nil || isOver { return change }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.changes.isEmpty, !state.isClosed else { return false }
                    state.taker = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
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
            state.withLock { state in
                defer { state.taker = nil }
                state.add(note.params)
                return state.taker
            }?.resume()
            return
        }
        guard case .number(let id) = head.id else {
            // An answer to nothing that was asked: the other side could not read our line.
            return hangUp()
        }
        let continuation = state.withLock { $0.waiting.removeValue(forKey: id) }
        if let error = head.error {
            let isUnknown = error.data.code == Failure.unknownMethod("").data.code
            continuation?.resume(throwing: isUnknown ? .otherVersion : error.nodeError)
        } else {
            continuation?.resume(returning: line)
        }
    }
}

extension ClientLink.State {
    /// Above the bound no more is read, so that the node waits and not this program's memory grows.
    fileprivate mutating func add(_ change: ChangeView) {
        changes.append(change)
        guard changes.count > LocalAPI.waitingChangeCountMax, !isPaused else { return }
        isPaused = true
        connection?.pauseReading()
    }

    fileprivate mutating func takeChange() -> ChangeView? {
        let change = changes.popFirst()
        if isPaused, changes.count <= LocalAPI.waitingChangeCountMax / 2 {
            isPaused = false
            connection?.resumeReading()
        }
        return change
    }
}

/// Who takes changes from a connection of its own, and ends it when nobody takes any more.
final class ChangeTaker: Sendable {
    private let link: ClientLink

    init(_ link: ClientLink) { self.link = link }

    deinit { link.hangUp() }

    func next() async -> ChangeView? { await link.nextChange() }

    func end() { link.hangUp() }
}
