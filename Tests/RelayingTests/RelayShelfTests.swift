import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

@Suite("Shelves at a relay")
struct RelayShelfTests {
    private var world = RelayWorld()
    private let owner, reader: MailboxAccess
    private let ann, ben: RelayConnection

    private static let get = RelayAction.get(RelayRange(after: 0))

    init() throws { try self.init(RelayPolicy()) }

    private init(_ policy: RelayPolicy) throws {
        world = RelayWorld(policy)
        owner = MailboxAccess(shelf: .generate(using: &world.random))
        reader = MailboxAccess(owner.mailbox, key: .generate(using: &world.random))
        ann = try world.connect(from: [1])
        ben = try world.connect(from: [2])
    }

    private mutating func open() throws -> RelayAnswer {
        try world.ask(.open(writers: [reader.writer], ticket: nil), as: owner, by: ann)
    }

    @Test("are written by one device, and read by who has the other key")
    func use() throws {
        var test = self
        #expect(try test.world.ask(Self.get, as: test.reader, by: test.ben) == .refused(.noMailbox))
        let opened = try test.open()
        guard case .opened(_, let byteCountMax) = opened else {
            Issue.record("\(opened)")
            return
        }
        #expect(byteCountMax == 256 << 20)
        let envelopes = [test.world.envelope(64 << 10), test.world.envelope()]
        for envelope in envelopes {
            _ = try test.world.ask(.put(envelope: envelope), as: test.owner, by: test.ann)
        }
        let page = try test.world.ask(Self.get, as: test.reader, by: test.ben)
        #expect(page.entries?.map(\.envelope) == envelopes)
        let last = try #require(page.entries?.last?.counter)
        #expect(try test.world.ask(.acknowledge(upTo: last), as: test.owner, by: test.ann) == .done)
        #expect(try test.world.ask(Self.get, as: test.reader, by: test.ben).entries == [])
    }

    @Test("Attack 214: who reads a shelf writes nothing onto it, and deletes nothing")
    func readerWrites() throws {
        var test = self
        _ = try test.open()
        _ = try test.world.ask(.put(envelope: test.world.envelope()), as: test.owner, by: test.ann)
        let actions: [RelayAction] = [
            .put(envelope: test.world.envelope()), .acknowledge(upTo: .max), .subscribe, .pipe,
            .volatile(lifetime: 1, envelope: test.world.envelope()),
            .open(writers: [test.reader.writer], ticket: nil), .open(writers: nil, ticket: nil),
        ]
        for action in actions {
            #expect(
                try test.world.ask(action, as: test.reader, by: test.ben) == .refused(.forbidden))
        }
        #expect(try test.world.ask(Self.get, as: test.reader, by: test.ben).entries?.count == 1)
        // Nor does its owner wait there.
        for action in [actions[3], actions[4]] {
            #expect(
                try test.world.ask(action, as: test.owner, by: test.ann) == .refused(.forbidden))
        }
    }

    @Test("Attack 215: who has no key that the owner named reads nothing, now or later")
    func stranger() throws {
        var test = self
        let stranger = MailboxAccess(test.owner.mailbox, key: .generate(using: &test.world.random))
        #expect(try test.world.ask(Self.get, as: stranger, by: test.ben) == .refused(.noMailbox))
        #expect(try test.world.ask(.subscribe, as: stranger, by: test.ben) == .refused(.forbidden))
        _ = try test.open()
        _ = try test.world.ask(.put(envelope: test.world.envelope()), as: test.owner, by: test.ann)
        #expect(try test.world.ask(Self.get, as: stranger, by: test.ben) == .refused(.forbidden))
        // As a drop or an inbox the same key has other names.
        let others = [MailboxAccess(drop: test.owner.key), MailboxAccess(inbox: test.owner.key)]
        #expect(Set(([test.owner] + others).map(\.mailbox)).count == 3)
        #expect(
            !test.world.told(test.ben).contains { if case .arrived = $0 { true } else { false } })
    }

    @Test("Attack 217: files leave a quarter of what their address may have stored")
    func storing() throws {
        var policy = RelayPolicy()
        policy.storing = RelayPolicy.Rate(burst: 1 << 20, perSecond: 1)
        var test = try RelayShelfTests(policy)
        _ = try test.open()
        var count = 0
        while count < 100 {
            let put = RelayAction.put(envelope: test.world.envelope(64 << 10))
            guard try test.world.ask(put, as: test.owner, by: test.ann).counter != nil else {
                break
            }
            count += 1
        }
        #expect(count == 12)
        let inbox = test.world.inbox()
        _ = try test.world.ask(.open(writers: [], ticket: nil), as: inbox, by: test.ann)
        for _ in 0..<4 {
            let put = RelayAction.put(envelope: test.world.envelope(64 << 10))
            #expect(try test.world.ask(put, as: inbox, by: test.ann).counter != nil)
        }
    }

    @Test("Attack 217: neither do files take a connection's last requests from what people say")
    func requests() throws {
        var policy = RelayPolicy()
        policy.requests = RelayPolicy.Rate(burst: 100, perSecond: 1)
        var test = try RelayShelfTests(policy)
        _ = try test.open()
        var count = 0
        while try test.world.ask(Self.get, as: test.reader, by: test.ben).entries != nil {
            count += 1
        }
        #expect(count == 75)
        let drop = test.world.access()
        for _ in 0..<25 {
            #expect(
                try test.world.ask(.subscribe, as: drop, by: test.ben) == .subscribed(newest: 0))
        }
    }
}
