import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySignalling
import ParleyStorage
import ParleyWire

extension Views {
    /// A call as it is at this moment.
    ///
    /// - Parameter failure: why the program for sound and pictures failed, where it did.
    func view(of call: Call, failure: String?) throws -> CallView {
        let space = try store.space(call.space)
        let roster = try space.flatMap { try self.roster(of: $0) }
        let now = SystemClock.now.monotonic
        var reason = call.end?.sentence { called($0, in: roster) }
        if call.end == .mediaFailed, let failure { reason = failure }
        let isConnecting = call.phase == .talking && call.established == nil
        return CallView(
            call: "\(call.id)", conversation: call.space.description,
            name: try title(of: call.space),
            caller: try name(of: call.founder.person, in: roster),
            isOwn: call.founder.person == ownPerson,
            state: isConnecting ? "connecting" : call.phase.rawValue,
            media: call.media.words,
            members: try call.members.map { try member($0, of: call, roster) },
            rings: try call.ringing.map { try name(of: $0, in: roster) },
            milliseconds: call.established.map { Int(clamping: now - min($0, now)) },
            end: call.end?.word, reason: reason)
    }

    /// The name of a person in a sentence; their identifier if the name cannot be read.
    func called(_ person: PersonID, in roster: Roster? = nil) -> String {
        // As said above: a sentence without a name is better than none.
        person == ownPerson ? "you" : (try? name(of: person, in: roster)) ?? person.short
    }

    private func title(of id: SpaceID) throws -> String {
        guard let space = try store.space(id), let roster = try roster(of: space) else { return "" }
        return try title(of: space, roster)
    }

    private func member(
        _ member: Participant, of call: Call, _ roster: Roster?
    ) throws -> CallView.Member {
        CallView.Member(
            name: try name(of: member.person, in: roster), person: member.person.description,
            device: member.device.description, isThis: member.device == core.node.device,
            media: (member == call.own ? call.media : call.sent[member.device] ?? []).words,
            connection: call.legs[member.device]?.phase.rawValue)
    }

    /// The call that an argument means, of those that suit: the start of its identifier, or its
    /// conversation; the only one where the argument is empty.
    func call(_ argument: String, _ what: String, where suits: (Call) -> Bool) throws -> Call {
        let calls = core.calls.all.filter(suits)
        var resolver = Resolver<Call>(argument)
        for call in calls {
            resolver.consider(call, name: try title(of: call.space), identifier: "\(call.id)")
        }
        let found = argument.isEmpty ? calls : try [resolver.thing()].compactMap { $0 }
        guard found.count <= 1 else {
            throw NodeError(
                "ambiguous", "\(found.count) calls \(what).",
                hint: "Name one by its conversation; `parley calls` lists them.")
        }
        guard let call = found.first else {
            throw NodeError(
                "unknown-call",
                argument.isEmpty ? "No call \(what)." : "No call “\(argument)” \(what).",
                hint: "`parley calls` lists them.")
        }
        return call
    }

    /// What became of calls in a conversation, or in all.
    func callRecords(in space: SpaceRecord?) throws -> [CallRecordView] {
        let spaces = try space.map { [$0] } ?? store.spaces().filter { $0.kind != .own }
        // Of a call that still rings nobody knows what becomes of it.
        let current = Set(core.calls.all.map(\.id))
        let views = try spaces.flatMap { space -> [CallRecordView] in
            let (roster, title) = (try roster(of: space), try title(of: space.id))
            return try Overview.calls(in: space.number, store: store).map { record in
                let isMissed = record.isMissed(by: ownPerson) && !current.contains(record.call)
                let hasDeclined =
                    try isMissed && NodeCore.hasDeclined(record.call, in: space.number, store)
                let order = record.order ?? OrderKey(since: record.began)
                return CallRecordView(
                    call: "\(record.call)", conversation: space.id.description, name: title,
                    caller: try name(of: record.founder, in: roster),
                    isOwn: record.founder == ownPerson, time: record.began,
                    outcome: "\(record.summary.outcome)",
                    milliseconds: Int(clamping: record.summary.duration),
                    people: try record.summary.persons.map { try name(of: $0, in: roster) },
                    isMissed: isMissed && !hasDeclined,
                    isDeclined: hasDeclined
                        || space.kind == .direct && record.founder != ownPerson
                            && record.summary.outcome == .declined,
                    declinedBy: try decliner(of: record, in: roster).map {
                        try name(of: $0, in: roster)
                    },
                    wasIn: record.summary.persons.contains(ownPerson),
                    others: try record.summary.persons.filter {
                        $0 != record.founder && $0 != ownPerson
                    }.map { try name(of: $0, in: roster) },
                    below: try message(below: order, in: space.number), order: order.text)
            }
        }
        return views.sorted { ($0.time, $0.call) < ($1.time, $1.call) }
    }

