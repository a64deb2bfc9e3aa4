import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

/// What every store of a relay must do: one story each, told of any store.
///
/// A store's own tests run all of them on fresh stores.
enum RelayStoreContract: String, CaseIterable, Sendable {
    case countersRise, sameEnvelopeOnce, pagesBothWays, pagesAreBounded, fullMailbox, writers
    case acknowledging, tickets, renewal, absentMailbox, expiry, roomGrows, ordersInTurn
    case pressure, paidStays, fullOfPaid, shares, sharesFollow
    case readers, fullShelf, shelvesGiveWay, paidShelf

    /// A moment in Unix milliseconds.
    static let now: UInt64 = 1_790_000_000_000

    static let terms = MailboxTerms(
        needsTicket: false, lifetime: 30 * RelayPolicy.day, renewal: 7 * RelayPolicy.day,
        byteCountMax: 1 << 20)

    /// What a store of this story keeps at most.
    var bounds: RelayStoreBounds {
        switch self {
        case .pressure, .paidStays, .fullOfPaid, .shelvesGiveWay, .paidShelf:
            RelayStoreBounds(byteCountMax: 4096, unpaidByteCountMax: 2048)
        default: RelayStoreBounds()
        }
    }

    /// Tells the story.
    ///
    /// - Parameter issue: lets a ticket pay for so many bytes.
    func run(
        _ store: inout some RelayStore, issue: (Digest, UInt64) throws -> Void
    ) throws {
        switch self {
        case .countersRise: try Self.countersRise(&store)
        case .sameEnvelopeOnce: try Self.sameEnvelopeOnce(&store)
        case .pagesBothWays: try Self.pagesBothWays(&store)
        case .pagesAreBounded: try Self.pagesAreBounded(&store)
        case .fullMailbox: try Self.fullMailbox(&store)
        case .writers: try Self.writers(&store)
        case .acknowledging: try Self.acknowledging(&store)
        case .tickets: try Self.tickets(&store, issue)
        case .renewal: try Self.renewal(&store, issue)
        case .absentMailbox: try Self.absentMailbox(&store)
        case .expiry: try Self.expiry(&store)
        case .roomGrows: try Self.roomGrows(&store)
        case .ordersInTurn: try Self.ordersInTurn(&store)
        case .pressure: try Self.pressure(&store)
        case .paidStays: try Self.paidStays(&store, issue)
        case .fullOfPaid: try Self.fullOfPaid(&store, issue)
        case .shares: try Self.shares(&store)
        case .sharesFollow: try Self.sharesFollow(&store)
        case .readers: try Self.readers(&store)
        case .fullShelf: try Self.fullShelf(&store)
        case .shelvesGiveWay: try Self.shelvesGiveWay(&store)
        case .paidShelf: try Self.paidShelf(&store, issue)
        }
    }

    // MARK: Words of the stories

    static func id(_ number: UInt8) -> MailboxID { MailboxID { $0[0] = number } }

    static func writer(_ number: UInt8) -> WriterID { WriterID { $0[0] = number } }

    static func envelope(_ number: UInt8, _ byteCount: Int = 512) -> [UInt8] {
        [UInt8](repeating: number, count: byteCount)
    }

    static func open(_ mailbox: UInt8, writers: [UInt8]? = nil) -> RelayOrder {
        .open(id(mailbox), writers: writers.map { $0.map(writer) }, ticket: nil, terms)
    }

    static func mayWrite(_ mailbox: UInt8, by signer: UInt8) -> RelayOrder {
        .mayWrite(id(mailbox), by: .named(writer(signer)))
    }

    static func one(
        _ store: inout some RelayStore, _ order: RelayOrder, at now: UInt64 = now
    ) throws -> RelayOutcome {
        try #require(try store.perform([order], at: now).first)
    }

