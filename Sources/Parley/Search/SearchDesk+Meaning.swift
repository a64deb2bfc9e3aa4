import ParleyConversation
import ParleyLedger
import ParleySearch
import ParleyStorage
import ParleyWords

/// The vectors of one model in memory, and how far they were read.
struct LoadedVectors {
    var table: VectorTable
    var worker: any TextEmbedder
    /// The last operation whose vector was read.
    var through: Int64 = 0
}

/// The results of the models for a search.
struct Opinions: Sendable {
    var opinions: [Ranking.Opinion] = []
    /// Which operations say the text that each message was found by.
    var sources: [Int64: [Int64]] = [:]
    /// See ``SearchReply/semantic``.
    var state = "unavailable"
    /// Whether a model said nothing, being read into memory.
    var isLoading = false
    var notes: [String] = []
}

extension SearchDesk {
    /// The nearest so many are looked at by each model.
    private static let nearestCount = 300
    /// Vectors that are read in one turn of the node's actor.
    private static let turnCount = 512

    /// What the installed models say.
    ///
    /// - Parameter isTyping: whether a person waits at each letter: then nothing waits for vectors
    ///   that are not in memory yet, which are loaded meanwhile.
    func opinions(
        on query: SearchQuery, _ filter: SearchFilter, _ places: PlaceTable, isTyping: Bool
    ) async throws -> Opinions {
        var result = Opinions()
        let installed = indexer.shelf.folder.installed
        guard !installed.isEmpty else {
            result.notes = ["Searched only by words: no model installed (parley model install)."]
            return result
        }
        guard !query.isExact, !query.question.isEmpty else {
            result.state = "not-asked"
            return result
        }
        result.state = "not-indexed"
        let packages = try await usable(installed)
        if packages.count < installed.count {
            result.notes = [
                "What no model has read yet is found only by words: the home is read-only."
            ]
        }
        let held = try await running.read { $0.store.operationCount }
        // Side by side: one model is read while the vectors of another are opened.
        if !isTyping { for package in packages where tables[package] == nil { _ = load(package) } }
        var unknown: Set<String>?
        for package in packages {
            if isTyping, isBeingLoaded(package) {
                result.isLoading = true
                continue
            }
            guard let (loaded, model) = try await usableVectors(of: package, &result) else {
                continue
            }
            if model.through < Int64(held) {
                result.notes.append(await note(on: model, package, held: held))
            }
            guard loaded.table.count > 0 else { continue }
            result.state = "available"
            // The model that knows most of the words decides.
            let words = Self.unknownWords(of: query, to: loaded.worker)
            unknown = unknown.map { $0.intersection(words) } ?? words
            let vector = loaded.worker.embed([query.question])[0]
            var scan = loaded.table.scan(
                vector, limit: Self.nearestCount,
                passes: filter.isEmpty ? nil : { places.passes($0, filter) ?? true })
            if scan.isRough { scan = try await refined(scan, vector, model) }
            let opinion = Ranking.Opinion(model: package.rawValue, scan: scan)
            try await result.add(opinion, places, running)
        }
        if let unknown, !unknown.isEmpty, try await isUnheardOf(query, besides: unknown) {
            result.opinions = []
            result.notes = [
                "Nobody wrote “\(query.question)”, and no model knows what that means."
            ]
        }
        if result.isLoading {
            result.state = "loading"
            result.notes.append("Found only by words so far: meanings are being read into memory.")
        }
        return result
    }

    /// The vectors of a model; nil, with a note, if its files cannot be used: words are still
    /// found.
    private func usableVectors(
        of package: ModelPackage, _ result: inout Opinions
    ) async throws -> (LoadedVectors, StoredModel)? {
        do {
            return try await vectors(of: package)
        } catch let error as NodeError where error.code == Self.badModel {
            let note = [error.message, error.hint].compactMap { $0 }
            result.notes.append(note.joined(separator: " "))
            if result.state == "not-indexed" { result.state = "damaged" }
            return nil
        }
    }

