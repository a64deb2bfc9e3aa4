public import ParleyConversation
public import ParleyLedger
import ParleyNodeCore
import ParleyWire
public import ParleyWords

/// Where the index of words stands.
public struct WordIndexState: Equatable, Sendable {
    /// Of which version its terms are; see `Terms.version`.
    public var version: Int64
    /// Whether the person wants no index of words.
    public var isOff: Bool
    /// The last operation that was looked at.
    public var through: Int64
    /// Whether something was taken out whose hashes may still lie in a page.
    public var needsPurge: Bool

    /// Whether it has the present version, or is off: any other is rebuilt before it is used.
    public var isCurrent: Bool { isOff || version == Terms.version }
}

/// A text that is to be looked for, by its operation.
public struct PendingText: Equatable, Sendable {
    /// The operation.
    public var number: OperationNumber
    /// The text.
    public var text: SearchableText
}

/// The next texts for an index.
public struct PendingTexts: Equatable, Sendable {
    /// The texts.
    public var texts: [PendingText] = []
    /// Where the index was when they were read.
    public var from: Int64
    /// The index knows everything up to here once it has them.
    public var through: Int64
    /// Operations among them that it had passed before their text arrived.
    public var late: [Int64] = []

    /// Whether there is nothing to do.
    public func isEmpty(after state: Int64) -> Bool {
        through == state && texts.isEmpty && late.isEmpty
    }
}

/// Word search: FTS5 over keyed hashes of terms, one row for each operation that says a text.
///
/// The index follows the log of operations at its own pace; erased texts leave it in the
/// transaction that erases them.
/// Source: `Protocol/10-search.md`, "Index of words".
extension SQLiteStore {
    /// Late texts of the index of words; models have numbers from 1.
    static let wordsModel: Int64 = 0
    /// Nobody's: late texts do not matter to a reader.
    static let noModel: Int64 = -1

    func searchStatements() throws(StoreError) -> SearchStatements {
        if let known = search { return known }
        let made = try SearchStatements(connection)
        search = made
        return made
    }

    /// Where the index stands.
    public func wordIndexState() throws(StoreError) -> WordIndexState {
        let statement = try searchStatements().state
        defer { statement.reset() }
        guard try statement.step("reading the index") else {
            throw Self.damaged("reading the index")
        }
        var state = WordIndexState(
            version: statement.integer(0), isOff: statement.integer(1) != 0,
            through: statement.integer(2), needsPurge: statement.integer(3) != 0)
        // Without a key nothing is found in it: it is rebuilt, like one of another version.
        if !state.isOff, try wordKey() == nil { state.version = 0 }
        return state
    }

    private func set(_ state: WordIndexState) throws(StoreError) {
        let statement = try searchStatements().setState
        statement.bind(1, state.version)
        statement.bind(2, state.isOff ? 1 : 0)
        statement.bind(3, state.through)
        statement.bind(4, state.needsPurge ? 1 : 0)
        try statement.run("noting how far the index is")
    }

    // MARK: Following

    /// The next texts, of at most so many operations.
    public func pendingTexts(limit: Int) throws(StoreError) -> PendingTexts {
        try pendingTexts(after: try wordIndexState().through, Self.wordsModel, limit: limit)
    }

    func pendingTexts(
        after start: Int64, _ model: Int64, limit: Int
    ) throws(StoreError) -> PendingTexts {
        var pending = PendingTexts(from: start, through: start)
        let late = try searchStatements().lateTexts
        late.bind(1, model)
        late.bind(2, Int64(limit))
        defer { late.reset() }
        while try late.step("looking for texts") { pending.late.append(late.integer(0)) }
        for number in pending.late {
            guard let stored = try operation(OperationNumber(number)) else { continue }
            append(stored, to: &pending)
        }
        let statement = try searchStatements().texts
        statement.bind(1, start)
        statement.bind(2, Int64(limit))
        defer { statement.reset() }
        while try statement.step("looking for texts") {
            pending.through = statement.integer(0)
            guard Self.maySayText(head: statement.bytes(4)) else { continue }
            append(try row(statement), to: &pending)
        }
        return pending
    }

    private func append(_ stored: StoredOperation, to pending: inout PendingTexts) {
        guard let text = stored.searchableText else { return }
        pending.texts.append(PendingText(number: stored.number, text: text))
    }

    /// Whether the header is that of a text or an edit: nothing else is worth unsealing.
    private static func maySayText(head: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(Array(head.prefix(12)))
        do {
            _ = try reader.byte()
            return StoredOperation.maySayText(OperationKind(rawValue: try reader.number()))
        } catch {
            return false
        }
    }

    /// Adds texts to the index and records its progress. Texts erased in the meantime are left out.
    /// An index of other terms, or one that was turned off, accepts nothing.
    public func index(
        _ pending: PendingTexts, terms: [[Term]]
    ) throws(StoreError) {
        writes()
        var state = try wordIndexState()
        guard state.version == Terms.version, !state.isOff else { return }
        // Somebody else was here meanwhile: a text that is taken twice would not leave by one
        // removal.
        guard state.through == pending.from else { return }
        let statements = try searchStatements()
        let key = try requireWordKey()
        for (text, terms) in zip(pending.texts, terms) where try hasText(text.number) {
            let number = text.number.rawValue
            if number <= pending.from, try !isLate(text.number) { continue }
            statements.insertWords.bind(1, text.number.rawValue)
            statements.insertWords.bind(2, text: key.hashed(terms))
            try statements.insertWords.run("storing hashes of words")
        }
        for number in pending.late {
            try forgetLate(number, Self.wordsModel)
        }
        guard state.through < pending.through else { return }
        state.through = pending.through
        try set(state)
    }

