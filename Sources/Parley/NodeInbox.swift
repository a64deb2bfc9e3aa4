import ParleyNodeCore
import ParleySealing
import ParleyWire
import Synchronization

/// What waits to be stepped, each sender in a queue of its own.
///
/// Inputs from this machine, commands and timers, come first; then every sender gets one input per
/// turn, so that a busy sender delays only itself. Each queue is bounded: a sender whose queue is
/// full is not read. A queue ends with its sender.
struct NodeInbox {
    /// Who fills a queue.
    enum Sender: Hashable, Sendable {
        case link(LinkID)
        case relay(NoiseKey)
        /// The local network.
        case neighbours
    }

    /// Inputs of one sender that may wait.
    static let senderInputCountMax = 256
    /// Bytes of one sender that may wait: two of the longest frames.
    static let senderByteCountMax = 2 * Limits.frameByteCountMax
    /// Bytes of all senders; above it each may have one input waiting.
    static let byteCountMax = 16 << 20
    /// Inputs of this machine that go before a sender has its turn.
    static let urgentCountMax = 8

    private struct Lane {
        var inputs: Queue<Input> = []
        var byteCount = 0
        /// Its sender does not read its output: nothing is accepted from it meanwhile.
        var isHeld = false
        /// This node ended the link: what still comes is not looked at.
        var isEnding = false
        /// Its sender found it full and waits.
        var isAwaited = false
        /// It stands in `turns`.
        var hasTurn = false
    }

    private var urgent: Queue<Input> = []
    private var lanes: [Sender: Lane] = [:]
    private var turns: Queue<Sender> = []
    /// Bytes that wait, of all senders.
    private(set) var byteCount = 0
    private var urgentRun = 0

    /// Whether nothing can be taken. A turn may be of a sender that was held or ended meanwhile.
    var isEmpty: Bool {
        urgent.isEmpty
            && !turns.contains { sender in
                lanes[sender].map { !$0.isHeld && !$0.inputs.isEmpty } ?? false
            }
    }

    /// Whether the next input makes a transaction durable. See ``Input/isOwn``.
    var beginsOwn: Bool { urgent.first?.isOwn ?? false }

    /// Bytes of one sender that wait.
    func byteCount(of sender: Sender) -> Int { lanes[sender]?.byteCount ?? 0 }

    // MARK: Coming in

    /// Takes in what happened.
    mutating func add(_ input: Input) {
        guard let sender = input.sender else { return urgent.append(input) }
        var lane = lanes.removeValue(forKey: sender) ?? Lane()
        if case .linkClosed = input {
            // Nobody is left who could read, or be kept from sending.
            (lane.isHeld, lane.isAwaited, lane.isEnding) = (false, false, false)
        }
        if !lane.isEnding {
            lane.inputs.append(input)
            lane.byteCount += input.byteCount
            byteCount += input.byteCount
        }
        keep(lane, of: sender)
    }

    /// Whether a sender may bring one more; if not, ``takeFreed()`` names it once it may.
    mutating func hasRoom(for sender: Sender) -> Bool {
        guard let lane = lanes[sender], !lane.inputs.isEmpty || lane.isHeld else { return true }
        let isFull =
            lane.isHeld || lane.inputs.count >= Self.senderInputCountMax
            || lane.byteCount >= Self.senderByteCountMax || byteCount >= Self.byteCountMax
        if isFull { lanes[sender]?.isAwaited = true }
        return !isFull
    }

    // MARK: Going out

    /// The next input: of this machine's, then of the sender whose turn it is.
    ///
    /// - Parameter mayBeOwn: whether one that makes its transaction durable may be taken.
    mutating func next(mayBeOwn: Bool = true) -> Input? {
        if let first = urgent.first, urgentRun < Self.urgentCountMax || turns.isEmpty {
            guard mayBeOwn || !first.isOwn else { return nil }
            urgentRun += 1
            return urgent.popFirst()
        }
        urgentRun = 0
        while let sender = turns.popFirst() {
            guard var lane = lanes.removeValue(forKey: sender) else { continue }
            lane.hasTurn = false
            guard !lane.isHeld, let input = lane.inputs.popFirst() else {
                keep(lane, of: sender)
                continue
            }
            lane.byteCount -= input.byteCount
            byteCount -= input.byteCount
            keep(lane, of: sender)
            return input
        }
        return nil
    }

