import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire

/// I34: a newcomer is given of what was written before as much as the group says: who lets somebody in
/// withholds all that they hold themself, or what is older than some days, or nothing. What people do
/// together is withheld from nobody.
///
/// What the group says is what the model makes of all that the author had seen.
/// Source: `Protocol/08-roster.md`, "Horizons".
final class NewcomersGetWhatIsGranted: Checker {
    static let invariant = "I34"
    private(set) var checkCount = 0
    private let book = NaiveBook()
    private var words = OwnControlWords()

    func observed(_ step: StepReport) throws {
        guard step.node.isHonest else { return }
        for (space, operations) in try words.news(of: step) where space.kind == .group {
            for stored in operations {
                guard let newcomer = Self.newcomer(by: stored.operation) else { continue }
                try look(at: newcomer, by: stored, in: space, of: step.node)
            }
        }
    }

    func wasSetBack(_ node: SimulatedNode) { words.wasSetBack(node) }

    func looked(at world: World) throws {}

    private static func newcomer(by operation: Operation) -> Newcomer? {
        guard let payload = operation.payload else { return nil }
        switch operation.header.kind {
        case .addMember:
            // What cannot be read lets nobody in.
            return (try? AddMember(payload: payload))?.newcomer
        case .redeem:
            // Nor does this.
            return (try? Redeem(payload: payload))?.newcomer
        default: return nil
        }
    }

    private func look(
        at newcomer: Newcomer, by stored: StoredOperation, in space: SpaceRecord,
        of node: SimulatedNode
    ) throws {
        let horizon = newcomer.horizon
        let control = try book.read(space, of: node)
        guard !control.rosters.isForked, let act = control.rosters.number(of: stored.id) else {
            return
        }
        checkCount += 1
        let past = control.rosters.acts[act].past
        switch control.rosters.fold(past).settings.history ?? .none {
        case .all:
            guard horizon.places.isEmpty else {
                throw violation("\(node.name) keeps from a newcomer what the group gives to all")
            }
        case .none:
            try lookForAll(stored, newcomer, space, control.now, of: node)
        case .days(let days):
            try lookForOlder(than: days, stored, newcomer, space, control.now, of: node)
        }
    }

    /// What somebody wrote themself who comes back counts again as far as they wrote it. What its author
    /// says in the step in which they let somebody in, as a deletion of what was deleted, is for them.
    private func lookForAll(
        _ admission: StoredOperation, _ newcomer: Newcomer, _ space: SpaceRecord,
        _ roster: NaiveRosters.Fold, of node: SimulatedNode
    ) throws {
        let horizon = newcomer.horizon
        for log in try node.store.agreedLogs(in: space.number)
        where [.content, .receipts].contains(log.lane) && log.end > 0
            && roster.owners[log.device] != newcomer.person
        {
            let given = horizon.place(of: log.device, log.lane).map { $0.sequence + 1 } ?? 0
            if given >= log.end { continue }
            let first =
                log.device == node.identity.device
                ? try node.store.operation(at: given, in: log.number) : nil
            let clock = admission.operation.header.wallClock
            guard let first, first.operation.header.wallClock == clock else {
                throw violation(
                    "\(node.name) gives a newcomer \(log.lane) log \(log.tag), which ends at \(log.end),"
                        + " from \(given) on, though the group gives nothing from before")
            }
        }
    }

    /// What its author says in the step in which they let somebody in, as the name of the group, is for
    /// the newcomer. Where the clock leads by more than may count, even that stands as if it were old.
    /// What somebody wrote themself who comes back is kept from nobody.
    private func lookForOlder(
        than days: UInt32, _ admission: StoredOperation, _ newcomer: Newcomer,
        _ space: SpaceRecord, _ roster: NaiveRosters.Fold, of node: SimulatedNode
    ) throws {
        let wall = admission.operation.header.wallClock
        let oldest = wall - min(wall, UInt64(days) * 86_400_000)
        for log in try node.store.agreedLogs(in: space.number)
        where [.content, .receipts].contains(log.lane) && log.end > 0
            && roster.owners[log.device] != newcomer.person
        {
            let given =
                newcomer.horizon.place(of: log.device, log.lane).map { $0.sequence + 1 } ?? 0
            // What is held beyond a cut counts for nobody, and is given to nobody.
            let place = max(given, log.base)
            let first =
                place < log.end ? try node.store.operation(at: place, in: log.number) : nil
            guard let first, first.stand.value >> 16 < oldest else { continue }
            let isOwn = log.device == node.identity.device
            if isOwn, first.operation.header.wallClock == wall { continue }
            throw violation(
                "\(node.name) gives a newcomer \(log.tag) from \(given) on, which is older than the"
                    + " group gives")
        }
    }
}
