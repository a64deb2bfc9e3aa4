public import ParleyLedger
public import ParleyNotes
public import ParleyWire

/// All edits of a note that count, in order, and the resulting text.
///
/// It follows from the set of edits alone, in whatever order they arrived. Each edit follows those
/// that it names and the one before it in its log. A name is ignored if the edit does not count,
/// belongs to another note or stands above it.
/// Source: `Protocol/03-operations.md`, "Notes".
public struct NoteHistory {
    /// What one operation edited.
    public struct Step: Equatable, Sendable {
        /// Its row here.
        public var number: OperationNumber
        /// How operations of the space name it.
        public var reference: OperationReference
        /// When it was written by its author's clock, in Unix milliseconds.
        public var time: UInt64
        /// The changes, each relative to the text left by the one before.
        public var edits: [TextEdit]
        /// The steps that it directly follows, by their place among all.
        fileprivate var parents: [Int]

        /// How many scalars they insert.
        public var insertedCount: Int { edits.reduce(0) { $0 + $1.inserted.count } }
        /// How many they delete.
        public var deletedCount: Int { edits.reduce(0) { $0 + $1.deletedCount } }
        /// The start of what they insert, for a line of a list. Each is in lines of its own: they stand at
        /// different places.
        public var beginning: String {
            String(String.UnicodeScalarView(lines.joined(separator: ["\n"]).prefix(80)))
        }
        /// In how many lines that stands.
        public var lineCount: Int { lines.count }

        /// What they insert, without empty lines.
        private var lines: [ArraySlice<Unicode.Scalar>] {
            edits.flatMap { $0.inserted.split { Character($0).isNewline } }
        }
    }

    /// All of them, in order.
    public private(set) var steps: [Step] = []
    /// How many scalars they insert.
    public private(set) var insertedCount = 0
    private var places: [OperationReference: Int] = [:]

    /// The edits of a note.
    ///
    /// - Parameter untaken: edits of it that count for nobody, each where it would stand. With them, the texts
    ///   are those that their author had.
    public init(
        of note: OperationReference, in space: SpaceNumber, with untaken: [SharedWord] = [],
        store: some MergeStore
    ) throws(StoreError) {
        var chains = Chains()
        var entries = try Self.entries(of: note, in: space, store: store)
        if !untaken.isEmpty {
            let object = EntryObject.operation(note.tag, note.sequence)
            entries += untaken.map {
                Entry(
                    space: space, object: object, field: .noteEdit,
                    operation: $0.operation.number, order: $0.order)
            }
            entries.sort { $0.order < $1.order }
        }
        for entry in entries
        where steps.count < Limits.noteOperationCountMax {
            guard let operation = try store.operation(entry.operation)?.operation,
                let payload = operation.payload, let edits = NoteEdits(payload: payload)?.edits
            else { continue }
            // Everybody who opens the note would have to hold what is inserted beyond the bound.
            let count = edits.reduce(0) { $0 + $1.inserted.count }
            guard insertedCount + count <= Limits.noteScalarCountMax else { continue }
            insertedCount += count
            let reference = entry.order.reference
            let named = operation.header.references.dropFirst().compactMap { name in
                places[name].map { (name, $0) }
            }
            places[reference] = steps.count
            steps.append(
                Step(
                    number: entry.operation, reference: reference,
                    time: operation.header.wallClock, edits: edits,
                    parents: chains.parents(of: reference, steps.count, naming: named)))
        }
    }

