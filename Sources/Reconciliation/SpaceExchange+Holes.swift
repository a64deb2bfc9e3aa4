import ParleyLedger
import ParleyWire

/// Requesting what is missing here.
extension SpaceExchange {
    /// What a question asked for; the peer answers in the order of the questions.
    enum Question: Sendable {
        case holes
        case forgotten
        case fork
        case bodies
    }

    /// What is missing here according to a peer's tips.
    enum Lack: Sendable {
        /// It has said so before.
        case known
        /// Some of it was not announced by it before.
        case news
    }

    /// How many operations one question about holes asks for.
    static let wantOperationCount = 2048
    /// Larger holes count as this large when a question is divided among them.
    private static let holeOperationCountMax: UInt64 = 1 << 32
    /// How many questions about holes may be open.
    static let openWantCountMax = 2

    private var openWantCount: Int { questions.count { $0 == .holes } }

    /// What was requested and did not arrive may be requested again.
    mutating func forgetQuestions() {
        asked = [:]
        questions = Queue(questions.map { $0 == .holes ? .forgotten : $0 })
        cannotFill = false
    }

    /// The peer has answered its oldest question. Returns whether that was about holes.
    mutating func answered(isEmpty: Bool) -> Bool {
        guard let question = questions.popFirst() else { return false }
        if question == .holes, isEmpty { cannotFill = true }
        if question == .fork, isEmpty || searches.isWaiting { searches.endFruitless() }
        return question == .holes || question == .forgotten
    }

    /// The next question about holes: the newest part of each, sized so that all close together.
    mutating func nextWant(store: some LogStore) throws(StoreError) -> Want? {
        guard openWantCount < Self.openWantCountMax, !cannotFill, scope.isEverything else {
            return nil
        }
        var holes: [(tag: LogTag, range: ClosedRange<UInt64>)] = []
        for log in try logs(store) {
            guard let gap = log.gap else {
                asked[log.tag] = nil
                continue
            }
            let top = min(gap.upperBound, (asked[log.tag] ?? gap.upperBound + 1) &- 1)
            guard top >= gap.lowerBound, asked[log.tag] != gap.lowerBound else { continue }
            holes.append((log.tag, gap.lowerBound...top))
        }
        guard !holes.isEmpty else { return nil }
        holes = Array(holes.prefix(Limits.wantRangeCountMax))
        // An author may leave a gap of any size: numbers added and multiplied here are bounded.
        let sizes = holes.map { hole in
            min(hole.range.upperBound - hole.range.lowerBound, Self.holeOperationCountMax) + 1
        }
        let total = sizes.reduce(0, +)
        let ranges = zip(holes, sizes).map { hole, size in
            let share = UInt64(Self.wantOperationCount) * size / total
            let count = min(size, max(32, share))
            let first = hole.range.upperBound - (count - 1)
            asked[hole.tag] = first
            return Want.Range(tag: hole.tag, first: first, last: hole.range.upperBound)
        }
        questions.append(.holes)
        return Want(space: space.id, limit: UInt64(Limits.wantOperationCountMax), ranges: ranges)
    }
}
