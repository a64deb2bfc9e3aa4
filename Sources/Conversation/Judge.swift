public import ParleyLedger
public import ParleyRoster
public import ParleySealing
public import ParleyWire

/// The author of an operation, according to what they had seen.
public struct Author: Equatable, Sendable {
    /// The person.
    public var person: PersonID
    /// Their role.
    public var role: Role
    /// What the rules of the space let them do.
    public var rights: Set<GroupAct>

    /// An author with these fields.
    public init(person: PersonID, role: Role, rights: Set<GroupAct> = []) {
        self.person = person
        self.role = role
        self.rights = rights
    }
}

/// Why an operation that is held has no effect. It is kept, and may have one some day.
public enum VoidReason: String, CaseIterable, Sendable {
    /// Its author names something of lane 0 that nobody has.
    case unknownView
    /// It claims another authority than what its author had seen.
    case otherAuthority
    /// Its author was not in the space, by what they had seen.
    case outsider
    /// Its author's coming does not hold.
    case notAdmitted
    /// Its author was removed, and no remover had seen so much.
    case revoked
}

/// Whether an operation counts.
public enum Standing: Equatable, Sendable {
    /// It counts; this is its author.
    case effective(Author)
    /// It does not.
    case void(VoidReason)
}

/// What lane 0 of a space says about everything else in it: who is in the space now, and for every
/// operation whether it counts.
///
/// An operation is judged twice: by what its author had seen, which never changes, and by the
/// removals known now that the author had not seen.
/// Source: `Protocol/03-operations.md`, "What counts".
public struct Judge: Sendable {
    /// The control operations and what follows from them.
    public private(set) var graph: ControlGraph
    /// The roster by all of them.
    public private(set) var roster: Roster
    /// What the order of the space follows from.
    public private(set) var placing: StandRule
    /// The control operations below every proven fork, where there is one.
    private var base: ControlGraph?
    /// The view that was asked for last: runs of operations share one.
    private var lastView: (tips: [LogTip], roster: Roster?)?

    /// A judge by this graph.
    ///
    /// - Parameter base: the same below every proven fork, where there is one.
    public init(_ graph: ControlGraph, below base: ControlGraph? = nil) {
        self.graph = graph
        self.base = base
        roster = self.graph.roster()
        placing = StandRule(roster, beganAt: self.graph.beganAt)
        // Operations read from a store were noted there when they arrived.
        _ = self.graph.takeNewPersons()
    }

    /// The leaves that an epoch of this moment is sealed to.
    public mutating func leaves(besides device: DeviceID) -> [EpochRecipient] {
        graph.leaves(besides: device, at: graph.tips())
    }

    /// Takes a control operation, after all that it names; ``refresh()`` lets it count.
    public mutating func add(_ operation: VerifiedOperation, by device: DeviceID) {
        graph.add(operation, by: device)
        base?.add(operation, by: device)
        lastView = nil
    }

    /// Persons whom the operations added since name for the first time.
    public mutating func takeNewPersons() -> [PersonID] { graph.takeNewPersons() }

    /// Whether a log of lane 0 has a proven fork.
    public var hasForks: Bool { base != nil }

    /// What others, who do not depend on it themselves, have named in a log of lane 0 at or above
    /// its fork.
    public mutating func names(of log: LogRecord) -> [OperationReference] {
        base?.names(of: log.tag, by: log.device) ?? []
    }

    /// What a device that is out may know of lane 0.
    ///
    /// - Returns: the highest place of each log.
    public func departure(of device: DeviceID, _ person: PersonID) -> [LogTip] {
        graph.departure(of: device, person, below: base)
    }

    /// Applies what was added.
    ///
    /// - Returns: the roster before, if it changed.
    public mutating func refresh() -> Roster? {
        let former = roster
        roster = graph.roster()
        guard former != roster else { return nil }
        placing = StandRule(roster, beganAt: graph.beganAt)
        return former
    }

    /// Whether any operation of lane 0 admits the device, even one that does not hold.
    public func knows(_ device: DeviceID) -> Bool { graph.admits(device) }

    /// What a log had seen once one of its operations has named these causes besides.
    public func tips(_ tips: [LogTip], naming causes: [LogTip]) -> [LogTip]? {
        graph.merge(ControlTips(tips), causes)?.places
    }

