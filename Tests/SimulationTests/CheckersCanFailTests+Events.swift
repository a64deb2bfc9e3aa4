import ParleyConversation
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleyNodeCore
@testable import ParleySimulation

/// Promises about the log of events.
extension CheckersCanFailTests {
    /// The newest entry that tells of a message which appeared.
    private func entryOfMessage(at node: SimulatedNode) throws -> EventEntry {
        let rows = try node.store.eventEntries(from: 1, limit: 1_000)
        return try #require(
            rows.map { try EventEntry(bytes: $0.content) }.last { entry in
                entry.events(from: 0, limit: 1_000).contains { $0.isNew }
            })
    }

    @Test("EventsTellAll: a message looks otherwise, and no event says so")
    func untold() throws {
        let trial = try Trial(of: "I37")
        try trial.meddle(with: trial.ben) { store, space in
            var row = try #require(
                try store.messages(in: space.number, before: nil, limit: 1).first)
            row.flags.insert(.late)
            try store.update(row)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("EventsTellAll: a message is gone, and no event says so")
    func goneUntold() throws {
        let trial = try Trial(of: "I37")
        try trial.meddle(with: trial.ben) { store, space in
            let row = try #require(
                try store.messages(in: space.number, before: nil, limit: 1).first)
            try store.remove(row)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("EventsTellAll: the log tells a second time that a message appeared")
    func toldTwice() throws {
        let trial = try Trial(of: "I37")
        let entry = try entryOfMessage(at: trial.ben)
        try trial.meddle(with: trial.ben) { store, _ in
            try store.appendEventEntry(entry.bytes)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("EventsTellAll: the log tells of a message that is not held")
    func toldAndNotHeld() throws {
        let trial = try Trial(of: "I37")
        var entry = try entryOfMessage(at: trial.ben)
        try trial.meddle(with: trial.ben) { store, space in
            entry.items = [.appeared(space.number, first: OperationNumber(100_000), count: 1)]
            try store.appendEventEntry(entry.bytes)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("EventsTellAll: entries are lost, and the messages they told of are there")
    func lostEntries() throws {
        let trial = try Trial(of: "I37")
        try trial.ann.type("and the ticket?", in: trial.trip)
        trial.world.run(for: 5_000)
        try trial.meddle(with: trial.ben) { store, _ in
            try store.dropEventEntries(below: store.nextEventEntry)
        }
        trial.isBroken(isSettled: false)
    }

    @Test("EventsTellAll: what power took back was told in a life that nobody can tell apart")
    func livesAlike() throws {
        let trial = try Trial(of: "I37")
        let copy = trial.ben.backUp()
        try trial.ben.type("on my way", in: trial.trip)
        try trial.jury.verify()
        trial.ben.setBack(to: copy)
        trial.world.restart(trial.ben)
        trial.isBroken(isSettled: false)
    }
}
