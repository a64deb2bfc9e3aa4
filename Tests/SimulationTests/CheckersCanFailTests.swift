import ParleyConversation
import ParleyNodeCore
import ParleyRoster
import ParleySimulatedDisk
import ParleyStorage
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleySimulation

/// Two people, a conversation, and one promise that is about to be broken behind the core's back.
private struct Trial {
    let world: World
    let ann: SimulatedNode
    let ben: SimulatedNode
    let trip: SpaceID
    let jury: Jury
    let invariant: String

    /// All is well at first: what is seen broken later is what the test broke.
    init(of invariant: String, on store: StoreChoice = .memory) throws {
        self.invariant = invariant
        world = World(seed: 3)
        (ann, ben) = (try world.addNode("ann", on: store), try world.addNode("ben", on: store))
        jury = Jury(of: world, only: [invariant])
        trip = try world.group("trip", [ann, ben])
        try ann.type("the train leaves at nine", in: trip)
        try ben.type("from which platform?", in: trip)
        world.run(for: 5_000)
        try jury.verify(isSettled: true)
        #expect(jury.checkers.count == 1)
    }

    func isBroken(isSettled: Bool = true) {
        let violation = #expect(throws: Violation.self) { try jury.verify(isSettled: isSettled) }
        #expect(violation?.invariant == invariant)
        #expect(violation?.sentence.contains("could not be looked at") == false)
    }

    /// Writes into a store as no core would.
    func meddle(
        with node: SimulatedNode, _ write: (any SimulatedStore, SpaceRecord) throws -> Void
    ) throws {
        let space = try #require(try node.store.space(trip))
        try node.store.begin(.full)
        try write(node.store, space)
        try node.store.commit()
    }

    /// Somebody is said to have read, or to hold, what nobody wrote.
    func inventReceipt(_ kind: MarkKind = .read, at node: SimulatedNode) throws {
        try meddle(with: node) { store, space in
            let tag = try #require(try store.logs(in: space.number).first).tag
            let actor =
                kind == .read
                ? Digest(reinterpreting: ben.identity.person)
                : Digest(reinterpreting: ben.identity.device)
            try store.raise(
                Mark(space: space.number, kind: kind, actor: actor, tag: tag, sequence: 1_000))
        }
    }

    /// Ann sends an operation of her log of a lane, the first or the last, on a link that leads to
    /// somebody.
    func serve(_ lane: Lane, to other: SimulatedNode, isLast: Bool = false) throws {
        let space = try #require(try ann.store.space(trip))
        let log = try #require(
            try ann.store.logs(in: space.number).first {
                $0.lane == lane && $0.device == ann.identity.device
            })
        let place = isLast ? log.end - 1 : 0
        let stored = try #require(try ann.store.operation(at: place, in: log.number))
        let run = Run(
            device: log.device, lane: lane, first: place, anchor: nil,
            operations: [stored.operation], heads: [])
        let link = LinkID(1_000_000)
        let peer = LinkPeer(
            person: other.identity.person, root: other.identity.root,
            device: other.identity.device, identity: other.identity.operations,
            handshakeHash: [], isInitiator: true)
        let told = Operations(space: trip, endsAnswer: false, runs: [run])
        world.onStep?(
            StepReport(
                node: ann, input: .linkOpened(link, peer),
                effects: [.send(link, Frame.operations(told).encoded())], isLost: false))
    }

    func number(of text: String, at node: SimulatedNode) throws -> OperationNumber {
        try #require(try node.messages(in: trip).first { $0.text == text }).number
    }
}

