import ParleyConversation
public import ParleyLedger
public import ParleyNodeCore
import ParleyRoster
public import ParleyWire

/// Nodes, a network and a clock in one value: the same seed gives the same run, every time.
///
/// ```
/// let world = World(seed: 7)
/// let (ann, ben) = try (world.addNode("ann"), world.addNode("ben"))
/// let trip = try world.group("trip", [ann, ben])
/// world.partition([ann], [ben])
/// try ann.type("are you there?", in: trip)
/// world.heal()
/// try world.runUntilEqual(within: .minutes(15))
/// ```
///
/// Keep the world as long as its nodes. A call that cannot throw and is given a node of another
/// world does nothing, and the next call that can throws ``WorldError``.
public final class World {
    /// The nodes, in the order in which they were added.
    public internal(set) var nodes: [SimulatedNode] = []
    /// Milliseconds since the world began.
    public private(set) var now: UInt64 = 0
    /// How long a frame takes, in milliseconds, where no way of its own was set.
    public var delay: ClosedRange<UInt64> {
        get { model.delay }
        set { model.delay = newValue }
    }
    /// How every way behaves that has no model of its own.
    public var model = LinkModel()
    /// How long received operations wait for the disk, in milliseconds: power that is lost
    /// meanwhile takes them along.
    public var durabilityDelay: ClosedRange<UInt64> = 0...0
    /// Whether people who are added from now on let contacts put them into groups without asking;
    /// else each accepts with `Command.acceptInvitation`.
    public var contactsMayAdd = true
    /// Whether people reach each other through relays alone.
    public internal(set) var hasRelaysOnly = false
    /// Whether what happens at one moment happens in an order that is drawn, instead of the order in
    /// which it was caused. What one link carries keeps its order.
    public var isChaotic: Bool {
        get { events.ties != nil }
        set { events.ties = newValue ? SeededRandom(seed: seed, purpose: "ties") : nil }
    }
    /// Told of every step, after its effects were performed.
    public var onStep: ((StepReport) -> Void)?
    /// Told when a node has died, before it starts again; with the power, its store lost what was
    /// not durable.
    public var onDeath: ((_ node: SimulatedNode, _ losingPower: Bool) -> Void)?
    /// Told of everything that happens, where somebody records it.
    public var onEvent: ((WorldEvent) -> Void)?
    /// Frames that arrived, over all links.
    public internal(set) var frameCount = 0
    /// Their bytes.
    public internal(set) var byteCount = 0
    /// Those of them that went from one honest node to another, but for what is of files.
    public internal(set) var honestByteCount = 0
    /// Links that opened.
    public internal(set) var linkCount = 0
    /// Links that broke while something was on its way.
    public internal(set) var resetCount = 0
    /// Most bytes that were on their way on one link in one direction.
    public internal(set) var flightByteCountMax = 0
    /// Logs of liars whose lane 0 nobody reads any further: what they were written under may never be
    /// known, and what lies above that comes to those alone whom a relay brought it.
    public internal(set) var stuckLogs: Set<LogTag> = []
    /// A hash over every input and effect so far: the same seed gives the same one.
    public var traceHash: UInt64 { trace.value }

    /// The wall clock when a world begins: 2026-01-01.
    public static let epoch: UInt64 = 1_767_225_600_000

