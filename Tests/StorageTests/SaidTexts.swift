@testable import ParleyConversation
@testable import ParleyLedger
import ParleyNodeCore
import ParleyWire
import ParleyWords

@testable import ParleyStorage

/// Homes whose operations say texts.
enum SaidTexts {
    /// A log whose operations say these texts, in a home that was just made.
    static func with(
        _ texts: [String], _ body: (SQLiteStore, Home, LogRecord) throws -> Void
    ) throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            let log = try store.transaction(.full) { try store.sampleLog() }
            try store.transaction(.full) {
                try store.store(try texts.enumerated().map { try said($1, UInt64($0), log) }, log)
            }
            try body(store, home, log)
        }
    }

    /// An operation that says this.
    static func said(
        _ text: String, _ sequence: UInt64, _ log: LogRecord
    ) throws -> VerifiedOperation {
        let draft = TextMessage(text: text).draft()
        let header = OperationHeader(
            kind: .text, wallClock: 1_000_000 + sequence, clock: (1_000_000 + sequence) << 16,
            authority: 42)
        return VerifiedOperation(
            id: Sample.id(sequence &+ 1, 9), tag: log.tag, sequence: sequence,
            operation: try Operation.make(
                header, salt: [UInt8](repeating: 3, count: 16), payload: draft.payload))
    }
}

extension SQLiteStore {
    /// Erases what the operation with this number says.
    func eraseText(_ number: Int64) throws {
        guard let stored = try operation(OperationNumber(number)),
            let commitment = OperationHash.commitment(of: stored.operation)
        else { throw StoreError(.other, attempt: "erasing a text in a test") }
        try transaction(.full) { try erase(stored.number, commitment: commitment) }
    }

    /// Takes what was erased out of every file.
    func purge() throws {
        while try !(transaction { try purgeWordIndex() }) {}
        guard try checkpoint() else {
            throw StoreError(.other, attempt: "emptying the log of changes in a test")
        }
    }
}
