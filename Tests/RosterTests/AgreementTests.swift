import Foundation
import ParleyRoster
import Testing

/// The rules were tried on an independent model in another language; what it makes of random
/// graphs in which people date operations back must be what the resolver makes of them.
@Suite("Agreement with the model")
struct AgreementTests {
    @Test("a thousand graphs come out as in the model")
    func vectors() throws {
        let lines = try ModelGraph.vectors()
        #expect(lines.count == 1000)
        for (number, line) in lines.enumerated() {
            let differences = try ModelGraph(line: line).differences()
            #expect(differences.isEmpty, "graph \(number): \(differences.prefix(5))")
        }
    }

    @Test("graphs come out the same in whatever causal order they are delivered")
    func orders() throws {
        var draws = Draws(seed: 4)
        for (number, line) in try ModelGraph.vectors().enumerated() where number % 10 == 0 {
            let graph = try ModelGraph(line: line)
            for _ in 0..<4 {
                let order = Self.causalOrder(of: graph, &draws)
                let differences = graph.differences(in: order)
                #expect(differences.isEmpty, "graph \(number), \(order): \(differences)")
            }
        }
    }

    static func causalOrder(of graph: ModelGraph, _ draws: inout Draws) -> [Int] {
        var order: [Int] = []
        var done: Set<Int> = []
        var waiting = Array(graph.rows.indices)
        while !waiting.isEmpty {
            let ready = waiting.indices.filter {
                graph.rows[waiting[$0]].causes.allSatisfy(done.contains)
            }
            let next = waiting.remove(at: ready[Int(draws.next() % UInt64(ready.count))])
            order.append(next)
            done.insert(next)
        }
        return order
    }

    static let model = ProcessInfo.processInfo.environment["PARLEY_ROSTER_MODEL"]

    @Test(
        "ten thousand graphs that the model draws now come out as there",
        .enabled(
            if: model != nil,
            "set PARLEY_ROSTER_MODEL to the model's file to draw graphs with it"))
    func live() throws {
        let path = try #require(Self.model)
        let count = ProcessInfo.processInfo.environment["PARLEY_ROSTER_GRAPHS"] ?? "10000"
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = ["python3", "-c", Self.driver, path, "1000", count]
        let pipe = Pipe()
        python.standardOutput = pipe
        try python.run()
        var rest: [UInt8] = []
        var graphs = 0
        while case let more = pipe.fileHandleForReading.availableData, !more.isEmpty {
            rest += more
            while let end = rest.firstIndex(of: 10) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeFirst(end + 1)
                let differences = try ModelGraph(line: line[...]).differences()
                #expect(differences.isEmpty, "seed \(1000 + graphs): \(differences.prefix(5))")
                graphs += 1
            }
        }
        python.waitUntilExit()
        #expect(python.terminationStatus == 0 && graphs == Int(count), "\(graphs) graphs")
    }

    /// Runs the model's own drawing and prints each graph as a line.
    static let driver = """
        import sys, json
        path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        model = {}
        exec(compile(open(path).read().split("\\ntot=")[0], path, "exec"), model)
        model["SYNC"] = .4
        acts = ["gen", "add", "rm", "set", "leave"]
        for seed in range(first, first + count):
            model["run"](seed)
            ops = model["ops"]
            place = {i: n for n, i in enumerate(ops)}
            order = {i: n for n, i in enumerate(sorted(ops))}
            st, live = model["resolve"]({i for i in ops if ops[i].ok})
            rows = [[int(o.a[1:]), acts.index(o.act), int(o.x[1:]) if o.x else -1,
                     model["ROLE"][o.role] if o.role else -1, order[i],
                     (1 if o.ok else 0) + (2 if i in live else 0)]
                    + sorted(place[d] for d in o.deps) for i, o in ops.items()]
            members = sorted([int(u[1:]), model["ROLE"][v[0]], v[1]] for u, v in st.items())
            print(json.dumps([rows, members], separators=(",", ":")), flush=True)
        """
}
