import ParleyWire

/// The operations of one identity log with their causes, and the rule that settles them.
struct IdentityGraph {
    let person: PersonID
    let root: DeviceID
    /// Causes before effects; what may stand in either order is ordered by identifier.
    private(set) var operations: [IdentityOperation]
    private(set) var forked: [DeviceID] = []
    /// For each operation, which others it follows from.
    private var past: [Set<Int>]

    init(_ given: [IdentityOperation]) throws(IdentityRejection) {
        var byID: [Digest: IdentityOperation] = [:]
        for operation in given { byID[operation.id] = operation }
        let unique = byID.values.sorted { $0.id < $1.id }
        var genesis: IdentityOperation?
        for operation in unique {
            guard case .genesis = operation.content else { continue }
            guard genesis == nil else { throw .noSingleGenesis }
            genesis = operation
        }
        guard let genesis else { throw .noSingleGenesis }
        person = genesis.person
        root = genesis.author
        for operation in unique where operation.person != genesis.person { throw .otherPerson }
        (operations, past) = try Self.ordered(unique, byID)
        let sound = withoutStrangers()
        if sound.count < operations.count { (operations, past) = try Self.ordered(sound, byID) }
        forked = Self.forked(operations)
    }

    /// Those whose author had been added by what the operation names, and whose causes are such
    /// themselves: nobody else can fill a person's log.
    private func withoutStrangers() -> [IdentityOperation] {
        let ranks = authorRanks()
        var strange: Set<Digest> = []
        for (index, operation) in operations.enumerated()
        where ranks[index] == nil || Self.causes(of: operation).contains(where: strange.contains) {
            strange.insert(operation.id)
        }
        return operations.filter { !strange.contains($0.id) }.sorted { $0.id < $1.id }
    }

    private static func ordered(
        _ unique: [IdentityOperation], _ byID: [Digest: IdentityOperation]
    ) throws(IdentityRejection) -> ([IdentityOperation], [Set<Int>]) {
        var place: [Digest: Int] = [:]
        var sorted: [IdentityOperation] = []
        var past: [Set<Int>] = []
        var waiting = unique
        while !waiting.isEmpty {
            var later: [IdentityOperation] = []
            for operation in waiting {
                let causes = causes(of: operation)
                for cause in causes where byID[cause] == nil { throw .missingCause(cause) }
                let places = causes.compactMap { place[$0] }
                guard places.count == causes.count else {
                    later.append(operation)
                    continue
                }
                try checkChain(operation, byID)
                var all = Set(places)
                for cause in places { all.formUnion(past[cause]) }
                place[operation.id] = sorted.count
                sorted.append(operation)
                past.append(all)
            }
            // Hashes cannot form a circle, so each round places at least one.
            precondition(later.count < waiting.count, "causes must come to an end")
            waiting = later
        }
        return (sorted, past)
    }

    private static func causes(of operation: IdentityOperation) -> [Digest] {
        operation.sequence == 0
            ? operation.dependencies : operation.dependencies + [operation.previous]
    }

    private static func checkChain(
        _ operation: IdentityOperation, _ byID: [Digest: IdentityOperation]
    ) throws(IdentityRejection) {
        guard operation.sequence > 0 else { return }
        guard let previous = byID[operation.previous], previous.author == operation.author,
            previous.sequence + 1 == operation.sequence
        else { throw .brokenChain }
    }

    private static func forked(_ operations: [IdentityOperation]) -> [DeviceID] {
        struct Place: Hashable {
            let author: DeviceID
            let sequence: UInt64
        }
        var seen: Set<Place> = []
        var forked: Set<DeviceID> = []
        for operation in operations {
            let place = Place(author: operation.author, sequence: operation.sequence)
            if !seen.insert(place).inserted { forked.insert(operation.author) }
        }
        return forked.sorted()
    }

    // MARK: Resolution

