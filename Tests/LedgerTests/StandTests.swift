import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyLedger

/// Three persons, of whom the first has two devices, and a store that was given what they wrote in
/// whatever order.
@Suite("Where operations stand")
struct StandTests {
    private static let day: UInt64 = 86_400_000
    private let desk: Desk
    private let keys: [DeviceSigningKey]
    private let rule: StandRule

    init() throws {
        desk = try Desk(seed: 36)
        keys = (0..<4).map { [desk] _ in desk.key() }
        func person(_ number: UInt8) throws -> PersonID {
            try #require(PersonID([UInt8](repeating: number, count: 32)))
        }
        rule = StandRule(
            beganAt: Desk.now,
            owners: [
                keys[0].device: try person(1), keys[1].device: try person(2),
                keys[2].device: try person(3), keys[3].device: try person(1),
            ])
    }

    @discardableResult
    private func write(_ author: Int, at wallClock: UInt64) throws -> Stand {
        try desk.write([Desk.draft()], by: keys[author], placing: rule, at: wallClock)[0]
            .operation.stand
    }

    @Test("a lone clock leads by 35 days, whatever it says; with a second person's word by more")
    func lead() throws {
        try write(1, at: Desk.now + 1000)
        let far = Desk.now + 10_000 * Self.day
        #expect(try write(0, at: far).value == (Desk.now + 1000 + StandRule.leadMax) << 16)
        // The other device of the same person is no second word.
        #expect(try write(3, at: far).value == (Desk.now + 1000 + StandRule.leadMax) << 16 + 1)
        // Who is right stands below what they saw, and goes on from there.
        let right = try write(1, at: Desk.now + 2000)
        #expect(right.value == (Desk.now + 1000 + StandRule.leadMax) << 16 + 2)
        #expect(right.witness == far)
        // A lie binds those alone who have named it themselves, and two liars end where clocks end.
        let end = Limits.wallClockMax - 1
        #expect(try write(2, at: end).value == (Desk.now + 2000 + StandRule.leadMax) << 16)
        #expect(try write(0, at: end).value == end << 16)
    }

