import ParleyLedger
import ParleySearch
import ParleyStorage
import ParleyWire
import ParleyWords

extension Node {
    /// Finds messages by their words and by what they mean.
    public func search(_ request: SearchRequest) async throws -> SearchReply {
        try await explaining { try await desk.find(request) }
    }

    /// Messages that mean about the same as this one.
    public func similar(message: Int64, limit: Int) async throws -> SearchReply {
        try await explaining { try await desk.similar(to: message, limit: limit) }
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
        let memory = await desk.memory
        let installed = indexer.shelf.folder.installed
        return try await read { views in
            let state = try views.store.wordIndexState()
            let held = views.store.operationCount
            var indexes = [
                SearchStats.Index(
                    name: "words", state: state.isOff ? "off" : "on",
                    indexed: state.isOff ? 0 : Int(state.through), held: held,
                    byteCount: try views.store.wordIndexByteCount(),
                    memoryByteCount: memory.places)
            ]
            let models = try views.store.models()
            for package in ModelPackage.allCases {
                let model = models.first { $0.name.bytes == package.name }
                let rows = try model.map { try views.store.vectorCount(of: $0) } ?? (0, 0)
                indexes.append(
                    SearchStats.Index(
                        name: package.rawValue,
                        state: installed.contains(package) ? "on" : "no-model",
                        indexed: Int(model?.through ?? 0), held: held, rows: rows.0,
                        byteCount: rows.1, memoryByteCount: memory.models[package] ?? 0))
            }
            return SearchStats(indexes: indexes)
        }
    }

    /// Compares the indexes with the messages, and removes vectors that belong to nothing.
    public func checkSearch() async throws -> DoctorReport {
        let known = ModelPackage.allCases.map(\.name)
        return try await explaining {
            let strangers = try await running.transact { store throws(StoreError) in
                var count = 0
                for model in try store.models() where !known.contains(model.name.bytes) {
                    count += try store.dropModel(model.number)
                }
                return count
            }
            let strange = try await running.transact { store throws(StoreError) in
                try store.dropStrangeVectors()
            }
            if strangers + strange > 0 { await desk.forget() }
            let words = try await read { try $0.store.checkWordIndex() }
            indexer.poke()
            return Self.report(words, strangers, strange)
        }
    }

    private static func report(
        _ words: (missing: Int, strange: Int), _ strangers: Int, _ strange: Int
    ) -> DoctorReport {
        DoctorReport(checks: [
            .init(
                name: "every text that was indexed is found by its words",
                isFine: words.missing == 0,
                detail: words.missing == 0 ? "none is missing" : "\(words.missing) are missing"),
            .init(
                name: "the index of words holds nothing that was erased",
                isFine: words.strange == 0,
                detail: words.strange == 0 ? "nothing" : "\(words.strange) rows are of no text"),
            .init(
                name: "every vector is of a text, and of a model that is known", isFine: true,
                detail: strangers + strange == 0
                    ? "all are" : "\(strangers + strange) were not, and are removed"),
        ])
    }

    /// Makes the indexes anew; they fill in the background.
    public func rebuildSearch() async throws {
        try await explaining {
            try await running.transact { store throws(StoreError) in
                try store.resetWordIndex(isOff: try store.wordIndexState().isOff)
                for model in try store.models() { try store.dropModel(model.number) }
            }
            await desk.forget()
            indexer.poke()
        }
    }

    /// Turns the index of words on or off.
    public func setWordIndex(on: Bool) async throws {
        try await explaining {
            try await running.transact { store throws(StoreError) in
                try store.resetWordIndex(isOff: !on)
            }
            if !on { try await running.write { store in _ = try store.checkpoint() } }
            indexer.poke()
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
