import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// Explains states in words: what is known, from whom, and since when.
extension Views {
    typealias Fact = ExplanationView.Fact

    /// What can be explained.
    private enum Subject {
        case message(OperationNumber)
        case person(PersonID)
        case device(DeviceID)
        case conversation(SpaceRecord)
    }

    /// Why a message (`12`, `#12` or its identifier), a person, a device or a conversation stands
    /// as it does.
    func why(_ argument: String, in conversation: String?) throws -> ExplanationView {
        let spaces = try conversation.map { [try self.conversation($0)] } ?? groups()
        switch try subject(argument) {
        case .message(let number):
            if conversation != nil, let space = spaces.first { try require(number, in: space) }
            return try why(message: number)
        case .person(let person): return try why(person: person, in: spaces)
        case .device(let device): return try why(device: device, in: spaces)
        case .conversation(let space): return try why(conversation: space)
        }
    }

    private func subject(_ argument: String) throws -> Subject {
        let reference = MessageReference(argument)
        if argument.hasPrefix("#"), let number = reference.number {
            return .message(OperationNumber(number))
        }
        var resolver = Resolver<Subject>(argument)
        try consider(reference, in: &resolver) { .message($0) }
        for lane in SharedWord.lanes {
            try consider(reference, of: lane, in: &resolver) { .message($0) }
        }
        if let number = reference.number, number > 0,
            try isMessage(OperationNumber(number))
        {
            resolver.consider(
                .message(OperationNumber(number)), names: [], identifiers: ["#\(number)"],
                isMeant: true)
        }
        let people = try everyone()
        for person in people + [ownPerson] {
            resolver.consider(
                .person(person), names: [try bareName(of: person), try name(of: person)],
                identifiers: [person.description])
        }
        for device in try everyDevice() {
            resolver.consider(.device(device), name: "", identifier: device.description)
        }
        for space in try store.spaces() where space.kind != .own {
            guard let roster = try roster(of: space) else { continue }
            // One between two has the person's name, who is meant by that.
            let title = space.kind == .direct ? "" : try whyTitle(of: space, roster)
            resolver.consider(
                .conversation(space), name: title, identifier: space.id.description)
        }
        if let subject = try one(of: resolver, for: reference) { return subject }
        if let person = try person(callingThemselves: argument, among: people) {
            return .person(person)
        }
        if reference.number != nil { throw NodeError(.unknownMessage) }
        throw NodeError(
            "unknown-subject", "Nothing here matches “\(argument)”.",
            hint:
                "Give the number of a message, the name of a person or a conversation, or the "
                + "start of an identifier.")
    }

    /// The match. A message is distinguished from a thing with such a name by a sign before its
    /// number.
    private func one(
        of resolver: Resolver<Subject>, for reference: MessageReference
    ) throws -> Subject? {
        do {
            return try resolver.thing()
        } catch {
            guard error.code == "ambiguous", let number = reference.number, number > 0,
                try isMessage(OperationNumber(number))
            else { throw error }
            var told = error
            told.hint =
                "`parley why '#\(number)'` is about the message; for others, use the start of the "
                + "identifier that is in brackets."
            throw told
        }
    }

    /// The name of a conversation; of a group that waits for an answer as the invitation has it.
    private func whyTitle(of space: SpaceRecord, _ roster: Roster) throws -> String {
        if let invitation = try Invitation.into(space.id, in: store), invitation.state == .waiting,
            !VisibleName.isBlank(invitation.name)
        {
            return VisibleName.shown(invitation.name)
        }
        return try title(of: space, roster)
    }

    private func isMessage(_ number: OperationNumber) throws -> Bool {
        let kind = try store.operation(number)?.operation.header.kind
        return kind.map(Self.whyKinds.contains) ?? false
    }

    private func everyDevice() throws -> [DeviceID] {
        var devices = Set(core.node.log.devices.map(\.device))
        for space in try store.spaces() {
            devices.formUnion(try roster(of: space)?.everyDevice ?? [])
        }
        return devices.sorted()
    }

    /// Refuses a message that stands in another conversation than the one that was named.
    private func require(_ number: OperationNumber, in space: SpaceRecord) throws {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            log.space != space.number, let other = try store.space(log.space), other.kind != .own
        else { return }
        throw NodeError(
            "other-conversation",
            "#\(number.rawValue) is not in “\(try view(of: space).name)”: it is in “"
                + "\(try view(of: other).name)”.",
            hint: "`parley why \(number.rawValue)` explains it.")
    }

    private func groups() throws -> [SpaceRecord] {
        try store.spaces().filter { $0.kind == .group }
    }

    // MARK: A person

