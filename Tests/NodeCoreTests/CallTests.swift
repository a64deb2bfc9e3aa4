import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleySimulation

/// Nodes, and what their shells are told of calls.
final class Telephony {
    struct Line {
        var at: UInt64
        var node: String
        var output: Calls.Output
    }

    let world: World
    private(set) var lines: [Line] = []
    /// Frames that carry signals, as they arrived, with the link and the place of the receiver.
    private(set) var signals: [(link: LinkID, bytes: [UInt8], node: Int)] = []

    init(seed: UInt64) {
        world = World(seed: seed)
        world.onStep = { [unowned self] step in
            if case .frame(let link, let bytes) = step.input, bytes.first == 21 {
                signals.append((link, bytes, step.node.index))
            }
            for case .call(let output) in step.effects {
                lines.append(Line(at: world.now, node: step.node.name, output: output))
            }
        }
    }

    func forget() { lines = [] }

    func heard(_ order: Call.Output) -> [String] {
        lines.filter { $0.output.order == order }.map(\.node).sorted()
    }

    func stopped() -> [String: [CallEnd?]] {
        var stopped: [String: [CallEnd?]] = [:]
        for line in lines {
            if case .stopRinging(let end) = line.output.order {
                stopped[line.node, default: []].append(end)
            }
        }
        return stopped
    }

    func call(_ node: SimulatedNode, in space: SpaceID) throws -> CallID {
        let reply = try world.perform(.call(space, .microphone), on: node)
        guard case .call(let call) = reply else { throw CommandRefusal.unchanged }
        return call
    }

    func act(_ act: CallAct, _ call: CallID, _ node: SimulatedNode) throws {
        _ = try world.perform(.act(call, act), on: node)
    }

    /// Does what programs for sound and pictures do where all goes well.
    func connect(_ call: CallID, _ nodes: [SimulatedNode]) throws {
        for line in lines where line.output.call == call {
            guard case .media(let device, let order) = line.output.order,
                let node = nodes.first(where: { $0.name == line.node })
            else { continue }
            switch order {
            case .makeOffer: try act(.news(device, .offer("offer")), call, node)
            case .answer: try act(.news(device, .answer("answer")), call, node)
            case .take, .add, .close: break
            }
        }
    }
}

/// Ann's laptop, and Ben's three devices.
struct Families {
    let telephony: Telephony
    let ann: SimulatedNode
    let bens: [SimulatedNode]
    let space: SpaceID

    var world: World { telephony.world }
    var all: [SimulatedNode] { [ann] + bens }

    init(seed: UInt64) throws {
        telephony = Telephony(seed: seed)
        let world = telephony.world
        ann = try world.addNode("ann")
        let laptop = try world.addNode("laptop")
        space = try world.introduce(ann, laptop)
        let phone = try world.addDevice("phone", of: laptop)
        world.run(for: 5_000)
        let tablet = try world.addDevice("tablet", of: laptop)
        bens = [laptop, phone, tablet]
        world.run(for: 60_000)
        telephony.forget()
    }
}

@Suite("Calls between nodes")
struct CallTests {
    @Test("ring on three devices of a person, and stop on two when one is answered")
    func threeDevices() throws {
        let home = try Families(seed: 1)
        let telephony = home.telephony
        let call = try telephony.call(home.ann, in: home.space)
        home.world.run(for: 1_000)
        #expect(telephony.heard(.ring) == ["laptop", "phone", "tablet"])
        try telephony.act(.answer(.microphone), call, home.bens[1])
        home.world.run(for: 1_000)
        let stopped = telephony.stopped()
        #expect(stopped["phone"] == [nil])
        #expect(stopped["laptop"] == [.answeredElsewhere])
        #expect(stopped["tablet"] == [.answeredElsewhere])
        #expect(home.ann.core.calls[call]?.phase == .talking)
        #expect(home.bens[1].core.calls[call]?.phase == .talking)
        for device in [home.bens[0], home.bens[2]] {
            #expect(device.core.calls[call]?.phase == .aside)
        }
    }

    @Test("bring descriptions to and fro, stand, and end for everyone")
    func talk() throws {
        let home = try Families(seed: 2)
        let telephony = home.telephony
        let call = try telephony.call(home.ann, in: home.space)
        home.world.run(for: 1_000)
        try telephony.act(.answer([]), call, home.bens[0])
        home.world.run(for: 1_000)
        let two = [home.ann, home.bens[0]]
        // Each step of the talk of the two programs, after what came before.
        for _ in 0..<2 {
            let known = telephony.lines.count
            try telephony.connect(call, two)
            home.world.run(for: 1_000)
            if telephony.lines.count == known { break }
        }
        for node in two {
            let other = node === home.ann ? home.bens[0] : home.ann
            try telephony.act(.news(other.identity.device, .connected), call, node)
        }
        #expect(telephony.heard(.established) == ["ann", "laptop"])
        try telephony.act(.hangUp, call, home.bens[0])
        home.world.run(for: 1_000)
        #expect(telephony.heard(.ended(.hungUp)) == ["laptop"])
        #expect(telephony.heard(.ended(.hungUpBy(home.bens[0].identity.person))) == ["ann"])
        #expect(home.all.allSatisfy { $0.core.calls.all.isEmpty })
    }

    @Test("that nobody answers end after a minute, everywhere")
    func missed() throws {
        let home = try Families(seed: 3)
        let telephony = home.telephony
        _ = try telephony.call(home.ann, in: home.space)
        home.world.run(for: 100_000)
        #expect(telephony.heard(.ended(.unanswered)) == ["ann"])
        #expect(telephony.stopped().values.allSatisfy { $0 == [.missed] })
        #expect(home.all.allSatisfy { $0.core.calls.all.isEmpty })
    }

