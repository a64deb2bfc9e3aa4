import ParleyLedger

/// The tables of the search: keyed hashes of words, and sealed vectors.
enum SearchSchema {
    /// `through` is the last operation that was looked at; `purge` tells that something was taken
    /// out whose hashes may still lie in a page. FTS5 keeps rows of operations and no text.
    static let tables = """
        CREATE VIRTUAL TABLE word USING fts5(
            terms, content='', detail=none, columnsize=0, tokenize='ascii');
        CREATE TABLE wordState (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            version INTEGER NOT NULL DEFAULT 0,
            isOff INTEGER NOT NULL DEFAULT 0,
            through INTEGER NOT NULL DEFAULT 0,
            purge INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        INSERT INTO wordState (one) VALUES (1);
        CREATE TABLE lateText (
            operation INTEGER NOT NULL,
            model INTEGER NOT NULL,
            PRIMARY KEY (operation, model)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE model (
            number INTEGER PRIMARY KEY,
            name BLOB NOT NULL UNIQUE,
            byteCount INTEGER NOT NULL,
            through INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE embedding (
            operation INTEGER NOT NULL,
            model INTEGER NOT NULL,
            content BLOB NOT NULL,
            PRIMARY KEY (operation, model)
        ) STRICT, WITHOUT ROWID;
        """
}

/// The statements of the search, prepared at its first use.
final class SearchStatements {
    let state, setState, insertWords, deleteWords, clearWords, wordCommand: Statement
    let texts, lateTexts, addLate, removeLate, isText: Statement
    let dropEmbeddings, keepEmbedding, embedding, embeddingsAfter, isLate: Statement

    init(_ connection: Connection) throws(StoreError) {
        state = try connection.prepare(
            "SELECT version, isOff, through, purge FROM wordState WHERE one = 1")
        setState = try connection.prepare(
            "UPDATE wordState SET version = ?1, isOff = ?2, through = ?3, purge = ?4 WHERE one = 1")
        insertWords = try connection.prepare("INSERT INTO word (rowid, terms) VALUES (?1, ?2)")
        deleteWords = try connection.prepare(
            "INSERT INTO word (word, rowid, terms) VALUES ('delete', ?1, ?2)")
        clearWords = try connection.prepare("INSERT INTO word (word) VALUES ('delete-all')")
        wordCommand = try connection.prepare("INSERT INTO word (word, rank) VALUES (?1, ?2)")
        texts = try connection.prepare(SearchSQL.operationsAfter)
        lateTexts = try connection.prepare(
            "SELECT operation FROM lateText WHERE model = ?1 ORDER BY operation LIMIT ?2")
        addLate = try connection.prepare(
            "INSERT OR IGNORE INTO lateText (operation, model) VALUES (?1, ?2)")
        removeLate = try connection.prepare(
            "DELETE FROM lateText WHERE operation = ?1 AND model = ?2")
        isText = try connection.prepare(
            "SELECT tail IS NOT NULL AND length(tail) <> 32 FROM operation WHERE number = ?1")
        isLate = try connection.prepare(
            "SELECT 1 FROM lateText WHERE operation = ?1 AND model = ?2")
        dropEmbeddings = try connection.prepare("DELETE FROM embedding WHERE operation = ?1")
        keepEmbedding = try connection.prepare(
            "INSERT OR REPLACE INTO embedding (operation, model, content) VALUES (?1, ?2, ?3)")
        embedding = try connection.prepare(
            "SELECT content FROM embedding WHERE operation = ?1 AND model = ?2")
        embeddingsAfter = try connection.prepare(SearchSQL.embeddingsAfter)
    }
}

/// The statements whose plan a test looks at.
enum SearchSQL {
    static let operationsAfter = """
        SELECT \(SQL.operationColumns) FROM operation WHERE number > ?1 ORDER BY number LIMIT ?2
        """
    static let messagesFrom = """
        SELECT operation, space, stand, tag, sequence FROM message
        WHERE (space, stand, tag, sequence) > (?1, ?2, ?3, ?4)
        ORDER BY space, stand, tag, sequence LIMIT ?5
        """
    static let datedMessagesFrom = """
        SELECT m.operation, m.space, m.stand, m.tag, m.sequence, m.flags, o.head
        FROM message AS m CROSS JOIN operation AS o ON o.number = m.operation
        WHERE (m.space, m.stand, m.tag, m.sequence) > (?1, ?2, ?3, ?4)
        ORDER BY m.space, m.stand, m.tag, m.sequence LIMIT ?5
        """
    static let messagesAfter = """
        SELECT m.stand, m.tag, m.sequence, o.id
        FROM (
            SELECT stand, tag, sequence, operation FROM message
            WHERE space = ?1 AND (stand, tag, sequence) > (?2, ?3, ?4)
            ORDER BY stand, tag, sequence LIMIT 1 OFFSET ?5
        ) AS m CROSS JOIN operation AS o ON o.number = m.operation
        """
    static let messageCountBefore = """
        SELECT count(*) FROM message WHERE space = ?1 AND (stand, tag, sequence) < (?2, ?3, ?4)
        """
    static let messageCountAfter = """
        SELECT count(*) FROM message WHERE space = ?1 AND (stand, tag, sequence) > (?2, ?3, ?4)
        """
    static let embeddingsAfter = """
        SELECT operation, content FROM embedding
        WHERE operation > ?1 AND model = ?2 ORDER BY operation LIMIT ?3
        """
    static let vectorCount = """
        SELECT operation, length(content) FROM embedding
        WHERE operation > ?1 AND model = ?2 ORDER BY operation LIMIT ?3
        """
    static let embeddingsDrop = """
        DELETE FROM embedding WHERE model = ?1 AND operation > ?2 AND operation <= ?3
        """
    static let hits = "SELECT rowid FROM word WHERE word MATCH ?1 ORDER BY rowid DESC LIMIT ?2"
    static let hitsBelow = """
        SELECT rowid FROM word WHERE word MATCH ?1 AND rowid < ?3 ORDER BY rowid DESC LIMIT ?2
        """
}