    private func why(person: PersonID, in spaces: [SpaceRecord]) throws -> ExplanationView {
        var facts: [Fact] = []
        if let contact = try contact(person) {
            facts.append(
                Fact(
                    about: "contact", what: try self.contact(view: person).state,
                    source: "noted by you"))
            facts.append(
                Fact(
                    about: "safety number", what: contact.isVerified ? "compared" : "not compared",
                    source: "noted by you"))
        } else if try NodeCore.takenInvite(of: person, in: store) != nil {
            let view = try self.contact(view: person)
            facts.append(
                Fact(about: "contact", what: view.state, source: "the invite that you accepted"))
        }
        for sentence in try fate(of: person) {
            facts.append(
                Fact(
                    about: "contact", what: sentence,
                    source:
                        "the invite that you accepted"))
        }
        facts += try self.facts(ofRelaysNotReachedOf: person)
        for notice in try Notice.all(in: store).filter({ $0.person == person }) {
            facts.append(
                Fact(
                    about: "devices", what: try sentence(notice),
                    source: "their signed list of devices", since: notice.time))
        }
        for sentence in try forkSentences(of: person) {
            facts.append(Fact(about: "devices", what: sentence, source: "what it signed itself"))
        }
        for space in spaces {
            let found = try Explanation.member(person, of: space, in: store)
            guard found.member != nil || !found.reasons.isEmpty else { continue }
            guard let roster = try roster(of: space) else { continue }
            let (title, isInvited) = (try whyTitle(of: space, roster), roster.isInvited(person))
            facts.append(
                Fact(
                    about: title,
                    what: found.member.map { Self.words($0, isInvited: isInvited) } ?? "not in it",
                    source: "the group's operations"))
            let declined = try declinedPlaces(of: person, in: space, found.reasons)
            for (before, reason) in zip([nil] + found.reasons, found.reasons) {
                // Several devices of one person may admit a newcomer who uses a link, each before
                // it hears of the other: they came once.
                if let before, before.kind == .redeem, reason.kind == .redeem,
                    (before.author, before.outcome) == (reason.author, reason.outcome)
                {
                    continue
                }
                var fact = try fact(reason, about: person, in: title, space)
                if isInvited, reason.kind == .genesis { fact.what = "invited from the beginning" }
                if declined.contains(reason.place) { fact.what = "declined" }
                facts.append(fact)
            }
        }
        return ExplanationView(title: "\(try bareName(of: person)), \(person.short)", facts: facts)
    }

    /// Where a person declined what they had never accepted.
    private func declinedPlaces(
        of person: PersonID, in space: SpaceRecord, _ reasons: [ControlReason]
    ) throws -> Set<LogTip> {
        guard reasons.contains(where: { $0.kind == .leave }) else { return [] }
        let events = try MembershipHistory.events(of: space, in: store)
        return Set(
            events.filter { $0.change == .declined && $0.person == person }.map {
                LogTip(tag: $0.order.tag, sequence: $0.order.sequence)
            })
    }

    private func fact(
        _ reason: ControlReason, about person: PersonID, in title: String, _ space: SpaceRecord
    ) throws -> Fact {
        let author = try reason.author.map { try name(of: $0, in: roster(of: space)) }
        // Who began a group put others into it.
        let isGuest = reason.kind == .genesis && reason.author != person
        let what = isGuest ? "in it from the beginning" : Self.words(reason.kind)
        return Fact(
            about: title, what: what + Self.words(reason.outcome),
            source: author.map { "by \($0)" } ?? "by device \(reason.device.short)",
            since: reason.wallClock)
    }

    private static func words(_ member: Member, isInvited: Bool) -> String {
        isInvited
            ? "invited as \(member.role.word), and has not answered"
            : "\(member.role.word), with \(member.devices.count) of their devices"
    }

    private static func words(_ kind: OperationKind) -> String {
        switch kind {
        case .genesis: "created the group"
        case .addMember: "added"
        case .removeMember: "removed"
        case .setRole: "given another role"
        case .leave: "left"
        case .ident: "devices changed"
        case .redeem: "joined with a link"
        // Kinds are numbers, and most of them are unknown.
        default: "operation of kind \(kind.rawValue)"
        }
    }

    private static func words(_ outcome: ControlReason.Outcome) -> String {
        switch outcome {
        case .holds: ""
        case .rejected: ", which was never valid: its author could not do that"
        case .void(.rightIsVoid, _): ", which is not valid: its author's right is not"
        case .void(.revokedUnseen, _):
            ", which is not valid: its author had been removed without knowing it"
        case .void(.inviteUsedUp, _): ", which is not valid: the link was used up"
        case .void(.unproven, _): ", which is not valid: their identity does not confirm it"
        }
    }

    // MARK: A device

