/// Operations that are to be heard, seniors first, each once.
struct HearingQueue {
    private var waiting: Set<Int> = []
    /// A heap: none is before the one at half its place.
    private var entries: [(key: AuthorityKey, node: Int)] = []

    mutating func push(_ node: Int, _ index: AuthorityIndex) {
        guard waiting.insert(node).inserted else { return }
        entries.append((index[node].key, node))
        var child = entries.count - 1
        while child > 0, entries[child].key < entries[(child - 1) / 2].key {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func pop() -> Int? {
        guard let first = entries.first else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        waiting.remove(first.node)
        return first.node
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].key < entries[least].key {
                least = child
            }
            guard least != parent else { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