    /// An operation whose author was entitled by what it had seen.
    private struct Admitted {
        let index: Int
        let rank: Int
        /// The additions of the author in its past; none for the root, who needs none.
        let grants: [Int]
        let isRevocation: Bool
    }

    /// The devices that follow from the operations: seniors are heard first, and among equals
    /// revocations, so that of two who revoke each other only the senior remains.
    func resolve() -> (devices: [DeviceCertificate], revoked: [DeviceID]) {
        let ranks = authorRanks()
        let admitted = operations.indices.compactMap { admit($0, ranks) }.sorted {
            ($0.rank, $0.isRevocation ? 0 : 1, operations[$0.index].id)
                < ($1.rank, $1.isRevocation ? 0 : 1, operations[$1.index].id)
        }
        var live: Set<Int> = []
        var revocations: [(target: DeviceID, index: Int)] = []
        var heard: [DeviceCertificate] = []
        for entry in admitted {
            let operation = operations[entry.index]
            guard operation.author == root || entry.grants.contains(where: live.contains) else {
                continue
            }
            let isVoid = revocations.contains {
                $0.target == operation.author && !past[$0.index].contains(entry.index)
            }
            guard !isVoid else { continue }
            live.insert(entry.index)
            switch operation.content {
            case .genesis: break
            case .addDevice(let device, let noiseKey, _, _):
                guard !heard.contains(where: { $0.device == device }) else { break }
                heard.append(
                    DeviceCertificate(
                        person: person, device: device, noiseKey: noiseKey, rank: entry.rank + 1))
            case .revokeDevice(let device, _):
                revocations.append((device, entry.index))
            }
        }
        let revoked = Set(revocations.map(\.target))
        // Nobody can sign with a link key, so anybody can name another device's: among valid ones
        // it belongs to the device processed first. The adder of a device that is processed earlier
        // could revoke the other device as well, so this gives nobody more than they had.
        var keys: Set<NoiseKey> = []
        let standing = heard.filter {
            !revoked.contains($0.device) && keys.insert($0.noiseKey).inserted
        }
        return (standing.sorted { $0.device < $1.device }, revoked.sorted())
    }

    /// Judges an operation by its own past alone, so that everyone judges it alike for ever.
    private func admit(_ index: Int, _ ranks: [Int?]) -> Admitted? {
        let operation = operations[index]
        guard let rank = ranks[index] else { return nil }
        let grants = additions(of: operation.author, in: past[index])
        switch operation.content {
        case .genesis:
            return Admitted(index: index, rank: -1, grants: [], isRevocation: false)
        case .addDevice(let device, _, _, _):
            guard device != root else { return nil }
            return Admitted(index: index, rank: rank, grants: grants, isRevocation: false)
        case .revokeDevice(let device, _):
            guard let target = self.rank(of: device, in: past[index], given: ranks),
                device == operation.author || rank < target, device != root
            else { return nil }
            return Admitted(index: index, rank: rank, grants: grants, isRevocation: true)
        }
    }

    private func additions(of device: DeviceID, in past: Set<Int>) -> [Int] {
        past.filter {
            if case .addDevice(device, _, _, _) = operations[$0].content { true } else { false }
        }.sorted()
    }

    /// The root's rank is 0; a device stands one below the best of those who added it.
    private func rank(
        of device: DeviceID, in past: Set<Int>, given authorRanks: [Int?]
    ) -> Int? {
        if device == root { return 0 }
        return additions(of: device, in: past).compactMap { authorRanks[$0] }.min().map { $0 + 1 }
    }

    /// The rank of each operation's author by its past. Causes come first, so every rank that one
    /// builds on is known by then: the work stays small however the graph was contrived.
    private func authorRanks() -> [Int?] {
        var ranks: [Int?] = []
        for index in operations.indices {
            ranks.append(rank(of: operations[index].author, in: past[index], given: ranks))
        }
        return ranks
    }
}
