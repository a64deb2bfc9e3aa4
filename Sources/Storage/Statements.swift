import ParleyLedger

/// Every statement of the store, prepared once. The order of the parameters is the order of the
/// columns as they are listed.
struct Statements {
    let begin, commit, rollback: Statement
    let touchMeta: Statement

    let insertSpace, insertLog, updateLog: Statement
    let insertOperation, operationByNumber, operationByPlace, operationsByPlace: Statement
    let standsBelow, updateTail, updateStand, headersByPlace: Statement
    let insertHead, headAfter, headsInRange: Statement
    let insertFork, forks, deleteOperationsFrom, deleteHeadsFrom: Statement
    let views: ViewStatements

    let insertMessage, updateMessage, removeMessage, message, messagesBefore,
        newestMessages: Statement
    let replaceTally, tally, talliesInRange: Statement
    let entries: EntryStatements
    let insertActor, putMark, mark, marks: Statement
    let clearing, removal: [Statement]

    let keys: KeyStatements
    let values: ValueStatements
    let namings: NamingStatements
    let events: EventStatements

    init(_ connection: Connection) throws(StoreError) {
        func prepare(_ sql: String) throws(StoreError) -> Statement {
            try connection.prepare(sql)
        }
        begin = try prepare("BEGIN IMMEDIATE")
        commit = try prepare("COMMIT")
        rollback = try prepare("ROLLBACK")
        touchMeta = try prepare("UPDATE meta SET durable = durable + 1 WHERE one = 1")

        insertSpace = try prepare(SQL.insertSpace)
        insertLog = try prepare(SQL.insertLog)
        updateLog = try prepare(SQL.updateLog)
        insertOperation = try prepare(SQL.insertOperation)
        operationByNumber = try prepare(SQL.operationByNumber)
        operationByPlace = try prepare(SQL.operationByPlace)
        operationsByPlace = try prepare(SQL.operationsByPlace)
        standsBelow = try prepare(SQL.standsBelow)
        headersByPlace = try prepare(SQL.headersByPlace)
        updateStand = try prepare(
            "UPDATE operation SET stand = ?2, witness = ?3 WHERE number = ?1")
        updateTail = try prepare("UPDATE operation SET tail = ?2 WHERE number = ?1")
        insertHead = try prepare(SQL.insertHead)
        headAfter = try prepare(SQL.headAfter)
        headsInRange = try prepare(SQL.headsInRange)
        insertFork = try prepare(SQL.insertFork)
        deleteOperationsFrom = try prepare(
            "DELETE FROM operation WHERE log = ? AND sequence >= ?")
        deleteHeadsFrom = try prepare("DELETE FROM head WHERE log = ? AND sequence >= ?")
        forks = try prepare("SELECT number, evidence FROM fork ORDER BY number")
        views = try ViewStatements(connection)

        insertMessage = try prepare(SQL.insertMessage)
        updateMessage = try prepare(SQL.updateMessage)
        removeMessage = try prepare(SQL.removeMessage)
        message = try prepare(SQL.message)
        messagesBefore = try prepare(SQL.messagesBefore)
        newestMessages = try prepare(SQL.newestMessages)
        replaceTally = try prepare(
            "INSERT OR REPLACE INTO tally (log, chunk, bits) VALUES (?, ?, ?)")
        tally = try prepare("SELECT bits FROM tally WHERE log = ?1 AND chunk = ?2")
        talliesInRange = try prepare(SQL.talliesInRange)
        entries = try EntryStatements(connection)
        insertActor = try prepare("INSERT INTO actor (number, content) VALUES (?, ?)")
        putMark = try prepare(SQL.putMark)
        mark = try prepare(SQL.mark)
        marks = try prepare(SQL.marks)
        var clearing: [Statement] = []
        for sql in SQL.clearing { clearing.append(try prepare(sql)) }
        self.clearing = clearing
        var removal: [Statement] = []
        for sql in SQL.removal { removal.append(try prepare(sql)) }
        self.removal = removal

        keys = try KeyStatements(connection)
        values = try ValueStatements(connection)
        (namings, events) = (try NamingStatements(connection), try EventStatements(connection))
    }
}

/// The statements about what operations established about an object.
struct EntryStatements {
    let put, remove, all, ofField, ofElement, anyOfField, anyOfElement: Statement
    let mentionCount, mentions: Statement
    let answers, answerCount, threadsAnswered, threads, threadsOfSpace: Statement
    let decisions, decisionsOfSpace: Statement
    let files, filesOfSpace, naming: Statement

