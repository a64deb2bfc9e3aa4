import Foundation
import ParleyRelaying
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelayServer
@testable import RelayingTests

/// A folder that is gone when the test is.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "parley-relay-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        // What is left in a temporary folder harms nobody.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Everything that all files in it hold.
    func contents() throws -> [UInt8] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted().flatMap { name in
            Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
        }
    }
}

@Suite("The store in SQLite")
struct SQLiteRelayStoreTests {
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    func open(
        _ bounds: RelayStoreBounds = RelayStoreBounds()
    ) throws -> SQLiteRelayStore {
        try SQLiteRelayStore(path: folder.path + "/relay.sqlite", start: 5, bounds: bounds)
    }

    @Test("gives the disk back what has expired")
    func shrinks() throws {
        let store = try open()
        let key = MailboxID { $0[0] = 1 }
        let terms = MailboxTerms(
            needsTicket: false, lifetime: 1 << 40, renewal: 0, byteCountMax: 64 << 20)
        let puts = (0..<64).map { number -> RelayOrder in
            let envelope = [UInt8](repeating: UInt8(number), count: 64 << 10)
            return .put(
                key, by: .inbox, share: RelayShare(number: 544),
                hash: Digest { $0[0] = UInt8(number) }, envelope: envelope)
        }
        _ = try store.perform(
            [.open(key, writers: nil, ticket: nil, terms)] + puts, at: 1_000)
        let before = try store.pageCounts()
        #expect(before.all > 1_000)
        let outcomes = try store.perform(
            [.expire(envelopesBefore: 2_000)], at: 3_000)
        #expect(outcomes.count == 1)
        let after = try store.pageCounts()
        #expect(after.all < before.all / 10, "\(before) became \(after)")
        #expect(after.free == 0)
        try store.close()
    }

    @Test("empties a mailbox in pieces, and keeps what was put meanwhile")
    func pieces() throws {
        let store = try open()
        let key = MailboxID { $0[0] = 1 }
        let terms = MailboxTerms(
            needsTicket: false, lifetime: 1 << 40, renewal: 0, byteCountMax: 64 << 20)
        let step = SQLiteRelayStore.deletedRowCountMax
        func put(_ number: Int) -> RelayOrder {
            .put(
                key, by: .inbox, share: RelayShare(number: UInt16(number % 3)),
                hash: Digest { ($0[0], $0[1]) = (UInt8(number & 0xFF), UInt8(number >> 8)) },
                envelope: [UInt8](repeating: UInt8(number & 0xFF), count: 512))
        }
        let puts = (0..<step * 2 + 1).map(put)
        _ = try store.perform([.open(key, writers: nil, ticket: nil, terms)] + puts, at: 1_000)
        let newest = store.newest
        var outcomes = try store.perform([.acknowledge(key, upTo: .max)], at: 2_000)
        #expect(outcomes == [.unfinished(.acknowledge(key, upTo: newest))])
        #expect(store.byteCount == 512 * (step + 1))
        // Others have their turn between two pieces.
        _ = try store.perform([put(puts.count)], at: 2_001)
        outcomes = try store.perform([.acknowledge(key, upTo: newest)], at: 2_002)
        #expect(outcomes == [.unfinished(.acknowledge(key, upTo: newest))])
        outcomes = try store.perform([.acknowledge(key, upTo: newest)], at: 2_003)
        #expect(outcomes == [.answer(.done)])
        #expect(store.byteCount == 512)
        // As many as one step deletes are one piece, and an empty mailbox is none.
        let more = (1...step - 1).map { put(puts.count + $0) }
        _ = try store.perform(more, at: 2_004)
        for _ in 0..<2 {
            outcomes = try store.perform([.acknowledge(key, upTo: .max)], at: 2_005)
            #expect(outcomes == [.answer(.done)])
            #expect(store.byteCount == 0)
        }
        try store.close()
    }

    @Test("keeps the contract of stores", arguments: RelayStoreContract.allCases)
    func contract(story: RelayStoreContract) throws {
        var store = try open(story.bounds)
        let same = store
        try story.run(&store) {
            try same.issue($0, byteCountMax: $1, at: RelayStoreContract.now)
        }
        try store.close()
        let again = try open()
        #expect(again.byteCount == store.byteCount, "the sum is carried on rightly")
        #expect(again.unpaidByteCount == store.unpaidByteCount)
        #expect(again.shelfByteCount == store.shelfByteCount)
        #expect(store.unpaidByteCount <= store.byteCount)
    }