    /// Indexes the next operations, of at most so many, in a transaction of its own.
    ///
    /// - Returns: whether more may be to be done.
    public func followWords(limit: Int) throws(StoreError) -> Bool {
        let state = try wordIndexState()
        guard !state.isOff, state.isCurrent else { return false }
        let pending = try pendingTexts(limit: limit)
        guard !pending.isEmpty(after: state.through) else { return false }
        try begin(.normal)
        do throws(StoreError) {
            try index(
                pending,
                terms: pending.texts.map { Terms.ofText($0.text.text, author: $0.text.author) })
        } catch {
            rollback()
            throw error
        }
        try commit()
        return true
    }

    func forgetLate(_ number: Int64, _ model: Int64) throws(StoreError) {
        let statement = try searchStatements().removeLate
        statement.bind(1, number)
        statement.bind(2, model)
        try statement.run("noting how far the index is")
    }

    func hasText(_ number: OperationNumber) throws(StoreError) -> Bool {
        let statement = try searchStatements().isText
        statement.bind(1, number.rawValue)
        defer { statement.reset() }
        return try statement.step("looking for texts") && statement.integer(0) != 0
    }

    /// Rebuilds the index under another key, or turns it off: every hash is removed.
    public func resetWordIndex(isOff: Bool) throws(StoreError) {
        erases()
        let statements = try searchStatements()
        try statements.clearWords.run("clearing the index")
        try set(
            WordIndexState(version: Terms.version, isOff: isOff, through: 0, needsPurge: false))
        try connection.execute("DELETE FROM lateText WHERE model = 0", "clearing the index")
        try renewWordKey(isOff: isOff)
    }

    // MARK: Forgetting

    /// Removes an operation's text from the search, in the transaction that erases it.
    func forgetSearch(of stored: StoredOperation) throws(StoreError) {
        guard StoredOperation.maySayText(stored.operation.header.kind) else { return }
        let statements = try searchStatements()
        statements.dropEmbeddings.bind(1, stored.number.rawValue)
        try statements.dropEmbeddings.run("dropping vectors")
        var state = try wordIndexState()
        // The log of changes still has the removed rows; a purge empties it.
        if connection.changeCount > 0, !state.needsPurge {
            state.needsPurge = true
            try set(state)
        }
        guard stored.number.rawValue <= state.through, let text = stored.searchableText else {
            return
        }
        // Which hashes another version had, only that version knows: all go.
        guard state.version == Terms.version else { return try resetWordIndex(isOff: state.isOff) }
        guard try !isLate(stored.number) else { return }
        statements.deleteWords.bind(1, stored.number.rawValue)
        statements.deleteWords.bind(
            2,
            text: try requireWordKey().hashed(Terms.ofText(text.text, author: text.author)))
        try statements.deleteWords.run("dropping hashes of words")
        state.needsPurge = true
        try set(state)
    }

    func isLate(
        _ number: OperationNumber, _ model: Int64 = SQLiteStore.wordsModel
    ) throws(StoreError) -> Bool {
        let statement = try searchStatements().isLate
        statement.bind(1, number.rawValue)
        statement.bind(2, model)
        defer { statement.reset() }
        return try statement.step("looking for texts")
    }

    /// Notes that a text arrived which the indexes have passed already.
    func noteLate(_ number: OperationNumber) throws(StoreError) {
        let state = try wordIndexState()
        var models = number.rawValue <= state.through ? [Self.wordsModel] : []
        for model in try self.models() where number.rawValue <= model.through {
            models.append(model.number)
        }
        let statement = try searchStatements().addLate
        for model in models {
            statement.bind(1, number.rawValue)
            statement.bind(2, model)
            try statement.run("noting a late text")
        }
    }

    /// Merges the index until nothing removed is left in it: FTS5 only records a removal beside the
    /// old entries. A little at a time; call it again until it says it is done.
    ///
    /// - Returns: whether it is done.
    public func purgeWordIndex(pageCount: Int64 = 200) throws(StoreError) -> Bool {
        writes()
        var state = try wordIndexState()
        guard state.needsPurge else { return true }
        let before = try changeCount()
        // A negative number begins a merge of everything, a positive one continues it.
        try command("merge", isMerging ? pageCount : -pageCount)
        isMerging = true
        guard try changeCount() - before < 2 else { return false }
        isMerging = false
        state.needsPurge = false
        try set(state)
        return true
    }

    /// Whether one segment is all there is tells `merge` by changing fewer than two rows.
    private func changeCount() throws(StoreError) -> Int64 {
        let statement = try connection.prepare("SELECT total_changes()")
        defer { statement.reset() }
        return try statement.step("merging the index") ? statement.integer(0) : 0
    }

    private func command(_ name: String, _ value: Int64) throws(StoreError) {
        let statement = try searchStatements().wordCommand
        statement.bind(1, text: name)
        statement.bind(2, value)
        try statement.run("merging the index")
    }
}
