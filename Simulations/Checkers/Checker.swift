import ParleyLedger
import ParleyNodeCore
public import ParleySimulation
import ParleyWire

/// A promise that was broken.
public struct Violation: Error, Codable, Equatable, Sendable, CustomStringConvertible {
    /// The invariant, as "I4".
    public let invariant: String
    /// What was seen, in a sentence that names the nodes.
    public let sentence: String

    /// A violation with these fields.
    public init(_ invariant: String, _ sentence: String) {
        self.invariant = invariant
        self.sentence = sentence
    }

    /// The invariant and the sentence.
    public var description: String { "\(invariant): \(sentence)" }
}

/// One promise of the node, watched from outside. Each lives in a file of its own.
///
/// A checker knows what nodes store and what they are fed, never why: what the production code
/// believes of itself is no evidence.
public protocol Checker: AnyObject {
    /// The promise's number in the list of invariants.
    static var invariant: String { get }
    /// Whether it looks at files, and so says nothing of a world where no node has a disk.
    static var needsDisk: Bool { get }
    /// Whether it is about relays, and so says nothing of a world without one.
    static var needsRelay: Bool { get }
    /// How often something was compared: a checker that never looked proves nothing.
    var checkCount: Int { get }
    /// A step was made.
    func observed(_ step: StepReport) throws
    /// A node died and has not started again; with the power it lost what was not durable.
    func died(_ node: SimulatedNode, losingPower: Bool) throws
    /// An old copy was put in the place of a node's disk: what it promised since is void.
    func wasSetBack(_ node: SimulatedNode)
    /// A moment to look at everything, while faults may be on.
    func looked(at world: World) throws
    /// A moment to look at what changed since the last one: what was seen in order and has not been
    /// touched need not be looked at again before ``looked(at:)`` or ``settled(_:)``.
    func glanced(at world: World) throws
    /// Faults are over and everybody had the time to become equal.
    func settled(_ world: World) throws
}

extension Checker {
    /// Whatever a node keeps, it can be judged.
    public static var needsDisk: Bool { false }
    /// Whatever ways there are, it can be judged.
    public static var needsRelay: Bool { false }
    /// Nothing to look at.
    public func observed(_ step: StepReport) throws {}
    /// Nothing to look at.
    public func died(_ node: SimulatedNode, losingPower: Bool) throws {}
    /// Nothing to forget.
    public func wasSetBack(_ node: SimulatedNode) {}
    /// Nothing to look at.
    public func looked(at world: World) throws {}
    /// Looks at everything.
    public func glanced(at world: World) throws { try looked(at: world) }
    /// Looks as at any other moment.
    public func settled(_ world: World) throws { try looked(at: world) }

    /// The violation of this promise.
    func violation(_ sentence: String) -> Violation { Violation(Self.invariant, sentence) }
}

/// All checkers of one world.
public final class Jury {
    /// Each promise once.
    public private(set) var checkers: [any Checker]
    /// The first promise that was seen broken.
    public private(set) var verdict: Violation?
    /// Whether promises are watched: off while a world is set up.
    public var isSitting = true

    /// What happened at least once.
    public private(set) var marks = Marks()

    private weak var world: World?
    /// How much each node had stored, and how often it had died, at the last look.
    private var changesSeen: [[UInt64?]] = []

    /// A jury that watches this world.
    ///
    /// - Parameters:
    ///   - seed: for checkers that look at samples; the world's where left out.
    ///   - invariants: the promises that are judged; all where left out.
    public init(of world: World, seed: UInt64? = nil, only invariants: [String]? = nil) {
        self.world = world
        checkers = Self.all(seed: seed ?? world.seed).filter {
            invariants?.contains(type(of: $0).invariant) ?? true
        }
        world.onStep = { [weak self] step in
            self?.marks.saw(step)
            self?.judge { try $0.observed(step) }
        }
        world.onDeath = { [weak self] node, losingPower in
            self?.marks.died(losingPower: losingPower)
            self?.judge { try $0.died(node, losingPower: losingPower) }
        }
    }