    @Test("is the same after it was closed and opened")
    func again() throws {
        var store = try open()
        _ = try store.perform([RelayStoreContract.open(1)], at: RelayStoreContract.now)
        let counter = try RelayStoreContract.stored(
            &store, RelayStoreContract.put(1, RelayStoreContract.envelope(1)))
        try store.close()
        var opened = try SQLiteRelayStore(path: folder.path + "/relay.sqlite", start: 6)
        #expect(
            opened.starts == [RelayStart(id: 6, newest: counter), RelayStart(id: 5, newest: 0)])
        #expect(opened.newest == counter)
        #expect(try RelayStoreContract.all(&opened, 1) == [RelayStoreContract.envelope(1)])
    }

    @Test("carries out nothing of a batch that fails")
    func atomic() throws {
        var store = try open()
        _ = try store.perform([RelayStoreContract.open(1)], at: RelayStoreContract.now)
        let newest = store.newest
        try store.forbid("envelopes", after: 1)
        let puts = (1...2).map { RelayStoreContract.put(1, RelayStoreContract.envelope($0)) }
        #expect(throws: RelayStoreFailure.self) {
            try store.perform(puts, at: RelayStoreContract.now)
        }
        #expect(try RelayStoreContract.all(&store, 1).isEmpty)
        #expect(store.newest == newest && store.byteCount == 0)
    }

    @Test("leaves nothing of what is deleted in its files")
    func overwritten() throws {
        var store = try open()
        _ = try store.perform(
            [RelayStoreContract.open(1, writers: [2])], at: RelayStoreContract.now)
        let envelope = Array("an envelope that nobody shall find later".utf8)
        let padded = envelope + [UInt8](repeating: 1, count: 512 - envelope.count)
        let counter = try RelayStoreContract.stored(&store, RelayStoreContract.put(1, padded))
        #expect(try folder.contents().contains(envelope))
        _ = try store.perform(
            [.acknowledge(RelayStoreContract.id(1), upTo: counter)], at: RelayStoreContract.now)
        try store.close()
        #expect(!(try folder.contents().contains(envelope)))
    }

    @Test("keeps of a ticket its hash, and once it is spent nothing")
    func tickets() throws {
        let store = try open()
        let ticket = [UInt8](repeating: 0xab, count: 32)
        let hash: Digest = digest(.relayTicket, ticket)
        try store.issue(hash, byteCountMax: 1 << 20, at: 7)
        #expect(try store.tickets().map(\.hash) == [hash])
        var terms = RelayStoreContract.terms
        terms.needsTicket = true
        _ = try store.perform(
            [.open(RelayStoreContract.id(1), writers: nil, ticket: hash, terms)], at: 9)
        #expect(try store.tickets().isEmpty)
        try store.issue(hash, byteCountMax: 1 << 20, at: 7)
        #expect(try store.revoke(hash))
        #expect(!(try store.revoke(hash)))
        try store.close()
        let contents = try folder.contents()
        #expect(!contents.contains(ticket) && !contents.contains(hash.bytes))
    }

    @Test("goes on with a store from before shelves")
    func older() throws {
        var store = try open()
        _ = try store.perform([RelayStoreContract.open(1)], at: RelayStoreContract.now)
        _ = try RelayStoreContract.stored(
            &store, RelayStoreContract.put(1, RelayStoreContract.envelope(1)))
        try store.run("DROP INDEX shelves_by_touch")
        try store.run("ALTER TABLE mailboxes DROP COLUMN is_shelf")
        try store.close()
        var again = try open()
        #expect(again.byteCount == 512 && again.shelfByteCount == 0)
        #expect(try RelayStoreContract.all(&again, 1).count == 1)
        _ = try again.perform(
            [RelayStoreContract.openShelf(5), RelayStoreContract.lay(5, [1])],
            at: RelayStoreContract.now)
        #expect(again.byteCount == 513 && again.shelfByteCount == 1)
    }

    @Test("belongs to its owner alone")
    func mode() throws {
        _ = try open()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: folder.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

}

extension SQLiteRelayStore {
    /// Lets a table take so many rows and no more, as a disk does that is full.
    func forbid(_ table: String, after count: Int) throws {
        try run(
            """
            CREATE TRIGGER full BEFORE INSERT ON \(table)
            WHEN (SELECT count(*) FROM \(table)) >= \(count)
            BEGIN SELECT RAISE(ABORT, 'full'); END
            """)
    }
}
