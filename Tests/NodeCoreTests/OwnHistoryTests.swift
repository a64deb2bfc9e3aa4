import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("What a device knows of its own history")
struct OwnHistoryTests {
    private static let (first, second) = (SpaceNumber(1), SpaceNumber(2))
    private static let (log, other) = (LogTag(1), LogTag(2))

    private static func behind(needsPeer: Bool = false) -> OwnHistory {
        OwnHistory(Rejoin(reason: "behind", ends: [log: 5, other: 3], needsPeer: needsPeer))
    }

    @Test("a store that is whole blocks nothing")
    func whole() {
        var history = OwnHistory()
        #expect(history.rejoin == nil && !history.isBehind)
        let wasAwaited = history.noteAnswer()
        #expect(!wasAwaited)
        #expect(history.missingLogs(holding: [:]) == nil)
    }

    @Test(
        "logs are missing that end before where they ended",
        arguments: [
            ([:], [1, 2]), ([1: 4, 2: 3], [1]), ([1: 5, 2: 2], [2]), ([1: 5, 2: 3], []),
            ([1: 9, 2: .max], []),
        ] as [([UInt64: UInt64], [UInt64])])
    func missing(held: [UInt64: UInt64], missing: [UInt64]) {
        let ends = Dictionary(uniqueKeysWithValues: held.map { (LogTag($0.key), $0.value) })
        let found = Self.behind().missingLogs(holding: ends)
        #expect(found == Set(missing.map { LogTag($0) }))
    }

    @Test("nothing is known to be missing before a peer that is needed has answered, once")
    func answer() {
        var history = Self.behind(needsPeer: true)
        #expect(history.missingLogs(holding: [:]) == nil)
        let wasAwaited = (0..<2).map { _ in history.noteAnswer() }
        #expect(wasAwaited == [true, false])
        #expect(history.missingLogs(holding: [:])?.count == 2)
        #expect(history.rejoin?.needsPeer == false)
    }

    @Test("what no peer will serve does not block writing, and is still missing")
    func unrecoverable() {
        var history = Self.behind()
        history.judgeRecovery(isComplete: false, isUnrecoverable: true)
        #expect(history.rejoin == nil && history.found != nil && history.isBehind)
        let wasUnrecoverable = (0..<2).map { _ in history.reopenRecovery() }
        #expect(wasUnrecoverable == [true, false])
        #expect(history.rejoin != nil)
    }

    @Test("a recovery that is complete is over for good")
    func complete() {
        var history = Self.behind()
        history.judgeRecovery(isComplete: false, isUnrecoverable: false)
        #expect(history.rejoin != nil)
        history.judgeRecovery(isComplete: true, isUnrecoverable: true)
        #expect(history.found == nil && history.rejoin == nil && !history.isBehind)
    }

    @Test("a gap is of one space, and grows only")
    func gaps() {
        var history = OwnHistory()
        let ends: [[LogTag: UInt64]] = [
            [Self.log: 5], [Self.log: 4], [Self.log: 4, Self.other: 1],
        ]
        let hasGrown = ends.map { history.extendGap(in: Self.second, to: $0) }
        #expect(hasGrown == [true, false, true])
        #expect(history.gap(in: Self.second) == [Self.log: 5, Self.other: 1])
        #expect(history.gap(in: Self.first) == nil && !history.hasGap(in: Self.first))
        #expect(history.isBehind && history.rejoin == nil)
        _ = history.extendGap(in: Self.first, to: [Self.log: 1])
        _ = history.extendGap(in: SpaceNumber(3), to: [:])
        #expect(history.gaps.map(\.space) == [Self.first, Self.second])
    }

    @Test("spaces whose gaps were closed are handed out once, ascending")
    func closed() {
        var history = OwnHistory()
        for space in [Self.second, Self.first, SpaceNumber(3)] {
            _ = history.extendGap(in: space, to: [Self.log: 1])
            history.closeGap(in: space)
            #expect(!history.hasGap(in: space))
        }
        history.forget(SpaceNumber(3))
        let handedOut = (0..<2).map { _ in history.takeClosedGaps() }
        #expect(handedOut == [[Self.first, Self.second], []])
        #expect(!history.isBehind)
    }
}

@Suite("What peers have confirmed")
struct ConfirmationsTests {
    @Test("a space is confirmed once, until it is forgotten")
    func confirm() {
        var confirmations = Confirmations()
        let isFirst = [2, 2, 1].map { confirmations.confirm(SpaceNumber($0)) }
        #expect(isFirst == [true, false, true])
        #expect(confirmations.spaces == [SpaceNumber(1), SpaceNumber(2)])
        confirmations.forget(SpaceNumber(2))
        #expect(!confirmations.isConfirmed(SpaceNumber(2)))
        #expect(confirmations.isConfirmed(SpaceNumber(1)))
    }

    @Test("a device that claims what it does not prove is counted once")
    func claims() throws {
        let devices = try (1...2).map {
            try #require(DeviceID(Array(repeating: UInt8($0), count: 32)))
        }
        var confirmations = Confirmations()
        let counted = [0, 0, 1, 0].map { confirmations.noteUnprovenClaim(by: devices[$0]) }
        #expect(counted == [true, false, true, false])
    }

    @Test("a peer that holds the same is waited for once")
    func equal() {
        var confirmations = Confirmations()
        let early = confirmations.meetEqualPeer()
        confirmations.awaitEqualPeer()
        let wasAwaited = (0..<2).map { _ in confirmations.meetEqualPeer() }
        #expect(!early && wasAwaited == [true, false])
    }
}
