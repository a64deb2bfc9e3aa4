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

    /// What a look at the indexes found.
    ///
    /// All sides are gone through a little at a time, so they may change meanwhile: what seems to
    /// be wrong is looked at again.
    func compareSearch() async throws -> SearchFaults {
        let (held, state, models) = try await read {
            (Int64($0.store.operationCount), try $0.store.wordIndexState(), try $0.store.models())
        }
        // A damaged row may name any number.
        let words = max(0, min(held, state.through))
        let through = max(words, min(held, models.map(\.through).max() ?? 0))
        let said = try await saysText(through: through)
        var faults = try await compareWords(Array(said.prefix(Int(words) + 1)))
        for model in models {
            faults.unread += try await unreadTexts(said, model).map { ($0, model) }
        }
        faults.strangeVectorCount = try await strangeVectorCount()
        return faults
    }

    /// For each operation up to here, whether it says a text.
    private func saysText(through: Int64) async throws -> [Bool] {
        var said = [Bool](repeating: false, count: Int(through) + 1)
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
        return said
    }

    /// How many texts cannot be found by their words, and how many rows of the index are of no
    /// text.
    private func compareWords(_ said: [Bool]) async throws -> SearchFaults {
        var found = [Bool](repeating: false, count: said.count)
        for part in 0..<SQLiteStore.wordPartCount {
            watch.tell(.readingWords, part, of: SQLiteStore.wordPartCount)
            for row in try await read({ try $0.store.wordRows(inPart: part) })
            where found.indices.contains(Int(row)) { found[Int(row)] = true }
        }
        var faults = SearchFaults()
        for index in said.indices where said[index] != found[index] {
            let number = OperationNumber(Int64(index))
            let isSaid = said[index]
            let isWrong = try await read { views in
                try isSaid
                    ? views.store.isMissingFromWords(number)
                    : views.store.hasNothingToSay(number)
            }
            guard isWrong else { continue }
            if isSaid { faults.missingCount += 1 } else { faults.strangeCount += 1 }
            watch.tell(.comparing, index, of: said.count)
        }
        return faults
    }

    /// Texts that a model passed and of which no vector opens.
    private func unreadTexts(_ said: [Bool], _ model: StoredModel) async throws -> [OperationNumber]
    {
        var hasVector = [Bool](repeating: false, count: said.count)
        var place: Int64? = 0
        while let from = place {
            let rows = try await read { views in
                var rows: [(number: Int64, opens: Bool)] = []
                try views.store.eachVector(of: model, after: from, limit: Self.turnCount) {
                    rows.append(($0, $1 != nil))
                }
                return rows
            }
            for row in rows where row.opens && hasVector.indices.contains(Int(row.number)) {
                hasVector[Int(row.number)] = true
            }
            place = rows.count < Self.turnCount ? nil : rows.last?.number
            watch.tell(.checkingVectors, Int(rows.last?.number ?? from), of: said.count)
        }
        var unread: [OperationNumber] = []
        for index in said.indices where said[index] && !hasVector[index] {
            let number = OperationNumber(Int64(index))
            guard try await read({ try $0.store.lacksVector(number, of: model) }) else { continue }
            unread.append(number)
        }
        return unread
    }

    /// Has models read texts again of which no vector opens.
    func readAgain(_ unread: [(text: OperationNumber, model: StoredModel)]) async throws {
        for start in stride(from: 0, to: unread.count, by: Self.turnCount / 16) {
            let part = unread.dropFirst(start).prefix(Self.turnCount / 16)
            try await running.transact { store throws(StoreError) in
                for (text, model) in part where try store.lacksVector(text, of: model) {
                    try store.readAgain(text, by: model)
                }
            }
        }
    }

    /// Vectors that belong to no text, or to no model that is known.
    private func strangeVectorCount() async throws -> Int {
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

/// What is wrong with the indexes of the search.
struct SearchFaults {
    /// Texts that cannot be found by their words.
    var missingCount = 0
    /// Rows of words that are of no text.
    var strangeCount = 0
    /// Vectors that belong to no text, or to no model that is known.
    var strangeVectorCount = 0
    /// Texts that a model passed and of which no vector opens.
    var unread: [(text: OperationNumber, model: StoredModel)] = []

    /// Whether there is nothing.
    var isEmpty: Bool {
        missingCount + strangeCount + strangeVectorCount + unread.count == 0
    }
}

extension DoctorReport {
    /// What ``CheckSearch`` found, and how many vectors it removed; nil where it may change nothing.
    init(_ faults: SearchFaults, removed: Int?) {
        let (left, unread) = (faults.strangeVectorCount, faults.unread.count)
        self.init(checks: [
            .init(
                name: "every indexed text can be found by its words",
                isFine: faults.missingCount == 0,
                detail: faults.missingCount == 0
                    ? "none is missing" : counted(faults.missingCount, "is missing", "are missing")),
            .init(
                name: "the word index holds nothing that was erased",
                isFine: faults.strangeCount == 0,
                detail: faults.strangeCount == 0
                    ? "nothing"
                    : counted(faults.strangeCount, "row belongs", "rows belong") + " to no text"),
            .init(
                name: "every vector belongs to a text and to a known model", isFine: left == 0,
                detail: left > 0
                    ? counted(left, "does", "do") + " not, and nothing may be removed here"
                    : removed ?? 0 == 0
                        ? "all do"
                        : counted(removed ?? 0, "did not, and was", "did not, and were")
                            + " removed"),
            .init(
                name: "every text that a model has read has a vector that opens",
                isFine: unread == 0 || removed != nil,
                detail: unread == 0
                    ? "all have"
                    : removed == nil
                        ? counted(unread, "has", "have") + " none, and nothing may be written here"
                        : counted(unread, "had", "had") + " none, and will be read again"),
        ])
    }
}
