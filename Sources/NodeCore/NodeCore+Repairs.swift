import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleyWire

/// What is missing of a space, and who has it.
struct Repair: Sendable {
    /// Devices that said they hold it, the last one last; empty where everybody is asked.
    var holders: [DeviceID] = []
    /// The places after the last that they said they hold, of logs that end before here.
    var ends: [LogTag: UInt64] = [:]
    var count: UInt64 = 0

    /// 2 s, 30 s, 1 min … 1 h.
    var delay: UInt64 { count == 0 ? 2_000 : min(3_600_000, 30_000 << min(count - 1, 7)) }
}

/// What relays did not bring is asked for, by letters. Source: `Protocol/06-relay.md`, "Repair".
extension NodeCore {
    /// So many devices are asked at a time where nobody is known to hold what is missing.
    private static let askedDeviceCountMax = 3
    /// So many holders are known of one space.
    private static let holderCountMax = 8

    /// Something of a space is missing that came, or should have come, through a relay.
    ///
    /// - Parameters:
    ///   - device: who has it; nil where anybody may.
    ///   - ends: how far that device is with logs that end before here, where it is known.
    mutating func miss(
        _ space: SpaceNumber, heldBy device: DeviceID?, upTo ends: [LogTag: UInt64] = [:],
        _ turn: inout some Turn
    ) throws(StoreError) {
        var repair = repairs[space] ?? Repair()
        if let device, device != identity.device {
            repair.holders.removeAll { $0 == device }
            repair.holders = repair.holders.suffix(Self.holderCountMax - 1) + [device]
        }
        repair.ends.merge(ends, uniquingKeysWith: max)
        try keep(repair, of: space, turn.store)
        timers.set(.repair(space), in: repair.delay, &turn)
    }

    /// Goes on after a restart: what showed that something is missing does not come again.
    mutating func loadRepairs(_ turn: inout some Turn) throws(StoreError) {
        for (key, holder) in try turn.store.values(.repair) {
            guard let space = SpaceNumber(key: key) else { continue }
            try miss(space, heldBy: DeviceID(holder), &turn)
        }
    }

    /// Notes a repair, or that there is none any more.
    private mutating func keep(
        _ repair: Repair?, of space: SpaceNumber, _ store: some Store
    ) throws(StoreError) {
        let before = repairs[space].map { $0.holders.last?.bytes ?? [] }
        let holder = repair.map { $0.holders.last?.bytes ?? [] }
        repairs[space] = repair
        if holder != before { try store.setValue(holder, .repair, space.key) }
    }

    /// Asks for what is missing. Who is linked may bring it first; who is not in the space, as far as
    /// is known here, asks those alone who said that they have more.
    mutating func repair(_ number: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        guard var repair = repairs[number], let space = try turn.store.space(number),
            let roster = try roster(of: space, turn.store)
        else { return try keep(nil, of: number, turn.store) }
        let linked = devicesLinked(in: number)
        let hadHolders = !repair.holders.isEmpty
        repair.holders.removeAll(where: linked.contains)
        let mayAskAll = belongs(to: roster) && linked.isEmpty && !hadHolders
        let hasCome = try holds(repair.ends, of: space, turn.store)
        guard mayAskAll || !repair.holders.isEmpty, repair.ends.isEmpty || !hasCome else {
            return try keep(nil, of: number, turn.store)
        }
        if repair.count == 0, !linked.isEmpty {
            repair.count = 1
            try keep(repair, of: number, turn.store)
            return timers.set(.repair(number), in: repair.delay, &turn)
        }
        guard lines.values.contains(where: \.isOpenAndDrained) else {
            return timers.set(.repair(number), in: 10_000, &turn)
        }
        var isAsked = false
        for device in asked(by: repair, besides: linked, in: roster) {
            guard let person = roster.person(of: device) else { continue }
            let frontier = try Catchup.frontier(
                of: space, .everything(), for: device, asks: true, in: turn.store)
            isAsked =
                try send([.frontier(frontier)], to: device, of: person, &turn) || isAsked
        }
        repair.count += 1
        try keep(repair, of: number, turn.store)
        // Where nobody is known to hold more, one question is enough; an answer may bring another.
        if isAsked, repair.holders.isEmpty || repair.count > 8 {
            return try keep(nil, of: number, turn.store)
        }
        timers.set(.repair(number), in: repair.delay, &turn)
    }

    /// Who is asked now: who has it, then others in turn, for who was asked before may be gone.
    private func asked(
        by repair: Repair, besides linked: Set<DeviceID>, in roster: Roster
    ) -> [DeviceID] {
        let first = repair.holders.last.map { [$0] } ?? []
        guard first.isEmpty || repair.count > 0, belongs(to: roster) else { return first }
        let others = roster.participatingDevices.map(\.device).filter {
            $0 != identity.device && !first.contains($0) && !linked.contains($0)
        }
        let start = others.isEmpty ? 0 : Int(repair.count) % others.count
        let turned = others[start...] + others[..<start]
        return first + turned.prefix(Self.askedDeviceCountMax - first.count)
    }

    /// Whether logs are held without a hole up to these places.
    private func holds(
        _ ends: [LogTag: UInt64], of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        for (tag, end) in ends {
            let log = try store.agreedLog(tag, in: space.number)
            guard let log, log.isWhole, log.endsAtBound || end <= log.end else { return false }
        }
        return true
    }

    /// Ends a repair once nothing is missing any more of what a device said it holds.
    mutating func settleRepair(
        of space: SpaceRecord, by frontier: Frontier, _ store: some Store
    ) throws(StoreError) {
        // Who holds nothing tells nothing of what is missing.
        guard repairs[space.number] != nil, !frontier.entries.isEmpty else { return }
        let ends = frontier.entries.map { ($0.tag, $0.sequence + 1) }
        guard try holds(Dictionary(ends, uniquingKeysWith: max), of: space, store) else { return }
        try keep(nil, of: space.number, store)
    }
}
