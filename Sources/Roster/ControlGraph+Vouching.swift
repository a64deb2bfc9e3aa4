import ParleyLedger
public import ParleyWire

/// A control operation that names a place of a forked log at or above the fork.
struct ForkWord: Sendable {
    let node: Int
    let name: OperationReference
    /// Who says so, if they are heard; found out once, for it depends on the operation's past alone.
    var voucher: ForkVoucher??

    init(node: Int, name: OperationReference) {
        self.node = node
        self.name = name
    }
}

/// Who says which branch of a forked log is meant: the smaller is heard first.
struct ForkVoucher: Comparable, Sendable {
    let rank: Int
    /// How many operations whoever let the device in had seen.
    let age: Int
    let device: DeviceID

    static func < (left: Self, right: Self) -> Bool {
        (left.rank, left.age, left.device) < (right.rank, right.age, right.device)
    }
}

/// What others' words keep of a log with a proven fork.
///
/// Whoever has a device's key can sign another history of its log years later. Which one is meant
/// others have said: control operations name what their authors had seen. The word counts of those
/// whose place in the space does not hang on anything at or above the fork, so that nobody whom the
/// branch itself lets in speaks for it.
/// Source: `Protocol/08-roster.md`, "Forks".
extension ControlGraph {
    /// What others have named of a log at or above its fork: of each device the highest place; of
    /// devices who stands higher, who came earlier, and the lesser first.
    ///
    /// Asked of a graph in which every log ends at its fork, it depends on the operations alone
    /// that are in that graph.
    public mutating func names(of log: LogTag, by device: DeviceID) -> [OperationReference] {
        var highest: [DeviceID: (voucher: ForkVoucher, name: OperationReference)] = [:]
        for place in words[log]?.indices ?? 0..<0 {
            guard let word = words[log]?[place] else { continue }
            let author = nodes[word.node].device
            if let known = highest[author], known.name.sequence >= word.name.sequence { continue }
            let found = word.voucher ?? voucher(word.node, against: device)
            words[log]?[place].voucher = .some(found)
            if let found { highest[author] = (found, word.name) }
        }
        return highest.values.sorted { $0.voucher < $1.voucher }.map(\.name)
    }

    /// Who wrote an operation, if their word counts about a log of this device. Of the same person
    /// only devices that it cannot have let in are heard.
    private mutating func voucher(_ number: Int, against forked: DeviceID) -> ForkVoucher? {
        let device = nodes[number].device
        let view = authorities.view(authoritySet(nodes[number].past))
        guard device != forked, let person = view.owners[device],
            let standing = view.standings[person],
            let own = standing.member.devices.first(where: { $0.device == device })
        else { return nil }
        // One that is out already is taken for a device that the root added: those have rank 1.
        let rank =
            standing.member.devices.first { $0.device == forked }?.rank
            ?? (view.former[person]?[forked] == nil ? own.rank : 1)
        guard own.rank <= rank else { return nil }
        let admissions = standing.admissions[device] ?? []
        let age = admissions.map { authorities.index[$0].past.count }.min() ?? 0
        return ForkVoucher(rank: standing.member.rank, age: age, device: device)
    }
}

/// How far a branch of a forked log counts.
public enum Vouching {
    /// The place after the last that counts of a branch, or nil where it is not the branch that was
    /// named first.
    ///
    /// - Parameters:
    ///   - names: what ``ControlGraph/names(of:by:)`` gave.
    ///   - branch: what stands at a place of it, or nil beyond its end.
    public static func end<Failure>(
        of names: [OperationReference], on branch: (UInt64) throws(Failure) -> OperationID?
    ) throws(Failure) -> UInt64? {
        var end: UInt64?
        for name in names {
            let isThere = try branch(name.sequence)?.check == name.check
            guard isThere || end != nil else { return nil }
            if isThere { end = max(end ?? 0, name.sequence + 1) }
        }
        return end
    }
}
