import ParleyNotes

/// A history of a note that several edited, drawn from a seed: they edit by themselves, and now and then
/// one takes in what another had.
struct DrawnNote {
    struct Change {
        var edits: [TextEdit]
        var author: EditLog.Author
        /// The changes that it directly follows, by their place in the history.
        var parents: [Int]
    }

    private(set) var changes: [Change] = []

    /// - Parameter isHostile: whether positions and lengths lie beyond what is there, now and then.
    init(seed: UInt64, persons: Int = 3, count: Int = 30, isHostile: Bool = false) {
        var draws = Draws(seed: seed)
        var heads = Array(repeating: Set<Int>(), count: persons)
        var counts = Array(repeating: UInt64(0), count: persons)
        for place in 0..<count {
            let person = draws.number(below: persons)
            if draws.number(below: 3) == 0 {
                heads[person].formUnion(heads[draws.number(below: persons)])
            }
            let parents = newest(heads[person])
            let log = log(of: parents)
            var length = log.text().count
            var edits: [TextEdit] = []
            for _ in 0...draws.number(below: 3) {
                let far = isHostile && draws.number(below: 4) == 0 ? 9 : 0
                let position = draws.number(below: length + 1 + far)
                let deletes = length > 0 && draws.number(below: 3) == 0
                let room = max(0, length - position) + far
                let gone = deletes ? draws.number(below: min(4, room) + 1) : 0
                let come = (0..<(gone == 0 ? 1 + draws.number(below: 3) : draws.number(below: 2)))
                    .map {
                        _ in Unicode.Scalar(UInt8(97 + draws.number(below: 26)))
                    }
                edits.append(TextEdit(at: position, deleting: gone, inserting: come))
                length += come.count - min(gone, max(0, length - position))
            }
            changes.append(
                Change(
                    edits: edits,
                    author: EditLog.Author(tag: UInt64(person), sequence: counts[person]),
                    parents: parents))
            counts[person] += UInt64(Self.eventCount(edits))
            heads[person] = [place]
        }
    }

    static func eventCount(_ edits: [TextEdit]) -> Int {
        edits.reduce(0) { $0 + $1.deletedCount + $1.inserted.count }
    }

    /// The changes up to these, as one who took them in in this order has them.
    func log(_ order: [Int]) -> EditLog {
        var log = EditLog()
        var ends: [Int: Int] = [:]
        for place in order {
            let change = changes[place]
            let parents = change.parents.compactMap { ends[$0] }.sorted()
            ends[place] = log.append(change.edits, by: change.author, after: parents).last
        }
        return log
    }

    var log: EditLog { log(Array(changes.indices)) }

    /// The same, by the naive model.
    var naive: NaiveNote {
        var note = NaiveNote()
        var ends: [Int] = []
        for change in changes {
            var parents = Set(change.parents.map { ends[$0] })
            var author = change.author
            func add(_ deed: NaiveNote.Event.Deed, at position: Int) {
                note.append(
                    NaiveNote.Event(
                        deed: deed, position: position, parents: parents, author: author))
                parents = [note.events.count - 1]
                author.sequence += 1
            }
            for edit in change.edits {
                for _ in 0..<edit.deletedCount { add(.remove, at: edit.position) }
                for (step, scalar) in edit.inserted.enumerated() {
                    add(.insert(scalar), at: edit.position + step)
                }
            }
            ends.append(note.events.count - 1)
        }
        return note
    }

    /// Another order in which each change comes after what it follows.
    func order(_ draws: inout Draws) -> [Int] {
        var order: [Int] = []
        while order.count < changes.count {
            let ready = changes.indices.filter { place in
                !order.contains(place) && changes[place].parents.allSatisfy(order.contains)
            }
            order.append(ready[draws.number(below: ready.count)])
        }
        return order
    }

    private func past(_ heads: some Sequence<Int>) -> Set<Int> {
        heads.reduce(into: Set(heads)) { $0.formUnion(past(changes[$1].parents)) }
    }

    private func newest(_ heads: Set<Int>) -> [Int] {
        heads.filter { head in
            !heads.contains { $0 != head && past(changes[$0].parents).contains(head) }
        }.sorted()
    }

    private func log(of heads: [Int]) -> EditLog { log(past(heads).sorted()) }
}

/// Numbers that follow from a seed.
struct Draws {
    private var state: UInt64

    init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

    mutating func number(below bound: Int) -> Int {
        state = state &+ 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
