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
    public func similar(message: MessageReference, limit: Int) async throws -> SearchReply {
        let number = try await read { try $0.message(message) }
        return try await explaining {
            try await desk.similar(to: number.rawValue, limit: limit)
        }
    }

    /// The page of the timeline around a message, and its thread.
    public func context(message: MessageReference, limit: Int) async throws -> ContextView {
        guard (1...200).contains(limit) else {
            throw NodeError("bad-limit", "A page holds from 1 to 200 messages.")
        }
        return try await read { try $0.context(of: $0.message(message).rawValue, limit: limit) }
    }

    /// What is indexed, how far, and what it costs.
    public func searchStats() async throws -> SearchStats {
        let memory = await desk.memory
        let installed = indexer.shelf.folder.installed
        let (state, held, byteCount) = try await read { views in
            (
                try views.store.wordIndexState(), views.store.operationCount,
                try views.store.wordIndexByteCount()
            )
        }
        var stats = SearchStats(indexes: [
            SearchStats.Index(
                name: "words", state: state.isOff ? "off" : "on",
                indexed: state.isOff || !state.isCurrent ? 0 : Int(state.through), held: held,
                byteCount: byteCount,
                memoryByteCount: memory.places)
        ])
        let models = try await read { try $0.store.models() }
        for package in ModelPackage.allCases {
            let model = models.first { $0.name.bytes == package.name }
            let rows = try await vectorCount(of: model)
            stats.indexes.append(
                SearchStats.Index(
                    name: package.rawValue,
                    state: installed.contains(package) ? "on" : "no-model",
                    indexed: Int(model?.through ?? 0), held: held, rows: rows.count,
                    byteCount: rows.byteCount, memoryByteCount: memory.models[package] ?? 0))
        }
        return stats
    }

    /// Operations that are looked through in one turn of the node's actor.
    private static let turnCount = 4096

    private func vectorCount(of model: StoredModel?) async throws -> (count: Int, byteCount: Int) {
        var (count, byteCount) = (0, 0)
        var place: Int64? = model == nil ? nil : -1
        while let from = place, let model {
            let part = try await read {
                try $0.store.vectorCount(of: model, after: from, limit: Self.turnCount)
            }
            count += part.count
            byteCount += part.byteCount
            place = part.through
        }
        return (count, byteCount)
    }

    /// Compares the indexes with the messages, and removes vectors that belong to nothing.
    public func checkSearch() async throws -> DoctorReport {
        let known = ModelPackage.allCases.map(\.name)
        return try await explaining {
            var removed = 0
            for model in try await read({ try $0.store.models() })
            where !known.contains(model.name.bytes) {
                removed += try await drop(model)
            }
            removed += try await eachTurn(.checkingVectors) { store, place throws(StoreError) in
                try store.dropStrangeVectors(after: place, operationCount: Int64(Self.turnCount))
            }
            if removed > 0 { await desk.forget() }
            let words = try await compareWords()
            indexer.poke()
            return Self.report(words, removed)
        }
    }

    /// Writes turn by turn, until all operations that have vectors were dealt with.
    private func eachTurn(
        _ step: SearchWork.Step,
        _ body: @escaping @Sendable (SQLiteStore, Int64) throws(StoreError) -> Int
    ) async throws -> Int {
        let last = try await read { try $0.store.lastVector() }
        var count = 0
        for place in stride(from: -1, through: last, by: Self.turnCount) {
            count += try await running.transact { store throws(StoreError) in
                try body(store, place)
            }
            guard last > 0 else { continue }
            watch.tell(step, min(Int(last), Int(place) + Self.turnCount), of: Int(last))
        }
        return count
    }

    /// Forgets a model, its vectors first: a little at a time.
    private func drop(_ model: StoredModel) async throws -> Int {
        let number = model.number
        let count = try await eachTurn(.removingVectors) { store, place throws(StoreError) in
            try store.dropVectors(
                of: number, after: place, operationCount: Int64(Self.turnCount))
        }
        return try await count
            + running.transact { store throws(StoreError) in try store.dropModel(number) }
    }

    /// How many texts cannot be found by their words, and how many rows of the index are of no
    /// text.
    ///
    /// Both sides are gone through a little at a time, so they may change meanwhile: what seems to
    /// be wrong is looked at again.
    func compareWords() async throws -> (missing: Int, strange: Int) {
        let through = try await read { try $0.store.wordIndexState().through }
        var said = [Bool](repeating: false, count: Int(through) + 1), found = said
        var place: Int64 = 0
        while place < through {
            let from = place
            let part = try await read {
                try $0.store.texts(after: from, limit: Self.turnCount / 16)
            }
            guard part.through > place else { break }
            for text in part.texts where text.number.rawValue <= through {
                said[Int(text.number.rawValue)] = true
            }
            place = part.through
            watch.tell(.readingTexts, min(Int(place), Int(through)), of: Int(through))
        }
        for part in 0..<SQLiteStore.wordPartCount {
            watch.tell(.readingWords, part, of: SQLiteStore.wordPartCount)
            for row in try await read({ try $0.store.wordRows(inPart: part) })
            where found.indices.contains(Int(row)) { found[Int(row)] = true }
        }
        var (missing, strange) = (0, 0)
        for index in said.indices where said[index] != found[index] {
            let number = OperationNumber(Int64(index))
            let isSaid = said[index]
            let isWrong = try await read { views in
                try isSaid
                    ? views.store.isMissingFromWords(number)
                    : views.store.hasNothingToSay(number)
            }
            guard isWrong else { continue }
            if isSaid { missing += 1 } else { strange += 1 }
            watch.tell(.comparing, index, of: said.count)
        }
        return (missing, strange)
    }

    /// Vectors that belong to no text, or to no model that is known.
    func strangeVectorCount() async throws -> Int {
        let last = try await read { try $0.store.lastVector() }
        var count = 0
        for place in stride(from: -1, through: last, by: Self.turnCount) {
            count += try await read {
                try $0.store.strangeVectorCount(
                    after: place, operationCount: Int64(Self.turnCount))
            }
        }
        return count
    }

    private static func report(
        _ words: (missing: Int, strange: Int), _ removed: Int
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
                detail: removed == 0 ? "all are" : "\(removed) were not, and are removed"),
        ])
    }

    /// Makes the indexes anew; they fill in the background.
    public func rebuildSearch() async throws {
        try await explaining {
            try await running.transact { store throws(StoreError) in
                try store.resetWordIndex(isOff: try store.wordIndexState().isOff)
            }
            for model in try await read({ try $0.store.models() }) { _ = try await drop(model) }
            await desk.forget()
            // Also where it was opened for this alone: who asked may wait for it.
            await indexer.start()
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
        } catch let error as StoreError where error.code == .other {
            throw NodeError(
                "broken-index", "The index of the search is broken: \(error).",
                hint: "`parley search rebuild` makes it anew from the messages.")
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }
}