    /// What decides everything that a test leaves open.
    public let seed: UInt64
    var events = EventQueue<Occurrence>()
    var nextNumber: UInt64 = 1
    var wires: [LinkID: Wire] = [:]
    var models: [Way: LinkModel] = [:]
    /// Models of one direction.
    var directionModels: [Way: LinkModel] = [:]
    var separated: Set<Way> = [] { didSet { onEvent?(.reachChanged) } }
    var blocked: Set<Way> = [] { didSet { onEvent?(.reachChanged) } }
    var random: SeededRandom
    var wayRandom: [Way: SeededRandom] = [:]
    var trace = Trace()
    let signatures = SignatureBook()
    /// The seeds of all epochs, for those who look on.
    public let seedBook = SeedBook()
    /// Rosters that were worked out, by what they follow from.
    var rosters: [RosterKey: Roster?] = [:]
    /// The first difference as it was last looked for, and what it hung on.
    var knownDifference: (state: WorldState, difference: Difference?)?
    static let rosterCountMax = 1_024
    /// Conversations that a test made.
    var conversations: [SpaceID: KnownConversation] = [:]
    /// Ways of repair that no node has: each of the others must do alone what it is for.
    public var switchedOff: Set<RepairPath> = []
    /// Relays, in the order in which they were added.
    public internal(set) var relays: [SimulatedRelay] = []
    /// Whether nodes have programs for sound and pictures. Without them calls are answered, and no
    /// connection comes about.
    public var hasMedia = false
    /// Connections for sound and pictures, by their ends.
    var sounds: [SoundEnd: SoundState] = [:]
    /// Nodes that reach no relay.
    var relayless: Set<Int> = []
    /// Asked now and then whether real time is up; nil for a world that may take as long as it
    /// needs.
    public var isOverdue: (() -> Bool)?
    /// Whether real time was up: from then on nothing happens any more.
    public private(set) var wasCutShort = false
    private var eventCount = 0
    /// What a call that cannot throw found wrong.
    var mistake: WorldError?
    /// Logs whose branches no list of tips tells apart: all that arrive have the receiver's own check.
    var indistinct: Set<LogTag> = []
    /// Bits that turn over in the next frame of a way.
    var flips: [Way: Int] = [:]

    /// An empty world.
    public init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed, purpose: "handshakes")
    }

    // MARK: Who is in it

    /// A new node, started. It knows nobody.
    ///
    /// - Parameter store: what it keeps its operations on.
    /// - Throws: ``WorldError`` where there is a node of this name.
    public func addNode(
        _ name: String, on store: StoreChoice = .memory
    ) throws -> SimulatedNode {
        guard !nodes.contains(where: { $0.name == name }) else {
            throw error(.nameTaken, "there is a node \(name) already")
        }
        let index = nodes.count
        let node = try remembering {
            try SimulatedNode(name: name, seed: seed, index: index, on: store)
        }
        _ = try begin(node, profile: name)
        if contactsMayAdd { _ = try perform(.setAdditionPolicy(.contacts), on: node) }
        return node
    }

    /// A node that was made for the next place begins.
    func begin(_ node: SimulatedNode, profile: String?) throws -> SimulatedNode {
        node.world = self
        nodes.append(node)
        offer(.started, to: node.index)
        _ = try perform(.setProfile(name: profile, addresses: [String(node.index)]), on: node)
        return node
    }

    /// Carries out a command at once.
    public func perform(
        _ command: Command, on node: SimulatedNode
    ) throws(CommandRefusal) -> CommandReply {
        let id = CommandID(nextNumber)
        nextNumber += 1
        guard let index = place(of: node) else { throw .notAllowed }
        remembering { offer(.command(id, command), to: index) }
        guard let reply = node.replies.removeValue(forKey: id) else { throw .rejoining }
        return try reply.get()
    }

    /// The person writes a message.
    @discardableResult
    public func type(
        _ text: String, on node: SimulatedNode, in space: SpaceID
    ) throws(CommandRefusal) -> OperationNumber {
        let reply = try perform(
            .send(space, [TextMessage(text: text)], replyingTo: nil), on: node)
        guard case .messages(let numbers) = reply, let number = numbers.first else {
            throw .unknownConversation
        }
        return number
    }

    // MARK: Time

    /// Lets time pass.
    public func run(for milliseconds: UInt64) {
        let end = now + milliseconds
        remembering {
            while !wasCutShort, let event = events.next(until: end) {
                now = max(now, event.time)
                happens(event.element, order: event.order)
                eventCount += 1
                if eventCount % Self.eventsPerQuestion == 0 { askWhetherOverdue() }
            }
        }
        now = end
    }

    /// How many events happen between two looks at real time.
    private static let eventsPerQuestion = 256

    /// Looks whether real time is up, and lets nothing happen from then on.
    public func askWhetherOverdue() { wasCutShort = wasCutShort || isOverdue?() == true }

    /// Looks at stores without taking part: what is read meanwhile counts for no planned failure.
    public func observe<R>(_ look: () throws -> R) rethrows -> R {
        let before = nodes.map(\.store.isObserved)
        for node in nodes { node.store.isObserved = true }
        defer { for (node, was) in zip(nodes, before) { node.store.isObserved = was } }
        return try remembering(look)
    }

    /// Folds bytes into ``traceHash``, as the digest of what was reached.
    public func note(_ bytes: [UInt8]) { trace.add(bytes) }
}
