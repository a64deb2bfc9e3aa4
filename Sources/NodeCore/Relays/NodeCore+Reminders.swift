import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// A relay may lose something silently, and if nothing new is written, nothing reveals it. So the
/// author tells devices that have not acknowledged how far it is; and once it is quiet, devices
/// compare what they hold of other authors, who may be gone.
/// Source: `Protocol/06-relay.md`, "Reminders".
extension NodeCore {
    /// A device without a link.
    private struct Apart {
        let device: DeviceID
        let person: PersonID
        /// Whether it has acknowledged anything.
        let hasAcknowledged: Bool
        /// Whether it has not acknowledged all of the own logs.
        let isBehind: Bool
    }

    /// Something of a space was put, or came from others.
    mutating func restartReminders(of space: SpaceNumber, _ turn: inout some Turn)
        throws(StoreError)
    {
        try setReminder(of: space, count: 0, &turn)
    }

    /// Continues after a restart.
    mutating func resumeReminders(_ turn: inout some Turn) throws(StoreError) {
        for (key, _) in try turn.store.values(.reminder) {
            guard let space = SpaceNumber(key: key),
                let count = try turn.store.number(.reminder, key)
            else { continue }
            // The store says so already.
            _ = courier.reminders.setCount(count, of: space)
            try setReminder(of: space, count: count, &turn)
        }
    }

    /// Notes how often devices were reminded, and reminds them again; nil ends that.
    private mutating func setReminder(
        of space: SpaceNumber, count: UInt64?, _ turn: inout some Turn
    ) throws(StoreError) {
        if courier.reminders.setCount(count, of: space) {
            if let count {
                try turn.store.setNumber(count, .reminder, space.key)
            } else {
                try turn.store.setValue(nil, .reminder, space.key)
            }
        }
        guard let delay = courier.reminders.delay(of: space, by: identity.device) else { return }
        timers.set(.reminder(space), in: delay, &turn)
    }

    /// Tells devices that seem to lack some of the own logs, and asks them for what is missing
    /// here.
    mutating func remindDevices(of number: SpaceNumber, _ turn: inout some Turn) throws(StoreError)
    {
        guard let count = courier.reminders.count(of: number) else { return }
        guard courier.lines.values.contains(where: \.isOpenAndDrained) else {
            return try setReminder(of: number, count: count, &turn)
        }
        let apart = try devicesApart(in: number, turn.store)
        let due = courier.reminders.due(
            behind: apart.filter(\.isBehind), others: apart.filter { !$0.isBehind }, of: number,
            by: identity.device)
        guard !due.isEmpty, let space = try turn.store.space(number) else {
            return try setReminder(of: number, count: nil, &turn)
        }
        // What is put again in this round would count as something new.
        let next = courier.reminders.nextCount(of: number)
        for one in due {
            if !one.hasAcknowledged {
                // It may not know the space at all.
                try turn.store.setValue(nil, .welcome, space.id.bytes + one.device.bytes)
                courier.outbox.note(number)
            }
            let frontier = try Catchup.frontier(
                of: space, .everything(), for: one.device, asks: true, in: turn.store)
            let isSent = try send(
                [.frontier(frontier)], to: one.device, of: one.person,
                for: .reminder(number, one.device), &turn)
            if isSent { continue }
            for relay in try relaysThatRefuse(
                letters: one.device, of: one.person, at: turn.now, turn.store)
            {
                try putAgain(number, for: one.device, to: relay, &turn)
            }
        }
        try setReminder(of: number, count: next, &turn)
    }

    /// The relays that accept no letters to a device, if none does: a right to write to it was
    /// retired, and what announces the new one may have been lost with the rest.
    private func relaysThatRefuse(
        letters device: DeviceID, of person: PersonID, at now: Instant, _ store: some Store
    ) throws(StoreError) -> [NoiseKey] {
        guard try contact(person, store)?.isBlocked != true,
            let part = try CardReader.parts(of: person, store).first(where: { $0.device == device }
            ),
            part.mailboxes.allSatisfy({ isAbsent($0.inbox, on: $0.relay, at: now) })
        else { return [] }
        return part.mailboxes.map(\.relay)
    }

    /// Who may be told: devices that are not linked.
    private mutating func devicesApart(
        in number: SpaceNumber, _ store: some Store
    ) throws(StoreError) -> [Apart] {
        guard let space = try store.space(number), let roster = try roster(of: space, store),
            belongs(to: roster),
            try store.agreedLogs(in: number).count <= Self.toldLogCountMax
        else { return [] }
        let linked = devicesLinked(in: number)
        let own = try ownTips(in: space, store)
        let acknowledged = try acknowledgedEnds(in: space, store)
        return roster.participatingDevices.map(\.device).compactMap { device in
            guard device != identity.device, !linked.contains(device),
                let person = roster.person(of: device)
            else { return nil }
            let ends = acknowledged[device]
            return Apart(
                device: device, person: person, hasAcknowledged: ends != nil,
                isBehind: own.contains { ends?[$0.key] ?? 0 < $0.value })
        }
    }
}
