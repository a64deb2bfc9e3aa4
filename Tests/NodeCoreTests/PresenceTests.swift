import ParleyLedger
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

@Suite("Typing and presence between nodes")
struct PresenceTests {
    @Test("who types is shown for a while, and not to oneself")
    func typing() throws {
        let home = try Families(seed: 11)
        let (world, ann) = (home.world, home.ann)
        let person = home.bens[0].identity.person
        _ = try world.perform(.types(home.space, true), on: home.bens[0])
        world.run(for: 1_000)
        #expect(ann.core.typing.persons(in: home.space) == [person])
        #expect(home.bens[1].core.typing.persons(in: home.space).isEmpty)
        world.run(for: 6_000)
        #expect(ann.core.typing.persons(in: home.space).isEmpty)
        _ = try world.perform(.types(home.space, true), on: home.bens[0])
        world.run(for: 500)
        _ = try world.perform(.types(home.space, false), on: home.bens[0])
        world.run(for: 500)
        #expect(ann.core.typing.persons(in: home.space).isEmpty)
    }

    /// Once it was shown for some seconds beside what they had written.
    @Test("a message ends the typing of its author, and of nobody else")
    func written() throws {
        let home = try Families(seed: 13)
        let (world, ann) = (home.world, home.ann)
        let person = home.bens[0].identity.person
        _ = try world.perform(.types(home.space, true), on: home.bens[0])
        world.run(for: 500)
        try ann.type("of ann", in: home.space)
        world.run(for: 500)
        #expect(ann.core.typing.persons(in: home.space) == [person])
        try home.bens[0].type("of ben", in: home.space)
        world.run(for: 500)
        #expect(ann.core.typing.persons(in: home.space).isEmpty)
    }

    @Test("who is there is told on linking, at each change and again, and ends with the link")
    func presence() throws {
        let telephony = Telephony(seed: 12)
        let world = telephony.world
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        _ = try world.introduce(ann, ben)
        world.run(for: 10_000)
        let person = ben.identity.person
        #expect(ann.core.presences[person] == nil)
        _ = try world.perform(.setPresence(.online), on: ben)
        world.run(for: 1_000)
        #expect(ann.core.presences[person]?.presence == .online)
        let seen = try #require(ann.core.presences[person]?.lastSeen)
        #expect(seen % 60_000 == 0 && seen > World.epoch - 60_000)
        // It holds for ten minutes, and is said again in five.
        world.run(for: 1_500_000)
        #expect(ann.core.presences[person]?.presence == .online)
        world.cut(ann, ben)
        world.run(for: 120_000)
        #expect(ann.core.presences[person]?.presence == .offline)
        world.heal(ann, ben)
        world.run(for: 120_000)
        #expect(ann.core.presences[person]?.presence == .online)
        _ = try world.perform(.setPresence(.away), on: ben)
        world.run(for: 1_000)
        #expect(ann.core.presences[person]?.presence == .away)
        _ = try world.perform(.setPresence(.offline), on: ben)
        world.run(for: 1_000)
        #expect(ann.core.presences[person]?.presence == .offline)
    }

    @Test("a person decides who is told what")
    func privacy() throws {
        let telephony = Telephony(seed: 13)
        let world = telephony.world
        let (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        _ = try world.introduce(ann, ben)
        _ = try world.introduce(cara, ben)
        world.run(for: 10_000)
        let person = ben.identity.person
        _ = try world.perform(.setPrivacy(.nowOnly, for: nil), on: ben)
        _ = try world.perform(.setPrivacy(.nothing, for: cara.identity.person), on: ben)
        _ = try world.perform(.setPresence(.online), on: ben)
        world.run(for: 1_000)
        #expect(ann.core.presences[person] == .init(presence: .online, lastSeen: nil))
        #expect(cara.core.presences[person]?.presence != .online)
        // What was told before is taken back.
        _ = try world.perform(.setPrivacy(.nothing, for: ann.identity.person), on: ben)
        world.run(for: 1_000)
        #expect(ann.core.presences[person] == .init(presence: .offline, lastSeen: nil))
        let own = try #require(ben.core.ownSpace)
        let told = try ben.observing {
            try NodeCore.privacy(
                for: ann.identity.person, ownSpace: own.number, in: ben.store)
        }
        #expect(told == .nothing)
    }

    @Test("nothing of what may be forgotten is in any store")
    func volatile() throws {
        let home = try Families(seed: 14)
        let (telephony, world) = (home.telephony, home.world)
        _ = try world.perform(.setPresence(.online), on: home.ann)
        world.run(for: 1_000)
        let before = home.all.map(\.store.changeCount)
        _ = try world.perform(.types(home.space, true), on: home.ann)
        _ = try world.perform(.setPresence(.away), on: home.ann)
        world.run(for: 10_000)
        #expect(home.all.map(\.store.changeCount) == before)
        let call = try telephony.call(home.ann, in: home.space)
        world.run(for: 1_000)
        try telephony.act(.answer([]), call, home.bens[0])
        world.run(for: 1_000)
        let offer = "an offer that nobody keeps"
        let device = home.bens[0].identity.device
        for (node, other) in [(home.ann, device), (home.bens[0], home.ann.identity.device)] {
            try telephony.act(.news(other, .offer(offer)), call, node)
            try telephony.act(.news(other, .answer(offer)), call, node)
        }
        world.run(for: 1_000)
        let text = Array(offer.utf8)
        #expect(telephony.signals.contains { Self.holds(text, "\($0.bytes)") })
        for node in home.all {
            let store = try #require(node.store as? MemoryStore)
            let contents = "\(store.contents)"
            #expect(!Self.holds(text, contents), "\(node.name)")
            // Of all that went to and fro nothing stands there, as a whole or from its stamp on.
            for signal in telephony.signals {
                #expect(!Self.holds(Array(signal.bytes.suffix(40)), contents), "\(node.name)")
            }
        }
    }

    /// Whether these bytes are in something that was printed.
    private static func holds(_ bytes: [UInt8], _ printed: String) -> Bool {
        printed.contains(bytes.map { "\($0)" }.joined(separator: ", "))
    }
}

/// Ann and Ben, who reach each other through a relay alone, and how often each has it pass
/// something on.
private final class Afar {
    let pair: Pair
    private(set) var saidCounts: [String: Int] = [:]

