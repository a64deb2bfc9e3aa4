import ParleyConversation
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Threads".
@Suite("Threads")
struct ThreadTests {
    private let cast: Cast

    init() throws { cast = try Cast(seed: 75) }

    /// Answers a message as a node does.
    @discardableResult
    private func answer(
        _ parent: OperationReference, _ text: String, by writer: Writer
    ) throws -> OperationReference {
        let (store, space) = (writer.replica.store, writer.replica.space.number)
        let log = try #require(try store.log(parent.tag, in: space))
        let stored = try #require(try store.operation(at: parent.sequence, in: log.number))
        var draft = TextMessage(text: text).draft()
        draft.references = MessageThread.references(
            answering: parent, stored.operation.header)
        return try writer.write(draft)
    }

    /// The threads of a replica: what each begins with, its answers, how many, how many unread.
    private func threads(_ replica: Replica) throws -> [[String]] {
        let shown = try replica.messages()
        func text(_ reference: OperationReference) -> String {
            shown.first { $0.reference == reference }?.text ?? "-"
        }
        let unread = try UnreadPlaces(
            of: replica.space, roster: replica.roster, ownPerson: replica.person, ownSpace: nil,
            in: replica.store)
        return try Overview.threads(
            in: nil, before: nil, limit: 100, store: replica.store
        ) { _ in unread }.compactMap { _, summary in
            guard let summary else { return nil }
            let answers = try Overview.answers(
                to: summary.root, in: replica.space.number, before: nil, limit: 100,
                store: replica.store
            ).map { text($0.order.reference) }
            #expect(
                try Overview.thread(
                    of: summary.root, in: replica.space.number, unread, store: replica.store)
                    == summary)
            return [text(summary.root)] + answers.reversed()
                + ["\(summary.answerCount)", "\(summary.unreadCount)"]
        }
    }

    @Test(
        "are all that answers a message or its answers; the one with the newest answer stands first"
    )
    func belong() throws {
        let (tent, food) = (try cast.ann.say("tent?"), try cast.ben.say("food?"))
        try cast.meet()
        let mine = try answer(tent, "mine", by: cast.cara)
        try answer(food, "bread", by: cast.dan)
        try cast.meet()
        let big = try answer(mine, "is it big?", by: cast.ann)
        try cast.meet()
        try answer(big, "yes", by: cast.cara)
        try cast.meet()
        let expected = [
            ["tent?", "mine", "is it big?", "yes", "3", "2"], ["food?", "bread", "1", "1"],
        ]
        #expect(try threads(cast.ann.replica) == expected)
        #expect(try threads(cast.cara.replica).map { $0.last } == ["1", "1"])
        try cast.ann.reads([mine])
        #expect(try threads(cast.ann.replica)[0].last == "1")
    }

    @Test(
        "are without what was deleted, stand where their newest answer does, and end with the last")
    func deleted() throws {
        let (tent, food) = (try cast.ann.say("tent?"), try cast.ben.say("food?"))
        try cast.meet()
        let first = try answer(tent, "mine", by: cast.cara)
        try cast.meet()
        try answer(food, "bread", by: cast.dan)
        try cast.meet()
        let last = try answer(tent, "or mine", by: cast.cara)
        try cast.meet()
        #expect(try threads(cast.dan.replica).map { $0[0] } == ["tent?", "food?"])
        try cast.cara.write(MessageDeletion.draft(of: last))
        try cast.meet()
        #expect(
            try threads(cast.dan.replica)
                == [["food?", "bread", "1", "0"], ["tent?", "mine", "1", "1"]])
        // The message itself may go: its answers stay.
        try cast.ann.write(MessageDeletion.draft(of: tent))
        try cast.meet()
        #expect(try threads(cast.dan.replica)[1] == ["-", "mine", "1", "1"])
        try cast.cara.write(MessageDeletion.draft(of: first))
        try cast.meet()
        #expect(try threads(cast.dan.replica) == [["food?", "bread", "1", "0"]])
    }

    @Test(
        "come to the same in whatever order they are heard of, and folded anew",
        arguments: 1...6 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) throws {
        var messages: [OperationReference] = []
        for step in 0..<24 {
            let writer = cast.all[step % 4]
            writer.wallClock += UInt64(step) * seed * 7_919 % 60_000
            if step % 3 == 0 { try writer.catchUp(with: cast.all) }
            let known = try messages.filter { message in
                let log = try writer.replica.store.log(message.tag, in: writer.replica.space.number)
                return log.map { $0.end > message.sequence } ?? false
            }
            if known.isEmpty || step % 5 == 0 {
                messages.append(try writer.say("message \(step)"))
            } else {
                let parent = known[(step * Int(seed)) % known.count]
                messages.append(try answer(parent, "answer \(step)", by: writer))
            }
        }
        try cast.meet()
        try cast.ann.write(MessageDeletion.draft(of: messages[Int(seed) + 10]))
        try cast.meet()
        let expected = try threads(cast.dan.replica)
        #expect(!expected.isEmpty)
        for order in 0..<6 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: seed << 8 | order)
            #expect(try threads(replica) == expected, "seed \(seed), order \(order)")
            try replica.rebuild()
            #expect(try threads(replica) == expected, "seed \(seed), order \(order), rebuilt")
        }
    }

    @Test(
        "Attack 187: an answer that names another thread than that of what it answers stands in that"
    )
    func claimed() throws {
        let (tent, food) = (try cast.ann.say("tent?"), try cast.ben.say("food?"))
        try cast.meet()
        var draft = TextMessage(text: "stray").draft()
        draft.references = [tent, food]
        try cast.dan.write(draft)
        try cast.meet()
        for writer in cast.all {
            #expect(try threads(writer.replica).map { $0.dropLast() } == [["food?", "stray", "1"]])
        }
    }
}
