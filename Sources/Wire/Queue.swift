/// A first-in, first-out queue. Taking from its front costs the same whatever waits behind.
///
/// `removeFirst` of an array moves everything behind it: anybody who can make others wait can make
/// that quadratic. A house test keeps it out of the sources; use this instead.
///
/// It is a collection of what waits, the oldest first. Memory is that of twice what waits at most.
public struct Queue<Element> {
    /// A removed element that is not compacted away yet is nil, so that it is released at once.
    private var slots: [Element?]
    /// The first slot that holds something.
    private var head = 0

    /// Fewer free slots than this are not worth moving anything for.
    private static var slackCount: Int { 32 }

    /// An empty queue.
    public init() { slots = [] }

    /// A queue of these, the first of them the oldest.
    public init(_ elements: some Sequence<Element>) { slots = elements.map { $0 } }

    /// Adds an element behind all others.
    public mutating func append(_ element: Element) { slots.append(element) }

    /// Adds elements behind all others.
    public mutating func append(contentsOf elements: some Sequence<Element>) {
        slots.append(contentsOf: elements.lazy.map { $0 })
    }

    /// Adds an element in front of all others, to be removed next.
    public mutating func prepend(_ element: Element) {
        if head == 0 {
            head = Swift.max(Self.slackCount, slots.count)
            slots = Array(repeating: nil, count: head) + slots
        }
        head -= 1
        slots[head] = element
    }

    /// Takes the oldest element, or returns nil where nothing waits.
    public mutating func popFirst() -> Element? {
        guard head < slots.count else { return nil }
        let element = slots[head]
        slots[head] = nil
        head += 1
        compact()
        return element
    }

    /// Removes this many of the oldest elements, or all if there are fewer.
    public mutating func dropOldest(_ count: Int = 1) {
        for _ in 0..<Swift.min(count, self.count) { _ = popFirst() }
    }

    /// Removes all matching elements, and keeps the order of the rest.
    public mutating func removeAll(where isGone: (Element) throws -> Bool) rethrows {
        slots = try filter { try !isGone($0) }
        head = 0
    }

    /// Removes everything.
    public mutating func removeAll() {
        slots = []
        head = 0
    }

    /// Moves what waits to the front once the free slots there are as many: each element is moved
    /// once, on average, however long the queue is.
    private mutating func compact() {
        if head == slots.count {
            slots.removeAll(keepingCapacity: slots.count <= Self.slackCount)
            head = 0
        } else if head > Self.slackCount, head * 2 >= slots.count {
            slots = Array(slots[head...])
            head = 0
        }
    }
}

extension Queue: RandomAccessCollection, MutableCollection {
    /// The place of the oldest element: 0.
    public var startIndex: Int { 0 }
    /// How many wait.
    public var endIndex: Int { slots.count - head }

    /// What waits at a place, counted from the oldest.
    public subscript(position: Int) -> Element {
        get {
            guard let element = slots[head + position] else {
                preconditionFailure("a slot behind the head holds something")
            }
            return element
        }
        set { slots[head + position] = newValue }
    }
}

extension Queue: ExpressibleByArrayLiteral {
    /// A queue of these, the first of them the oldest.
    public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension Queue: Sendable where Element: Sendable {}
extension Queue: Equatable where Element: Equatable {
    /// Whether the same wait in the same order.
    public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }
}
extension Queue: Hashable where Element: Hashable {
    /// Hashes what waits, in its order.
    public func hash(into hasher: inout Hasher) {
        for element in self { hasher.combine(element) }
    }
}
