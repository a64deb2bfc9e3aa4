public import ParleyConversation
public import ParleyLedger
public import ParleyNodeCore
import ParleyFiles
import ParleyRoster
import ParleySealing
public import ParleyWire

/// A node of a simulated world: the production core on a store in memory, or on
/// the production store and a simulated disk.
///
/// It plays the shell: a transaction around each step, effects after the commit, and the core put
/// back to its value before the step where the store fails.
public final class SimulatedNode {
    /// Its place in ``World/nodes``.
    public let index: Int
    /// What the person is called.
    public let name: String
    /// Keys and identity.
    public let identity: NodeIdentity
    /// What the person's recovery code makes, where the person began with this device.
    let rootKey: DeviceSigningKey?
    /// The disk. Another one after a death, where that is how the store survives it.
    public private(set) var store: any SimulatedStore
    /// Why the store could not be opened again, or nil. Such a node stays down.
    public private(set) var refusal: String?
    /// The node itself.
    public private(set) var core: NodeCore
    /// Its connections, by the link of who dialled, until both ends have hung up.
    var connections: [LinkID: Wire] = [:]
    /// Timers that are set, by the place that each has in the order of events.
    public internal(set) var timers: [TimerID: UInt64] = [:]
    /// Sealed files that its person was about to send, or has sent.
    public var stagedFiles: Set<BlobID> = []
    /// Replies to commands, by the command.
    var replies: [CommandID: Result<CommandReply, CommandRefusal>] = [:]
    /// How often the store failed and the step was undone.
    public private(set) var failedStepCount = 0
    /// The clocks of its machine.
    public var clock = NodeClock()
    /// The death that is planned for it, if any.
    public var plannedDeath: PlannedDeath?
    /// Whether its process is not running.
    public private(set) var isDown = false
    /// How often its process has died: what was meant for an earlier life no longer happens.
    public private(set) var life = 0
    /// What the guard file beside its store says of its own logs: the place after the last of
    /// each. A store that falls behind it has lost something.
    public var guardEnds: [LogTag: UInt64] = [:]
    /// The version of the newest part of its card that the guard file remembers, where the store keeps
    /// none of its own.
    public var guardCardVersion = CardVersion.zero
    /// Whether something that this device wrote may not survive a loss of power: nothing leaves
    /// before it does.
    private var owesDurability = true
    /// Whether received operations wait for the disk.
    var awaitsDisk = false
    /// Whether it has only done what the production program does; see `World+Malice.swift`.
    public internal(set) var isHonest = true
    /// What it does to every frame that leaves it.
    var disguise = Disguise()
    /// How often it sent too much.
    var lieCount = 0
    /// The identity log that was last read, and when: see ``knows(thatRevoked:)``.
    var identityRead: (change: UInt64, life: Int, log: IdentityLog)?
    /// The newest messages of conversations as they were last read, and when.
    private var messagesRead: [MessagesAsked: (change: UInt64, life: Int, messages: [Message])] =
        [:]
    private var isGuardStale = false
    private var guardWrittenAt: UInt64 = 0

    /// The world that it lives in, which outlives it.
    public internal(set) weak var world: World?

    private var random: SeededRandom

    private init(
        name: String, seed: UInt64, index: Int, identity: NodeIdentity,
        store: any SimulatedStore, rootKey: DeviceSigningKey? = nil, isHonest: Bool = true
    ) {
        self.name = name
        self.index = index
        self.identity = identity
        self.store = store
        self.rootKey = rootKey
        self.isHonest = isHonest
        random = SeededRandom(seed: seed, purpose: "node \(index), core")
        core = NodeCore(identity: identity)
    }

    /// The first device of a new person, with keys of its own, and streams that no other node shares.
    convenience init(name: String, seed: UInt64, index: Int, on choice: StoreChoice) throws {
        var keys = SeededRandom(seed: seed, purpose: "node \(index), keys")
        let root = DeviceSigningKey.generate(using: &keys)
        let key = DeviceSigningKey.generate(using: &keys)
        let noise = DeviceNoiseKey.generate(using: &keys)
        let log = try IdentityLog.founded(
            root: root, device: key, noiseKey: noise.publicKey, time: 0, using: &keys)
        self.init(
            name: name, seed: seed, index: index,
            identity: NodeIdentity(log: log, key: key, noiseKey: noise.publicKey),
            store: try choice.make(keys.next()), rootKey: root)
    }

