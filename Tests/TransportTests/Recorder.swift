import NIOCore
@testable import ParleyTransport
import Synchronization

/// A handler that remembers what it hears, and lets a test wait for it with a deadline.
final class Recorder: ConnectionHandler {
    struct Heard: Sendable {
        var connection: Connection?
        var bytes: [UInt8] = []
        var openCount = 0
        var writableCount = 0
        var reasons: [CloseReason] = []
    }

    typealias Reaction = @Sendable (Connection, [UInt8]) -> Void

    private struct Waiter {
        let condition: (Heard) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var heard = Heard()
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())
    private let onOpen: @Sendable (Connection) -> Void
    private let onBytes: Reaction

    init(
        onOpen: @escaping @Sendable (Connection) -> Void = { _ in },
        onBytes: @escaping Reaction = { _, _ in }
    ) {
        self.onOpen = onOpen
        self.onBytes = onBytes
    }

    static func echo() -> Recorder { Recorder(onBytes: { $0.send($1) }) }

    var heard: Heard { state.withLock { $0.heard } }

    func opened(_ connection: Connection) {
        connection.preconditionOnLoop()
        change {
            $0.connection = connection
            $0.openCount += 1
        }
        onOpen(connection)
    }

    func received(_ bytes: [UInt8]) {
        change { $0.bytes += bytes }
        if let connection = heard.connection { onBytes(connection, bytes) }
    }

    func becameWritable() { change { $0.writableCount += 1 } }

    func closed(_ reason: CloseReason) { change { $0.reasons.append(reason) } }

    /// Waits until the condition holds. The suites' time limit is the deadline: it cancels the
    /// test, which ends the wait, and the expectation that follows fails.
    func wait(until condition: @escaping @Sendable (Heard) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMet = state.withLock { state in
                    guard !condition(state.heard), !Task.isCancelled else { return true }
                    state.waiters.append(Waiter(condition: condition, continuation: continuation))
                    return false
                }
                if isMet { continuation.resume() }
            }
        } onCancel: {
            let waiters = state.withLock { state in
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.continuation.resume() }
        }
    }

    /// Waits for the end and tells its reason.
    func closeReason() async -> CloseReason? {
        await wait { !$0.reasons.isEmpty }
        return heard.reasons.first
    }

    private func change(_ body: (inout Heard) -> Void) {
        let met = state.withLock { state in
            body(&state.heard)
            let met = state.waiters.filter { $0.condition(state.heard) }
            state.waiters.removeAll { $0.condition(state.heard) }
            return met
        }
        for waiter in met { waiter.continuation.resume() }
    }
}

/// Makes recorders for a listener, and hands them out in order.
final class Guests: Sendable {
    private let stream: AsyncStream<Recorder>
    private let continuation: AsyncStream<Recorder>.Continuation
    private let make: @Sendable () -> Recorder

    init(_ make: @escaping @Sendable () -> Recorder = { Recorder() }) {
        self.make = make
        (stream, continuation) = AsyncStream.makeStream()
    }

    var handler: @Sendable () -> any ConnectionHandler {
        {
            let recorder = self.make()
            self.continuation.yield(recorder)
            return recorder
        }
    }

    func next() async -> Recorder? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}

/// A transport for one test, ended with it.
func withTransport(
    now: @escaping @Sendable () -> NIODeadline = { .now() },
    _ body: (Transport) async throws -> Void
) async throws {
    let transport = Transport(threadCount: 1, now: now)
    do {
        try await body(transport)
    } catch {
        await transport.shutdown(within: .milliseconds(100))
        throw error
    }
    await transport.shutdown(within: .milliseconds(100))
}

/// Bytes that show every swap and gap: blocks of a prime length, each with its number in front.
func pattern(_ count: Int) -> [UInt8] {
    let filler = (0..<65_513).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 65_521)
    var number: UInt64 = 0
    while bytes.count < count {
        bytes += withUnsafeBytes(of: number.bigEndian) { Array($0) }
        bytes += filler
        number += 1
    }
    bytes.removeLast(bytes.count - count)
    return bytes
}

extension TransportLimits {
    /// For tests that move much on a machine that has much else to do.
    static var patient: TransportLimits {
        var limits = TransportLimits.localSocket
        limits.farewellTimeMax = .seconds(30)
        return limits
    }
}

let loopback = "127.0.0.1"
