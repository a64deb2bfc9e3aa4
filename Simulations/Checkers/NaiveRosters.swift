import ParleyLedger
import ParleyRoster
import ParleySealing
import ParleyWire

/// The rosters of one space, worked out of sets of control operations by sorting them.
///
/// Written from the rules and apart from the resolver, slow and simple: it reads payloads with the
/// production decoders and resolves identity logs with the production rule, and shares nothing else.
/// What it worked out of a set it remembers. Source: `Protocol/08-roster.md`.
final class NaiveRosters {
    /// Acts by their numbers here.
    typealias Acts = Set<Int>

    /// One operation of lane 0.
    struct Act {
        let id: OperationID
        let tag: LogTag
        let sequence: UInt64
        let device: DeviceID
        let wish: Wish?
        /// Whether the space is named by it.
        let beginsSpace: Bool
        /// All of lane 0 that it follows from.
        let past: Acts
        /// Where it stands in lane 0.
        let stand: UInt64
        /// Whether its author had seen a branch that does not count: what of it, nobody can tell.
        let hasSeenBranch: Bool
    }

    /// What an operation that rosters are made of asks for.
    enum Wish {
        case genesis(Genesis)
        case add(AddMember)
        case remove(RemoveMember)
        case setRole(SetRole)
        case leave
        case ident(Ident)
        case settings(SpaceSettings)
        case invite(GroupInvite)
        case redeem(Redeem)
        /// No roster is made of it.
        case accept
    }

    struct Place: Hashable {
        let tag: LogTag
        let sequence: UInt64
    }

    let space: SpaceID
    /// What stands at or above a fork is no act.
    let forks: [LogTag: UInt64]
    private(set) var acts: [Act] = []
    private(set) var admissions: [Int: Admission] = [:]
    private var numbers: [OperationID: Int] = [:]
    private var places: [Place: Int] = [:]
    /// Whether two operations of one place were seen, and no proof of it: then who names the place
    /// may mean either.
    private(set) var isForked = false
    private var folds: [Acts: Fold] = [:]
    private var identities: [[UInt8]: IdentityOperation?] = [:]
    private var logs: [Set<IdentityOperation>: IdentityLog?] = [:]
    /// What may have been seen of what was asked about last, by digests.
    var claims: (held: Acts, sets: [UInt64: Acts])?

    /// Of a space in which these forks are proven in lane 0.
    init(of space: SpaceID, forks: [LogTag: UInt64]) {
        self.space = space
        self.forks = forks
    }

    // MARK: Taking operations

    /// Takes operations of lane 0 in any order, and says which of them are acts: those that the
    /// forks leave, and whose causes are.
    func take(_ held: [(operation: VerifiedOperation, device: DeviceID)]) -> Acts {
        var taken: Acts = []
        var waiting = held
        while true {
            var later: [(operation: VerifiedOperation, device: DeviceID)] = []
            for (operation, device) in waiting {
                if let number = take(operation, by: device, in: taken) {
                    taken.insert(number)
                } else {
                    later.append((operation, device))
                }
            }
            if later.count == waiting.count { return taken }
            waiting = later
        }
    }

    private func take(
        _ operation: VerifiedOperation, by device: DeviceID, in taken: Acts
    ) -> Int? {
        let place = Place(tag: operation.tag, sequence: operation.sequence)
        guard place.sequence < forks[place.tag] ?? .max else { return nil }
        if let known = numbers[operation.id] {
            return acts[known].past.isSubset(of: taken) ? known : nil
        }
        var past: Acts = []
        let tips = operation.operation.header.dependencies + operation.operation.header.references
        var named = tips.compactMap { below(LogTip(tag: $0.tag, sequence: $0.sequence)) }
        if place.sequence > 0 { named.append(Place(tag: place.tag, sequence: place.sequence - 1)) }
        for cause in named {
            guard let number = places[cause], taken.contains(number) else { return nil }
            past.formUnion(acts[number].past)
            past.insert(number)
        }
        let number = acts.count
        acts.append(
            Act(
                id: operation.id, tag: place.tag, sequence: place.sequence, device: device,
                wish: Self.wish(of: operation),
                beginsSpace: OperationHash.space(begunBy: operation.operation) == space,
                past: past,
                stand: past.map { acts[$0].stand + 1 }
                    .reduce(operation.operation.header.wallClock << 16, max),
                hasSeenBranch: tips.contains { $0.sequence >= forks[$0.tag] ?? .max }
                    || past.contains { acts[$0].hasSeenBranch }))
        numbers[operation.id] = number
        isForked = isForked || places[place] != nil
        places[place] = number
        admissions[number] = admission(of: number)
        return number
    }

    /// Who names what stands above a fork names what stands below.
    private func below(_ cause: LogTip) -> Place? {
        guard let fork = forks[cause.tag], cause.sequence >= fork else {
            return Place(tag: cause.tag, sequence: cause.sequence)
        }
        return fork == 0 ? nil : Place(tag: cause.tag, sequence: fork - 1)
    }

    private static func wish(of operation: VerifiedOperation) -> Wish? {
        guard let payload = operation.operation.payload else { return nil }
        func read<Payload>(
            _ decode: () throws -> Payload, _ wish: (Payload) -> Wish
        ) -> Wish? {
            // What cannot be read asks for nothing, whatever is wrong with it.
            (try? decode()).map(wish)
        }
        switch operation.operation.header.kind.rawValue {
        case 1: return read({ try Genesis(payload: payload) }, Wish.genesis)
        case 2: return read({ try AddMember(payload: payload) }, Wish.add)
        case 3: return read({ try RemoveMember(payload: payload) }, Wish.remove)
        case 4: return read({ try SetRole(payload: payload) }, Wish.setRole)
        case 5: return read({ try Leave(payload: payload) }, { _ in .leave })
        case 6: return read({ try Ident(payload: payload) }, Wish.ident)
        case 9: return read({ try SpaceSettings(payload: payload) }, Wish.settings)
        case 10: return read({ try GroupInvite(payload: payload) }, Wish.invite)
        case 11: return read({ try Redeem(payload: payload) }, Wish.redeem)
        case 15: return read({ try Accept(payload: payload) }, { _ in .accept })
        default: return nil
        }
    }

    /// All that follows from a place of lane 0 having been seen; nil where it is no act among these.
    func seen(_ cause: LogTip, among held: Acts) -> Acts? {
        guard let place = below(cause) else { return [] }
        guard let number = places[place], held.contains(number) else { return nil }
        return acts[number].past.union([number])
    }

    func number(of id: OperationID) -> Int? { numbers[id] }

    // MARK: What is remembered

    /// What follows from a set that holds the past of each of its acts.
    func fold(_ set: Acts) -> Fold {
        let admitted = set.filter { admissions[$0] != nil }
        if let known = folds[admitted] { return known }
        let fold = Fold(of: admitted, in: self)
        folds[admitted] = fold
        return fold
    }

    func identity(_ bytes: [UInt8]) -> IdentityOperation? {
        if let known = identities[bytes] { return known }
        // What is no operation of an identity proves nothing.
        let operation = try? IdentityOperation(bytes)
        identities[bytes] = .some(operation)
        return operation
    }

    func log(of operations: Set<IdentityOperation>) -> IdentityLog? {
        if operations.isEmpty { return nil }
        if let known = logs[operations] { return known }
        // Nor do operations that make no log.
        let log = try? IdentityLog(operations.sorted { $0.id < $1.id })
        logs[operations] = .some(log)
        return log
    }
}
