extension Array {
    /// The place of the first element for which this no longer holds, where it holds for all
    /// before and none after: found by halving.
    func firstIndex(afterAll isBefore: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
