import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Turns what the pure rooms read into the plain values of ``NodeService``.
///
/// It is made for one reading of the store and holds nothing beyond it.
struct Views {
    let store: SQLiteStore
    let core: NodeCore
    let rosters: RosterCache
    let names = NameCache()
    /// Why nothing is written, or nil.
    let bar: WriteBar?
    /// Relays of which it is known that another one answers at their address now.
    var mistakenRelays: Set<NoiseKey> = []

    init(store: SQLiteStore, core: NodeCore, rosters: RosterCache, bar: WriteBar? = nil) {
        self.bar = bar ?? store.bar
        self.store = store
        self.core = core
        self.rosters = rosters
    }

    var ownPerson: PersonID { core.node.person }

    // MARK: People

    /// A person's name as it is shown: with the start of the identifier behind it if another known
    /// person could be taken for them.
    func name(of person: PersonID, in roster: Roster? = nil) throws -> String {
        if let shown = names.shown[person] { return shown }
        let bare = try bareName(of: person, in: roster)
        let isAmbiguous = try bare != person.short && !lookalikes(of: person, in: roster).isEmpty
        let shown = isAmbiguous ? "\(bare) (\(person.short))" : bare
        names.shown[person] = shown
        return shown
    }

    /// What one calls a person: an alias, else the name on their card, else the name that a
    /// conversation began with, else the start of their identifier.
    func bareName(of person: PersonID, in roster: Roster? = nil) throws -> String {
        if let known = names.known[person] { return known }
        let name = try readName(of: person, in: roster)
        // A roster may know one where nothing else does.
        if roster != nil || name != person.short { names.known[person] = name }
        return name
    }

    private func readName(of person: PersonID, in roster: Roster?) throws -> String {
        if let alias = try contact(person)?.alias, !VisibleName.isBlank(alias) {
            return VisibleName.shownPerson(alias)
        }
        // Until the two have met it is kept with the invite.
        if let alias = try NodeCore.pendingAlias(of: person, in: store), !VisibleName.isBlank(alias)
        {
            return VisibleName.shownPerson(alias)
        }
        let name =
            try person == ownPerson
            ? CardReader.name(of: core.node, store) : CardReader.name(of: person, store)
        if !VisibleName.isBlank(name) { return VisibleName.shownPerson(name) }
        if let name = roster?.member(person)?.name, !VisibleName.isBlank(name) {
            return VisibleName.shownPerson(name)
        }
        return person.short
    }

    func contact(_ person: PersonID) throws -> Contact? {
        guard let own = core.ownSpace else { return nil }
        return try Overview.contact(person, ownSpace: own.number, in: store)
    }

    // MARK: Conversations

    func roster(of space: SpaceRecord) throws -> Roster? {
        // The core has it for most, and keeps it up to date: with each operation it costs a little.
        if let known = core.heldRoster(of: space.number) { return known.isBegun ? known : nil }
        return try rosters.roster(of: space, in: store)
    }

    func conversations() throws -> [ConversationView] {
        var views: [(view: ConversationView, place: ListPlace)] = []
        let unaccepted = try unaccepted()
        for space in try store.spaces() where space.kind != .own {
            guard !unaccepted.contains(space.id), let roster = try roster(of: space) else {
                continue
            }
            if try isSuperseded(space, roster) { continue }
            let summary = try Overview.summary(
                of: space, roster: roster, ownPerson: ownPerson,
                ownSpace: core.ownSpace?.number, in: store)
            views.append((try view(summary, roster), try listPlace(of: summary, roster)))
        }
        views.sort { left, right in
            if left.view.isKeptFirst != right.view.isKeptFirst { return left.view.isKeptFirst }
            return (right.place, left.view.name, left.view.id) < (
                left.place, right.view.name, right.view.id
            )
        }
        return Self.markedAlike(views.map(\.view))
    }

    func view(of space: SpaceRecord) throws -> ConversationView {
        guard let roster = try roster(of: space) else { throw NodeError(.unknownConversation) }
        let summary = try Overview.summary(
            of: space, roster: roster, ownPerson: ownPerson, ownSpace: core.ownSpace?.number,
            in: store)
        return try view(summary, roster)
    }

    private func view(
        _ summary: ConversationSummary, _ roster: Roster
    ) throws -> ConversationView {
        let now = SystemClock.now.wall
        let mute = summary.mute.flatMap { $0.isSilent(at: now) ? $0 : nil }
        let logs = try store.logs(in: summary.space.number)
        let lacksEarlier = try lacksEarlier(summary.space, roster, logs)
        return ConversationView(
            id: summary.space.id.description,
            kind: summary.space.kind == .direct ? "direct" : "group",
            name: try title(of: summary.space, roster),
            members: try summary.members.map { try name(of: $0.person, in: roster) }.sorted(),
            unread: summary.unreadCount, unreadMentions: summary.unreadMentionCount,
            isMarkedUnread: summary.isMarkedUnread,
            isMuted: mute != nil, mutedUntil: mute?.until,
            isArchived: summary.isArchived, isKeptFirst: summary.isKeptFirst,
            mayWrite: mayWrite(by: roster),
            lifetime: try Overview.messageLifetime(of: summary.space.number, in: store),
            draft: summary.unsentText, newest: summary.newestTime,
            last: try summary.newestNumber.flatMap { try store.operation($0) }.flatMap {
                try quote(of: $0, in: summary.space, roster)
            },
            waitingFor: try waiting(in: summary.space, roster),
            supersededBy: try successor(of: summary.space, roster)?.id.description,
            twin: try unreadTwin(of: summary.space, roster)?.id.description,
            isInvited: roster.isInvited(ownPerson),
            isOut: isOut(of: roster),
            lacksEarlier: lacksEarlier,
            holdsEarlier: lacksEarlier ? try holdsEarlier(summary.space) : false,
            lacksShared: Self.lacksShared(logs),
            heldOn: try heldOn(summary.space, roster))
    }

