/// Which edits of a note their authors had seen: the causal graph of its events.
///
/// An *event* is the insertion or deletion of one Unicode scalar. Events are numbered from 0 on in an
/// order in which each comes after all that it follows from; a node numbers them as they come, so
/// numbers mean nothing elsewhere. Runs of events that follow one another are one ``Span``.
public struct EventGraph: Sendable {
    /// The past of a device: the events that no other of these follows, ascending. Empty for
    /// nothing.
    public typealias Version = [Int]

    /// Events of which each follows the one before it.
    struct Span: Equatable, Sendable {
        var range: Range<Int>
        /// What the first of them follows.
        var parents: Version
    }

    private(set) var spans: [Span] = []
    /// The version of everything.
    public private(set) var heads: Version = []

    /// An empty graph.
    public init() {}

    /// How many events there are.
    public var count: Int { spans.last?.range.upperBound ?? 0 }

    /// Takes events that follow one another, the first after `parents`.
    ///
    /// - Parameters:
    ///   - length: how many; at least one.
    ///   - parents: a version of this graph: none of its events follows another.
    /// - Returns: their numbers.
    mutating func append(_ length: Int, after parents: Version) -> Range<Int> {
        let range = count..<count + length
        if let last = spans.last, parents == [last.range.upperBound - 1] {
            spans[spans.count - 1].range = last.range.lowerBound..<range.upperBound
        } else {
            spans.append(Span(range: range, parents: parents))
        }
        heads = heads.filter { !parents.contains($0) } + [range.upperBound - 1]
        return range
    }

    /// Which span holds an event.
    func span(of event: Int) -> Int {
        var (low, high) = (0, spans.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if spans[middle].range.lowerBound <= event { low = middle } else { high = middle }
        }
        return low
    }

    /// What an event directly follows.
    func parents(of event: Int) -> Version {
        let span = spans[self.span(of: event)]
        return event == span.range.lowerBound ? span.parents : [event - 1]
    }

    // MARK: Versions

    /// The events that one of two versions holds alone.
    struct Difference: Equatable {
        /// Those of the first version, descending.
        var first: [Range<Int>] = []
        /// Those of the second, descending.
        var second: [Range<Int>] = []
    }

    private enum Side {
        case first, second, both
    }

    /// Compares two versions. Costs about as much as what lies between them.
    func difference(_ first: Version, _ second: Version) -> Difference {
        var difference = Difference()
        if first == second { return difference }
        var queue = Heap()
        for event in first { queue.push(event, .first) }
        for event in second { queue.push(event, .second) }
        // Once all that is left is in both, so is all below it.
        while queue.hasOneSided, let (event, side) = queue.popMerged() {
            let span = spans[self.span(of: event)]
            // Down to the next that somebody else holds, or to where the span begins.
            let next = queue.top ?? -1
            let low = max(span.range.lowerBound, next + 1)
            switch side {
            case .first: Self.add(low..<event + 1, to: &difference.first)
            case .second: Self.add(low..<event + 1, to: &difference.second)
            case .both: break
            }
            if low > span.range.lowerBound {
                queue.push(low - 1, side)
            } else {
                for parent in span.parents { queue.push(parent, side) }
            }
        }
        return difference
    }

    private static func add(_ range: Range<Int>, to ranges: inout [Range<Int>]) {
        if let last = ranges.last, last.lowerBound == range.upperBound {
            ranges[ranges.count - 1] = range.lowerBound..<last.upperBound
        } else {
            ranges.append(range)
        }
    }

    /// Those of some events that none of the others follows, ascending: a version.
    public func version(of events: [Int]) -> Version {
        let sorted = Set(events).sorted()
        guard sorted.count > 1 else { return sorted }
        return sorted.filter { event in
            !sorted.contains { $0 > event && follows($0, event) }
        }
    }

    /// Whether an event follows from another, at any distance.
    public func follows(_ event: Int, _ other: Int) -> Bool {
        event > other && difference([event], [other]).second.isEmpty
    }

    /// Events, the greatest first, each with the versions that hold it.
    private struct Heap {
        private var entries: [(event: Int, side: Side)] = []
        private var oneSided = 0

        var hasOneSided: Bool { oneSided > 0 }
        var top: Int? { entries.first?.event }

        mutating func push(_ event: Int, _ side: Side) {
            if side != .both { oneSided += 1 }
            entries.append((event, side))
            var child = entries.count - 1
            while child > 0, entries[(child - 1) / 2].event < entries[child].event {
                entries.swapAt(child, (child - 1) / 2)
                child = (child - 1) / 2
            }
        }

        /// Takes the greatest event out, however often it is there.
        mutating func popMerged() -> (Int, Side)? {
            guard var (event, side) = pop() else { return nil }
            while top == event, let other = pop() {
                if other.side != side { side = .both }
                event = other.event
            }
            return (event, side)
        }

        private mutating func pop() -> (event: Int, side: Side)? {
            guard let first = entries.first else { return nil }
            if first.side != .both { oneSided -= 1 }
            let last = entries.removeLast()
            if !entries.isEmpty {
                entries[0] = last
                sink()
            }
            return first
        }

        private mutating func sink() {
            var parent = 0
            while true {
                var greatest = parent
                for child in [2 * parent + 1, 2 * parent + 2]
                where child < entries.count && entries[child].event > entries[greatest].event {
                    greatest = child
                }
                guard greatest != parent else { return }
                entries.swapAt(parent, greatest)
                parent = greatest
            }
        }
    }
}
