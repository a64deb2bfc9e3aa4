import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I29: honest nodes that have nothing to say are quiet: in a minute in which nobody wrote, linked,
/// lost a link or was asked for anything, and after some that were so, what each node sends on a link
/// and asks of a relay is within a budget.
///
/// Heartbeats fit it, and what is told again to those who seem to lack something; a round of
/// questions and answers that never ends does not. A question that comes as a letter is not seen here:
/// its answer is let pass once an hour, as often as a node answers one that was asked before. I13
/// measures the world as a whole.
final class IdleIsQuiet: Checker {
    static let invariant = "I29"
    private(set) var checkCount = 0

    /// How much may be sent in a minute.
    struct Budget {
        var messageCount: Int
        var byteCount: Int
        /// So many lists of all tips of a space go beside that.
        var tipListCount = 0

        func fits(_ other: Budget, logCount: Int = 0) -> Bool {
            messageCount <= other.messageCount
                && byteCount <= other.byteCount + other.tipListCount * logCount * 28
        }
    }

    /// To one peer on its links: two heartbeats, and a few rounds. One link is asked at a time: where a space
    /// cannot become equal, the last of many has its first rounds minutes after the last news.
    static let ofLink = Budget(messageCount: 40, byteCount: 4 << 10, tipListCount: 8)
    /// The same once each peer had those, and each round waits twice as long as the one before.
    static let ofLinkLater = Budget(messageCount: 16, byteCount: 4 << 10, tipListCount: 4)
    private static let laterMinuteCount = 12
    /// To one relay: three devices are reminded of a space, and of eight spaces in a minute, each with an
    /// envelope of 4 KiB. That something came is told where it comes, and counted where it was put.
    static let ofRelay = Budget(messageCount: 24, byteCount: 96 << 10)
    /// To one relay in answer to a letter: 128 runs, each in a letter of its own.
    static let ofAnswer = Budget(messageCount: 128 + 24, byteCount: (128 * 4 + 96) << 10)
    private static let answerInterval: UInt64 = 59 * minute
    /// To one peer that does not take a space: one frame of it, beside heartbeats and lists.
    static let ofOffer = Budget(messageCount: 16, byteCount: 68 << 10)
    /// So many minutes are still before one is measured.
    static let stillMinuteCount = 3
    private static let minute: UInt64 = 60_000

    private enum Line: Hashable {
        case link(LinkID)
        case relay(NoiseKey)
    }

    private struct Way: Hashable {
        let node: Int
        let line: Line
    }

    private var sent: [Way: Budget] = [:]
    /// When each let an answer pass last.
    private var answered: [Way: UInt64] = [:]
    /// When each offered a space last, and how long after the time before.
    private var offered: [Way: (last: UInt64, gap: UInt64)] = [:]
    private var minuteBegan: UInt64 = 0
    private var stillCount = 0
    private var isStill = true
    private var operationCounts: [Int: Int] = [:]
    private var names: [Int: String] = [:]

