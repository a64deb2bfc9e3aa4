import Foundation

/// What others take for the same scan, where they are installed: sqlite-vec, and a plain scan in
/// NumPy. 100,000 vectors of 384 bytes, the nearest 10.
struct SearchPeers {
    let say: @Sendable (String) -> Void

    private static let script = """
        import json, statistics, time
        import numpy as np
        rng = np.random.default_rng(7)
        rows = rng.integers(-60, 60, (100000, 384), dtype=np.int8)
        floats = rows.astype(np.float32)
        queries = rng.integers(-60, 60, (20, 384), dtype=np.int8)
        found = {}
        def measure(name, ask):
            ask(queries[0])
            times = []
            for query in queries:
                start = time.perf_counter()
                ask(query)
                times.append(time.perf_counter() - start)
            found[name] = times
        measure("numpy", lambda q: np.argpartition(floats @ q.astype(np.float32), -10)[-10:])
        try:
            import sqlite3, sqlite_vec
            base = sqlite3.connect(":memory:")
            base.enable_load_extension(True)
            sqlite_vec.load(base)
            base.execute("create virtual table v using vec0(e int8[384] distance_metric=cosine)")
            base.executemany("insert into v(rowid, e) values (?, vec_int8(?))",
                ((i + 1, r.tobytes()) for i, r in enumerate(rows)))
            measure("sqlite-vec", lambda q: base.execute(
                "select rowid from v where e match vec_int8(?) order by distance limit 10",
                (q.tobytes(),)).fetchall())
        except Exception:
            pass
        print(json.dumps(found))
        """

    func figures() -> [Figure] {
        say("asking sqlite-vec and NumPy the same, where they are installed")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "python3", "-c", Self.script,
        ]
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
            let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let found = try JSONDecoder().decode([String: [Double]].self, from: data)
            return found.sorted { $0.key < $1.key }.map { name, samples in
                Figure(
                    "search-peers", samples: samples, unit: "s",
                    note: "\(name): one scan of 100000 vectors of 384 numbers, the nearest 10")
            }
        } catch {
            say("neither is here: pip install numpy sqlite-vec")
            return []
        }
    }
}
