import ParleyConversation
public import ParleyLedger
import ParleyWords

/// What is needed to compare the word index with the texts, in turns that are short however large
/// the index is.
extension SQLiteStore {
    /// The index is gone through in so many parts.
    public static let wordPartCount = 1024

    /// Operations that stand in one part of the index: under the hashes that begin with two certain
    /// letters.
    public func wordRows(inPart part: Int) throws(StoreError) -> [Int64] {
        try connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.wordPlace USING fts5vocab(main, word, instance)",
            "checking the index")
        let statement = try connection.prepare(
            "SELECT DISTINCT doc FROM temp.wordPlace WHERE term >= ?1 AND term <= ?2")
        let letters = Self.letters
        let first = String(decoding: [letters[part / 32 % 32], letters[part % 32]], as: UTF8.self)
        statement.bind(1, text: first)
        // Above every letter that a hash has.
        statement.bind(2, text: first + "~")
        defer { statement.reset() }
        var found: [Int64] = []
        while try statement.step("checking the index") { found.append(statement.integer(0)) }
        return found
    }

    /// The next operations that say a text, of at most so many operations.
    public func texts(
        after operation: Int64, limit: Int
    ) throws(StoreError) -> PendingTexts {
        try pendingTexts(after: operation, Self.noModel, limit: limit)
    }

    /// Whether an operation has a text that the index passed, and is not found by all its words.
    public func isMissingFromWords(_ number: OperationNumber) throws(StoreError) -> Bool {
        let state = try wordIndexState()
        guard !state.isOff, state.isCurrent, number.rawValue <= state.through, try hasText(number),
            try !isLate(number), let text = try operation(number)?.searchableText
        else { return false }
        let terms = Terms.ofText(text.text, author: text.author)
        guard !terms.isEmpty else { return false }
        let found = try wordHits(
            terms.map { [$0] }, excluding: [], below: number.rawValue + 1, limit: 1)
        return found.first != number.rawValue
    }

    /// Whether an operation has no text: then the index must contain nothing of it.
    public func hasNothingToSay(_ number: OperationNumber) throws(StoreError) -> Bool {
        guard try hasText(number) else { return true }
        return try operation(number)?.searchableText == nil
    }
}