    /// Who declined a call of this person, where only one other person could; else nil.
    private func decliner(of record: CallRecord, in roster: Roster?) -> PersonID? {
        guard let roster, record.founder == ownPerson, record.summary.outcome == .declined
        else { return nil }
        let others = roster.participants.map(\.person).filter { $0 != ownPerson }
        return others.count == 1 ? others.first : nil
    }

    // MARK: Typing and presence

    func typing(in space: SpaceNumber) -> ChangeView? {
        // A conversation that cannot be read has nobody who types.
        guard let record = try? store.space(space), let roster = try? roster(of: record) else {
            return nil
        }
        // Whoever tells nobody that they type is shown nobody who does; nor where that cannot be read.
        let isShown = (try? discloses(.typing, in: record.id)) ?? false
        let persons = isShown ? core.typing.persons(in: record.id) : []
        // Nor is somebody shown whose name cannot be read.
        let names = persons.compactMap { try? name(of: $0, in: roster) }
        return ChangeView(kind: "typing", conversation: record.id.description, typing: names)
    }

    func presence(of person: PersonID) -> Presence {
        person == ownPerson ? core.presence : core.presences[person]?.presence ?? .offline
    }

    func presences() throws -> PresenceReport {
        let people = try contacts().filter { $0.state == "accepted" }.map { contact in
            let person = bytes(hex: contact.person).flatMap { PersonID($0) }
            let entry = person.flatMap { core.presences[$0] }
            return PresenceReport.Entry(
                person: contact.person, name: contact.name,
                presence: (entry?.presence ?? .offline).word, lastSeen: entry?.lastSeen,
                told: try person.flatMap { try privacy(for: $0) }?.word)
        }
        let told = try privacy(for: nil) ?? NodeCore.privacyUnsaid(for: nil, in: store)
        return PresenceReport(own: core.presence.word, told: told.word, people: people)
    }

    /// What a person may see, or everybody without a setting of their own; nil if nothing was set.
    func privacy(for person: PersonID?) throws -> PresenceBook.Privacy? {
        guard let own = core.ownSpace else { return nil }
        return try NodeCore.privacy(for: person, ownSpace: own.number, in: store)
    }
}

extension Presence {
    /// The word for it.
    var word: String {
        switch self {
        case .offline: "offline"
        case .away: "away"
        case .online: "online"
        }
    }

    init?(word: String) {
        guard let presence = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = presence
    }
}

extension PresenceBook.Privacy {
    /// The word for it.
    var word: String {
        switch self {
        case .everything: "everything"
        case .nowOnly: "now"
        case .nothing: "nothing"
        }
    }

    init?(word: String) {
        guard let privacy = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = privacy
    }
}

extension CallEnd {
    /// A stable word for programs.
    var word: String {
        switch self {
        case .hungUp: "hung-up"
        case .hungUpBy: "hung-up-by-other"
        case .cancelled: "cancelled"
        case .missed: "missed"
        case .unanswered: "unanswered"
        case .declinedBy: "declined-by-other"
        case .declined: "declined"
        case .refusedBy: "refused-by-other"
        case .refused: "refused"
        case .answeredElsewhere: "answered-elsewhere"
        case .declinedElsewhere: "declined-elsewhere"
        case .unreachable: "unreachable"
        case .disconnected: "disconnected"
        case .mediaFailed: "media-failed"
        case .removed: "removed"
        case .replaced: "replaced"
        }
    }
}

extension OrderKey {
    /// Above all that was written at a time or later, in Unix milliseconds.
    fileprivate init(since time: UInt64) {
        self.init(stand: time << 16, tag: LogTag(0), sequence: 0, id: OperationID { _ in })
    }
}
