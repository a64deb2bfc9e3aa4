import ParleyConversation
public import ParleyLedger
public import ParleyWords

extension SQLiteStore {
    /// Operations whose texts have, of each inner list, one of the terms, and none of `excluding`,
    /// the newest to arrive first.
    ///
    /// - Parameter below: only operations before this one.
    public func wordHits(
        _ narrowing: [[Term]], excluding: [Term], below: Int64? = nil, limit: Int
    ) throws(StoreError) -> [Int64] {
        let groups = narrowing.filter { !$0.isEmpty }
        guard !groups.isEmpty, let key = try wordKey() else { return [] }
        var match = groups.map { "(" + $0.map { key.hash($0) }.joined(separator: " OR ") + ")" }
            .joined(separator: " AND ")
        if !excluding.isEmpty {
            let others = excluding.map { key.hash($0) }.joined(separator: " OR ")
            match = "(\(match)) NOT (\(others))"
        }
        let statement = try hitStatement(hasBound: below != nil)
        statement.bind(1, text: match)
        statement.bind(2, Int64(limit))
        if let below { statement.bind(3, below) }
        defer { statement.reset() }
        var found: [Int64] = []
        while try statement.step("searching") { found.append(statement.integer(0)) }
        return found
    }

    private func hitStatement(hasBound: Bool) throws(StoreError) -> Statement {
        if let known = hasBound ? hits.below : hits.all { return known }
        let made = try connection.prepare(hasBound ? SearchSQL.hitsBelow : SearchSQL.hits)
        if hasBound { hits.below = made } else { hits.all = made }
        return made
    }

    /// In how many texts each term stands; 0 where in none.
    public func textCounts(of terms: [Term]) throws(StoreError) -> [Int] {
        guard let key = try wordKey() else { return terms.map { _ in 0 } }
        var counts: [Int] = []
        let statement = try connection.prepare(
            "SELECT count(*) FROM word WHERE word MATCH ?1")
        for term in terms {
            statement.bind(1, text: key.hash(term))
            counts.append(try statement.step("counting") ? Int(statement.integer(0)) : 0)
            statement.reset()
        }
        return counts
    }

    /// Bytes of the index of words in the database.
    public func wordIndexByteCount() throws(StoreError) -> Int {
        let statement = try connection.prepare(
            "SELECT coalesce(sum(length(block)), 0) FROM word_data")
        defer { statement.reset() }
        return try statement.step("measuring the index") ? Int(statement.integer(0)) : 0
    }
}