    /// The name of a conversation. One whose place another has carries the start of its identifier.
    func title(of space: SpaceRecord, _ roster: Roster) throws -> String {
        let name = try plainTitle(of: space, roster) { try self.name(of: $0, in: roster) }
        return try successor(of: space, roster) == nil ? name : "\(name) (\(space.id.short))"
    }

    /// The names by which a conversation is found: its name, without what distinguishes persons of
    /// one name, and as it is shown.
    func titles(of space: SpaceRecord, _ roster: Roster) throws -> [String] {
        let shown = try title(of: space, roster)
        guard try successor(of: space, roster) == nil else { return [shown] }
        return [try plainTitle(of: space, roster) { try bareName(of: $0, in: roster) }, shown]
    }

    private func plainTitle(
        of space: SpaceRecord, _ roster: Roster, _ name: (PersonID) throws -> String
    ) throws -> String {
        if let name = try Overview.name(of: space.number, in: store), !VisibleName.isBlank(name) {
            return VisibleName.shown(name)
        }
        // The name from the admission is used until the group's own name arrives; a device that
        // came after the person was out has only the control log.
        if space.kind == .group, !roster.isInvited(ownPerson) {
            let name = try rosters.nameTold(of: space, to: ownPerson, in: store)
            if !VisibleName.isBlank(name) { return VisibleName.shown(name) }
        }
        let others = roster.members.filter { $0.person != ownPerson }
        let names = try others.map { try name($0.person) }
        // A group whose name has not come must not answer to a person's.
        if space.kind == .group, let name = names.first, names.count == 1 {
            return "group with \(name)"
        }
        return names.isEmpty ? space.id.short : Self.list(names)
    }

    /// A single name stands for itself.
    private static func list(_ names: [String]) -> String {
        names.count > 1 ? VisibleName.list(names.sorted()) : names.joined()
    }

    // MARK: Messages

    func message(_ number: OperationNumber) throws -> MessageView? {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            let space = try store.space(log.space), let roster = try roster(of: space),
            let message = try timeline(of: space, roster).message(number, in: store)
        else { return nil }
        return try view(message, in: space, roster)
    }

    func timeline(of space: SpaceRecord, _ roster: Roster) throws -> Timeline {
        Timeline(
            of: space, roster: roster, ownPerson: ownPerson,
            relayed: try relayed(of: space),
            includesHistory: false, goesByCheck: true)
    }

    func view(
        _ message: Message, in space: SpaceRecord, _ roster: Roster
    ) throws -> MessageView {
        let view = try wholeView(message, in: space, roster)
        return try hides(message.author, in: space) ? view.withoutContent() : view
    }

    private func wholeView(
        _ message: Message, in space: SpaceRecord, _ roster: Roster
    ) throws -> MessageView {
        var replyToID: String?
        var answered: StoredOperation?
        if let parent = message.parent {
            (replyToID, answered) = try self.answered(parent, in: space.number)
        }
        let quote = try answered.flatMap { try self.quote(of: $0, in: space, roster) }
        let untaken = try untakenChanges(in: space, roster)[message.reference] ?? []
        // An edit whose words are not here is one as well.
        let isMissing =
            message.flags.contains(.bodyless)
            || message.text == nil && !message.flags.contains(.deleted)
        let isGone = try isMissing && isGoneHere(message, untaken, in: space)
        let disappearance = try disappearance(of: message)
        return MessageView(
            number: message.number.rawValue,
            id: try identifier(message.reference, in: space.number),
            conversation: space.id.description,
            author: try message.origin.map { VisibleName.shownPerson($0.author) }
                ?? name(of: message.author, in: roster),
            person: message.author.description, isOwn: message.author == ownPerson,
            text: message.text, mentions: try mentions(message.mentions, roster),
            mentionsEveryone: message.mentions.everyone,
            mentionsMe: message.author != ownPerson && message.mentions.includes(ownPerson),
            time: message.time,
            replyTo: answered?.number.rawValue, replyToID: replyToID,
            quote: quote,
            threadID: try message.thread.map { try identifier($0, in: space.number) },
            editCount: message.editCount, reactions: try reactions(message.reactions, roster),
            state: try message.state.map { try shown($0, in: space, roster) },
            isDeleted: message.flags.contains(.deleted),
            isImported: message.flags.contains(.imported),
            isAction: message.origin?.isAction ?? false, isLate: message.flags.contains(.late),
            isMissing: isMissing && !isGone,
            importedBy: message.flags.contains(.imported)
                ? try name(of: message.author, in: roster) : nil,
            forwardedFrom: message.forwardedFrom.map(VisibleName.shownPerson),
            files: try files(of: message, in: space, roster),
            link: message.link.map(LinkPreviewView.init),
            isPinned: try isPinned(message.reference, in: space.number),
            isStarred: try !message.flags.contains(.deleted)
                && isStarred(message.reference, in: space.id),
            waiting: try message.waiting.map {
                MessageView.Waiting(
                    change: $0.subject.rawValue, state: try shown($0.state, in: space, roster))
            } + untaken.map(\.view) + marks(on: message.reference, in: space, roster),
            timeDoubt: Self.doubt(about: message, answering: answered, at: SystemClock.now.wall),
            isStranded: try message.author == ownPerson && message.state ?? .saved < .delivered
                && isStranded(message.reference, in: space.number),
            missingBefore: try missingCount(before: message, in: space), isGoneHere: isGone,
            lifetime: disappearance.lifetime, disappears: disappearance.due)
    }

