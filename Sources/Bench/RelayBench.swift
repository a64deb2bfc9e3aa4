import Foundation
import Parley
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// The capacity of a relay in a separate process, measured from here over loopback.
struct RelayBench {
    static let names =
        [
            "relay-connections", "relay-memory", "relay-puts", "relay-oneway", "relay-fanout",
        ] + nodeNames

    let folder: String
    private let program: String
    let say: @Sendable (String) -> Void

    init(folder: String, program: String, say: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.program = program
        self.say = say
    }

    func run(_ wanted: Set<String>, fsync: Double) async throws -> [Figure] {
        let relay = try RelayProcess(program: program, home: folder + "/relay")
        defer { relay.end() }
        let transport = Transport()
        var figures: [Figure] = []
        if !wanted.isDisjoint(with: ["relay-oneway"]) {
            say("putting 500 envelopes, one after the other, for another connection")
            figures.append(try await oneWay(relay, transport, fsync: fsync))
        }
        if !wanted.isDisjoint(with: ["relay-puts"]) {
            say("putting 100,000 envelopes from 8 connections")
            figures.append(try await puts(relay, transport, fsync: fsync))
        }
        if !wanted.isDisjoint(with: ["relay-fanout"]) {
            say("telling 1,000 subscribers")
            figures.append(try await fanOut(relay, transport))
        }
        if !wanted.isDisjoint(with: ["relay-connections", "relay-memory"]) {
            say("opening connections")
            figures += try await idle(relay, transport)
        }
        await transport.shutdown(within: .seconds(1))
        if !wanted.isDisjoint(with: Self.nodeNames) {
            figures += try await nodes(wanted, through: relay, fsync: fsync)
        }
        return figures
    }

    // MARK: Figures

    private static let open = RelayAction.open(writers: nil, ticket: nil)
    private static let connectionCount = 5000
    private static let subscriberCount = 1000

    private func access() -> MailboxAccess {
        var random = SystemRandom()
        return MailboxAccess(drop: .generate(using: &random))
    }

    private static func envelope(_ byteCount: Int) -> [UInt8] {
        var random = SystemRandom()
        return random.bytes(byteCount)
    }

    private func oneWay(
        _ relay: RelayProcess, _ transport: Transport, fsync: Double
    ) async throws -> Figure {
        let drop = access()
        let reader = try await RelayVisitor.call(relay.place, over: transport)
        let writer = try await RelayVisitor.call(relay.place, over: transport)
        _ = await reader.ask(.subscribe, as: drop)
        _ = await writer.ask(Self.open, as: drop)
        var samples: [Double] = []
        for count in 1...500 {
            let envelope = Self.envelope(1024)
            let start = seconds()
            writer.order { $0.ask(.put(envelope: envelope), as: drop) }
            await reader.arrivals(count)
            samples.append(seconds() - start)
        }
        return Figure(
            "relay-oneway", samples: samples, unit: "s", limit: fsync,
            note: "one envelope of 1 KiB, put here until another connection has it, durable; "
                + "the limit is one fsync")
    }

    private func puts(
        _ relay: RelayProcess, _ transport: Transport, fsync: Double
    ) async throws -> Figure {
        let (connections, each) = (8, 12_500)
        var writers: [(RelayVisitor, MailboxAccess)] = []
        for _ in 0..<connections {
            let (visitor, drop) = (
                try await RelayVisitor.call(relay.place, over: transport), access()
            )
            _ = await visitor.ask(Self.open, as: drop)
            writers.append((visitor, drop))
        }
        let envelopes = (0..<each).map { _ in Self.envelope(512) }
        let start = seconds()
        await withTaskGroup(of: Void.self) { group in
            for (writer, drop) in writers {
                group.addTask {
                    for piece in stride(from: 0, to: each, by: 250) {
                        writer.order { client in
                            for envelope in envelopes[piece..<(piece + 250)] {
                                client.ask(.put(envelope: envelope), as: drop)
                            }
                        }
                        // Never more than the relay lets be under way, and never less.
                        await writer.answers(1 + piece + 125)
                    }
                    await writer.answers(1 + each)
                }
            }
        }
        let time = seconds() - start
        return Figure(
            "relay-puts", samples: [Double(connections * each) / time], unit: "1/s",
            note: "envelopes of 512 B that are durable and answered, each with a signature that "
                + "was made and checked; client and relay share the machine")
    }

    private func fanOut(_ relay: RelayProcess, _ transport: Transport) async throws -> Figure {
        let drop = access()
        let readers = try await visitors(Self.subscriberCount, relay, transport)
        for reader in readers { _ = await reader.ask(.subscribe, as: drop) }
        let writer = try await RelayVisitor.call(relay.place, over: transport)
        _ = await writer.ask(Self.open, as: drop)
        var samples: [Double] = []
        for round in 1...20 {
            let envelope = Self.envelope(1024)
            let start = seconds()
            writer.order { $0.ask(.put(envelope: envelope), as: drop) }
            for reader in readers { await reader.arrivals(round) }
            samples.append(seconds() - start)
        }
        for reader in readers { reader.hangUp() }
        return Figure(
            "relay-fanout", samples: samples, unit: "s",
            note: "one envelope of 1 KiB until all of \(readers.count) subscribers have it")
    }

