import ParleyLedger
import ParleyWire

/// How far a node is with offering a space, which is sent unasked, to a peer that does not name it.
/// Source: `Protocol/06-sync.md`, "SPACES".
enum SpaceOffer: Sendable {
    /// It does not, or has sent all.
    case none
    /// The first frame is due.
    case due
    /// The peer was sent the first frame, and has not shown that it takes the space.
    case made
    /// It takes it: the rest follows.
    case taken
}

/// What a peer has said on a link about whether this person is a contact of theirs.
enum Acceptance: Sendable {
    /// Nothing.
    case unknown
    /// That this person is not one.
    case awaited
    /// That one is one by now.
    case heard
}

extension SpaceExchange {
    /// The peer has shown that it accepts the space: it announced or sent something of it.
    mutating func noteTaken() {
        wasTaken = true
        if offer == .made { offer = .taken }
    }

    /// Whether all was sent of a space that was introduced: the end of that.
    mutating func endIntroducing() -> Bool {
        guard offer != .none, offer != .made else { return false }
        offer = .none
        return true
    }

    /// The log that begins with the first operation of the space, which alone names none before it:
    /// nobody takes another one first.
    func genesisLog(of logs: [LogRecord], _ store: some LogStore) throws(StoreError) -> LogTag? {
        for log in logs where log.lane == .control {
            let first = try store.operation(at: 0, in: log.number)
            if first?.operation.header.dependencies.isEmpty == true { return log.tag }
        }
        return nil
    }
}
