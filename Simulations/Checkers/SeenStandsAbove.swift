import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I36: what somebody had applied stands above what they write then, for everybody, whatever any clock
/// says; and nobody's clock leads those of all others by more than 35 days.
///
/// What was applied is noted from outside, before each step in which a node writes. What comes back to a
/// node that lost it was not written then. Logs that are forked or cut are left out, for less of them
/// counts later, and so is what was written above a branch or an end that is void now, or above what has
/// not come, which may have been all that named what else was seen. Nodes that were not given all are left
/// out as well: below a floor, and above a hole that nobody fills, not all is known of what others had seen.
final class SeenStandsAbove: Checker {
    static let invariant = "I36"
    /// Source: `Protocol/03-operations.md`, "Order".
    private static let leadMax: UInt64 = 35 * 86_400_000
    private(set) var checkCount = 0

    private struct Place: Hashable {
        var tag: LogTag
        var sequence: UInt64
        var id: OperationID
    }

    private struct Written {
        var place: Place
        /// The last operation that its author's node had applied of each log of content.
        var seen: [Place]
        /// The same of each other log whose operations name content, and of those that are forked or cut.
        var seenBeside: [Place]
    }

    private struct Watch {
        var operationCount = -1
        var tips: [SpaceID: [Place]] = [:]
        var tipsBeside: [SpaceID: [Place]] = [:]
    }

    private var watches: [DeviceID: Watch] = [:]
    /// How far each log ever came at its author: below it, what a node that was set back stores anew
    /// came back to it, even long after it rejoined.
    private var ownEnds: [LogTag: UInt64] = [:]
    private var written: [SpaceID: [Written]] = [:]

    func observed(_ step: StepReport) throws {
        let node = step.node
        guard node.isHonest else { return }
        var watch = watches[node.identity.device] ?? Watch()
        guard watch.operationCount != node.store.operationCount else {
            watches[node.identity.device] = watch
            return
        }
        watch.operationCount = node.store.operationCount
        for (space, logs) in try node.eachSpace() {
            let content = logs.filter { $0.lane == .content && !$0.spans.isEmpty }
            let own = content.first { $0.device == node.identity.device }
            if let own, own.end > ownEnds[own.tag] ?? 0 {
                ownEnds[own.tag] = own.end
                // A floor above what was lost ends the log higher, and nothing was written.
                if own.holds(own.end - 1) {
                    let seen = (watch.tips[space.id] ?? []).filter { $0.tag != own.tag }
                    let place = Place(tag: own.tag, sequence: own.end - 1, id: own.tip)
                    let beside = watch.tipsBeside[space.id] ?? []
                    written[space.id, default: []].append(
                        Written(place: place, seen: seen, seenBeside: beside))
                }
            }
            watch.tips[space.id] = Self.tips(of: content.filter { $0.bound == nil })
            // What lies below a bound was named before that came, and may be all that named something else.
            let beside = logs.filter {
                $0.lane.carriesAuthority && ($0.lane != .content || $0.bound != nil)
            }
            watch.tipsBeside[space.id] = Self.tips(of: beside.map(\.agreed))
        }
        watches[node.identity.device] = watch
    }

    private static func tips(of logs: [LogRecord]) -> [Place] {
        logs.filter { $0.end > 0 && $0.holds($0.end - 1) }
            .map { Place(tag: $0.tag, sequence: $0.end - 1, id: $0.tip) }
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        watches[node.identity.device] = nil
    }

    func wasSetBack(_ node: SimulatedNode) { watches[node.identity.device] = nil }

    func settled(_ world: World) throws {
        for node in world.honestNodes {
            for (space, logs) in try node.eachSpace()
            where logs.allSatisfy({
                $0.floor == nil && (!$0.lane.carriesAuthority || $0.agreed.isWhole)
            }) {
                try lookAtSeen(in: space, logs, of: node)
                if space.kind != .own { try lookAtLead(in: space, logs, of: node) }
            }
        }
    }

    private func lookAtSeen(
        in space: SpaceRecord, _ logs: [LogRecord], of node: SimulatedNode
    ) throws {
        var whole: [LogTag: LogNumber] = [:]
        for log in logs where log.isWhole && log.bound == nil { whole[log.tag] = log.number }
        func stand(of place: Place) throws -> UInt64? {
            guard let log = whole[place.tag],
                let held = try node.store.header(at: place.sequence, in: log), held.id == place.id
            else { return nil }
            return held.stand.value
        }
        let byTag = Dictionary(uniqueKeysWithValues: logs.map { ($0.tag, $0) })
        func isVoid(_ place: Place) throws -> Bool {
            guard let log = byTag[place.tag] else { return true }
            if let bound = log.bound, bound.sequence <= place.sequence { return true }
            return try node.store.header(at: place.sequence, in: log.number)?.id != place.id
        }
        for one in written[space.id] ?? [] {
            guard let own = try stand(of: one.place),
                try !(one.seen + one.seenBeside).contains(where: isVoid)
            else { continue }
            for place in one.seen {
                guard let other = try stand(of: place) else { continue }
                checkCount += 1
                guard other < own else {
                    throw violation(
                        "\(node.name) shows \(one.place.tag)/\(one.place.sequence) above"
                            + " \(place.tag)/\(place.sequence), which its author had seen")
                }
            }
        }
    }

    /// Of the persons whose clocks were ahead the most, the second one bounds what all stand at: the
    /// first by what they have seen of that one, and the others by their own.
    private func lookAtLead(
        in space: SpaceRecord, _ logs: [LogRecord], of node: SimulatedNode
    ) throws {
        guard let roster = try node.roster(of: space) else { return }
        var newest: [PersonID: UInt64] = [:]
        var (greatest, count, began): (UInt64, UInt64, UInt64) = (0, 0, 0)
        for log in logs where log.lane.isCausal {
            guard let person = roster.person(of: log.device) else { return }
            for stored in try node.store.headers(in: log.number, 0...UInt64.max, limit: .max) {
                let header = stored.header
                newest[person] = max(newest[person] ?? 0, header.wallClock)
                if header.kind == .genesis { began = max(began, header.wallClock) }
                guard log.lane != .control else { continue }
                greatest = max(greatest, stored.stand.value)
                count += 1
            }
        }
        let clocks = newest.values.sorted()
        let witness = max(clocks.dropLast().last ?? 0, began)
        checkCount += 1
        guard greatest <= (witness + Self.leadMax) << 16 + count else {
            throw violation("\(node.name) shows something more than 35 days ahead of all others")
        }
    }
}
