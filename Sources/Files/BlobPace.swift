import ParleyWire

/// How many pieces one peer may owe: as many as come within a few milliseconds more than an answer takes at
/// least.
///
/// Requested pieces wait in queues on their way, in the peer's system, in the line and in this
/// one's, and messages on the same link wait behind them. So the delay of pieces is measured, and
/// no more is requested than keeps the slowest part of the path busy.
/// Source: `Protocol/13-files.md`, "Fetching".
struct BlobPace: Sendable {
    /// Outstanding pieces at first, at least, and at most: the last are 8 MiB, the capacity of a
    /// line of 100 MB/s and 80 ms.
    static let (windowStart, windowMin, windowMax) = (16, 2, 128)
    /// How long pieces may wait on their way, in milliseconds.
    static let waitMax: UInt64 = 6
    /// The shortest time of an answer is that of the last one to two periods, in milliseconds: ways change.
    static let period: UInt64 = 10_000

    private struct Question: Sendable {
        let time: UInt64
        let count: Int
        /// Whether nothing was owed when it was asked: then nothing waits before its answer.
        let isFirst: Bool
        var owed: Int
    }

    /// How many pieces may be owed.
    private(set) var window = BlobPace.windowStart
    private var questions: Queue<Question> = []
    private var shortest: (former: UInt64, present: UInt64) = (.max, .max)
    private var periodStart: UInt64 = 0
    private var narrowedAt: UInt64?

    /// How many pieces are asked for at a time, or more: few frames ask for much.
    var batchCount: Int { window < 4 ? 1 : max(2, window / 4) }

    /// Pieces were asked for, while so many were owed.
    mutating func asked(_ count: Int, besides owedCount: Int, at now: UInt64) {
        questions.append(
            Question(time: now, count: count, isFirst: owedCount == 0, owed: count))
    }

    /// A piece came.
    mutating func gave(at now: UInt64) {
        guard var question = questions.popFirst() else { return }
        // The others of it wait behind each other as well.
        if question.owed == question.count { answered(question, at: now) }
        question.owed -= 1
        if question.owed > 0 { questions.prepend(question) }
    }

    /// A requested piece will not arrive: it is unknown which request the next one answers.
    mutating func lost() { questions = [] }

    private mutating func answered(_ question: Question, at now: UInt64) {
        let took = min(now - min(now, question.time), Self.period)
        if now - min(now, periodStart) >= Self.period {
            shortest = (shortest.present, .max)
            periodStart = now
        }
        shortest.present = min(shortest.present, took)
        if question.isFirst { return }
        let room = min(shortest.former, shortest.present) + Self.waitMax
        guard took > room else {
            // Until the way was full for the first time it doubles with all that is owed.
            window = min(Self.windowMax, window + (narrowedAt == nil ? question.count : 1))
            return
        }
        // What was asked for before it was narrowed tells nothing of the window of now.
        if let narrowedAt, question.time < narrowedAt { return }
        narrowedAt = now
        window = max(Self.windowMin, window / 2, Int(UInt64(window) * room / took))
    }
}