    static func stored(
        _ store: inout some RelayStore, _ order: RelayOrder, at now: UInt64 = now
    ) throws -> UInt64 {
        let outcome = try one(&store, order, at: now)
        guard case .answer(let answer) = outcome else {
            Issue.record("\(outcome) is no answer")
            return 0
        }
        return try #require(answer.counter, "\(answer)")
    }

    static func all(_ store: inout some RelayStore, _ mailbox: UInt8) throws -> [[UInt8]] {
        let range = RelayRange(after: 0, byteCountMax: 1 << 20)
        guard case .answer(let answer) = try one(&store, .get(id(mailbox), range)) else {
            return []
        }
        return (answer.entries ?? []).map(\.envelope)
    }

    // MARK: Stories

    private static func countersRise(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1), open(2)], at: now)
        #expect(store.newest == 0)
        let first = try stored(&store, put(1, envelope(1)))
        let second = try stored(&store, put(2, envelope(1)))
        let third = try stored(&store, put(1, envelope(2)), at: now - 5000)
        let fourth = try stored(&store, put(1, envelope(3)), at: now + 5000)
        #expect([first, second, third, fourth] == [first, second, third, fourth].sorted())
        #expect(Set([first, second, third, fourth]).count == 4)
        #expect(first == now * 1000 && fourth == (now + 5000) * 1000)
        #expect(store.newest == fourth)
        #expect(try one(&store, .newest(id(2))) == .answer(.subscribed(newest: second)))
    }

    private static func sameEnvelopeOnce(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1), open(2)], at: now)
        let counter = try stored(&store, put(1, envelope(1)))
        #expect(try one(&store, put(1, envelope(1))) == .known(counter: counter))
        #expect(try stored(&store, put(2, envelope(1))) > counter, "another mailbox")
        #expect(try all(&store, 1) == [envelope(1)])
        let outcomes = try store.perform([put(1, envelope(2)), put(1, envelope(2))], at: now)
        #expect(outcomes.last == .known(counter: store.newest), "in the same batch, too")
    }

    private static func pagesBothWays(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1)], at: now)
        let counters = try (1...9).map { try stored(&store, put(1, envelope($0))) }
        func page(_ range: RelayRange) throws -> ([UInt8], Bool) {
            let outcome = try one(&store, .get(id(1), range))
            guard case .answer(.entries(let entries, let hasMore, let newest)) = outcome else {
                return ([], false)
            }
            #expect(newest == counters[8])
            return (entries.map { $0.envelope[0] }, hasMore)
        }
        #expect(try page(RelayRange(after: 0, byteCountMax: 1536)) == ([1, 2, 3], true))
        #expect(try page(RelayRange(after: counters[2])) == ([4, 5, 6, 7, 8, 9], false))
        let newest = RelayRange(after: 0, isNewestFirst: true, byteCountMax: 1024)
        #expect(try page(newest) == ([9, 8], true))
        var next = newest
        next.before = counters[7]
        next.after = counters[4]
        #expect(try page(next) == ([7, 6], false))
        next.after = counters[6]
        #expect(try page(next) == ([], false))
    }

    private static func pagesAreBounded(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1)], at: now)
        _ = try stored(&store, put(1, envelope(1, 65_536)))
        _ = try stored(&store, put(1, envelope(2)))
        let small = RelayRange(after: 0, byteCountMax: 1)
        let outcome = try one(&store, .get(id(1), small))
        guard case .answer(.entries(let entries, let hasMore, _)) = outcome else {
            Issue.record("no entries")
            return
        }
        #expect(entries.count == 1 && entries[0].envelope.count == 65_536, "one always goes")
        #expect(hasMore)
    }

    private static func writers(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1, writers: [9, 7]), open(2)], at: now)
        _ = try stored(&store, put(1, envelope(1), by: 9))
        _ = try stored(&store, put(1, envelope(2), by: 7))
        _ = try stored(&store, put(1, envelope(3)))
        #expect(try one(&store, put(1, envelope(4), by: 8)) == .answer(.refused(.forbidden)))
        #expect(try one(&store, put(2, envelope(4), by: 9)) == .answer(.refused(.forbidden)))
        #expect(try one(&store, mayWrite(1, by: 9)) == .answer(.done))
        #expect(try one(&store, mayWrite(1, by: 8)) == .answer(.refused(.forbidden)))
        _ = try store.perform([open(1)], at: now)
        #expect(try one(&store, mayWrite(1, by: 9)) == .answer(.done), "they are kept")
        _ = try store.perform([open(1, writers: [8, 7])], at: now)
        #expect(try one(&store, mayWrite(1, by: 9)) == .answer(.refused(.forbidden)))
        #expect(try one(&store, mayWrite(1, by: 8)) == .answer(.done))
        #expect(try one(&store, mayWrite(1, by: 7)) == .answer(.done))
        _ = try store.perform([open(1, writers: [])], at: now)
        #expect(try one(&store, mayWrite(1, by: 7)) == .answer(.refused(.forbidden)))
    }

    private static func acknowledging(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1, writers: [9]), open(2)], at: now)
        let counters = try (1...3).map { try stored(&store, put(1, envelope($0))) }
        _ = try stored(&store, put(2, envelope(1)))
        #expect(try one(&store, .acknowledge(id(1), upTo: counters[1])) == .answer(.done))
        #expect(try all(&store, 1) == [envelope(3)])
        #expect(try all(&store, 2) == [envelope(1)])
        #expect(
            try one(&store, .newest(id(1))) == .answer(.subscribed(newest: counters[2])),
            "the newest counter stays what it was")
        _ = try store.perform([.acknowledge(id(1), upTo: .max)], at: now)
        #expect(try stored(&store, put(1, envelope(1))) > counters[2])
    }

    private static func tickets(
        _ store: inout some RelayStore, _ issue: (Digest, UInt64) throws -> Void
    ) throws {
        var paid = terms
        paid.needsTicket = true
        let ticket: Digest = digest(.relayTicket, [7])
        let other: Digest = digest(.relayTicket, [8])
        func open(_ mailbox: UInt8, _ ticket: Digest?) throws -> RelayOutcome {
            try one(&store, .open(id(mailbox), writers: nil, ticket: ticket, paid))
        }
        #expect(try open(1, nil) == .answer(.refused(.ticketNeeded)))
        #expect(try open(1, ticket) == .answer(.refused(.badTicket)))
        #expect(try one(&store, put(1, envelope(1))) == .answer(.refused(.noMailbox)))
        try issue(ticket, 4096)
        let opened = RelayOutcome.answer(
            .opened(expires: now + paid.lifetime, byteCountMax: 4096))
        #expect(try open(1, ticket) == opened)
        #expect(try open(1, ticket) == opened)
        #expect(try open(1, nil) == opened)
        #expect(try open(2, ticket) == .answer(.refused(.badTicket)))
        try issue(other, 8192)
        #expect(try open(1, other) == opened, "a ticket is not spent on what is paid for")
        #expect(
            try open(2, other)
                == .answer(.opened(expires: now + paid.lifetime, byteCountMax: 8192)))
    }

    private static func renewal(
        _ store: inout some RelayStore, _ issue: (Digest, UInt64) throws -> Void
    ) throws {
        var paid = terms
        paid.needsTicket = true
        let tickets: [Digest] = [digest(.relayTicket, [1]), digest(.relayTicket, [2])]
        for ticket in tickets { try issue(ticket, 4096) }
        func open(_ ticket: Digest?, at now: UInt64) throws -> RelayOutcome {
            try one(&store, .open(id(1), writers: nil, ticket: ticket, paid), at: now)
        }
        let first = RelayOutcome.answer(.opened(expires: now + paid.lifetime, byteCountMax: 4096))
        #expect(try open(tickets[0], at: now) == first)
        let late = now + paid.lifetime - paid.renewal + 1
        #expect(try open(nil, at: late) == first)
        #expect(
            try open(tickets[1], at: late)
                == .answer(.opened(expires: late + paid.lifetime, byteCountMax: 4096)))
        let end = late + paid.lifetime
        #expect(try one(&store, put(1, envelope(1)), at: end) == .answer(.refused(.noMailbox)))
        #expect(try open(nil, at: end) == .answer(.refused(.ticketNeeded)))
    }

    private static func absentMailbox(_ store: inout some RelayStore) throws {
        #expect(try one(&store, put(1, envelope(1))) == .answer(.refused(.noMailbox)))
        #expect(
            try one(&store, .get(id(1), RelayRange(after: 0)))
                == .answer(.entries([], hasMore: false, newest: 0)))
        #expect(try one(&store, .newest(id(1))) == .answer(.subscribed(newest: 0)))
        #expect(try one(&store, .mayWrite(id(1), by: .inbox)) == .answer(.refused(.noMailbox)))
        #expect(
            try one(&store, .acknowledge(id(1), upTo: 1)) == .answer(.refused(.noMailbox)))
    }

    private static func expiry(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1), open(2)], at: now)
        _ = try stored(&store, put(1, envelope(1)))
        _ = try stored(&store, put(1, envelope(2)), at: now + 1000)
        _ = try one(&store, .expire(envelopesBefore: now + 1))
        #expect(try all(&store, 1) == [envelope(2)])
        let end = now + terms.lifetime
        _ = try one(&store, .expire(envelopesBefore: now + 1), at: end)
        #expect(try all(&store, 1) == [envelope(2)], "it outlives its mailbox's time")
        let newest = store.newest
        _ = try one(&store, .expire(envelopesBefore: end), at: end)
        #expect(try all(&store, 1).isEmpty)
        #expect(try one(&store, .newest(id(1))) == .answer(.subscribed(newest: 0)))
        #expect(store.newest == newest)
    }

    private static func roomGrows(_ store: inout some RelayStore) throws {
        for (given, room) in [(2048, 2048), (4096, 4096), (1024, 4096)] as [(UInt64, UInt64)] {
            var other = terms
            other.byteCountMax = given
            #expect(
                try one(&store, .open(id(1), writers: nil, ticket: nil, other))
                    == .answer(.opened(expires: now + terms.lifetime, byteCountMax: room)))
        }
    }

    private static func ordersInTurn(_ store: inout some RelayStore) throws {
        let outcomes = try store.perform(
            [
                put(1, envelope(1)), open(1), put(1, envelope(1)), .newest(id(1)),
                .get(id(1), RelayRange(after: 0)),
            ], at: now)
        let counter = now * 1000
        #expect(
            outcomes == [
                .answer(.refused(.noMailbox)),
                .answer(.opened(expires: now + terms.lifetime, byteCountMax: 1 << 20)),
                .answer(.stored(counter: counter)), .answer(.subscribed(newest: counter)),
                .answer(
                    .entries(
                        [RelayEntry(counter: counter, envelope: envelope(1))], hasMore: false,
                        newest: counter)),
            ])
    }
}

