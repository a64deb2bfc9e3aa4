import ParleyConversation
import ParleyNodeCore
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleySimulation

/// Promises about whom a message is for, and what answers it.
extension CheckersCanFailTests {
    @Test(
        "NaiveModelAgrees: a mention is lost, or stays though it was edited away",
        arguments: [true, false])
    func mentionIsKept(isLost: Bool) throws {
        let trial = try Trial(of: "I14")
        let text = TextMessage(
            text: "@ben, yours", mentions: Mentions([.init(trial.ben.identity.person)]))
        try trial.ann.perform(.send(trial.trip, [text], replyingTo: nil))
        trial.world.run(for: 5_000)
        let mention = try #require(try trial.ben.store.mentions(before: nil, limit: 1).first)
        if !isLost {
            let number = try trial.number(of: "@ben, yours", at: trial.ann)
            try trial.ann.perform(.edit(number, text: "mine"))
            trial.world.run(for: 5_000)
        }
        try trial.jury.verify(isSettled: true)
        try trial.meddle(with: trial.ben) { store, _ in
            if isLost { try store.remove(mention) } else { try store.put(mention) }
        }
        trial.isBroken()
    }

    @Test("NaiveModelAgrees: a thread is lost, or one of its answers", arguments: [true, false])
    func threadIsKept(isWhole: Bool) throws {
        let trial = try Trial(of: "I14")
        let number = try trial.number(of: "from which platform?", at: trial.ann)
        try trial.ann.perform(.send(trial.trip, [TextMessage(text: "four")], replyingTo: number))
        trial.world.run(for: 5_000)
        try trial.jury.verify(isSettled: true)
        try trial.meddle(with: trial.ben) { store, space in
            let thread = try #require(try store.threads(in: nil, before: nil, limit: 1).first)
            let answer = try #require(
                try store.answers(in: thread.element, of: space.number, before: nil, limit: 1).first
            )
            try store.remove(isWhole ? thread : answer)
        }
        trial.isBroken()
    }

    @Test(
        "NaiveModelAgrees: what a group is for, or what somebody says of themselves, is lost",
        arguments: [46, 47] as [UInt16])
    func wordsAreKept(field: UInt16) throws {
        let trial = try Trial(of: "I14")
        try trial.ann.perform(.describe(trial.trip, "platforms"))
        let status = try #require(ProfileField(.status, "on the train"))
        try trial.ann.perform(.say(status))
        trial.world.run(for: 5_000)
        try trial.jury.verify(isSettled: true)
        for space in try trial.ann.store.spaces() {
            let kept = try trial.ann.store.entries(
                about: .space, in: space.number, field: EntryField(rawValue: field))
            try trial.meddle(with: trial.ann) { store, _ in
                for entry in kept { try store.remove(entry) }
            }
        }
        trial.isBroken()
    }
}