    @Test("that begin at once become one, and nothing rings")
    func glare() throws {
        let telephony = Telephony(seed: 4)
        let world = telephony.world
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let space = try world.introduce(ann, ben)
        world.run(for: 10_000)
        _ = try telephony.call(ann, in: space)
        _ = try telephony.call(ben, in: space)
        world.run(for: 3_000)
        #expect(telephony.heard(.ring).isEmpty)
        #expect(ann.core.calls.current?.phase == .talking)
        #expect(ann.core.calls.current?.id == ben.core.calls.current?.id)
    }

    @Test("of somebody who is blocked, or was never accepted, never ring")
    func keptAway() throws {
        let telephony = Telephony(seed: 5)
        let world = telephony.world
        let (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        let direct = try world.introduce(ann, ben)
        _ = try world.introduce(ann, cara)
        let reply = try world.perform(
            .createGroup(name: "trip", members: [ben.identity.person, cara.identity.person]),
            on: ann)
        guard case .space(let number) = reply,
            let trip = try ann.observing({ try ann.store.space(number) })
        else { return #expect(Bool(false)) }
        world.run(for: 60_000)
        // Ben and Cara are in a group together, and no contacts.
        let call = try telephony.call(ben, in: trip.id)
        world.run(for: 2_000)
        #expect(telephony.heard(.ring) == ["ann"])
        try telephony.act(.hangUp, call, ben)
        world.run(for: 60_000)
        telephony.forget()
        _ = try world.perform(.answerContact(ben.identity.person, .block), on: ann)
        world.run(for: 30_000)
        _ = try telephony.call(ben, in: direct)
        world.run(for: 70_000)
        #expect(telephony.heard(.ring).isEmpty)
    }

    @Test("ring though the caller's clock was set since the link began")
    func clockSet() throws {
        let telephony = Telephony(seed: 6)
        let world = telephony.world
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let space = try world.introduce(ann, ben)
        world.run(for: 10_000)
        ann.clock.skew = -600_000
        _ = try telephony.call(ann, in: space)
        world.run(for: 10_000)
        #expect(telephony.heard(.ring) == ["ben"])
    }

    @Test("are not rung twice by a signal that comes twice, and not by one from outside the space")
    func copies() throws {
        let telephony = Telephony(seed: 7)
        let world = telephony.world
        let (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        let space = try world.introduce(ann, ben)
        _ = try world.introduce(cara, ben)
        world.run(for: 10_000)
        let call = try telephony.call(ann, in: space)
        world.run(for: 500)
        let ring = try #require(telephony.signals.first { $0.node == ben.index })
        #expect(telephony.heard(.ring) == ["ben"])
        try telephony.act(.decline, call, ben)
        world.run(for: 2_000)
        for _ in 0..<3 { world.offer(.frame(ring.link, ring.bytes), to: ben.index) }
        let link = try #require(
            world.wires.keys.sorted().first { id in
                ben.connections[id] != nil && cara.connections[id] != nil
            })
        var foreign = try #require(try Frame.decode(ring.bytes))
        if case .signal(let bytes) = foreign, var signal = try Signal.decode(bytes) {
            let other = CallID(Check(high: 7, low: 7))
            signal.body = .call(other, .ring(.microphone, elapsed: 0))
            foreign = .signal(signal.encoded())
        }
        world.offer(.frame(link, foreign.encoded()), to: ben.index)
        #expect(telephony.heard(.ring) == ["ben"])
        #expect(ben.core.calls.all.isEmpty)
        let refused = try ben.observing {
            try ben.store.number(.refusal, Array(Refusal.foreignSignal.rawValue.utf8))
        }
        #expect(refused == 1)
    }

    @Test("end when their person is taken out of the conversation")
    func removed() throws {
        let village = try Village(seed: 8)
        let world = village.world
        guard
            case .call(let call) = try world.perform(
                .call(village.group, .microphone), on: village.ben)
        else { return #expect(Bool(false)) }
        world.run(for: 2_000)
        _ = try world.perform(.act(call, .answer([])), on: village.cara)
        world.run(for: 2_000)
        #expect(village.cara.core.calls.current?.members.count == 2)
        try village.remove(village.ben, by: village.ann)
        world.run(for: 20_000)
        #expect(village.ben.core.calls.current == nil)
        #expect(village.cara.core.calls.current == nil)
    }

    @Test("cost a peer its link only where it breaks the rules, and a flood is not looked at")
    func flood() throws {
        let telephony = Telephony(seed: 9)
        let world = telephony.world
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let space = try world.introduce(ann, ben)
        world.run(for: 10_000)
        _ = try world.perform(.types(space, true), on: ann)
        world.run(for: 500)
        let first = try #require(telephony.signals.first { $0.node == ben.index })
        for _ in 0..<1_000 { world.offer(.frame(first.link, first.bytes), to: ben.index) }
        let refused = try ben.observing {
            try ben.store.number(.refusal, Array(Refusal.tooManySignals.rawValue.utf8))
        }
        #expect(refused ?? 0 > 800)
        #expect(ben.core.linkedPeers.count == 1)
        world.offer(.frame(first.link, Frame.signal([9, 9, 9]).encoded()), to: ben.index)
        world.offer(.frame(first.link, Frame.signal([9, 9, 9]).encoded()), to: ben.index)
        #expect(ben.core.linkedPeers.count == 1)
        world.run(for: 5_000)
        let last = try #require(ben.core.linkedPeers.first)
        #expect(last.person == ann.identity.person)
    }
}
