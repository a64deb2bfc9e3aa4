import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// A relay may lose something without a word, and where nothing new is said, nothing shows it. So who
/// put something tells those who have not said that they hold it how far it is; and once it is quiet,
/// devices compare what they hold of others, who may be gone.
/// Source: `Protocol/06-relay.md`, "Reminders".
extension NodeCore {
    /// This long after something was put the first are told; then 8 and 64 times as long after that, then
    /// once a day. In milliseconds.
    static let reminderDelay: UInt64 = 600_000
    /// How often in all, unless something new is put: about as many days as relays keep it.
    static let reminderCountMax: UInt64 = 30
    /// So many devices are told at a time.
    static let remindedDeviceCountMax = 3
    /// How often devices compare what they hold once nothing new comes: within a day and a half.
    static let comparisonCountMax: UInt64 = 4

    /// A device that has not acknowledged all of the own logs.
    private struct Behind {
        let device: DeviceID
        let person: PersonID
        /// Whether it has acknowledged anything.
        let hasAcknowledged: Bool
    }

    /// Something of a space was put, or came from others.
    mutating func remindLater(of space: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        try setReminder(of: space, count: 0, &turn)
    }

    /// Goes on after a restart.
    mutating func loadReminders(_ turn: inout some Turn) throws(StoreError) {
        for (key, _) in try turn.store.values(.reminder) {
            guard let space = SpaceNumber(key: key),
                let count = try turn.store.number(.reminder, key)
            else { continue }
            reminders[space] = count
            try setReminder(of: space, count: count, &turn)
        }
    }

    /// Notes how often others were told, and tells them again; nil ends that.
    private mutating func setReminder(
        of space: SpaceNumber, count: UInt64?, _ turn: inout some Turn
    ) throws(StoreError) {
        if reminders[space] != count {
            reminders[space] = count
            if let count {
                try turn.store.setNumber(count, .reminder, space.key)
            } else {
                try turn.store.setValue(nil, .reminder, space.key)
            }
        }
        guard let count else { return }
        // Not for all spaces at once, nor by all devices.
        let draw = identity.device.prefix &+ UInt64(bitPattern: space.rawValue) &* 7_919
        let delay = Self.reminderDelay + draw % (Self.reminderDelay / 4)
        timers.set(.reminder(space), in: min(delay << (3 * min(count, 4)), Self.day), &turn)
    }

    /// Tells devices that seem to lack some of the own logs, and asks them for what is missing here.
    mutating func remind(_ number: SpaceNumber, _ turn: inout some Turn) throws(StoreError) {
        guard let count = reminders[number] else { return }
        guard lines.values.contains(where: \.isOpenAndDrained) else {
            return try setReminder(of: number, count: count, &turn)
        }
        var behind = try devicesBehind(in: number, turn.store)
        // Where all hold what was written here, what others wrote is compared a few times: of that
        // nobody is reminded, and its author may be gone.
        if behind.isEmpty, count < Self.comparisonCountMax {
            behind = try devicesBehind(in: number, isCounted: false, turn.store)
        }
        guard !behind.isEmpty, let space = try turn.store.space(number) else {
            return try setReminder(of: number, count: nil, &turn)
        }
        let start = Int((identity.device.prefix &+ 3 * count) % UInt64(behind.count))
        let turned = behind[start...] + behind[..<start]
        for one in turned.prefix(Self.remindedDeviceCountMax) {
            if !one.hasAcknowledged {
                // It may not know the space at all.
                try turn.store.setValue(nil, .welcome, space.id.bytes + one.device.bytes)
                outboxDue.insert(number)
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
        let next = count + 1 < Self.reminderCountMax ? count + 1 : nil
        try setReminder(of: number, count: next, &turn)
    }

    /// The relays that take no letters to a device, where none does: a right to write to it was
    /// retired, and what tells of the new one may have been lost with the rest.
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

    /// Who may be told: devices that are not linked and have not acknowledged all of the own logs.
    ///
    /// - Parameter isCounted: whether acknowledgements count; else all that are not linked.
    private mutating func devicesBehind(
        in number: SpaceNumber, isCounted: Bool = true, _ store: some Store
    ) throws(StoreError) -> [Behind] {
        guard let space = try store.space(number), let roster = try roster(of: space, store),
            belongs(to: roster),
            try store.agreedLogs(in: number).count <= Self.toldLogCountMax
        else { return [] }
        let linked = devicesLinked(in: number)
        let own = try ownTips(in: space, store)
        let acknowledged = try acknowledgedEnds(in: space, store)
        return roster.participatingDevices.map(\.device).compactMap { device in
            guard device != identity.device, !linked.contains(device),
                !isCounted
                    || own.contains(where: { acknowledged[device]?[$0.key] ?? 0 < $0.value }),
                let person = roster.person(of: device)
            else { return nil }
            return Behind(
                device: device, person: person, hasAcknowledged: acknowledged[device] != nil)
        }
    }
}
