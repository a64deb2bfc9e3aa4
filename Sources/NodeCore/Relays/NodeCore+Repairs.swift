import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// What relays did not bring is asked for, by letters.
/// Source: `Protocol/06-relay.md`, "Repair".
extension NodeCore {
    /// Something of a space is missing that came, or should have come, through a relay.
    ///
    /// - Parameters:
    ///   - device: the holder; nil if anybody may be.
    ///   - ends: how far that device is with logs that end before here, where it is known.
    mutating func scheduleRepair(
        of space: SpaceNumber, from device: DeviceID?, upTo ends: [LogTag: UInt64] = [:],
        _ turn: inout some Turn
    ) throws(StoreError) {
        var repair = courier.repairs.repair(of: space) ?? Repair()
        if let device, device != identity.device { repair.addHolder(device) }
        repair.extend(to: ends)
        try keep(repair, of: space, turn.store)
        timers.set(.repair(space), in: repair.delay, &turn)
    }

    /// Continues after a restart: what showed the gap does not come again.
    mutating func resumeRepairs(_ turn: inout some Turn) throws(StoreError) {
        for (key, holder) in try turn.store.values(.repair) {
            guard let space = SpaceNumber(key: key) else { continue }
            try scheduleRepair(of: space, from: DeviceID(holder), &turn)
        }
    }

    /// Stores a repair, or that there is none any more.
    private mutating func keep(
        _ repair: Repair?, of space: SpaceNumber, _ store: some Store
    ) throws(StoreError) {
        guard courier.repairs.keep(repair, of: space) else { return }
        try store.setValue(
            repair.map { $0.holders.last?.bytes ?? [] }, .repair, space.key)
    }

    /// Requests what is missing. Linked peers are tried first. A device that is not a member, as
    /// far as it knows, asks only those that said they hold more.
    mutating func requestRepair(of number: SpaceNumber, _ turn: inout some Turn) throws(StoreError)
    {
        guard var repair = courier.repairs.repair(of: number),
            let space = try turn.store.space(number)
        else { return try keep(nil, of: number, turn.store) }
        try prepare(space, turn.store)
        // Of a group that all have left, as far as is known here, there is a roster as well.
        guard let roster = rosters.judges[number]?.roster else {
            return try keep(nil, of: number, turn.store)
        }
        let linked = devicesLinked(in: number)
        let mayAskAll = belongs(to: roster) && linked.isEmpty && repair.holders.isEmpty
        repair.removeHolders(linked)
        let hasCome = try holdsLogs(upTo: repair.ends, of: space, turn.store)
        guard mayAskAll || !repair.holders.isEmpty, repair.ends.isEmpty || !hasCome else {
            return try keep(nil, of: number, turn.store)
        }
        if repair.roundCount == 0, !linked.isEmpty {
            repair.endRound()
            try keep(repair, of: number, turn.store)
            return timers.set(.repair(number), in: repair.delay, &turn)
        }
        guard courier.lines.values.contains(where: \.isOpenAndDrained) else {
            return timers.set(.repair(number), in: 10_000, &turn)
        }
        let isAsked = try askDevices(for: repair, of: space, besides: linked, in: roster, &turn)
        repair.endRound()
        try keep(repair, of: number, turn.store)
        if isAsked, repair.isExhausted { return try keep(nil, of: number, turn.store) }
        timers.set(.repair(number), in: repair.delay, &turn)
    }

    /// Asks those whose turn it is, by letter. Returns whether a letter went to one of them.
    private mutating func askDevices(
        for repair: Repair, of space: SpaceRecord, besides linked: Set<DeviceID>,
        in roster: Roster, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        let members = belongs(to: roster) ? roster.participatingDevices.map(\.device) : []
        let others = members.filter { $0 != identity.device && !linked.contains($0) }
        var isAsked = false
        for device in repair.devices(among: others) {
            guard let person = try person(of: device, in: roster, turn.store),
                let scope = !belongs(to: roster) || roster.contains(device)
                    ? .everything() : try scope(of: space, with: device, of: person, turn.store)
            else { continue }
            let frontier = try Catchup.frontier(
                of: space, scope, for: device, asks: true, in: turn.store)
            isAsked =
                try send([.frontier(frontier)], to: device, of: person, &turn) || isAsked
        }
        return isAsked
    }

    /// Whose a device is that said it holds more: that it let itself in may be what is missing, and then
    /// the identity logs of the members know it, and the roster does not.
    private func person(
        of device: DeviceID, in roster: Roster, _ store: some Store
    ) throws(StoreError) -> PersonID? {
        if let person = roster.person(of: device) { return person }
        for member in roster.members {
            let log = try CardReader.identity(of: member.person, store)
            if log?.certificate(of: device) != nil { return member.person }
        }
        return nil
    }

    /// Whether logs are held without a gap up to these places.
    private func holdsLogs(
        upTo ends: [LogTag: UInt64], of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        for (tag, end) in ends {
            let log = try store.agreedLog(tag, in: space.number)
            guard let log, log.isWhole, log.endsAtBound || end <= log.end else { return false }
        }
        return true
    }

    /// Ends a repair once nothing is missing of what a device said it holds.
    mutating func finishRepair(
        of space: SpaceRecord, by frontier: Frontier, _ store: some Store
    ) throws(StoreError) {
        // A device that holds nothing says nothing about what is missing.
        guard courier.repairs.repair(of: space.number) != nil, !frontier.entries.isEmpty else {
            return
        }
        let ends = frontier.entries.map { ($0.tag, $0.sequence + 1) }
        guard try holdsLogs(upTo: Dictionary(ends, uniquingKeysWith: max), of: space, store) else {
            return
        }
        try keep(nil, of: space.number, store)
    }
}
