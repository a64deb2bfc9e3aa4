import ParleyLedger
import ParleyRoster
import ParleyWire

/// Who wrote an operation, by what they had seen.
struct NaiveAuthor: Equatable {
    var person: PersonID
    var role: Role
    /// What the rules let them do.
    var rights: Set<GroupAct> = []
}

/// Which operations of one log count, gone through from its beginning.
///
/// What an author had seen of lane 0 is all that their own log had named of it by then.
/// Source: `Protocol/08-roster.md`, "Judging".
struct NaiveJudge {
    private let control: NaiveControl
    private let log: LogRecord
    private var seen: NaiveRosters.Acts = []
    /// Whether all that the log named is known.
    private var isComplete = true
    /// The place after the last operation that was gone through.
    private var next: UInt64 = 0
    /// What this node was told of places that it need not hold.
    private let beginnings: [(first: UInt64, view: [LogTip])]

    init(_ control: NaiveControl, _ log: LogRecord) {
        self.control = control
        self.log = log
        beginnings = control.rosters.beginnings(of: log, for: control.person, by: control.held)
    }

    /// Who wrote the next operation of the log, or nil where it does not count.
    mutating func author(of operation: VerifiedOperation) -> NaiveAuthor? {
        let (now, rosters) = (control.now, control.rosters)
        if log.lane == .receipts {
            guard let person = now.person(of: log.device) else { return nil }
            switch now.limit(of: log.device, .receipts, rosters) {
            case .all: break
            case .none: return nil
            case .through(let last, _): guard operation.sequence <= last else { return nil }
            }
            return NaiveAuthor(person: person, role: now.seats[person]?.role ?? .reader)
        }
        guard let view = view(of: operation), let person = view.owners[log.device],
            let seat = view.seats[person],
            now.person(of: log.device) != nil
        else { return nil }
        let isOut = now.limit(of: log.device, log.lane, rosters) != .all
        if isOut, let fork = log.fork, operation.sequence >= fork.sequence { return nil }
        guard now.counts(log.device, log.lane, operation.sequence, seeing: view, rosters) else {
            return nil
        }
        return NaiveAuthor(person: person, role: seat.role, rights: view.rights(of: seat.role))
    }

    /// Who was in the space by what the author of the next operation had seen; nil where that
    /// cannot be told.
    mutating func view(of operation: VerifiedOperation) -> NaiveRosters.Fold? {
        let place = operation.sequence
        // Above a hole what was named below it is not known.
        if place != next { isComplete = false }
        for beginning in beginnings where (next...place).contains(beginning.first) {
            see(beginning.view)
            if beginning.first == place { isComplete = true }
        }
        next = place + 1
        see(
            operation.operation.header.dependencies.map {
                LogTip(tag: $0.tag, sequence: $0.sequence)
            })
        return view(operation.operation.header.authority)
    }

    private mutating func see(_ places: [LogTip]) {
        for place in places {
            if let more = control.rosters.seen(place, among: control.held) { seen.formUnion(more) }
        }
    }

    private func view(_ authority: UInt64?) -> NaiveRosters.Fold? {
        if isComplete {
            let view = control.rosters.fold(seen)
            return view.authority == authority ? view : nil
        }
        guard let authority,
            let claimed = control.rosters.set(claiming: authority, within: control.held)
        else { return nil }
        return control.rosters.fold(claimed)
    }
}
