import Foundation

/// What others take for the same, where they are installed: FTS5 over texts that anybody can read,
/// sqlite-vec, and a plain scan in NumPy. 100,000 texts, the newest 20; 100,000 vectors of 384
/// bytes, the nearest 10.
struct SearchPeers {
    let folder: String
    let texts: [String]
    let say: @Sendable (String) -> Void

    private static let script = """
        import json, sqlite3, sys, time
        found = {}
        def measure(name, queries, ask):
            ask(queries[0])
            times = []
            for query in queries:
                start = time.perf_counter()
                ask(query)
                times.append(time.perf_counter() - start)
            found[name] = times
        def words():
            texts = open(sys.argv[1], encoding="utf-8").read().splitlines()
            queries = sys.argv[2:]
            base = sqlite3.connect(":memory:")
            base.execute("create virtual table w using fts5(t)")
            base.executemany("insert into w(t) values (?)", ((t,) for t in texts))
            base.execute("insert into w(w) values ('optimize')")
            measure("FTS5", queries, lambda q: base.execute(
                "select rowid from w where w match ? order by rowid desc limit 20",
                ('"' + q + '"',)).fetchall())
        def vectors():
            import numpy as np
            rng = np.random.default_rng(7)
            rows = rng.integers(-60, 60, (100000, 384), dtype=np.int8)
            floats = rows.astype(np.float32)
            queries = rng.integers(-60, 60, (20, 384), dtype=np.int8)
            measure("NumPy", queries,
                lambda q: np.argpartition(floats @ q.astype(np.float32), -10)[-10:])
            import sqlite_vec
            base = sqlite3.connect(":memory:")
            base.enable_load_extension(True)
            sqlite_vec.load(base)
            base.execute("create virtual table v using vec0(e int8[384] distance_metric=cosine)")
            base.executemany("insert into v(rowid, e) values (?, vec_int8(?))",
                ((i + 1, r.tobytes()) for i, r in enumerate(rows)))
            measure("sqlite-vec", queries, lambda q: base.execute(
                "select rowid from v where e match vec_int8(?) and k = 10",
                (q.tobytes(),)).fetchall())
        for part in [words, vectors]:
            try:
                part()
            except Exception as reason:
                print(reason, file=sys.stderr)
        print(json.dumps(found))
        """

    private static let notes = [
        "FTS5": "one word in 100000 texts in the clear, the newest 20 rows, asked from Python",
        "NumPy": "one scan of 100000 vectors of 384 numbers, the nearest 10",
        "sqlite-vec": "the same, a number in a byte",
    ]

    func figures() -> [Figure] {
        say("asking FTS5, NumPy and sqlite-vec the same, where they are installed")
        var stream = SearchTexts(texts)
        let lines = (0..<100_000).map { _ in
            stream.next().replacing(/\s+/, with: " ")
        }
        let file = folder + "/texts"
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            [
                "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "python3", "-c", Self.script, file,
            ] + stream.words(200)
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = FileHandle.standardError
        do {
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: file))
            try process.run()
            let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let found = try JSONDecoder().decode([String: [Double]].self, from: data)
            return found.sorted { $0.key < $1.key }.map { name, samples in
                Figure(
                    "search-peers-\(name)", samples: samples, unit: "s",
                    note: Self.notes[name] ?? "")
            }
        } catch {
            say("no peer was asked: python3 -m pip install numpy sqlite-vec")
            return []
        }
    }
}
