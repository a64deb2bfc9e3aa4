/// The changes of a text, computed by comparing it with its edited version: as an editor leaves it.
///
/// Texts are compared line by line. Lines that stand once in both hold the rest in place (patience
/// diff), so the cost grows with the length of the texts and not with how much they differ. Of a line
/// that was changed only the part between what both have in common at its ends goes and comes.
public enum TextDiff {
    /// The edits that make one text of another, each of the text of the one before.
    public static func edits(
        from old: some Collection<Unicode.Scalar>, to new: some Collection<Unicode.Scalar>
    ) -> [TextEdit] {
        var work = Work(old: lines(of: old), new: lines(of: new))
        work.compare(work.old.indices, work.new.indices)
        return work.edits
    }

    /// Lines with what ends them.
    private static func lines(of text: some Collection<Unicode.Scalar>) -> [[Unicode.Scalar]] {
        var lines: [[Unicode.Scalar]] = []
        var line: [Unicode.Scalar] = []
        for scalar in text {
            line.append(scalar)
            if scalar == "\n" {
                lines.append(line)
                line = []
            }
        }
        if !line.isEmpty { lines.append(line) }
        return lines
    }

    private struct Work {
        let old: [[Unicode.Scalar]]
        let new: [[Unicode.Scalar]]
        var edits: [TextEdit] = []
        /// How far the text has been made, in scalars of the new one.
        private var position = 0

        init(old: [[Unicode.Scalar]], new: [[Unicode.Scalar]]) {
            (self.old, self.new) = (old, new)
        }

        mutating func compare(_ old: Range<Int>, _ new: Range<Int>) {
            var (old, new) = (old, new)
            while let line = old.first, let other = new.first, self.old[line] == self.new[other] {
                skip(self.new[other].count)
                (old, new) = (old.dropFirst(), new.dropFirst())
            }
            var tail = 0
            while let line = old.last, let other = new.last, self.old[line] == self.new[other] {
                tail += self.new[other].count
                (old, new) = (old.dropLast(), new.dropLast())
            }
            let anchors = anchors(old, new)
            if anchors.isEmpty {
                replace(old, new)
            } else {
                var (left, right) = (old.lowerBound, new.lowerBound)
                for anchor in anchors {
                    compare(left..<anchor.old, right..<anchor.new)
                    skip(self.new[anchor.new].count)
                    (left, right) = (anchor.old + 1, anchor.new + 1)
                }
                compare(left..<old.upperBound, right..<new.upperBound)
            }
            skip(tail)
        }

        private mutating func skip(_ count: Int) { position += count }

        /// Lines that stand once in either, as many as stand in one order in both.
        private func anchors(
            _ old: Range<Int>, _ new: Range<Int>
        ) -> [(old: Int, new: Int)] {
            let places = Self.places(of: self.old, old)
            let others = Self.places(of: self.new, new)
            var pairs: [(old: Int, new: Int)] = []
            for place in new {
                let line = self.new[place]
                guard others[line] == .some(place), case .some(.some(let other)) = places[line]
                else { continue }
                pairs.append((other, place))
            }
            return Self.longestAscending(pairs)
        }

        /// Where each line stands; nil for one that stands there more than once.
        private static func places(
            of lines: [[Unicode.Scalar]], _ range: Range<Int>
        ) -> [[Unicode.Scalar]: Int?] {
            var places: [[Unicode.Scalar]: Int?] = [:]
            for place in range {
                places[lines[place]] = places[lines[place]] == nil ? .some(place) : .some(nil)
            }
            return places
        }

        /// Of pairs that ascend by the second number as many as ascend by the first as well.
        private static func longestAscending(
            _ pairs: [(old: Int, new: Int)]
        ) -> [(old: Int, new: Int)] {
            // The pairs that end rows of one, two, … pairs with the lowest number, and what each follows.
            var ends: [Int] = []
            var before: [Int?] = []
            for (index, pair) in pairs.enumerated() {
                var (low, high) = (0, ends.count)
                while low < high {
                    let middle = (low + high) / 2
                    let isBelow = pairs[ends[middle]].old < pair.old
                    (low, high) = isBelow ? (middle + 1, high) : (low, middle)
                }
                before.append(low > 0 ? ends[low - 1] : nil)
                if low == ends.count { ends.append(index) } else { ends[low] = index }
            }
            var row: [(old: Int, new: Int)] = []
            var next = ends.last
            while let index = next {
                row.append(pairs[index])
                next = before[index]
            }
            return row.reversed()
        }

        /// Lines that became others: each by itself where they are as many, else all in one.
        private mutating func replace(_ old: Range<Int>, _ new: Range<Int>) {
            guard old.count == new.count else {
                return change(Array(self.old[old].joined()), to: Array(self.new[new].joined()))
            }
            for (line, other) in zip(old, new) { change(self.old[line], to: self.new[other]) }
        }

        private mutating func change(_ old: [Unicode.Scalar], to new: [Unicode.Scalar]) {
            let room = min(old.count, new.count)
            var head = 0
            while head < room, old[head] == new[head] { head += 1 }
            var tail = 0
            while tail < room - head, old[old.count - 1 - tail] == new[new.count - 1 - tail] {
                tail += 1
            }
            let deleted = old.count - head - tail
            let inserted = Array(new[head..<new.count - tail])
            if deleted > 0 || !inserted.isEmpty {
                edits.append(
                    TextEdit(at: position + head, deleting: deleted, inserting: inserted))
            }
            position += new.count
        }
    }
}
