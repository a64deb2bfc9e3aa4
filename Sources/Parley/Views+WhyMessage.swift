import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// Explains messages: whether they count, and who has them.
extension Views {
    func why(message number: OperationNumber) throws -> ExplanationView {
        guard let found = try Explanation.message(number, seenBy: core.node, in: store),
            let stored = try store.operation(number), let log = try store.log(stored.log),
            let space = try store.space(log.space), space.kind != .own,
            Self.whyKinds.contains(stored.operation.header.kind)
        else { throw NodeError(.unknownMessage) }
        // Of one that was deleted it is told who has heard of that.
        if hasDisappeared(stored), found.deletion == nil { throw NodeError(.disappeared) }
        let roster = try roster(of: space)
        let reference = found.reference
        let id = try identifier(reference, in: space.number)
        var facts = [Fact(about: "identifier", what: id, source: "the same on every device")]
        let title: String
        switch found.standing {
        case .effective(let author):
            let name = try name(of: author.person, in: roster)
            let act = Merge.act(of: stored.operation.header.kind)
            title =
                act.map(author.rights.contains) ?? true
                ? "#\(number.rawValue) counts: \(name) could write it, as \(author.role.word)"
                : "#\(number.rawValue) does not count: \(name) could not write it then, as "
                    + author.role.word
        case .void(let reason):
            title = "#\(number.rawValue) does not count: \(Self.words(reason))"
        }
        facts.append(
            Fact(
                about: "written by", what: try name(ofDevice: found.device, roster),
                source: "signed by that device", since: stored.operation.header.wallClock))
        facts += try self.facts(ofDeletionOf: found, roster)
        if found.isForked {
            facts.append(
                Fact(
                    about: "two histories",
                    what: "its device wrote another one at this place or before it",
                    source: "proven by two signatures"))
        }
        facts += try self.facts(ofHoldersOf: found, stored.operation, in: space, roster)
        facts += try self.facts(ofBlockBefore: found, roster) + self.facts(ofFilesOf: number)
        facts += try self.facts(of: found.relays, holding: "")
        facts += try self.facts(ofFullRelaysFor: found, in: space)
        facts += try self.facts(ofRelaysNotReachedFor: found)
        facts += try self.facts(ofRefusalOf: found, roster)
        for change in found.changes { facts += try self.facts(of: change, in: space, roster) }
        facts += try self.facts(ofDeedsOn: reference, in: space, roster)
        return ExplanationView(title: title, facts: facts)
    }

    /// How far each device of the others and of this person is with it.
    private func facts(
        ofHoldersOf found: MessageExplanation, _ operation: Operation, in space: SpaceRecord,
        _ roster: Roster?
    ) throws -> [Fact] {
        var facts: [Fact] = []
        for var device in found.devices {
            if device.state == .read, device.person != ownPerson, try !isShownReading(in: space) {
                (device.state, device.since) = (.delivered, nil)
            }
            var (what, source) = try words(device, in: space, roster)
            if device.state == .saved, operation.isErased {
                what = "saved, without its text"
            }
            if device.state == .acknowledged, case .void = found.standing {
                what = "has it, and shows it to nobody"
            }
            // Who marks all as read may have been given it after it was deleted.
            if device.state == .read, let deletion = found.deletion,
                device.since ?? .max >= deletion.time
            {
                what = "read, unless it was deleted by then"
            }
            // Nor do receipts say whether the words came along.
            if operation.header.kind == .disappearingText,
                [.acknowledged, .delivered].contains(device.state)
            {
                what += ", unless it had disappeared by then"
            }
            facts.append(
                Fact(
                    about: try name(ofDevice: device.device, roster), what: what, source: source,
                    since: device.since))
        }
        return facts
    }

    /// That it waits for somebody whom the person blocked.
    private func facts(
        ofBlockBefore found: MessageExplanation, _ roster: Roster?
    ) throws -> [Fact] {
        guard found.devices.contains(where: { $0.isMember && $0.state == .unknown }),
            let roster, let blocked = try blocked(in: roster)
        else { return [] }
        let name = try name(of: blocked, in: roster)
        return [
            Fact(
                about: "waits", what: "until you unblock \(name), or delete it",
                source: "noted by you")
        ]
    }

    /// Who else has the files of a message that this device sent.
    private func facts(ofFilesOf number: OperationNumber) throws -> [Fact] {
        try (message(number)?.files ?? []).compactMap { file in
            file.elsewhere.map {
                Fact(about: "file \(file.name)", what: $0, source: "what their devices said")
            }
        }
    }

    /// Who deleted it for everyone; if that was this person it is shown below, with who has heard
    /// of it.
    private func facts(
        ofDeletionOf found: MessageExplanation, _ roster: Roster?
    ) throws -> [Fact] {
        guard let deletion = found.deletion,
            !found.changes.contains(where: { $0.subject == .deletion })
        else { return [] }
        let name = try deletion.person.map { try self.name(of: $0, in: roster) }
        return [
            Fact(
                about: "deletion", what: "by \(name ?? "somebody unknown here")",
                source: "signed by their device \(deletion.device.short)", since: deletion.time)
        ]
    }

    /// Shared things are explained like messages.
    static let whyKinds: [OperationKind] = [
        .text, .disappearingText, .poll, .item, .note, .decision,
    ]

    /// What one did about something that people do together, and that waits or that nobody takes.
    private func facts(
        ofDeedsOn thing: OperationReference, in space: SpaceRecord, _ roster: Roster?
    ) throws -> [Fact] {
        guard let roster else { return [] }
        return try undelivered(in: space, roster).filter { $0.word.target == thing }.map { deed in
            let state =
                switch deed.state {
                case "removed", "revoked", "cut-off": "not delivered, and nobody will accept it"
                case "stranded": "never leaves this device, which wrote two histories"
                case "relayed": "on a relay"
                case "saved", "uninvited", "unaccepted": "saved on this device alone"
                default: "not known whether it arrived"
                }
            return Fact(
                about: deed.word.subject.rawValue, what: "by you: \(state)",
                source: "signed by your device",
                since: deed.word.operation.operation.header.wallClock)
        }
    }

