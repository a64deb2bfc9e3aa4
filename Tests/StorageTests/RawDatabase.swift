import Foundation
import GRDB
@testable import ParleyStorage
import Testing

/// The database as a thief or a clumsy hand meets it: past the store, with SQL.
final class RawDatabase {
    private let queue: DatabaseQueue

    init(_ home: Home) throws {
        queue = try DatabaseQueue(path: home.database)
    }

    func close() { try? queue.close() }

    func execute(_ sql: String) throws {
        try queue.write { try $0.execute(sql: sql) }
    }

    func blob(_ sql: String) throws -> Data? {
        try queue.read { try Data.fetchOne($0, sql: sql) }
    }

    func texts(_ sql: String, column: Int) throws -> [String] {
        try queue.read { database in
            let statement = try database.makeStatement(sql: sql)
            return try Row.fetchAll(statement, arguments: nil).map { $0[column] }
        }
    }
}

/// A query whose plan matters.
struct Plan: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let sql: String

    static let all = [
        Plan(testDescription: "newest page", sql: SQL.newestMessages),
        Plan(testDescription: "next page", sql: SQL.messagesBefore),
        Plan(testDescription: "message", sql: SQL.message),
        Plan(testDescription: "entries", sql: SQL.entries),
        Plan(testDescription: "entries of a field", sql: SQL.entriesOfField),
        Plan(testDescription: "entries of an element", sql: SQL.entriesOfElement),
        Plan(testDescription: "any entry of a field", sql: SQL.anyEntryOfField),
        Plan(testDescription: "mentions that are not read", sql: SQL.mentionCount),
        Plan(testDescription: "mentions", sql: SQL.mentions),
        Plan(testDescription: "answers of a thread", sql: SQL.answers),
        Plan(testDescription: "how many answers", sql: SQL.answerCount),
        Plan(testDescription: "threads of places", sql: SQL.threadsAnswered),
        Plan(testDescription: "all threads", sql: SQL.threads),
        Plan(testDescription: "threads of a conversation", sql: SQL.threadsOfSpace),
        Plan(testDescription: "all decisions", sql: SQL.decisions),
        Plan(testDescription: "decisions of a conversation", sql: SQL.decisionsOfSpace),
        Plan(testDescription: "operations of a range", sql: SQL.operationsByPlace),
        Plan(testDescription: "operation at a place", sql: SQL.operationByPlace),
        Plan(testDescription: "newest places", sql: SQL.standsBelow),
        Plan(testDescription: "head", sql: SQL.headAfter),
        Plan(testDescription: "heads of a range", sql: SQL.headsInRange),
        Plan(testDescription: "tallies", sql: SQL.talliesInRange),
        Plan(testDescription: "mark", sql: SQL.mark),
        Plan(testDescription: "marks", sql: SQL.marks),
        Plan(testDescription: "vault row", sql: SQL.vaultRow),
    ]
}