    private func why(device: DeviceID, in spaces: [SpaceRecord]) throws -> ExplanationView {
        let owner = try owner(of: device)
        let isOwn = owner == ownPerson
        var facts = try owner.map { try identityFacts(device, of: $0) } ?? []
        if device == core.node.device {
            facts.append(Fact(about: "link", what: "is this device", source: "this node"))
        } else if core.linkedPeers.contains(where: { $0.device == device }) {
            facts.append(Fact(about: "link", what: "open now", source: "this node"))
        } else {
            let seen = try NodeCore.lastSeen(device, in: store)
            facts.append(
                Fact(
                    about: "link", what: seen == nil ? "never seen" : "not open, last seen",
                    source: "this node", since: seen))
        }
        for space in spaces {
            guard let roster = try roster(of: space), let person = roster.person(of: device) else {
                continue
            }
            facts.append(
                Fact(
                    about: try whyTitle(of: space, roster),
                    what: roster.contains(device)
                        ? "in it, as a device of \(try name(of: person, in: roster))"
                        : "was in it, and no longer is", source: "the group's operations"))
        }
        let whose = try owner.map { isOwn ? "your own" : "a device of \(try name(of: $0))" }
        return ExplanationView(title: "\(device.short), \(whose ?? "a device")", facts: facts)
    }

    private func owner(of device: DeviceID) throws -> PersonID? {
        if core.node.log.certificate(of: device) != nil { return ownPerson }
        for space in try store.spaces() {
            if let person = try roster(of: space)?.person(of: device) { return person }
        }
        return nil
    }

    /// What a person's signed list of devices says about one of them.
    private func identityFacts(_ device: DeviceID, of person: PersonID) throws -> [Fact] {
        var facts: [Fact] = []
        let log = try person == ownPerson ? core.node.log : identity(of: person)
        let source = "signed list of \(person == ownPerson ? "your" : "their") devices"
        if log.certificate(of: device) != nil {
            let what = log.devices.count == 1 ? "the only one" : "one of \(log.devices.count)"
            facts.append(Fact(about: "device", what: "active, \(what)", source: source))
        } else if log.revoked.contains(device) {
            facts.append(Fact(about: "device", what: "revoked for good", source: source))
        } else {
            facts.append(Fact(about: "device", what: "not in it", source: source))
        }
        if try forkedDevices().union(log.forked).contains(device) {
            facts.append(
                Fact(
                    about: "two histories",
                    what: "it contradicts itself: somebody else may have its key"
                        + (try forkedSpaces(of: device)),
                    source: "proven by two signatures"))
        }
        return facts
    }

    /// Where a device wrote two histories, as the end of a sentence; empty where no conversation shows it.
    private func forkedSpaces(of device: DeviceID) throws -> String {
        var names: [String] = []
        for space in try store.spaces() where space.kind != .own {
            let isForked = try store.logs(in: space.number).contains {
                $0.device == device && $0.fork != nil
            }
            guard isForked, let roster = try roster(of: space) else { continue }
            names.append(try title(of: space, roster))
        }
        return names.isEmpty ? "" : "; seen in \(VisibleName.list(names.sorted()))"
    }

    // MARK: A conversation

    private func why(conversation space: SpaceRecord) throws -> ExplanationView {
        let view = try view(of: space)
        guard let roster = try roster(of: space) else { throw NodeError(.unknownConversation) }
        let began = try events(of: space).first { $0.change == "founded" }
        var facts = [
            Fact(
                about: "began", what: view.kind == "group" ? "a group" : "between two",
                source: began.map { "by \($0.author ?? $0.name)" } ?? "its first operation",
                since: began?.time),
            Fact(
                about: "in it",
                what: counted(roster.members.count, "person", "people")
                    + " with "
                    + counted(roster.devices.count, "device"),
                source: "the conversation's operations"),
        ]
        if let epoch = try epoch(of: space) {
            facts.append(
                Fact(
                    about: "keys", what: Self.words(epoch),
                    source: epoch.author.map { "by \($0), \(epoch.device?.prefix(8) ?? "")" }
                        ?? "this node", since: epoch.madeAt))
        } else {
            facts.append(
                Fact(
                    about: "keys", what: "none: this device is not in it",
                    source: "the conversation's operations"))
        }
        if core.node.isRevoked {
            facts.append(
                Fact(
                    about: "this device",
                    what: "revoked: it learns no more of this conversation, and may know less "
                        + "than your other devices", source: "signed list of your devices"))
        }
        facts += try self.facts(ofLeaving: space, roster)
        let title = try whyTitle(of: space, roster)
        return ExplanationView(title: "\(title), \(space.id.short)", facts: facts)
    }

    private static func words(_ epoch: EpochView) -> String {
        if epoch.id == nil {
            return
                "none yet for its present members: they are made with the next message"
        }
        return epoch.isFaulted
            ? "a device could not open them: new ones are made soon" : "for all its present members"
    }

    func name(ofDevice device: DeviceID, _ roster: Roster?) throws -> String {
        let person = roster?.person(of: device)
        return "\(try person.map { try name(of: $0, in: roster) } ?? "?"), \(device.short)"
    }
}
