import ParleyCheckers
public import ParleySimulation

/// What an observer of a world collects, for the strip chart, the report and the timeline.
///
/// It listens from ``init(of:dishonest:)`` until ``finish()``. What happens by decision the player
/// tells it; all else it sees by itself. It is bounded: frames are bundled ever more coarsely,
/// samples are taken ever more seldom, and of everything else the first so many are kept and the
/// rest is counted. It draws nothing and changes nothing: a recorded run is the same run.
public final class Recording {
    /// How often held operations are counted, in virtual milliseconds, at first.
    public static let sampleEvery: UInt64 = 5_000
    /// How long the strip chart is silent while only counts change, in virtual milliseconds.
    public static let lineEvery: UInt64 = 60_000

    /// Is given the lines of the strip chart, its header first.
    public var onLine: ((String) -> Void)?

    let world: World
    let dishonest: Set<String>
    var nodes: [NodeRecord] = []
    var traffic = Traffic()
    var phases = Bounded<PhaseMark>(1_000)
    var acts = Bounded<ActMark>(20_000)
    var incidents = Bounded<IncidentMark>(20_000)
    var reaches = Bounded<(at: UInt64, reach: Reach)>(10_000)
    var samples: [Sample] = []
    var sampleInterval = Recording.sampleEvery
    var equalities = Bounded<(at: UInt64, isEqual: Bool)>(10_000)
    var divergence: Happening?
    var ending: (verdict: Report.Verdict, at: UInt64, events: [Happening])?
    var actCounts: [String: Int] = [:]
    var refusedCount = 0
    var linkCount = 0
    var brokenLinkCount = 0
    var partingCount = 0
    /// When who reaches whom last changed, until that was looked at.
    var reachChangedAt: UInt64?
    var reach = Reach.whole(0)
    /// What the next line of the strip chart tells, and of when.
    var words: (at: UInt64, words: [String])?
    var lastLine: UInt64?
    var hasHeader = false
    var isEqual = false
    /// Whether something was told since all were said to be equal.
    var isEqualNews = true
    /// The counts at which equality was last looked at in full.
    var comparedAt: [Int] = []
    /// How the nodes were when operations were last counted.
    var countedAt: [NodeState] = []

    /// Begins to record. Other observers of the world's events are replaced.
    ///
    /// - Parameter dishonest: names of nodes that misbehave: nothing is promised about them.
    public init(of world: World, dishonest: Set<String> = []) {
        self.world = world
        self.dishonest = dishonest
        meetNodes()
        world.onEvent = { [unowned self] event in happened(event) }
    }

    /// Ends the recording, and says what is still to be said. What was collected stays.
    public func finish() {
        settleReach(before: .max)
        look()
        flushLine(before: .max)
        world.onEvent = nil
    }

    // MARK: What the player tells

    /// A new phase begins.
    public func phase(_ name: String) {
        settleReach(before: world.now)
        phases.append(PhaseMark(at: world.now, name: name))
        say("== \(name)")
        look()
    }

    /// An act is about to be carried out, or was refused.
    ///
    /// - Parameter isRefused: whether the node refused it, or it meant nothing in this state.
    public func acted(_ act: Act, isRefused: Bool = false) {
        settleReach(before: world.now)
        let name = act.do.name
        actCounts[name, default: 0] += 1
        if isRefused { refusedCount += 1 }
        let node = nodes.firstIndex { $0.name == act.node }
        let words = act.do.words
        acts.append(
            ActMark(
                at: world.now, node: node, name: name, words: words, isRefused: isRefused,
                isFault: act.do.isFault))
        if let node { nodes[node].recent.add(.acted(words), at: world.now) }
    }

    /// A promise was broken, or the run is over. The first verdict counts, and with it what had
    /// happened until then: tell it at once.
    public func verdict(_ verdict: Report.Verdict) {
        guard ending == nil else { return }
        let sentence = verdict.sentence ?? ""
        let concerned = nodes.filter { sentence.containsName($0.name) }
        let names = nodes.map(\.name)
        var events: [Happening] = []
        if verdict.outcome != .kept {
            for node in concerned.isEmpty ? nodes : concerned {
                events += node.recent.happenings(of: node.name, names)
            }
        }
        // A stable order: by time, and at one time by node.
        events = events.enumerated()
            .sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
        ending = (verdict, world.now, events)
        if verdict.outcome == .broken {
            for index in nodes.indices where sentence.containsName(nodes[index].name) {
                nodes[index].isBroken = true
            }
        }
        if verdict.invariant == "I1" { diverged(sentence) }
        say(
            [verdict.outcome.rawValue, verdict.invariant, verdict.sentence].compactMap { $0 }
                .joined(separator: " "))
    }

    /// Two members who hold the same show another; the first time counts.
    public func diverged(_ sentence: String) {
        guard divergence == nil else { return }
        divergence = Happening(at: world.now, node: "", what: sentence)
        say("first difference: \(sentence)")
    }
}

// MARK: What is kept

/// Where a phase begins.
struct PhaseMark {
    var at: UInt64
    var name: String
}

/// An act that was carried out.
struct ActMark {
    var at: UInt64
    /// Nil where it concerns nobody in particular.
    var node: Int?
    var name: String
    var words: String
    var isRefused: Bool
    var isFault: Bool
}

/// Something that broke by itself, or came back.
struct IncidentMark {
    enum Kind: String {
        case died, lostPower, started, stepFailed, clockJumped
    }

    var at: UInt64
    var node: Int
    var kind: Kind
    var words: String
}

/// How much everybody held at one moment.
struct Sample {
    var at: UInt64
    var held: [Int]
    var lacking: [Int]
}

/// What is known of one node.
struct NodeRecord {
    var name: String
    var isDown = false
    var isBroken = false
    var held = 0
    var lacking = 0
    var writtenCount = 0
    var receivedCount = 0
    var duplicateCount = 0
    var crashCount = 0
    var powerLossCount = 0
    var failedStepCount = 0
    var clockJumpCount = 0
    var viewChangeCount = 0
    var framesIn = 0
    var framesOut = 0
    var bytesIn = 0
    var bytesOut = 0
    var recent = Recent()
    /// Rows of its store at its last step.
    var rowCount: Int
    /// Operations in the frame that it is about to look at.
    var arrivingCount = 0
    var skew: Int64

    init(_ node: SimulatedNode) {
        name = node.name
        rowCount = node.store.operationCount
        skew = node.clock.skew
        isDown = node.isDown
    }
}

extension String {
    /// Whether a name stands in this sentence as a word of its own.
    func containsName(_ name: String) -> Bool {
        split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "_" }.contains { $0 == name }
    }
}