    /// The newest change is shown: who has that.
    private func facts(
        of change: ChangeExplanation, in space: SpaceRecord, _ roster: Roster?
    ) throws -> [Fact] {
        let subject = change.subject.rawValue
        var facts = [
            Fact(
                about: subject, what: "by you", source: "signed by your device",
                since: change.time)
        ]
        for device in change.devices where device.state != .saved && device.state != .wrote {
            let (what, source) = try words(device, in: space, roster)
            facts.append(
                Fact(
                    about: "\(subject): \(try name(ofDevice: device.device, roster))",
                    what: what, source: source, since: device.since))
        }
        return facts + (try self.facts(of: change.relays, holding: subject + ": "))
    }

    /// Where it could not be put for want of room.
    private func facts(
        ofFullRelaysFor message: MessageExplanation, in space: SpaceRecord
    ) throws -> [Fact] {
        guard message.device == core.node.device, message.relays.isEmpty,
            message.devices.contains(where: { $0.isMember && $0.state == .unknown })
        else { return [] }
        return try core.relaysFull(of: space.number).map { relay in
            Fact(
                about: "relay \(try shownName(of: relay))",
                what: "had no room for more of this conversation; it is asked again about once "
                    + "an hour, and has room again after midnight UTC",
                source: "it said so")
        }
    }

    /// Through which relays it would go to those who are not known to have it, if these were reached.
    private func facts(ofRelaysNotReachedFor message: MessageExplanation) throws -> [Fact] {
        guard message.device == core.node.device else { return [] }
        let persons = message.devices.filter {
            $0.isMember && $0.state == .unknown && $0.person != ownPerson
        }.map(\.person)
        return try Set(persons).sorted().flatMap { try facts(ofRelaysNotReachedOf: $0) }
    }

    /// The relays of a person, where none of them is reached.
    func facts(ofRelaysNotReachedOf person: PersonID) throws -> [Fact] {
        guard person != ownPerson else { return [] }
        let relays = Set(
            try CardReader.parts(of: person, store).flatMap { $0.mailboxes.map(\.relay) }
        ).sorted()
        let failing = Set(
            core.relayStates.filter { !$0.isConnected && $0.failureCount > 0 }.map(\.relay))
        guard relays.allSatisfy(failing.contains) else { return [] }
        let name = try bareName(of: person)
        return try relays.map { relay in
            Fact(
                about: "relay \(try shownName(of: relay))",
                what: (mistakenRelays.contains(relay)
                    ? "another relay answers at its address" : "it is not reached")
                    + (relays.count == 1
                        ? ", and \(name) uses no other" : ", and no other that \(name) uses is"),
                source: "calls there failed")
        }
    }

    /// A relay by its address, where that is known, and its key: of two that had one address after each
    /// other only the key tells which it is.
    func shownName(of relay: NoiseKey) throws -> String {
        let chosen = try choices().first { $0.relay == relay }?.addresses.first
        let address = chosen ?? core.relayStates.first { $0.relay == relay }?.addresses.first
        return address.map { "\($0) (\(relay.short))" } ?? relay.short
    }

    /// Why it cannot go where the other did not take the invite that was used.
    private func facts(
        ofRefusalOf message: MessageExplanation, _ roster: Roster?
    ) throws -> [Fact] {
        guard message.device == core.node.device, let roster, let person = try refuser(in: roster)
        else { return [] }
        return try fate(of: person).map {
            Fact(about: "contact", what: $0, source: "the invite that you accepted")
        }
    }

    /// Where it waits for those who are away.
    func facts(of relays: [NoiseKey], holding subject: String) throws -> [Fact] {
        try relays.map { relay in
            let isMistaken = mistakenRelays.contains(relay)
            return Fact(
                about: "\(subject)relay \(try shownName(of: relay))",
                what: isMistaken
                    ? "kept it, encrypted; another relay answers at its address now"
                    : "keeps it, encrypted",
                source: "it said that it has stored it")
        }
    }

    private static func words(_ reason: VoidReason) -> String {
        switch reason {
        case .unknownView: "its author names changes of the group that nobody has"
        case .otherAuthority: "it claims another authority than its author had seen"
        case .outsider: "its author was not in the group, by what they had seen"
        case .notAdmitted: "its author's admission to the group is not valid"
        case .revoked:
            "its author was removed or made a reader, and whoever did that did not have it"
        }
    }

    private func words(
        _ device: DeviceExplanation, in space: SpaceRecord, _ roster: Roster?
    ) throws -> (String, String) {
        let isUntold = try roster.map { try self.isUntold(in: space, $0) } ?? false
        return switch device.state {
        case .unknown where core.node.isRevoked:
            ("not known here: this device was revoked, and learns no more", "no report")
        case .unknown where device.person != ownPerson && isUntold:
            ("not known here: you are no longer in it, and learn no more", "no report")
        case .unknown where !device.isMember:
            ("is no longer in it, and not known to have it", "no report")
        case .unknown: ("not known to have it", "no report")
        case .wrote: ("has it", "it wrote it")
        case .beforeItCame: ("not meant for it: it joined later", "the group's rule for history")
        case .saved: ("saved", "this device's own disk")
        case .acknowledged: ("delivered", "it said so over a connection")
        case .delivered: ("delivered", "it said so in a receipt")
        case .read: ("read", "its person said so in a receipt")
        }
    }
}
