import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("A home whose database is gone or damaged", .serialized, .timeLimit(.minutes(5)))
struct DamagedHomeTests {
    private func bytes(_ file: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: file))
    }

    private func write(_ bytes: Data, _ file: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    /// Spoils a page in the middle of the messages.
    private func spoil(_ file: String) throws {
        let leaves = try SQLiteShell.run(
            file,
            "SELECT pageno FROM dbstat WHERE name = 'operation' AND pagetype = 'leaf' ORDER BY path"
        )
        let pages = leaves.split(separator: "\n").compactMap { Int($0) }
        try #require(pages.count > 10)
        let start = (pages[pages.count / 2] - 1) * 4096
        var bytes = try bytes(file)
        bytes.replaceSubrange(start..<start + 4096, with: Data(repeating: 0x55, count: 4096))
        try write(bytes, file)
    }

    private func texts(_ node: any NodeService, _ conversation: String) async throws -> [String?] {
        try await node.perform(ReadMessages(conversation: conversation, limit: 1000))
            .messages.map(\.text)
    }

    @Test(
        "that is gone or empty is never begun anew, and told what is true",
        arguments: [false, true])
    func gone(isEmpty: Bool) async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        let (node, _) = try await Node.create(NodeSettings(home: home), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        try await node.perform(SendMessages(conversation: "notes", texts: ["one"]))
        await node.shutdown()
        let file = home + "/database"
        let whole = try bytes(file)
        if isEmpty {
            try write(Data(), file)
        } else {
            try FileManager.default.removeItem(atPath: file)
        }
        let guarded = try bytes(home + "/guard")
        let keys = try bytes(home + "/keystore")
        for words in [["status"], ["send", "notes", "two"], ["run"], ["init", "--name", "ann"]] {
            let program = try Program(words + ["--home", home])
            #expect(try await program.ended() == 1)
            #expect(program.output.contains("is gone or empty"), "\(words): \(program.output)")
            #expect(program.output.contains("parley device link"))
            #expect(program.output.contains("parley recover"))
            #expect(!program.output.lowercased().contains("nothing is lost"))
            #expect(!program.output.contains("remove the folder"))
        }
        let doctor = try await Program.run("doctor", "--home", home)
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("✓  The keystore opens."), "\(doctor.output)")
        #expect(doctor.output.contains("✗  The database is there."))
        let repair = try await Program.run("doctor", "--repair", "--home", home)
        #expect(repair.status == 1 && repair.output.contains("is gone or empty"))
        // Nothing was made in its place, and nothing else was touched.
        #expect(((try? bytes(file)) ?? Data()).isEmpty)
        #expect(try bytes(home + "/guard") == guarded)
        #expect(try bytes(home + "/keystore") == keys)
        if !isEmpty { try Data().write(to: URL(fileURLWithPath: file)) }
        try write(whole, file)
        chmod(file, 0o600)
        let again = try await Node.open(NodeSettings(home: home))
        #expect(try await texts(again, "notes") == ["one"])
        #expect(try await again.perform(CheckStore()).isFine)
        await again.shutdown()
    }

    @Test("with a damaged page is not written into, is mended, and has all back from a contact")
    func damagedPage() async throws {
        let texts = (1...600).map { "message \($0) " + String(repeating: "x", count: 200) }
        let pair = try await SetBackPair(written: ["the last"], after: texts)
        let (home, file) = (pair.home, pair.home + "/database")
        try spoil(file)

        let doctor = try await Program.run("doctor", "--home", home)
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("✗  The database is sound."), "\(doctor.output)")
        let second = try await Program.run("doctor", "--home", home)
        #expect(second.output == doctor.output && !second.output.contains("***"))
        // It goes on behind the damage, and says what is lost and who has it.
        #expect(doctor.output.contains("Every log ends on a signature"))
        #expect(doctor.output.contains("lost in ben: "))
        #expect(doctor.output.contains("back from ben"))
        #expect(doctor.output.contains("parley doctor --home \(home) --repair"))

        let damaged = try bytes(file)
        let sent = try await Program.run("send", "ben", "into the void", "--home", home)
        #expect(sent.status == 1)
        #expect(sent.output.contains("is damaged"), "\(sent.output)")
        #expect(sent.output.contains("parley doctor --home"))
        // No check that failed stands there as if it held, and no line of a log.
        #expect(!sent.output.contains("is sound"), "\(sent.output)")
        #expect(!(doctor.output + sent.output).contains("error="), "\(doctor.output)")
        let run = try await Program.run("run", "--home", home, "--no-listen")
        #expect(run.status == 1 && run.output.contains("is damaged"))
        #expect(try bytes(file) == damaged, "nothing is written into what is damaged")

        let repair = try await Program.run("doctor", "--repair", "--json", "--home", home)
        #expect(repair.output.contains("database.damaged-1"), "\(repair.output)")
        #expect(
            repair.output.contains(#""losses":[{"#) && repair.output.contains(#""sources":["ben"]"#)
        )
        #expect(try bytes(file + ".damaged-1") == damaged, "the old one is kept")
        let ann = try await Node.open(pair.settings)
        try await ann.start(listen: ["127.0.0.1:0"])
        try await pair.isWhole(ann, texts + ["the last"])
    }

    /// The pages of a table, or of the list of tables, in their order.
    private func leaves(_ file: String, of table: String) throws -> [Int] {
        try SQLiteShell.run(
            file,
            "SELECT pageno FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf' ORDER BY path"
        ).split(separator: "\n").compactMap { Int($0) }
    }

    private func spoil(page: Int, _ file: String) throws {
        var bytes = try bytes(file)
        let start = (page - 1) * 4096
        bytes.replaceSubrange(start..<start + 4096, with: Data(repeating: 0x55, count: 4096))
        try write(bytes, file)
    }

    /// Makes a home with these messages. Returns the recovery code.
    @discardableResult
    private func made(_ home: String, texts: [String]) async throws -> String {
        let (node, code) = try await Node.create(NodeSettings(home: home), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        for start in stride(from: 0, to: texts.count, by: 100) {
            let some = Array(texts[start..<min(start + 100, texts.count)])
            try await node.perform(SendMessages(conversation: "notes", texts: some))
        }
        await node.shutdown()
        return code
    }

    @Test(
        "whose list of tables is damaged has every message back by a repair",
        arguments: [true, false])
    func listOfTables(isFirstPage: Bool) async throws {
        let folder = try TemporaryFolder()
        let closed = folder.home("a")
        let texts = (1...300).map { "message \($0) " + String(repeating: "x", count: 200) }
        try await made(closed, texts: texts)
        // As a crash leaves it: the newest stands in the log of changes alone.
        let home = folder.home("b")
        let node = try await Node.open(NodeSettings(home: closed))
        try await node.perform(SendMessages(conversation: "notes", texts: ["the last"]))
        try FileManager.default.copyItem(atPath: closed, toPath: home)
        await node.shutdown()
        let file = home + "/database"
        let page = try #require(leaves(closed + "/database", of: "sqlite_schema").last)
        try #require(page > 1)
        try spoil(page: isFirstPage ? 1 : page, file)
        if isFirstPage { try FileManager.default.removeItem(atPath: file + "-wal") }
        let read = try await Program.run("read", "notes", "--home", home)
        #expect(read.status == 1 && read.output.contains("--repair"), "\(read.output)")
        let repair = try await Program.run("doctor", "--repair", "--home", home)
        #expect(repair.output.contains("database.damaged-1"), "\(repair.output)")
        #expect(!repair.output.contains("lost in"), "\(repair.output)")
        let files = try FileManager.default.contentsOfDirectory(atPath: home)
        #expect(!files.contains { $0.contains("rescued") }, "\(files)")
        let again = try await Node.open(NodeSettings(home: home))
        #expect(try await self.texts(again, "notes") == texts + (isFirstPage ? [] : ["the last"]))
        await again.shutdown()
        guard !isFirstPage else { return }
        #expect(try await Program.run("send", "notes", "on", "--home", home).status == 0)
        #expect(try await Program.run("doctor", "--home", home).status == 0)
    }

    @Test("with a page that numbers a row falsely has every message back by a repair")
    func falseNumber() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        let texts = (1...600).map { "message \($0)" }
        try await made(home, texts: texts)
        let file = home + "/database"
        let pages = try leaves(file, of: "operation")
        var bytes = [UInt8](try bytes(file))
        let base = (pages[pages.count / 3] - 1) * 4096
        // The cell's length, then the row's number, of two bytes here: the first of them.
        let cell = base + (Int(bytes[base + 12]) << 8 | Int(bytes[base + 13]))
        let number = cell + (bytes[cell] < 0x80 ? 1 : 2)
        try #require(bytes[number] >= 0x80 && bytes[number + 1] < 0x80)
        bytes[number] = 0xff
        try write(Data(bytes), file)
        let repair = try await Program.run("doctor", "--repair", "--home", home)
        #expect(repair.status == 0, "\(repair.output)")
        #expect(!repair.output.contains("lost in"), "\(repair.output)")
        let node = try await Node.open(NodeSettings(home: home))
        #expect(try await self.texts(node, "notes") == texts)
        #expect(try await node.perform(GetStatus()).readOnlyReason == nil)
        await node.shutdown()
    }

    /// Takes a row out of the middle of the longest log.
    ///
    /// - Parameter damage: what becomes of it.
    private func takeOne(
        _ file: String, at place: Int = 250, _ damage: String = "DELETE FROM operation"
    ) throws {
        let middle = try SQLiteShell.run(
            file,
            """
            SELECT number FROM operation WHERE log = (SELECT log FROM operation GROUP BY log
            ORDER BY count(*) DESC LIMIT 1) ORDER BY sequence LIMIT 1 OFFSET \(place)
            """)
        _ = try SQLiteShell.run(file, "\(damage) WHERE number = \(middle)")
    }

    @Test(
        "that lacks a message has it back from a contact, in the hole that it left",
        arguments: [
            "DELETE FROM operation",
            // It claims a place in another log, of which nothing is missing, and does not open there.
            """
            UPDATE operation SET log = (SELECT min(number) FROM log), sequence = 250, tail = zeroblob(60)
            """,
        ])
    func hole(damage: String) async throws {
        let texts = (1...600).map { "message \($0)" }
        let pair = try await SetBackPair(written: ["the last"], after: texts)
        try takeOne(pair.home + "/database", damage)
        let found = try await Program.run("doctor", "--home", pair.home)
        let isMoved = found.output.contains("1 at the wrong places")
        #expect(found.status == 1 && isMoved == damage.hasPrefix("UPDATE"), "\(found.output)")
        let repair = try await Program.run("doctor", "--repair", "--json", "--home", pair.home)
        // The one behind it follows on what nobody can say any more.
        #expect(repair.output.contains(#""operationCount":2"#), "\(repair.output)")
        let ann = try await Node.open(pair.settings)
        try await ann.start(listen: ["127.0.0.1:0"])
        try await pair.isWhole(ann, texts + ["the last"])
        let after = try await Program.run("doctor", "--home", pair.home).output
        #expect(!after.contains("lost in") && !after.contains("lost 2"), "\(after)")
        // Whatever goes through all rows goes through.
        #expect(after.contains("✓  Words and vectors of the search"), "\(after)")
        let status = try await Program.run("status", "--home", pair.home).output
        #expect(
            !status.contains("read only")
                && !status.contains(
                    "offline: what you write waits"),
            "\(status)")
    }

    @Test("that lacks messages which nobody else has keeps what lies around them, in a backup too")
    func holeAlone() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        let texts = (1...600).map { "message \($0)" }
        let code = try await made(home, texts: texts)
        for place in [450, 250, 50] { try takeOne(home + "/database", at: place) }
        let repair = try await Program.run("doctor", "--repair", "--home", home)
        #expect(repair.output.contains("6 operations"), "\(repair.output)")
        // The database is whole again: without this nobody would ever hear of the loss.
        let later = try await Program.run("doctor", "--home", home).output
        #expect(later.contains("lost in notes: 6 operations"), "\(later)")
        let status = try await Program.run("status", "--home", home).output
        #expect(status.contains("A repair of the database lost 6 operations of notes"), "\(status)")
        let node = try await Node.open(NodeSettings(home: home))
        let left = try await self.texts(node, "notes").compactMap(\.self)
        // Above a hole an operation stands by its clock alone: within a millisecond the order is open.
        #expect(left.count == texts.count - 6 && Set(left).isSubset(of: texts))
        #expect(left.contains("message 1") && left.contains("message 600"))
        #expect(try await node.perform(GetStatus()).readOnlyReason != nil)
        await node.shutdown()

        // As it is told: the signature over what lies below the hole was over the lost one as well.
        let (backup, again) = (folder.path + "/backup", folder.home("again"))
        try Data(code.utf8).write(to: URL(filePath: folder.path + "/code"))
        let created = try await Program.run("backup", "create", backup, "--home", home)
        #expect(created.status == 0, "\(created.output)")
        let recovered = try await Program.run(
            "recover", "--backup", backup, "--code-file", folder.path + "/code", "--yes", "--home",
            again)
        #expect(recovered.status == 0, "\(recovered.output)")
        let other = try await Node.open(NodeSettings(home: again))
        #expect(Set(try await self.texts(other, "notes").compactMap(\.self)) == Set(left))
        await other.shutdown()
    }

    @Test("of which who is in it cannot be read promises nobody's help, and denies none")
    func unreadMembers() async throws {
        let pair = try await ProcessPair()
        let home = pair.ann.home
        #expect(try await pair.ann.stop() == 0)
        // What begins the conversation can be read; what was said last of who is in it is another.
        _ = try SQLiteShell.run(
            home + "/database",
            "UPDATE operation SET tail = zeroblob(8) WHERE number = (SELECT max(operation.number) "
                + "FROM operation JOIN log ON operation.log = log.number WHERE log.lane = 0 "
                + "AND log.space = (SELECT max(number) FROM space))")
        let before = try await Program.run("doctor", "--home", home).output
        #expect(before.contains(": at least "), "\(before)")
        #expect(before.contains("only after a repair is it known who has them"))
        #expect(!before.contains("nobody else is known"))
        let repair = try await Program.run("doctor", "--repair", "--home", home).output
        #expect(!repair.contains("only after a repair"), "\(repair)")
        #expect(try await pair.ben.stop() == 0)
    }

    @Test("that nobody else has is told to be lost, and promises nobody")
    func alone() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        let texts = (1...300).map { "message \($0) " + String(repeating: "x", count: 200) }
        try await made(home, texts: texts)
        let file = home + "/database"
        // The beginning of everything: without it nobody can say who is in a conversation.
        try spoil(page: try #require(leaves(file, of: "operation").first), file)
        let before = try await Program.run("doctor", "--home", home).output
        #expect(before.contains("whose beginning cannot be read"), "\(before)")
        let repair = try await Program.run("doctor", "--repair", "--home", home)
        #expect(repair.output.contains("whose beginning cannot be read"))
        #expect(repair.output.contains("nobody else is known to have them"), "\(repair.output)")
        #expect(!repair.output.contains("bring"), "\(repair.output)")
        #expect(!repair.output.contains("Run the node where it can reach"), "\(repair.output)")
        // One way keeps who one is and what is left: no other is told.
        #expect(repair.output.contains("parley backup create --home \(home) FILE"))
        #expect(!repair.output.contains("parley init"), "\(repair.output)")
        #expect(repair.output.contains("database.damaged-1"))
    }

    /// A contact who is reached has none of it: it is not they who are told to be waited for.
    @Test("that lost all it wrote in a group of its person alone says so, and promises nobody")
    func logOfMine() async throws {
        let pair = try await ProcessPair()
        try await pair.ann.client?.perform(CreateConversation(name: "notes", members: []))
        try await pair.ann.client?.perform(SendMessages(conversation: "notes", texts: ["one"]))
        #expect(try await pair.ann.stop() == 0)
        #expect(try await pair.ben.stop() == 0)
        _ = try SQLiteShell.run(
            pair.ann.home + "/database",
            """
            UPDATE log SET definition = randomblob(104), spans = randomblob(74) WHERE lane = 1
            AND space IN (SELECT number FROM space WHERE kind = 2)
            """)
        for arguments in [["doctor", "--repair"], ["doctor"]] {
            let told = try Program(arguments + ["--home", pair.ann.home])
            #expect(try await told.ended() == 1)
            #expect(told.output.contains("lost in notes: 1 operation, 1 of them"), "\(told.output)")
            #expect(told.output.contains("parley backup create --home \(pair.ann.home) FILE"))
            #expect(!told.output.contains("Run the node where it can reach"), "\(told.output)")
        }
        for words in [["conversations"], ["read", "notes"], ["read", "notes", "--json"]] {
            let told = try Program(words + ["--home", pair.ann.home])
            #expect(try await told.ended() == 0)
            let notice = "notice: a repair of the database lost 1 operation of notes"
            #expect(told.output.contains(notice), "\(told.output)")
        }
    }

    @Test(
        "that lost this device's own keys says everywhere that they are gone, and what is left to do",
        arguments: [UInt8(0), 0x55])
    func lostKeys(filler: UInt8) async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        let (node, code) = try await Node.create(NodeSettings(home: home), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        try await node.perform(SendMessages(conversation: "notes", texts: ["one"]))
        let backup = folder.path + "/backup"
        try await node.perform(CreateBackup(file: backup, replacing: false))
        await node.shutdown()
        let file = home + "/database"
        let pages = try SQLiteShell.run(file, "SELECT pageno FROM dbstat WHERE name = 'vault'")
        var spoilt = try bytes(file)
        for page in pages.split(separator: "\n").compactMap({ Int($0) }) {
            let start = (page - 1) * 4096
            spoilt.replaceSubrange(start..<start + 4096, with: Data(repeating: filler, count: 4096))
        }
        try write(spoilt, file)
        let commands = [
            ["status"], ["read", "notes"], ["send", "notes", "two"], ["run"],
            ["doctor", "--repair"],
            ["doctor"], ["status"],
        ]
        for words in commands {
            let program = try Program(words + ["--home", home])
            #expect(try await program.ended() == 1, "\(words): \(program.output)")
            #expect(program.output.contains("own keys: no repair"), "\(program.output)")
            #expect(program.output.contains("parley device link"), "\(program.output)")
            #expect(program.output.contains("`parley recover --home FOLDER`"))
            #expect(!program.output.contains("--repair"), "\(words): \(program.output)")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: home)
        #expect(!left.contains { $0.hasPrefix("database.") }, "\(left)")
        let paper = folder.path + "/code"
        try Data(code.utf8).write(to: URL(filePath: paper))
        let again = folder.home("again")
        let recovered = try await Program.run(
            "recover", "--home", again, "--backup", backup, "--code-file", paper, "--yes")
        #expect(recovered.status == 0, "\(recovered.output)")
        let read = try await Program.run("read", "notes", "--home", again)
        #expect(read.status == 0 && read.output.contains("one"), "\(read.output)")
    }

    @Test("that is cut to its half, without its keys, is told by doctor what no repair brings back")
    func cutKeys() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        try await made(home, texts: (1...300).map { "message \($0)" })
        let file = home + "/database"
        for page in try leaves(file, of: "vault") { try spoil(page: page, file) }
        let whole = try bytes(file)
        try write(whole.prefix(whole.count / 8192 * 4096), file)
        let (cut, guarded) = (try bytes(file), try bytes(home + "/guard"))
        for _ in 0..<2 {
            let doctor = try await Program.run("doctor", "--home", home)
            #expect(doctor.status == 1)
            #expect(doctor.output.contains("✗  A repair can save something."))
            #expect(doctor.output.contains("no repair"), "\(doctor.output)")
            #expect(doctor.output.contains("`parley recover --home FOLDER`"), "\(doctor.output)")
            #expect(!doctor.output.contains("--repair"), "\(doctor.output)")
        }
        // It is only looked at.
        #expect(try bytes(file) == cut)
        #expect(try bytes(home + "/guard") == guarded)
        let left = try FileManager.default.contentsOfDirectory(atPath: home)
        #expect(!left.contains { $0.hasPrefix("database.") }, "\(left)")
    }

    @Test("with a broken index of words is told so, and has it made anew")
    func index() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        let (node, _) = try await Node.create(NodeSettings(home: home), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        try await node.perform(SendMessages(conversation: "notes", texts: ["a tent", "a boat"]))
        try await node.perform(SearchMessages("tent"))
        await node.shutdown()
        _ = try SQLiteShell.run(home + "/database", "DELETE FROM word_data WHERE id > 10")
        let doctor = try await Program.run("doctor", "--home", home)
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("✗"), "\(doctor.output)")
        let repair = try await Program.run("doctor", "--repair", "--home", home)
        #expect(repair.status == 0, "\(repair.output)")
        let found = try await Program.run("search", "tent", "--home", home)
        #expect(found.output.contains("a «tent»"), "\(found.output)")
    }

    @Test("that is whole is left as it is by a repair")
    func whole() async throws {
        let folder = try TemporaryFolder()
        let home = folder.home("a")
        let (node, _) = try await Node.create(NodeSettings(home: home), name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        try await node.perform(SendMessages(conversation: "notes", texts: ["one"]))
        await node.shutdown()
        let repair = try await Program.run("doctor", "--repair", "--home", home)
        #expect(repair.status == 0, "\(repair.output)")
        #expect(repair.output.contains("Nothing had to be repaired"))
        let files = try FileManager.default.contentsOfDirectory(atPath: home)
        #expect(!files.contains { $0.contains("damaged") || $0.contains("rescued") })
        let sent = try await Program.run("send", "notes", "two", "--home", home)
        #expect(sent.status == 0)
    }
}

/// Python's SQLite, for what the program has no command for.
enum SQLiteShell {
    /// Runs a statement; returns its rows, a line each.
    static func run(_ file: String, _ sql: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            for row in database.execute(sys.argv[2]): print(*row)
            database.commit()
            """, file, sql,
        ]
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Late(description: "python3: \(sql)") }
        return String(decoding: output, as: UTF8.self)
    }
}