/// A checker that cannot fail proves nothing: here each of them does.
@Suite("A promise that is broken is seen broken")
struct CheckersCanFailTests {
    @Test("each of them is broken here")
    func all() {
        #expect(
            Jury.invariants.sorted() == [
                "I1", "I10", "I11", "I12", "I13", "I14", "I15", "I2", "I3", "I4", "I5", "I6", "I7",
                "I8", "I9",
            ])
    }

    @Test("SameViewEverywhere: one of two with the same operations shows another receipt")
    func sameViewEverywhere() throws {
        let trial = try Trial(of: "I1")
        try trial.inventReceipt(at: trial.ben)
        trial.isBroken(isSettled: false)
    }

    @Test("Convergence: one lacks what the other wrote")
    func convergence() throws {
        let trial = try Trial(of: "I2")
        trial.world.cut(trial.ann, trial.ben)
        try trial.ann.type("anybody there?", in: trial.trip)
        trial.isBroken()
    }

    @Test("SavedSurvives: an old disk takes the place of one that held a message")
    func savedSurvives() throws {
        let trial = try Trial(of: "I3")
        let copy = trial.ann.backUp()
        try trial.ann.type("saved", in: trial.trip)
        trial.ann.setBack(to: copy)
        trial.world.restart(trial.ann)
        trial.isBroken(isSettled: false)
    }

    @Test("CausesPresent: a record claims an operation that is not stored")
    func spansClaimTooMuch() throws {
        let trial = try Trial(of: "I4")
        try trial.meddle(with: trial.ben) { store, space in
            var log = try #require(try store.logs(in: space.number).first { $0.lane == .content })
            log.spans[0].last += 1
            try store.update(log)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("CausesPresent: an operation is stored before what it names")
    func causesPresent() throws {
        let trial = try Trial(of: "I4")
        trial.world.cut(trial.ann, trial.ben)
        try trial.ann.type("first", in: trial.trip)
        let cara = try trial.world.addNode("cara")
        let number = try trial.number(of: "from which platform?", at: trial.ann)
        let answer = try #require(try trial.ann.store.operation(number))
        let log = try #require(try trial.ann.store.log(answer.log))
        try cara.store.begin(.full)
        let space = try cara.store.addSpace(trial.trip, kind: .group)
        var copy = try cara.store.addLog(
            log.id, device: log.device, lane: log.lane, in: space.number)
        let operation = VerifiedOperation(stored: answer, tag: log.tag)
        _ = try cara.store.insert([operation], in: copy.number)
        copy.spans = log.spans
        try cara.store.update(copy)
        try cara.store.commit()
        trial.world.run(for: 60_000)
        try cara.perform(.setProfile(name: "cara", addresses: nil))
        trial.isBroken(isSettled: false)
    }

    @Test("CausesPresent: a clock runs backwards in a log")
    func clockBackwards() throws {
        let trial = try Trial(of: "I4")
        try trial.meddle(with: trial.ann) { store, space in
            var log = try #require(try store.logs(in: space.number).first { $0.lane == .content })
            let tip = try #require(try store.operation(at: log.end - 1, in: log.number))
            var header = tip.operation.header
            (header.wallClock, header.clock) = (header.wallClock - 1, (header.wallClock - 1) << 16)
            let operation = try Operation.make(header, salt: [], payload: [1])
            let next = VerifiedOperation(
                id: OperationHash.operation(operation, after: log.tip), tag: log.tag,
                sequence: log.end, operation: operation)
            _ = try store.insert([next], in: log.number)
            log.spans[0].last += 1
            log.spans[0].tip = next.id
            try store.update(log)
        }
        try trial.ann.perform(.setProfile(name: "ann", addresses: nil))
        trial.isBroken(isSettled: false)
    }

    @Test("RedeliveryHarmless: views lack what an operation says that comes again")
    func redeliveryHarmless() throws {
        let trial = try Trial(of: "I5")
        for node in trial.world.nodes {
            try trial.meddle(with: node) { store, space in
                try store.clearViews(of: space.number)
            }
        }
        trial.isBroken()
    }

    @Test("RebuiltViewsEqual: a receipt is shown that no operation gave")
    func rebuiltViewsEqual() throws {
        let trial = try Trial(of: "I6")
        try trial.inventReceipt(at: trial.ann)
        trial.isBroken()
    }

    @Test("AcknowledgedIsDurable: what is not on the disk was acknowledged")
    func acknowledgedIsDurable() throws {
        let trial = try Trial(of: "I7")
        let space = try #require(try trial.ben.store.space(trial.trip))
        let log = try #require(
            try trial.ben.store.logs(in: space.number).first { $0.lane == .content })
        let told = Acknowledgement(
            space: space.id, entries: [.init(tag: log.tag, sequence: log.end)])
        trial.world.onStep?(
            StepReport(
                node: trial.ben, input: .madeDurable,
                effects: [.send(LinkID(1), Frame.acknowledge(told).encoded())], isLost: false))
        trial.world.restart(trial.ben, losingPower: true)
        trial.isBroken(isSettled: false)
    }

    @Test("AcknowledgedIsDurable: a receipt tells of what the device does not hold")
    func receiptsAreTrue() throws {
        let trial = try Trial(of: "I7")
        try trial.inventReceipt(.delivered, at: trial.ben)
        trial.isBroken(isSettled: false)
    }

    @Test("NoPlaintextOnDisk: a text is written that stands in every database")
    func noPlaintextOnDisk() throws {
        let trial = try Trial(of: "I8", on: .sqlite)
        try trial.ann.type("SQLite format 3", in: trial.trip)
        trial.isBroken()
    }

    @Test("OneOperationAPlace: a device that forgot what it wrote writes there again")
    func oneOperationAPlace() throws {
        let trial = try Trial(of: "I10")
        trial.world.isolate(trial.ann)
        let copy = trial.ann.backUp()
        try trial.ann.type("one", in: trial.trip)
        trial.ann.setBack(to: copy)
        trial.world.restart(trial.ann)
        try trial.ann.type("two", in: trial.trip)
        trial.isBroken(isSettled: false)
    }

    @Test("EvidenceSpreads: one has forgotten where a liar's histories part")
    func evidenceSpreads() throws {
        let trial = try Trial(of: "I11")
        let cara = try trial.world.addNode("cara")
        let all = try trial.world.group("all", [trial.ann, trial.ben, cara])
        #expect(try trial.world.equivocate(cara, in: all))
        trial.world.run(for: 300_000)
        try trial.jury.verify(isSettled: true)
        let proof = try #require(try trial.ann.store.forks().first).proof
        let store = trial.ben.store
        let space = try #require(try store.space(proof.space))
        var log = try #require(try store.logs(in: space.number).first { $0.fork != nil })
        log.fork = nil
        try store.begin(.full)
        try store.update(log)
        try store.commit()
        trial.isBroken()
    }

    @Test("RostersAgree: a resolver has forgotten somebody")
    func forgetfulResolver() throws {
        let trial = try Trial(of: "I9")
        let checker = RostersAgree { space, store in
            guard space.kind == .group else {
                return try RosterReader.roster(of: space, in: store)
            }
            let other = try store.spaces().first { $0.kind == .direct }
            return try other.flatMap { try RosterReader.roster(of: $0, in: store) }
        }
        #expect(throws: Violation.self) { try checker.looked(at: trial.world) }
    }

    @Test("RostersAgree: what was said in a group is sent to a stranger")
    func servedToStranger() throws {
        let trial = try Trial(of: "I9")
        try trial.serve(.content, to: try trial.world.addNode("cara"))
        trial.isBroken(isSettled: false)
    }

    @Test("RostersAgree: who is in a group is told to a stranger")
    func rosterServedToStranger() throws {
        let trial = try Trial(of: "I9")
        try trial.serve(.control, to: try trial.world.addNode("cara"))
        trial.isBroken(isSettled: false)
    }

    @Test("RostersAgree: who was taken out is sent what is written since")
    func servedToRemoved() throws {
        let trial = try Trial(of: "I9")
        try trial.ann.perform(.removeMember(trial.trip, trial.ben.identity.person))
        try trial.ann.type("now that we are alone", in: trial.trip)
        try trial.serve(.content, to: trial.ben, isLast: true)
        trial.isBroken(isSettled: false)
    }

    @Test("RostersAgree: who was taken out is told of who came since")
    func rosterServedToRemoved() throws {
        let trial = try Trial(of: "I9")
        let cara = try trial.world.addNode("cara")
        try trial.world.introduce(trial.ann, cara)
        try trial.ann.perform(.removeMember(trial.trip, trial.ben.identity.person))
        trial.world.run(for: 5_000)
        try trial.jury.verify()
        try trial.ann.perform(.addMember(trial.trip, cara.identity.person, .member))
        try trial.serve(.control, to: trial.ben, isLast: true)
        trial.isBroken(isSettled: false)
    }

    @Test("RostersAgree: a newcomer is sent what came before, though the group gives nothing")
    func servedBelowHorizon() throws {
        let trial = try Trial(of: "I9")
        let cara = try trial.world.addNode("cara")
        try trial.world.introduce(trial.ann, cara)
        try trial.ann.perform(.addMember(trial.trip, cara.identity.person, .member))
        trial.world.run(for: 5_000)
        try trial.jury.verify()
        try trial.serve(.content, to: cara)
        trial.isBroken(isSettled: false)
    }

    @Test("QueuesStayBounded: more is under way on a link than any credit allows")
    func queuesStayBounded() throws {
        let trial = try Trial(of: "I12")
        trial.world.flightByteCountMax = QueuesStayBounded.flightByteCountMax + 1
        trial.isBroken(isSettled: false)
    }

    @Test("NoStorms: a heal costs much more than what was missing")
    func healIsCheap() throws {
        let trial = try Trial(of: "I13")
        for case let storms as NoStorms in trial.jury.checkers { try storms.begin(trial.world) }
        trial.world.honestByteCount += 10 << 20
        trial.isBroken()
    }

    @Test("NoStorms: nodes that are equal go on talking")
    func noStorms() throws {
        let trial = try Trial(of: "I13")
        for case let storms as NoStorms in trial.jury.checkers { try storms.begin(trial.world) }
        let world = trial.world
        world.onEvent = { [weak world] _ in world?.honestByteCount += 10 << 10 }
        trial.isBroken()
    }

    @Test("NoStorms: a list of all tips leaves one out")
    func tipsAreComplete() throws {
        let trial = try Trial(of: "I13")
        let told = Frontier(
            space: trial.trip, isComplete: true, asksForMissing: true, entries: [])
        trial.world.onStep?(
            StepReport(
                node: trial.ann, input: .networkChanged,
                effects: [.send(LinkID(1), Frame.frontier(told).encoded())], isLost: false))
        trial.isBroken(isSettled: false)
    }

    @Test("NaiveModelAgrees: what was silenced is loud")
    func ownSpaceAgrees() throws {
        let trial = try Trial(of: "I14")
        try trial.ann.perform(.mute(trial.trip, isOn: true))
        let own = try #require(try trial.ann.store.spaces().first { $0.kind == .own })
        try trial.meddle(with: trial.ann) { store, _ in try store.clearViews(of: own.number) }
        trial.isBroken()
    }

    @Test("NaiveModelAgrees: a message is shown as deleted that nobody deleted")
    func naiveModelAgrees() throws {
        let trial = try Trial(of: "I14")
        try trial.meddle(with: trial.ben) { store, space in
            var row = try #require(
                try store.messages(in: space.number, before: nil, limit: 1).first)
            row.flags = .deleted
            try store.update(row)
        }
        trial.isBroken()
    }

    @Test("NaiveModelAgrees: a deleted message is only hidden")
    func deletedIsErased() throws {
        let trial = try Trial(of: "I14")
        let number = try trial.number(of: "from which platform?", at: trial.ann)
        let stored = try #require(try trial.ann.store.operation(number))
        let log = try #require(try trial.ann.store.log(stored.log))
        try trial.ben.delete("from which platform?", in: trial.trip)
        trial.world.run(for: 5_000)
        try trial.meddle(with: trial.ann) { store, _ in
            try store.restore(VerifiedOperation(stored: stored, tag: log.tag), in: number)
        }
        trial.isBroken()
    }

    @Test("NaiveModelAgrees: a message is shown whose author had been taken out")
    func removedIsShown() throws {
        let trial = try Trial(of: "I14")
        let cara = try trial.world.addNode("cara")
        let all = try trial.world.group("all", [trial.ann, trial.ben, cara])
        trial.world.partition([trial.ann], [trial.ben, cara])
        try trial.ben.type("still here", in: all)
        trial.world.run(for: 5_000)
        let space = try #require(try cara.store.space(all))
        let row = try #require(
            try cara.store.messages(in: space.number, before: nil, limit: 1).first)
        try trial.ann.perform(.removeMember(all, trial.ben.identity.person))
        trial.world.heal()
        trial.world.run(for: 400_000)
        #expect(try !cara.texts(in: all).contains("still here"))
        try trial.jury.verify(isSettled: true)
        try cara.store.begin(.full)
        try cara.store.insert(row)
        try cara.store.commit()
        trial.isBroken()
    }

    @Test("ErasedIsGone: the sealed bytes of a deleted message lie about in a file")
    func erasedIsGone() throws {
        let trial = try Trial(of: "I15", on: .sqlite)
        try trial.ann.type("burn after reading", in: trial.trip)
        let number = try trial.number(of: "burn after reading", at: trial.ann)
        let sealed = try #require(try trial.ann.store.sealedPayload(of: number))
        try trial.ann.delete("burn after reading", in: trial.trip)
        trial.world.run(for: 5_000)
        let disk = try #require(trial.ann.store as? SQLiteStore).faultDisk
        try disk.replace("backup", with: sealed)
        trial.isBroken()
    }
}