    var world: World { pair.world }
    var ann: SimulatedNode { pair.ann }
    var ben: SimulatedNode { pair.ben }

    init(seed: UInt64) throws {
        pair = try Pair(seed: seed)
        world.keepToRelays()
        world.run(for: 120_000)
        world.onStep = { [unowned self] step in
            for case .askRelay(_, let request) in step.effects {
                if case .volatile = request.action { saidCounts[step.node.name, default: 0] += 1 }
            }
        }
    }

    func saidCount(of node: SimulatedNode) -> Int { saidCounts[node.name, default: 0] }

    func show(_ presence: Presence, of node: SimulatedNode) throws {
        _ = try world.perform(.setPresence(presence), on: node)
        world.run(for: 2_000)
    }

    /// How one appears to the other.
    func seen(_ node: SimulatedNode, by other: SimulatedNode) -> PresenceBook.Entry? {
        other.core.presences[node.identity.person]
    }
}

@Suite("Presence through relays")
struct RelayedPresenceTests {
    @Test("who is reached through a relay alone is seen there as long as both are; no disk changes")
    func seen() throws {
        let afar = try Afar(seed: 61)
        let (ann, ben) = (afar.ann, afar.ben)
        #expect(ann.core.linkedPeers.isEmpty)
        let before = (ann.store.changeCount, ben.store.changeCount)
        let kept = afar.pair.relay.contents
        try afar.show(.away, of: ben)
        try afar.show(.online, of: ann)
        #expect(afar.seen(ben, by: ann)?.presence == .away)
        try afar.show(.offline, of: ben)
        #expect(afar.seen(ben, by: ann)?.presence == .offline)
        #expect(ann.store.changeCount == before.0 && ben.store.changeCount == before.1)
        let isKept = afar.pair.relay.contents != kept
        #expect(!isKept)
        try afar.show(.online, of: ben)
        for _ in 0..<4 {
            #expect(afar.seen(ben, by: ann)?.presence == .online)
            #expect(afar.seen(ann, by: ben)?.presence == .online)
            afar.world.run(for: 400_000)
        }
        try afar.show(.offline, of: ben)
        #expect(afar.seen(ben, by: ann)?.presence == .offline)
        #expect(afar.seen(ben, by: ann)?.lastSeen != nil)
    }

    @Test("who comes is told who is here, and who is not there is not told again and again")
    func economy() throws {
        let afar = try Afar(seed: 62)
        let (ann, ben) = (afar.ann, afar.ben)
        try afar.show(.online, of: ann)
        #expect(afar.saidCount(of: ann) == 1)
        afar.world.run(for: 3_600_000)
        #expect(afar.saidCount(of: ann) == 1)
        #expect(afar.seen(ann, by: ben)?.presence == .offline)
        try afar.show(.online, of: ben)
        #expect(afar.seen(ann, by: ben)?.presence == .online)
        #expect(afar.saidCount(of: ann) == 2)
        // Ben answered as well, for Ann might not have heard of him.
        #expect(afar.saidCount(of: ben) <= 2)
        let before = afar.saidCount(of: ann)
        afar.world.run(for: 3_600_000)
        #expect(afar.seen(ann, by: ben)?.presence == .online)
        #expect(afar.saidCount(of: ann) - before <= 13)
        // Ben is gone without a word: he is told for as long as that is not known.
        afar.world.crash(ben)
        afar.world.run(for: 1_200_000)
        let last = afar.saidCount(of: ann)
        afar.world.run(for: 3_600_000)
        #expect(afar.saidCount(of: ann) == last)
        #expect(afar.seen(ben, by: ann)?.presence == .offline)
    }