    static func entries(
        of note: OperationReference, in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> [Entry] {
        try store.entries(
            about: .operation(note.tag, note.sequence), in: space, field: .noteEdit,
            element: Target.element(of: note.check, in: store))
    }

    // MARK: Versions

    /// The edits that no other follows, ascending: the version of all.
    public var heads: [OperationReference] { heads(of: steps.indices) }

    /// The version of the first so many.
    public func heads(ofFirst count: Int) -> [OperationReference] { heads(of: 0..<count) }

    private func heads(of range: Range<Int>) -> [OperationReference] {
        var isHead = Array(repeating: true, count: range.count)
        for step in steps[range] { for parent in step.parents { isHead[parent] = false } }
        return range.filter { isHead[$0] }.map { steps[$0].reference }
    }

    /// The index of an edit; nil if there is none.
    public func place(of edit: OperationReference) -> Int? { places[edit] }

    /// Whether a version, made of edits of this note, holds everything that one log has written.
    func holds(everythingBy tag: LogTag, _ version: [Int]) -> Bool {
        guard let last = steps.lastIndex(where: { $0.reference.tag == tag }) else { return true }
        return past(of: version)[last]
    }

    /// The places of the edits that a version is made of; nil where one of them is no edit of this note.
    func places(of version: [OperationReference]) -> [Int]? {
        let found = version.compactMap { places[$0] }
        return found.count == version.count ? found : nil
    }

    private func past(of version: [Int]) -> [Bool] {
        var past = Array(repeating: false, count: steps.count)
        for place in version { past[place] = true }
        for place in steps.indices.reversed() where past[place] {
            for parent in steps[place].parents { past[parent] = true }
        }
        return past
    }

    // MARK: Texts

    /// What all edits come to.
    public var text: String { scalars.string }

    var scalars: ScalarText { Log(of: self) { _ in true }.log.text() }

    /// The text after the first so many.
    public func text(ofFirst count: Int) -> String {
        Log(of: self) { $0 < count }.log.text().string
    }

    /// The text of a version; nil if there is none.
    public func text(at version: [OperationReference]) -> ScalarText? {
        guard let places = places(of: version) else { return nil }
        let past = past(of: places)
        return Log(of: self) { past[$0] }.log.text()
    }

    /// The text that the author of an edit had after it; nil if it is none of this note.
    public func text(after edit: OperationReference) -> String? { text(at: [edit])?.string }

    /// Where positions of the text of a version stand in the text of all; nil where there is no such version.
    public func positions(_ positions: [Int], in version: [OperationReference]) -> [Int]? {
        guard let places = places(of: version) else { return nil }
        let log = Log(of: self) { _ in true }
        return log.log.positions(positions, in: log.version(of: places))
    }

    /// What all edits and these come to, which somebody made in the text of a version.
    func text(with edits: [TextEdit], in version: [Int], by author: EditLog.Author) -> ScalarText {
        var log = Log(of: self) { _ in true }
        log.log.append(edits, by: author, after: log.version(of: version))
        return log.log.text()
    }

    /// Some of the edits, as the room of notes takes them.
    private struct Log {
        var log = EditLog()
        private var versions: [EventGraph.Version] = []

        init(of history: NoteHistory, where isMeant: (Int) -> Bool) {
            for (place, step) in history.steps.enumerated() {
                guard isMeant(place) else {
                    versions.append([])
                    continue
                }
                let parents = version(of: step.parents)
                if step.edits.isEmpty {
                    versions.append(parents)
                } else {
                    let author = EditLog.Author(
                        tag: step.reference.tag.value, sequence: step.reference.sequence << 32)
                    let events = log.append(step.edits, by: author, after: parents)
                    versions.append([events.upperBound - 1])
                }
            }
        }

        func version(of places: [Int]) -> EventGraph.Version {
            // Most follow one other.
            if places.count == 1 { return versions[places[0]] }
            return log.graph.version(of: places.flatMap { versions[$0] })
        }
    }
}

/// What was seen along each log, while edits are processed in order.
private struct Chains {
    private struct Chain {
        /// The edits of the log that were taken, in the order in which they were.
        var steps: [(sequence: UInt64, place: Int)] = []
        /// The last of each log that one of them named.
        var named: [LogTag: UInt64] = [:]
        /// Whether one stands below another that it was written after. Above a hole that happens.
        var isDisordered = false
    }

    private var chains: [LogTag: Chain] = [:]

    /// What an edit directly follows: the one before it in its log, and what it names that none
    /// before it named.
    mutating func parents(
        of edit: OperationReference, _ place: Int, naming named: [(OperationReference, Int)]
    ) -> [Int] {
        var chain = chains[edit.tag] ?? Chain()
        let before = chain.steps.last { $0.sequence < edit.sequence }
        if let last = chain.steps.last, last.sequence > edit.sequence { chain.isDisordered = true }
        var parents = before.map { [$0.place] } ?? []
        for (name, other) in named where name.tag != edit.tag || chain.isDisordered {
            let isOrderly = !chain.isDisordered && chains[name.tag]?.isDisordered == false
            // An edit that follows one of a log follows everything before that: nothing is visited
            // twice.
            if isOrderly, let known = chain.named[name.tag], known >= name.sequence { continue }
            if !parents.contains(other) { parents.append(other) }
            chain.named[name.tag] = max(chain.named[name.tag] ?? 0, name.sequence)
        }
        chain.steps.append((edit.sequence, place))
        chains[edit.tag] = chain
        return parents
    }
}
