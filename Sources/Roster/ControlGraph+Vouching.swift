import ParleyLedger
public import ParleyWire

/// What names places of a forked log at or above the fork.
struct ForkWords: Sendable {
    /// A control operation that does.
    struct Word: Sendable {
        let node: Int
        let name: OperationReference
    }

    /// Those that nobody looked at yet.
    var fresh: [Word] = []
    /// For all others the highest place that each device names, with the source: that depends on
    /// the past of the operation alone, so it is computed once.
    var highest: [DeviceID: (voucher: ForkVoucher, name: OperationReference, node: Int)] = [:]
}

/// The rank of a device's word on a forked log: the smaller is heard first.
struct ForkVoucher: Comparable, Sendable {
    let rank: Int
    /// How many operations the admission of the device had seen.
    let age: Int
    let device: DeviceID

    static func < (left: Self, right: Self) -> Bool {
        (left.rank, left.age, left.device) < (right.rank, right.age, right.device)
    }
}

/// What others' words keep of a log with a proven fork.
///
/// A thief of a device's key can sign another history of its log years later. Which one is meant
/// others have said: control operations name what their authors had seen. The words count of those
/// whose membership does not depend on anything at or above the fork, so that nobody admitted by
/// the branch itself speaks for it.
/// Source: `Protocol/08-roster.md`, "Forks".
extension ControlGraph {
    /// What others have named of a log at or above its fork: of each device the highest place;
    /// devices by rank, then by seniority, then the smaller first.
    ///
    /// Asked of a graph in which every log ends at its fork, it depends on the operations alone
    /// that are in that graph.
    public mutating func names(of log: LogTag, by device: DeviceID) -> [OperationReference] {
        guard var known = words[log] else { return [] }
        for word in known.fresh {
            let author = nodes[word.node].device
            if let higher = known.highest[author], higher.name.sequence >= word.name.sequence {
                continue
            }
            if let voucher = voucher(word.node, against: device) {
                known.highest[author] = (voucher, word.name, word.node)
            }
        }
        known.fresh = []
        words[log] = known
        return known.highest.values.sorted { $0.voucher < $1.voucher }.map(\.name)
    }

    /// Where the words stand of which ``names(of:by:)`` gave the names.
    var voucherPlaces: [LogTip] {
        words.values.flatMap(\.highest.values).map {
            LogTip(tag: logs[nodes[$0.node].log].tag, sequence: nodes[$0.node].sequence)
        }
    }

    /// The author of an operation, if their word counts about a log of this device. Of the same
    /// person only devices that it cannot have admitted count.
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
            ?? (view.wasLetIn(forked, for: person, authorities.index) ? 1 : own.rank)
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
    ///   - branch: the operation at a place of it, or nil beyond its end.
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
