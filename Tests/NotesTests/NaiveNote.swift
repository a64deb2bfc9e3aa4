import ParleyNotes

/// The text of a note worked out by the rule alone, one scalar at a time and from the beginning for every
/// edit: slow, and without anything that the room has.
///
/// Each scalar remembers what stood left of it when it was inserted and, where that had the same left,
/// what stood right. A text is made by putting in one after another: among what others put between the
/// same two, by right and then by author.
struct NaiveNote {
    /// Everybody's edits, one event each.
    struct Event {
        enum Deed: Equatable {
            case insert(Unicode.Scalar)
            case remove
        }
        var deed: Deed
        var position: Int
        var parents: Set<Int>
        var author: EditLog.Author
    }

    private struct Scalar {
        var event: Int
        var left: Int?
        var right: Int?
    }

    private(set) var events: [Event] = []
    private var pasts: [Set<Int>] = []
    private var scalars: [Int: Scalar] = [:]
    private var removed: [Int: Int] = [:]

    mutating func append(_ event: Event) {
        let number = events.count
        let past = event.parents.reduce(event.parents) { $0.union(pasts[$1]) }
        let row = row(of: past)
        let gone = Set(past.compactMap { removed[$0] })
        let shown = row.indices.filter { !gone.contains(row[$0].event) }
        let position = min(event.position, shown.count)
        switch event.deed {
        case .remove:
            if position < shown.count { removed[number] = row[shown[position]].event }
        case .insert:
            let place = position == 0 ? 0 : shown[position - 1] + 1
            let left = place == 0 ? nil : row[place - 1].event
            let next = place < row.count ? row[place] : nil
            scalars[number] = Scalar(
                event: number, left: left, right: next?.left == left ? next?.event : nil)
        }
        events.append(event)
        pasts.append(past)
    }

    /// What everybody's edits come to.
    var text: String {
        let all = Set(events.indices)
        let gone = Set(removed.values)
        var text = String.UnicodeScalarView()
        for scalar in row(of: all) where !gone.contains(scalar.event) {
            if case .insert(let unicode) = events[scalar.event].deed { text.append(unicode) }
        }
        return String(text)
    }

    /// The scalars that some events inserted, in their order, deleted ones included.
    private func row(of events: Set<Int>) -> [Scalar] {
        var row: [Scalar] = []
        for event in events.sorted() {
            if let scalar = scalars[event] { put(scalar, into: &row) }
        }
        return row
    }

    private func put(_ scalar: Scalar, into row: inout [Scalar]) {
        func place(_ event: Int?, _ otherwise: Int) -> Int {
            event.flatMap { event in row.firstIndex { $0.event == event } } ?? otherwise
        }
        let left = place(scalar.left, -1)
        let right = place(scalar.right, row.count)
        var (target, isScanning) = (left + 1, false)
        // What somebody had seen who put this in bounds the search: it was never between the two.
        for (index, other) in row.enumerated().dropFirst(left + 1) {
            if pasts.indices.contains(scalar.event), pasts[scalar.event].contains(other.event) {
                break
            }
            let otherLeft = place(other.left, -1)
            if otherLeft < left { break }
            if otherLeft == left {
                let otherRight = place(other.right, row.count)
                if otherRight == right, events[scalar.event].author < events[other.event].author {
                    break
                }
                isScanning = otherRight < right
            }
            if !isScanning { target = index + 1 }
        }
        row.insert(scalar, at: target)
    }
}