    func observed(_ step: StepReport) throws {
        guard let world = step.node.world else { return }
        try passMinutes(of: world)
        let index = step.node.index
        names[index] = step.node.name
        if isNews(step) { isStill = false }
        guard step.node.isHonest, !step.isLost else { return }
        for effect in step.effects {
            switch effect {
            // A file is under way: it may come only in the next minute.
            case .send(_, let bytes) where bytes.first == Frame.Kind.blobChunk.rawValue:
                isStill = false
            case .send(let link, let bytes): count(bytes.count, index, .link(link))
            case .askRelay(_, let request) where request.isAcknowledgement: continue
            case .askRelay(let relay, let request):
                count(Self.byteCount(of: request), index, .relay(relay))
            default: continue
            }
        }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws { isStill = false }

    func wasSetBack(_ node: SimulatedNode) { isStill = false }

    func looked(at world: World) throws { try passMinutes(of: world) }

    /// Whether something happens that others may have to be told of.
    private func isNews(_ step: StepReport) -> Bool {
        let index = step.node.index
        // Whoever is in a call says so now and then, and whoever lies may say anything.
        if !step.node.isHonest || !step.node.core.calls.all.isEmpty { return true }
        let count = step.node.store.operationCount
        if operationCounts.updateValue(count, forKey: index) != count { return true }
        switch step.input {
        case .started, .linkOpened, .linkClosed, .networkChanged, .sighted, .command,
            .relay(_, .opened), .relay(_, .closed), .relay(_, .leaving), .relay(_, .day), .roomOn,
            .fileKept:
            return true
        // A file is under way.
        case .relay(_, .answered(_, .entries(let entries, _, _)))
        where entries.contains(where: { $0.envelope.count == Limits.chunkByteCount }):
            return true
        case .frame(_, let bytes) where bytes.first == Frame.Kind.blobChunk.rawValue: return true
        case .frame, .dialFailed, .timer, .madeDurable, .relay: return false
        }
    }

    private func count(_ byteCount: Int, _ index: Int, _ line: Line) {
        let way = Way(node: index, line: line)
        var sent = self.sent[way] ?? Budget(messageCount: 0, byteCount: 0)
        sent.messageCount += 1
        sent.byteCount += byteCount
        self.sent[way] = sent
    }

    private static func byteCount(of request: MailboxRequest) -> Int {
        switch request.action {
        case .put(let bytes), .volatile(_, let bytes): bytes.count
        case .open, .get, .subscribe, .unsubscribe, .acknowledge, .pipe: 0
        }
    }

    private func passMinutes(of world: World) throws {
        let now = world.now
        guard now >= minuteBegan + Self.minute else { return }
        defer {
            // What was sent in the meantime belongs to the first minute alone.
            minuteBegan = now / Self.minute * Self.minute
            sent = [:]
            isStill = true
        }
        stillCount = isStill ? stillCount + 1 : 0
        guard stillCount > Self.stillMinuteCount else { return }
        checkCount += sent.count
        let over = try sent.filter { way, spent in
            try !isWithin(spent, of: way, world) && !mayAnswer(way, spent) && !mayOffer(way, spent)
        }.map { sentence($0.key, $0.value) }
        // Which is told does not hang on the order of a dictionary.
        if let first = over.min() { throw violation(first) }
    }

    private func isWithin(_ spent: Budget, of way: Way, _ world: World) throws -> Bool {
        switch way.line {
        case .link:
            let budget = stillCount > Self.laterMinuteCount ? Self.ofLinkLater : Self.ofLink
            if spent.fits(budget) { return true }
            let logCounts = try world.nodes[way.node].eachSpace().map(\.logs.count)
            return spent.fits(budget, logCount: logCounts.max() ?? 0)
        case .relay: return spent.fits(Self.ofRelay)
        }
    }

    /// Whether this may be the answer to a letter; notes that it was.
    private func mayAnswer(_ way: Way, _ spent: Budget) -> Bool {
        guard case .relay = way.line, spent.fits(Self.ofAnswer) else { return false }
        if let last = answered[way], minuteBegan < last + Self.answerInterval { return false }
        answered[way] = minuteBegan
        return true
    }

    /// Whether this may be a space that is offered ever more rarely, as one is that the peer does not take
    /// (`Protocol/06-sync.md`, "SPACES"); notes that it was.
    private func mayOffer(_ way: Way, _ spent: Budget) -> Bool {
        guard case .link = way.line, spent.fits(Self.ofOffer) else { return false }
        guard let known = offered[way] else {
            offered[way] = (minuteBegan, 0)
            return true
        }
        let gap = minuteBegan - known.last
        offered[way] = (minuteBegan, gap)
        return 2 * gap > 3 * known.gap
    }

    private func sentence(_ way: Way, _ spent: Budget) -> String {
        let line =
            switch way.line {
            case .link: "on a link"
            case .relay: "to a relay"
            }
        return "\(names[way.node] ?? "a node") has nothing to say, and sends \(spent.messageCount)"
            + " messages of \(spent.byteCount) bytes \(line) in a minute"
    }
}

extension MailboxRequest {
    fileprivate var isAcknowledgement: Bool {
        if case .acknowledge = action { return true }
        return false
    }
}
