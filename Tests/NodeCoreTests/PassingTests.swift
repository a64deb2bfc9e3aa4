import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleySignalling
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// A node beside its world: what it is asked here, the world hears nothing of.
private struct Aside {
    var core: NodeCore
    let store: any SimulatedStore
    var random: any RandomNumberGenerator
    var now: Instant

    init(_ node: SimulatedNode, in world: World, seed: UInt64) throws {
        core = node.core
        store = try node.store.copy()
        random = SeededRandom(seed: seed, purpose: "aside")
        now = Instant(monotonic: world.now, wall: World.epoch + world.now)
    }

    /// What the node asks of relays where it passes a signal on.
    mutating func pass(_ signal: [UInt8], to node: SimulatedNode) throws -> [RelayAction] {
        try pass(signal, to: node.identity, in: store)
    }

    private mutating func pass(
        _ signal: [UInt8], to other: NodeIdentity, in store: some Store
    ) throws -> [RelayAction] {
        let drawn = SeededRandom(seed: random.next(), purpose: "pass")
        var turn = StepTurn(at: now, in: store, using: drawn)
        try core.pass(signal, to: other.device, of: other.person, &turn)
        return Self.asked(turn.effects)
    }

    mutating func hear(_ news: RelayNews, of relay: SimulatedRelay) throws -> [RelayAction] {
        var drawn = SeededRandom(seed: random.next(), purpose: "hear")
        try store.begin(.full)
        let effects = try core.step(.relay(relay.key, news), at: now, in: store, using: &drawn)
        try store.commit()
        return Self.asked(effects)
    }

    static func asked(_ effects: [Effect]) -> [RelayAction] {
        effects.compactMap {
            if case .askRelay(_, let request) = $0 { request.action } else { nil }
        }
    }
}

extension [RelayAction] {
    fileprivate var passed: [[UInt8]] {
        compactMap { if case .volatile(_, let envelope) = $0 { envelope } else { nil } }
    }
}

@Suite("Signals through relays")
struct PassingTests {
    private static let signal = Array("of use now".utf8)

    private static func apart(seed: UInt64) throws -> (Pair, ann: Aside, ben: Aside, MailboxID) {
        let pair = try Pair(seed: seed)
        pair.world.cut(pair.ann, pair.ben)
        pair.world.run(for: 30_000)
        let inbox = try #require(pair.ben.core.courier.lines[pair.relay.key]?.inbox)
        return (
            pair, try Aside(pair.ann, in: pair.world, seed: 1),
            try Aside(pair.ben, in: pair.world, seed: 2), inbox
        )
    }

    @Test("a signal comes to the device that it is for, and into nobody's store")
    func comes() throws {
        var (pair, ann, ben, inbox) = try Self.apart(seed: 51)
        let before = (ann.store.changeCount, ben.store.changeCount)
        let envelope = try #require(try ann.pass(Self.signal, to: pair.ben).passed.first)
        #expect(envelope.count == 512)
        #expect(!envelope.contains(Self.signal))
        let took = ben.core.passedCount
        _ = try ben.hear(.passed(inbox, envelope), of: pair.relay)
        #expect(ben.core.passedCount == took + 1)
        #expect(ann.store.changeCount == before.0 && ben.store.changeCount == before.1)
        #expect(!pair.relay.contents.contains(envelope))
    }

    @Test("who is reached through a relay alone is rung, and sees who types; no disk changes by it")
    func rings() throws {
        let pair = try Pair(seed: 56)
        let (world, ann, ben) = (pair.world, pair.ann, pair.ben)
        world.keepToRelays()
        world.run(for: 120_000)
        #expect(ann.core.linkedPeers.isEmpty)
        var rings = 0
        world.onStep = { step in
            for case .call(let output) in step.effects where step.node === ben {
                if case .ring = output.order { rings += 1 }
            }
        }
        let before = (ann.store.changeCount, ben.store.changeCount)
        let kept = pair.relay.contents
        _ = try world.perform(.types(pair.space, true), on: ann)
        world.run(for: 1_000)
        #expect(ben.core.desk.typing.persons(in: pair.space) == [ann.identity.person])
        let isKept = pair.relay.contents != kept
        #expect(!isKept)
        #expect(ben.store.changeCount == before.1)
        _ = try world.perform(.call(pair.space, .microphone), on: ann)
        world.run(for: 1_000)
        #expect(rings == 1)
    }