extension RelayStoreContract {
    private static func openPaid(_ mailbox: UInt8, _ ticket: Digest) -> RelayOrder {
        .open(id(mailbox), writers: nil, ticket: ticket, terms)
    }

    /// Mailboxes that nobody pays for have their share, and what was left untouched goes first.
    private static func pressure(_ store: inout some RelayStore) throws {
        for number in UInt8(1)...4 {
            _ = try store.perform([open(number), put(number, envelope(number))], at: now)
        }
        _ = try one(&store, open(1), at: now + 1)
        _ = try one(&store, .acknowledge(id(2), upTo: 0), at: now + 2)
        _ = try one(&store, open(5), at: now + 3)
        _ = try stored(&store, put(5, envelope(5, 1024)), at: now + 3)
        #expect(try all(&store, 3).isEmpty && all(&store, 4).isEmpty, "the least lately touched")
        #expect(try all(&store, 1).count == 1 && all(&store, 2).count == 1)
        #expect(try one(&store, put(3, envelope(6)), at: now + 4) != .answer(.refused(.noMailbox)))
        #expect(try all(&store, 1).isEmpty, "it was touched before what went then was")
        for number in UInt8(10)..<20 { _ = try stored(&store, put(5, envelope(number))) }
        #expect(try all(&store, 5).count == 4, "one mailbox holds no more than all may")
        #expect(try all(&store, 2).isEmpty && all(&store, 3).isEmpty)
    }