    /// How much a model knows, and what becomes of the rest.
    private func note(
        on model: StoredModel, _ package: ModelPackage, held: Int
    ) async -> String {
        let part = Self.percent(model.through, of: held)
        let bar = await running.bar
        let rest = bar.map { "the rest is found only by its words: \($0.reason)" }
        return
            "\(package.rawValue) has read \(part) % of the messages; \(rest ?? "the rest follows")."
    }

    /// Words of a question of which a model knows nothing.
    private static func unknownWords(
        of query: SearchQuery, to worker: any TextEmbedder
    ) -> Set<String> {
        Set(words(of: query).filter { !worker.knows($0) })
    }

    private static func words(of query: SearchQuery) -> [String] {
        WordSplitter.words(of: query.question).map { String(decoding: $0.folded, as: UTF8.self) }
    }

    /// Whether a question has no word but such of which no model knows anything, and that stand in no
    /// message.
    private func isUnheardOf(
        _ query: SearchQuery, besides unknown: Set<String>
    ) async throws -> Bool {
        guard !query.wanted.isEmpty, Self.words(of: query).allSatisfy(unknown.contains) else {
            return false
        }
        return try await running.read { views in
            guard try !views.store.wordIndexState().isOff else { return false }
            return try query.wantedTerms.allSatisfy { groups in
                try groups.contains { try views.store.textCounts(of: $0).allSatisfy { $0 == 0 } }
            }
        }
    }

    /// Models that can be used: where nothing may be written, those that the store knows already.
    private func usable(_ packages: [ModelPackage]) async throws -> [ModelPackage] {
        guard await running.bar != nil else { return packages }
        let known = try await running.read { try $0.store.models() }
        return packages.filter { package in known.contains { $0.isRecord(of: package) } }
    }

