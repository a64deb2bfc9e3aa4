import ParleyLedger
import ParleyNodeCore
import ParleyReconciliation
import ParleyRoster
import ParleySealing
public import ParleySimulation
import ParleyWire

/// I13: nodes that are equal fall silent, and becoming equal costs what was missing and little
/// more.
///
/// Who tells less than is held is sent the rest once more: a complete list of tips is one. Told of
/// the heal by ``begin(_:)``; without it nothing else is measured.
public final class NoStorms: Checker {
    /// The promise's number.
    public static let invariant = "I13"
    /// How often something was measured.
    public private(set) var checkCount = 0
    /// Bytes that each link may cost beside operations.
    static let linkByteCountMax = 64 << 10
    /// Bytes that a silent world may send for each pair of nodes in a minute: heartbeats.
    static let silentByteCountMax = 4 << 10
    /// The same where holes stand in the logs of liars, who never sent what lies there: honest nodes hold
    /// other stretches, and offer them at each heartbeat.
    static let hollowByteCountMax = 16 << 10
    /// So many rounds two nodes may have in a heal that cannot become equal: each waits twice as long as the
    /// one before.
    static let fruitlessRoundCountMax = 16
    /// So long, in minutes, may a slow line take to drain.
    static let minuteCountMax = 5

    /// The first byte of a FRONT. Source: Protocol/06-sync.md, "Frames".
    private static let frontierType: UInt8 = 2

    /// Bytes of operations, by who holds them of which log.
    typealias Holdings = [DeviceID: [LogTag: Int]]

    /// Who takes part in which spaces, as each itself knows.
    private typealias Membership = Set<SpaceMember>

    private struct SpaceMember: Hashable {
        let space: SpaceID
        let device: DeviceID
    }

    private var begun: (bytes: Int, links: Int, held: Holdings, members: Membership)?
    /// Rows that each node's store had after its last step.
    private var rowCounts: [DeviceID: Int64] = [:]
    /// Who is at the other end of each node's links.
    private var peers: [DeviceID: [LinkID: LinkPeer]] = [:]

    /// Nothing is measured yet.
    public init() {}

    /// Faults end now.
    public func begin(_ world: World) throws {
        begun = (
            world.honestByteCount, world.linkCount, try Self.holdings(in: world),
            try Self.membership(in: world)
        )
    }

    /// Compares what is told with what is held.
    public func observed(_ step: StepReport) throws {
        let device = step.node.identity.device
        let rowCount = rowCounts[device] ?? 0
        rowCounts[device] = Int64(step.node.store.operationCount)
        if case .linkOpened(let link, let peer) = step.input {
            peers[device, default: [:]][link] = peer
        }
        guard step.node.isHonest, !step.isLost else { return }
        // A relay brings many letters in one step: what one of them let this node tell, the next
        // may have added to.
        if case .relay = step.input { return }
        for case .send(let link, let bytes) in step.effects where bytes.first == Self.frontierType {
            guard case .frontier(let told) = try Frame.decode(bytes), told.isComplete,
                let space = try step.node.store.space(told.space)
            else { continue }
            let tips = Dictionary(
                told.entries.map { ($0.tag, $0.sequence) }, uniquingKeysWith: max)
            checkCount += 1
            let logs = try step.node.store.logs(in: space.number)
            // Who is out is told of lane 0 alone, and not of all of that.
            let tellsContent = logs.contains { $0.lane != .control && tips[$0.tag] != nil }
            guard tips.isEmpty || tellsContent else { continue }
            // Nothing of the space tells a revoked device yet that it is out.
            if tips.isEmpty, let peer = peers[device]?[link], isRevoked(peer, step.node) {
                continue
            }
            // What lies above a fork or a cut is nobody's business.
            for log in logs
            where log.end > 0 && log.bound == nil && tips[log.tag] != log.end - 1 {
                let next = try step.node.store.operation(
                    at: tips[log.tag].map { $0 + 1 } ?? 0, in: log.number)
                // What a node writes itself after it told, in one step, follows by itself.
                if log.device == device, let next, next.number.rawValue > rowCount { continue }
                throw violation("\(step.node.name) does not tell all that it holds of \(log.tag)")
            }
        }
    }

    /// Whether a device is none of its person's any more, as another of theirs has it.
    private func isRevoked(_ peer: LinkPeer, _ node: SimulatedNode) -> Bool {
        (node.world?.nodes ?? []).contains { other in
            other.identity.person == peer.person && other.identity.device != peer.device
                && other.core.node.log.revoked.contains(peer.device)
        }
    }

    /// While faults are on nothing is promised.
    public func looked(at world: World) throws {}

    /// Waits for a minute of silence, and measures what the heal cost until then.
    public func settled(_ world: World) throws {
        guard let begun else { return }
        try waitForSilence(in: world)
        let useful =
            try Self.gain(from: begun.held, to: Self.holdings(in: world))
            + Self.forgottenByteCount(in: world)
        let spent = world.honestByteCount - begun.bytes
        // Every node may be brought the same by two peers at once, before either knows better.
        let links = world.linkCount - begun.links + world.nodes.count * world.nodes.count
        let fruitless = try Self.fruitlessRoundCountMax * Self.stuckByteCount(in: world)
        let bound =
            useful * 13 / 10 + links * Self.linkByteCountMax + Self.pairCount(in: world) * fruitless
            + (try Self.introductionByteCount(of: begun.members, in: world))
        checkCount += 1
        guard spent <= bound else {
            throw violation("the heal took \(spent) bytes for \(useful) that were missing")
        }
    }

