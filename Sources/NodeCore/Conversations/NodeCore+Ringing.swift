public import ParleyConversation
public import ParleyLedger
import ParleyWire

/// Performs commands about the person's reminders.
public enum ReminderCommand: Equatable, Sendable {
    /// Reminds of a text, or of something that is here, at a time in Unix milliseconds, on this device.
    case add(text: String, about: OperationNumber?, at: UInt64)
    /// The person is done with one.
    case finish(Reminder.ID)
    /// One rings on this device from now on, wherever it would have.
    case take(Reminder.ID)
    /// Deletes a reminder for good.
    case remove(Reminder.ID)
}

/// What the person wants to be reminded of.
/// Source: `Protocol/05-identity.md`, "Reminders".
extension NodeCore {
    /// How often what waits for a time of the wall clock is looked at, at least, in milliseconds: clocks are
    /// set, and devices sleep.
    static let lookPauseMax: UInt64 = 60_000
    /// … and where nothing may be written yet.
    static let lookRetry: UInt64 = 60_000

    mutating func remind(_ command: ReminderCommand, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let ownSpace else { return .failure(.unknownConversation) }
        let all = try Overview.reminders(ownSpace: ownSpace.number, in: turn.store)
        func reminder(_ id: Reminder.ID) -> Reminder? { all.first { $0.id == id } }
        switch command {
        case .add(let text, let number, let time):
            return try add(text, about: number, at: time, besides: all, &turn)
        case .finish(let id):
            guard var known = reminder(id) else { return .failure(.together(.unknownReminder)) }
            known.state = .done
            try keep(known.preference, &turn)
            return .success(.reminder(id))
        case .take(let id):
            guard var known = reminder(id) else { return .failure(.together(.unknownReminder)) }
            known.device = identity.device
            try keep(known.preference, &turn)
            return .success(.reminder(id))
        case .remove(let id):
            guard reminder(id) != nil else { return .failure(.together(.unknownReminder)) }
            try keep(Reminder.removal(of: id), &turn)
            return .success(.reminder(id))
        }
    }

    private mutating func add(
        _ text: String, about number: OperationNumber?, at time: UInt64, besides all: [Reminder],
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        if number == nil, VisibleName.isBlank(text) { return .failure(.empty) }
        let count = text.utf8.count
        guard count <= Limits.reminderByteCountMax else {
            return .failure(.tooLong(byteCount: count, limit: Limits.reminderByteCountMax))
        }
        guard time < Limits.wallClockMax else { return .failure(.impossibleTime) }
        guard time > turn.now.wall else { return .failure(.together(.alreadyOver)) }
        guard all.count < Limits.reminderCountMax else {
            return .failure(.together(.tooManyReminders(limit: Limits.reminderCountMax)))
        }
        var subject: Reminder.Subject?
        if let number {
            guard let stored = try turn.store.operation(number),
                stored.operation.header.kind.isMessage
                    || stored.operation.header.kind.canBeWithdrawn,
                let log = try turn.store.log(stored.log),
                let space = try turn.store.space(log.space)
            else { return .failure(.unknownMessage) }
            if let refusal = Self.refusal(keeping: stored) { return .failure(refusal) }
            subject = Reminder.Subject(
                space: space.id,
                operation: OperationReference(
                    tag: log.tag, sequence: stored.sequence, check: stored.id.check))
        }
        let id = Reminder.ID(turn.random.next())
        let reminder = Reminder(id, at: time, on: identity.device, about: subject, text: text)
        try keep(reminder.preference, &turn)
        return .success(.reminder(id))
    }

    /// Makes sure that this device's reminders ring in time.
    mutating func scheduleRinging(_ turn: inout some Turn) throws(StoreError) {
        guard let first = try ownWaiting(turn.store).first else { return }
        look(.ringing, at: first.time, &turn)
    }

    /// Sets a timer of something that is due at a time of the wall clock, or has it look again before.
    mutating func look(_ timer: TimerID, at time: UInt64, _ turn: inout some Turn) {
        let wait = min(time - min(time, turn.now.wall), Self.lookPauseMax)
        timers.move(timer, to: turn.now.monotonic + max(wait, 1), &turn)
    }

    /// Rings for what is due by this device's own clock, and records that it did. What was due
    /// while the device was off rings when it is on again: once, because it is recorded.
    mutating func ring(_ turn: inout some Turn) throws(StoreError) {
        guard try mayWrite(turn.store) else {
            return timers.move(.ringing, to: turn.now.monotonic + Self.lookRetry, &turn)
        }
        for var reminder in try ownWaiting(turn.store) where reminder.time <= turn.now.wall {
            reminder.state = .rung
            try keep(reminder.preference, &turn)
            turn.emit(.changed([.reminder(reminder.id)]))
        }
        try scheduleRinging(&turn)
    }

    /// This device's reminders that have not rung, the earliest first.
    private func ownWaiting(_ store: some Store) throws(StoreError) -> [Reminder] {
        guard let ownSpace, !identity.isRevoked else { return [] }
        return try Overview.reminders(ownSpace: ownSpace.number, in: store).filter {
            $0.state == .waiting && $0.device == identity.device
        }
    }
}
