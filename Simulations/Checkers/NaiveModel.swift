import ParleyLedger
import ParleyPayloads
import ParleyRoster
import ParleySimulation
import ParleyWire

/// A conversation as a set of operations says it, folded by sorting.
///
/// Written from the specification and apart from the merge rules, slow and simple: it knows
/// nothing of arrival, rows or marks that grow. Where it and the views differ, one is wrong.
struct NaiveModel {
    /// What a screen shows of one message.
    struct Line: Equatable {
        var order: OrderKey
        /// Where it stands in its log: an order key of an imported message tells it as well.
        var place: Place { Place(tag: order.tag, sequence: order.sequence) }
        var author: PersonID
        var answers: OperationReference?
        var thread: OperationReference?
        var versions: [String]
        /// Whose words they are said to be, where they were not edited.
        var forwardedFrom: String?
        /// Whom the last version mentions.
        var mentions = NaiveMentions()
        var reactions: [String]
        var isDeleted: Bool
        /// Whether it is one that disappears, and has not.
        var disappears = false
    }

    /// What a device says of a log: that its person has read it, or that it has received it.
    struct Progress: Hashable, Comparable {
        var isRead: Bool
        var actor: Digest
        var tag: LogTag

        static func < (left: Self, right: Self) -> Bool {
            (left.isRead ? 1 : 0, left.actor, left.tag)
                < (right.isRead ? 1 : 0, right.actor, right.tag)
        }
    }

    /// One place of one log.
    struct Place: Hashable {
        var tag: LogTag
        var sequence: UInt64
    }

    var lines: [Line] = []
    /// Of each message where its versions stand that mention somebody, in order, and whom.
    var said: [Place: [(place: Place, mentions: NaiveMentions)]] = [:]
    var name: String?
    /// What each person says of themselves, the last word of each field.
    var profiles: [PersonID: [UInt32: String]] = [:]
    /// What the group is for.
    var text: String?
    /// The picture that it shows.
    var picture: [UInt8]?
    var progress: [Progress: Set<UInt64>] = [:]
    /// What the person has read and tells nobody else, by their own space.
    var quiet: [LogTag: Set<UInt64>] = [:]
    /// What became of each call, by when it began.
    var calls: [String] = []
    /// Texts and edits that a deletion covers.
    var erased: [Place] = []
    /// In the own space, the last word about each conversation: until when it is silent, 0 for ever;
    /// nothing where it is not.
    var muted: [SpaceID: [UInt64]] = [:]
    /// After how many seconds new messages disappear; nil if they stay.
    var lifetime: UInt64?
    /// Who reported what in a conversation of two, in order.
    var reports: [String] = []
    /// What is pinned, the last first.
    var pins: [OperationReference] = []
    /// Polls as they stand, the oldest first.
    var polls: [String] = []
    /// What is to be done, and done, the oldest first.
    var items: [String] = []
    /// Notes with their texts, the oldest first.
    var notes: [String] = []
    /// Decisions as they stand, the oldest first.
    var decisions: [String] = []
    /// In the own space, the messages that are marked, the one that was marked last at the end.
    var stars: [[UInt8]] = []
    /// In the own space, what the person deleted for themselves.
    var ownDeletions: [SpaceID: Set<Named>] = [:]
    /// The same of this conversation, with the person.
    let hidden: Hidden?
    /// In the own space, the last word about each person: alias, accepted, verified.
    var contacts: [String] = []
    /// In the own space, whom the person keeps away.
    var blocked: Set<PersonID> = []
    /// In the own space, whether contacts put the person into groups without asking.
    var letsContactsAdd = false
    /// In the own space, the last value of each key and topic, where it is not empty.
    var preferences: [[UInt8]: [UInt8]] = [:]
    /// How many operations of kind 47 have their words here, by key and topic.
    var wordCounts: [[UInt8]: Int] = [:]

    struct Act {
        var operation: VerifiedOperation
        var order: OrderKey
        /// Who wrote it, as they were by what they had seen.
        var author: NaiveAuthor
        var device: DeviceID
        var lane: Lane

