import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleySignalling
import ParleySimulation
import ParleyWire
import Testing

@Suite("A relay that does not take what it is given")
struct BusyRelayTests {
    @Test("is called again when it said that it may be back, and not before")
    func goodbye() throws {
        let pair = try Pair(seed: 73)
        pair.world.cut(pair.ann, pair.ben)
        pair.world.run(for: 60_000)
        var calls: [UInt64] = []
        pair.world.onStep = { step in
            for case .callRelay in step.effects where step.node === pair.ann {
                calls.append(pair.world.now)
            }
        }
        let start = pair.world.now
        pair.world.sayGoodbye(of: pair.relay, retryAfter: 40_000)
        pair.world.run(for: 39_000)
        #expect(calls.isEmpty)
        pair.world.run(for: 20_000)
        #expect(calls.count == 1 && calls.allSatisfy { $0 >= start + 40_000 })
        try pair.say("hello again", by: pair.ann)
        pair.world.run(for: 10_000)
        #expect(try pair.ben.texts(in: pair.space) == ["hello again"])
    }

    /// Everything else that was on its way to that relay waited for an hour.
    @Test("and does not pass on a call to whoever blocked the caller, takes all else at once")
    func forbiddenSignal() throws {
        let pair = try Pair(seed: 74)
        let (world, ann) = (pair.world, pair.ann)
        let cara = try world.addNode("cara")
        try world.use(pair.relay, by: cara)
        try world.introduce(ann, cara)
        world.run(for: 30_000)
        let other = try #require(
            try ann.store.spaces().last { $0.kind == .direct && $0.id != pair.space }
        ).id
        world.keepToRelays()
        world.run(for: 60_000)
        _ = try world.perform(.answerContact(ann.identity.person, .block), on: pair.ben)
        world.run(for: 10_000)
        var refused = 0
        world.onStep = { step in
            guard step.node === ann,
                case .relay(_, .answered(_, .refused(let refusal))) = step.input
            else { return }
            if refusal == .forbidden || refusal == .noMailbox { refused += 1 }
        }
        _ = try world.perform(.call(pair.space, .microphone), on: ann)
        world.run(for: 10_000)
        #expect(refused > 0)
        try world.type("hello", on: ann, in: other)
        world.run(for: 10_000)
        #expect(try cara.texts(in: other) == ["hello"])
    }

    @Test("is not asked again and again for mailboxes that it makes for tickets alone")
    func tickets() throws {
        let world = World(seed: 71)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let relay = world.addRelay("relay")
        var policy = RelayPolicy()
        policy.needsTicket = true
        relay.policy = policy
        world.stop(relay)
        world.start(relay)
        for node in [ann, ben] { try world.use(relay, by: node) }
        try world.introduce(ann, ben)
        world.run(for: 30_000)
        world.cut(ann, ben)
        let direct = try ann.store.spaces().first { $0.kind == .direct }
        let space = try #require(direct).id
        var requests = 0
        world.onStep = { step in
            for case .askRelay in step.effects { requests += 1 }
        }
        try world.type("hello", on: ann, in: space)
        world.run(for: 600_000)
        #expect(requests < 100, "\(requests) requests in ten minutes")
        #expect(try ann.messages(in: space).compactMap(\.state).last == .saved)
    }

    /// With three requests at once and one a second, most of what a node asks first is refused: that
    /// its inbox be opened, that it be told of what comes. On a connection that stood, nothing of it
    /// was asked again, so nothing was pushed until the next connection.
    @Test("is asked again, later each time, to open mailboxes and to tell what comes")
    func patience() throws {
        let pair = try Pair(seed: 72) { relay in
            relay.policy.requests = RelayPolicy.Rate(burst: 3, perSecond: 1)
        }
        pair.world.cut(pair.ann, pair.ben)
        var asked: [MailboxID: Int] = [:]
        var isOpened: [MailboxID: Int] = [:]
        var count = 0
        pair.world.onStep = { step in
            for case .askRelay(_, let request) in step.effects where step.node === pair.ben {
                switch request.action {
                case .subscribe: asked[request.mailbox, default: 0] += 1
                case .open: isOpened[request.mailbox, default: 0] += 1
                default: break
                }
                count += 1
            }
        }
        pair.world.stop(pair.relay)
        pair.world.run(for: 5_000)
        pair.world.start(pair.relay)
        pair.world.run(for: 1_800_000)
        #expect(asked.values.contains { $0 > 1 })
        #expect(isOpened.values.contains { $0 > 1 })
        #expect(count < 600, "\(count) requests in half an hour")
        try pair.say("hello", by: pair.ann)
        pair.world.run(for: 10_000)
        #expect(try pair.ben.texts(in: pair.space) == ["hello"])
    }

    /// Of two envelopes of one log the first had too many bytes for what was left of the rate, and
    /// the second had not: it was taken, and the first was thought to be there, too.
    @Test("that refuses an envelope and takes the next one is given both again")
    func order() throws {
        let pair = try Pair(seed: 73) { relay in
            relay.policy.bytes = RelayPolicy.Rate(burst: 96 << 10, perSecond: 1_000)
        }
        pair.world.cut(pair.ann, pair.ben)
        pair.world.stopProcess(of: pair.ben)
        pair.world.run(for: 120_000)
        let text = String(repeating: "x", count: 12 << 10)
        for count in 0..<2 { try pair.say("\(count)\(text)", by: pair.ann) }
        pair.world.run(for: 1_000)
        for count in 2..<6 { try pair.say("\(count)\(text)", by: pair.ann) }
        pair.world.run(for: 1_200_000)
        #expect(try pair.states(of: pair.ann).allSatisfy { $0 == .relayed })
        pair.world.stopProcess(of: pair.ann)
        pair.world.start(pair.ben)
        pair.world.run(for: 600_000)
        #expect(try pair.ben.texts(in: pair.space).count == 6)
    }
}
