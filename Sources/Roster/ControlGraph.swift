public import ParleyLedger
import ParleySealing
public import ParleyWire

/// All control operations of a space with their causes, and the rosters that follow from them.
///
/// A deterministic function of the *set* of operations: in whatever order they arrived, everyone
/// who holds the same ones sees the same roster.
/// Source: `Protocol/08-roster.md`.
public struct ControlGraph: Sendable {
    /// The space.
    public let space: SpaceID
    private let forks: [LogTag: UInt64]
    private(set) var logs: [ControlLog] = []
    private(set) var logNumbers: [LogTag: Int] = [:]
    private(set) var nodes: [ControlNode] = []
    private(set) var numbers: [OperationID: Int] = [:]
    /// By log of the authority graph: which log that is here.
    private var authorityLogs: [Int] = []
    var authorities = AuthorityGraph()
    /// For each forked log what named a place at or above the fork.
    var words: [LogTag: ForkWords] = [:]
    /// Frontiers that authors may have seen, by their digests; nil until somebody asks.
    var frontiers: [UInt64: ControlTips]?
    var keys = ControlKeys()
    private var toldCount = 0
    /// For each person, by device, the last operation that says that they accept.
    var acceptances: [PersonID: [DeviceID: Int]] = [:]

    /// An empty graph.
    ///
    /// - Parameter forks: the places of proven forks in logs of the control lane. What is at or
    ///   above them is not accepted, and a name of it counts as what is below. If another proof
    ///   arrives, the graph is rebuilt.
    public init(space: SpaceID, forks: [LogTag: UInt64] = [:]) {
        self.space = space
        self.forks = forks
    }

    /// Takes an operation of the control lane of any kind, after all that it names.
    ///
    /// - Returns: whether it is in the graph now. It is not where a cause is missing or the place
    ///   does not follow the log's last one.
    @discardableResult
    public mutating func add(_ operation: VerifiedOperation, by device: DeviceID) -> Bool {
        if numbers[operation.id] != nil { return true }
        let tag = operation.tag
        let known = logNumbers[tag]
        guard operation.sequence < forks[tag] ?? .max,
            operation.sequence == UInt64(known.map { logs[$0].nodes.count } ?? 0),
            known != nil
                || tag == LogTag(OperationHash.log(space: space, device: device, lane: .control)),
            var past = union(operation.operation.header)
        else { return false }
        let log = known ?? logs.count
        let stand = stand(
            of: operation.operation.header, after: known.flatMap { logs[$0].nodes.last })
        if let last = known.flatMap({ logs[$0].nodes.last }) {
            past.formUnion(nodes[last].past)
            past.raise(log, to: logs[log].nodes.count)
        }
        if known == nil {
            logs.append(ControlLog(tag: tag, device: device))
            logNumbers[tag] = log
        }
        let number = nodes.count
        logs[log].nodes.append(number)
        numbers[operation.id] = number
        nodes.append(
            ControlNode(operation, log: log, device: device, past: past, stand: stand))
        cover(operation.operation.header)
        read(operation, number)
        return true
    }

    /// The first place that an operation follows from and that is not in the graph; nil where
    /// nothing keeps it out but its own place.
    public func missingCause(of operation: VerifiedOperation) -> LogTip? {
        let header = operation.operation.header
        for named in header.dependencies + header.references {
            if let place = below(LogTip(named)), !contains(place) { return place }
        }
        return nil
    }

    /// All that an operation names, with what that follows from; nil where something is missing.
    private func union(_ header: OperationHeader) -> ClosedSet? {
        var set = ClosedSet()
        for named in header.dependencies + header.references {
            guard let place = below(LogTip(named)) else { continue }
            guard let log = logNumbers[place.tag], place.sequence < UInt64(logs[log].nodes.count)
            else { return nil }
            include(log, Int(place.sequence), in: &set)
        }
        return set
    }

    /// Where an operation stands in lane 0: below all that it names.
    private func stand(of header: OperationHeader, after last: Int?) -> UInt64 {
        var past = last.map { nodes[$0].stand }
        for named in header.dependencies + header.references {
            guard let place = below(LogTip(named)), let stand = stand(at: place) else { continue }
            past = max(past ?? 0, stand)
        }
        return max(past.map { $0 + 1 } ?? 0, header.wallClock << 16)
    }

    /// Where the operation at a place stands among those of lane 0, in 2^-16 milliseconds; nil where
    /// it is not in the graph.
    public func stand(at place: LogTip) -> UInt64? {
        guard let log = logNumbers[place.tag], place.sequence < UInt64(logs[log].nodes.count)
        else { return nil }
        return nodes[logs[log].nodes[Int(place.sequence)]].stand
    }

    /// When the space began, by the wall clock of its creator, in Unix milliseconds.
    public var beganAt: UInt64? {
        nodes.first { $0.kind == .genesis && $0.rejection == nil }?.wallClock
    }

    private func isAboveFork(_ place: LogTip) -> Bool {
        forks[place.tag].map { place.sequence >= $0 } ?? false
    }

    /// A place as it counts: at or above a fork it counts as what is below. Nil for nothing.
    private func below(_ place: LogTip) -> LogTip? {
        guard let fork = forks[place.tag], place.sequence >= fork else { return place }
        return fork == 0 ? nil : LogTip(tag: place.tag, sequence: fork - 1)
    }

    private func include(_ log: Int, _ sequence: Int, in set: inout ClosedSet) {
        set.formUnion(nodes[logs[log].nodes[sequence]].past)
        set.raise(log, to: sequence + 1)
    }

