import ParleyConversation
public import ParleyLedger
import ParleySealing
public import ParleyWire

/// A model whose vectors are kept.
public struct StoredModel: Equatable, Sendable {
    /// Its number here.
    public var number: Int64
    /// The hash of its weights and of the code that runs it.
    public var name: Digest
    /// Bytes of one vector.
    public var byteCount: Int
    /// The last operation that was looked at.
    public var through: Int64
}

/// Vectors of texts, sealed row by row under the key of the operation's bucket. They tell nearly
/// as much as the text, so they go when it goes, in the same transaction.
extension SQLiteStore {
    /// At most so many models are ever numbered.
    private static let modelCountMax: Int64 = 255

    /// All models that vectors are kept of.
    public func models() throws(StoreError) -> [StoredModel] {
        let statement = try connection.prepare(
            "SELECT number, name, byteCount, through FROM model ORDER BY number")
        defer { statement.reset() }
        var found: [StoredModel] = []
        while try statement.step("reading models") {
            guard let name = Digest(statement.bytes(1)) else {
                throw Self.damaged("reading models")
            }
            found.append(
                StoredModel(
                    number: statement.integer(0), name: name,
                    byteCount: Int(statement.integer(2)), through: statement.integer(3)))
        }
        return found
    }

    /// The model of this name, noted where it is new.
    public func model(_ name: Digest, byteCount: Int) throws(StoreError) -> StoredModel {
        writes()
        let known = try models()
        if let model = known.first(where: { $0.name == name && $0.byteCount == byteCount }) {
            return model
        }
        guard
            let number = (1...Self.modelCountMax).first(where: { number in
                !known.contains { $0.number == number }
            })
        else { throw StoreError(.other, attempt: "noting a model") }
        let statement = try connection.prepare(
            "INSERT INTO model (number, name, byteCount) VALUES (?1, ?2, ?3)")
        statement.bind(1, number)
        statement.bind(2, copying: name.bytes)
        statement.bind(3, Int64(byteCount))
        try statement.run("noting a model")
        return StoredModel(number: number, name: name, byteCount: byteCount, through: 0)
    }

    /// Forgets vectors of a model, those of at most so many operations.
    ///
    /// - Parameter operation: only those after it.
    /// - Returns: how many vectors that were.
    public func dropVectors(
        of model: Int64, after operation: Int64, operationCount: Int64
    ) throws(StoreError) -> Int {
        writes()
        let statement = try connection.prepare(SearchSQL.embeddingsDrop)
        statement.bind(1, model)
        statement.bind(2, operation)
        statement.bind(3, operation + operationCount)
        try statement.run("dropping vectors")
        return connection.changeCount
    }

    /// Drops a model and every vector of it.
    ///
    /// - Returns: how many vectors that were.
    @discardableResult
    public func dropModel(_ number: Int64) throws(StoreError) -> Int {
        writes()
        let count = try dropVectors(of: number, after: -1, operationCount: .max / 2)
        for sql in [
            "DELETE FROM lateText WHERE model = ?1", "DELETE FROM model WHERE number = ?1",
        ] {
            let statement = try connection.prepare(sql)
            statement.bind(1, number)
            try statement.run("dropping a model")
        }
        return count
    }

    /// The next texts of which a model has no vector, of at most so many operations.
    public func pendingTexts(
        for model: StoredModel, limit: Int
    ) throws(StoreError) -> PendingTexts {
        try pendingTexts(after: model.through, model.number, limit: limit)
    }

    /// Keeps vectors, one for each text, and notes how far the model is. A vector that is nil, or
    /// whose text was erased in the meantime, is left out. Where the model was dropped in the
    /// meantime, or somebody else was here, nothing is kept.
    public func keep(
        _ vectors: [[UInt8]?], of pending: PendingTexts, for model: StoredModel
    ) throws(StoreError) {
        writes()
        let current = try models().first { $0.number == model.number }
        guard let current, current.name == model.name, current.through == pending.from else {
            return
        }
        for (text, vector) in zip(pending.texts, vectors) where try hasText(text.number) {
            if let vector { try keep(vector, of: text.number.rawValue, for: model) }
        }
        for number in pending.late { try forgetLate(number, model.number) }
        let mark = try connection.prepare("UPDATE model SET through = ?2 WHERE number = ?1")
        mark.bind(1, model.number)
        mark.bind(2, pending.through)
        try mark.run("noting how far a model is")
    }

    private func keep(
        _ vector: [UInt8], of number: Int64, for model: StoredModel
    ) throws(StoreError) {
        precondition(vector.count == model.byteCount, "a vector has the size of its model")
        let statement = try searchStatements().keepEmbedding
        let key = try vault.keyOrNew(of: Vault.bucket(of: number))
        statement.bind(1, number)
        statement.bind(2, model.number)
        statement.bind(3, copying: key.seal(vector, at: Self.place(number, model.number)))
        try statement.run("storing a vector")
    }

    /// Keeps vectors of the first operations, whatever these say: for benchmarks.
    package func fill(_ vectors: [[UInt8]], for model: StoredModel) throws(StoreError) {
        writes()
        for (number, vector) in vectors.enumerated() {
            try keep(vector, of: Int64(number), for: model)
        }
    }

