import ParleyLedger
import ParleyWire

extension NaiveRosters {
    /// What somebody had seen who claims this authority, of those sets that are looked for, or nil: who is
    /// given the end of a log alone takes its word for what its author had seen.
    /// Source: `Protocol/03-operations.md`, "Views".
    func set(claiming authority: UInt64, within held: Acts) -> Acts? {
        if claims?.held != held { claims = (held, sets(within: held)) }
        return claims?.sets[authority]
    }

    private func sets(within held: Acts) -> [UInt64: Acts] {
        let admitted = held.filter { admissions[$0] != nil }
        var sets: [UInt64: Acts] = [:]
        func note(_ tips: Acts) {
            guard tips.count <= 64 else { return }
            sets[OperationHash.authority(tips.map { acts[$0].id })] = tips.reduce(tips) {
                $0.union(acts[$1].past)
            }
        }
        let logs = Dictionary(grouping: admitted, by: { acts[$0].tag }).mapValues { log in
            log.sorted { acts[$0].sequence < acts[$1].sequence }
        }
        for one in admitted {
            note([one])
            for (tag, log) in logs where tag != acts[one].tag {
                let unseen = log.filter { !acts[one].past.contains($0) }.prefix(128 / logs.count)
                for other in unseen where !acts[other].past.contains(one) { note([one, other]) }
            }
        }
        var below: Acts = []
        for act in admitted.sorted(by: {
            (acts[$0].stand, acts[$0].id) < (acts[$1].stand, acts[$1].id)
        }) {
            below.insert(act)
            let seen = below.reduce(into: Acts()) { $0.formUnion(acts[$1].past) }
            note(below.subtracting(seen))
        }
        return sets
    }
}