    /// What a log that claims this authority had seen, or nil if that cannot be known yet.
    public mutating func tips(underAuthority authority: UInt64) -> [LogTip]? {
        graph.tips(underAuthority: authority)?.places
    }

    /// The roster by what stood in a row, or nil where it cannot be known yet.
    public mutating func view(_ view: LogView?) -> Roster? {
        var tips = view?.tips ?? []
        if let claimed = view?.claimed {
            guard let known = self.tips(underAuthority: claimed) else { return nil }
            tips = known
        }
        if let lastView, lastView.tips == tips { return lastView.roster }
        let roster = graph.roster(at: ControlTips(tips))
        lastView = (tips, roster)
        return roster
    }

    /// Whether an operation counts.
    ///
    /// - Parameters:
    ///   - view: the row of its log that holds for its place.
    ///   - log: its log.
    public mutating func standing(
        of operation: VerifiedOperation, in log: LogRecord, under view: LogView?
    ) -> Standing {
        switch log.lane {
        case .control, .receipts: current(operation.sequence, in: log)
        case .content, .notes, .shared: past(operation, in: log, under: view)
        }
    }

    /// The places of a log that do not count since its author had not heard of a removal or of being made
    /// a reader, ascending.
    ///
    /// - Parameter rows: those of the log's view.
    public mutating func untaken(of log: LogRecord, _ rows: [LogView]) -> [Range<UInt64>] {
        var found: [Range<UInt64>] = []
        for (index, row) in rows.enumerated() where row.first < log.end {
            let end = index + 1 < rows.count ? min(rows[index + 1].first, log.end) : log.end
            guard let seen = view(row),
                let first = roster.end(of: log.device, log.lane, view: seen),
                max(first, row.first) < end
            else { continue }
            found.append(max(first, row.first)..<end)
        }
        return found
    }

    /// Receipts count as far as their log does now.
    private func current(_ sequence: UInt64, in log: LogRecord) -> Standing {
        guard let person = roster.person(of: log.device) else { return .void(.notAdmitted) }
        guard roster.limit(of: log.device, lane: log.lane).reaches(sequence) else {
            return .void(.revoked)
        }
        return .effective(Author(person: person, role: roster.member(person)?.role ?? .reader))
    }

    private mutating func past(
        _ operation: VerifiedOperation, in log: LogRecord, under row: LogView?
    ) -> Standing {
        let authority = operation.operation.header.authority
        guard let seen = view(row) else { return .void(.unknownView) }
        guard seen.authority == authority else { return .void(.otherAuthority) }
        guard let member = seen.member(with: log.device) else { return .void(.outsider) }
        guard roster.person(of: log.device) != nil else { return .void(.notAdmitted) }
        // Above a fork nobody knows whose branch a remover had seen.
        if log.limit != nil, let fork = log.fork, operation.sequence >= fork.sequence {
            return .void(.revoked)
        }
        guard roster.judges(log.device, log.lane, operation.sequence, view: seen) else {
            return .void(.revoked)
        }
        return .effective(
            Author(
                person: member.person, role: member.role, rights: seen.rights(of: member.role)))
    }
}

extension Roster {
    /// Where a log ends that counts no further, or nil.
    public func limit(of log: LogRecord) -> LogPoint? {
        limit(of: log.device, lane: log.lane, log.id)
    }

    /// Where the log of a device ends that counts no further, or nil.
    public func limit(of device: DeviceID, lane: Lane, _ log: LogID) -> LogPoint? {
        switch limit(of: device, lane: lane) {
        case .all: nil
        case .none: LogPoint(sequence: 0, anchor: OperationID(reinterpreting: log))
        case .through(let last, let id): LogPoint(sequence: last + 1, anchor: id)
        }
    }
}

extension StandRule {
    /// What the order of a space with this roster follows from.
    fileprivate init(_ roster: Roster, beganAt: UInt64?) {
        var owners: [DeviceID: PersonID] = [:]
        for device in roster.everyDevice { owners[device] = roster.person(of: device) }
        self.init(beganAt: roster.kind == .own ? nil : beganAt, owners: owners)
    }
}
