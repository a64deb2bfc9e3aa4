import ParleyWire

/// Finds names that would have operations stand above themselves.
///
/// What is named is part of an identifier, so matching names form no cycle. But a name at or above
/// a bound counts as the last place below it, whatever it was, and a liar can invent one of a log
/// whose author has yet to see the operation that bears it. Following such names would never end,
/// and each node would end elsewhere. So a name at or above a bound counts as nothing if the place
/// below it depends on the operation that bears the name: the cycle is the same for all who hold
/// the same.
/// Source: `Protocol/03-operations.md`, "Order".
struct StandCircles {
    /// An operation that is not placed.
    private struct Vertex {
        let tip: LogTip
        let check: Check
        var edges: [Edge] = []
        /// When it was met, from 1; 0 until then.
        var number = 0
        /// The earliest that is known to be on a circle with it.
        var lowest = 0
        /// Whether its cycle is not complete yet.
        var isOpen = false
        /// Its cycle; 0 until that is known.
        var component = 0
        /// The next edge to follow.
        var next = 0
    }

    /// What an operation depends on.
    private struct Edge {
        let target: Int
        /// The name at or above a bound; nil for one that fits, and for the operation before.
        let name: OperationReference?
    }

    private static let stride = 256

    private var vertices: [Vertex] = []
    private var places: [LogTip: Int] = [:]

    /// The names that count as nothing, by the place of the operation that bears them.
    ///
    /// - Parameter logs: each with the first of its places that is not placed.
    static func names(
        in logs: [(log: LogRecord, first: UInt64)], _ store: some LogStore
    ) throws(StoreError) -> [LogTip: [OperationReference]] {
        var circles = StandCircles()
        var headers: [[StoredHeader]] = []
        for (log, first) in logs { headers.append(try circles.add(log, from: first, store)) }
        let known = Dictionary(
            logs.map { ($0.log.tag, $0.log) }, uniquingKeysWith: { first, _ in first })
        for (place, held) in headers.enumerated() {
            circles.connect(held, of: logs[place].log, among: known)
        }
        circles.findComponents()
        return circles.namesOnCircles
    }

    private mutating func add(
        _ log: LogRecord, from first: UInt64, _ store: some LogStore
    ) throws(StoreError) -> [StoredHeader] {
        var held: [StoredHeader] = []
        var next = first
        while next < log.end {
            let some = try store.headers(
                in: log.number, next...UInt64.max, limit: Self.stride)
            guard let last = some.last else { break }
            held += some
            next = last.sequence + 1
        }
        for stored in held {
            let tip = LogTip(tag: log.tag, sequence: stored.sequence)
            places[tip] = vertices.count
            vertices.append(Vertex(tip: tip, check: stored.id.check))
        }
        return held
    }

    private mutating func connect(
        _ held: [StoredHeader], of log: LogRecord, among logs: [LogTag: LogRecord]
    ) {
        var before: Int?
        for stored in held {
            let tip = LogTip(tag: log.tag, sequence: stored.sequence)
            guard let place = places[tip] else { continue }
            // A log is one after the other, over a hole as well.
            if let before { vertices[place].edges.append(Edge(target: before, name: nil)) }
            before = place
            for name in stored.header.dependencies + stored.header.references {
                guard let cause = logs[name.tag]?.counted(name),
                    let target = places[LogTip(cause)], vertices[target].check == cause.check
                else { continue }
                vertices[place].edges.append(
                    Edge(target: target, name: cause == name ? nil : name))
            }
        }
    }

    /// Tarjan, "Depth-first search and linear graph algorithms" (1972), without recursion: logs are long.
    private mutating func findComponents() {
        var met = 0
        var componentCount = 0
        var open: [Int] = []
        for start in vertices.indices where vertices[start].number == 0 {
            var path = [start]
            while let place = path.last {
                if vertices[place].number == 0 {
                    met += 1
                    vertices[place].number = met
                    vertices[place].lowest = met
                    vertices[place].isOpen = true
                    open.append(place)
                }
                if let target = follow(place) {
                    path.append(target)
                    continue
                }
                path.removeLast()
                if let above = path.last {
                    vertices[above].lowest = min(vertices[above].lowest, vertices[place].lowest)
                }
                guard vertices[place].lowest == vertices[place].number else { continue }
                componentCount += 1
                close(&open, through: place, as: componentCount)
            }
        }
    }

    /// Follows the edges of a place up to one that leads to something new.
    private mutating func follow(_ place: Int) -> Int? {
        while vertices[place].next < vertices[place].edges.count {
            let target = vertices[place].edges[vertices[place].next].target
            vertices[place].next += 1
            if vertices[target].number == 0 { return target }
            if vertices[target].isOpen {
                vertices[place].lowest = min(vertices[place].lowest, vertices[target].number)
            }
        }
        return nil
    }

    private mutating func close(_ open: inout [Int], through place: Int, as component: Int) {
        while let last = open.popLast() {
            vertices[last].isOpen = false
            vertices[last].component = component
            if last == place { return }
        }
    }

    private var namesOnCircles: [LogTip: [OperationReference]] {
        var names: [LogTip: [OperationReference]] = [:]
        for vertex in vertices {
            let found = vertex.edges.compactMap { edge in
                vertices[edge.target].component == vertex.component ? edge.name : nil
            }
            if !found.isEmpty { names[vertex.tip] = found }
        }
        return names
    }
}

extension LogRecord {
    /// What an operation at a place of this log names, without names of the log itself that count
    /// as no place below: they form a cycle by themselves.
    func names(in header: OperationHeader, at sequence: UInt64) -> [OperationReference] {
        var names = header.dependencies
        names += header.references
        names.removeAll { name in
            guard name.tag == tag, let cause = counted(name) else { return false }
            return cause.sequence >= sequence
        }
        return names
    }
}
