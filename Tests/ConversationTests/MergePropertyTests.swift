import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@Suite("Merging, as properties")
struct MergePropertyTests {
    /// Four people who do everything there is to do, now and then hearing of each other.
    private func story(seed: UInt64) throws -> Cast {
        let cast = try Cast(seed: seed)
        var random = SeededRandom(seed: seed)
        var messages: [OperationReference] = []
        for step in 0..<60 {
            let writer = cast.all[Int(random.next() % 4)]
            if random.next() % 3 == 0 { try writer.catchUp(with: cast.all) }
            let known = try messages.filter { message in
                let log = try writer.replica.store.log(message.tag, in: writer.replica.space.number)
                return log.map { $0.end > message.sequence } ?? false
            }
            let written = try writer.act(step, on: known.randomElement(using: &random), &random)
            if let written { messages.append(written) }
        }
        return cast
    }

    @Test(
        "Attack 17: any order of delivery gives the same views, and so does folding them anew",
        arguments: 1...12 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) throws {
        let cast = try story(seed: seed)
        try cast.meet()
        let expected = try cast.ann.replica.digest()
        for writer in cast.all { #expect(try writer.replica.digest() == expected, "seed \(seed)") }
        for order in 0..<8 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: seed << 8 | order)
            #expect(try replica.digest() == expected, "seed \(seed), order \(order)")
            #expect(
                try replica.mentions() == cast.dan.replica.mentions(),
                "seed \(seed), order \(order)")
            try replica.rebuild()
            #expect(try replica.digest() == expected, "seed \(seed), order \(order), rebuilt")
        }
    }

    @Test("Attack 17: what comes twice changes nothing", arguments: [21, 22, 23] as [UInt64])
    func repeats(seed: UInt64) throws {
        let cast = try story(seed: seed)
        try cast.meet()
        let replica = try cast.newReplica(seed: 1)
        try cast.deliverAll(to: replica, seed: seed)
        let digest = try replica.digest()
        for parcel in try cast.all.flatMap({ try $0.logs() }).flatMap({ $0 }) {
            #expect(try replica.receive(parcel))
        }
        #expect(try replica.digest() == digest, "seed \(seed)")
        try replica.rebuild()
        try replica.rebuild()
        #expect(try replica.digest() == digest, "seed \(seed)")
    }

    @Test("folding anew keeps unread counts and states", arguments: [31, 32] as [UInt64])
    func rebuilding(seed: UInt64) throws {
        let cast = try story(seed: seed)
        try cast.meet()
        for writer in cast.all {
            let (messages, unread) = (
                try writer.replica.messages(), try writer.replica.unreadCount()
            )
            let mentions = try writer.replica.mentions()
            try writer.replica.rebuild()
            #expect(try writer.replica.unreadCount() == unread, "seed \(seed)")
            #expect(try writer.replica.mentions() == mentions, "seed \(seed)")
            let rebuilt = try writer.replica.messages()
            #expect(rebuilt.map(\.text) == messages.map(\.text), "seed \(seed)")
            #expect(rebuilt.map(\.state) == messages.map(\.state), "seed \(seed)")
        }
    }
}

extension Writer {
    /// One of the things that people do. Returns the message, if it wrote one.
    fileprivate func act(
        _ step: Int, on target: OperationReference?, _ random: inout SeededRandom
    ) throws -> OperationReference? {
        // Clocks that jump about, but no further than what draws others along.
        wallClock += random.next() % 20_000
        if random.next() % 8 == 0 { wallClock -= min(wallClock, random.next() % 300_000) }
        guard let target else { return try say("message \(step)") }
        let others = replica.roster.members.map(\.person)
        let whom = Mentions(
            others.filter { _ in random.next() % 3 == 0 }.map { .init($0) },
            everyone: random.next() % 8 == 0)
        switch random.next() % 15 {
        case 0, 1: return try say("message \(step)")
        case 2: return try say("reply \(step)", replyingTo: target)
        case 3:
            let origin = ImportedOrigin(
                author: "old \(step)", time: random.next() % 1_700_000_000_000, isAction: false)
            return try write(TextMessage(text: "import \(step)", origin: origin).draft())
        case 4: try write(MessageEdit(text: "edit \(step)").draft(of: target))
        case 5: try write(MessageEdit(text: "to \(step)", mentions: whom).draft(of: target))
        case 10: return try write(TextMessage(text: "to \(step)", mentions: whom).draft())
        case 6: try write(MessageDeletion.draft(of: target))
        case 7:
            let reaction = Reaction(emoji: ["+", "-"][step % 2], isOn: random.next() % 3 > 0)
            try write(reaction.draft(to: target))
        case 8: try write(Pin(isOn: random.next() % 3 > 0).draft(of: target))
        case 9:
            let previous = try Overview.nameReferences(
                of: replica.space.number, in: replica.store)
            try write(ConversationName(name: "name \(step)").draft(replacing: previous))
            let said = try Overview.descriptionReferences(
                of: replica.space.number, in: replica.store)
            try write(GroupDescription(text: "for \(step)").draft(replacing: said))
            let shown = try Overview.pictureReferences(
                of: replica.space.number, in: replica.store)
            try write(GroupPicture(content: [UInt8(step % 200)]).draft(replacing: shown))
        case 11, 12, 13: try actTogether(step, &random)
        default:
            let places = PlaceSet(target.sequence / 2..<target.sequence + 1)
            let progress = Receipts.Progress(tag: target.tag, places: places)
            try write(Receipts(read: [progress], delivered: [progress]).draft())
        }
        return nil
    }
}

