/// What is going to happen, the soonest first; of what happens at one moment, what was put in
/// first, or in an order that is drawn. A binary heap: putting in and taking out cost the logarithm of what waits.
struct EventQueue<Element> {
    /// What is moved about: small, whatever the element is.
    private struct Item {
        var time: UInt64
        var tie: UInt64
        var order: UInt64
        var slot: Int

        func precedes(_ other: Item) -> Bool {
            if time != other.time { return time < other.time }
            return tie == other.tie ? order < other.order : tie < other.tie
        }
    }

    private var items: [Item] = []
    private var elements: [Element?] = []
    private var free: [Int] = []
    private var nextOrder: UInt64 = 0
    /// Draws which of two things at one moment happens first; nil for the order of their coming.
    var ties: SeededRandom?

    /// How much waits.
    var count: Int { items.count }

    /// When the next thing happens, or nil where nothing waits.
    var nextTime: UInt64? { items.first?.time }

    /// Puts something in; returns its place in the order, which no other has.
    @discardableResult
    mutating func insert(_ element: Element, at time: UInt64) -> UInt64 {
        nextOrder += 1
        let slot: Int
        if let last = free.popLast() {
            slot = last
            elements[slot] = element
        } else {
            slot = elements.count
            elements.append(element)
        }
        items.append(Item(time: time, tie: ties?.next() ?? 0, order: nextOrder, slot: slot))
        rise(from: items.count - 1)
        return nextOrder
    }

    /// Takes out what happens next, unless it happens later than `end`.
    mutating func next(until end: UInt64) -> (time: UInt64, order: UInt64, element: Element)? {
        guard let first = items.first, first.time <= end else { return nil }
        let last = items.removeLast()
        if !items.isEmpty {
            items[0] = last
            sink(from: 0)
        }
        guard let element = elements[first.slot] else {
            preconditionFailure("what waits lies in its slot")
        }
        elements[first.slot] = nil
        free.append(first.slot)
        return (first.time, first.order, element)
    }

    private mutating func rise(from start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard items[place].precedes(items[parent]) else { return }
            items.swapAt(place, parent)
            place = parent
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < items.count {
                if items[child].precedes(items[least]) { least = child }
            }
            if least == place { return }
            items.swapAt(place, least)
            place = least
        }
    }
}
