import ParleyLedger
import ParleySealing
import ParleyWire

/// What a relay reports of its day and of its store, and what follows if it is impossible. Source:
/// `Protocol/06-relay.md`, "Days" and "Loss".
extension NodeCore {
    /// A relay is heard no sooner after it told another day, in milliseconds: each costs a question
    /// for every mailbox.
    static let dayInterval: UInt64 = 60_000
    /// All is put again because of a day no more often than this, in milliseconds.
    static let leapInterval: UInt64 = 3_600_000

    /// A relay says, on a connection that stands, that its day is another one.
    mutating func change(_ relay: NoiseKey, to day: RelayDay, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let line = courier.lines[relay], line.phase == .open else { return }
        courier.lines[relay]?.nextDay = nil
        guard line.day != day else { return }
        if let last = line.dayToldAt, turn.now.monotonic < last + Self.dayInterval {
            courier.lines[relay]?.nextDay = day
            timers.hasten(
                .relay(relay), in: last + Self.dayInterval - turn.now.monotonic, &turn)
            return try count(.relay, turn.store)
        }
        courier.lines[relay]?.dayToldAt = turn.now.monotonic
        courier.lines[relay]?.day = day
        courier.lines[relay]?.full = [:]
        if var record = try turn.store.value(.relay, relay.bytes).flatMap(RelayRecord.init) {
            try note(day, in: &record, of: relay, &turn)
            try turn.store.setValue(record.bytes, .relay, relay.bytes)
        }
        try watchMailboxes(on: relay, &turn)
        courier.outbox.noteAll()
    }

    /// Follows a day that was reported too soon, once it is time.
    mutating func followDay(of relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        if let day = courier.lines[relay]?.nextDay {
            try change(relay, to: day, &turn)
        }
        guard let day = courier.lines[relay]?.day,
            var record = try turn.store.value(.relay, relay.bytes).flatMap(RelayRecord.init),
            record.hasLeapt(to: day)
        else { return }
        try note(day, in: &record, of: relay, &turn)
        try turn.store.setValue(record.bytes, .relay, relay.bytes)
        try watchMailboxes(on: relay, &turn)
    }

    /// Records the day that a relay reported. After a leap, what was put under the earlier days
    /// lies where nobody looks: it is put again, and everything that others may have put is read.
    mutating func note(
        _ day: RelayDay, in record: inout RelayRecord, of relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard record.hasLeapt(to: day) else {
            record.toldDay = day
            return
        }
        // One that leaps all the time is followed once an hour; until then it counts as before.
        if let last = courier.lines[relay]?.leaptAt, turn.now.monotonic < last + Self.leapInterval {
            return timers.set(
                .relay(relay), in: last + Self.leapInterval - turn.now.monotonic, &turn)
        }
        courier.lines[relay]?.leaptAt = turn.now.monotonic
        record.toldDay = day
        record.day = .zero
        try beginAnew(with: relay, &turn)
    }

    /// The content of a relay is gone, or useless: everything is put and requested again.
    mutating func beginAnew(with relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        courier.lines[relay]?.full = [:]
        // Which relay took a welcome is not known, so all that nobody has acknowledged go again.
        for (key, _) in try turn.store.values(.welcome) {
            try turn.store.setValue(nil, .welcome, key)
        }
        try forgetRequests(of: nil, turn.store)
        for table in [ValueTable.cursor, .outbox] {
            for (key, _) in try turn.store.values(table) where key.starts(with: relay.bytes) {
                try turn.store.setValue(nil, table, key)
            }
        }
        try forgetShownCards(on: relay, turn.store)
        try shelvesAreLost(at: relay, &turn)
        for space in try turn.store.spaces() {
            try scheduleRepair(of: space.number, from: nil, &turn)
        }
    }
}
