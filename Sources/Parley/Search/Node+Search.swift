import ParleyLedger
import ParleySearch
import ParleyStorage
import ParleyWire

extension Node {
    /// What is wrong with installed models.
    func damagedModels() async -> [ModelPackage: ModelError] {
        let shelf = indexer.shelf
        // Files of a hundred megabytes are read: not by a thread that others wait for.
        return await Task.detached {
            var damages: [ModelPackage: ModelError] = [:]
            for model in shelf.folder.installed { damages[model] = shelf.damage(of: model) }
            return damages
        }.value
    }

    /// The same as ``DoctorReport`` tells it.
    func checkModels() async -> DoctorReport.Outcome {
        let damages = await damagedModels().sorted { $0.key.rawValue < $1.key.rawValue }
        let installed = indexer.shelf.folder.installed.map(\.rawValue)
        if installed.isEmpty { return .skipped("none is installed") }
        guard !damages.isEmpty else { return .fine(installed.joined(separator: ", ")) }
        return .wrong(damages.map { Self.sentence($0.key, $0.value) }.joined(separator: " "))
    }

    /// What is known to be wrong with models that are in use.
    var warningsOfModels: [String] {
        indexer.shelf.knownDamage.map { Self.sentence($0.model, $0.damage) }
    }

    /// That a model finds nothing, and what mends it.
    private static func sentence(_ model: ModelPackage, _ damage: ModelError) -> String {
        "The model \(model.rawValue) cannot be used: \(damage). "
            + "`parley model install \(model.rawValue)` installs it again."
    }

    /// Operations that are looked through in one turn of the node's actor.
    private static let turnCount = 4096

    /// Vectors of a model, and their bytes.
    func vectorCount(of model: StoredModel?) async throws -> (count: Int, byteCount: Int) {
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

    /// Removes vectors that belong to no text.
    func dropStrangeVectors() async throws -> Int {
        try await eachTurn(.checkingVectors) { store, place throws(StoreError) in
            try store.dropStrangeVectors(after: place, operationCount: Int64(Self.turnCount))
        }
    }

    /// Forgets a model, its vectors first: a little at a time.
    func drop(_ model: StoredModel) async throws -> Int {
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

    /// Turns problems with the indexes into messages for a person.
    func explaining<R: Sendable>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as StoreError where error.code == .other {
            throw NodeError(
                "broken-index", "The search index is damaged: \(error).",
                hint: "`parley search rebuild` rebuilds it from the messages.")
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }
}

extension DoctorReport {
    /// What ``CheckSearch`` found, how many vectors it removed, and how many it could not remove.
    init(_ words: (missing: Int, strange: Int), _ removed: Int, left: Int = 0) {
        self.init(checks: [
            .init(
                name: "every indexed text can be found by its words",
                isFine: words.missing == 0,
                detail: words.missing == 0
                    ? "none is missing" : counted(words.missing, "is missing", "are missing")),
            .init(
                name: "the word index holds nothing that was erased",
                isFine: words.strange == 0,
                detail: words.strange == 0
                    ? "nothing"
                    : counted(words.strange, "row belongs", "rows belong") + " to no text"),
            .init(
                name: "every vector belongs to a text and to a known model", isFine: left == 0,
                detail: left > 0
                    ? counted(left, "does", "do") + " not, and nothing may be removed here"
                    : removed == 0
                        ? "all do"
                        : counted(removed, "did not, and was", "did not, and were") + " removed"),
        ])
    }
}