    /// How many operations are missing right below the first message above a gap in a log; nil for others.
    private func missingCount(before message: Message, in space: SpaceRecord) throws -> Int? {
        let place = message.reference.sequence
        guard !message.flags.contains(.deleted),
            let log = try store.log(message.reference.tag, in: space.number),
            let gap = log.gap(below: place)
        else { return nil }
        let isFirst =
            try gap.upperBound == place
            || store.messageCount(in: log.number, gap.upperBound...place - 1) == 0
        return isFirst ? gap.count : nil
    }

    private func isStranded(
        _ reference: OperationReference, in space: SpaceNumber
    ) throws -> Bool {
        guard let log = try store.log(reference.tag, in: space), let fork = log.fork else {
            return false
        }
        return log.device == core.node.device && reference.sequence >= fork.sequence
    }

    /// As many as a screen can show: whoever reacts a thousand times hides no message by it.
    private func reactions(
        _ reactions: [Message.Reactions], _ roster: Roster
    ) throws -> [MessageView.Reaction] {
        var room = MessageView.reactionNameCountMax
        return try reactions.prefix(room).map { reaction in
            let shown = reaction.persons.prefix(room)
            room -= shown.count
            return MessageView.Reaction(
                emoji: reaction.emoji, names: try shown.map { try name(of: $0, in: roster) },
                count: reaction.persons.count)
        }
    }
}

/// Rosters that were read before: reading one verifies the signatures of everybody's identity.
///
/// A roster is a function of the control operations, so one is kept as long as there are no more
/// of those. It belongs to the node's actor and is used there alone.
final class RosterCache {
    private struct Kept {
        var controlCount: UInt64
        var roster: Roster?
        /// Nil before it was asked for: it, too, changes with control operations alone.
        var epoch: CurrentEpoch??
        /// Likewise.
        var nameTold: String?
        /// Likewise.
        var hasReturned: Bool?
    }
    /// Beyond this many spaces it is emptied.
    private static let countMax = 1024
    private var kept: [SpaceID: Kept] = [:]
    /// Who looks like whom, as last read.
    var lookalikes: Lookalikes?

    func roster(of space: SpaceRecord, in store: some LogStore) throws(StoreError) -> Roster? {
        var count: UInt64 = 0
        for log in try store.logs(in: space.number) where log.lane == .control { count += log.end }
        if let known = kept[space.id], known.controlCount == count { return known.roster }
        let roster = try RosterReader.roster(of: space, in: store)
        if kept.count >= Self.countMax { kept.removeAll() }
        kept[space.id] = Kept(controlCount: count, roster: roster)
        return roster
    }

    func nameTold(
        of space: SpaceRecord, to person: PersonID, in store: some LogStore
    ) throws(StoreError) -> String {
        _ = try roster(of: space, in: store)
        if let known = kept[space.id]?.nameTold { return known }
        let name = try RosterReader.nameTold(of: space, to: person, in: store)
        kept[space.id]?.nameTold = name
        return name
    }

    func hasReturned(
        _ person: PersonID, to space: SpaceRecord, in store: some LogStore
    ) throws(StoreError) -> Bool {
        guard let roster = try roster(of: space, in: store) else { return false }
        if let known = kept[space.id]?.hasReturned { return known }
        let hasReturned = try RosterReader.hasReturned(person, to: space, roster, in: store)
        kept[space.id]?.hasReturned = hasReturned
        return hasReturned
    }

    /// Nothing is known of a space any more.
    func forget(_ space: SpaceID) { kept[space] = nil }

    func epoch(
        of space: SpaceRecord, by core: NodeCore, in store: some Store
    ) throws(StoreError) -> CurrentEpoch? {
        _ = try roster(of: space, in: store)
        if let known = kept[space.id]?.epoch { return known }
        // A copy: what the core works out for this is no part of a step.
        var core = core
        let epoch = try core.currentEpoch(of: space, in: store)
        kept[space.id]?.epoch = .some(epoch)
        return epoch
    }
}