    /// A further device of a person.
    ///
    /// - Parameters:
    ///   - certify: makes its keys the person's, and tells what the person's devices are then.
    ///   - fill: stores what it begins with.
    convenience init(
        name: String, seed: UInt64, index: Int, on choice: StoreChoice,
        certifiedBy certify: (DeviceSigningKey, NoiseKey) throws -> IdentityLog,
        holding fill: (any SimulatedStore) throws -> Void
    ) throws {
        // Not by its place among the nodes: whom the person certified without hearing of it, because
        // they died over it, leaves that place to the next, whoever's that is.
        var keys = SeededRandom(seed: seed, purpose: "device \(name), keys")
        let key = DeviceSigningKey.generate(using: &keys)
        let noise = DeviceNoiseKey.generate(using: &keys)
        let log = try certify(key, noise.publicKey)
        self.init(
            name: name, seed: seed, index: index,
            identity: NodeIdentity(log: log, key: key, noiseKey: noise.publicKey),
            store: try choice.make(keys.next()))
        try store.begin(.full)
        do {
            try fill(store)
            try store.commit()
        } catch {
            store.rollback()
            throw error
        }
    }

    /// A node on a copy of another's disk, with its keys: the thief's. It lies by being there.
    convenience init(
        copying victim: SimulatedNode, name: String, seed: UInt64, index: Int
    ) throws {
        self.init(
            name: name, seed: seed, index: index, identity: victim.identity,
            store: try victim.store.copy(), isHonest: false)
    }

    /// One input in one transaction, as every shell makes it: what was written here is durable
    /// before anybody hears of it.
    func step(_ input: Input, at now: Instant) -> StepOutcome {
        // Keeping the value makes every change in the step a copy: only where it may be needed.
        let before = store.mayFail ? core : nil
        let drawn = random
        let effects: [Effect]
        do {
            try store.begin(input.isOwn ? .full : .normal)
            effects = try core.step(input, at: now, in: store, using: &random)
            try store.commit()
        } catch {
            store.rollback()
            guard let before else { preconditionFailure("a store fails only where it was told") }
            core = before
            // How much a step drew before the store failed follows the order in which it looked at a
            // set, which differs from process to process: one number is used up, whatever it drew.
            random = drawn
            _ = random.next()
            failedStepCount += 1
            return .undone
        }
        let mustBeDurable = effects.contains { if case .commitFully = $0 { true } else { false } }
        keepGuard(at: now, wroteOwn: input.isOwn || mustBeDurable)
        guard (mustBeDurable && !input.isOwn) || owesDurability else { return .done(effects) }
        do {
            try store.makeDurable()
            owesDurability = false
            return .done(effects)
        } catch {
            owesDurability = true
            failedStepCount += 1
            return .untold(effects)
        }
    }

    /// Whether the node is to be woken for this at some time.
    public func awaits(_ timer: TimerID) -> Bool { timers[timer] != nil }

    /// One step nearer to the planned death; returns it where it is due now.
    func countDown() -> PlannedDeath? {
        guard let death = plannedDeath else { return nil }
        plannedDeath?.stepCount -= 1
        guard death.stepCount <= 1 else { return nil }
        plannedDeath = nil
        return death
    }

    /// The store is set back to what it was when the copy was made, as from an old backup.
    ///
    /// Start the node again before anything else: what it remembers is of another store.
    public func setBack(to copy: StoreSnapshot) { open { try copy.putBack() } }

    /// The process dies; with the power, commits that were not durable are lost.
    func stop(losingPower: Bool) {
        open { try store.afterDeath(losingPower: losingPower) }
        if losingPower { (store.blobs as? MemoryBlobs)?.losePower() }
        core = NodeCore(identity: identity)
        life += 1
        isDown = true
        awaitsDisk = false
        owesDurability = true
    }

    /// The process starts, knowing nothing but its store.
    ///
    /// - Parameter rejoin: what its shell found out; nil for what the store found out itself.
    func start(rejoin: Rejoin?) {
        guard refusal == nil else { return }
        core = NodeCore(
            identity: identity, rejoin: rejoin ?? store.foundBehind ?? behindGuard(),
            cardVersion: max(guardCardVersion, store.guardedCardVersion))
        isDown = false
    }

    /// What the guard knows and the store lacks, as the shell finds it out at every start.
    private func behindGuard() -> Rejoin? {
        if guardEnds.isEmpty { return nil }
        let wasObserved = store.isObserved
        store.isObserved = true
        defer { store.isObserved = wasObserved }
        var held: [LogTag: UInt64] = [:]
        do {
            for space in try store.spaces() {
                for log in try store.logs(in: space.number) { held[log.tag] = log.end }
            }
        } catch {
            return Rejoin(reason: "the store cannot be read", ends: guardEnds, needsPeer: true)
        }
        let isWhole = guardEnds.allSatisfy { held[$0.key] ?? 0 >= $0.value }
        return isWhole ? nil : Rejoin(reason: "behind", ends: guardEnds, needsPeer: false)
    }

    private func open(_ body: () throws -> any SimulatedStore) {
        let wasObserved = store.isObserved
        do {
            store = try body()
            store.isObserved = wasObserved
            refusal = nil
        } catch {
            refusal = "\(error)"
        }
    }

