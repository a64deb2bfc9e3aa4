import ParleyLedger

/// Spaces of which something may have to go to relays: some by name, or all of them, which are come to
/// one after the other. That all are due costs nothing, however many there are.
struct DueSpaces: Sendable {
    private var named: Set<SpaceNumber> = []
    /// All spaces above this number are due as well; nil where none is but those named.
    private var begin: Int64?
    /// Whether of those that are not named some may be taken now.
    private var mayGoOn = false

    var isEmpty: Bool { named.isEmpty && begin == nil }

    mutating func insert(_ space: SpaceNumber) { named.insert(space) }

    mutating func formUnion(_ spaces: some Sequence<SpaceNumber>) { named.formUnion(spaces) }

    mutating func remove(_ space: SpaceNumber) { named.remove(space) }

    /// Every space is due.
    mutating func insertAll() {
        begin = .min
        mayGoOn = true
    }

    /// It is time to examine more spaces of the full walk: inputs in between do not pay for them.
    mutating func goOn() { mayGoOn = true }

    /// Takes the lowest that are due, so many at most.
    ///
    /// - Parameter spaces: all there are, ascending.
    mutating func take(_ count: Int, of spaces: [SpaceRecord]) -> [SpaceNumber] {
        var due = named
        if let begin, mayGoOn {
            let rest = spaces[spaces.firstPlace(above: begin)...]
            due.formUnion(rest.prefix(count).map(\.number))
        }
        let taken = due.count > count ? Array(due.sorted().prefix(count)) : due.sorted()
        named.subtract(taken)
        if let begin, mayGoOn {
            let last = max(begin, taken.last?.rawValue ?? begin)
            let isThrough = spaces.last.map { $0.number.rawValue <= last } ?? true
            self.begin = isThrough ? nil : last
        }
        mayGoOn = false
        return taken
    }
}

extension [SpaceRecord] {
    /// Where the spaces with numbers above this one begin, in an ascending list.
    func firstPlace(above number: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].number.rawValue <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
