import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

@Suite("The relay")
struct RelayTests {
    static let open = RelayAction.open(writers: nil, ticket: nil)

    @Test("keeps an envelope until somebody who holds the key asks for it")
    func keeps() throws {
        var world = RelayWorld()
        let (drop, envelope) = (world.access(), world.envelope())
        let ada = try world.connect()
        _ = try world.ask(Self.open, as: drop, by: ada)
        let stored = try world.ask(.put(envelope: envelope), as: drop, by: ada)
        let counter = try #require(stored.counter)
        try world.disconnect(ada)
        let ben = try world.connect()
        #expect(world.told(ben).contains { if case .opened = $0 { true } else { false } })
        let page = try world.ask(.get(RelayRange(after: 0)), as: drop, by: ben)
        #expect(
            page
                == .entries(
                    [RelayEntry(counter: counter, envelope: envelope)], hasMore: false,
                    newest: counter))
    }

    @Test("keeps the same envelope once, and says where")
    func once() throws {
        var world = RelayWorld()
        let (drop, envelope) = (world.access(), world.envelope())
        let ada = try world.connect()
        let ben = try world.connect()
        _ = try world.ask(Self.open, as: drop, by: ada)
        let first = try world.ask(.put(envelope: envelope), as: drop, by: ada)
        #expect(try world.ask(.put(envelope: envelope), as: drop, by: ben) == first)
        #expect(
            try world.ask(.get(RelayRange(after: 0)), as: drop, by: ada).entries?.count == 1)
    }

    @Test("pages newest first, without a gap and without a repetition")
    func pages() throws {
        var world = RelayWorld()
        let drop = world.access()
        let ada = try world.connect()
        _ = try world.ask(Self.open, as: drop, by: ada)
        var counters: [UInt64] = []
        for _ in 0..<50 {
            world.now += 1
            let answer = try world.ask(.put(envelope: world.envelope()), as: drop, by: ada)
            counters.append(try #require(answer.counter))
        }
        #expect(counters == counters.sorted() && Set(counters).count == 50)
        var found: [UInt64] = []
        var before = UInt64.max
        while true {
            let range = RelayRange(
                after: counters[4], before: before, isNewestFirst: true, byteCountMax: 5000)
            let answer = try world.ask(.get(range), as: drop, by: ada)
            guard case .entries(let entries, let hasMore, let newest) = answer else { break }
            #expect(entries.count <= 9 && newest == counters.last)
            found += entries.map(\.counter)
            before = try #require(found.last)
            if !hasMore { break }
        }
        #expect(found == counters[5...].reversed())
    }

    @Test("pushes what comes to who subscribed, before a mailbox is made too, once it is stored")
    func pushes() throws {
        var world = RelayWorld()
        let (drop, envelope) = (world.access(), world.envelope())
        let ada = try world.connect()
        let ben = try world.connect()
        #expect(try world.ask(.subscribe, as: drop, by: ben) == .subscribed(newest: 0))
        _ = try world.ask(Self.open, as: drop, by: ada)
        _ = world.told(ben)
        world.isBroken = true
        #expect(
            try world.ask(.put(envelope: envelope), as: drop, by: ada)
                == .refused(.busy(retryAfter: 10_000)))
        #expect(world.told(ben).isEmpty)
        world.isBroken = false
        let stored = try world.ask(.put(envelope: envelope), as: drop, by: ada)
        let entry = RelayEntry(counter: try #require(stored.counter), envelope: envelope)
        #expect(world.told(ben) == [.arrived(drop.mailbox, entry)])
        _ = try world.ask(.put(envelope: envelope), as: drop, by: ada)
        _ = try world.ask(.unsubscribe, as: drop, by: ben)
        _ = try world.ask(.put(envelope: world.envelope()), as: drop, by: ada)
        #expect(world.told(ben).isEmpty)
    }

    @Test("tells a slow reader once that it missed something, when it reads again")
    func slow() throws {
        var world = RelayWorld()
        let drop = world.access()
        let ada = try world.connect()
        let ben = try world.connect()
        _ = try world.ask(Self.open, as: drop, by: ada)
        _ = try world.ask(.subscribe, as: drop, by: ben)
        _ = world.told(ben)
        try world.say(.congested(ben, true))
        for _ in 0..<3 { _ = try world.ask(.put(envelope: world.envelope()), as: drop, by: ada) }
        #expect(world.told(ben).isEmpty)
        try world.say(.congested(ben, false))
        #expect(world.told(ben) == [.missed(drop.mailbox)])
    }

    @Test("passes on what may be forgotten, and keeps it nowhere")
    func volatile() throws {
        var world = RelayWorld()
        let (drop, envelope) = (world.access(), world.envelope())
        let ada = try world.connect()
        let ben = try world.connect()
        _ = try world.ask(Self.open, as: drop, by: ada)
        _ = try world.ask(.subscribe, as: drop, by: ben)
        _ = world.told(ben)
        let put = RelayAction.volatile(lifetime: 9, envelope: envelope)
        #expect(try world.ask(put, as: drop, by: ada) == .done)
        #expect(world.told(ben) == [.passed(drop.mailbox, lifetime: 9, envelope: envelope)])
        #expect(try world.ask(.get(RelayRange(after: 0)), as: drop, by: ben).entries == [])
        #expect(!world.store.contents.contains(envelope))
    }

    @Test("lets others write into an inbox, and its owner alone read and delete")
    func inbox() throws {
        var world = RelayWorld()
        let owner = world.inbox()
        let writerKey = DeviceSigningKey.generate(using: &world.random)
        let writer = MailboxAccess(owner.mailbox, key: writerKey)
        let stranger = MailboxAccess(owner.mailbox, key: .generate(using: &world.random))
        let ben = try world.connect()
        let ada = try world.connect()
        let put = RelayAction.put(envelope: world.envelope())
        #expect(try world.ask(put, as: writer, by: ada) == .refused(.noMailbox))
        _ = try world.ask(.open(writers: [writer.writer], ticket: nil), as: owner, by: ben)
        let counter = try #require(try world.ask(put, as: writer, by: ada).counter)
        #expect(try world.ask(put, as: stranger, by: ada) == .refused(.forbidden))
        let get = RelayAction.get(RelayRange(after: 0))
        #expect(try world.ask(get, as: writer, by: ada) == .refused(.forbidden))
        #expect(try world.ask(.subscribe, as: writer, by: ada) == .refused(.forbidden))
        let acknowledge = RelayAction.acknowledge(upTo: counter)
        #expect(try world.ask(acknowledge, as: writer, by: ada) == .refused(.forbidden))
        #expect(try world.ask(get, as: owner, by: ben).entries?.count == 1)
        #expect(try world.ask(acknowledge, as: owner, by: ben) == .done)
        #expect(try world.ask(get, as: owner, by: ben).entries == [])
    }

    @Test(
        "Attack 70: whoever has the key of a drop makes no inbox of it, and deletes nothing for others"
    )
    func drop() throws {
        var world = RelayWorld()
        let drop = world.access()
        let ada = try world.connect()
        _ = try world.ask(Self.open, as: drop, by: ada)
        _ = try world.ask(.put(envelope: world.envelope()), as: drop, by: ada)
        #expect(
            try world.ask(.acknowledge(upTo: .max), as: drop, by: ada) == .refused(.forbidden))
        for writers in [[], [world.inbox().writer]] {
            #expect(
                try world.ask(.open(writers: writers, ticket: nil), as: drop, by: ada)
                    == .refused(.forbidden))
        }
        // Before anybody opened it, too: the kind is part of the name, and nobody can be first.
        let fresh = world.access()
        #expect(
            try world.ask(.open(writers: [], ticket: nil), as: fresh, by: ada)
                == .refused(.forbidden))
        // As an inbox the same key has another name.
        let other = MailboxAccess(inbox: drop.key)
        #expect(other.mailbox != drop.mailbox)
        _ = try world.ask(.open(writers: [], ticket: nil), as: other, by: ada)
        #expect(try world.ask(.acknowledge(upTo: .max), as: other, by: ada) == .done)
        let page = try world.ask(.get(RelayRange(after: 0)), as: drop, by: ada)
        #expect(page.entries?.count == 1)
    }

    @Test("takes several writers' keys for an inbox, and none that its owner retired")
    func writers() throws {
        var world = RelayWorld()
        let owner = world.inbox()
        let keys = (0..<Limits.inboxWriterCountMax).map { _ in
            MailboxAccess(owner.mailbox, key: .generate(using: &world.random))
        }
        let ada = try world.connect()
        _ = try world.ask(.open(writers: keys.map(\.writer), ticket: nil), as: owner, by: ada)
        for key in keys {
            let put = RelayAction.put(envelope: world.envelope())
            #expect(try world.ask(put, as: key, by: ada).counter != nil)
        }
        _ = try world.ask(.open(writers: [keys[7].writer], ticket: nil), as: owner, by: ada)
        for (place, key) in keys.enumerated() {
            let answer = try world.ask(.put(envelope: world.envelope()), as: key, by: ada)
            #expect((answer == .refused(.forbidden)) == (place < 7))
        }
    }

    @Test("asks for a ticket where its operator says so, and takes each once")
    func tickets() throws {
        var policy = RelayPolicy()
        policy.needsTicket = true
        var world = RelayWorld(policy)
        let (first, second) = (world.access(), world.access())
        let ada = try world.connect()
        let ticket = world.random.bytes(32)
        #expect(world.clients[ada]?.welcome?.needsTicket == true)
        #expect(try world.ask(Self.open, as: first, by: ada) == .refused(.ticketNeeded))
        let paid = RelayAction.open(writers: nil, ticket: ticket)
        #expect(try world.ask(paid, as: first, by: ada) == .refused(.badTicket))
        world.store.issue(digest(.relayTicket, ticket), byteCountMax: 1 << 20)
        let opened = RelayAnswer.opened(
            expires: world.now + policy.mailboxLifetime, byteCountMax: 1 << 20)
        #expect(try world.ask(paid, as: first, by: ada) == opened)
        #expect(try world.ask(paid, as: first, by: ada) == opened, "the answer may be lost")
        #expect(try world.ask(paid, as: second, by: ada) == .refused(.badTicket))
    }

    @Test("forgets envelopes after thirty days, and takes none once a mailbox's time is over")
    func time() throws {
        var world = RelayWorld()
        let drop = world.access()
        let ada = try world.connect()
        _ = try world.ask(Self.open, as: drop, by: ada)
        _ = try world.ask(.put(envelope: world.envelope()), as: drop, by: ada)
        world.now += 29 * RelayPolicy.day
        try world.tick()
        let ben = try world.connect()
        _ = try world.ask(.put(envelope: world.envelope()), as: drop, by: ben)
        let get = RelayAction.get(RelayRange(after: 0))
        #expect(try world.ask(get, as: drop, by: ben).entries?.count == 2)
        world.now += RelayPolicy.day + 1
        let cleo = try world.connect()
        #expect(
            try world.ask(.put(envelope: world.envelope()), as: drop, by: cleo)
                == .refused(.noMailbox))
        try world.tick()
        #expect(try world.ask(get, as: drop, by: cleo).entries?.count == 1)
        world.now += 30 * RelayPolicy.day
        try world.tick()
        #expect(world.store.contents.isEmpty)
    }

    @Test("tells of a new day those who are there")
    func day() throws {
        var world = RelayWorld()
        let ada = try world.connect()
        let today = try #require(world.clients[ada]?.welcome?.day)
        _ = world.told(ada)
        world.now = today.next.value * RelayPolicy.day
        try world.say(.ping(ada))
        try world.tick()
        #expect(world.told(ada) == [.day(today.next)])
    }

    @Test(
        "tells by its starts that it was set back, however much it took since, and that all is gone"
    )
    func setBack() throws {
        var world = RelayWorld()
        let drop = world.access()
        let ada = try world.connect()
        _ = try world.ask(Self.open, as: drop, by: ada)
        let old = world.store
        let told = try #require(world.clients[ada]?.welcome?.starts.first?.id)
        let stored = try world.ask(.put(envelope: world.envelope()), as: drop, by: ada)
        let counter = try #require(stored.counter)
        func hasLost(_ client: RelayConnection) throws -> Bool {
            try #require(world.clients[client]?.welcome).hasLost(counter, toldIn: told)
        }
        world.store.restart(43)
        #expect(try !hasLost(world.connect()), "it kept what it had")
        world.store = old
        #expect(try hasLost(world.connect()), "even with its memory")
        world.store.restart(44)
        let ben = try world.connect()
        #expect(try hasLost(ben))
        world.now += 1
        let again = try world.ask(.put(envelope: world.envelope()), as: drop, by: ben)
        #expect(try #require(again.counter) > counter, "no cursor hides what comes now")
        #expect(try hasLost(world.connect()), "though its newest counter is a greater one by now")
        world.store = MemoryRelayStore(start: 45)
        #expect(try hasLost(world.connect()), "another store")
    }

    @Test("is taken for another one by who was not there for more starts than it tells")
    func manyStarts() throws {
        var world = RelayWorld()
        let ada = try world.connect()
        let told = try #require(world.clients[ada]?.welcome?.starts.first?.id)
        for count in 1...UInt64(RelayWelcome.startCountMax) {
            world.store.restart(100 + count)
            let client = try world.connect()
            let welcome = try #require(world.clients[client]?.welcome)
            #expect(welcome.starts.count == min(Int(count) + 1, RelayWelcome.startCountMax))
            #expect(welcome.hasLost(0, toldIn: told) == (count == RelayWelcome.startCountMax))
        }
    }
}
