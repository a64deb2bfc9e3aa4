import ParleySealing
import ParleySignalling
public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// One hash over all that the members of a space see alike.
///
/// Local numbers and marks of arrival are left out, so two nodes that hold the same operations
/// have the same digest, byte for byte. Source: `Protocol/03-operations.md`, "View digest".
public struct ViewDigest {
    private var hash = LabelledHash(.view)

    /// The digest of a space's views.
    public static func digest(
        of space: SpaceRecord, roster: Roster, in store: some MergeStore
    ) throws(StoreError) -> Digest {
        var digest = ViewDigest()
        try digest.add(space, roster: roster, in: store)
        return digest.hash.finalize()
    }

    private mutating func add(
        _ space: SpaceRecord, roster: Roster, in store: some MergeStore
    ) throws(StoreError) {
        hash.update(space.id)
        add(text: try Overview.name(of: space.number, in: store))
        try add(marksOf: space, roster, in: store)
        let timeline = Timeline(
            of: space, roster: roster, ownPerson: PersonID(reinterpreting: space.id))
        var before: OrderKey?
        var mentioning: [Message] = []
        while true {
            let page = try timeline.page(before: before, limit: 500, in: store)
            // What disappears is gone here sooner than there.
            let staying = page.filter { $0.lifetime == nil }
            for message in staying { add(message) }
            mentioning += staying.filter { !$0.mentions.isEmpty }
            guard let last = page.last else { break }
            before = last.order
        }
        for call in try Overview.calls(in: space.number, store: store) { add(call) }
        // If nothing is pinned, the digest is as it was before there were pins.
        for pin in try Overview.pins(in: space.number, store: store) {
            hash.update(pin.tag.value)
            hash.update(pin.sequence)
            hash.update(pin.check.high)
            hash.update(pin.check.low)
        }
        for message in mentioning { add(mentionsOf: message) }
        try addGroup(space, store)
        // And if there is no poll, as it was before there were polls.
        let polls = try Overview.polls(in: space.number, roster: roster, store: store)
        if !polls.isEmpty { hash.update(Array("polls".utf8)) }
        for poll in polls { add(poll) }
        let items = try Overview.items(in: space.number, roster: roster, store: store)
        if !items.isEmpty { hash.update(Array("items".utf8)) }
        for item in items { add(item) }
        let notes = try Overview.notes(in: space.number, roster: roster, store: store)
        if !notes.isEmpty { hash.update(Array("notes".utf8)) }
        for note in notes {
            hash.update(note.reference.subject)
            hash.update(note.author)
            add(text: note.title)
            let history = try NoteHistory(of: note.reference, in: space.number, store: store)
            add(text: history.text)
        }
        let decisions = try Overview.decisions(in: space.number, roster: roster, store: store)
        if !decisions.isEmpty { hash.update(Array("decisions".utf8)) }
        for decision in decisions { add(decision) }
    }

    private mutating func add(mentionsOf message: Message) {
        hash.update(message.order.tag.value)
        hash.update(message.order.sequence)
        hash.update(message.mentions.everyone ? 1 : 0 as UInt8)
        hash.update(UInt64(message.mentions.persons.count))
        for mention in message.mentions.persons { hash.update(mention.person) }
    }

    private mutating func add(_ item: ActionItem) {
        hash.update(item.reference.subject)
        hash.update(item.author)
        hash.update(UInt64(item.titles.count))
        for title in item.titles { add(text: title) }
        hash.update(UInt64(item.assignees.count))
        for person in item.assignees { hash.update(person) }
        hash.update(UInt64(item.due ?? 0))
        hash.update(item.doneBy == nil ? 0 : 1 as UInt8)
        if let person = item.doneBy { hash.update(person) }
        add(text: item.notes)
    }

