import ParleyConversation
import ParleyLedger
import ParleySearch
import ParleyStorage
import ParleyWire

extension SearchIndexer {
    /// Operations of one turn, and of one while the node has other things to do.
    private static let meaningCount = 64, busyMeaningCount = 16

    /// Computes a vector of each installed model for every text that has none, until nothing is
    /// left, or until the time is over. If there is no such text, no model is loaded.
    func followMeaning(atMost limit: Duration? = nil) async throws {
        let start = ContinuousClock.now
        for package in shelf.folder.installed {
            while !Task.isCancelled {
                // Messages that arrived meanwhile are found by their words at once: those cost next
                // to nothing.
                try await Self.followWords(running)
                let isDone = try await turn(package)
                if isDone { break }
                if let limit, ContinuousClock.now - start > limit { return }
            }
        }
    }

    /// Some texts more. Returns whether none is left, or none can be dealt with.
    private func turn(_ package: ModelPackage) async throws -> Bool {
        let model = try await Self.record(package, running)
        let count = running.isBusy ? Self.busyMeaningCount : Self.meaningCount
        let pending = try await running.read { views in
            try views.store.pendingTexts(for: model, limit: count)
        }
        guard !pending.isEmpty(after: model.through) else { return true }
        let vectors: [[UInt8]]
        if pending.texts.isEmpty {
            vectors = []
        } else {
            guard let worker = worker(package) else { return true }
            vectors = worker.embed(pending.texts.map(\.text.text)).map { VectorBytes.pack($0) }
            noteUse()
        }
        try await running.transact { store throws(StoreError) in
            try store.keep(vectors, of: pending, for: model)
        }
        if !pending.late.isEmpty { noteLate(pending.late, package) }
        return false
    }

    /// A worker that is kept for the next turn; nil where the model's files are no good.
    private func worker(_ package: ModelPackage) -> (any TextEmbedder)? {
        if let known = workers[package], shelf.isUnchanged(package) { return known }
        workers[package] = nil
        do {
            let made = try shelf.worker(package)
            workers[package] = made
            return made
        } catch {
            noteBroken(package, error)
            return nil
        }
    }

    /// What the store knows a model by.
    static func record(
        _ package: ModelPackage, _ running: RunningNode
    ) async throws -> StoredModel {
        guard let name = Digest(package.name) else {
            preconditionFailure("the name of a model is a hash")
        }
        let known = try await running.read { try $0.store.models() }
        if let model = known.first(where: { $0.isRecord(of: package) }) { return model }
        return try await running.transact { store throws(StoreError) in
            try store.model(name, byteCount: package.dimension)
        }
    }
}

extension StoredModel {
    /// Whether this is the name under which a store knows this model.
    func isRecord(of package: ModelPackage) -> Bool {
        name == Digest(package.name) && byteCount == package.dimension
    }
}
