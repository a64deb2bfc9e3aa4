import ParleyLedger
import ParleyWire

/// What a peer asked for of a space and was not sent yet, the oldest question first.
struct OpenWants: Sendable {
    /// How many questions wait; more are dropped.
    static let countMax = 16

    private struct Answer: Sendable {
        var ranges: Queue<Want.Range>
        /// How many operations it may still hold.
        var limit: UInt64
    }
    private var answers: Queue<Answer> = []

    var isEmpty: Bool { answers.isEmpty }

    mutating func add(_ want: Want) {
        guard answers.count < Self.countMax else { return }
        answers.append(Answer(ranges: Queue(want.ranges), limit: want.limit))
    }

    /// The next frame of the oldest answer, or nil if no question is open. The last one of an answer says so, also
    /// where there is nothing to send.
    mutating func next(
        of space: SpaceRecord, _ scope: SharingScope, store: some LogStore
    ) throws(StoreError) -> Operations? {
        guard var answer = answers.first else { return nil }
        var runs: [Run] = []
        var room = Limits.operationsFrameByteCount
        while room > 0, answer.limit > 0, var range = answer.ranges.first {
            range.first = max(range.first, scope.first(of: range.tag))
            let log =
                range.first <= range.last
                ? try scope.log(range.tag, of: space.number, in: store) : nil
            let run = try log.flatMap { log throws(StoreError) in
                try RunReader.backward(
                    log, range.first...range.last, room: room, limit: answer.limit,
                    store: store)
            }
            guard let run else {
                _ = answer.ranges.popFirst()
                continue
            }
            runs.append(run)
            room -= run.byteCount
            answer.limit -= min(answer.limit, UInt64(run.operations.count))
            if run.first > range.first {
                range.last = run.first - 1
                answer.ranges[0] = range
            } else {
                _ = answer.ranges.popFirst()
            }
        }
        let isDone = answer.ranges.isEmpty || answer.limit == 0
        answers[0] = answer
        if isDone { answers.dropOldest() }
        return Operations(space: space.id, endsAnswer: isDone, runs: runs)
    }
}