    @Test("a node that goes at once after it said something else still says so")
    func goes() throws {
        let afar = try Afar(seed: 67)
        let (ann, ben) = (afar.ann, afar.ben)
        try afar.show(.online, of: ann)
        for presence in [Presence.online, .away, .offline] {
            _ = try afar.world.perform(.setPresence(presence), on: ben)
        }
        // Sooner than the next of many are told.
        afar.world.run(for: NodeCore.presencePause / 2)
        #expect(afar.seen(ben, by: ann)?.presence == .offline)
        #expect(afar.seen(ben, by: ann)?.lastSeen != nil)
    }

    @Test("whose connection to the relay was lost is seen again, and sees the others")
    func reconnected() throws {
        let afar = try Afar(seed: 63)
        let (ann, ben) = (afar.ann, afar.ben)
        afar.world.stop(afar.pair.relay)
        afar.world.run(for: 10_000)
        try afar.show(.online, of: ann)
        try afar.show(.online, of: ben)
        #expect(afar.seen(ann, by: ben) == nil)
        afar.world.start(afar.pair.relay)
        afar.world.run(for: 400_000)
        #expect(afar.seen(ann, by: ben)?.presence == .online)
        #expect(afar.seen(ben, by: ann)?.presence == .online)
    }

    @Test("who is told nothing hears nothing at all, and who may know less hears it at once")
    func privacy() throws {
        let afar = try Afar(seed: 64)
        let (ann, ben) = (afar.ann, afar.ben)
        let person = ann.identity.person
        _ = try afar.world.perform(.setPrivacy(.nothing, for: person), on: ben)
        for presence in [Presence.online, .away, .offline, .online] {
            try afar.show(presence, of: ben)
        }
        afar.world.run(for: 1_200_000)
        #expect(afar.saidCount(of: ben) == 0)
        _ = try afar.world.perform(.setPrivacy(.nowOnly, for: person), on: ben)
        afar.world.run(for: 2_000)
        #expect(afar.seen(ben, by: ann) == .init(presence: .online, lastSeen: nil))
        _ = try afar.world.perform(.setPrivacy(.nothing, for: nil), on: ben)
        afar.world.run(for: 2_000)
        #expect(afar.seen(ben, by: ann)?.presence == .online)
        _ = try afar.world.perform(.setPrivacy(.nothing, for: person), on: ben)
        afar.world.run(for: 2_000)
        #expect(afar.seen(ben, by: ann) == .init(presence: .offline, lastSeen: nil))
    }

    @Test("who is blocked is told nothing and not heard")
    func blocked() throws {
        let afar = try Afar(seed: 65)
        let (ann, ben) = (afar.ann, afar.ben)
        _ = try afar.world.perform(.answerContact(ben.identity.person, .block), on: ann)
        afar.world.run(for: 10_000)
        try afar.show(.online, of: ben)
        try afar.show(.online, of: ann)
        afar.world.run(for: 600_000)
        #expect(afar.seen(ben, by: ann) == nil)
        #expect(afar.seen(ann, by: ben) == nil)
        #expect(afar.saidCount(of: ann) == 0)
    }

    @Test("many are told in turns, those first who are there")
    func turns() throws {
        let world = World(seed: 66)
        let relay = world.addRelay("relay")
        let ann = try world.addNode("ann")
        let others = try (0..<20).map { try world.addNode("friend \($0)") }
        for node in [ann] + others { try world.use(relay, by: node) }
        for other in others { try world.introduce(ann, other) }
        world.run(for: 60_000)
        world.keepToRelays()
        world.run(for: 120_000)
        let last = try #require(others.max { $0.identity.device < $1.identity.device })
        _ = try world.perform(.setPresence(.away), on: last)
        world.run(for: 2_000)
        var told: [Int] = []
        world.onStep = { step in
            guard step.node === ann else { return }
            let count = step.effects.count {
                if case .askRelay(_, let request) = $0, case .volatile = request.action {
                    return true
                }
                return false
            }
            if count > 0 { told.append(count) }
        }
        _ = try world.perform(.setPresence(.online), on: ann)
        #expect(last.core.presences[ann.identity.person] == nil)
        world.run(for: 500)
        #expect(told == [16])
        #expect(last.core.presences[ann.identity.person]?.presence == .online)
        world.run(for: 1_000)
        #expect(told == [16, 4])
        #expect(others.allSatisfy { $0.core.presences[ann.identity.person] != nil })
    }
}
