import ParleyConversation
@testable import ParleyReconciliation
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyLedger
@testable import ParleyNodeCore

@Suite("The waiting room")
struct WaitingRoomTests {
    private let space = SpaceNumber(1)

    /// A proven run of one operation whose cause nobody has.
    private func run(
        by key: DeviceSigningKey, at place: UInt64, byteCount: Int = 4
    ) throws -> VerifiedRun {
        let space = try #require(SpaceID([UInt8](repeating: 7, count: 32)))
        let log = OperationHash.log(space: space, device: key.device, lane: .content)
        let cause = OperationReference(
            tag: LogTag(1), sequence: place, check: Check(high: place, low: 9))
        let operation = try Operation.make(
            OperationHeader(
                kind: OperationKind(rawValue: 64), wallClock: 1, clock: 1 << 16, authority: 0,
                dependencies: [cause]),
            payload: [UInt8](repeating: 1, count: byteCount))
        let anchor = OperationID(reinterpreting: log)
        let id = OperationHash.operation(operation, after: anchor)
        let run = Run(
            device: key.device, lane: .content, first: place, anchor: place == 0 ? nil : anchor,
            operations: [operation],
            heads: [OperationHash.sign(log: log, sequence: place, operation: id, with: key)])
        return try #require(try OperationVerifier.verify(run, in: space, held: []).first)
    }

    @Test("Attack 22: a flood of causes that nobody has fills one log's share and no more")
    func share() throws {
        var random = SeededRandom(seed: 22)
        let liar = DeviceSigningKey.generate(using: &random)
        let honest = DeviceSigningKey.generate(using: &random)
        var room = WaitingRoom()
        room.add(try run(by: honest, at: 0), in: space, since: 0)
        for place in 0..<1_000 as Range<UInt64> {
            room.add(try run(by: liar, at: place), in: space, since: 1)
        }
        #expect(room.count == WaitingRoom.logRunCountMax + 1)
        #expect(room.droppedCount == 1_000 - WaitingRoom.logRunCountMax)
        // Causes come or are given up: nobody waits for ever, and what waited is all there was.
        #expect(room.nextDue == WaitingRoom.patience)
        let waited = room.take(space)
        #expect(waited.contains { $0.run.device == honest.device })
        #expect(waited.allSatisfy { $0.isOverdue(at: 1 + WaitingRoom.patience) })
        #expect(room.isEmpty)
    }

    @Test("Attack 287: what waits is tried again only where a log grew that it names, or its own")
    func releasing() throws {
        var random = SeededRandom(seed: 287)
        let keys = [0, 1].map { _ in DeviceSigningKey.generate(using: &random) }
        var room = WaitingRoom()
        var logs: [LogTag] = []
        for key in keys {
            let run = try run(by: key, at: 0)
            logs.append(LogTag(run.log))
            room.add(run, in: space, since: 0)
        }
        let released: [(SpaceNumber, Set<LogTag>, [DeviceID])] = [
            (space, [], []), (space, [LogTag(2)], []), (SpaceNumber(2), [LogTag(1)], []),
            (space, [logs[1]], [keys[1].device]), (space, [LogTag(1)], [keys[0].device]),
        ]
        for (space, grown, devices) in released {
            let taken = room.take(space, awaiting: grown).map(\.run.device)
            #expect(taken == devices)
        }
        #expect(room.isEmpty)
    }

    @Test("all logs that grew as one released the next are told, not the last alone")
    func chain() throws {
        let world = World(seed: 287)
        let nodes = try ["ann", "ben", "cara", "dan"].map { try world.addNode($0) }
        for (place, node) in nodes.enumerated() {
            for other in nodes[..<place] { _ = try world.introduce(other, node) }
        }
        let space = try world.group("club", nodes)
        world.run(for: 60_000)
        let dan = nodes[3]
        world.isolate(dan)
        for node in nodes[..<3] {
            let text = TextMessage(text: node.name)
            _ = try world.perform(.send(space, [text], replyingTo: nil), on: node)
            world.run(for: 10_000)
        }
        // What each wrote names what the one before wrote; the last is tried first.
        let record = try #require(try dan.store.space(space))
        let theirs = try #require(try nodes[2].store.space(space)).number
        var (core, grown) = (dan.core, Set<LogTag>())
        for author in nodes[..<3].reversed() {
            let log = try #require(
                try nodes[2].store.logs(in: theirs).first {
                    $0.lane == .content && $0.device == author.identity.device
                })
            let run = try #require(
                try RunReader.forward(
                    log, from: 0, room: 1 << 20, bringsAnchor: true, store: nodes[2].store))
            for piece in try OperationVerifier.verify(run, in: space, held: []) {
                core.intake.waiting.add(piece, in: record.number, since: world.now)
            }
            grown.insert(log.tag)
        }
        try dan.store.begin(.normal)
        defer { dan.store.rollback() }
        let now = Instant(monotonic: world.now, wall: World.epoch + world.now)
        var ingested = Ingested(at: now)
        try core.admitWaiting(in: record, releasedBy: nil, dan.store, &ingested)
        #expect(core.waitingRunCount == 0 && ingested.grown == grown)
    }

    @Test("Attack 289: of many names the one is forgotten that was used longest ago alone")
    func limits() {
        var limits = RateLimits<LogTag>(RateLimit(burst: 1, interval: 1_000), nameCountMax: 3)
        let taken = [1, 2, 3, 1, 4, 1, 3, 2].enumerated().map { time, name in
            limits.take(LogTag(name), at: UInt64(time))
        }
        // The fourth name has a limit of its own; for it the second was forgotten, and nobody else.
        #expect(taken == [true, true, true, false, true, false, false, true])
    }

    @Test("Attack 22: many logs together wait within the bounds of the room, in runs and bytes")
    func room() throws {
        var random = SeededRandom(seed: 23)
        for (byteCount, logCount, each) in [(4, 24, 60), (40_000, 20, 20)] {
            var room = WaitingRoom()
            for _ in 0..<logCount {
                let liar = DeviceSigningKey.generate(using: &random)
                for place in 0..<UInt64(each) {
                    room.add(
                        try run(by: liar, at: place, byteCount: byteCount), in: space, since: 0)
                }
            }
            #expect(room.count <= WaitingRoom.runCountMax)
            let held = room.count * byteCount
            #expect(held <= WaitingRoom.byteCountMax)
            #expect(room.droppedCount + room.count == logCount * each)
            #expect(room.droppedCount > 0)
        }
    }
}
