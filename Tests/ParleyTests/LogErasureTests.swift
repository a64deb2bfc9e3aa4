import Foundation
import Logging
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley

@Suite("The log of changes of a database")
struct LogErasureTests {
    @Test("Attack 92: is emptied within a minute of an erasure, and left alone otherwise")
    func emptied92() throws {
        let path = FileManager.default.temporaryDirectory.path + "/parley-\(UUID().uuidString)"
        // What is left in a temporary folder is no test's failure.
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try SQLiteStore.open(home: Home(path), unlock: .keyFile)
        let logger = Logger(label: "test")
        var erasure = LogErasure()
        func logByteCount() throws -> Int {
            let file = path + "/database-wal"
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            return (attributes[.size] as? NSNumber)?.intValue ?? 0
        }
        // An earlier run may have ended right after an erasure.
        #expect(try logByteCount() > 0)
        #expect(erasure.tend(store, at: 1_000, logger) == LogErasure.delay)
        #expect(erasure.tend(store, at: 1_001, logger) == nil)
        #expect(try logByteCount() > 0)
        #expect(erasure.tend(store, at: 1_000 + LogErasure.delay, logger) == nil)
        #expect(try logByteCount() == 0 && !store.mayHoldErasedRows)

        try store.begin(.full)
        try store.setValue([1], .card, [1])
        try store.commit()
        #expect(erasure.tend(store, at: 50_000, logger) == nil)
        #expect(try logByteCount() > 0)

        try store.begin(.full)
        let space = try store.addSpace(SpaceID { $0[0] = 1 }, kind: .group)
        let log = try store.addLog(
            LogID { $0[0] = 7 }, device: DeviceID { $0[0] = 2 }, lane: .content,
            in: space.number)
        try store.drop(log.number, from: LogPoint(sequence: 0, anchor: OperationID { $0[0] = 3 }))
        try store.commit()
        #expect(erasure.tend(store, at: 60_000, logger) == LogErasure.delay)
        #expect(erasure.tend(store, at: 60_000 + LogErasure.delay, logger) == nil)
        #expect(try logByteCount() == 0)
        #expect(LogErasure.delay <= 60_000)
    }

    @Test("Attack 161: is emptied within a minute of a secret that another one replaces")
    func secretReplaced161() throws {
        let path = FileManager.default.temporaryDirectory.path + "/parley-\(UUID().uuidString)"
        // What is left in a temporary folder is no test's failure.
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try SQLiteStore.open(home: Home(path), unlock: .keyFile)
        let logger = Logger(label: "test")
        var erasure = LogErasure()
        #expect(erasure.tend(store, at: 1_000, logger) == LogErasure.delay)
        #expect(erasure.tend(store, at: 1_000 + LogErasure.delay, logger) == nil)
        #expect(!store.mayHoldErasedRows)
        for step in 1...2 as ClosedRange<UInt8> {
            try store.begin(.full)
            try store.setSecret(Secret([step, 2, 3]), .chain, [9], in: nil)
            try store.commit()
        }
        #expect(erasure.tend(store, at: 60_000, logger) == LogErasure.delay)
        #expect(erasure.tend(store, at: 60_000 + LogErasure.delay, logger) == nil)
        #expect(!store.mayHoldErasedRows)
    }

    @Test("Attack 92: of a node that runs is emptied within a minute after a message was deleted")
    func running92() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        var settings = NodeSettings(home: folder.home("a"), models: folder.home("none"))
        settings.clock = clock.clock
        let (node, _) = try await Node.create(settings, name: "ann")
        try await node.perform(CreateConversation(name: "notes", members: []))
        func logByteCount() throws -> Int {
            let file = settings.home + "/database-wal"
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            return (attributes[.size] as? NSNumber)?.intValue ?? 0
        }
        // What an earlier run may have left is gone.
        clock.advance(by: 60_000)
        let sent = try await node.perform(SendMessages(conversation: "notes", texts: ["a secret"]))
        let number = try #require(sent.first?.number)
        try await node.perform(DeleteMessage(message: MessageReference(number)))
        #expect(try logByteCount() > 0)
        // Who reads meanwhile, as the index of words does, puts it off.
        var waited: UInt64 = 0
        while try logByteCount() > 0, waited < 60_000 {
            clock.advance(by: 1_000)
            waited += 1_000
        }
        #expect(try logByteCount() == 0, "after \(waited) ms")
        await node.shutdown()
    }
}