    /// No flood of unpaid mailboxes takes anything from one that is paid, nor its room.
    private static func paidStays(
        _ store: inout some RelayStore, _ issue: (Digest, UInt64) throws -> Void
    ) throws {
        let ticket: Digest = digest(.relayTicket, [1])
        try issue(ticket, 2048)
        _ = try store.perform([open(1), put(1, envelope(1)), openPaid(2, ticket)], at: now)
        _ = try stored(&store, put(2, envelope(2)))
        for number in UInt8(10)..<30 {
            _ = try store.perform([open(number), put(number, envelope(number))], at: now + 5)
        }
        #expect(try all(&store, 1).isEmpty, "it was the oldest")
        #expect(try all(&store, 2) == [envelope(2)])
        for number in UInt8(3)...5 { _ = try stored(&store, put(2, envelope(number)), at: now) }
        #expect(try all(&store, 2).count == 4, "its room is its own")
        // Once its time is over it is one of the others.
        let end = now + terms.lifetime
        #expect(
            try one(&store, open(2), at: end)
                == .answer(.opened(expires: end + terms.lifetime, byteCountMax: 1 << 20)))
        _ = try store.perform([open(9), put(9, envelope(9, 2048))], at: end + 1)
        #expect(try all(&store, 2).isEmpty)
    }

    /// Where paid mailboxes fill the store, others are told to wait.
    private static func fullOfPaid(
        _ store: inout some RelayStore, _ issue: (Digest, UInt64) throws -> Void
    ) throws {
        let tickets: [Digest] = [digest(.relayTicket, [1]), digest(.relayTicket, [2])]
        for ticket in tickets { try issue(ticket, 4096) }
        _ = try store.perform([open(9), put(9, envelope(9))], at: now)
        _ = try store.perform([openPaid(1, tickets[0]), openPaid(2, tickets[1])], at: now)
        for number in UInt8(1)...8 { _ = try stored(&store, put(1, envelope(number))) }
        #expect(try all(&store, 9).isEmpty, "what is paid for comes first")
        let full = RelayOutcome.answer(.refused(.busy(retryAfter: RelayStoreBounds.fullDelay)))
        #expect(try one(&store, put(2, envelope(1))) == full)
        #expect(try one(&store, put(9, envelope(1))) == full)
        #expect(try all(&store, 1).count == 8)
        _ = try one(&store, .acknowledge(id(1), upTo: .max))
        _ = try stored(&store, put(9, envelope(1)))
    }
}

@Suite("The store in memory")
struct MemoryRelayStoreTests {
    @Test("keeps the contract of stores", arguments: RelayStoreContract.allCases)
    func contract(story: RelayStoreContract) throws {
        var box = Box(MemoryRelayStore(start: 1, bounds: story.bounds))
        let same = box
        try story.run(&box) { same.value.issue($0, byteCountMax: $1) }
    }

    /// So that a story and its tickets reach the same value.
    final class Box: RelayStore {
        var value: MemoryRelayStore
        init(_ value: MemoryRelayStore) { self.value = value }
        var starts: [RelayStart] { value.starts }
        var newest: UInt64 { value.newest }
        func perform(
            _ orders: [RelayOrder], at now: UInt64
        ) throws(RelayStoreFailure) -> [RelayOutcome] {
            try value.perform(orders, at: now)
        }
    }
}
