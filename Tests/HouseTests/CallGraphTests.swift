import Testing

@Suite("Calls within the core")
struct CallGraphTests {
    static func file(_ name: String, _ text: String) -> SourceFile {
        SourceFile(path: "Sources/NodeCore/\(name)", text: text)
    }

    static let sample = [
        file(
            "A.swift",
            """
            extension NodeCore {
                mutating func one(_ a: Int, in b: Int = 1, _ turn: inout some Turn) { two(a) }
                private func own() { four(all: [1, 2]) }
            }
            """),
        file(
            "B.swift",
            """
            extension NodeCore {
                func two(_ a: Int) {
                    try self.three(from: f(a, b), at: 1)
                    // four(all: a)
                    a.four(all: 1)
                }
            }
            """),
        file(
            "C.swift",
            """
            extension NodeCore {
                func three(from a: Int, at b: Int) { one(a, &turn) }
                func four(all: [Int]) { own() }
            }
            struct Other {
                func two(_ a: Int) { four(all: 1) }
            }
            """),
        file("NodeCore.swift", "struct NodeCore {\n    func take() { one(1, &turn) }\n}\n"),
    ]

    @Test("calls are found by name and labels, over files, and dispatchers are left out")
    func calls() {
        let graph = CallGraph(of: "NodeCore", in: Self.sample)
        let names = graph.calls.mapValues { $0.map { $0.suffix(7) }.sorted() }
        #expect(
            names == [
                "Sources/NodeCore/A.swift": ["B.swift", "C.swift"],
                "Sources/NodeCore/B.swift": ["C.swift"], "Sources/NodeCore/C.swift": ["A.swift"],
            ])
        #expect(graph.mutualPairs == ["A.swift ⇄ C.swift"])
        #expect(graph.largestCycle.count == 3)
    }

    @Test("a graph without cycles has none")
    func tree() {
        let graph = CallGraph(of: "NodeCore", in: Array(Self.sample.prefix(2)))
        #expect(graph.mutualPairs.isEmpty && graph.largestCycle.isEmpty)
        #expect(graph.calls.count == 1)
    }

    @Test("methods are counted with those of extensions, and those of other types are not")
    func methods() {
        let methods = Self.sample.flatMap { CallGraph.methods(of: "NodeCore", in: $0) }
        #expect(methods.map(\.name) == ["one", "own", "two", "three", "four", "take"])
        #expect(methods[0].labels == ["_", "in", "_"] && methods[1].isPrivate)
    }

    @Test("no more files of the core call each other than before")
    func ratchet() {
        let core = SourceTree.swift.filter { $0.room == Values.room }
        let graph = CallGraph(of: "NodeCore", in: core)
        let (pairs, cycle) = (graph.mutualPairs, graph.largestCycle)
        #expect(
            pairs.count <= Values.mutualPairLimit,
            "\(pairs.count) pairs of files call each other: \(pairs)")
        #expect(cycle.count <= Values.cycleLimit, "\(cycle.count) files are one cycle of calls")
        // A reader that finds nothing would hold any bound.
        #expect(graph.calls.count > 50)
    }
}
