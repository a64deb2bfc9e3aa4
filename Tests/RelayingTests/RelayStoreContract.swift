import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

/// What every store of a relay must do: one story each, told of any store.
///
/// A store's own tests run all of them on fresh stores.
enum RelayStoreContract: String, CaseIterable, Sendable {
    case countersRise, sameEnvelopeOnce, pagesBothWays, pagesAreBounded, fullMailbox, writers
    case acknowledging, tickets, renewal, absentMailbox, expiry, chunks, ordersInTurn

    /// A moment in Unix milliseconds.
    static let now: UInt64 = 1_790_000_000_000

    static let terms = MailboxTerms(
        needsTicket: false, lifetime: 30 * RelayPolicy.day, renewal: 7 * RelayPolicy.day,
        byteCountMax: 1 << 20)

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
        case .chunks: try Self.chunks(&store)
        case .ordersInTurn: try Self.ordersInTurn(&store)
        }
    }

    // MARK: Words of the stories

    static func id(_ number: UInt8) -> MailboxID { MailboxID { $0[0] = number } }

    static func put(
        _ mailbox: UInt8, _ envelope: [UInt8], by signer: UInt8? = nil
    ) -> RelayOrder {
        .put(
            id(mailbox), by: id(signer ?? mailbox), hash: digest(.relayBlob, envelope),
            envelope: envelope)
    }

    static func envelope(_ number: UInt8, _ byteCount: Int = 512) -> [UInt8] {
        [UInt8](repeating: number, count: byteCount)
    }

    static func open(_ mailbox: UInt8, writer: UInt8? = nil) -> RelayOrder {
        .open(id(mailbox), writer: writer.map(id), ticket: nil, terms)
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

    private static func fullMailbox(_ store: inout some RelayStore) throws {
        var small = terms
        small.byteCountMax = 2048
        _ = try store.perform([.open(id(1), writer: nil, ticket: nil, small), open(2)], at: now)
        for number in 1...6 { _ = try stored(&store, put(1, envelope(UInt8(number)))) }
        #expect(try all(&store, 1) == [3, 4, 5, 6].map { envelope($0) })
        _ = try stored(&store, put(1, envelope(7, 1024)))
        #expect(try all(&store, 1) == [envelope(5), envelope(6), envelope(7, 1024)])
        _ = try stored(&store, put(1, envelope(1)))
        #expect(try all(&store, 1).count == 3, "what went can come again")
    }

    private static func writers(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1, writer: 9), open(2)], at: now)
        _ = try stored(&store, put(1, envelope(1), by: 9))
        _ = try stored(&store, put(1, envelope(2), by: 1))
        #expect(try one(&store, put(1, envelope(3), by: 8)) == .answer(.refused(.forbidden)))
        #expect(try one(&store, put(2, envelope(3), by: 9)) == .answer(.refused(.forbidden)))
        #expect(try one(&store, .mayWrite(id(1), by: id(9))) == .answer(.done))
        #expect(try one(&store, .mayWrite(id(1), by: id(8))) == .answer(.refused(.forbidden)))
        _ = try store.perform([open(1)], at: now)
        #expect(try one(&store, .mayWrite(id(1), by: id(9))) == .answer(.done), "it is kept")
        _ = try store.perform([open(1, writer: 8)], at: now)
        #expect(try one(&store, .mayWrite(id(1), by: id(9))) == .answer(.refused(.forbidden)))
    }

    private static func acknowledging(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1, writer: 9), open(2)], at: now)
        let counters = try (1...3).map { try stored(&store, put(1, envelope($0))) }
        _ = try stored(&store, put(2, envelope(1)))
        #expect(try one(&store, .acknowledge(id(1), upTo: counters[1])) == .answer(.done))
        #expect(try all(&store, 1) == [envelope(3)])
        #expect(
            try one(&store, .acknowledge(id(2), upTo: .max)) == .answer(.refused(.forbidden)))
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
            try one(&store, .open(id(mailbox), writer: nil, ticket: ticket, paid))
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
            try one(&store, .open(id(1), writer: nil, ticket: ticket, paid), at: now)
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
        #expect(try one(&store, .mayWrite(id(1), by: id(1))) == .answer(.refused(.noMailbox)))
        #expect(
            try one(&store, .acknowledge(id(1), upTo: 1)) == .answer(.refused(.noMailbox)))
    }

    private static func expiry(_ store: inout some RelayStore) throws {
        _ = try store.perform([open(1), open(2)], at: now)
        _ = try stored(&store, put(1, envelope(1)))
        _ = try stored(&store, put(1, envelope(2)), at: now + 1000)
        _ = try one(&store, .expire(envelopesBefore: now + 1, chunksBefore: 0))
        #expect(try all(&store, 1) == [envelope(2)])
        let end = now + terms.lifetime
        _ = try one(&store, .expire(envelopesBefore: now + 1, chunksBefore: 0), at: end)
        #expect(try all(&store, 1) == [envelope(2)], "it outlives its mailbox's time")
        let newest = store.newest
        _ = try one(&store, .expire(envelopesBefore: end, chunksBefore: 0), at: end)
        #expect(try all(&store, 1).isEmpty)
        #expect(try one(&store, .newest(id(1))) == .answer(.subscribed(newest: 0)))
        #expect(store.newest == newest)
    }

    private static func chunks(_ store: inout some RelayStore) throws {
        let name: Digest = digest(.relayBlob, [1, 2, 3])
        let put = RelayOrder.putChunk(id(1), name: name, chunk: [1, 2, 3])
        #expect(try one(&store, put) == .answer(.refused(.noMailbox)))
        _ = try store.perform([open(1)], at: now)
        #expect(try one(&store, .getChunk(name)) == .answer(.refused(.noChunk)))
        #expect(try one(&store, put) == .answer(.stored(counter: 0)))
        #expect(try one(&store, put) == .answer(.stored(counter: 0)))
        #expect(try one(&store, .getChunk(name)) == .answer(.chunk([1, 2, 3])))
        _ = try one(&store, .expire(envelopesBefore: 0, chunksBefore: now + 1))
        #expect(try one(&store, .getChunk(name)) == .answer(.refused(.noChunk)))
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

@Suite("The store in memory")
struct MemoryRelayStoreTests {
    @Test("keeps the contract of stores", arguments: RelayStoreContract.allCases)
    func contract(story: RelayStoreContract) throws {
        var box = Box(MemoryRelayStore(start: 1))
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
