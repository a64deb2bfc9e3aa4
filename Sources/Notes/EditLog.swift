/// All edits of a note as their authors made them, each at a position of the text that its author had.
///
/// Nothing in it ever changes: the combined text is computed from it. Positions and lengths come
/// from others and may be wrong: a position beyond the end of a text counts as its end, and a
/// deletion there deletes nothing.
public struct EditLog: Sendable {
    /// The author of an edit, for breaking ties: of texts inserted at one place the lower author's
    /// comes first.
    public struct Author: Hashable, Comparable, Sendable {
        /// What is the same on every node for the author's device and differs from that of all others.
        public var tag: UInt64
        /// The number of the first event among those of the author.
        public var sequence: UInt64

        /// An author with these numbers.
        public init(tag: UInt64, sequence: UInt64) {
            (self.tag, self.sequence) = (tag, sequence)
        }

        /// By tag, then by sequence.
        public static func < (one: Author, other: Author) -> Bool {
            (one.tag, one.sequence) < (other.tag, other.sequence)
        }
    }

    /// Scalars that were inserted side by side, or deleted at one place.
    struct Run {
        var events: Range<Int>
        /// Where the first was inserted; where all were deleted, one after the other.
        var position: Int
        var isInsertion: Bool
        /// How many scalars all runs before it inserted: the number of its first one.
        var contentStart: Int

        /// The part of it that lies in a range.
        func clamped(to range: Range<Int>) -> Run {
            var run = self
            run.events = events.clamped(to: range)
            let skipped = run.events.lowerBound - events.lowerBound
            if isInsertion {
                run.position += skipped
                run.contentStart += skipped
            }
            return run
        }
    }

    /// Which edits their authors had seen.
    public private(set) var graph = EventGraph()
    /// All scalars that were ever inserted, by their numbers.
    private(set) var content: [Unicode.Scalar] = []
    private(set) var runs: [Run] = []
    /// Who made the events from one on.
    private var authors: [(first: Int, author: Author)] = []

    /// A log without edits.
    public init() {}

    /// Takes edits of one author of which each was made in the text of the one before.
    ///
    /// - Parameters:
    ///   - edits: at least one; each changes something.
    ///   - parents: the version of the text that the first was made in.
    /// - Returns: the numbers of their events, one for each scalar.
    @discardableResult
    public mutating func append(
        _ edits: [TextEdit], by author: Author, after parents: EventGraph.Version
    ) -> Range<Int> {
        let length = edits.reduce(0) { $0 + $1.deletedCount + $1.inserted.count }
        precondition(length > 0, "edits change something")
        let events = graph.append(length, after: parents)
        authors.append((events.lowerBound, author))
        var next = events.lowerBound
        for edit in edits {
            for (count, isInsertion) in [(edit.deletedCount, false), (edit.inserted.count, true)]
            where count > 0 {
                runs.append(
                    Run(
                        events: next..<next + count, position: edit.position,
                        isInsertion: isInsertion, contentStart: content.count))
                next += count
            }
            content += edit.inserted
        }
        return events
    }

    // MARK: Looking at them

    /// Calls with each run that lies in a range, or the part of it that does, and its index.
    func forEachRun(in events: Range<Int>, _ body: (Run, Int) -> Void) {
        if events.isEmpty { return }
        var index = runIndex(of: events.lowerBound)
        while index < runs.count, runs[index].events.lowerBound < events.upperBound {
            body(runs[index].clamped(to: events), index)
            index += 1
        }
    }

    /// The index of the run that holds an event.
    func runIndex(of event: Int) -> Int {
        runs.lastIndex(notAfter: event) { $0.events.lowerBound }
    }

    /// How many scalars the events before one inserted.
    func scalarCount(before event: Int) -> Int {
        guard event > 0 else { return 0 }
        let run = runs[runIndex(of: event - 1)]
        return run.contentStart + (run.isInsertion ? event - run.events.lowerBound : 0)
    }

    /// Whether an event is the lower of two by author.
    func isBefore(_ event: Int, _ other: Int) -> Bool { author(of: event) < author(of: other) }

    private func author(of event: Int) -> Author {
        let known = authors[authors.lastIndex(notAfter: event) { $0.first }]
        return Author(
            tag: known.author.tag,
            sequence: known.author.sequence &+ UInt64(event - known.first))
    }
}

/// A change of a text at one place: first something goes, then something comes.
public struct TextEdit: Equatable, Sendable {
    /// Where, in Unicode scalars; not negative.
    public var position: Int
    /// How many scalars go; not negative.
    public var deletedCount: Int
    /// What comes.
    public var inserted: [Unicode.Scalar]

    /// An edit with these fields.
    public init(at position: Int, deleting deletedCount: Int, inserting inserted: [Unicode.Scalar])
    {
        self.position = position
        self.deletedCount = deletedCount
        self.inserted = inserted
    }
}

/// What an edit comes to for a text that others have edited.
enum TextChange: Equatable {
    /// The scalars of the log with these numbers come.
    case insert(Range<Int>, at: Int)
    /// So many scalars go.
    case remove(Int, at: Int)
}
