import ParleyLedger
import ParleySimulation
import ParleyWire

/// Where the operations of a space stand, worked out from the specification and apart from the ledger:
/// each by what it names, as often as it is asked for, with nothing kept but the answers.
///
/// Source: `Protocol/03-operations.md`, "Order".
struct NaiveStands {
    private struct Place: Hashable {
        var tag: LogTag
        var sequence: UInt64
    }

    /// A name, by the place of the operation that bears it.
    private struct Naming: Hashable {
        var bearer: Place
        var name: OperationReference
    }

    private struct Answer {
        var stand: UInt64
        var witness: UInt64
    }

    private static let lead: UInt64 = 35 * 24 * 60 * 60 * 1000

    private let store: any SimulatedStore
    private let space: SpaceRecord
    private let owner: (DeviceID) -> PersonID?
    private var logs: [LogTag: LogRecord] = [:]
    private var beganAt: UInt64 = 0
    private var answers: [Place: Answer] = [:]
    /// Names that would have an operation stand above itself; nil until something seems to.
    private var circles: Set<Naming>?
    private var heldCount = 0

    init(
        of space: SpaceRecord, in store: any SimulatedStore,
        owner: @escaping (DeviceID) -> PersonID?
    ) throws(StoreError) {
        (self.space, self.store, self.owner) = (space, store, owner)
        for log in try store.logs(in: space.number) {
            logs[log.tag] = log
            heldCount += log.spans.reduce(0) { $0 + Int($1.last - $1.first) + 1 }
            guard log.lane == .control,
                let first = try store.operation(at: 0, in: log.number),
                OperationHash.space(begunBy: first.operation) == space.id
            else { continue }
            beganAt = first.operation.header.wallClock
        }
    }

    /// Where the operation at a place stands; nil where it is not held.
    mutating func stand(of tag: LogTag, _ sequence: UInt64) throws(StoreError) -> UInt64? {
        var open = [Place(tag: tag, sequence: sequence)]
        while let place = open.last {
            if answers[place] != nil {
                open.removeLast()
                continue
            }
            if circles == nil, open.count > heldCount * 2 + 100 {
                circles = try findCircles()
                open = [Place(tag: tag, sequence: sequence)]
                continue
            }
            guard open.count < 1_000_000, let log = logs[place.tag],
                let stored = try store.operation(at: place.sequence, in: log.number)
            else { return nil }
            // Below where the log begins for this node, where it stood when it began there; right below,
            // where it stands for who said so.
            if place.sequence < log.base {
                let isNamed = place.sequence + 1 == log.base && stored.id == log.floor?.anchor
                let stand = isNamed ? log.order.floor ?? stored.stand : stored.stand
                answers[place] = Answer(stand: stand.value, witness: stand.witness)
                open.removeLast()
                continue
            }
            let before = try causes(of: stored, in: log)
            let missing = before.filter { answers[$0] == nil }
            if missing.isEmpty {
                answers[place] = try answer(stored, in: log)
                open.removeLast()
            } else {
                open += missing
            }
        }
        return answers[Place(tag: tag, sequence: sequence)]?.stand
    }

    /// What it follows from in lanes 1, 3 and 4: the one before, and what it names.
    private func causes(
        of stored: StoredOperation, in log: LogRecord
    ) throws(StoreError) -> [Place] {
        var found: [Place] = []
        if stored.sequence > 0, stored.sequence != log.floor?.sequence,
            log.holds(stored.sequence - 1)
        {
            found.append(Place(tag: log.tag, sequence: stored.sequence - 1))
        }
        for name in names(stored, in: log) {
            if let other = try named(name, by: log), other.log.lane != .control {
                found.append(Place(tag: name.tag, sequence: name.sequence))
            }
        }
        return found
    }

    /// What an operation names, each as far as its log counts: above a cut, the last one below it.
    private func names(_ stored: StoredOperation, in log: LogRecord) -> [OperationReference] {
        let header = stored.operation.header
        let bearer = Place(tag: log.tag, sequence: stored.sequence)
        return (header.dependencies + header.references).compactMap { name in
            let isCircle = circles?.contains(Naming(bearer: bearer, name: name)) ?? false
            return isCircle ? nil : below(name)
        }
    }

    private func below(_ name: OperationReference) -> OperationReference? {
        guard let bound = logs[name.tag]?.bound, bound.sequence <= name.sequence else {
            return name
        }
        let below = bound.sequence.subtractingReportingOverflow(1)
        return below.overflow
            ? nil
            : OperationReference(
                tag: name.tag, sequence: below.partialValue, check: bound.anchor.check)
    }

