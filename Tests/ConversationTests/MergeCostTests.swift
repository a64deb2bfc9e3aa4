import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleySimulation
import ParleyWire
import Testing

/// Whatever a member writes of one thing: merging one more costs what it replaces, and not all that
/// was said of the thing before. Counted are entries that the store hands out and calls of the store.
@Suite("What merging costs")
struct MergeCostTests {
    /// What is written without end about one thing.
    enum Flood: CaseIterable {
        case calls, recordsOfOneCall, reactions, toggles, deletions, editsOfADeletedMessage
        case mentioningEdits, answers

        func draft(_ number: Int, about message: OperationReference, by writer: Writer) -> Draft {
            switch self {
            case .calls: MergeCostTests.record(UInt64(number), by: writer)
            case .recordsOfOneCall: MergeCostTests.record(1, lasting: UInt64(number), by: writer)
            case .reactions: Reaction(emoji: "\(number)", isOn: true).draft(to: message)
            case .toggles: Reaction(emoji: "+", isOn: number % 2 == 0).draft(to: message)
            case .mentioningEdits:
                MessageEdit(
                    text: "\(number)", mentions: Mentions(everyone: number % 3 > 0)
                ).draft(of: message)
            case .answers: TextMessage(text: "\(number)").draft(replyingTo: message)
            case .deletions: MessageDeletion.draft(of: message)
            case .editsOfADeletedMessage:
                number < 200
                    ? MessageDeletion.draft(of: message)
                    : MessageEdit(text: "\(number)").draft(of: message)
            }
        }
    }

    private static func record(
        _ call: UInt64, lasting duration: UInt64 = 1, by writer: Writer
    ) -> CallRecord {
        let person = writer.replica.person
        return CallRecord(
            call: CallID(Check(high: 7, low: call)), founder: person, began: 1_000 + call,
            summary: CallSummary(outcome: .talked, duration: duration, persons: [person]))
    }

    private static func record(
        _ call: UInt64, lasting duration: UInt64 = 1, by writer: Writer
    ) -> Draft {
        let record: CallRecord = record(call, lasting: duration, by: writer)
        return record.draft()
    }

    @Test(
        "Attack 147: one more of very many calls, reactions or deletions costs what the first did",
        arguments: Flood.allCases)
    func oneMore(flood: Flood) throws { try look(at: flood) }

    @Test("Attack 188: one more of very many answers costs what the first did")
    func oneMoreAnswer() throws { try look(at: .answers) }

    private func look(at flood: Flood) throws {
        let cast = try Cast(seed: 5)
        let message = try cast.ann.say("one")
        let store = cast.ann.replica.store
        for number in 0..<400 {
            let (entries, calls) = (store.entryCount, store.callCount)
            try cast.ann.write(flood.draft(number, about: message, by: cast.ann))
            // All reactions of one person to one message are looked at: there is a bound to them.
            #expect(store.entryCount - entries <= Limits.reactionCountMax + 2, "\(number)")
            #expect(store.callCount - calls <= 60, "\(number)")
        }
        let (entries, calls) = (store.entryCount, store.callCount)
        try cast.ann.replica.rebuild()
        #expect(store.entryCount - entries <= 400 * (Limits.reactionCountMax + 2))
        #expect(store.callCount - calls <= 400 * 30)
    }

    @Test("of one person's reactions to a message the last 64 count, in any order of arrival")
    func lastReactions() throws {
        let cast = try Cast(seed: 6)
        let message = try cast.ann.say("one")
        try cast.meet()
        let count = Limits.reactionCountMax
        for number in 0..<count + 20 {
            try cast.cara.write(Reaction(emoji: "\(number)", isOn: true).draft(to: message))
            if number == 40 {
                try cast.dan.write(Reaction(emoji: "0", isOn: true).draft(to: message))
            }
        }
        // One that fell out comes back, one is taken back, and that fills its place all the same.
        try cast.cara.write(Reaction(emoji: "3", isOn: true).draft(to: message))
        try cast.cara.write(Reaction(emoji: "70", isOn: false).draft(to: message))
        try cast.meet()
        let wanted = [["0"], (21..<count + 20).map(String.init).filter { $0 != "70" }, ["3"]]
        let digest = try cast.ann.replica.digest()
        for order in 0..<6 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: 6 << 8 | order)
            let shown = try #require(try replica.messages().first)
            #expect(Set(shown.reactions.map(\.emoji)) == Set(wanted.joined()), "order \(order)")
            #expect(shown.reactions.map(\.persons.count).allSatisfy { $0 == 1 })
            #expect(try replica.digest() == digest, "order \(order)")
            try replica.rebuild()
            #expect(try replica.digest() == digest, "order \(order), folded anew")
        }
    }

    @Test("of more calls than are shown of a conversation those that were written last are")
    func lastCalls() throws {
        let cast = try Cast(seed: 7)
        let count = Limits.callRecordCountMax + 3
        let records: [CallRecord] = (0..<count).map { Self.record(UInt64($0), by: cast.ann) }
        try cast.ann.write(records.map { $0.draft() })
        let replica = cast.ann.replica
        let shown = try Overview.calls(in: replica.space.number, store: replica.store)
        // They say that they began in 1970: where they stand tells more.
        #expect(shown.allSatisfy { $0.order != nil })
        let last = records.suffix(Limits.callRecordCountMax)
        #expect(shown.map(\.call) == last.map(\.call))
        #expect(shown.map(\.summary) == last.map(\.summary))
    }
}
