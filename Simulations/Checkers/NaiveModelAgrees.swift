import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySignalling
import ParleySimulation
import ParleyWire

/// I14: the views are what an independent model makes of the same operations, and what it takes for
/// deleted has lost its payload.
final class NaiveModelAgrees: Checker {
    static let invariant = "I14"
    private(set) var checkCount = 0
    private let book = NaiveBook()

    func settled(_ world: World) throws {
        for node in world.honestNodes {
            var models: [(space: SpaceRecord, roster: Roster, model: NaiveModel)] = []
            let spaces = try node.eachSpace().map { $0.0 }
            for space in spaces.filter({ $0.kind == .own }) + spaces.filter({ $0.kind != .own }) {
                let hidden = models.first?.model.ownDeletions[space.id]
                guard let roster = try node.roster(of: space),
                    let model = try look(
                        at: space, roster, of: node, world.liars, without: hidden ?? [])
                else { continue }
                models.append((space, roster, model))
            }
            guard let own = models.first, own.space.kind == .own else { continue }
            for (space, roster, model) in models where space.kind != .own {
                let model = try model.with(quietlyReadBy: own.model, in: space.id)
                try lookAtListed(space, roster, model, own: own.model, own.space, of: node)
            }
        }
    }

    private func look(
        at space: SpaceRecord, _ roster: Roster, of node: SimulatedNode, _ liars: Set<DeviceID>,
        without hidden: Set<NaiveModel.Named>
    ) throws -> NaiveModel? {
        let control = try book.read(space, of: node)
        // Nobody can choose between two branches of lane 0 before it is proven that there are two.
        if control.rosters.isForked { return nil }
        let model = try NaiveModel(
            of: space, control: control, in: node.store,
            without: NaiveModel.Hidden(person: node.identity.person, messages: hidden))
        try lookAtErased(model, in: space, of: node, liars)
        let timeline = Timeline(of: space, roster: roster, ownPerson: node.identity.person)
        let gaps = try unfillableGaps(of: space, roster, at: node)
        func isKnown(_ line: NaiveModel.Line) -> Bool {
            gaps[line.order.tag].map { line.order.sequence < $0 } ?? true
        }
        let shown = try timeline.page(limit: .max, in: node.store).reversed().map(Self.line)
            .filter(isKnown)
        let expected = model.lines.filter(isKnown)
        checkCount += 1 + shown.count
        if shown.count != expected.count {
            let lacking = expected.first { !shown.contains($0) }
            let differing = lacking ?? shown.first { !expected.contains($0) }
            throw violation(
                "\(node.name) shows \(shown.count) messages, the model \(expected.count)"
                    + (differing.map { ": one alone has \($0)" } ?? ""))
        }
        if let differing = zip(shown, expected).first(where: { $0 != $1 }) {
            throw violation("\(node.name) shows \(differing.0), the model \(differing.1)")
        }
        try lookAtShared(model, in: space, roster, of: node)
        guard try marks(in: space, roster, of: node) == model.progress else {
            throw violation("\(node.name) has other receipts than the model")
        }
        // What somebody who is out has read is told to nobody any more, the model included.
        if roster.contains(node.identity.device) {
            try lookAtUnread(model, in: space, roster, of: node)
        }
        if space.kind == .own { try lookAtOwn(space, model, of: node) }
        return model
    }