    /// The nearest of a rough scan, by the vectors themselves, which lie sealed in the store.
    private func refined(
        _ scan: VectorTable.Scan, _ query: [Float], _ model: StoredModel
    ) async throws -> VectorTable.Scan {
        var scan = scan
        var nearest: [VectorTable.Near] = []
        var rest = scan.nearest[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.turnCount)
            rest = rest.dropFirst(Self.turnCount)
            let found = try await running.read { views in
                try part.compactMap { near in
                    try views.store.vector(of: near.operation, for: model).map {
                        (near.operation, $0)
                    }
                }
            }
            let cosines = VectorTable.cosines(query, found.map(\.1))
            nearest += zip(found, cosines).map { .init(operation: $0.0, cosine: $1) }
        }
        nearest.sort {
            $0.cosine != $1.cosine ? $0.cosine > $1.cosine : $0.operation > $1.operation
        }
        scan.nearest = Array(nearest.prefix(Self.nearestCount))
        return scan
    }

    /// Whether the vectors of a model are not in memory and being loaded, starting now if needed.
    /// If that failed, the next caller learns why.
    private func isBeingLoaded(_ package: ModelPackage) -> Bool {
        guard tables[package] == nil, failed.remove(package) == nil else { return false }
        _ = load(package)
        return true
    }

    /// Loads the vectors of a model into memory; concurrent callers wait for the same.
    private func load(_ package: ModelPackage) -> Task<Void, any Error> {
        if let load = loads[package] { return load }
        let round = round
        let load = Task {
            defer { loads[package] = nil }
            do {
                let loaded = try await begun(package)
                let (all, _) = try await followed(loaded, package)
                // Otherwise everything was dropped meanwhile, since it may be outdated by now.
                if round == self.round { tables[package] = all }
            } catch {
                failed.insert(package)
                throw error
            }
        }
        loads[package] = load
        return load
    }

    /// No vectors yet, and the model itself, which is read by another thread.
    private func begun(_ package: ModelPackage) async throws -> LoadedVectors {
        _ = indexer.takeLate(package)
        let shelf = indexer.shelf
        do {
            try await Task.detached { _ = try shelf.worker(package) }.value
            return LoadedVectors(
                table: VectorTable(dimension: package.dimension),
                worker: try shelf.worker(package))
        } catch {
            throw NodeError(
                Self.badModel, "The model \(package.rawValue) cannot be used: \(error).",
                hint: "`parley model install \(package.rawValue)` installs it again.")
        }
    }

    private static let badModel = "bad-model"

    /// The vectors of a model, with what was stored since they were last used.
    private func vectors(
        of package: ModelPackage
    ) async throws -> (LoadedVectors, StoredModel) {
        if tables[package] != nil, !indexer.shelf.isUnchanged(package) { tables[package] = nil }
        var known = tables[package]
        while known == nil {
            try await load(package).value
            known = tables[package]
        }
        guard let known else { preconditionFailure("it was waited for") }
        let (loaded, model) = try await followed(known, package)
        failed.remove(package)
        tables[package] = loaded
        return (loaded, model)
    }

    /// Vectors with what was stored since they were read.
    private func followed(
        _ known: LoadedVectors, _ package: ModelPackage
    ) async throws -> (LoadedVectors, StoredModel) {
        let model = try await SearchIndexer.record(package, running)
        var loaded = known
        while true {
            let from = loaded.through
            let rows = try await running.read { views in
                var rows: [(Int64, [UInt8]?)] = []
                try views.store.eachVector(of: model, after: from, limit: Self.turnCount) {
                    rows.append(($0, $1))
                }
                return rows
            }
            for (operation, vector) in rows {
                if let vector { loaded.table.add(vector, of: operation) }
                loaded.through = operation
            }
            if rows.count < Self.turnCount { break }
        }
        for operation in indexer.takeLate(package) {
            let vector = try await running.read {
                try $0.store.vector(of: operation, for: model)
            }
            if let vector { loaded.table.add(vector, of: operation) }
        }
        return (loaded, model)
    }

    /// Messages that mean about the same as this one.
    func similar(to number: Int64, limit: Int) async throws -> SearchReply {
        guard (1...200).contains(limit) else {
            throw NodeError("bad-limit", "A search can find from 1 to 200 messages.")
        }
        let text = try await running.read { try $0.message(OperationNumber(number))?.text }
        guard let text else {
            throw NodeError("unknown-message", "There is no text with the number \(number).")
        }
        guard !indexer.shelf.folder.installed.isEmpty else {
            throw NodeError(
                "no-model",
                "Similar messages are found by their meaning, and no model is installed.",
                hint: "`parley model install` installs one.")
        }
        var reply = try await find(
            SearchQuery(like: text), SearchMessages("", limit: min(200, limit + 1)))
        reply.hits = Array(reply.hits.filter { $0.message.number != number }.prefix(limit))
        return reply
    }
}

extension Opinions {
    /// Takes an opinion on operations as one on the messages whose text they say.
    fileprivate mutating func add(
        _ opinion: Ranking.Opinion, _ places: PlaceTable, _ running: RunningNode
    ) async throws {
        let unknown = opinion.scan.nearest.map(\.operation).filter { places.time($0) == nil }
        let messages = try await running.read { views in
            var messages: [Int64: Int64] = [:]
            for number in unknown {
                guard let stored = try views.store.operation(OperationNumber(number)),
                    let text = stored.searchableText
                else { continue }
                messages[number] = try views.message(of: stored, text)
            }
            return messages
        }
        var scan = opinion.scan
        var nearest: [VectorTable.Near] = []
        var seen: Set<Int64> = []
        for near in scan.nearest {
            guard
                let message = messages[near.operation]
                    ?? (places.time(near.operation) == nil ? nil : near.operation)
            else { continue }
            sources[message, default: []].append(near.operation)
            if seen.insert(message).inserted {
                nearest.append(.init(operation: message, cosine: near.cosine))
            }
        }
        scan.nearest = nearest
        opinions.append(Ranking.Opinion(model: opinion.model, scan: scan))
    }
}