    init(_ connection: Connection) throws(StoreError) {
        answers = try connection.prepare(SQL.answers)
        answerCount = try connection.prepare(SQL.answerCount)
        threadsAnswered = try connection.prepare(SQL.threadsAnswered)
        threads = try connection.prepare(SQL.threads)
        threadsOfSpace = try connection.prepare(SQL.threadsOfSpace)
        decisions = try connection.prepare(SQL.decisions)
        decisionsOfSpace = try connection.prepare(SQL.decisionsOfSpace)
        files = try connection.prepare(SQL.files)
        filesOfSpace = try connection.prepare(SQL.filesOfSpace)
        naming = try connection.prepare(SQL.naming)
        put = try connection.prepare(SQL.putEntry)
        remove = try connection.prepare(SQL.removeEntry)
        all = try connection.prepare(SQL.entries)
        ofField = try connection.prepare(SQL.entriesOfField)
        ofElement = try connection.prepare(SQL.entriesOfElement)
        anyOfField = try connection.prepare(SQL.anyEntryOfField)
        anyOfElement = try connection.prepare(SQL.anyEntryOfElement)
        mentionCount = try connection.prepare(SQL.mentionCount)
        mentions = try connection.prepare(SQL.mentions)
    }
}

/// The statements about what logs were written under.
struct ViewStatements {
    let insert, remove, at, inRange: Statement

    init(_ connection: Connection) throws(StoreError) {
        insert = try connection.prepare(SQL.insertView)
        remove = try connection.prepare("DELETE FROM view WHERE log = ?1 AND first = ?2")
        at = try connection.prepare(SQL.viewAt)
        inRange = try connection.prepare(SQL.viewsInRange)
    }
}

/// The statements about values that the node keeps by key.
struct ValueStatements {
    let insert, update, remove, one, all: Statement

    init(_ connection: Connection) throws(StoreError) {
        insert = try connection.prepare(SQL.insertValue)
        update = try connection.prepare("UPDATE value SET content = ?2 WHERE number = ?1")
        remove = try connection.prepare("DELETE FROM value WHERE list = ?1 AND locator = ?2")
        one = try connection.prepare(
            "SELECT number, content FROM value WHERE list = ?1 AND locator = ?2")
        all = try connection.prepare("SELECT number, content FROM value WHERE list = ?1")
    }
}

/// The statements about which spaces name a person.
struct NamingStatements {
    let note, set, ofPerson: Statement

    init(_ connection: Connection) throws(StoreError) {
        note = try connection.prepare(
            "INSERT OR IGNORE INTO naming (person, space, isShared) VALUES (?, ?, 0)")
        set = try connection.prepare(
            "INSERT OR REPLACE INTO naming (person, space, isShared) VALUES (?, ?, ?)")
        ofPerson = try connection.prepare(SQL.namings)
    }
}

/// The statements about the log of events.
struct EventStatements {
    let insert, from, drop: Statement

    init(_ connection: Connection) throws(StoreError) {
        insert = try connection.prepare("INSERT INTO event (number, content) VALUES (?, ?)")
        from = try connection.prepare(SQL.eventsFrom)
        drop = try connection.prepare("DELETE FROM event WHERE number < ?1")
    }
}

/// The statements that are longer than a line, and those whose plan a test looks at.
enum SQL {
    static let insertSpace = "INSERT INTO space (number, kind, definition) VALUES (?, ?, ?)"
    static let insertLog =
        "INSERT INTO log (number, space, lane, definition) VALUES (?, ?, ?, ?)"
    static let updateLog = """
        UPDATE log SET spans = ?2, standing = ?3, coveredEnd = ?4, controlCoveredEnd = ?5,
        floor = ?6, bound = ?7
        WHERE number = ?1
        """