    /// Senders that found no room and have it now; each is told once.
    mutating func takeFreed() -> [Sender] {
        var freed: [Sender] = []
        // The one told first reads first: nothing else follows from the order.
        for (sender, lane) in lanes where lane.isAwaited && !lane.isHeld {
            let isHalf =
                lane.inputs.count <= Self.senderInputCountMax / 2
                && lane.byteCount <= Self.senderByteCountMax / 2
            if isHalf, byteCount < Self.byteCountMax { freed.append(sender) }
        }
        for sender in freed {
            lanes[sender]?.isAwaited = false
            if let lane = lanes.removeValue(forKey: sender) { keep(lane, of: sender) }
        }
        return freed
    }

    // MARK: Senders

    /// Accepts nothing from a sender that does not read its output, or resumes.
    mutating func hold(_ sender: Sender, _ isHeld: Bool) {
        guard var lane = lanes.removeValue(forKey: sender) ?? (isHeld ? Lane() : nil) else {
            return
        }
        lane.isHeld = isHeld
        keep(lane, of: sender)
    }

    /// Drops what waits of a link that this node ends, and what still arrives.
    mutating func end(_ link: LinkID) {
        let sender = Sender.link(link)
        var lane = lanes.removeValue(forKey: sender) ?? Lane()
        byteCount -= lane.byteCount
        let isOver = lane.inputs.last?.isEnd == true
        lane.byteCount = 0
        lane.inputs = isOver ? [.linkClosed(link)] : []
        lane.isEnding = !isOver
        lane.isHeld = false
        keep(lane, of: sender)
    }

    /// Drops what all senders brought: the node is going away.
    mutating func endAll() {
        lanes = [:]
        turns = []
        byteCount = 0
    }

    /// Puts a queue back, in turn where something can be taken from it; one that nothing is to be
    /// known of is forgotten.
    private mutating func keep(_ changed: Lane, of sender: Sender) {
        var lane = changed
        if !lane.inputs.isEmpty, !lane.isHeld, !lane.hasTurn {
            lane.hasTurn = true
            turns.append(sender)
        }
        let isForgotten =
            lane.inputs.isEmpty && !lane.isHeld && !lane.isEnding && !lane.isAwaited
            && !lane.hasTurn
        lanes[sender] = isForgotten ? nil : lane
    }
}

extension Input {
    /// Who it is of; nil for this machine's own.
    fileprivate var sender: NodeInbox.Sender? {
        switch self {
        case .linkOpened(let link, _), .linkClosed(let link), .frame(let link, _),
            .roomOn(let link):
            .link(link)
        case .relay(let relay, _): .relay(relay)
        case .sighted: .neighbours
        case .started, .dialFailed, .networkChanged, .timer, .command, .madeDurable,
            .fileKept:
            nil
        }
    }

    fileprivate var isEnd: Bool { if case .linkClosed = self { true } else { false } }

    /// Its approximate memory use.
    fileprivate var byteCount: Int {
        switch self {
        case .frame(_, let bytes): 256 + bytes.count
        case .relay(_, .arrived(_, let entries)),
            .relay(_, .answered(_, .entries(let entries, _, _))):
            entries.reduce(256) { $0 + 128 + $1.envelope.count }
        case .relay(_, .passed(_, let envelope)): 256 + envelope.count
        case .relay, .started, .linkOpened, .linkClosed, .dialFailed, .networkChanged, .sighted,
            .timer, .command, .madeDurable, .roomOn, .fileKept:
            256
        }
    }
}

/// What shares a transaction.
enum BatchLimits {
    /// Inputs, at most.
    static let countMax = 512
    /// After so many milliseconds no further input joins.
    static let timeMax: UInt64 = 50
    /// Nor after so many bytes that are to be sent: a peer that does not read them is found out
    /// before more is made for it.
    static let byteCountMax = 2 << 20
    /// How long pending inputs are still stepped at the end, in milliseconds.
    static let farewellTimeMax: UInt64 = 300
}

/// The inbox that all threads fill and the node's actor empties.
final class SharedInbox: Sendable {
    private struct State {
        var waiting = NodeInbox()
        var isScheduled = false
    }
    private let state = Mutex(State())

    /// Whether somebody is to step what waits.
    var isScheduled: Bool { state.withLock { $0.isScheduled } }

    /// Changes what waits. Returns whether the actor has to be called, which is then due.
    func change(_ change: (inout NodeInbox) -> Void) -> Bool {
        state.withLock { state in
            change(&state.waiting)
            guard !state.isScheduled, !state.waiting.isEmpty else { return false }
            state.isScheduled = true
            return true
        }
    }

    /// Examines or takes waiting inputs.
    func read<R: Sendable>(_ body: (inout NodeInbox) -> R) -> R {
        state.withLock { body(&$0.waiting) }
    }

    /// The actor has done its turn. Returns whether another one is due.
    func endTurn() -> Bool {
        state.withLock { state in
            state.isScheduled = !state.waiting.isEmpty
            return state.isScheduled
        }
    }
}
