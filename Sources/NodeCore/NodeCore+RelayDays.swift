import ParleyLedger
import ParleySealing
import ParleyWire

/// What a relay says of its day and of its store, and what follows where it cannot be so.
/// Source: `Protocol/06-relay.md`, "Days" and "Loss".
extension NodeCore {
    /// A relay is heard no sooner after it told another day, in milliseconds: each costs a question
    /// for every mailbox.
    static let dayInterval: UInt64 = 60_000
    /// All is put again because of a day no more often than this, in milliseconds.
    static let leapInterval: UInt64 = 3_600_000

    /// A relay says, on a connection that stands, that its day is another one.
    mutating func turn(
        _ relay: NoiseKey, to day: RelayDay, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let line = lines[relay], line.phase == .open else { return }
        lines[relay]?.nextDay = nil
        guard line.day != day else { return }
        if let last = line.dayToldAt, now.monotonic < last + Self.dayInterval {
            lines[relay]?.nextDay = day
            set(.relay(relay), in: last + Self.dayInterval - now.monotonic, at: now, &effects)
            return try count(.relay, store)
        }
        lines[relay]?.dayToldAt = now.monotonic
        lines[relay]?.day = day
        if var record = try store.value(.relay, relay.bytes).flatMap(RelayRecord.init) {
            try note(day, in: &record, of: relay, at: now, store, &effects)
            try store.setValue(record.bytes, .relay, relay.bytes)
        }
        try watchMailboxes(on: relay, at: now, store, &random, &effects)
        dueEverywhere()
    }

    /// Follows a day that was told too soon, once it is time.
    mutating func followDay(
        of relay: NoiseKey, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        if let day = lines[relay]?.nextDay {
            try turn(relay, to: day, at: now, store, &random, &effects)
        }
        guard let day = lines[relay]?.day,
            var record = try store.value(.relay, relay.bytes).flatMap(RelayRecord.init),
            record.hasLeapt(to: day)
        else { return }
        try note(day, in: &record, of: relay, at: now, store, &effects)
        try store.setValue(record.bytes, .relay, relay.bytes)
        try watchMailboxes(on: relay, at: now, store, &random, &effects)
    }

    /// Notes the day that a relay told. Where it leapt, what was put by the days that it told before
    /// lies where nobody looks: it is put again, and everything is read that others may have put.
    mutating func note(
        _ day: RelayDay, in record: inout RelayRecord, of relay: NoiseKey, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard record.hasLeapt(to: day) else {
            record.toldDay = day
            return
        }
        // One that leaps all the time is followed once an hour; until then it counts as before.
        if let last = lines[relay]?.leaptAt, now.monotonic < last + Self.leapInterval {
            return set(
                .relay(relay), in: last + Self.leapInterval - now.monotonic, at: now, &effects)
        }
        lines[relay]?.leaptAt = now.monotonic
        record.toldDay = day
        record.day = .zero
        try beginAnew(with: relay, at: now, store, &effects)
    }

    /// What a relay had is gone, or of no use: all is put and asked for again.
    mutating func beginAnew(
        with relay: NoiseKey, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        // Which relay took a welcome is not known, so all that nobody has acknowledged go again.
        for (key, _) in try store.values(.welcome) { try store.setValue(nil, .welcome, key) }
        try forgetRequests(of: nil, store)
        for table in [ValueTable.cursor, .outbox] {
            for (key, _) in try store.values(table) where key.starts(with: relay.bytes) {
                try store.setValue(nil, table, key)
            }
        }
        try forgetShownCards(on: relay, store)
        for space in try store.spaces() {
            try miss(space.number, heldBy: nil, at: now, store, &effects)
        }
    }
}
