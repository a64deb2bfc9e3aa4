import ParleyLedger
import ParleyStorage
import ParleyWords

extension Node {
    /// Finds messages by their words and by what they mean.
    public func search(_ request: SearchRequest) async throws -> SearchReply {
        try await explaining { try await desk.find(request) }
    }

    /// Messages that mean about the same as this one.
    public func similar(message: Int64, limit: Int) async throws -> SearchReply {
        throw NodeError(
            "no-model", "What is similar is found by meaning, and no model is installed.",
            hint: "parley model install")
    }

    /// The page of the timeline around a message, and its thread.
    public func context(message: Int64, limit: Int) async throws -> ContextView {
        guard (1...200).contains(limit) else {
            throw NodeError("bad-limit", "A page holds from 1 to 200 messages.")
        }
        return try await read { try $0.context(of: message, limit: limit) }
    }

    /// What is indexed, how far, and what it costs.
    public func searchStats() async throws -> SearchStats {
        try await read { views in
            let state = try views.store.wordIndexState()
            return SearchStats(indexes: [
                SearchStats.Index(
                    name: "words", state: state.isOff ? "off" : "on",
                    indexed: state.isOff ? 0 : Int(state.through),
                    held: views.store.operationCount,
                    byteCount: try views.store.wordIndexByteCount(), memoryByteCount: 0)
            ])
        }
    }

    /// Compares the indexes with the messages, and removes vectors that belong to nothing.
    public func checkSearch() async throws -> DoctorReport {
        let (missing, strange) = try await read { try $0.store.checkWordIndex() }
        return DoctorReport(checks: [
            .init(
                name: "every text that was indexed is found by its words", isFine: missing == 0,
                detail: missing == 0 ? "none is missing" : "\(missing) are missing"),
            .init(
                name: "the index of words holds nothing that was erased", isFine: strange == 0,
                detail: strange == 0 ? "nothing" : "\(strange) rows are of no text"),
        ])
    }

    /// Makes the indexes anew; they fill in the background.
    public func rebuildSearch() async throws {
        try await explaining {
            try await running.transact { store throws(StoreError) in
                try store.resetWordIndex(isOff: try store.wordIndexState().isOff)
            }
            await indexer.poke()
        }
    }

    /// Turns the index of words on or off.
    public func setWordIndex(on: Bool) async throws {
        try await explaining {
            try await running.transact { store throws(StoreError) in
                try store.resetWordIndex(isOff: !on)
            }
            if !on { try await running.write { store in _ = try store.checkpoint() } }
            await indexer.poke()
        }
    }

    private func explaining<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }
}
