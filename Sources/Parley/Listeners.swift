/// Who wants to be called back, in the order in which they came.
struct Listeners<Body> {
    private var bodies: [(id: UInt64, body: Body)] = []
    private var next: UInt64 = 1

    /// All of them, those who came first before the others.
    var all: [Body] { bodies.map(\.body) }

    /// Adds one; returns what ends that.
    mutating func add(_ body: Body) -> UInt64 {
        defer { next += 1 }
        bodies.append((next, body))
        return next
    }

    mutating func remove(_ id: UInt64) { bodies.removeAll { $0.id == id } }
}

extension Listeners: Sendable where Body: Sendable {}