    static let insertOperation = """
        INSERT INTO operation (number, log, sequence, id, head, tail, stand, witness)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
    static let operationColumns = "number, log, sequence, id, head, tail, stand, witness"
    static let operationByNumber = "SELECT \(operationColumns) FROM operation WHERE number = ?1"
    static let operationByPlace = """
        SELECT \(operationColumns) FROM operation WHERE log = ?1 AND sequence = ?2
        """
    static let operationsByPlace = """
        SELECT \(operationColumns) FROM operation
        WHERE log = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence LIMIT ?4
        """
    static let headersByPlace = """
        SELECT number, sequence, id, head, stand, witness FROM operation
        WHERE log = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence LIMIT ?4
        """
    static let standsBelow = """
        SELECT sequence, stand FROM operation
        WHERE log = ?1 AND sequence <= ?2 ORDER BY sequence DESC LIMIT ?3
        """

    static let namings = "SELECT space, isShared FROM naming WHERE person = ?1 ORDER BY space"

    static let eventsFrom =
        "SELECT number, content FROM event WHERE number >= ?1 ORDER BY number LIMIT ?2"

    static let insertHead =
        "INSERT OR REPLACE INTO head (log, sequence, signature) VALUES (?, ?, ?)"
    static let headAfter = """
        SELECT sequence, signature FROM head
        WHERE log = ?1 AND sequence >= ?2 ORDER BY sequence LIMIT 1
        """
    static let headsInRange = """
        SELECT sequence, signature FROM head
        WHERE log = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence
        """
    static let insertFork =
        "INSERT OR REPLACE INTO fork (number, locator, evidence) VALUES (?, ?, ?)"

    static let insertView =
        "INSERT OR REPLACE INTO view (number, log, first, content) VALUES (?, ?, ?, ?)"
    static let viewAt = """
        SELECT number, first, content FROM view
        WHERE log = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1
        """
    static let viewsInRange = """
        SELECT number, first, content FROM view
        WHERE log = ?1 AND first BETWEEN ?2 AND ?3 ORDER BY first
        """

    static let insertMessage = """
        INSERT OR REPLACE INTO message (space, stand, tag, sequence, operation, flags)
        VALUES (?, ?, ?, ?, ?, ?)
        """
    static let updateMessage = """
        UPDATE message SET flags = ?5
        WHERE space = ?1 AND stand = ?2 AND tag = ?3 AND sequence = ?4
        """
    static let removeMessage = """
        DELETE FROM message WHERE space = ?1 AND stand = ?2 AND tag = ?3 AND sequence = ?4
        """
    // The operation's row has the identifier: the timeline does not hold it a second time.
    private static let messageColumns = """
        SELECT m.stand, m.tag, m.sequence, m.operation, m.flags, o.log, o.id
        FROM message AS m CROSS JOIN operation AS o ON o.number = m.operation
        """
    static let message = """
        \(messageColumns)
        WHERE m.space = ?1 AND m.stand = ?2 AND m.tag = ?3 AND m.sequence = ?4
        """
    static let messagesBefore = """
        \(messageColumns)
        WHERE m.space = ?1 AND (m.stand, m.tag, m.sequence) < (?2, ?3, ?4)
        ORDER BY m.stand DESC, m.tag DESC, m.sequence DESC LIMIT ?5
        """
    static let newestMessages = """
        \(messageColumns) WHERE m.space = ?1
        ORDER BY m.stand DESC, m.tag DESC, m.sequence DESC LIMIT ?2
        """
    static let talliesInRange = """
        SELECT chunk, bits FROM tally WHERE log = ?1 AND chunk BETWEEN ?2 AND ?3 ORDER BY chunk
        """

    static let putEntry = """
        INSERT OR REPLACE INTO entry
        (space, tag, sequence, field, element, operation, stand, isOn)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
    // The plus hides from the planner that a value is bound. Without it the value decides whether a partial
    // index serves, and SQLite compiles the statement anew whenever another field is asked for.
    static let removeEntry = """
        DELETE FROM entry WHERE space = ?1 AND tag = ?2 AND sequence = ?3 AND field = +?4
        AND element = ?5 AND operation = ?6
        """
    private static let entryColumns = """
        SELECT e.field, e.element, e.operation, e.stand, e.isOn, o.log, o.sequence, o.id
        FROM entry AS e CROSS JOIN operation AS o ON o.number = e.operation
        WHERE e.space = ?1 AND e.tag = ?2 AND e.sequence = ?3
        """
    private static let entryOrder = "ORDER BY e.field, e.element, e.operation"
    static let entries = "\(entryColumns) \(entryOrder)"
    static let entriesOfField = "\(entryColumns) AND e.field = +?4 \(entryOrder)"
    static let entriesOfElement =
        "\(entryColumns) AND e.field = +?4 AND e.element = ?5 \(entryOrder)"
    static let anyEntryOfField = """
        SELECT 1 FROM entry WHERE space = ?1 AND tag = ?2 AND sequence = ?3 AND field = +?4 LIMIT 1
        """
    static let anyEntryOfElement = """
        SELECT 1 FROM entry
        WHERE space = ?1 AND tag = ?2 AND sequence = ?3 AND field = +?4 AND element = ?5 LIMIT 1
        """

    // Written out, so that the partial indexes serve them.
    private static let isMention = "field = 41 AND isOn = 1"
    static let mentionCount = """
        SELECT count(*) FROM entry WHERE \(isMention) AND space = ?1 AND tag = ?2
        AND sequence BETWEEN ?3 AND ?4 AND stand > ?5
        """
    private static let foundColumns = """
        SELECT e.field, e.element, e.operation, e.stand, e.isOn, o.log, o.sequence, o.id, e.space
        FROM entry AS e CROSS JOIN operation AS o ON o.number = e.operation
        """
    static let mentions = """
        \(foundColumns) WHERE \(isMention) AND (e.stand, e.tag, e.sequence) < (?2, ?3, ?4)
        ORDER BY e.stand DESC, e.tag DESC, e.sequence DESC LIMIT ?1
        """

