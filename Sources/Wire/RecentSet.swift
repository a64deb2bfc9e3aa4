/// The most recently inserted values, at most this many.
///
/// It takes and finds a value in constant time, whatever comes: nothing moves up when one leaves.
public struct RecentSet<Element: Hashable & Sendable>: Sendable {
    /// How many values it holds at most.
    public let limit: Int
    private var members: Set<Element> = []
    /// In the order in which they came, from ``next`` on and around.
    private var ring: [Element] = []
    private var next = 0

    /// An empty set.
    ///
    /// - Parameter limit: how many values it holds at most, at least one.
    public init(limit: Int) {
        precondition(limit > 0, "a set that remembers nothing is none")
        self.limit = limit
    }

    /// How many values it holds.
    public var count: Int { members.count }

    /// Whether the value was inserted, and not so many after it.
    public func contains(_ element: Element) -> Bool { members.contains(element) }

    /// Inserts a value; the oldest one leaves where there is no room.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    public mutating func insert(_ element: Element) -> Bool {
        guard members.insert(element).inserted else { return false }
        if ring.count < limit {
            ring.append(element)
        } else {
            members.remove(ring[next])
            ring[next] = element
            next = (next + 1) % limit
        }
        return true
    }
}