        var kind: UInt64 { operation.operation.header.kind.rawValue }
        var payload: [UInt8] { operation.operation.payload ?? [] }
        /// A liar may keep a payload from everybody, and nothing would read as something.
        var hasBody: Bool { operation.operation.payload != nil }
        var place: Place { Place(tag: operation.tag, sequence: operation.sequence) }
        var target: Place? {
            operation.operation.header.references.first.map {
                Place(tag: $0.tag, sequence: $0.sequence)
            }
        }
        /// The message that this is, and the one that it edits or deletes.
        var named: Named { Named(place: place, check: operation.id.check) }
        var changed: Named? {
            guard let target, let check = operation.operation.header.references.first?.check else {
                return nil
            }
            return Named(place: target, check: check)
        }
    }

    /// A message, told from another one at its place on the other branch of a log.
    struct Named: Hashable {
        var place: Place
        var check: Check
    }

    /// The model of all operations of a space that a store holds.
    ///
    /// - Parameter control: what its lane 0 comes to: only what counts by that is folded.
    init(
        of space: SpaceRecord, control: NaiveControl, in store: any SimulatedStore,
        without hidden: Hidden? = nil
    ) throws(StoreError) {
        self.hidden = hidden
        var acts: [Act] = []
        var authors: [LogTag: PersonID] = [:]
        var forks: [LogTag: UInt64] = [:]
        var stands = try NaiveStands(of: space, in: store) { control.now.person(of: $0) }
        for log in try store.logs(in: space.number) where log.lane != .control {
            guard let person = control.now.person(of: log.device) else { continue }
            authors[log.tag] = person
            forks[log.tag] = log.fork?.sequence
            var judge = NaiveJudge(control, log)
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                let operation = VerifiedOperation(stored: stored, tag: log.tag)
                guard let author = judge.author(of: operation),
                    Self.isEntitled(author, to: operation.operation.header.kind.rawValue)
                else { continue }
                var order = operation.orderKey
                if log.lane != .receipts {
                    order.stand = try stands.stand(of: log.tag, stored.sequence) ?? 0
                }
                acts.append(
                    Act(
                        operation: operation, order: order, author: author, device: log.device,
                        lane: log.lane))
            }
        }
        acts.sort { $0.order < $1.order }
        fold(acts, authors, isGroup: space.kind == .group)
        if space.kind == .group { foldName(acts) } else { foldProfiles(acts) }
        if space.kind != .own {
            foldMentions(acts, control.now)
            foldPins(acts)
            foldLifetime(acts)
            foldPolls(acts, authors, forks: forks, isGroup: space.kind == .group)
            foldItems(acts, authors, isGroup: space.kind == .group)
            foldNotes(acts, authors, isGroup: space.kind == .group)
            foldDecisions(acts, authors, isGroup: space.kind == .group)
        }
        foldCalls(acts)
        if space.kind == .direct { foldReports(acts) }
        if space.kind == .own { foldOwn(acts) }
        let devices = Array(control.now.owners.keys) + control.now.former.keys
        let tags = devices.map {
            LogTag(OperationHash.log(space: space.id, device: $0, lane: .content))
        }
        foldReceipts(acts, about: Set(tags), control.now)
    }

    private mutating func fold(_ acts: [Act], _ authors: [LogTag: PersonID], isGroup: Bool) {
        var edits: [Named: [(text: String, place: Place)]] = [:]
        var deleted: Set<Named> = []
        var toggles: [Place: [Act]] = [:]
        for act in acts where act.lane == .content && act.author.role >= .member {
            guard let target = act.target, let changed = act.changed,
                let owner = authors[target.tag]
            else { continue }
            let isOwn = owner == act.author.person
            // Erased by a deletion that a cut took back later, it is no version any more.
            if act.kind == 65, isOwn, !act.operation.operation.isErased,
                let edit = Payload.decode(PayloadEdit.self, act.payload)
            {
                edits[changed, default: []].append((edit.text, act.place))
            }
            if act.kind == 66, isOwn || (isGroup && act.author.role >= .admin) {
                deleted.insert(changed)
            }
            if act.kind == 67 { toggles[target, default: []].append(act) }
        }
        for act in acts
        where [64, 69].contains(act.kind) && act.lane == .content && act.author.role >= .member {
            let place = act.place
            let disappears = act.kind == 69
            let isDeleted = deleted.contains(act.named)
            // Of one that disappears an edit has no effect, and its words would stay.
            if disappears { erased += edits.removeValue(forKey: act.named)?.map(\.place) ?? [] }
            let versions = edits[act.named] ?? []
            if isDeleted { erased += [place] + versions.map(\.place) }
            if hides(act, versions.map(\.place)) { continue }
            guard let text = Payload.decode(PayloadText.self, act.payload) else { continue }
            if disappears {
                // Without its words it is no message: they are gone here, or were before it came.
                guard act.hasBody, !isDeleted, (1...31_536_000).contains(text.lifetime),
                    !text.hasImported
                else { continue }
            }
            // A liar may have kept its payload from everybody.
            let first = act.operation.operation.isErased ? [] : [text.text]
            var order = act.order
            var forwarded = text.hasForwarded && !text.hasImported ? text.forwarded.author : nil
            if forwarded?.utf8.count ?? 0 > 256 || isDeleted || !versions.isEmpty {
                forwarded = nil
            }
            if text.hasImported, !isDeleted {
                order.stand = min(order.stand, text.imported.time << 16)
            }
            lines.append(
                Line(
                    order: order, author: act.author.person,
                    answers: act.operation.operation.header.references.first,
                    thread: act.operation.operation.header.references.prefix(2).last,
                    versions: isDeleted ? [] : first + versions.map(\.text),
                    forwardedFrom: forwarded,
                    reactions: isDeleted ? [] : Self.reactions(toggles[place] ?? []),
                    isDeleted: isDeleted, disappears: disappears))
        }
        lines.sort { $0.order < $1.order }
    }

    /// What the last version of each message says that has its text; persons who never were in the
    /// conversation are nobody.
    private mutating func foldMentions(_ acts: [Act], _ now: NaiveRosters.Fold) {
        let devices = Array(now.owners.keys) + now.former.keys
        let known = Set(devices.compactMap { now.person(of: $0) })
        var versions: [Named: [Act]] = [:]
        for act in acts where act.lane == .content && act.author.role >= .member && act.hasBody {
            if [64, 69].contains(act.kind) {
                versions[act.named, default: []].insert(act, at: 0)
            }
            if act.kind == 65, let changed = act.changed {
                versions[changed, default: []].append(act)
            }
        }
        for place in lines.indices where !lines[place].isDeleted {
            let line = lines[place]
            let message = Named(place: line.place, check: line.order.id.check)
            let texts = (versions[message] ?? []).filter {
                $0.author.person == line.author && !(line.disappears && $0.kind == 65)
            }
            let mentions = texts.map { NaiveMentions(in: $0.payload, isEdit: $0.kind == 65) }
            lines[place].mentions = mentions.last?.among(known) ?? NaiveMentions()
            said[line.place] = zip(texts, mentions).sorted { $0.0.order < $1.0.order }.map {
                (place: $0.place, mentions: $1)
            }
        }
    }

    private mutating func foldName(_ acts: [Act]) {
        name = lastOf(32, acts).flatMap { Payload.decode(PayloadName.self, $0.payload) }?.name
        let said = lastOf(41, acts).flatMap { Payload.decode(PayloadDescription.self, $0.payload) }
        text = said?.text.isEmpty == false ? said?.text : nil
        let shown = lastOf(43, acts).flatMap { Payload.decode(PayloadPicture.self, $0.payload) }
        picture = shown?.content.isEmpty == false ? shown.map { fieldBytes($0.content) } : nil
    }

    /// The last of a kind that no other replaced.
    private func lastOf(_ kind: UInt64, _ acts: [Act]) -> Act? {
        let names = acts.filter {
            $0.kind == kind && $0.lane == .shared && $0.hasBody && $0.author.role >= .admin
        }
        let replaced = names.flatMap(\.operation.operation.header.references)
        return names.last { act in
            !replaced.contains {
                $0.tag == act.operation.tag && $0.sequence == act.operation.sequence
            }
        }
    }

    /// The last word on each message, of those that are shown and not deleted; of these the last 32.
    private mutating func foldPins(_ acts: [Act]) {
        var pinned: [OperationReference] = []
        for act in acts where act.kind == 40 && act.lane == .shared && act.hasBody {
            guard
                let message = act.operation.operation.header.references.first,
                let pin = Payload.decode(PayloadPin.self, act.payload), [1, 2].contains(pin.state)
            else { continue }
            pinned.removeAll { $0 == message }
            if pin.state == 1 { pinned.append(message) }
        }
        let shown = lines.filter { !$0.isDeleted && !$0.disappears }.map { line in
            Named(place: line.place, check: line.order.id.check)
        }
        let named = Set(shown)
        pins = pinned.reversed().filter { message in
            let place = Place(tag: message.tag, sequence: message.sequence)
            return named.contains(Named(place: place, check: message.check))
        }
        pins = Array(pins.prefix(32))
    }

    /// Of all that its founder says of a call the greatest outcome, then the longest time, then the
    /// last; and so of others who were in, where the founder does not say that nobody was.
    private mutating func foldCalls(_ acts: [Act]) {
        var best: [[UInt8]: PayloadCall] = [:]
        var words: [[UInt8]: PayloadCall] = [:]
        for act in acts
        where act.kind == 68 && act.lane == .content && act.author.role >= .member && act.hasBody {
            guard let call = Payload.decode(PayloadCall.self, act.payload) else { continue }
            let name = fieldBytes(call.call) + fieldBytes(call.founder)
            let isFounder = fieldBytes(call.founder) == act.author.person.bytes
            let wasIn = call.persons.contains { fieldBytes($0) == act.author.person.bytes }
            guard isFounder || wasIn else { continue }
            let known = isFounder ? best[name] : words[name]
            if let known, (known.outcome, known.duration) > (call.outcome, call.duration) {
                continue
            }
            if isFounder { best[name] = call } else { words[name] = call }
        }
        for (name, word) in words {
            guard var call = best[name], ![1, 2, 3, 4, 5].contains(call.outcome),
                (word.outcome, word.duration) > (call.outcome, call.duration)
            else { continue }
            (call.outcome, call.duration) = (word.outcome, word.duration)
            call.persons = word.persons
            best[name] = call
        }
        let names = best.keys.sorted {
            (best[$0]?.began ?? 0, $0.description) < (best[$1]?.began ?? 0, $1.description)
        }
        calls = names.compactMap { name in
            best[name].map { call in
                let persons = call.persons.compactMap { PersonID(fieldBytes($0))?.description }
                return "\(call.began) \(call.outcome) \(call.duration) \(persons)"
            }
        }
    }

    private mutating func foldOwn(_ acts: [Act]) {
        var last: [PersonID: PayloadContact] = [:]
        var asking: Set<PersonID> = []
        for act in acts where act.lane == .shared && act.hasBody {
            if act.kind == 33, let mute = Payload.decode(PayloadMute.self, act.payload),
                let space = SpaceID(fieldBytes(mute.space))
            {
                muted[space] = mute.on ? [mute.until] : []
            }
            if act.kind == 39, let star = Payload.decode(PayloadStar.self, act.payload),
                star.space.count == 32, star.message.count == 32, fieldBytes(star.message)[8] < 0x40
            {
                let name = fieldBytes(star.space) + fieldBytes(star.message)
                stars.removeAll { $0 == name }
                if star.on { stars.append(name) }
            }
            if act.kind == 48 { foldOwnDeletion(act) }
            if act.kind == 37, let said = Payload.decode(PayloadAdditionPolicy.self, act.payload) {
                letsContactsAdd = said.policy == 2
            }
            if act.kind == 34, let contact = Payload.decode(PayloadContact.self, act.payload),
                let person = PersonID(fieldBytes(contact.person))
            {
                if contact.state == 1 { asking.insert(person) } else { last[person] = contact }
            }
        }
        blocked = Set(last.filter(\.value.blocked).keys)
        contacts = asking.union(last.keys).sorted().map { person in
            // Whether somebody asks is shown where no word of the person's says how far it came.
            let said = last[person] ?? PayloadContact()
            let state = said.state == 0 && asking.contains(person) ? 1 : said.state
            return "\(person) \(said.alias) \(state) \(said.blocked) \(said.verified)"
        }
        foldPreferences(acts)
    }
}
