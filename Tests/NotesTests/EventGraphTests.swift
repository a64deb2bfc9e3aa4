import Testing

@testable import ParleyNotes

@Suite("Versions of a note")
struct EventGraphTests {
    @Test(
        "differ by what follows from one alone, in every drawn graph",
        arguments: 0..<50 as Range<UInt64>)
    func differences(seed: UInt64) {
        let graph = DrawnNote(seed: seed, persons: 4).log.graph
        func past(_ version: EventGraph.Version) -> Set<Int> {
            var (found, open) = (Set<Int>(), version)
            while let event = open.popLast() {
                if found.insert(event).inserted { open += graph.parents(of: event) }
            }
            return found
        }
        var draws = Draws(seed: seed)
        for _ in 0..<20 {
            let one = graph.version(of: (0..<2).map { _ in draws.number(below: graph.count) })
            let other = graph.version(of: (0..<3).map { _ in draws.number(below: graph.count) })
            let difference = graph.difference(one, other)
            #expect(
                Set(difference.first.joined()) == past(one).subtracting(past(other)),
                "seed \(seed): \(one) \(other)")
            #expect(
                Set(difference.second.joined()) == past(other).subtracting(past(one)),
                "seed \(seed): \(one) \(other)")
            for event in one { #expect(!one.contains { graph.follows($0, event) }) }
        }
    }

    @Test("name the newest alone")
    func heads() {
        var graph = EventGraph()
        _ = graph.append(3, after: [])
        _ = graph.append(2, after: [2])
        #expect(graph.spans.count == 1 && graph.heads == [4])
        _ = graph.append(1, after: [1])
        #expect(graph.heads == [4, 5])
        _ = graph.append(1, after: [4, 5])
        #expect(graph.heads == [6] && graph.version(of: [0, 4, 5, 6]) == [6])
        #expect(graph.follows(6, 0) && !graph.follows(5, 4))
    }
}