    /// Shows vectors of a model to the closure, ascending by operation, at most so many. One that
    /// does not open, or has another size, is shown as nil.
    public func eachVector(
        of model: StoredModel, after operation: Int64, limit: Int,
        _ body: (Int64, [UInt8]?) -> Void
    ) throws(StoreError) {
        let statement = try searchStatements().embeddingsAfter
        statement.bind(1, operation)
        statement.bind(2, model.number)
        statement.bind(3, Int64(limit))
        defer { statement.reset() }
        while try statement.step("reading vectors") {
            body(statement.integer(0), try open(statement, 1, statement.integer(0), model))
        }
    }

    /// The vector of one operation, or nil.
    public func vector(
        of operation: Int64, for model: StoredModel
    ) throws(StoreError) -> [UInt8]? {
        let statement = try searchStatements().embedding
        statement.bind(1, operation)
        statement.bind(2, model.number)
        defer { statement.reset() }
        guard try statement.step("reading a vector") else { return nil }
        return try open(statement, 0, operation, model)
    }

    private func open(
        _ row: Statement, _ column: Int32, _ operation: Int64, _ model: StoredModel
    ) throws(StoreError) -> [UInt8]? {
        guard let key = try vault.knownKey(of: Vault.bucket(of: operation)) else { return nil }
        let place = Self.place(operation, model.number)
        guard let vector = key.open(row.bytes(column), at: place),
            vector.count == model.byteCount
        else { return nil }
        return vector
    }

    /// Removes vectors of operations without a text, of unknown models, and of another size than
    /// their model's; their texts are examined again.
    ///
    /// - Parameters:
    ///   - operation: only those of operations after it,
    ///   - operationCount: and of so many.
    /// - Returns: how many were removed.
    public func dropStrangeVectors(
        after operation: Int64, operationCount: Int64
    ) throws(StoreError) -> Int {
        writes()
        let rest = Self.strangeVectors(operation, operationCount)
        try connection.execute(
            """
            INSERT OR IGNORE INTO lateText (operation, model) SELECT operation, model \(rest)
                AND model IN (SELECT number FROM model)
            """, "checking vectors")
        try connection.execute("DELETE \(rest)", "checking vectors")
        return connection.changeCount
    }

    /// How many vectors belong to no text, or to no model that is known, of these operations.
    public func strangeVectorCount(
        after operation: Int64, operationCount: Int64
    ) throws(StoreError) -> Int {
        let statement = try connection.prepare(
            "SELECT count(*) \(Self.strangeVectors(operation, operationCount))")
        defer { statement.reset() }
        return try statement.step("checking vectors") ? Int(statement.integer(0)) : 0
    }

    private static func strangeVectors(_ operation: Int64, _ operationCount: Int64) -> String {
        """
        FROM embedding WHERE operation > \(operation)
        AND operation <= \(operation + operationCount) AND (NOT EXISTS (
            SELECT 1 FROM operation AS o WHERE o.number = operation
            AND o.tail IS NOT NULL AND length(o.tail) <> 32
        ) OR NOT EXISTS (
            SELECT 1 FROM model AS m WHERE m.number = model
            AND m.byteCount + \(sealedRowOverhead) = length(content)))
        """
    }

    /// Whether a model passed a text, and no vector of it opens: nothing says its meaning.
    public func lacksVector(
        _ number: OperationNumber, of model: StoredModel
    ) throws(StoreError) -> Bool {
        // The model may have been dropped, and the text erased, since somebody looked.
        let known = try models().first { $0.number == model.number && $0.name == model.name }
        guard let known, number.rawValue <= known.through, try hasText(number),
            try !isLate(number, known.number), try operation(number)?.searchableText != nil
        else { return false }
        return try vector(of: number.rawValue, for: known) == nil
    }

    /// Has a model read a text again. What was kept of it, and does not open, goes.
    public func readAgain(
        _ number: OperationNumber, by model: StoredModel
    ) throws(StoreError) {
        writes()
        let drop = try connection.prepare(
            "DELETE FROM embedding WHERE operation = ?1 AND model = ?2")
        drop.bind(1, number.rawValue)
        drop.bind(2, model.number)
        try drop.run("dropping a vector")
        let late = try searchStatements().addLate
        late.bind(1, number.rawValue)
        late.bind(2, model.number)
        try late.run("noting a late text")
    }

    /// The last operation that has a vector, of whichever model; 0 where none has.
    public func lastVector() throws(StoreError) -> Int64 {
        let statement = try connection.prepare("SELECT max(operation) FROM embedding")
        defer { statement.reset() }
        return try statement.step("reading vectors") ? statement.integer(0) : 0
    }

    /// How many vectors of a model there are among the next so many, and their bytes in the
    /// database.
    ///
    /// - Returns: also the last operation that was counted; nil where there are no more.
    public func vectorCount(
        of model: StoredModel, after operation: Int64, limit: Int
    ) throws(StoreError) -> (count: Int, byteCount: Int, through: Int64?) {
        let statement = try connection.prepare(SearchSQL.vectorCount)
        statement.bind(1, operation)
        statement.bind(2, model.number)
        statement.bind(3, Int64(limit))
        defer { statement.reset() }
        var (count, byteCount, last) = (0, 0, operation)
        while try statement.step("counting vectors") {
            last = statement.integer(0)
            byteCount += Int(statement.integer(1))
            count += 1
        }
        return (count, byteCount, count == limit ? last : nil)
    }

    private static func place(_ operation: Int64, _ model: Int64) -> SealedPlace {
        SealedPlace(column: .embeddingContent, row: operation << 8 | model)
    }
}