    private static func all(seed: UInt64) -> [any Checker] {
        let reader = EnvelopeReader()
        return [
            SameViewEverywhere(), Convergence(), SavedSurvives(), CausesPresent(),
            RedeliveryHarmless(seed: seed), RebuiltViewsEqual(), AcknowledgedIsDurable(),
            RostersAgree(), OneOperationAPlace(), EvidenceSpreads(), QueuesStayBounded(),
            NoStorms(),
            NaiveModelAgrees(), NoPlaintextOnDisk(), ErasedIsGone(), SecretsStayIn(),
            DeliveredIsHeld(), RelaySeesNothing(),
            NoCallRingsForEver(), OneDeviceAnswers(), CallsEndAlike(), NothingVolatileOnDisk(),
            KeySealsOnce(reader), MailboxesHoldWhatAllMayHave(reader), RemovalKeepsWhatWasHeld(),
            NobodyHearsWhoIsKeptAway(), GivenUpStopsRinging(), AnswersStandBelow(), IdleIsQuiet(),
            ConsentIsGiven(), PresenceIsPrivate(), RepeatedIsIgnored(), UsedKeysAreGone(reader),
            NewcomersGetWhatIsGranted(), LinksExpire(), FilesAreWhole(), SeenStandsAbove(),
            EventsTellAll(),
            ReadWasShown(), TakenUpAgain(), HeldIsKnown(), BlockedAreNotRead(reader),
            DueOnce(), BlockedAreNotCounted(), DisappearedInTime(), InvitesEnd(), RulesAreKept(),
            DiscretionIsKept(),
        ]
    }

    /// The numbers of all promises that can be judged.
    public static let invariants = all(seed: 0).map { type(of: $0).invariant }

    /// How often each promise was compared, by its number.
    public var checkCounts: [String: Int] {
        Dictionary(
            checkers.map { (type(of: $0).invariant, $0.checkCount) }, uniquingKeysWith: +)
    }

    /// An old copy was put in the place of a node's disk.
    public func wasSetBack(_ node: SimulatedNode) {
        for checker in checkers { checker.wasSetBack(node) }
    }

    /// Looks at everything now.
    ///
    /// - Parameter isSettled: whether faults are over and all had the time to become equal; then
    ///   the promises about that are judged as well, as ``settle(_:)`` does.
    /// - Throws: the first promise that was seen broken, now or in any step before.
    public func verify(isSettled: Bool = false) throws(Violation) {
        if let world { if isSettled { settle(world) } else { judge { try $0.looked(at: world) } } }
        if let verdict { throw verdict }
    }

    /// Looks at what changed since the last look; not at all where nothing did.
    ///
    /// ``settle(_:)`` and ``verify(isSettled:)`` look at everything.
    public func look(at world: World) {
        let changes = world.nodes.map { [$0.store.changeCount, UInt64($0.life)] }
        let isQuiet = changes == changesSeen && !changes.contains { $0.contains(nil) }
        if isQuiet { return }
        changesSeen = changes
        judge { try $0.glanced(at: world) }
    }

    /// Looks at everything, once all must be equal.
    ///
    /// Promises about files are left out from then on where no node has any.
    public func settle(_ world: World) {
        if world.nodes.allSatisfy({ $0.store.files.isEmpty }) {
            checkers.removeAll { type(of: $0).needsDisk }
        }
        if world.relays.isEmpty { checkers.removeAll { type(of: $0).needsRelay } }
        judge { try $0.settled(world) }
        do { try world.observe { try marks.settle(world) } } catch {
            verdict = verdict ?? Violation("marks", "could not be counted: \(error)")
        }
    }

    private func judge(_ look: (any Checker) throws -> Void) {
        guard isSitting, verdict == nil, let world else { return }
        world.observe { ask(look) }
    }

    private func ask(_ look: (any Checker) throws -> Void) {
        for checker in checkers {
            do {
                try look(checker)
            } catch {
                verdict =
                    error as? Violation
                    ?? Violation(type(of: checker).invariant, "could not be looked at: \(error)")
                return
            }
        }
    }
}

extension World {
    /// The devices that lied at least once.
    var liars: Set<DeviceID> {
        Set(nodes.filter { !$0.isHonest }.map(\.identity.device))
    }
}

extension SimulatedNode {
    /// Every space with all of its logs, ascending.
    func eachSpace() throws(StoreError) -> [(space: SpaceRecord, logs: [LogRecord])] {
        var all: [(space: SpaceRecord, logs: [LogRecord])] = []
        for space in try store.spaces() {
            all.append((space, try store.logs(in: space.number)))
        }
        return all
    }
}
