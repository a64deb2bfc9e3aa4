import GRDB

/// The tables, as a list of steps that only ever grows: a database of any age is led to today.
///
/// What each column holds, and whether it is sealed, stands in `README.md`.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        // Nothing of a schema may be changed after the fact.
        migrator.registerMigration("logs, views and vault") { database in
            try database.execute(sql: meta + logs + views + vault)
        }
        migrator.registerMigration("search by words and by meaning") { database in
            try database.execute(sql: SearchSchema.tables)
        }
        migrator.registerMigration("log of events") { database in
            try database.execute(sql: events)
        }
        migrator.registerMigration("mentions") { database in
            try database.execute(sql: mentions)
        }
        migrator.registerMigration("threads") { database in
            try database.execute(sql: threads)
        }
        migrator.registerMigration("decisions") { database in
            try database.execute(sql: decisions)
        }
        migrator.registerMigration("files") { database in
            try database.execute(sql: files)
        }
        return migrator
    }

    /// Facts about this file: who it belongs to, and a counter that durable commits raise.
    private static let meta = """
        CREATE TABLE meta (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            instance BLOB NOT NULL,
            binding BLOB NOT NULL,
            durable INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        """

    /// No index on random identifiers: it halves the speed. References go by log and place.
    private static let logs = """
        CREATE TABLE space (
            number INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            definition BLOB NOT NULL
        ) STRICT;
        CREATE TABLE log (
            number INTEGER PRIMARY KEY,
            space INTEGER NOT NULL,
            lane INTEGER NOT NULL,
            definition BLOB NOT NULL,
            spans BLOB NOT NULL DEFAULT x'',
            standing BLOB,
            coveredEnd INTEGER NOT NULL DEFAULT 0,
            controlCoveredEnd INTEGER NOT NULL DEFAULT 0,
            floor BLOB,
            bound BLOB
        ) STRICT;
        CREATE TABLE operation (
            number INTEGER PRIMARY KEY,
            log INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            id BLOB NOT NULL,
            head BLOB NOT NULL,
            tail BLOB,
            stand INTEGER NOT NULL,
            witness INTEGER NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX operationPlace ON operation (log, sequence);
        CREATE TABLE head (
            log INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            signature BLOB NOT NULL,
            PRIMARY KEY (log, sequence)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE view (
            number INTEGER PRIMARY KEY,
            log INTEGER NOT NULL,
            first INTEGER NOT NULL,
            content BLOB NOT NULL,
            UNIQUE (log, first)
        ) STRICT;
        CREATE TABLE fork (
            number INTEGER PRIMARY KEY,
            locator BLOB NOT NULL UNIQUE,
            evidence BLOB NOT NULL
        ) STRICT;
        """

    private static let views = """
        CREATE TABLE message (
            space INTEGER NOT NULL,
            stand INTEGER NOT NULL,
            tag INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            operation INTEGER NOT NULL,
            flags INTEGER NOT NULL,
            PRIMARY KEY (space, stand, tag, sequence)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE tally (
            log INTEGER NOT NULL,
            chunk INTEGER NOT NULL,
            bits BLOB NOT NULL,
            PRIMARY KEY (log, chunk)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE entry (
            space INTEGER NOT NULL,
            tag INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            field INTEGER NOT NULL,
            element INTEGER NOT NULL,
            operation INTEGER NOT NULL,
            stand INTEGER NOT NULL,
            isOn INTEGER NOT NULL,
            PRIMARY KEY (space, tag, sequence, field, element, operation)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE actor (
            number INTEGER PRIMARY KEY,
            content BLOB NOT NULL
        ) STRICT;
        CREATE TABLE mark (
            space INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            tag INTEGER NOT NULL,
            actor INTEGER NOT NULL,
            said INTEGER NOT NULL,
            places BLOB NOT NULL,
            PRIMARY KEY (space, kind, tag, actor)
        ) STRICT, WITHOUT ROWID;
        """

    /// 41 is the field of mentions. Only these entries are looked up across subjects: by log, to
    /// count unread ones, and over all conversations.
    private static let mentions = """
        CREATE INDEX mentionPlace ON entry (space, tag, sequence, stand)
            WHERE field = 41 AND isOn = 1;
        CREATE INDEX mentionOrder ON entry (stand, tag, sequence, space, operation)
            WHERE field = 41 AND isOn = 1;
        """

    /// 44 is the field of answers, whose element is their thread; 45 that of threads.
    private static let threads = """
        CREATE INDEX threadAnswer ON entry (space, element, stand, tag, sequence, operation)
            WHERE field = 44;
        CREATE INDEX threadOrder ON entry (stand, operation) WHERE field = 45;
        CREATE INDEX threadOfSpace ON entry (space, stand, operation) WHERE field = 45;
        """

    /// 70 is the field of decisions.
    private static let decisions = """
        CREATE INDEX decisionOrder ON entry (stand, operation) WHERE field = 70;
        CREATE INDEX decisionOfSpace ON entry (space, stand, operation) WHERE field = 70;
        """

    /// 80 is the field of messages that bring files; 81 that of the sealed files that they name, whose short
    /// names are the elements.
    private static let files = """
        CREATE INDEX fileOrder ON entry (stand, operation) WHERE field = 80;
        CREATE INDEX fileOfSpace ON entry (space, stand, operation) WHERE field = 80;
        CREATE INDEX fileBlob ON entry (element, operation) WHERE field = 81;
        """

    private static let vault = """
        CREATE TABLE vault (
            number INTEGER PRIMARY KEY,
            purpose INTEGER NOT NULL,
            space INTEGER NOT NULL,
            locator BLOB NOT NULL,
            generation INTEGER NOT NULL,
            content BLOB NOT NULL,
            UNIQUE (purpose, space, locator)
        ) STRICT;
        CREATE TABLE value (
            number INTEGER PRIMARY KEY,
            list INTEGER NOT NULL,
            locator BLOB NOT NULL,
            content BLOB NOT NULL,
            UNIQUE (list, locator)
        ) STRICT;
        CREATE TABLE naming (
            person BLOB NOT NULL,
            space INTEGER NOT NULL,
            isShared INTEGER NOT NULL,
            PRIMARY KEY (person, space)
        ) STRICT, WITHOUT ROWID;
        """

    /// Numbered without a hole; the oldest go.
    private static let events = """
        CREATE TABLE event (
            number INTEGER PRIMARY KEY,
            content BLOB NOT NULL
        ) STRICT;
        """
}
