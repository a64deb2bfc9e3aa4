import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

/// Shelves, in every store.
extension RelayStoreContract {
    /// Terms of a shelf that holds so many bytes.
    private static func shelfTerms(_ byteCountMax: UInt64) -> MailboxTerms {
        var terms = terms
        (terms.isShelf, terms.byteCountMax) = (true, byteCountMax)
        return terms
    }

    static func openShelf(
        _ mailbox: UInt8, readers: [UInt8]? = nil, ticket: Digest? = nil,
        byteCountMax: UInt64 = 1 << 20
    ) -> RelayOrder {
        .open(
            id(mailbox), writers: readers.map { $0.map(writer) }, ticket: ticket,
            shelfTerms(byteCountMax))
    }

    static func lay(
        _ mailbox: UInt8, _ envelope: [UInt8], by signer: UInt8? = nil
    ) -> RelayOrder {
        let right = signer.map { MailboxRight.named(writer($0)) } ?? .shelf
        return .put(
            id(mailbox), by: right, share: RelayShare(right, from: [], salt: 7),
            hash: digest(.relayBlob, envelope), envelope: envelope)
    }

    private static func read(_ mailbox: UInt8, by reader: UInt8) -> RelayOrder {
        .read(id(mailbox), by: writer(reader), RelayRange(after: 0))
    }

    private static let full = RelayOutcome.answer(
        .refused(.busy(retryAfter: RelayStoreBounds.fullDelay)))

    /// Whom the owner names reads, and does nothing else; who may write into an inbox does not read it.
    static func readers(_ store: inout some RelayStore) throws {
        #expect(try one(&store, read(1, by: 9)) == .answer(.refused(.noMailbox)))
        _ = try store.perform([openShelf(1, readers: [9]), open(2, writers: [9])], at: now)
        let counter = try stored(&store, lay(1, envelope(1)))
        let page = RelayOutcome.answer(
            .entries(
                [RelayEntry(counter: counter, envelope: envelope(1))], hasMore: false,
                newest: counter))
        #expect(try one(&store, read(1, by: 9)) == page)
        #expect(try one(&store, .get(id(1), RelayRange(after: 0))) == page)
        let forbidden = RelayOutcome.answer(.refused(.forbidden))
        #expect(try one(&store, read(1, by: 8)) == forbidden)
        #expect(try one(&store, lay(1, envelope(2), by: 9)) == forbidden)
        #expect(try one(&store, mayWrite(1, by: 9)) == forbidden)
        #expect(try one(&store, read(2, by: 9)) == forbidden, "it may write there")
        // Readers stay what they are unless they are named again.
        _ = try store.perform([openShelf(1)], at: now)
        #expect(try one(&store, read(1, by: 9)) == page)
        _ = try store.perform([openShelf(1, readers: [8])], at: now)
        #expect(try one(&store, read(1, by: 9)) == forbidden)
        // What it holds can be read as long as it is there.
        let end = now + terms.lifetime
        #expect(try one(&store, read(1, by: 8), at: end) == page)
        #expect(try one(&store, lay(1, envelope(2)), at: end) == .answer(.refused(.noMailbox)))
        _ = try one(&store, .expire(envelopesBefore: end), at: end)
        #expect(try one(&store, read(1, by: 8), at: end) == .answer(.refused(.noMailbox)))
    }

    /// Nothing goes from a shelf that is full: what would not fit is refused.
    static func fullShelf(_ store: inout some RelayStore) throws {
        _ = try store.perform([openShelf(1, byteCountMax: 2048)], at: now)
        let counters = try (1...4).map { try stored(&store, lay(1, envelope($0))) }
        #expect(try one(&store, lay(1, envelope(5))) == full)
        #expect(try one(&store, lay(1, envelope(4))) == .known(counter: counters[3]))
        #expect(try all(&store, 1).map { $0[0] } == [1, 2, 3, 4])
        _ = try store.perform([.acknowledge(id(1), upTo: counters[0])], at: now)
        _ = try stored(&store, lay(1, envelope(5)))
        #expect(try all(&store, 1).map { $0[0] } == [2, 3, 4, 5])
    }

    /// Shelves have their share of the store, and give way before all else; for a shelf nothing else does.
    static func shelvesGiveWay(_ store: inout some RelayStore) throws {
        // Of 4096 bytes 2048 may be unpaid and 1024 in shelves.
        _ = try store.perform([open(1), put(1, envelope(1))], at: now)
        for number in UInt8(2)...4 {
            _ = try store.perform([openShelf(number), lay(number, envelope(number))], at: now + 1)
        }
        #expect(try all(&store, 1).count == 1, "no message goes for a file")
        #expect(try all(&store, 2).isEmpty, "the oldest shelf goes")
        #expect(try all(&store, 3).count == 1)
        // It would need more than all shelves together have.
        #expect(try one(&store, lay(4, envelope(9, 1024)), at: now + 2) == full)
        _ = try store.perform([open(5), put(5, envelope(5, 1024))], at: now + 3)
        #expect(try all(&store, 1).count == 1, "it was touched before, and is no shelf")
        #expect(try all(&store, 3).isEmpty)
        _ = try store.perform([open(6), put(6, envelope(6))], at: now + 4)
        _ = try store.perform([open(7), put(7, envelope(7))], at: now + 5)
        #expect(try all(&store, 4).isEmpty && all(&store, 1).isEmpty)
        // Where messages fill what is not paid for, a shelf finds no room.
        #expect(try one(&store, lay(4, envelope(4)), at: now + 6) == full)
        #expect(try all(&store, 5).count == 1)
    }

    /// A shelf with a ticket is a paid mailbox like any other.
    static func paidShelf(
        _ store: inout some RelayStore, _ issue: (Digest, UInt64) throws -> Void
    ) throws {
        let ticket: Digest = digest(.relayTicket, [1])
        try issue(ticket, 2048)
        _ = try store.perform([openShelf(1), lay(1, envelope(1))], at: now)
        _ = try store.perform([openShelf(2, ticket: ticket)], at: now)
        for number in UInt8(1)...4 { _ = try stored(&store, lay(2, envelope(number))) }
        #expect(try one(&store, lay(2, envelope(5))) == full, "its ticket says so")
        for number in UInt8(10)..<30 {
            _ = try store.perform([openShelf(number), lay(number, envelope(number))], at: now + 5)
        }
        #expect(try all(&store, 2).count == 4)
        #expect(try all(&store, 1).isEmpty)
        // Once its time is over it is one of the others, and counts with them.
        let end = now + terms.lifetime
        _ = try store.perform([openShelf(2)], at: end)
        _ = try store.perform([openShelf(3), lay(3, envelope(3))], at: end + 1)
        #expect(try all(&store, 2).isEmpty)
    }
}