    private mutating func cover(_ header: OperationHeader) {
        for named in header.dependencies + header.references {
            if isAboveFork(LogTip(named)) {
                words[named.tag, default: ForkWords()].fresh.append(
                    ForkWords.Word(node: nodes.count - 1, name: named))
            }
            guard let place = below(LogTip(named)), let log = logNumbers[place.tag] else {
                continue
            }
            logs[log].coveredEnd = max(logs[log].coveredEnd, Int(place.sequence) + 1)
        }
    }

    // MARK: Reading

    private mutating func read(_ operation: VerifiedOperation, _ number: Int) {
        let kind = operation.operation.header.kind
        if kind.isAuthority {
            do throws(ControlRejection) {
                try admit(operation, number)
            } catch { nodes[number].rejection = error }
        } else {
            readKeys(operation, number)
        }
    }

    private mutating func admit(
        _ operation: VerifiedOperation, _ number: Int
    ) throws(ControlRejection) {
        guard let payload = operation.operation.payload else { throw .malformed }
        // The name of the space tells which operation begins it: there is no second one.
        if operation.operation.header.kind == .genesis,
            OperationHash.space(begunBy: operation.operation) != space
        {
            throw .notGenesis
        }
        let wish = try Candidate.Wish(operation.operation.header.kind, payload)
        let log = nodes[number].log
        nodes[number].subject = wish.subject
        let authorityLog = logs[log].authorityLog ?? authorityLogs.count
        let taken = try authorities.take(
            Candidate(
                id: operation.id, space: space, log: authorityLog,
                index: logs[log].authoritySequences.count,
                past: authoritySet(nodes[number].past),
                place: LogTip(tag: operation.tag, sequence: operation.sequence),
                device: nodes[number].device, wish: wish))
        nodes[number].authority = taken
        if logs[log].authorityLog == nil {
            logs[log].authorityLog = authorityLog
            authorityLogs.append(log)
        }
        logs[log].authoritySequences.append(operation.sequence)
        frontiers = nil
    }

    /// What of a set rosters are made of.
    func authoritySet(_ set: ClosedSet) -> ClosedSet {
        var result = ClosedSet()
        for (authorityLog, log) in authorityLogs.enumerated() {
            let count = set.count(of: log)
            guard count > 0 else { continue }
            result.raise(authorityLog, to: logs[log].authorityCount(below: UInt64(count)))
        }
        return result
    }

    /// Everyone whose standing any operation ever changed, as its author could write it.
    public var persons: [PersonID] { authorities.index.persons }

    /// Those of ``persons`` who have come since this was asked last.
    public mutating func takeNewPersons() -> [PersonID] {
        let arrivals = authorities.index.arrivals
        defer { toldCount = arrivals.count }
        return Array(arrivals[toldCount...])
    }

    /// How many operations are in the graph.
    public var operationCount: Int { nodes.count }

    /// How many operations were looked at so far to work rosters out, each as often as it was.
    package var work: Int { authorities.work }

    // MARK: Rosters

    /// Who belongs to the space by all operations; without a genesis nobody.
    public mutating func roster() -> Roster {
        var roster = authorities.roster()
        roster.invited = invited(of: roster)
        return roster
    }

    /// The roster by what somebody had seen, or nil if a tip is not in the graph.
    public mutating func roster(at tips: ControlTips) -> Roster? {
        guard let set = set(of: tips) else { return nil }
        return authorities.roster(authoritySet(set))
    }

    /// What is at or below tips; nil if one is not in the graph.
    func set(of tips: ControlTips) -> ClosedSet? {
        var set = ClosedSet()
        for tip in tips.places {
            guard let place = below(tip) else { continue }
            guard let log = logNumbers[place.tag], place.sequence < UInt64(logs[log].nodes.count)
            else { return nil }
            include(log, Int(place.sequence), in: &set)
        }
        return set
    }

    // MARK: Tips

    /// Tips combined with what an operation names of the control lane, or nil if that is not in the
    /// graph. Places at or above a fork stay as they were named: what counts there may grow.
    public func merge(_ tips: ControlTips, _ named: [LogTip]) -> ControlTips? {
        var places = tips.places
        for new in named {
            guard below(new).map(contains) ?? true else { return nil }
            if places.contains(where: { covers($0, new) }) { continue }
            places.removeAll { covers(new, $0) }
            places.append(new)
        }
        return ControlTips(places)
    }

    /// How much of a log other operations of the control lane have named.
    public func coveredEnd(of log: LogTag) -> UInt64 {
        logNumbers[log].map { UInt64(logs[$0].coveredEnd) } ?? 0
    }

    /// The tips of everything.
    public func tips() -> ControlTips {
        ControlTips(
            logs.filter { $0.nodes.count > $0.coveredEnd }.map {
                LogTip(tag: $0.tag, sequence: UInt64($0.nodes.count - 1))
            })
    }

    /// Whether the graph has an operation at this place.
    public func contains(_ place: LogTip) -> Bool {
        guard let log = logNumbers[place.tag] else { return false }
        return place.sequence < UInt64(logs[log].nodes.count)
    }

    /// Whether a place goes without saying for who names another. Above a fork only the log's own
    /// order tells.
    private func covers(_ tip: LogTip, _ place: LogTip) -> Bool {
        if tip.tag == place.tag { return place.sequence <= tip.sequence }
        guard !isAboveFork(place), let tip = below(tip) else { return false }
        return isInPast(place, of: tip)
    }

    /// Whether an operation follows from another; false where either is not in the graph.
    public func isInPast(_ place: LogTip, of other: LogTip) -> Bool {
        guard let log = logNumbers[other.tag], other.sequence < UInt64(logs[log].nodes.count),
            let earlier = logNumbers[place.tag], let index = Int(exactly: place.sequence)
        else { return false }
        return nodes[logs[log].nodes[Int(other.sequence)]].past.contains(
            log: earlier, index: index)
    }
}
