import ParleyLedger
import ParleyWire

extension World {
    /// What may stand elsewhere at a node that was not given what lies below its floors: what names
    /// something there, but the place right below, and what follows from that.
    ///
    /// Source: `Protocol/03-operations.md`, "Order": "Only for a newcomer".
    static func hanging(
        below floors: [LogTag: UInt64], besides misplaced: Set<LogTip>, at node: SimulatedNode,
        in space: SpaceNumber
    ) throws -> Set<LogTip> {
        var rest: [(place: LogTip, names: [LogTip])] = []
        for log in try node.store.logs(in: space) where log.lane.carriesAuthority {
            for stored in try node.store.headers(in: log.number, 0...UInt64.max, limit: .max)
            where stored.sequence >= floors[log.tag] ?? 0 {
                let names = stored.header.dependencies + stored.header.references
                let before = stored.sequence.subtractingReportingOverflow(1)
                let own =
                    before.overflow
                    ? [] : [LogTip(tag: log.tag, sequence: before.partialValue)]
                rest.append(
                    (
                        LogTip(tag: log.tag, sequence: stored.sequence),
                        own.filter {
                            $0.sequence >= floors[log.tag] ?? 0 || misplaced.contains($0)
                        } + names.map(LogTip.init)
                    ))
            }
        }
        var found = misplaced
        var hasMore = true
        while hasMore {
            let begun = found.count
            rest.removeAll { one in
                let hangs = one.names.contains { name in
                    let floor = floors[name.tag] ?? 0
                    return found.contains(name)
                        || (name.sequence < floor && name.sequence + 1 != floor)
                }
                if hangs { found.insert(one.place) }
                return hangs
            }
            hasMore = found.count > begun
        }
        return found
    }

    /// What stands right below a floor of one node elsewhere than at another that holds it: whoever told
    /// the floor was a newcomer as well.
    static func misplaced(
        at node: SimulatedNode, in space: SpaceNumber, from other: SimulatedNode,
        in record: SpaceNumber
    ) throws -> Set<LogTip> {
        var found: Set<LogTip> = []
        for log in try node.store.logs(in: space) where log.lane.carriesAuthority && log.base > 0 {
            let last = log.base - 1
            guard let told = log.order.floor,
                let held = try other.store.log(log.tag, in: record),
                let stored = try other.store.headers(in: held.number, last...last, limit: 1).first,
                stored.stand != told
            else { continue }
            found.insert(LogTip(tag: log.tag, sequence: last))
        }
        return found
    }
}
