import Foundation
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
@testable import ParleyStorage
import ParleyWire
import Testing

@Suite("The store on the disk")
struct SQLiteStoreTests {
    @Test("is the same after it was closed and opened again")
    func reopen() throws {
        try withHome { home in
            var log: LogRecord?
            do {
                let store = try SQLiteStore.open(home: home)
                try store.transaction(.full) {
                    let made = try store.sampleLog(lane: .shared)
                    try store.store(try Sample.operations(made, 0..<100), made)
                    try store.setValue([4, 5], .card, [1])
                    try store.setSecret(Secret([1, 2, 3]), "signing seed")
                    try store.put(
                        Mark(
                            space: made.space, kind: .read, actor: Sample.id(3), tag: made.tag,
                            places: PlaceSet(0..<8)))
                    log = try store.log(made.number)
                }
                try store.writeGuard(heads: store.heads(of: Sample.device))
                try store.close()
            }
            let before = try #require(log)
            let store = try SQLiteStore.open(home: home)
            #expect(store.rejoin == nil)
            #expect(try store.logs(in: before.space) == [before])
            #expect(try store.space(Sample.spaceID)?.kind == .group)
            #expect(try store.operations(in: before.number, 0...999, limit: 999).count == 100)
            #expect(try store.messageCount(in: before.number, 0...999) == 100)
            #expect(try store.value(.card, [1]) == [4, 5])
            #expect(try store.secret("signing seed") == Secret([1, 2, 3]))
            #expect(try store.secret("noise key") == nil)
            #expect(
                try store.mark(.read, of: Sample.id(3), on: before.tag, in: before.space)?.places
                    == PlaceSet(0..<8))
            #expect(try store.check().isEmpty)
        }
    }

    @Test("compiles no query of entries anew, whichever fields are asked for")
    func compileOnce() throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            try store.transaction {
                let log = try store.sampleLog()
                for field in [1, 41, 44, 45, 70, 80, 81].map(EntryField.init(rawValue:)) {
                    let object = EntryObject.operation(log.tag, 0)
                    _ = try store.entries(about: object, in: log.space, field: field)
                    _ = try store.entries(about: object, in: log.space, field: field, element: 2)
                    _ = try store.hasEntry(about: object, in: log.space, field: field)
                    _ = try store.hasEntry(about: object, in: log.space, field: field, element: 2)
                }
            }
            let statements = Mirror(reflecting: store.statements.entries).children
                .compactMap { $0.value as? Statement }
            #expect(statements.count > 10)
            #expect(statements.allSatisfy { $0.recompilationCount == 0 })
            try store.close()
        }
    }

    @Test("loses nothing that was committed when the process ends without closing")
    func crash() throws {
        try withHome { home in
            try withHome { copy in
                let store = try SQLiteStore.open(home: home)
                let log = try store.transaction { try store.sampleLog() }
                try store.transaction(.full) {
                    try store.store(try Sample.operations(log, 0..<10), log)
                }
                try store.begin(.normal)
                try store.store(try Sample.operations(log, 10..<20), log)
                // What a killed process leaves behind is what the files hold at this moment.
                try FileManager.default.copyItem(atPath: home.path, toPath: copy.path)
                store.rollback()
                let found = try SQLiteStore.open(home: copy)
                #expect(try found.operations(in: log.number, 0...99, limit: 99).count == 10)
                #expect(try found.messageCount(in: log.number, 0...99) == 10)
            }
        }
    }

    @Test("moves its log of changes into the database while it is used, so that it stays small")
    func logOfChanges() throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            store.setCheckpoint(pageCount: 50)
            let log = try store.transaction { try store.sampleLog() }
            let text = String(repeating: "x", count: 2_000)
            for batch: UInt64 in 0..<40 {
                let first = batch * 25
                try store.transaction {
                    try store.store(
                        try Sample.operations(log, first..<first + 25, text: text), log)
                }
            }
            func size(_ file: String) throws -> Int {
                try Data(contentsOf: URL(filePath: home.path + "/" + file)).count
            }
            // Two million bytes were written, in pieces of about 15 pages.
            #expect(try size("database") > 1_500_000)
            #expect(try size("database-wal") < 1_000_000)
            #expect(try store.check().isEmpty)
        }
    }

    @Test("leaves no word, name or identifier of a person in any file")
    func sealed() throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            let canaries = ["canary-text-5519", "canary-name-7731", "canary-secret-2210"]
            let person: Digest = Sample.id(0xfeed_beef_1234_5678, 0x5a)
            let space: SpaceID = Sample.id(0xabcd_ef01_2345_6789, 0x6b)
            try store.transaction {
                let log = try store.sampleLog(space: space)
                try store.store([try Sample.operation(log, 0, text: canaries[0])], log)
                try store.setValue(Array(canaries[1].utf8), .card, person.bytes)
                try store.setSecret(Secret(Array(canaries[2].utf8)), "signing seed")
                try store.put(
                    Mark(
                        space: log.space, kind: .read, actor: person, tag: log.tag,
                        places: PlaceSet(0..<1)))
                try store.addFork(
                    try Sample.evidence(log, space, parting: 0), in: log.number)
            }
            try store.writeGuard(heads: store.heads(of: Sample.device))
            let secrets =
                canaries.map { Data($0.utf8) }
                + [person.bytes, space.bytes, Sample.device.bytes].map { Data($0) }
            for isClosed in [false, true] {
                if isClosed { try store.close() }
                let files = try FileManager.default.contentsOfDirectory(atPath: home.path)
                #expect(files.contains("database"))
                for file in files.sorted() {
                    let bytes = try Data(contentsOf: URL(filePath: home.path + "/" + file))
                    for secret in secrets {
                        #expect(bytes.range(of: secret) == nil, "\(file), closed: \(isClosed)")
                    }
                }
            }
        }
    }

    @Test("leaves nothing of an erased payload, sealed or not")
    func erased() throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            let log = try store.transaction { try store.sampleLog() }
            let made = try Sample.operation(log, 0)
            let number = try store.transaction { try store.insert([made], in: log.number)[0] }
            try store.checkpoint()
            let database = try RawDatabase(home)
            let sealed = try #require(try database.blob("SELECT tail FROM operation"))
            database.close()
            #expect(try Data(contentsOf: URL(filePath: home.database)).range(of: sealed) != nil)
            try store.transaction { try store.erase(number, commitment: Sample.id(5)) }
            try store.checkpoint()
            for file in try FileManager.default.contentsOfDirectory(atPath: home.path) {
                let bytes = try Data(contentsOf: URL(filePath: home.path + "/" + file))
                #expect(bytes.range(of: sealed) == nil, "\(file)")
            }
        }
    }

    @Test(
        "does not open a sealed value in another row", arguments: ["vault", "value", "operation"])
    func moved(table: String) throws {
        try withHome { home in
            do {
                let store = try SQLiteStore.open(home: home)
                try store.transaction {
                    let log = try store.sampleLog()
                    try store.store(try Sample.operations(log, 0..<2), log)
                    try store.setValue([1], .card, [1])
                    try store.setValue([2], .card, [2])
                    try store.setSecret(Secret([1]), "a")
                    try store.setSecret(Secret([2]), "b")
                }
                try store.writeGuard(heads: [])
                try store.close()
            }
            let column = table == "operation" ? "tail" : "content"
            let database = try RawDatabase(home)
            try database.execute(
                """
                UPDATE \(table) SET \(column) = (SELECT \(column) FROM \(table)
                WHERE number = (SELECT max(number) FROM \(table)))
                WHERE number = (SELECT max(number) - 1 FROM \(table))
                """)
            database.close()
            let store = try SQLiteStore.open(home: home)
            let error = #expect(throws: StoreError.self) {
                switch table {
                case "vault": _ = try store.secret("a")
                case "value": _ = try store.values(.card)
                default: _ = try store.operation(OperationNumber(1))
                }
            }
            #expect(error?.code == .corrupt)
        }
    }

    @Test("finds every page, entry and place by an index", arguments: Plan.all)
    func plan(plan: Plan) throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            let database = try RawDatabase(home)
            defer { database.close() }
            let sql = plan.sql.replacing(/\?[0-9]/, with: "1")
            let steps = try database.texts("EXPLAIN QUERY PLAN " + sql, column: 3)
            #expect(!steps.isEmpty)
            for step in steps {
                #expect(!step.contains("SCAN"), "\(step)")
                #expect(!step.contains("TEMP B-TREE"), "\(step)")
            }
            withExtendedLifetime(store) {}
        }
    }
}