    /// A slow line still drains for a while what has come another way: that costs what the heal may
    /// cost, and ends. A storm does not.
    private func waitForSilence(in world: World) throws {
        let pairs = Self.pairCount(in: world)
        var sent = 0
        for _ in 0..<Self.minuteCountMax {
            let before = (bytes: world.honestByteCount, held: try Self.holdings(in: world))
            world.run(for: 60_000)
            sent = world.honestByteCount - before.bytes
            // What a liar wrote may have waited for causes until now; everybody may bring it once.
            let late = Self.gain(from: before.held, to: try Self.holdings(in: world))
            let silent =
                try hasLiarsHole(world) ? Self.hollowByteCountMax : Self.silentByteCountMax
            let stuck = try Self.stuckByteCount(in: world)
            if sent <= pairs * (silent + stuck) + late * world.nodes.count { return }
        }
        throw violation("equal nodes still sent \(sent) bytes in a minute")
    }

    private static func pairCount(in world: World) -> Int {
        world.nodes.count * (world.nodes.count - 1) / 2
    }

    /// Bytes of liars' logs that some hold and others cannot take, since lane 0 of the liar waits there for ever:
    /// two who ask each other are sent them once more in every round.
    private static func stuckByteCount(in world: World) throws -> Int {
        var most: [LogTag: Int] = [:]
        for node in world.honestNodes {
            for (_, logs) in try node.eachSpace() {
                for log in logs where world.stuckLogs.contains(log.tag) {
                    most[log.tag] = max(most[log.tag] ?? 0, try byteCount(of: log, in: node.store))
                }
            }
        }
        return most.values.reduce(0, +)
    }

    private func hasLiarsHole(_ world: World) throws(StoreError) -> Bool {
        let liars = world.liars
        for node in world.honestNodes {
            for (_, logs) in try node.eachSpace()
            where logs.contains(where: { !$0.agreed.isWhole && liars.contains($0.device) }) {
                return true
            }
        }
        return false
    }

    /// Bytes that came to be held. What was forgotten meanwhile, with an invitation that was taken back,
    /// makes nothing of what others were missing cheaper.
    static func gain(from before: Holdings, to now: Holdings) -> Int {
        now.reduce(0) { sum, holding in
            let known = before[holding.key] ?? [:]
            return holding.value.reduce(sum) { $0 + max(0, $1.value - (known[$1.key] ?? 0)) }
        }
    }

    /// Bytes that told somebody that an invitation was taken back, and were forgotten with it: the whole
    /// control log as members hold it, for each device that is out and holds less.
    private static func forgottenByteCount(in world: World) throws -> Int {
        var most: [SpaceID: Int] = [:]
        var less: [(space: SpaceID, bytes: Int)] = []
        for node in world.honestNodes {
            for (space, logs) in try node.eachSpace() {
                let bytes = try controlByteCount(of: logs, in: node.store)
                most[space.id] = max(most[space.id] ?? 0, bytes)
                let takesPart = try node.roster(of: space)?.takesPart(node.identity.device)
                if takesPart != true { less.append((space.id, bytes)) }
            }
        }
        return less.reduce(0) { $0 + (most[$1.space] ?? 0) - $1.bytes }
    }

    private static func membership(in world: World) throws -> Membership {
        var members: Membership = []
        for node in world.honestNodes {
            for (space, _) in try node.eachSpace()
            where try node.roster(of: space)?.takesPart(node.identity.device) == true {
                members.insert(SpaceMember(space: space.id, device: node.identity.device))
            }
        }
        return members
    }

    /// Bytes of lane 0 that introductions may send in vain: a newcomer is introduced on every link, and
    /// introduces everybody, as far as credit goes and before either has said what it holds. A liar makes
    /// lane 0 as long as that. Source: `Protocol/06-sync.md`, "What may be served".
    private static func introductionByteCount(of before: Membership, in world: World) throws -> Int
    {
        let members = try membership(in: world)
        var sum = 0
        for newcomer in members.subtracting(before) {
            guard
                let node = world.honestNodes.first(where: {
                    $0.identity.device == newcomer.device
                }), let space = try node.store.space(newcomer.space)
            else { continue }
            let logs = try node.store.logs(in: space.number)
            let bytes = try controlByteCount(of: logs, in: node.store)
            let others = members.filter { $0.space == newcomer.space }.count - 1
            sum += 2 * others * min(bytes, Int(SyncSession.creditInitial))
        }
        return sum
    }

    private static func controlByteCount(
        of logs: [LogRecord], in store: some LogStore
    ) throws(StoreError) -> Int {
        var sum = 0
        for log in logs where log.lane == .control { sum += try byteCount(of: log, in: store) }
        return sum
    }

    private static func byteCount(
        of log: LogRecord, in store: some LogStore
    ) throws(StoreError) -> Int {
        try store.operations(in: log.number, 0...UInt64.max, limit: .max)
            .reduce(0) { $0 + $1.operation.byteCount }
    }

    private static func holdings(in world: World) throws -> Holdings {
        var holdings: Holdings = [:]
        for node in world.honestNodes {
            for (_, logs) in try node.eachSpace() {
                for log in logs {
                    holdings[node.identity.device, default: [:]][log.tag, default: 0] +=
                        try byteCount(of: log, in: node.store)
                }
            }
        }
        return holdings
    }
}
