import ParleyConversation
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleySimulation

/// Two people, a conversation, and one promise that is about to be broken behind the core's back.
struct Trial {
    let world: World
    let ann: SimulatedNode
    let ben: SimulatedNode
    let trip: SpaceID
    let jury: Jury
    let invariant: String

    /// All is well at first: what is seen broken later is what the test broke.
    init(of invariant: String, on store: StoreChoice = .memory, hasRelay: Bool = false) throws {
        self.invariant = invariant
        world = World(seed: 3)
        (ann, ben) = (try world.addNode("ann", on: store), try world.addNode("ben", on: store))
        if hasRelay {
            let relay = world.addRelay("relay")
            for node in world.nodes { try world.use(relay, by: node) }
        }
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
            try store.put(
                Mark(
                    space: space.number, kind: kind,
                    actor: Digest(reinterpreting: ben.identity.device), tag: tag,
                    places: PlaceSet(0..<1_001)))
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

    /// Ben is taken out, and ann goes on.
    func removeBen() throws {
        try ann.perform(.removeMember(trip, ben.identity.person))
        try ann.type("now that we are alone", in: trip)
        world.run(for: 5_000)
        try jury.verify(isSettled: true)
    }

    func number(of text: String, at node: SimulatedNode) throws -> OperationNumber {
        try #require(try node.messages(in: trip).first { $0.text == text }).number
    }
}
