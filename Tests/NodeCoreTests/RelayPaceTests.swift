import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("Patience with a relay")
struct RelayPaceTests {
    /// Draws no jitter.
    private struct Zeros: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0 }
    }

    /// The delays after connections that lasted so long each; nil for a call that failed.
    private static func delays(
        after lives: [UInt64?], placeFailureCount: UInt64 = .max
    ) -> [UInt64] {
        var (pace, random, now) = (RelayPace(), Zeros(), 0 as UInt64)
        return lives.map { life in
            if let life {
                pace.open(at: now)
                now += life
            }
            let delay = pace.close(
                at: now, placeFailureCount: placeFailureCount, using: &random)
            now += delay
            return delay
        }
    }

    @Test("calls that fail follow each other more and more slowly")
    func failures() {
        #expect(
            Self.delays(after: Array(repeating: nil, count: 12)) == [
                1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000,
                300_000, 300_000,
            ])
    }

    @Test("where the next place failed less often, the call comes sooner")
    func places() {
        #expect(
            Self.delays(after: [nil, nil, nil], placeFailureCount: 0) == [1_000, 1_000, 1_000])
        #expect(
            Self.delays(after: [nil, nil, nil], placeFailureCount: 1) == [1_000, 2_000, 2_000])
    }

    @Test("a relay that takes each call and soon hangs up is called less often from the fourth on")
    func short() {
        #expect(
            Self.delays(after: Array(repeating: 29_999, count: 12)) == [
                1_000, 1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 64_000, 64_000,
                64_000,
            ])
        #expect(
            Self.delays(after: [1, 1, 1, 1, 30_000, 1])
                == [1_000, 1_000, 1_000, 2_000, 1_000, 1_000])
    }

    @Test("two nodes do not keep step")
    func jitter() {
        var random = SystemRandomNumberGenerator()
        let delays = (0..<100).map { _ in
            var pace = RelayPace()
            return pace.close(at: 0, placeFailureCount: 0, using: &random)
        }
        #expect(Set(delays).count > 20 && delays.allSatisfy { (1_000..<1_250).contains($0) })
    }

    @Test(
        "one that said goodbye has not failed, and is called when it may be back",
        arguments: zip([0, 5_000, 900_000] as [UInt64], [1_000, 5_000, 300_000] as [UInt64]))
    func goodbye(absence: UInt64, delay: UInt64) {
        var (pace, random) = (RelayPace(), Zeros())
        pace.open(at: 0)
        pace.noteGoodbye(for: absence)
        #expect(pace.hasSaidGoodbye)
        let waited = pace.close(at: 5, placeFailureCount: .max, using: &random)
        #expect(waited == delay && pace.failureCount == 0 && !pace.hasSaidGoodbye)
    }

    @Test("a relay without time rests as long as it says, and longer each time at least")
    func busy() {
        var pace = RelayPace()
        let first = pace.rest(for: 0, at: 0)
        // What was asked at once and is refused at once counts once.
        let again = pace.rest(for: 0, at: 10)
        #expect(first == 1_000 && again == 1_000)
        #expect(pace.isBusy(at: 1_009) && !pace.isBusy(at: 1_010))
        let second = pace.rest(for: 0, at: 1_010)
        let wished = pace.rest(for: 90_000, at: 1_010)
        #expect(second == 2_000 && wished == 90_000)
        let most = pace.rest(for: .max, at: 1_010)
        #expect(most == RelayPace.restMax)
    }

    @Test("what it does in time, and a connection that ends, make up for that")
    func work() {
        var (pace, random) = (RelayPace(), Zeros())
        _ = pace.rest(for: 0, at: 0)
        pace.noteWork(at: 500)
        let second = pace.rest(for: 0, at: 1_000)
        pace.noteWork(at: 3_000)
        let third = pace.rest(for: 0, at: 3_000)
        #expect(second == 2_000 && third == 1_000)
        pace.pause(until: 9_000)
        #expect(pace.isBusy(at: 8_999))
        _ = pace.close(at: 4_000, placeFailureCount: 0, using: &random)
        #expect(!pace.isBusy(at: 4_000) && pace.failureCount == 1)
        pace.forgive()
        #expect(pace.failureCount == 0)
    }
}

@Suite("What a relay was asked")
struct RelayQuestionsTests {
    @Test("a question is pending until its answer is taken, once")
    func pending() throws {
        let mailbox = try #require(MailboxID(Array(repeating: 1, count: 32)))
        var questions = RelayQuestions()
        let page = questions.add(.page(mailbox), of: mailbox)
        let signal = questions.add(.passing, of: mailbox)
        _ = questions.add(.put(SpaceNumber(1), LogTag(1), 0..<2), of: mailbox)
        #expect(page != signal && questions.contains(.page(mailbox)))
        #expect(questions.numbers == [1, 2, 3])
        #expect(questions.putCount == 1 && questions.passingCount == 1)
        let taken = [page, page, 99].map { questions.take($0) }
        #expect(taken == [AskedQuestion(question: .page(mailbox), mailbox: mailbox), nil, nil])
        #expect(!questions.contains(.page(mailbox)) && !questions.isEmpty)
    }

    @Test("no number is given out again after the connection is gone")
    func numbers() throws {
        let mailbox = try #require(MailboxID(Array(repeating: 1, count: 32)))
        var questions = RelayQuestions()
        let before = questions.add(.whatever, of: mailbox)
        questions.removeAll()
        #expect(questions.isEmpty)
        let after = questions.add(.whatever, of: mailbox)
        let late = questions.take(before)
        #expect(after != before && late == nil)
    }
}
