import ParleyWire
import Synchronization

/// Who lets in, and knows when that ends.
public protocol GrantKeeper: Sendable {
    /// Whether a grant is good still.
    func isAlive(_ grant: TokenGrant) -> Bool
    /// Has something done once when a grant ends; nil where it has ended already.
    func whenEnded(_ grant: TokenGrant, _ body: @escaping @Sendable () -> Void) -> Int?
    /// Forgets what ``whenEnded(_:_:)`` registered.
    func forget(_ watcher: Int)
}

/// Actions to perform once when grants end.
struct GrantWatchers {
    private var bodies: [Int: (digest: Digest, body: @Sendable () -> Void)] = [:]
    private var next = 0

    mutating func add(_ digest: Digest, _ body: @escaping @Sendable () -> Void) -> Int {
        next += 1
        bodies[next] = (digest, body)
        return next
    }

    mutating func remove(_ watcher: Int) { bodies[watcher] = nil }

    /// Takes the actions for these ended grants, in the order of registration.
    mutating func take(_ ended: [Digest]) -> [@Sendable () -> Void] {
        let over = bodies.filter { ended.contains($0.value.digest) }
        for key in over.keys { bodies[key] = nil }
        return over.sorted { $0.key < $1.key }.map(\.value.body)
    }
}