    @Test("a relay that brings it again, later, or as a letter that was kept, gains nothing")
    func replayed() throws {
        var (pair, ann, ben, inbox) = try Self.apart(seed: 52)
        let envelopes = try (0..<2).map { _ in
            try #require(try ann.pass(Self.signal, to: pair.ben).passed.first)
        }
        let took = ben.core.passedCount
        for _ in 0..<3 { _ = try ben.hear(.passed(inbox, envelopes[0]), of: pair.relay) }
        #expect(ben.core.passedCount == took + 1)
        let entry = RelayEntry(counter: .max / 2, envelope: envelopes[1])
        _ = try ben.hear(.arrived(inbox, [entry]), of: pair.relay)
        #expect(ben.core.passedCount == took + 1)
        ben.now.wall += Passing.lifetime + NodeCore.passingSkewMax
        _ = try ben.hear(.passed(inbox, envelopes[1]), of: pair.relay)
        #expect(ben.core.passedCount == took + 1)
    }

    @Test("who is no device of a person that this one talks to is not heard")
    func stranger() throws {
        var (pair, _, ben, inbox) = try Self.apart(seed: 53)
        let part = try CardReader.parts(of: pair.ben.identity.person, ben.store).first
        let prekey = try #require(part?.prekeys.last)
        var random = SeededRandom(seed: 3, purpose: "stranger")
        let took = ben.core.passedCount
        // A key of nobody, in the name of somebody who is known, and in one's own.
        for person in [pair.ann.identity.person, pair.ben.identity.person] {
            let content = PassingContent(
                sent: WallTime(clamping: ben.now.wall), person: person, signal: [1])
            let letter = Letter.seal(
                content.bytes, as: .passing, to: prekey.key, inbox: inbox,
                by: .generate(using: &random), using: &random)
            _ = try ben.hear(.passed(inbox, try #require(letter)), of: pair.relay)
        }
        #expect(ben.core.passedCount == took)
    }

    @Test("what a relay was not there for waits ten seconds, the newest 32")
    func waits() throws {
        var (pair, ann, _, _) = try Self.apart(seed: 54)
        _ = try ann.hear(.closed, of: pair.relay)
        for count in 0..<40 {
            #expect(try ann.pass([UInt8(count)], to: pair.ben).isEmpty)
        }
        #expect(ann.core.courier.passing.waitingCount(for: pair.relay.key) == 32)
        let welcome = RelayNews.opened(
            RelayWelcome(
                day: 20_454, newest: .max, needsTicket: false,
                starts: [RelayStart(id: 1, newest: 0)]))
        var later = ann
        ann.now.monotonic += 9_000
        #expect(try ann.hear(welcome, of: pair.relay).passed.count == 32)
        later.now.monotonic += 10_000
        #expect(try later.hear(welcome, of: pair.relay).passed.isEmpty)
    }

    @Test("a flood is looked at as far as is allowed, and sent no further than the relay takes")
    func flood() throws {
        var (pair, ann, ben, inbox) = try Self.apart(seed: 55)
        let sent = try (0..<80).flatMap { _ in
            try ann.pass(Self.signal, to: pair.ben).passed
        }
        #expect(sent.count == Passing.waitingCountMax)
        let other = try Aside(pair.ann, in: pair.world, seed: 9)
        var all: [[UInt8]] = []
        for _ in 0..<3 {
            var fresh = other
            all += try (0..<32).flatMap { _ in try fresh.pass(Self.signal, to: pair.ben).passed }
        }
        let took = ben.core.passedCount
        for envelope in Set(all).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            _ = try ben.hear(.passed(inbox, envelope), of: pair.relay)
        }
        #expect(ben.core.passedCount <= took + 64)
    }
}

extension [UInt8] {
    fileprivate func contains(_ piece: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: piece) }
    }
}
