import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Conversations of two whose other person is blocked: nothing of them is read at relays, and nothing
/// is put there.
/// Source: `Protocol/05-identity.md`, "Contacts".
extension NodeCore {
    /// Whether a space is a conversation with somebody who is blocked.
    func isShut(_ space: SpaceRecord, _ store: some Store) throws(StoreError) -> Bool {
        guard space.kind == .direct, let roster = try knownRoster(of: space, store) else {
            return false
        }
        for member in roster.members where member.person != identity.person {
            if try contact(member.person, store)?.isBlocked == true { return true }
        }
        return false
    }

    /// Stops reading the conversations with a blocked person at relays. Cursors stay: after
    /// unblocking, reading resumes where it stopped.
    mutating func shut(_ person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        for space in try spaces(naming: person, turn.store) where space.kind == .direct {
            for relay in courier.lines.keys.sorted() {
                stopReading(space.number, on: relay, &turn)
                try noteDrained(relay, &turn)
            }
            courier.suspectedGaps.forget(space.number)
        }
    }

    private mutating func stopReading(
        _ space: SpaceNumber, on relay: NoiseKey, _ turn: inout some Turn
    ) {
        guard let line = courier.lines[relay] else { return }
        courier.lines[relay]?.shut.insert(space)
        courier.lines[relay]?.queues[space] = nil
        for (mailbox, open) in line.mailboxes.sorted(by: { $0.key < $1.key })
        where open.use.space == space {
            courier.lines[relay]?.mailboxes[mailbox] = nil
            guard open.isLive, line.phase == .open else { continue }
            ask(.unsubscribe, of: mailbox, as: open.key, on: relay, for: .whatever, &turn)
        }
    }

    /// Reads the conversations with an unblocked person, and puts there what waited.
    mutating func unshut(_ person: PersonID, _ store: some Store) throws(StoreError) {
        guard !courier.lines.isEmpty else { return }
        for space in try spaces(naming: person, store) where space.kind == .direct {
            guard courier.lines.values.contains(where: { $0.shut.contains(space.number) }) else {
                continue
            }
            courier.relayUpkeep.noteMailboxes(of: space.number)
            courier.outbox.note(space.number)
        }
    }

    /// Asks an unblocked person for what they wrote meanwhile: relays may have deleted it.
    mutating func askAgain(_ person: PersonID, _ turn: inout some Turn) throws(StoreError) {
        for space in try spaces(naming: person, turn.store) where space.kind == .direct {
            let devices = try roster(of: space, turn.store)?.member(person)?.devices.map(\.device)
            for device in (devices ?? []).sorted() {
                try scheduleRepair(of: space.number, from: device, &turn)
            }
        }
    }
}