    private func idle(_ relay: RelayProcess, _ transport: Transport) async throws -> [Figure] {
        let before = try relay.residentByteCount()
        let start = seconds()
        let held = try await visitors(Self.connectionCount, relay, transport)
        let time = seconds() - start
        for visitor in held { _ = await visitor.ask(.subscribe, as: access()) }
        let after = try relay.residentByteCount()
        let each = Double(after - before) / Double(held.count)
        let alive = held.filter { !$0.isClosed }.count
        for visitor in held { visitor.hangUp() }
        return [
            Figure(
                "relay-connections", samples: [Double(alive)], unit: "count",
                note: "idle connections held, each subscribed to a mailbox; opened at "
                    + "\(Int(Double(held.count) / time)) a second"),
            Figure(
                "relay-memory", samples: [each], unit: "bytes",
                note: "the relay's memory for each of them"),
        ]
    }

    /// Some at a time: a relay takes only so many handshakes from one address at once.
    private func visitors(
        _ count: Int, _ relay: RelayProcess, _ transport: Transport
    ) async throws -> [RelayVisitor] {
        let place = relay.place
        var visitors: [RelayVisitor] = []
        while visitors.count < count {
            visitors += try await withThrowingTaskGroup(of: RelayVisitor.self) { group in
                for _ in 0..<min(32, count - visitors.count) {
                    group.addTask { try await RelayVisitor.call(place, over: transport) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        return visitors
    }
}

/// Where a relay is, and the key that it proves.
struct RelayPlace: Sendable {
    let key: NoiseKey
    let endpoint: Endpoint
}

/// A relay in a process of its own, which ends with this one, however this one ends.
final class RelayProcess {
    private let process: Process
    /// Nothing is ever written to it.
    private let input = Pipe()
    let place: RelayPlace

    init(program: String, home: String, options: [String] = []) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments =
            [
                "relay", "run", "--home", home, "--listen", "127.0.0.1:0", "--unbounded",
                "--until-input-ends",
            ] + options
        process.standardInput = input
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var said = ""
        while !said.contains("parley-relay:") || !said.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw NodeError("bench", "The relay did not start.") }
            said += String(decoding: more, as: UTF8.self)
        }
        let line = said.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        let text = try RelayText(text: String(line ?? ""))
        place = RelayPlace(key: text.key, endpoint: try Endpoint(text.addresses.first ?? ""))
    }

    /// What it holds in memory.
    func residentByteCount() throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// One connection to a relay, that counts what it is told.
final class RelayVisitor: ConnectionHandler {
    private struct State {
        var client: RelayClient
        var connection: Connection?
        var isOpen = false
        var isClosed = false
        var answers = 0
        var arrivals = 0
        var waiting: (isMet: (State) -> Bool, resume: CheckedContinuation<Void, Never>)?
    }

    private let state: Mutex<State>

    private init(_ key: NoiseKey) {
        var random = SystemRandom()
        state = Mutex(
            State(client: RelayClient(to: key, network: .main, at: 0, using: &random)))
    }

    static func call(
        _ place: RelayPlace, over transport: Transport
    ) async throws -> RelayVisitor {
        let visitor = RelayVisitor(place.key)
        var limits = TransportLimits()
        limits.idleTimeMax = nil
        try await transport.dial(place.endpoint, limits: limits, handler: visitor)
        await visitor.until { $0.isOpen }
        return visitor
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func ask(_ action: RelayAction, as access: MailboxAccess) async {
        let count = state.withLock { $0.answers } + 1
        order { $0.ask(action, as: access) }
        await answers(count)
    }

    func order<R>(_ order: (inout RelayClient) -> R) {
        state.withLock { state in
            _ = order(&state.client)
            state.connection?.send(state.client.output())
        }
    }

    func answers(_ count: Int) async { await until { $0.answers >= count } }
    func arrivals(_ count: Int) async { await until { $0.arrivals >= count } }
    func hangUp() { state.withLock { $0.connection }?.abort() }

    private func until(_ isMet: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isClosed || isMet(state) { return true }
                state.waiting = (isMet, continuation)
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    func opened(_ connection: Connection) {
        connection.markKnown()
        state.withLock { state in
            state.connection = connection
            connection.send(state.client.output())
        }
    }

    func received(_ bytes: [UInt8]) {
        change { state in
            do throws(RelayFailure) {
                for event in try state.client.receive(bytes[...], at: 0) {
                    switch event {
                    case .opened: state.isOpen = true
                    case .answered: state.answers += 1
                    case .arrived: state.arrivals += 1
                    case .passed, .missed, .called, .bytes, .drained, .ended, .day, .leaving: break
                    }
                }
                state.connection?.send(state.client.output())
            } catch {
                state.connection?.abort()
            }
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
            guard let waiting = state.waiting, state.isClosed || waiting.isMet(state) else {
                return nil as CheckedContinuation<Void, Never>?
            }
            state.waiting = nil
            return waiting.resume
        }
        met?.resume()
    }
}