    /// What is said of the conversation itself, and of its members: name, description, profiles, calls, pins.
    private func lookAtShared(
        _ model: NaiveModel, in space: SpaceRecord, _ roster: Roster, of node: SimulatedNode
    ) throws {
        let name = try Overview.name(of: space.number, in: node.store)
        guard name == model.name else {
            throw violation(
                "\(node.name) calls it \(name ?? "nothing"), the model \(model.name ?? "nothing")")
        }
        for member in roster.members where space.kind != .group {
            let said = try Overview.profile(
                of: member.person, in: space.number, store: node.store
            ).map { (UInt32($0.key.rawValue), $0.value) }
            let known = Dictionary(uniqueKeysWithValues: said)
            guard known == model.profiles[member.person] ?? [:] else {
                throw violation(
                    "\(node.name) and the model differ in what a person says of themselves")
            }
        }
        guard try Overview.description(of: space.number, in: node.store) == model.text else {
            throw violation("\(node.name) and the model differ in what the group is for")
        }
        guard try Overview.picture(of: space.number, in: node.store) == model.picture else {
            throw violation("\(node.name) and the model differ in the picture of the group")
        }
        let calls = try Overview.calls(in: space.number, store: node.store).map { call in
            let persons = call.summary.persons.map(\.description)
            return
                "\(call.began) \(call.summary.outcome.rawValue) \(call.summary.duration) \(persons)"
        }
        guard calls.sorted() == model.calls.sorted() else {
            throw violation("\(node.name) knows the calls \(calls), the model \(model.calls)")
        }
        let pins = try Overview.pins(in: space.number, store: node.store)
        checkCount += pins.count
        guard pins == model.pins else {
            throw violation("\(node.name) shows \(pins) as pinned, the model \(model.pins)")
        }
        let reports = try Overview.reports(in: space.number, roster: roster, store: node.store)
            .map { given in
                let (report, message) = (given.report, given.report.message)
                return "\(given.author) \(report.group) "
                    + "\(message.tag)-\(message.sequence)-\(message.check)"
            }
        guard reports == model.reports else {
            throw violation("\(node.name) knows the reports \(reports), the model \(model.reports)")
        }
        guard
            try Overview.messageLifetime(of: space.number, in: node.store) == model.lifetime
        else {
            throw violation("\(node.name) and the model differ in how long messages stay")
        }
        try lookAtTogether(model, in: space, roster, of: node)
    }

    /// What people do together.
    private func lookAtTogether(
        _ model: NaiveModel, in space: SpaceRecord, _ roster: Roster, of node: SimulatedNode
    ) throws {
        let polls = try Overview.polls(in: space.number, roster: roster, store: node.store)
            .map(\.naiveLine)
        checkCount += polls.count
        guard polls == model.polls else {
            throw violation("\(node.name) has the polls \(polls), the model \(model.polls)")
        }
        let items = try Overview.items(in: space.number, roster: roster, store: node.store)
            .map(\.naiveLine)
        checkCount += items.count
        guard items == model.items else {
            throw violation("\(node.name) has to do \(items), the model \(model.items)")
        }
        let notes = try Overview.notes(in: space.number, roster: roster, store: node.store).map {
            let history = try NoteHistory(of: $0.reference, in: space.number, store: node.store)
            return "\($0.reference.tag)-\($0.reference.sequence) \($0.author) \($0.title): "
                + history.text
        }
        checkCount += notes.count
        guard notes == model.notes else {
            throw violation("\(node.name) has the notes \(notes), the model \(model.notes)")
        }
        let decisions = try Overview.decisions(
            in: space.number, roster: roster, store: node.store
        ).map(\.naiveLine)
        checkCount += decisions.count
        guard decisions == model.decisions else {
            throw violation("\(node.name) decided \(decisions), the model \(model.decisions)")
        }
    }

    /// How a conversation stands in the list: whether it is put away or marked as unread, and what
    /// the person began to write.
    private func lookAtListed(
        _ space: SpaceRecord, _ roster: Roster, _ model: NaiveModel, own: NaiveModel,
        _ ownSpace: SpaceRecord, of node: SimulatedNode
    ) throws {
        // What is unread of a conversation that the person is out of no model tells.
        guard roster.contains(node.identity.device) else { return }
        let person = node.identity.person
        let listed = try Overview.summary(
            of: space, roster: roster, ownPerson: person, ownSpace: ownSpace.number,
            in: node.store)
        // Of those whom the person keeps away, nothing in groups counts.
        let hidden = space.kind == .group ? own.blocked : []
        let unread = model.unread(
            of: person, with: roster.everyDevice(of: person), without: hidden)
        checkCount += 1
        let isMarked = own.preferences[[0, 7] + space.id.bytes] == [1]
        guard listed.isMarkedUnread == isMarked else {
            throw violation("\(node.name) and the model differ in what is marked as unread")
        }
        guard listed.isKeptFirst == (own.preferences[[0, 18] + space.id.bytes] == [1]) else {
            throw violation("\(node.name) and the model differ in what stands above others")
        }
        guard listed.unreadCount == unread.count else {
            throw violation(
                "\(node.name) lists \(listed.unreadCount) unread, the model \(unread.count)")
        }
        try lookAtMentions(listed, space, roster, model, without: hidden, of: node)
        try lookAtThreads(in: space, roster, model, own: ownSpace, without: hidden, of: node)
        let unsent = own.preferences[[0, 8] + space.id.bytes]
        guard listed.unsentText.map({ Array($0.utf8) }) == unsent else {
            throw violation("\(node.name) and the model differ in what was begun")
        }
        let isArchived = model.isArchived(
            space.id, by: own, unread: unread.count, without: hidden)
        guard listed.isArchived == isArchived else {
            throw violation("\(node.name) and the model differ in what is put away")
        }
    }

