import ParleyWire

/// The text of a note worked out by the page alone, one scalar at a time and from the beginning for every
/// edit: slow, and without anything that the room of notes has.
///
/// Each scalar remembers what stood left of it when it was inserted and, where that had the same left, what
/// stood right. A text is made by putting in one after another: among what others put between the same two,
/// by right and then by author.
struct NaiveNote {
    /// What one operation edits.
    struct Edit {
        var name: OperationReference
        /// The operations that it names beside the note.
        var named: [OperationReference]
        var changes: [(position: Int, deleted: Int, inserted: [Unicode.Scalar])]
    }

    private struct Scalar {
        var value: Unicode.Scalar
        /// The place of the edit that inserted it.
        var edit: Int
        var left: Int?
        var right: Int?
    }

    private var names: [OperationReference] = []
    /// What each edit follows, itself included.
    private var pasts: [Set<Int>] = []
    private var scalars: [Scalar] = []
    /// What each edit removed.
    private var removed: [Set<Int>] = []

    /// - Parameter edits: all that count, in order.
    init(_ edits: [Edit]) {
        for edit in edits { append(edit) }
    }

    private mutating func append(_ edit: Edit) {
        let number = names.count
        var parents = edit.named.compactMap(names.firstIndex(of:))
        let before = names.indices.filter {
            names[$0].tag == edit.name.tag && names[$0].sequence < edit.name.sequence
        }
        if let last = before.max(by: { names[$0].sequence < names[$1].sequence }) {
            parents.append(last)
        }
        let past = parents.reduce(into: Set([number])) { $0.formUnion(pasts[$1]) }
        names.append(edit.name)
        pasts.append(past)
        removed.append([])
        var row = row(of: past)
        for change in edit.changes {
            for _ in 0..<change.deleted {
                let shown = shown(row, in: past)
                guard change.position < shown.count else { break }
                removed[number].insert(row[shown[change.position]])
            }
            for (step, value) in change.inserted.enumerated() {
                let shown = shown(row, in: past)
                let position = min(change.position + step, shown.count)
                let place = position == 0 ? 0 : shown[position - 1] + 1
                let left = place == 0 ? nil : row[place - 1]
                let next = place < row.count ? row[place] : nil
                let isBeside = next.map { scalars[$0].left == left } ?? false
                row.insert(scalars.count, at: place)
                scalars.append(
                    Scalar(
                        value: value, edit: number, left: left, right: isBeside ? next : nil))
            }
        }
    }

    /// What everybody's edits come to.
    var text: String {
        let all = Set(names.indices)
        let row = row(of: all)
        var text = String.UnicodeScalarView()
        for place in shown(row, in: all) { text.append(scalars[row[place]].value) }
        return String(text)
    }

    /// Where in a row those stand that none of these edits removed.
    private func shown(_ row: [Int], in past: Set<Int>) -> [Int] {
        let gone = past.reduce(into: Set<Int>()) { $0.formUnion(removed[$1]) }
        return row.indices.filter { !gone.contains(row[$0]) }
    }

    /// The scalars that some edits inserted, in their order, removed ones included.
    private func row(of past: Set<Int>) -> [Int] {
        var row: [Int] = []
        for number in scalars.indices where past.contains(scalars[number].edit) {
            put(number, into: &row)
        }
        return row
    }

    private func put(_ number: Int, into row: inout [Int]) {
        let scalar = scalars[number]
        func place(_ other: Int?, _ otherwise: Int) -> Int {
            other.flatMap(row.firstIndex(of:)) ?? otherwise
        }
        let left = place(scalar.left, -1)
        let right = place(scalar.right, row.count)
        var (target, isScanning) = (left + 1, false)
        for (index, number) in row.enumerated().dropFirst(left + 1) {
            let other = scalars[number]
            // What its author had seen bounds the search: it was never between the two.
            if pasts[scalar.edit].contains(other.edit) { break }
            let otherLeft = place(other.left, -1)
            if otherLeft < left { break }
            if otherLeft == left {
                let otherRight = place(other.right, row.count)
                if otherRight == right, names[scalar.edit].tag < names[other.edit].tag { break }
                isScanning = otherRight < right
            }
            if !isScanning { target = index + 1 }
        }
        row.insert(number, at: target)
    }
}