    // MARK: The guard

    /// What every shell does off the path of messages: it writes down how far its logs are.
    private func keepGuard(at now: Instant, wroteOwn: Bool) {
        if wroteOwn { isGuardStale = true }
        guard isGuardStale, core.rejoin == nil, now.monotonic >= guardWrittenAt + 1_000 else {
            return
        }
        do {
            try writeGuard()
            guardWrittenAt = now.monotonic
            isGuardStale = false
        } catch {
            // As in production: the guard is a lower bound, and the next one will do.
        }
    }

    /// Its process ends in good order, which writes the guard: nobody replaces a disk that is in use.
    public func endInGoodOrder() {
        let wasObserved = store.isObserved
        store.isObserved = true
        defer { store.isObserved = wasObserved }
        // What cannot be written is a lower bound still.
        do { try writeGuard() } catch {}
    }

    private func writeGuard() throws {
        let wasObserved = store.isObserved
        store.isObserved = true
        // A card that cannot be read tells nothing: what was remembered before stays.
        let version = try? CardReader.version(of: identity, store)
        store.isObserved = wasObserved
        guardCardVersion = max(guardCardVersion, version ?? .zero)
        try store.rememberHeads(
            of: identity.device, cardVersion: guardCardVersion, isBehind: core.isBehind)
    }

    /// What every shell does when secrets were dropped. What fails is done the next time.
    func forgetKeys() {
        do { try store.forgetKeys() } catch {}
    }

    /// What every shell does with a sealed file that nobody names. What fails is looked for again.
    public func remove(_ blob: BlobID) {
        do {
            if try HeldFile.isUnneeded(blob, in: store) { try store.blobs.removeBlob(blob) }
        } catch {}
    }

    /// Its disk decays: nothing more is promised about it, but that others take no harm.
    public func distrust() { isHonest = false }

    func randomBytes(_ count: Int) -> [UInt8] { random.bytes(count) }

    func randomNumber() -> UInt64 { random.next() }
}

/// What came of a step.
enum StepOutcome {
    /// It happened, and these are its effects.
    case done([Effect])
    /// The store failed, and nothing happened.
    case undone
    /// It happened, and nobody may be told: the power could still take it back.
    case untold([Effect])
}

// MARK: What a person sees

extension SimulatedNode {
    /// The conversations, in the order in which they came.
    public func conversations() throws -> [SpaceRecord] {
        try observing { try store.spaces().filter { $0.kind != .own } }
    }

    /// The newest messages of a conversation, oldest first, as the production code reads them.
    ///
    /// ``shown(in:limit:)`` tells the same by the names of nodes.
    public func messages(in space: SpaceID, limit: Int = 1000) throws -> [Message] {
        try checkMembership(of: space)
        let asked = MessagesAsked(space: space, limit: limit)
        let change = store.changeCount
        if let change, let read = messagesRead[asked], read.change == change, read.life == life {
            return read.messages
        }
        let messages = try readMessages(in: space, limit: limit)
        messagesRead[asked] = change.map { ($0, life, messages) }
        return messages
    }

    private func readMessages(in space: SpaceID, limit: Int) throws -> [Message] {
        try observing {
            guard let record = try store.space(space), let roster = try roster(of: record)
            else { return [] }
            let hasRelays = world?.relays.isEmpty == false
            let timeline = Timeline(
                of: record, roster: roster, ownPerson: identity.person,
                relayed: hasRelays
                    ? try Outbox.relayed(of: record, by: identity.device, in: store) : [:])
            return try timeline.page(limit: limit, in: store).reversed()
        }
    }

    /// The texts of a conversation, oldest first; "(deleted)" for one that was taken back.
    ///
    /// - Throws: ``WorldError`` where the node is not in the conversation. A member that has not
    ///   heard of it yet sees nothing.
    public func texts(in space: SpaceID) throws -> [String] {
        try messages(in: space).map { $0.text ?? "(deleted)" }
    }

    /// One hash over all that members of a conversation see alike, or nil where it is unknown.
    public func digest(of space: SpaceID) throws -> Digest? {
        try observing {
            guard let record = try store.space(space), let roster = try roster(of: record)
            else { return nil }
            return try ViewDigest.digest(of: record, roster: roster, in: store)
        }
    }

    /// Looks at the store: what is read meanwhile counts for no planned failure.
    func observing<R>(_ look: () throws -> R) rethrows -> R {
        let before = store.isObserved
        store.isObserved = true
        defer { store.isObserved = before }
        return try look()
    }
}

/// What was asked of ``SimulatedNode/messages(in:limit:)``.
private struct MessagesAsked: Hashable {
    let space: SpaceID
    let limit: Int
}