    /// Which messages mention the person, and how many of them are not read.
    private func lookAtMentions(
        _ listed: ConversationSummary, _ space: SpaceRecord, _ roster: Roster,
        _ model: NaiveModel, without hidden: Set<PersonID>, of node: SimulatedNode
    ) throws {
        let person = node.identity.person
        let expected = model.mentions(of: person)
        let found = try node.store.mentions(before: nil, limit: .max).filter {
            $0.space == space.number
        }
        let places = found.map {
            NaiveModel.Place(tag: $0.order.tag, sequence: $0.order.sequence)
        }
        checkCount += 1 + expected.count
        guard places.count == expected.count, Set(places) == Set(expected) else {
            throw violation("\(node.name) and the model differ in what mentions the person")
        }
        let unread = model.unread(
            model.mentions(of: person, without: hidden), with: roster.everyDevice(of: person))
        guard listed.unreadMentionCount == unread.count else {
            throw violation(
                "\(node.name) counts \(listed.unreadMentionCount) unread mentions, the model "
                    + "\(unread.count)")
        }
    }

    /// What each thread begins with, how many answers it has, and how many of them are not read.
    private func lookAtThreads(
        in space: SpaceRecord, _ roster: Roster, _ model: NaiveModel, own: SpaceRecord,
        without hidden: Set<PersonID>, of node: SimulatedNode
    ) throws {
        let person = node.identity.person
        let expected = model.threads(
            unreadBy: person, with: roster.everyDevice(of: person), without: hidden)
        let unread = try UnreadPlaces(
            of: space, roster: roster, ownPerson: person, ownSpace: own.number, in: node.store)
        let found = try Overview.threads(
            in: space.number, before: nil, limit: .max, store: node.store
        ) { _ in unread }.compactMap(\.summary)
        checkCount += expected.count
        // Of those that stand alike either may come first.
        guard found.map(\.order.stand) == found.map(\.order.stand).sorted(by: >) else {
            throw violation(
                "\(node.name) lists threads in another order than that of their answers")
        }
        let shown = found.map {
            NaiveModel.Thread(
                root: $0.root, newest: $0.order, answerCount: $0.answerCount,
                unreadCount: $0.unreadCount)
        }
        guard shown.sorted(by: { $0.newest > $1.newest }) == expected else {
            throw violation("\(node.name) lists the threads \(shown), the model \(expected)")
        }
    }

    /// The holes of who is out, by log, where each begins: nobody fills them, so what had been seen by
    /// whoever wrote above one is never known there.
    private func unfillableGaps(
        of space: SpaceRecord, _ roster: Roster, at node: SimulatedNode
    ) throws(StoreError) -> [LogTag: UInt64] {
        if roster.contains(node.identity.device) { return [:] }
        var gaps: [LogTag: UInt64] = [:]
        for log in try node.store.agreedLogs(in: space.number) where log.lane.carriesAuthority {
            gaps[log.tag] = log.gap?.lowerBound
        }
        return gaps
    }

    /// How much is unread, and where somebody begins who reads on.
    private func lookAtUnread(
        _ model: NaiveModel, in space: SpaceRecord, _ roster: Roster, of node: SimulatedNode
    ) throws {
        let person = node.identity.person
        let count = try Overview.unreadCount(
            of: space, roster: roster, ownPerson: person, in: node.store)
        let known = model.unread(of: person, with: roster.everyDevice(of: person))
        guard count == known.count else {
            throw violation("\(node.name) counts \(count) unread, the model \(known.count)")
        }
        let first = try Overview.firstUnread(
            of: space, roster: roster, ownPerson: person, in: node.store)
        guard first == known.first?.order else {
            throw violation(
                "\(node.name) has somebody read on at another message than the model")
        }
    }

