import Foundation
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

@testable import ParleyRelayServer

/// A client over a real socket: asks and waits, and keeps what it is told.
final class RelayCaller: ConnectionHandler {
    struct State {
        var client: RelayClient
        var connection: Connection?
        var events: [RelayEvent] = []
        var waiting: [(isMet: ([RelayEvent]) -> Bool, resume: CheckedContinuation<Void, Never>)] =
            []
        var isClosed = false
        /// All that went over the line, both ways.
        var traffic: [UInt8] = []

        /// Sends what the client wants sent.
        mutating func flush() {
            let bytes = client.output()
            traffic += bytes
            connection?.send(bytes)
        }
    }

    let state: Mutex<State>

    private init(_ key: NoiseKey) {
        var random = SystemRandom()
        state = Mutex(
            State(client: RelayClient(to: key, network: .main, at: 0, using: &random)))
    }

    /// A connection that stands.
    static func call(
        _ server: RelayServer, over transport: Transport
    ) async throws -> RelayCaller {
        let endpoint = try #require(server.endpoints.first)
        return try await call(server.key, at: endpoint, over: transport)
    }

    static func call(
        _ key: NoiseKey, at endpoint: Endpoint, over transport: Transport
    ) async throws -> RelayCaller {
        let caller = RelayCaller(key)
        try await transport.dial(endpoint, handler: caller)
        await caller.until { events in
            events.contains { if case .opened = $0 { true } else { false } }
        }
        return caller
    }

    var welcome: RelayWelcome? { state.withLock { $0.client.welcome } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var events: [RelayEvent] { state.withLock { $0.events } }
    var traffic: [UInt8] { state.withLock { $0.traffic } }

    /// Asks, and waits for the answer.
    func ask(_ action: RelayAction, as access: MailboxAccess) async throws -> RelayAnswer {
        let number = order { $0.ask(action, as: access) }
        return try #require(await answer(to: number))
    }

    /// The answer to a request; nil where the connection ended before.
    func answer(to number: UInt64) async -> RelayAnswer? {
        @Sendable func find(_ events: [RelayEvent]) -> RelayAnswer? {
            for case .answered(number, let answer) in events { return answer }
            return nil
        }
        await until { find($0) != nil }
        return find(events)
    }

    /// Gives orders, and sends what follows.
    func order<T>(_ order: (inout RelayClient) -> T) -> T {
        state.withLock { state in
            defer { state.flush() }
            return order(&state.client)
        }
    }

    /// Waits until what was told meets a condition, or the connection is over.
    func until(_ isMet: @escaping @Sendable ([RelayEvent]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isClosed || isMet(state.events) { return true }
                state.waiting.append((isMet, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    func hangUp() { state.withLock { $0.connection }?.abort() }

    func opened(_ connection: Connection) {
        state.withLock { state in
            state.connection = connection
            connection.markAuthenticated()
            state.flush()
        }
    }

    func received(_ bytes: [UInt8]) {
        change { state in
            state.traffic += bytes
            do throws(RelayFailure) {
                state.events += try state.client.receive(bytes[...], at: 0)
            } catch {
                Issue.record("the relay spoke as no relay does: \(error)")
            }
            state.flush()
        }
    }

    func becameWritable() {}

    func closed(_ reason: CloseReason) {
        change { state in
            state.connection = nil
            state.isClosed = true
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let met = state.withLock { state in
            body(&state)
            var met: [CheckedContinuation<Void, Never>] = []
            state.waiting.removeAll { waiting in
                guard state.isClosed || waiting.isMet(state.events) else { return false }
                met.append(waiting.resume)
                return true
            }
            return met
        }
        for continuation in met { continuation.resume() }
    }
}

extension RelayServer {
    /// A relay on a free port of this machine, with a store in a folder.
    static func local(
        in folder: ScratchFolder, _ change: (inout Settings) -> Void = { _ in }
    ) async throws -> RelayServer {
        let home = RelayHome(path: folder.path)
        var settings = Settings(endpoints: [try Endpoint("127.0.0.1:0")])
        change(&settings)
        return try await start(settings, key: home.key(), store: home.store()) {
            Issue.record("the relay said: \($0)")
        }
    }
}
