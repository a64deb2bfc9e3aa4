public import ParleyConversation
import ParleyLedger
import ParleyRoster
public import ParleyWire

/// Performs commands about messages that are sent later.
public enum ScheduleCommand: Equatable, Sendable {
    /// Sends a message into a conversation at a time in Unix milliseconds, from this device.
    case add(TextMessage, to: SpaceID, at: UInt64)
    /// Sends one at this time instead, from this device, wherever it would have been sent.
    case move(ScheduledMessage.ID, at: UInt64)
    /// Sends one from this device now.
    case send(ScheduledMessage.ID)
    /// Deletes one: it is not sent.
    case remove(ScheduledMessage.ID)
}

/// Messages that the person wants sent later.
/// Source: `Protocol/05-identity.md`, "Scheduled messages".
extension NodeCore {
    mutating func schedule(_ command: ScheduleCommand, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard let ownSpace else { return .failure(.unknownConversation) }
        let all = try Overview.scheduled(ownSpace: ownSpace.number, in: turn.store)
        func known(_ id: ScheduledMessage.ID) -> ScheduledMessage? { all.first { $0.id == id } }
        switch command {
        case .add(let message, let space, let time):
            return try add(message, to: space, at: time, besides: all, &turn)
        case .move(let id, let time):
            guard var found = known(id) else { return .failure(.together(.unknownScheduled)) }
            if let refusal = refusal(of: time, at: turn.now) { return .failure(refusal) }
            // Else it would fail again at that time, and nobody would have said why.
            guard let space = try conversation(found.space, turn.store) else {
                return .failure(.unknownConversation)
            }
            if let refusal = try refusal(writingIn: space, doing: .write, turn.store) {
                return .failure(refusal)
            }
            (found.time, found.device, found.state) = (time, identity.device, .waiting)
            try keep(found.preference, &turn)
            return .success(.scheduled(id))
        case .send(let id):
            guard let found = known(id) else { return .failure(.together(.unknownScheduled)) }
            return try send(found, &turn)
        case .remove(let id):
            guard known(id) != nil else { return .failure(.together(.unknownScheduled)) }
            try keep(ScheduledMessage.removal(of: id), &turn)
            return .success(.scheduled(id))
        }
    }

    private func refusal(of time: UInt64, at now: Instant) -> CommandRefusal? {
        guard time < Limits.wallClockMax else { return .impossibleTime }
        return time > now.wall ? nil : .together(.alreadyOver)
    }

    private mutating func add(
        _ message: TextMessage, to id: SpaceID, at time: UInt64, besides all: [ScheduledMessage],
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        if let refusal = try refusal(writingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        if let refusal = Self.refusal(message) { return .failure(refusal) }
        guard message.files.isEmpty, !VisibleName.drawsNothing(message.text) else {
            return .failure(.empty)
        }
        let (count, limit) = (
            message.draft().payload?.count ?? 0, ScheduledMessage.messageByteCountMax
        )
        guard count <= limit else { return .failure(.tooLong(byteCount: count, limit: limit)) }
        if let refusal = refusal(of: time, at: turn.now) { return .failure(refusal) }
        guard all.count < Limits.scheduledCountMax else {
            return .failure(.together(.tooManyScheduled(limit: Limits.scheduledCountMax)))
        }
        let new = ScheduledMessage.ID(turn.random.next())
        let scheduled = ScheduledMessage(new, at: time, on: identity.device, to: id, message)
        try keep(scheduled.preference, &turn)
        return .success(.scheduled(new))
    }

    /// Writes one, and notes in the same step that it is done: it is said once, or not at all.
    private mutating func send(
        _ scheduled: ScheduledMessage, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        let result = try send([scheduled.message], nil, to: scheduled.space, &turn)
        if case .success = result {
            try keep(ScheduledMessage.removal(of: scheduled.id), &turn)
        }
        return result
    }

    /// Makes sure that what this device sends later is sent in time.
    mutating func scheduleSending(_ turn: inout some Turn) throws(StoreError) {
        guard let first = try ownScheduled(turn.store).first else { return }
        look(.scheduled, at: first.time, &turn)
    }

    /// Sends what is due by this device's own clock. What was due while the device was off is sent when it is
    /// on again.
    mutating func sendScheduled(_ turn: inout some Turn) throws(StoreError) {
        guard try mayWrite(turn.store) else {
            return timers.move(.scheduled, to: turn.now.monotonic + Self.lookRetry, &turn)
        }
        var isLeft = false
        for var scheduled in try ownScheduled(turn.store) where scheduled.time <= turn.now.wall {
            guard case .failure(let refusal) = try send(scheduled, &turn) else { continue }
            // These pass by themselves.
            if [.awaitsOwn, .rejoining].contains(refusal) {
                isLeft = true
                continue
            }
            scheduled.state = .failed
            try keep(scheduled.preference, &turn)
            turn.emit(.changed([.notSent(scheduled.id)]))
        }
        guard isLeft else { return try scheduleSending(&turn) }
        timers.move(.scheduled, to: turn.now.monotonic + Self.lookRetry, &turn)
    }

    /// What this device is to send and has not, the earliest first.
    private func ownScheduled(_ store: some Store) throws(StoreError) -> [ScheduledMessage] {
        guard let ownSpace, !identity.isRevoked else { return [] }
        return try Overview.scheduled(ownSpace: ownSpace.number, in: store).filter {
            $0.state == .waiting && $0.device == identity.device
        }
    }
}