    private static let beforeAnswer = "(e.stand, e.tag, e.sequence) < (?3, ?4, ?5)"
    static let answers = """
        \(foundColumns) WHERE e.field = 44 AND e.space = ?1 AND e.element = ?2 AND \(beforeAnswer)
        ORDER BY e.stand DESC, e.tag DESC, e.sequence DESC LIMIT ?6
        """
    static let answerCount = """
        SELECT count(*) FROM entry AS e
        WHERE e.field = 44 AND e.space = ?1 AND e.element = ?2 AND \(beforeAnswer)
        """
    static let threadsAnswered = """
        SELECT element FROM entry WHERE field = 44 AND space = ?1 AND tag = ?2
        AND sequence BETWEEN ?3 AND ?4 AND stand > ?5
        """
    private static let threadOrder = """
        (e.stand, e.operation) < (?1, ?2) ORDER BY e.stand DESC, e.operation DESC LIMIT ?3
        """
    static let threads = "\(foundColumns) WHERE e.field = 45 AND \(threadOrder)"
    static let threadsOfSpace = """
        \(foundColumns) WHERE e.field = 45 AND e.space = ?4 AND \(threadOrder)
        """
    static let decisions = "\(foundColumns) WHERE e.field = 70 AND \(threadOrder)"
    static let decisionsOfSpace = """
        \(foundColumns) WHERE e.field = 70 AND e.space = ?4 AND \(threadOrder)
        """
    static let files = "\(foundColumns) WHERE e.field = 80 AND \(threadOrder)"
    static let filesOfSpace = """
        \(foundColumns) WHERE e.field = 80 AND e.space = ?4 AND \(threadOrder)
        """
    static let naming = """
        \(foundColumns) WHERE e.field = 81 AND e.element = ?1 ORDER BY e.operation LIMIT ?2
        """

    static let putMark = """
        INSERT OR REPLACE INTO mark (space, kind, tag, actor, said, places)
        VALUES (?, ?, ?, ?, ?, ?)
        """
    static let mark = """
        SELECT said, places FROM mark WHERE space = ?1 AND kind = ?2 AND tag = ?3 AND actor = ?4
        """
    static let marks = """
        SELECT tag, actor, said, places FROM mark WHERE space = ?1 AND kind = ?2 ORDER BY tag
        """

    /// One parameter each: the space.
    static let clearing = [
        "DELETE FROM message WHERE space = ?1",
        "DELETE FROM entry WHERE space = ?1",
        "DELETE FROM tally WHERE log IN (SELECT number FROM log WHERE space = ?1)",
        // 2 is what linked devices acknowledged: it cannot be folded again from the log.
        "DELETE FROM mark WHERE space = ?1 AND kind <> 2",
    ]

    /// The same, after the views are cleared. The number of the space stays taken.
    static let removal = [
        "DELETE FROM mark WHERE space = ?1",
        "DELETE FROM log WHERE space = ?1",
        "DELETE FROM naming WHERE space = ?1",
        "UPDATE space SET kind = -1, definition = x'' WHERE number = ?1",
    ]

    static let insertVault = """
        INSERT INTO vault (number, purpose, space, locator, generation, content)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        """
    static let vaultRow = """
        SELECT number, generation, content FROM vault
        WHERE purpose = ?1 AND space = ?2 AND locator = ?3
        """
    static let insertValue =
        "INSERT INTO value (number, list, locator, content) VALUES (?, ?, ?, ?)"
}

/// The queries of the vault.
final class KeyStatements {
    let insert, row, rows, update, drawer, remove, anyPayload: Statement

    init(_ connection: Connection) throws(StoreError) {
        insert = try connection.prepare(SQL.insertVault)
        row = try connection.prepare(SQL.vaultRow)
        rows = try connection.prepare(
            "SELECT number, generation, content FROM vault ORDER BY number")
        update = try connection.prepare(
            "UPDATE vault SET generation = ?2, content = ?3 WHERE number = ?1")
        drawer = try connection.prepare(
            "SELECT number, generation, content FROM vault WHERE purpose = ?1 AND space = ?2")
        remove = try connection.prepare("DELETE FROM vault WHERE number = ?1")
        anyPayload = try connection.prepare(
            """
            SELECT 1 FROM operation
            WHERE number BETWEEN ?1 AND ?2 AND tail IS NOT NULL AND length(tail) <> 32 LIMIT 1
            """)
    }
}