    /// Names at or above a bound whose place below had seen the operation that bears them.
    private func findCircles() throws(StoreError) -> Set<Naming> {
        var found: Set<Naming> = []
        for log in logs.values where log.lane.carriesAuthority {
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                let bearer = Place(tag: log.tag, sequence: stored.sequence)
                let header = stored.operation.header
                for name in header.dependencies + header.references {
                    guard let cause = below(name), cause != name, let other = logs[cause.tag],
                        other.lane.carriesAuthority,
                        let target = try store.operation(at: cause.sequence, in: other.number),
                        target.id.check == cause.check,
                        try hasSeen(bearer, Place(tag: cause.tag, sequence: cause.sequence))
                    else { continue }
                    found.insert(Naming(bearer: bearer, name: name))
                }
            }
        }
        return found
    }

    /// Whether something is in the past of a place, by its log and by names.
    private func hasSeen(_ goal: Place, _ place: Place) throws(StoreError) -> Bool {
        var met: Set<Place> = [place]
        var open = [place]
        while let next = open.popLast() {
            if next == goal { return true }
            guard let log = logs[next.tag], next.sequence >= log.base,
                let stored = try store.operation(at: next.sequence, in: log.number)
            else { continue }
            // Over a hole as well.
            var before = try causes(of: stored, in: log)
            let lower = log.spans.last { $0.last < next.sequence }?.last
            if let lower, lower >= log.base { before.append(Place(tag: log.tag, sequence: lower)) }
            open += before.filter { met.insert($0).inserted }
        }
        return false
    }

    /// What a name stands for, if it is held.
    private func named(
        _ name: OperationReference, by log: LogRecord
    ) throws(StoreError) -> (log: LogRecord, stored: StoredOperation)? {
        // In the own log it goes without saying, but above a hole.
        guard name.tag != log.tag || name.sequence >= log.base, let other = logs[name.tag],
            other.lane != .receipts,
            let stored = try store.operation(at: name.sequence, in: other.number),
            stored.id.check == name.check
        else { return nil }
        return (other, stored)
    }

    private func answer(
        _ stored: StoredOperation, in log: LogRecord
    ) throws(StoreError) -> Answer {
        let header = stored.operation.header
        var (past, witness): (UInt64?, UInt64) = (nil, beganAt)
        if let floor = log.floor, floor.sequence == stored.sequence {
            past = log.order.floor?.value ?? 0
            witness = max(beganAt, log.order.floor?.witness ?? 0)
        } else if stored.sequence > 0 {
            if let before = answers[Place(tag: log.tag, sequence: stored.sequence - 1)] {
                (past, witness) = (before.stand, before.witness)
            } else {
                for other in logs.values where other.lane == .control && isOther(other, log) {
                    witness = max(witness, try lastClock(of: other))
                }
            }
        }
        for name in names(stored, in: log) {
            if let other = try named(name, by: log) {
                if isOther(other.log, log) {
                    witness = max(witness, other.stored.operation.header.wallClock)
                }
                let place = Place(tag: name.tag, sequence: name.sequence)
                if let stand = answers[place]?.stand { past = max(past ?? 0, stand) }
            } else if name.tag != log.tag, let other = logs[name.tag], let floor = other.floor,
                name.sequence + 1 == floor.sequence, name.check == floor.anchor.check,
                other.lane != .receipts,
                try store.operation(at: name.sequence, in: other.number) == nil,
                let stand = other.order.floor
            {
                if isOther(other, log) { witness = max(witness, stand.wallClock) }
                past = max(past ?? 0, stand.value)
            }
        }
        let clock = header.wallClock
        let own = space.kind == .own ? clock : min(clock, witness + Self.lead)
        return Answer(stand: max(past.map { $0 + 1 } ?? 0, own << 16), witness: witness)
    }

    /// The clock of the last operation that counts.
    private func lastClock(of log: LogRecord) throws(StoreError) -> UInt64 {
        let end = min(log.end, log.bound?.sequence ?? .max)
        guard end > 0 else { return 0 }
        return try store.operation(at: end - 1, in: log.number)?.operation.header.wallClock ?? 0
    }

    private func isOther(_ log: LogRecord, _ own: LogRecord) -> Bool {
        guard let person = owner(log.device) else { return false }
        return person != owner(own.device)
    }
}