    private mutating func add(_ decision: Decision) {
        hash.update(decision.reference.subject)
        hash.update(decision.author)
        add(text: decision.proposal.title)
        add(text: decision.proposal.text)
        hash.update(UInt64(decision.proposal.tags.count))
        for tag in decision.proposal.tags { add(text: tag) }
        hash.update(UInt8(decision.settling.state.rawValue))
        if let successor = decision.settling.successor { hash.update(successor.subject) }
        hash.update(decision.settledBy == nil ? 0 : 1 as UInt8)
        if let person = decision.settledBy { hash.update(person) }
        hash.update(UInt64(decision.approvers.count))
        for person in decision.approvers { hash.update(person) }
    }

    private mutating func add(_ poll: Poll) {
        hash.update(poll.reference.subject)
        hash.update(poll.author)
        add(text: poll.question.question)
        hash.update(UInt64(poll.question.options.count))
        for option in poll.question.options { add(text: option) }
        hash.update(poll.closing == nil ? 0 : 1 as UInt8)
        hash.update(UInt64(poll.ballots.count))
        for ballot in poll.ballots {
            hash.update(ballot.person)
            hash.update(UInt64(ballot.choices.mask))
        }
    }

    private mutating func add(
        marksOf space: SpaceRecord, _ roster: Roster, in store: some MergeStore
    ) throws(StoreError) {
        for kind in [MarkKind.read, .delivered] {
            for mark in try store.marks(kind, in: space.number)
            where Self.isOfMember(mark, roster) {
                hash.update(kind.rawValue)
                hash.update(mark.tag.value)
                hash.update(mark.actor)
                hash.update(UInt64(mark.places.ranges.count))
                for range in mark.places.ranges {
                    hash.update(range.lowerBound)
                    hash.update(range.upperBound)
                }
                if let check = mark.check {
                    hash.update(check.high)
                    hash.update(check.low)
                }
            }
        }
    }

    private mutating func add(_ call: CallRecord) {
        hash.update(call.subject)
        hash.update(call.founder)
        hash.update(call.began)
        hash.update(call.summary.outcome.rawValue)
        hash.update(call.summary.duration)
        hash.update(UInt64(call.summary.persons.count))
        for person in call.summary.persons { hash.update(person) }
    }

    /// How far former members were differs from node to node, by arrival.
    private static func isOfMember(_ mark: Mark, _ roster: Roster) -> Bool {
        let device = DeviceID(reinterpreting: mark.actor)
        return switch mark.kind {
        // What a person has read counts, whichever device they had.
        case .read: roster.person(of: device).flatMap { roster.member($0) } != nil
        case .delivered, .acknowledged, .held: roster.contains(device)
        }
    }

    /// The description of a group, and its picture: if neither is shown, nothing.
    private mutating func addGroup(
        _ space: SpaceRecord, _ store: some MergeStore
    ) throws(StoreError) {
        if let text = try Overview.description(of: space.number, in: store) { add(text: text) }
        guard let picture = try Overview.picture(of: space.number, in: store) else { return }
        hash.update(Array("picture".utf8))
        hash.update(UInt64(picture.count))
        hash.update(picture)
    }

    private mutating func add(_ message: Message) {
        hash.update(message.order.stand)
        hash.update(message.order.tag.value)
        hash.update(message.order.sequence)
        hash.update(message.order.id)
        hash.update(message.author)
        hash.update(message.flags.contains(.deleted) ? 1 : 0 as UInt8)
        add(text: message.text)
        hash.update(UInt64(message.history.count))
        for text in message.history { add(text: text) }
        hash.update(UInt64(message.reactions.count))
        for reaction in message.reactions {
            add(text: reaction.emoji)
            hash.update(UInt64(reaction.persons.count))
            for person in reaction.persons { hash.update(person) }
        }
    }

    private mutating func add(text: String?) {
        guard let text else { return hash.update(UInt64.max) }
        hash.update(UInt64(text.utf8.count))
        hash.update(Array(text.utf8))
    }
}
