/// Replays edits that were made side by side, and says what each comes to for a text that holds those
/// before it: Eg-walker's algorithm over the order of FugueMax (YjsMod).
///
/// It visits events in an order in which each comes after what it follows. For each it moves to the
/// version that the author had, finds the place there, and returns the change to the text of
/// everything so far. Edits without a concurrent one never come here. Sources: Gentle and
/// Kleppmann, "Collaborative Text Editing with Eg-walker"; Weidner, Gentle and Kleppmann, "The Art
/// of the Fugue".
struct EditWalk {
    private let log: EditLog
    /// The version where the walk is.
    private var version: EventGraph.Version
    private var tree = ItemTree()
    /// The scalars that come after the base begin with this one, and the runs with that.
    private let firstScalar: Int
    private let firstRun: Int
    /// For each scalar after the base the item that it is in.
    private var itemOfScalar: [Int]
    /// For each run after the base what it has deleted.
    private var removals: [[Removal]]
    /// The items of the base's text, by their first scalars, ascending: their numbers are above all others.
    private var ground: [(first: Int, item: Int)] = []
    private let groundStart: Int

    /// The items that came after the base, by where they were inserted, each kind by their authors.
    private var siblings: [Gap: [Int]] = [:]

    /// Where an item was inserted: see ``Item/left`` and ``Item/right``.
    private struct Gap: Hashable {
        var left: Int?
        var right: Int?
    }

    /// Scalars that a run of deletions took out, and the first of its events that did.
    private struct Removal {
        var event: Int
        var scalars: Range<Int>
    }

    /// A walk over what follows `base`, whose text has `length` scalars.
    init(_ log: EditLog, from base: EventGraph.Version, length: Int) {
        self.log = log
        version = base
        let first = (base.max() ?? -1) + 1
        firstRun = log.runIndex(of: first)
        firstScalar = log.scalarCount(before: first)
        groundStart = log.content.count
        itemOfScalar = Array(repeating: -1, count: groundStart - firstScalar)
        removals = Array(repeating: [], count: log.runs.count - firstRun)
        guard length > 0 else { return }
        let item = tree.insert(Item(first: groundStart, length: length), at: tree.start)
        ground = [(groundStart, item)]
    }

    /// Goes through events that follow one another.
    mutating func replay(_ events: Range<Int>, _ tell: (TextChange) -> Void) {
        move(to: log.graph.parents(of: events.lowerBound))
        log.forEachRun(in: events) { run, index in
            if run.isInsertion {
                insert(run, tell)
            } else {
                remove(run, index, tell)
            }
        }
        version = [events.upperBound - 1]
    }

    // MARK: Versions

    private mutating func move(to other: EventGraph.Version) {
        let difference = log.graph.difference(version, other)
        for events in difference.first { shift(events, by: -1) }
        for events in difference.second.reversed() { shift(events, by: 1) }
        version = other
    }

    private mutating func shift(_ events: Range<Int>, by step: Int) {
        log.forEachRun(in: events) { run, index in
            guard !run.isInsertion else {
                return shiftItems(run.contentStart..<run.contentStart + run.events.count, by: step)
            }
            for removal in removals[index - firstRun] {
                // Of those events that are meant, where the run is longer.
                let low = max(0, run.events.lowerBound - removal.event)
                let high = min(removal.scalars.count, run.events.upperBound - removal.event)
                guard low < high else { continue }
                let start = removal.scalars.lowerBound
                shiftItems(start + low..<start + high, by: step)
            }
        }
    }

    private mutating func shiftItems(_ scalars: Range<Int>, by step: Int) {
        var scalar = scalars.lowerBound
        while scalar < scalars.upperBound {
            let item = isolate(scalar..<scalars.upperBound)
            tree.update(item) { $0.state += step }
            scalar = tree[item].end
        }
    }

    // MARK: Items

    /// The item that begins with the first of these scalars and holds no other than these.
    private mutating func isolate(_ scalars: Range<Int>) -> Int {
        var item = item(of: scalars.lowerBound)
        if tree[item].first < scalars.lowerBound {
            item = divide(item, at: scalars.lowerBound - tree[item].first)
        }
        if tree[item].end > scalars.upperBound {
            _ = divide(item, at: scalars.upperBound - tree[item].first)
        }
        return item
    }

    private func item(of scalar: Int) -> Int {
        guard scalar >= groundStart else { return itemOfScalar[scalar - firstScalar] }
        return ground[groundIndex(of: scalar)].item
    }

    private func groundIndex(of scalar: Int) -> Int {
        ground.lastIndex(notAfter: scalar) { $0.first }
    }