    @Test("who is right again stands where the others do, a day after")
    func rightAgain() throws {
        try write(1, at: Desk.now)
        try write(0, at: Desk.now + Self.day)
        try write(1, at: Desk.now + 2000)
        // Its clock went back by a day, and time goes on.
        #expect(try write(0, at: Desk.now + 3000).value == Desk.now << 16 + Self.day << 16 + 2)
        #expect(try write(1, at: Desk.now + 2 * Self.day).value == (Desk.now + 2 * Self.day) << 16)
        #expect(
            try write(0, at: Desk.now + 2 * Self.day + 5).value
                == (Desk.now + 2 * Self.day + 5) << 16)
    }

    @Test("in an own space every clock counts, and what was seen still stands above")
    func ownSpace() throws {
        let far = Desk.now + 10_000 * Self.day
        let own = StandRule()
        let first = try desk.write([Desk.draft()], by: keys[0], placing: own, at: far)[0]
        let second = try desk.write([Desk.draft()], by: keys[3], placing: own, at: Desk.now)[0]
        #expect(first.operation.stand.value == far << 16)
        #expect(second.operation.stand.value == far << 16 + 1)
    }

    /// The property that all hangs on: where operations stand follows from which of them are held.
    @Test("whatever the order in which they come, they stand where they stand", arguments: 0..<40)
    func converges(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<60 {
            let author = Int.random(in: 0..<4, using: &random)
            let skew = UInt64.random(in: 0..<3, using: &random) * 20 * Self.day
            let now = Desk.now + UInt64.random(in: 0..<1_000_000, using: &random)
            // Whom somebody has not heard of they do not name: each flush of one author alone.
            try write(author, at: now + (author == 2 ? skew * 40 : skew))
        }
        let logs = try desk.store.logs(in: desk.space.number).filter { $0.lane == .content }
        var expected: [LogTag: [Stand]] = [:]
        for log in logs {
            expected[log.tag] = try desk.store.headers(
                in: log.number, 0...UInt64.max, limit: .max
            ).map(\.stand)
        }
        let copy = MemoryStore()
        try copy.begin(.normal)
        let space = try copy.addSpace(desk.space.id, kind: .group)
        // In pieces, the newest first or the oldest, log by log as it happens.
        var pieces: [(log: LogRecord, range: ClosedRange<UInt64>)] = []
        for log in logs {
            let middle = UInt64.random(in: 0..<log.end, using: &random)
            let parts = middle > 0 ? [0...middle - 1, middle...log.end - 1] : [0...log.end - 1]
            pieces += parts.map { (log, $0) }
        }
        pieces.shuffle(using: &random)
        for piece in pieces { try keep(piece.range, of: piece.log, in: space, copy) }
        _ = try StandSettling.settle(space.number, by: rule, in: copy)
        for log in try copy.logs(in: space.number) {
            let stands = try copy.headers(in: log.number, 0...UInt64.max, limit: .max).map(\.stand)
            #expect(stands == expected[log.tag])
            #expect(log.order.settledEnd == log.end)
            #expect(log.order.tip == stands.last)
        }
        #expect(try !StandSettling.again(space.number, by: rule, in: copy))
    }

    private func keep(
        _ range: ClosedRange<UInt64>, of original: LogRecord, in space: SpaceRecord,
        _ store: MemoryStore
    ) throws {
        let operations = try desk.store.operations(in: original.number, range, limit: .max)
        var log =
            try store.log(original.tag, in: space.number)
            ?? store.addLog(
                original.id, device: original.device, lane: original.lane, in: space.number)
        let anchor =
            range.lowerBound == 0
            ? OperationID(reinterpreting: original.id)
            : try #require(
                try desk.store.header(at: range.lowerBound - 1, in: original.number)
            ).id
        let taken = VerifiedRun(
            log: log.id, device: log.device, lane: log.lane,
            operations: operations.map {
                VerifiedOperation(
                    id: $0.id, tag: log.tag, sequence: $0.sequence, operation: $0.operation)
            }, anchor: anchor, heads: [], isBackfill: log.end > range.lowerBound)
        let (run, settledEnd) = try taken.placed(in: log, by: rule, store)
        _ = try store.insert(run.operations, in: log.number)
        log.hold(run)
        log.order.settledEnd = settledEnd
        try store.update(log)
    }

    /// Of the branches of a forked log each node holds one: what stood above a hole stood elsewhere by it.
    @Test("above a hole the clocks of lane 0 count as far as its logs do")
    func aboveAHole() throws {
        let far = Desk.now + 100 * Self.day
        for clock in [Desk.now + 5, far] {
            try desk.write([Desk.draft(lane: .control)], by: keys[1], placing: rule, at: clock)
        }
        try write(0, at: far)
        try write(0, at: far)
        let control = try #require(try desk.log(of: keys[1], lane: .control))
        let content = try #require(try desk.log(of: keys[0]))
        let first = try #require(try desk.store.header(at: 0, in: control.number)).id
        for (limit, witness) in [
            (nil, far), (LogPoint(sequence: 1, anchor: first), Desk.now + 5),
        ] {
            let copy = MemoryStore()
            try copy.begin(.normal)
            let space = try copy.addSpace(desk.space.id, kind: .group)
            try keep(0...1, of: control, in: space, copy)
            var log = try #require(try copy.log(control.tag, in: space.number))
            log.limit = limit
            try copy.update(log)
            try keep(1...1, of: content, in: space, copy)
            let kept = try #require(try copy.log(content.tag, in: space.number))
            #expect(kept.order.tip.witness == witness)
        }
    }

    /// Its own log goes without saying only where all of it is held.
    @Test("above a hole an answer stands below its question in the same log")
    func answerAboveAHole() throws {
        let question = try desk.write(
            [Desk.draft()], by: keys[0], placing: rule, at: Desk.now + 5)[0]
        try write(0, at: Desk.now + 6)
        let asked = OperationReference(
            tag: question.log.tag, sequence: 0, check: question.operation.id.check)
        // By then its clock has gone back by years.
        let answer = try desk.write(
            [Desk.draft(about: [asked])], by: keys[0], placing: rule,
            at: Desk.now - 800 * Self.day)[0]
        let store = MemoryStore()
        try store.begin(.normal)
        let space = try store.addSpace(desk.space.id, kind: .group)
        for place: UInt64 in [0, 2] { try keep(place...place, of: answer.log, in: space, store) }
        let log = try #require(try store.log(answer.log.tag, in: space.number))
        #expect(!log.isWhole)
        #expect(log.order.tip.value > question.operation.stand.value)
    }

    /// Nothing noted how far it was named, so what came of it in a second piece placed nothing again.
    @Test("how far a log was named that nobody knew is found out when its first part comes")
    func namedBefore() throws {
        let name = OperationHash.log(space: desk.space.id, device: keys[2].device, lane: .content)
        for place: UInt64 in [3, 1] {
            let unknown = OperationReference(
                tag: LogTag(name), sequence: place, check: Check(high: 1, low: 2))
            try desk.write(
                [Desk.draft(about: [unknown])], by: keys[1], placing: rule, at: Desk.now)
        }
        try desk.store.begin(.normal)
        var log = try desk.store.addLog(
            name, device: keys[2].device, lane: .content, in: desk.space.number)
        #expect(try Causality.namedEnd(of: log, store: desk.store) == 4)
        log.limit = LogPoint(sequence: 2, anchor: OperationID(reinterpreting: name))
        #expect(
            try Causality.namedEnd(of: log, store: desk.store) == 2, "no further than it counts")
        var author = try #require(try desk.log(of: keys[1]))
        author.order.settledEnd = author.end
        try desk.store.update(author)
        #expect(
            try Causality.namedEnd(of: log, store: desk.store) == 0, "what is settled named others")
        try desk.store.commit()
    }

    @Test("a name that is another operation, or that nobody has, counts as nothing")
    func falseNames() throws {
        let far = try desk.write(
            [Desk.draft()], by: keys[0], placing: rule, at: Desk.now + 30 * Self.day)[0]
        let real = OperationReference(
            tag: far.log.tag, sequence: 0, check: Check(high: 1, low: 2))
        var log = far.log
        log.limit = LogPoint(sequence: 0, anchor: OperationID(reinterpreting: log.id))
        try desk.store.begin(.normal)
        try desk.store.update(log)
        try desk.store.commit()
        let blind = try desk.write(
            [Desk.draft(about: [real])], by: keys[1], placing: rule, at: Desk.now)[0]
        #expect(blind.operation.stand.value == Desk.now << 16)
        #expect(blind.log.order.settledEnd == 1)
    }

    /// Where a name at or above a cut stands for what had seen the operation that bears it, each placing
    /// moved both up by one, and each node ended elsewhere.
    @Test("a name at or above a cut that makes a circle counts as nothing")
    func circle() throws {
        try write(1, at: Desk.now)
        let cut = try #require(try desk.log(of: keys[1]))
        let invented = OperationReference(
            tag: cut.tag, sequence: 1 << 40, check: Check(high: 1, low: 2))
        let lie = try desk.write(
            [Desk.draft(about: [invented])], by: keys[0], placing: rule, at: Desk.now + 10)[0]
        try write(2, at: Desk.now + 11)
        try write(1, at: Desk.now + 12)
        let honest = try write(2, at: Desk.now)
        #expect(honest.value == (Desk.now + 12) << 16 + 1)
        for place in [2, 1] as [UInt64] {
            try desk.store.begin(.normal)
            var log = try #require(try desk.log(of: keys[1]))
            log.limit = LogPoint(sequence: place, anchor: try desk.id(place - 1, of: keys[1]))
            try desk.store.update(log)
            _ = try StandSettling.again(desk.space.number, by: rule, in: desk.store)
            #expect(try !StandSettling.again(desk.space.number, by: rule, in: desk.store))
            for log in try desk.store.logs(in: desk.space.number) {
                #expect(log.order.settledEnd == log.end, "cut at \(place)")
            }
            let first = try #require(try desk.store.header(at: 0, in: lie.log.number))
            #expect(first.stand.value == (Desk.now + 10) << 16)
            try desk.store.commit()
        }
    }

    @Test(
        "a name of the own log at or above its cut that stands for no place below counts as nothing"
    )
    func circleOfOne() throws {
        let name = OperationHash.log(space: desk.space.id, device: keys[0].device, lane: .content)
        let invented = OperationReference(
            tag: LogTag(name), sequence: 1 << 40, check: Check(high: 1, low: 2))
        try desk.write([Desk.draft(about: [invented])], by: keys[0], placing: rule, at: Desk.now)
        try write(0, at: Desk.now)
        try desk.store.begin(.normal)
        var log = try #require(try desk.log(of: keys[0]))
        log.limit = LogPoint(sequence: 2, anchor: log.tip)
        try desk.store.update(log)
        for _ in 0..<2 {
            _ = try StandSettling.again(desk.space.number, by: rule, in: desk.store)
            let kept = try #require(try desk.log(of: keys[0]))
            #expect(kept.order.tip.value == Desk.now << 16 + 1)
            #expect(kept.order.settledEnd == 2)
        }
        try desk.store.commit()
    }

    @Test("what is held right below a floor stands where the floor says, and only that")
    func rightBelowFloor() throws {
        for _ in 0..<3 { try write(0, at: Desk.now) }
        try desk.store.begin(.normal)
        var log = try #require(try desk.log(of: keys[0]))
        let said = Stand(value: Desk.now << 16 + 9, witness: Desk.now, wallClock: Desk.now)
        for (anchor, isMoved) in [(OperationID(reinterpreting: log.id), false), (log.tip, true)] {
            log.begin(at: LogPoint(sequence: 3, anchor: anchor), below: said)
            try desk.store.update(log)
            try desk.store.placeBelowFloors(in: desk.space.number)
            let stands = try desk.store.headers(in: log.number, 0...9, limit: 9).map(\.stand)
            #expect(stands.map(\.value) == [0, 1, isMoved ? 9 : 2].map { Desk.now << 16 + $0 })
            #expect((stands.last == said) == isMoved)
        }
        try desk.store.commit()
    }

    @Test("what follows from it, and is held below a floor as well, goes below it")
    func answersBelowFloors() throws {
        try write(0, at: Desk.now)
        let question = try #require(try desk.log(of: keys[0]))
        let answer = Desk.draft(about: [
            OperationReference(tag: question.tag, sequence: 0, check: question.tip.check)
        ])
        try desk.write([answer], by: keys[1], placing: rule, at: Desk.now)
        for _ in 0..<2 { try write(1, at: Desk.now) }
        try desk.store.begin(.normal)
        let said = Stand(value: Desk.now << 16 + 9, witness: Desk.now, wallClock: Desk.now)
        for (key, stand) in [(keys[0], said), (keys[1], nil)] {
            var log = try #require(try desk.log(of: key))
            log.begin(
                at: LogPoint(sequence: log.end, anchor: log.tip), below: stand ?? log.order.tip)
            try desk.store.update(log)
        }
        try desk.store.placeBelowFloors(in: desk.space.number)
        let log = try #require(try desk.log(of: keys[1]))
        let stands = try desk.store.headers(in: log.number, 0...9, limit: 9).map(\.stand.value)
        // The last one stands where its own floor says.
        #expect(Array(stands.dropLast()) == [10, 11].map { Desk.now << 16 + $0 })
        try desk.store.commit()
    }

    @Test("what is carried by a horizon is what an operation can have")
    func possible() {
        #expect(Stand(value: 1 << 59, witness: 3, wallClock: 4).isPossible)
        #expect(!Stand(value: 1 << 60).isPossible)
        #expect(!Stand(witness: Limits.wallClockMax).isPossible)
    }

    @Test("the order of a log is kept as it is, and nothing else is read")
    func bytes() throws {
        var order = LogOrder()
        order.tip = Stand(value: 1 << 59, witness: 2, wallClock: 3)
        order.settledEnd = 9
        #expect(try LogOrder(bytes: order.bytes) == order)
        order.floor = Stand(value: 4, witness: 5, wallClock: 6)
        #expect(try LogOrder(bytes: order.bytes) == order)
        #expect(throws: DecodingFailure.self) { try LogOrder(bytes: [1, 2]) }
    }
}
