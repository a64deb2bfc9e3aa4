import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("What is due about relays")
struct RelayUpkeepTests {
    @Test("a chore is taken once, however often it was noted, and no other with it")
    func chores() {
        var upkeep = RelayUpkeep()
        upkeep.note(.findRelays)
        upkeep.note(.findRelays)
        upkeep.note(.renewWriters)
        let taken = [.findRelays, .findRelays, .showInviteCards, .renewWriters].map {
            upkeep.take($0)
        }
        #expect(taken == [true, false, false, true])
    }

    @Test("mailboxes of a space are taken once, unless it is gone")
    func mailboxes() {
        var upkeep = RelayUpkeep()
        for number in [1, 2, 1, 3] { upkeep.noteMailboxes(of: SpaceNumber(Int64(number))) }
        upkeep.forget(SpaceNumber(3))
        let taken = (0..<2).map { _ in upkeep.takeMailboxes() }
        #expect(taken == [[SpaceNumber(1), SpaceNumber(2)], []])
    }
}

@Suite("What may have to go to relays")
struct OutboxQueueTests {
    private static func spaces(_ count: Int) throws -> [SpaceRecord] {
        try (0..<count).map {
            let id = try #require(SpaceID(Array(repeating: UInt8($0), count: 32)))
            return SpaceRecord(number: SpaceNumber(Int64($0)), id: id, kind: .group)
        }
    }

    @Test("spaces that are due are taken some at a time, the lowest first")
    func portions() throws {
        let spaces = try Self.spaces(40)
        var outbox = OutboxQueue()
        outbox.note(all: spaces.map(\.number).reversed())
        var taken: [[SpaceNumber]] = []
        while !outbox.isEmpty { taken.append(outbox.takePortion(of: spaces)) }
        #expect(taken.map(\.count) == [16, 16, 8])
        #expect(taken.joined().elementsEqual(spaces.map(\.number)))
    }

    @Test("that all are due does not hold up one that is noted, and goes on when it is let")
    func all() throws {
        let spaces = try Self.spaces(20)
        var outbox = OutboxQueue()
        outbox.noteAll()
        let first = outbox.takePortion(of: spaces)
        #expect(first == spaces.prefix(16).map(\.number) && !outbox.isEmpty)
        outbox.note(SpaceNumber(1))
        let second = outbox.takePortion(of: spaces)
        #expect(second == [SpaceNumber(1)] && !outbox.isEmpty)
        outbox.continueAll()
        let third = outbox.takePortion(of: spaces)
        #expect(third == spaces.suffix(4).map(\.number) && outbox.isEmpty)
    }

    @Test("what waits for links is due for nobody, and is handed out once")
    func unacknowledged() {
        var outbox = OutboxQueue()
        for number in [3, 1, 2] as [Int64] { outbox.awaitAcknowledgement(in: SpaceNumber(number)) }
        outbox.forget(SpaceNumber(2))
        #expect(outbox.isEmpty)
        outbox.removeAll()
        let taken = (0..<2).map { _ in outbox.takeUnacknowledged() }
        #expect(taken == [[SpaceNumber(1), SpaceNumber(3)], []])
    }

    @Test("without relays nothing is due, and nothing of what is gone")
    func gone() throws {
        var outbox = OutboxQueue()
        outbox.note(SpaceNumber(1))
        outbox.forget(SpaceNumber(1))
        #expect(outbox.isEmpty)
        outbox.noteAll()
        outbox.removeAll()
        #expect(outbox.isEmpty)
    }
}

@Suite("Gaps that are suspected")
struct SuspectedGapsTests {
    @Test("the last holder counts, and what did not join stays missing")
    func suspicion() throws {
        let holders = try (1...2).map {
            try #require(DeviceID(Array(repeating: UInt8($0), count: 32)))
        }
        let (space, other) = (SpaceNumber(1), SpaceNumber(2))
        var gaps = SuspectedGaps()
        gaps.note(in: space, reportedBy: holders[0], isDisconnected: true)
        gaps.note(in: space, reportedBy: holders[1], isDisconnected: false)
        gaps.note(in: other, reportedBy: holders[0], isDisconnected: false)
        gaps.forget(other)
        let taken = [space, space, other].map { gaps.take($0) }
        #expect(taken == [.init(holder: holders[1], isDisconnected: true), nil, nil])
    }
}

@Suite("What relays pass on")
struct PassingValueTests {
    private static let now = Instant(monotonic: 50_000, wall: 0)

    private static func relay(_ byte: UInt8) throws -> NoiseKey {
        try #require(NoiseKey(Array(repeating: byte, count: 32)))
    }

    private static func signal(_ byte: UInt8, at monotonic: UInt64) throws -> Passing.Waiting {
        let bytes = Array(repeating: byte, count: 32)
        return Passing.Waiting(
            signal: [byte], device: try #require(DeviceID(bytes)),
            person: try #require(PersonID(bytes)), since: Instant(monotonic: monotonic, wall: 0))
    }

    @Test("signals wait for a relay as long as they are of use, and are taken once")
    func waits() throws {
        let relay = try Self.relay(1)
        var passing = Passing()
        for (byte, moment) in [(1, 39_000), (2, 40_000), (3, 40_001), (4, 49_000)] {
            passing.enqueue(try Self.signal(UInt8(byte), at: UInt64(moment)), for: relay)
        }
        #expect(passing.waitingCount(for: relay) == 3)
        let other = passing.takeWaiting(for: try Self.relay(2), at: Self.now)
        let taken = passing.takeWaiting(for: relay, at: Self.now)
        let again = passing.takeWaiting(for: relay, at: Self.now)
        #expect(taken.map(\.signal) == [[3], [4]] && other.isEmpty && again.isEmpty)
    }

    @Test("of too many the oldest are dropped")
    func bound() throws {
        let relay = try Self.relay(1)
        var passing = Passing()
        for byte in 0..<40 { passing.enqueue(try Self.signal(UInt8(byte), at: 50_000), for: relay) }
        let taken = passing.takeWaiting(for: relay, at: Self.now)
        #expect(taken.map { Int($0.signal[0]) } == Array(8..<40))
    }

    @Test("letters leave half of what a relay may bring to signals")
    func allowance() throws {
        let relay = try Self.relay(1)
        var passing = Passing()
        let letters = (0..<1_000).prefix { _ in
            passing.takeOpening(from: relay, isLetter: true, at: Self.now)
        }
        let signals = (0..<1_000).prefix { _ in
            passing.takeOpening(from: relay, isLetter: false, at: Self.now)
        }
        #expect(letters.count == 160 && signals.count == 160)
        let isOtherOpen = passing.takeOpening(from: try Self.relay(2), isLetter: true, at: Self.now)
        #expect(isOtherOpen)
    }

    @Test("what was taken is known again")
    func known() throws {
        let name = try #require(Digest(Array(repeating: 1, count: 32)))
        var passing = Passing()
        #expect(!passing.isKnown(name))
        passing.noteTaken(name)
        #expect(passing.isKnown(name) && passing.takenCount == 1)
    }
}