    /// Returns the part of the item from `offset` on.
    private mutating func divide(_ item: Int, at offset: Int) -> Int {
        let tail = tree.divide(item, at: offset)
        note(tail)
        return tail
    }

    private mutating func note(_ item: Int) {
        let (first, end) = (tree[item].first, tree[item].end)
        guard first < groundStart else {
            return ground.insert((first, item), at: groundIndex(of: first) + 1)
        }
        for scalar in first..<end { itemOfScalar[scalar - firstScalar] = item }
        let gap = Gap(left: tree[item].left, right: tree[item].right)
        let rivals = siblings[gap] ?? []
        let place = rivals.firstIndex { log.isBefore(tree[item].event, tree[$0].event) }
        siblings[gap, default: []].insert(item, at: place ?? rivals.endIndex)
    }

    // MARK: Edits

    /// What lies beyond the end of the text is not there to be deleted.
    private mutating func remove(
        _ run: EditLog.Run, _ index: Int, _ tell: (TextChange) -> Void
    ) {
        var event = run.events.lowerBound
        while event < run.events.upperBound, let found = tree.find(present: run.position) {
            let length = min(run.events.upperBound - event, tree[found.item].length - found.offset)
            let first = tree[found.item].first + found.offset
            let item = isolate(first..<first + length)
            if !tree[item].isDeleted { tell(.remove(length, at: found.shown + found.offset)) }
            tree.update(item) { ($0.state, $0.isDeleted) = (1, true) }
            removals[index - firstRun].append(
                Removal(event: event, scalars: first..<first + length))
            event += length
        }
    }

    /// What lies beyond the end of the text stands at its end.
    private mutating func insert(_ run: EditLog.Run, _ tell: (TextChange) -> Void) {
        var item = Item(first: run.contentStart, length: run.events.count)
        item.event = run.events.lowerBound
        var place = tree.start
        if let found = tree.find(present: min(run.position, tree.presentCount) - 1) {
            item.left = tree[found.item].first + found.offset
            if found.offset + 1 < tree[found.item].length {
                _ = divide(found.item, at: found.offset + 1)
            }
            place = tree.place(of: found.item)
            place.slot += 1
        }
        item.right = rightParent(of: item.left, at: place)
        let number = tree.insert(item, at: integrated(item, behind: place))
        note(number)
        let scalars = run.contentStart..<run.contentStart + run.events.count
        tell(.insert(scalars, at: tree.shownIndex(of: number)))
    }

    /// What stands right of an insertion where the walk is, deleted or not, if it has the same left.
    private func rightParent(of left: Int?, at place: ItemTree.Place) -> Int? {
        tree.inserted(from: place).flatMap { tree[$0].left == left ? tree[$0].first : nil }
    }

    /// The place of an item among what others inserted concurrently behind the same scalar.
    ///
    /// Items with the same left are the forest that their rights make: those with no right follow each other
    /// by their authors, and so do those with the same one, right before it. Behind each stands what has it as
    /// its left. So no more is looked at than what has the same left and right, of which an author has one at
    /// most, and what was typed in one go below one of these.
    ///
    /// - Parameter place: right behind its left.
    private func integrated(_ item: Item, behind place: ItemTree.Place) -> ItemTree.Place {
        let rivals = siblings[Gap(left: item.left, right: item.right)] ?? []
        if let next = rivals.first(where: { log.isBefore(item.event, tree[$0].event) }) {
            return tree.place(of: first(of: next))
        }
        if let right = item.right { return tree.place(of: self.item(of: right)) }
        guard let last = rivals.last else { return place }
        var end = tree.place(of: self.last(of: last))
        end.slot += 1
        return end
    }

    /// The first of those that stand before an item because it is their right, or theirs in turn.
    private func first(of item: Int) -> Int {
        var first = item
        while let other = siblings[Gap(left: tree[first].left, right: tree[first].first)]?.first {
            first = other
        }
        return first
    }

    /// The last of those that stand behind an item because it is their left, or theirs in turn.
    private func last(of item: Int) -> Int {
        var last = item
        while let other = siblings[Gap(left: tree[last].end - 1, right: nil)]?.last { last = other }
        return last
    }
}

extension Array {
    /// The last place whose number is at most the given one, of numbers that ascend; 0 where there is none.
    func lastIndex(notAfter number: Int, _ key: (Element) -> Int) -> Int {
        var (low, high) = (0, count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if key(self[middle]) <= number { low = middle } else { high = middle }
        }
        return low
    }
}
