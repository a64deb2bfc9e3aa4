import Foundation
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

@Suite("What a relay lets clients do")
struct RelayBoundsTests {
    @Test("Attack 49: a request counts once and on one connection: played again, the line is cut")
    func replay() throws {
        var world = RelayWorld()
        let drop = world.access()
        let ada = try world.connect()
        let ben = try world.connect()
        let hash = try #require(world.clients[ada]?.handshakeHash)
        func frame(_ counter: UInt64, on hash: [UInt8]) -> [UInt8] {
            let request = RelayRequest(.subscribe, of: drop.mailbox)
            return RelayClientFrame.request(
                SignedRelayRequest(
                    counter: counter, key: drop.key.device,
                    signature: request.signature(by: drop.key, counter: counter, on: hash),
                    request: request)
            ).encoded()
        }
        var door = try #require(world.doors[ada])
        // The same bytes come to another connection, as a relay's neighbour could play them.
        var other = try #require(world.doors[ben])
        #expect(throws: RelayClientRejection.badSignature) {
            _ = try other.check(frame(1, on: hash))
        }
        _ = try door.check(frame(1, on: hash))
        _ = try door.check(frame(3, on: hash))
        for counter in [UInt64(3), 2, 0] {
            #expect(throws: RelayClientRejection.staleCounter) {
                _ = try door.check(frame(counter, on: hash))
            }
        }
    }

    @Test("Attack 145: who fills an inbox with a right that others have pushes out what is theirs")
    func filledInbox() throws {
        var policy = RelayPolicy()
        policy.mailboxByteCountMax = 1 << 20
        var world = RelayWorld(policy)
        let inbox = world.inbox()
        // The one that the card shows now, and one that others read on it before.
        let writers = (0..<2).map { _ in
            MailboxAccess(inbox.mailbox, key: .generate(using: &world.random))
        }
        let owner = try world.connect()
        let friends = [try world.connect(from: [2]), try world.connect(from: [3])]
        let mallory = try world.connect(from: [4])
        _ = try world.ask(
            .open(writers: writers.map(\.writer), ticket: nil), as: inbox, by: owner)
        let letters = [world.envelope(), world.envelope()]
        for (place, friend) in friends.enumerated() {
            let put = RelayAction.put(envelope: letters[place])
            _ = try world.ask(put, as: writers[place], by: friend)
        }
        for _ in 0..<64 {
            let junk = world.envelope(64 << 10)
            _ = try world.ask(.put(envelope: junk), as: writers[0], by: mallory)
        }
        let page = try world.ask(.get(RelayRange(after: 0)), as: inbox, by: owner)
        #expect(page.entries?.prefix(2).map(\.envelope) == letters)
        #expect(world.store.byteCount <= 1 << 20)
    }

    @Test(
        "Attack 49: a request that says another thing than was signed cuts the line",
        arguments: 0..<3)
    func altered(place: Int) throws {
        var world = RelayWorld()
        let drop = world.access()
        let ada = try world.connect()
        let hash = try #require(world.clients[ada]?.handshakeHash)
        let request = RelayRequest(.acknowledge(upTo: 5), of: drop.mailbox)
        var signed = SignedRelayRequest(
            counter: 1, key: drop.key.device,
            signature: request.signature(by: drop.key, counter: 1, on: hash), request: request)
        switch place {
        case 0: signed.request.action = .acknowledge(upTo: 6)
        case 1: signed.counter = 2
        default: signed.key = world.access().key.device
        }
        var door = try #require(world.doors[ada])
        #expect(throws: RelayClientRejection.badSignature) {
            _ = try door.check(RelayClientFrame.request(signed).encoded())
        }
    }

    @Test("Attack 49: who asks faster than is allowed is told when to ask again, and then may")
    func rate() throws {
        var policy = RelayPolicy()
        policy.requests = RelayPolicy.Rate(burst: 5, perSecond: 1)
        var world = RelayWorld(policy)
        let drop = world.access()
        let ada = try world.connect()
        for _ in 0..<5 {
            #expect(try world.ask(.subscribe, as: drop, by: ada) == .subscribed(newest: 0))
        }
        #expect(
            try world.ask(.subscribe, as: drop, by: ada) == .refused(.busy(retryAfter: 1000)))
        world.now += 1000
        #expect(try world.ask(.subscribe, as: drop, by: ada) == .subscribed(newest: 0))
    }

    @Test("Attack 49: one address is allowed no more over many connections, nor by coming again")
    func origin() throws {
        var policy = RelayPolicy()
        policy.requests = RelayPolicy.Rate(burst: 5, perSecond: 1)
        policy.originConnectionCountMax = 5
        var world = RelayWorld(policy)
        let drop = world.access()
        var refusals = 0
        for round in 0..<5 {
            let connection = try world.connect()
            for _ in 0..<5 {
                let answer = try world.ask(.subscribe, as: drop, by: connection)
                if case .refused(.busy) = answer { refusals += 1 }
            }
            if round == 0 { try world.disconnect(connection) }
        }
        #expect(refusals == 5, "five of twenty-five are too many")
        for _ in 0..<2 { _ = try world.connect() }
        #expect(world.closings.values.elementsEqual([.tooManyOfOrigin]))
        let other = try world.connect(from: [2])
        #expect(try world.ask(.subscribe, as: drop, by: other) == .subscribed(newest: 0))
    }

    @Test("Attack 293: one address, and all together, are told of so many mailboxes and no more")
    func subscriptionsTogether() throws {
        var policy = RelayPolicy()
        policy.originSubscriptionCountMax = 3
        policy.subscriptionCountMax = 5
        var world = RelayWorld(policy)
        func isBusy(_ answer: RelayAnswer) -> Bool {
            if case .refused(.busy) = answer { true } else { false }
        }
        let first = [try world.connect(), try world.connect()]
        let drops = (0..<4).map { _ in world.access() }
        for (place, drop) in drops.prefix(3).enumerated() {
            let answer = try world.ask(.subscribe, as: drop, by: first[place % 2])
            #expect(answer == .subscribed(newest: 0))
        }
        #expect(isBusy(try world.ask(.subscribe, as: drops[3], by: first[1])))
        // What it is told of already it may ask for again.
        #expect(try world.ask(.subscribe, as: drops[0], by: first[0]) == .subscribed(newest: 0))
        let second = try world.connect(from: [2])
        for drop in drops.prefix(2) {
            #expect(try world.ask(.subscribe, as: drop, by: second) == .subscribed(newest: 0))
        }
        #expect(isBusy(try world.ask(.subscribe, as: drops[2], by: second)))
        #expect(world.relay.load.subscriptions == 5)
        // Whoever is told of less, or goes, leaves room for others.
        _ = try world.ask(.unsubscribe, as: drops[0], by: second)
        #expect(isBusy(try world.ask(.subscribe, as: drops[3], by: first[0])))
        try world.disconnect(first[1])
        #expect(try world.ask(.subscribe, as: drops[3], by: first[0]) == .subscribed(newest: 0))
        #expect(try world.ask(.subscribe, as: drops[2], by: second) == .subscribed(newest: 0))
        #expect(world.relay.load.subscriptions == 5)
    }

    @Test("Attack 293: addresses that come and go are not remembered without end")
    func addresses() throws {
        var world = RelayWorld()
        for number in 0...Relay.originCountLimit {
            let connection = RelayConnection(UInt64(number))
            let origin = [UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
            _ = world.relay.handle(.opened(connection, origin: origin), at: world.now)
            _ = world.relay.handle(.closed(connection), at: world.now)
        }
        #expect(world.relay.origins.count <= Relay.originCountLimit)
    }

    @Test("is not asked to forget what is over while it still forgets")
    func upkeep() throws {
        var world = RelayWorld()
        func orders(_ effects: [RelayEffect]) -> [RelayOrderNumber] {
            effects.compactMap {
                if case .perform(let number, .expire) = $0 { number } else { nil }
            }
        }
        let first = orders(world.relay.handle(.tick, at: world.now))
        #expect(first.count == 1)
        world.now += Relay.upkeepInterval
        let rest = RelayOrder.expire(envelopesBefore: 0)
        for number in first {
            _ = world.relay.handle(.performed(number, .unfinished(rest)), at: world.now)
        }
        #expect(orders(world.relay.handle(.tick, at: world.now)).isEmpty)
        for number in first {
            _ = world.relay.handle(.performed(number, .answer(.done)), at: world.now)
        }
        world.now += Relay.upkeepInterval
        #expect(orders(world.relay.handle(.tick, at: world.now)).count == 1)
    }

    @Test("mailboxes are made no faster than one address may")
    func openings() throws {
        var policy = RelayPolicy()
        policy.openings = RelayPolicy.Rate(burst: 3, perSecond: 1)
        var world = RelayWorld(policy)
        let ada = try world.connect()
        var refused = 0
        for _ in 0..<5 {
            let answer = try world.ask(RelayTests.open, as: world.access(), by: ada)
            if case .refused(.busy) = answer { refused += 1 }
        }
        #expect(refused == 2)
    }

    @Test("Attack 71: one address has only so much stored, over many connections and mailboxes")
    func storing() throws {
        var policy = RelayPolicy()
        policy.storing = RelayPolicy.Rate(burst: 4096, perSecond: 512)
        var world = RelayWorld(policy)
        var stored = 0
        for _ in 0..<4 {
            let connection = try world.connect()
            let drop = world.access()
            _ = try world.ask(RelayTests.open, as: drop, by: connection)
            for _ in 0..<4 {
                let put = RelayAction.put(envelope: world.envelope())
                if try world.ask(put, as: drop, by: connection).counter != nil { stored += 512 }
            }
        }
        #expect(stored == 4096)
        let (ben, drop) = (try world.connect(from: [2]), world.access())
        _ = try world.ask(RelayTests.open, as: drop, by: ben)
        let put = RelayAction.put(envelope: world.envelope())
        #expect(try world.ask(put, as: drop, by: ben).counter != nil, "another address")
        #expect(try world.ask(.get(RelayRange(after: 0)), as: drop, by: ben).entries?.count == 1)
        world.now += 1000
        let (ada, late) = (try world.connect(), world.access())
        _ = try world.ask(RelayTests.open, as: late, by: ada)
        let again = RelayAction.put(envelope: world.envelope())
        #expect(try world.ask(again, as: late, by: ada).counter != nil, "and later there is room")
    }

    @Test("Attack 71: unless its operator says otherwise, it lets clients do what the page says")
    func defaults() throws {
        let (policy, bounds) = (RelayPolicy(), RelayStoreBounds())
        #expect(policy.storing == RelayPolicy.Rate(burst: 256 << 20, perSecond: 32 << 10))
        #expect(policy.openings == RelayPolicy.Rate(burst: 2_048, perSecond: 1))
        #expect(policy.requests == RelayPolicy.Rate(burst: 4_096, perSecond: 256))
        #expect(policy.bytes == RelayPolicy.Rate(burst: 64 << 20, perSecond: 4 << 20))
        #expect(policy.frames == RelayPolicy.Rate(burst: 2_048, perSecond: 1_024))
        #expect(policy.giving == RelayPolicy.Rate(burst: 128 << 20, perSecond: 4 << 20))
        #expect(policy.calls == RelayPolicy.Rate(burst: 64, perSecond: 1))
        #expect(policy.mailboxByteCountMax == 64 << 20 && policy.shelfByteCountMax == 256 << 20)
        #expect(policy.originConnectionCountMax == 64 && !policy.needsTicket)
        #expect(bounds.byteCountMax == 16 << 30)
        #expect(bounds.unpaidByteCountMax == 8 << 30 && bounds.shelfByteCountMax == 4 << 30)
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        for row in [
            "| bytes of envelopes stored from one address (not where tickets are needed) | 256 MiB at "
                + "once, 32 KiB a second (112 MiB an hour) |",
            "| mailboxes opened from one address | 2,048 at once, one a second |",
            "| requests of a connection | 4,096 at once, 256 a second |",
            "| bytes of a connection | 64 MiB at once, 4 MiB a second |",
            "| pings and frames about pipes of a connection | 2,048 at once, 1,024 a second |",
            "| bytes that a connection is given, in pages and pushes | 128 MiB at once, 4 MiB a second |",
            "| a shelf holds | 256 MiB, or what its ticket says |",
            "| 16 GiB; half; a quarter of all |",
        ] {
            #expect(page.contains(row))
        }
    }

    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Protocol/06-relay.md")

    @Test(
        "Attack 49: what breaks a bound, or what nobody asks, is refused, and the connection goes on",
        arguments: [
            .put(envelope: [UInt8](repeating: 1, count: 513)),
            .volatile(lifetime: 0, envelope: [UInt8](repeating: 1, count: 512)),
            .volatile(lifetime: 61, envelope: [UInt8](repeating: 1, count: 512)),
            .get(RelayRange(after: 0, byteCountMax: Limits.relayPageByteCountMax + 1)),
            .open(writers: [WriterID](repeating: WriterID { _ in }, count: 9), ticket: nil),
        ] as [RelayAction])
    func malformed(action: RelayAction) throws {
        var policy = RelayPolicy()
        policy.requests = RelayPolicy.Rate(burst: 3, perSecond: 1)
        var world = RelayWorld(policy)
        let inbox = world.inbox()
        let ada = try world.connect()
        #expect(try world.ask(action, as: inbox, by: ada) == .refused(.malformed))
        #expect(try world.ask(.subscribe, as: inbox, by: ada) == .subscribed(newest: 0))
        #expect(try world.ask(action, as: inbox, by: ada) == .refused(.malformed))
        let busy = RelayAnswer.refused(.busy(retryAfter: 1000))
        #expect(
            try world.ask(action, as: inbox, by: ada) == busy, "it costs what any request costs")
        #expect(world.rejections.isEmpty && world.closings.isEmpty)
    }

    @Test("a client that says nothing for too long is let go, one that pings is not")
    func silence() throws {
        var world = RelayWorld()
        let ada = try world.connect()
        let ben = try world.connect()
        world.now += world.policy.silenceMax
        try world.say(.ping(ben))
        try world.tick(after: 1)
        #expect(world.closings == [ada: .silent])
    }

    @Test("a client that waits for no answer is let go")
    func unruly() throws {
        var world = RelayWorld()
        let drop = world.access()
        let ada = try world.connect()
        for counter in 1...UInt64(Limits.relayRequestCountMax + 1) {
            let signed = SignedRelayRequest(
                counter: counter, key: drop.key.device,
                signature: try #require(Signature([UInt8](repeating: 0, count: 64))),
                request: RelayRequest(.subscribe, of: drop.mailbox))
            // Nothing is concluded: the store is slow.
            _ = world.relay.handle(
                .request(ada, CheckedRequest(signed, byteCount: 200)), at: world.now)
        }
        #expect(world.relay.counters.closings == [.unruly: 1])
        #expect(world.relay.load.connections == 0)
    }

    @Test("a client is told of no more mailboxes than the bound says")
    func subscriptions() throws {
        var world = RelayWorld()
        let ada = try world.connect()
        for _ in 0..<Limits.relaySubscriptionCountMax {
            _ = try world.ask(.subscribe, as: world.access(), by: ada)
        }
        #expect(
            try world.ask(.subscribe, as: world.access(), by: ada) == .refused(.malformed))
        #expect(world.relay.load.subscriptions == Limits.relaySubscriptionCountMax)
        try world.disconnect(ada)
        #expect(world.relay.subscribers.isEmpty)
    }

    @Test("a relay that stops says so to everybody")
    func leaving() throws {
        var world = RelayWorld()
        let ada = try world.connect()
        _ = world.told(ada)
        try world.say(.leaving(retryAfter: 5000))
        #expect(world.told(ada) == [.leaving(retryAfter: 5000)])
        #expect(world.closings == [ada: .leaving])
    }

    @Test("what is remembered of addresses ends with their being rested")
    func memory() throws {
        var world = RelayWorld()
        for number in 0..<20 {
            let connection = try world.connect(from: [9, UInt8(number)])
            _ = try world.ask(.subscribe, as: world.access(), by: connection)
            try world.disconnect(connection)
        }
        #expect(world.relay.origins.count == 20)
        try world.tick(after: 3_600_000)
        #expect(world.relay.origins.isEmpty)
    }
}
