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

    /// Why a message (`12` or `#12`), a person or a device stands as it does.
    func why(_ argument: String, in conversation: String?) throws -> ExplanationView {
        let digits = argument.hasPrefix("#") ? argument.dropFirst() : argument[...]
        if digits.count < 16, let number = Int64(digits), number > 0 {
            return try why(message: OperationNumber(number))
        }
        let spaces = try conversation.map { [try self.conversation($0)] } ?? groups()
        if let device = try deviceOfAnybody(argument) { return try why(device: device, in: spaces) }
        return try why(person: person(argument), in: spaces)
    }

    private func groups() throws -> [SpaceRecord] {
        try store.spaces().filter { $0.kind == .group }
    }

    // MARK: A message

    private func why(message number: OperationNumber) throws -> ExplanationView {
        guard let found = try Explanation.message(number, seenBy: core.node, in: store),
            let stored = try store.operation(number), let log = try store.log(stored.log),
            let space = try store.space(log.space), space.kind != .own,
            stored.operation.header.kind == .text
        else { throw NodeError(.unknownMessage) }
        let roster = try roster(of: space)
        var facts: [Fact] = []
        let title: String
        switch found.standing {
        case .effective(let author):
            let name = try name(of: author.person, in: roster)
            title = "#\(number.rawValue) counts: \(name) could write it, as \(author.role.word)"
        case .void(let reason):
            title = "#\(number.rawValue) does not count: \(Self.words(reason))"
        }
        facts.append(
            Fact(
                about: "written by", what: try name(ofDevice: found.device, roster),
                source: "signed by that device", since: stored.operation.header.wallClock))
        if found.isForked {
            facts.append(
                Fact(
                    about: "two histories", what: "its device wrote another at this place or below",
                    source: "proven by two signatures"))
        }
        for device in found.devices {
            let (what, source) = Self.words(device.state, isMember: device.isMember)
            facts.append(
                Fact(
                    about: try name(ofDevice: device.device, roster), what: what, source: source,
                    since: device.since))
        }
        return ExplanationView(title: title, facts: facts)
    }

    private static func words(_ reason: VoidReason) -> String {
        switch reason {
        case .unknownView: "its author names changes of the group that nobody has"
        case .otherAuthority: "it claims another authority than its author had seen"
        case .outsider: "its author was not in the group, by what they had seen"
        case .notAdmitted: "that its author came into the group does not hold"
        case .revoked: "its author was removed, and no remover had seen so much of them"
        }
    }

    private static func words(
        _ state: DeviceExplanation.State, isMember: Bool
    ) -> (String, String) {
        switch state {
        case .unknown: (isMember ? "not known to have it" : "was removed", "nothing was heard")
        case .beforeItCame: ("not for it: it came later", "the group's rule for history")
        case .saved: ("saved", "this device's own disk")
        case .acknowledged: ("delivered", "it said so on a link")
        case .delivered: ("delivered", "it said so in a receipt")
        case .read: ("read", "its person said so in a receipt")
        }
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
        }
        for space in spaces {
            let found = try Explanation.member(person, of: space, in: store)
            guard found.member != nil || !found.reasons.isEmpty else { continue }
            let title = try view(of: space).name
            facts.append(
                Fact(
                    about: title,
                    what: found.member.map {
                        "\($0.role.word), with \($0.devices.count) of their devices"
                    } ?? "not in it", source: "the group's operations"))
            for reason in found.reasons { facts.append(try fact(reason, in: title, space)) }
        }
        return ExplanationView(title: "\(try name(of: person)), \(person.short)", facts: facts)
    }

    private func fact(
        _ reason: ControlReason, in title: String, _ space: SpaceRecord
    ) throws -> Fact {
        let author = try reason.author.map { try name(of: $0, in: roster(of: space)) }
        return Fact(
            about: title, what: Self.words(reason.kind) + Self.words(reason.outcome),
            source: author.map { "by \($0)" } ?? "by device \(reason.device.short)",
            since: reason.wallClock)
    }

    private static func words(_ kind: OperationKind) -> String {
        switch kind {
        case .genesis: "began the group"
        case .addMember: "added"
        case .removeMember: "removed"
        case .setRole: "given another role"
        case .leave: "left"
        case .ident: "devices changed"
        case .redeem: "came by a link"
        // Kinds are numbers, and most of them are unknown.
        default: "operation of kind \(kind.rawValue)"
        }
    }

    private static func words(_ outcome: ControlReason.Outcome) -> String {
        switch outcome {
        case .holds: ""
        case .rejected: ", which its author could not do: it never held"
        case .void(.rightIsVoid, _): ", which does not hold: its author's right does not"
        case .void(.revokedUnseen, _):
            ", which does not hold: its author was out, and had not seen it"
        case .void(.inviteUsedUp, _): ", which does not hold: the link was used up"
        case .void(.unproven, _): ", which does not hold: their identity does not say so"
        }
    }

    // MARK: A device

    private func why(device: DeviceID, in spaces: [SpaceRecord]) throws -> ExplanationView {
        var facts: [Fact] = []
        var owner: PersonID?
        for space in spaces {
            guard let roster = try roster(of: space), let person = roster.person(of: device) else {
                continue
            }
            owner = person
            let isIn = roster.contains(device)
            facts.append(
                Fact(
                    about: try view(of: space).name,
                    what: isIn
                        ? "in it, as a device of \(try name(of: person, in: roster))"
                        : "was in it, and is out", source: "the group's operations"))
        }
        if try store.forks().contains(where: { $0.proof.left.device == device }) {
            facts.append(
                Fact(
                    about: "two histories",
                    what: "it contradicts itself: its key may be in two hands",
                    source: "proven by two signatures"))
        }
        if core.linkedPeers.contains(where: { $0.device == device }) {
            facts.append(Fact(about: "link", what: "open now", source: "this node"))
        }
        let whose = try owner.map { "a device of \(try name(of: $0))" } ?? "a device"
        return ExplanationView(title: "\(device.short), \(whose)", facts: facts)
    }

    /// The device whose identifier begins so, in any conversation; nil where none or several do.
    private func deviceOfAnybody(_ argument: String) throws -> DeviceID? {
        guard argument.count >= 4 else { return nil }
        var found: Set<DeviceID> = []
        for space in try store.spaces() {
            for device in try roster(of: space)?.everyDevice ?? []
            where device.description.hasPrefix(argument.lowercased()) { found.insert(device) }
        }
        return found.count == 1 ? found.first : nil
    }

    private func name(ofDevice device: DeviceID, _ roster: Roster?) throws -> String {
        let person = roster?.person(of: device)
        return "\(try person.map { try name(of: $0, in: roster) } ?? "?"), \(device.short)"
    }
}
