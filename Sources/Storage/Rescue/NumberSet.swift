/// Numbers of rows, as ranges: most rows of a table are numbered without a hole.
struct NumberSet {
    /// Ascending; no two of them touch.
    private(set) var ranges: [ClosedRange<Int64>] = []

    func contains(_ number: Int64) -> Bool { range(of: number) != nil }

    /// The stretch without a hole that this number is in, or nil.
    func range(of number: Int64) -> ClosedRange<Int64>? {
        let index = firstIndex(endingAtOrAbove: number)
        guard index < ranges.count, ranges[index].contains(number) else { return nil }
        return ranges[index]
    }

    /// Takes a number in.
    ///
    /// - Returns: whether it was not there.
    @discardableResult
    mutating func insert(_ number: Int64) -> Bool {
        // Rows come in their order, but where something is wrong.
        if let last = ranges.last, last.upperBound < number {
            if last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
            return true
        }
        let index = firstIndex(endingAtOrAbove: number)
        if index < ranges.count, ranges[index].contains(number) { return false }
        ranges.insert(number...number, at: index)
        join(at: index)
        return true
    }

    /// The numbers between those that are in, from 1 on, ascending.
    var holes: [ClosedRange<Int64>] {
        var holes: [ClosedRange<Int64>] = []
        var next: Int64 = 1
        for range in ranges where range.upperBound >= next {
            if range.lowerBound > next { holes.append(next...range.lowerBound - 1) }
            guard range.upperBound < Int64.max else { return holes }
            next = range.upperBound + 1
        }
        return holes
    }

    private func firstIndex(endingAtOrAbove number: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Joins the range here with its neighbours where they touch.
    private mutating func join(at index: Int) {
        for left in [index, index - 1] where left >= 0 && left + 1 < ranges.count {
            let (low, high) = (ranges[left], ranges[left + 1])
            guard low.upperBound + 1 == high.lowerBound else { continue }
            ranges[left] = low.lowerBound...high.upperBound
            ranges.remove(at: left + 1)
        }
    }
}
