import ParleyLedger
import ParleySearch
import ParleyStorage
import ParleyWire
import ParleyWords

/// The cost of single steps of a search, for benchmarks: without the wait for the node's actor, or
/// for a program's turn.
extension Node {
    /// Seconds that looking up each word in the index takes.
    package func wordSeconds(_ words: [String], limit: Int) async throws -> [Double] {
        try await running.read { views in
            try words.map { word in
                let query = try SearchQuery(word, at: 0)
                let start = ContinuousClock.now
                _ = try views.store.wordHits(query.narrowing, excluding: [], limit: limit)
                return (ContinuousClock.now - start) / .seconds(1)
            }
        }
    }

    /// Seconds that opening the candidates of one model takes where only signs of its vectors are
    /// in memory: vectors are drawn for that, and taken away again.
    package func sealedVectorSeconds(dimension: Int = 512) async throws -> Double {
        let count = VectorTable.roughCount * 5
        guard let name = Digest([UInt8](repeating: 0xbe, count: 32)) else {
            preconditionFailure("a digest has 32 bytes")
        }
        let vectors = (0..<count).map { place in
            (0..<dimension).map { UInt8(truncatingIfNeeded: place &* 31 &+ $0 &* 7) }
        }
        let model = try await running.transact { store throws(StoreError) in
            let model = try store.model(name, byteCount: dimension)
            try store.fill(vectors, for: model)
            return model
        }
        let time = try await running.read { views in
            let start = ContinuousClock.now
            for turn in 0..<VectorTable.roughCount {
                // Far apart, as the nearest are.
                _ = try views.store.vector(of: Int64(turn * 7919 % count), for: model)
            }
            return (ContinuousClock.now - start) / .seconds(1)
        }
        _ = try await running.transact { store throws(StoreError) in
            try store.dropModel(model.number)
        }
        return time
    }
}