extension Writer {
    /// Asks, answers, closes or takes back a poll.
    fileprivate func actTogether(_ step: Int, _ random: inout SeededRandom) throws {
        let (space, store) = (replica.space.number, replica.store)
        if random.next() % 2 == 0 { return try actOnItems(step, &random) }
        if random.next() % 3 == 0 { return try actOnNotes(step, &random) }
        if random.next() % 2 == 0 { return try decide(step, &random) }
        let polls = try Overview.polls(in: space, roster: replica.roster, store: store)
        guard let poll = polls.randomElement(using: &random)?.reference, random.next() % 4 > 0
        else {
            let question = PollQuestion(
                question: "poll \(step)", options: ["a", "b", "c"],
                isMultiple: random.next() % 2 == 0)
            return _ = try write(question.draft())
        }
        switch random.next() % 10 {
        case 0: try write(Withdrawal.draft(of: poll))
        case 1, 2:
            let close = try Overview.close(
                counting: poll, in: space, roster: replica.roster, store: store)
            if let close { try write(close.draft(of: poll)) }
        default:
            let choices = (0..<4).filter { _ in random.next() % 3 == 0 }
            try write(PollChoices(choices).draft(in: poll))
        }
    }

    /// Proposes, approves, settles or takes back a decision.
    private func decide(_ step: Int, _ random: inout SeededRandom) throws {
        let all = try Overview.decisions(
            in: replica.space.number, roster: replica.roster, store: replica.store)
        guard let decision = all.randomElement(using: &random)?.reference, random.next() % 4 > 0
        else {
            let proposal = DecisionProposal(title: "plan \(step)", tags: ["a", "b"])
            return _ = try write(proposal.draft())
        }
        switch random.next() % 10 {
        case 0: try write(Withdrawal.draft(of: decision))
        case 1, 2, 3:
            let words = [
                Settling(.accepted), Settling(.rejected), Settling(.proposed),
                Settling(.superseded, by: all.first?.reference),
            ]
            try write(words[Int(random.next() % 4)].draft(of: decision))
        default: try write(Approval.draft(of: decision, isOn: random.next() % 3 > 0))
        }
    }

    /// Begins, changes or takes back something to be done.
    private func actOnItems(_ step: Int, _ random: inout SeededRandom) throws {
        let items = try Overview.items(
            in: replica.space.number, roster: replica.roster, store: replica.store)
        guard let item = items.randomElement(using: &random), random.next() % 4 > 0 else {
            return _ = try write(ItemBeginning(title: "task \(step)").draft())
        }
        let persons = replica.roster.members.map(\.person)
        let person = persons[Int(random.next() % UInt64(persons.count))]
        let isOn = random.next() % 3 > 0
        let changes: [ItemChange] = [
            .title("title \(step)"), .title("title \(step)"), .notes("notes \(step)"),
            .due(UInt32(step)), .done(isOn), .assignee(person, isOn),
        ]
        if random.next() % 12 == 0 { return _ = try write(Withdrawal.draft(of: item.reference)) }
        let change = changes[Int(random.next() % 6)]
        try write(change.draft(of: item.reference, replacing: item.titleReferences))
    }

    /// Begins, edits, renames or takes back a note.
    private func actOnNotes(_ step: Int, _ random: inout SeededRandom) throws {
        let notes = try Overview.notes(
            in: replica.space.number, roster: replica.roster, store: replica.store)
        guard let note = notes.randomElement(using: &random)?.reference, random.next() % 5 > 0
        else { return _ = try write(NoteTitle("note \(step)").draft()) }
        switch random.next() % 10 {
        case 0: try write(Withdrawal.draft(of: note))
        case 1: try write(NoteTitle("called \(step)").draft(of: note))
        default:
            let history = try NoteHistory(
                of: note, in: replica.space.number, store: replica.store)
            let edits = NoteEdits(
                at: Int(random.next() % 9), deleting: Int(random.next() % 3),
                inserting: "<\(step)>")
            try write(edits.draft(of: note, after: history.heads))
        }
    }
}