    private func lookAtErased(
        _ model: NaiveModel, in space: SpaceRecord, of node: SimulatedNode,
        _ liars: Set<DeviceID>
    ) throws {
        for place in model.erased {
            guard let log = try node.store.log(place.tag, in: space.number),
                !liars.contains(log.device),
                let stored = try node.store.operation(at: place.sequence, in: log.number)
            else { continue }
            checkCount += 1
            guard stored.operation.payload == nil else {
                throw violation(
                    "\(node.name) keeps the text at \(place.tag)/\(place.sequence), which was"
                        + " deleted")
            }
        }
    }

    /// What only the person's own devices show.
    private func lookAtOwn(
        _ own: SpaceRecord, _ model: NaiveModel, of node: SimulatedNode
    ) throws {
        for space in model.muted.keys.sorted() {
            let mute = try Overview.mute(space, ownSpace: own.number, in: node.store)
            checkCount += 1
            guard (mute.map { [$0.until ?? 0] } ?? []) == model.muted[space] else {
                throw violation("\(node.name) and the model differ in what is silent")
            }
        }
        var preferences: [[UInt8]: [UInt8]] = [:]
        for key in PreferenceKey.all {
            for said in try Overview.preferences(key, ownSpace: own.number, in: node.store) {
                let name = [UInt8(key.rawValue >> 8), UInt8(key.rawValue & 255)] + said.topic
                preferences[name] = said.value
            }
        }
        checkCount += preferences.count
        guard preferences == model.preferences else {
            throw violation("\(node.name) and the model differ in what the person prefers")
        }
        guard model.wordCounts.values.allSatisfy({ $0 == 1 }) else {
            throw violation("\(node.name) has words in whose place the person set others")
        }
        let stars = try Overview.stars(ownSpace: own.number, in: node.store).map { star in
            var name = ByteWriter(capacity: 64)
            name.identifier(star.space)
            name.uint64(star.message.tag.value)
            name.uint64(star.message.sequence)
            name.check(star.message.check)
            return name.bytes
        }
        checkCount += stars.count
        guard stars == model.stars else {
            throw violation("\(node.name) and the model differ in what is marked")
        }
        let contacts = try Overview.contacts(ownSpace: own.number, in: node.store).map {
            "\($0.person) \($0.alias) \($0.state.rawValue) \($0.isBlocked) \($0.isVerified)"
        }
        guard contacts == model.contacts else {
            throw violation("\(node.name) knows \(contacts), the model \(model.contacts)")
        }
    }

    private static func line(_ message: Message) -> NaiveModel.Line {
        NaiveModel.Line(
            order: message.order, author: message.author, answers: message.parent,
            thread: message.thread,
            versions: message.history + (message.text.map { [$0] } ?? []),
            forwardedFrom: message.forwardedFrom, mentions: NaiveMentions(message.mentions),
            reactions: message.reactions.map { reaction in
                let persons = reaction.persons.map(\.description).joined(separator: " ")
                return reaction.emoji + " " + persons
            }, isDeleted: message.flags.contains(.deleted),
            disappears: message.lifetime != nil)
    }

    private func marks(
        in space: SpaceRecord, _ roster: Roster, of node: SimulatedNode
    ) throws(StoreError) -> [NaiveModel.Progress: Set<UInt64>] {
        var marks: [NaiveModel.Progress: Set<UInt64>] = [:]
        for kind in [MarkKind.read, .delivered] {
            for mark in try node.store.marks(kind, in: space.number) {
                let device = DeviceID(reinterpreting: mark.actor)
                // How far those were who are out is known here and there as it came.
                let isOfMember =
                    kind == .read
                    ? roster.person(of: device).flatMap { roster.member($0) } != nil
                    : roster.contains(device)
                guard isOfMember else { continue }
                let key = NaiveModel.Progress(
                    isRead: kind == .read, actor: mark.actor, tag: mark.tag)
                marks[key] = Set(mark.places.ranges.flatMap { $0 })
            }
        }
        return marks
    }
}

extension NaiveMentions {
    fileprivate init(_ mentions: Mentions) {
        self.init()
        (persons, everyone) = (mentions.persons.map(\.person), mentions.everyone)
    }
}
