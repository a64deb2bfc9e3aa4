import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("Rejoin")
struct RejoinTests {
    @Test("Attack 34: a store that was set back writes nothing until it has its own past back")
    func setBack() throws {
        let world = World(seed: 41)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        try world.type("before the copy", on: ann, in: space)
        world.run(for: 1_000)
        let copy = ann.store.snapshot()
        try world.type("after the copy", on: ann, in: space)
        world.run(for: 1_000)
        world.cut(ann, ben)
        ann.setBack(to: copy)
        world.restart(ann, rejoin: Rejoin(reason: "behind", ends: [:], needsPeer: true))
        #expect(throws: CommandRefusal.rejoining) {
            try world.type("a second history", on: ann, in: space)
        }
        world.heal()
        world.run(for: 400_000)
        #expect(ann.core.rejoin == nil)
        #expect(try ann.texts(in: space) == ["before the copy", "after the copy"])
        try world.type("and on", on: ann, in: space)
        world.run(for: 2_000)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
        #expect(try ben.store.forks().isEmpty)
    }

    /// It moved on by 64 steps, and a busy device uses more in a minute: one key sealed two texts.
    @Test("Attack 170: a store that was set back uses no step of an epoch that it may have used")
    func usedSteps() throws {
        let world = World(seed: 50)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let relay = world.addRelay("relay")
        for node in [ann, ben] { try world.use(relay, by: node) }
        let space = try world.introduce(ann, ben)
        world.run(for: 30_000)
        world.keepToRelays()
        try world.type("before the copy", on: ann, in: space)
        world.run(for: 5_000)
        let copy = ann.store.snapshot()
        for count in 0..<70 {
            try world.type("after the copy \(count)", on: ann, in: space)
            world.run(for: 500)
        }
        world.run(for: 10_000)
        let steps = try ownSteps(of: ann)
        #expect(steps.values.max() ?? 0 > 64)
        ann.setBack(to: copy)
        world.restart(ann, rejoin: Rejoin(reason: "behind", ends: [:], needsPeer: true))
        world.run(for: 60_000)
        world.run(for: 700_000)
        #expect(ann.core.rejoin == nil)
        try world.type("and on", on: ann, in: space)
        world.run(for: 60_000)
        #expect(try ben.texts(in: space).last == "and on")
        for (epoch, step) in try ownSteps(of: ann) where steps[epoch] != nil {
            #expect(step == Limits.chainStepCountMax, "\(epoch)")
        }
    }

    /// At which step the own chain of each epoch is.
    private func ownSteps(of node: SimulatedNode) throws -> [OperationID: Int] {
        try node.observed {
            var steps: [OperationID: Int] = [:]
            for space in try node.store.spaces() {
                for (name, secret) in try node.store.secrets(.chain, in: space.number)
                where DeviceID(name.dropFirst(32)) == node.identity.device {
                    guard let epoch = OperationID(name.prefix(32)) else { continue }
                    steps[epoch] = Chain(stored: secret).map { Int($0.step) }
                }
            }
            return steps
        }
    }

    /// A port that the system gives is another one at every start: who could have brought everything
    /// back did not find the device, and others not before it was started once more.
    @Test("whoever writes nothing tells all the same where they are")
    func addresses() throws {
        let world = World(seed: 46)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        try world.introduce(ann, ben)
        world.restart(ann, rejoin: Rejoin(reason: "behind", ends: [:], needsPeer: true))
        _ = try world.perform(.setProfile(name: nil, addresses: ["elsewhere"]), on: ann)
        #expect(throws: CommandRefusal.rejoining) {
            try world.perform(.setProfile(name: "anna", addresses: nil), on: ann)
        }
        // Which files are kept here stands in no log either.
        _ = try world.perform(.file(.set(FileSettings())), on: ann)
        world.run(for: 60_000)
        #expect(ann.core.rejoin == nil)
        #expect(try CardReader.addresses(of: ann.identity.person, ben.store) == ["elsewhere"])
        #expect(try Notice.all(in: ben.store).isEmpty)
    }

    /// A device that is coming back took nobody in but contacts, for that writes: of two members of a
    /// group whose founder had gone neither ever heard the other again. Found by seed 31000023.
    @Test("whoever comes back hears members of a group who are no contacts")
    func members() throws {
        let world = World(seed: 49)
        let nodes = try ["ann", "ben", "cara"].map { try world.addNode($0) }
        let (ann, ben, cara) = (nodes[0], nodes[1], nodes[2])
        try world.introduce(ann, ben)
        try world.introduce(ann, cara)
        let others = [ben, cara].map(\.identity.person)
        let reply = try world.perform(.createGroup(name: "all", members: others), on: ann)
        guard case .space(let number) = reply, let group = try ann.store.space(number)?.id else {
            throw CommandRefusal.unknownConversation
        }
        world.run(for: 700_000)
        let copy = ben.store.snapshot()
        try world.type("after the copy", on: ben, in: group)
        world.run(for: 10_000)
        world.stopProcess(of: ann)
        ben.setBack(to: copy)
        world.restart(ben, rejoin: Rejoin(reason: "behind", ends: [:], needsPeer: true))
        world.run(for: 600_000)
        #expect(ben.core.rejoin == nil)
        #expect(try ben.texts(in: group) == ["after the copy"])
    }

    /// The cards that it made from then on were older than the one that others kept, and they wrote to a
    /// prekey that was gone with the store.
    @Test(
        "whoever was set back shows a card above one that a fast clock made",
        arguments: [true, false])
    func cardOfAFastClock(isGuarded: Bool) throws {
        let pair = try Pair(seed: 48)
        let (world, ann, ben) = (pair.world, pair.ann, pair.ben)
        world.run(for: 700_000)
        let copy = ann.store.snapshot()
        ann.clock.skew = 10 * 365 * 86_400_000
        _ = try world.perform(.setProfile(name: "anna", addresses: nil), on: ann)
        // Long enough for the card to be written into the space as well.
        world.run(for: 700_000)
        let person = ann.identity.person
        let shown = try #require(try CardReader.parts(of: person, ben.store).first)
        #expect(shown.name == "anna")
        ann.clock.skew = 0
        ann.endInGoodOrder()
        ann.setBack(to: copy)
        // Where the guard was set back as well, the card comes back from others.
        if !isGuarded { ann.guardCardVersion = .zero }
        world.restart(ann)
        world.run(for: 700_000)
        let now = try #require(try CardReader.parts(of: person, ben.store).first)
        #expect(now.version > shown.version)
        #expect(try CardReader.parts(of: person, ann.store) == [now], "ben keeps what ann shows")
    }

    /// Its guard went back with it, so nothing here could notice, and a week had gone by: it
    /// published a new leaf and said what it had seen, each in place of another that ben held.
    @Test(
        "Attack 34: a home that was set back as a whole writes nothing unasked before it met anybody"
    )
    func unasked() throws {
        let world = World(seed: 45)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        let copy = ann.store.snapshot()
        world.pass(days: 10)
        try world.type("what ben holds", on: ann, in: space)
        world.run(for: 5_000)
        world.cut(ann, ben)
        ann.setBack(to: copy)
        world.restart(ann)
        world.run(for: 3 * 3_600_000)
        world.heal()
        world.run(for: 3 * 3_600_000)
        #expect(try ben.store.forks().isEmpty && ann.store.forks().isEmpty)
        #expect(try Notice.all(in: ben.store).isEmpty, "nor a second card of one version")
        #expect(try ann.texts(in: space) == ["what ben holds"])
        #expect(try ann.digest(of: space) == ben.digest(of: space))
    }

    /// The store noticed nothing; the peer's frontier tells.
    @Test("Attack 34: a peer that proves more of a node's own log stops it from writing there")
    func toldByPeer() throws {
        let world = World(seed: 42)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        let copy = ann.store.snapshot()
        for count in 0..<2_000 { try world.type("\(count)", on: ann, in: space) }
        world.run(for: 2_000)
        world.cut(ann, ben)
        ann.setBack(to: copy)
        world.restart(ann)
        world.heal()
        var wasStopped = false
        for _ in 0..<40_000 {
            world.run(for: 5)
            wasStopped = wasStopped || ann.core.isBehind
            if try ann.texts(in: space).count == 1000, !ann.core.isBehind { break }
        }
        #expect(wasStopped)
        #expect(ann.core.rejoin == nil && !ann.core.isBehind)
        try world.type("and on", on: ann, in: space)
        world.run(for: 5_000)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
        #expect(try ben.store.forks().isEmpty)
    }

    /// Whichever log comes first, the other's must not end the wait for it.
    @Test(
        "a log that is wholly missing is waited for as well",
        arguments: [55, 57] as [UInt64])
    func missingLog(seed: UInt64) throws {
        let world = World(seed: seed)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        let copy = ann.store.snapshot()
        for count in 0..<400 {
            let text = "\(count) " + String(repeating: "x", count: 1000)
            try world.type(text, on: ann, in: space)
            try world.type(text, on: ben, in: space)
        }
        world.run(for: 5_000)
        world.cut(ann, ben)
        let number = try #require(try ann.store.space(space)?.number)
        let own = try ann.store.logs(in: number).filter { $0.device == ann.core.node.device }
        let ends = Dictionary(uniqueKeysWithValues: own.map { ($0.tag, $0.end) })
        ann.setBack(to: copy)
        world.restart(ann, rejoin: Rejoin(reason: "behind", ends: ends, needsPeer: false))
        world.heal()
        for _ in 0..<400_000 where ann.core.rejoin != nil { world.run(for: 1) }
        #expect(ann.core.rejoin == nil)
        for log in own {
            #expect(try ann.store.log(log.tag, in: number)?.end ?? 0 >= log.end)
        }
    }

    /// A profile was told to a new contact, whatever the guard said.
    @Test(
        "what nobody asked for is not written either, until the past is back",
        arguments: [false, true])
    func unasked(isBehind: Bool) throws {
        let world = World(seed: 58)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        try ann.perform(.say(try #require(ProfileField(.status, "on the train"))))
        try world.invite(ben, by: ann)
        while try ann.conversations().isEmpty { world.run(for: 20) }
        func own() throws -> [UInt64] {
            try ann.store.spaces().flatMap { try ann.store.logs(in: $0.number) }
                .filter { $0.device == ann.identity.device }.map(\.end)
        }
        let ends = try own()
        world.restart(
            ann,
            rejoin: isBehind
                ? Rejoin(reason: "behind", ends: [LogTag(7): 9], needsPeer: false) : nil
        )
        world.run(for: 60_000)
        #expect(try (own() == ends) == isBehind)
    }

    @Test("a node whose guard is gone writes again once a peer shows the same")
    func equalPeer() throws {
        let world = World(seed: 43)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        world.restart(ann, rejoin: Rejoin(reason: "no guard", ends: [:], needsPeer: true))
        #expect(ann.core.rejoin != nil)
        world.run(for: 400_000)
        #expect(ann.core.rejoin == nil)
        try world.type("here again", on: ann, in: space)
    }

    /// A member could once stop another from writing anywhere for ten seconds, once a device.
    @Test("Attack 83: a claim about one's own log that is not proven holds up nothing")
    func emptyClaim() throws {
        let world = World(seed: 44)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        try world.type("one", on: ann, in: space)
        world.run(for: 1_000)
        let record = try #require(try ann.store.space(space))
        let log = try #require(
            try ann.store.logs(in: record.number).first {
                $0.device == ann.identity.device && $0.lane == .content
            })
        let head = try #require(try ann.store.head(atOrAfter: log.end - 1, in: log.number))
        // Signed, but of another place; and as it is, which is held.
        let proofs = [log.end + 7, log.end - 1].map {
            Frontier.OwnTip(
                tag: log.tag, sequence: $0, operation: log.tip, signature: head.signature)
        }
        for proof in proofs {
            let lie = Frontier(
                space: space, isComplete: true, asksForMissing: false,
                entries: [
                    .init(tag: log.tag, sequence: 1_000_000, check: Check(high: 7, low: 7))
                ], ownTips: [proof])
            for _ in 0..<10 {
                world.inject(.frontier(lie), from: ben, to: ann)
                world.run(for: 1_000)
                try world.type("two", on: ann, in: space)
                #expect(!ann.core.isBehind)
            }
        }
        let key = Array(Refusal.emptyClaim.rawValue.utf8)
        #expect(try ann.store.number(.refusal, key) == 1)
        #expect(try ben.store.forks().isEmpty)
    }

    @Test("a proven claim holds up one conversation, and what is written there is kept")
    func keptMessages() throws {
        let world = World(seed: 49)
        let nodes = try ["ann", "ben", "cara"].map { try world.addNode($0) }
        let (ann, ben, cara) = (nodes[0], nodes[1], nodes[2])
        let space = try world.introduce(ann, ben)
        let elsewhere = try world.introduce(ann, cara)
        try world.type("first", on: ann, in: space)
        world.run(for: 2_000)
        let copy = ann.store.snapshot()
        for text in ["second", "third"] { try world.type(text, on: ann, in: space) }
        world.run(for: 2_000)
        world.cut(ann, ben)
        var slow = LinkModel()
        slow.delay = 5_000...5_000
        world.setModel(slow, ann, ben)
        ann.setBack(to: copy)
        world.restart(ann)
        world.heal()
        try world.runUntil(within: .seconds(600)) { ann.core.isBehind }
        #expect(ann.core.rejoin == nil)
        for text in ["fourth", "fifth"] {
            let send = Command.send(space, [TextMessage(text: text)], replyingTo: nil)
            #expect(try world.perform(send, on: ann) == .kept(1))
        }
        #expect(throws: CommandRefusal.awaitsOwn) { try world.perform(.leave(space), on: ann) }
        try world.type("here as ever", on: ann, in: elsewhere)
        // What is kept and what is waited for outlive the process.
        world.restart(ann)
        let number = try #require(try ann.store.space(space)?.number)
        #expect(try ann.core.missingOwnCount(of: number, in: ann.store) ?? 0 > 0)
        let kept = try ann.core.keptMessages(for: number, in: ann.store)
        #expect(kept.map(\.text) == ["fourth", "fifth"])
        world.run(for: 200_000)
        #expect(!ann.core.isBehind)
        for node in [ann, ben] {
            #expect(
                try node.texts(in: space) == ["first", "second", "third", "fourth", "fifth"])
            #expect(try node.store.forks().isEmpty)
        }
        #expect(try cara.texts(in: elsewhere) == ["here as ever"])
        #expect(try ann.core.keptMessages(for: number, in: ann.store).isEmpty)
    }

    /// Nobody gives content to who is out: it waited for ever, and could write nowhere.
    @Test("what was written where one is out is not waited for, until one is let in again")
    func outside() throws {
        let village = try Village(seed: 48)
        let (ann, ben, cara) = (village.ann, village.ben, village.cara)
        let direct = try #require(
            try cara.store.spaces().first {
                $0.kind == .direct
                    && (try? ben.store.space($0.id)) != nil
            }?.id)
        let copy = cara.store.snapshot()
        try village.type("what is lost", cara)
        village.world.run(for: 2_000)
        let number = try village.record(cara).number
        let own = try cara.store.logs(in: number).filter { $0.device == cara.core.node.device }
        let ends = Dictionary(uniqueKeysWithValues: own.map { ($0.tag, $0.end) })
        try village.remove(cara, by: ann)
        village.world.run(for: 2_000)
        cara.setBack(to: copy)
        village.world.restart(cara, rejoin: Rejoin(reason: "behind", ends: ends, needsPeer: false))
        #expect(throws: CommandRefusal.rejoining) {
            try village.world.type("too early", on: cara, in: direct)
        }
        village.settle()
        #expect(cara.core.rejoin == nil && cara.core.isBehind)
        try village.world.type("elsewhere", on: cara, in: direct)
        try village.add(cara, by: ann)
        village.settle()
        try village.type("back", cara)
        village.settle()
        #expect(!cara.core.isBehind)
        #expect(try village.texts(ben).sorted() == ["back", "what is lost"])
        for node in village.nodes { #expect(try node.store.forks().isEmpty) }
    }
}
