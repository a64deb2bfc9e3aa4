import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// The meaning of an argument: people, conversations, invitations, devices, invites, relays.
/// Commands and the local API both come here, and ``Resolver`` decides.
extension Views {
    // MARK: People

    /// The person that an argument means: a contact, else somebody in a conversation.
    func person(_ argument: String) throws -> PersonID {
        try person(argument, among: everyone())
    }

    /// The one of these people that an argument means.
    func person(_ argument: String, among persons: [PersonID]) throws -> PersonID {
        var resolver = Resolver<PersonID>(argument)
        for person in persons {
            resolver.consider(
                person, names: [try bareName(of: person), try name(of: person)],
                identifiers: [person.description])
        }
        if let person = try resolver.thing() { return person }
        if let person = try person(callingThemselves: argument, among: persons) { return person }
        let refusal = NodeError(.unknownPerson)
        throw NodeError(
            refusal.code, "“\(argument)” is not a contact of yours.", hint: refusal.hint)
    }

    /// The one of these people who calls themselves so, where one calls them otherwise. To be asked once nothing
    /// else bears the name: what others call themselves takes no name that one gave.
    func person(
        callingThemselves name: String, among persons: [PersonID]
    ) throws -> PersonID? {
        var resolver = Resolver<PersonID>(name, isName: true)
        for person in persons {
            let name = try CardReader.name(of: person, store)
            guard !VisibleName.isBlank(name) else { continue }
            resolver.consider(
                person, name: VisibleName.shownPerson(name), identifier: person.description)
        }
        return try resolver.thing()
    }

    /// The person that an argument means of those in a conversation, where it means one of them; else
    /// of all.
    func member(_ argument: String, of space: SpaceRecord) throws -> PersonID {
        let members = try roster(of: space)?.members.map(\.person) ?? []
        do {
            return try person(argument, among: members.filter { $0 != ownPerson })
        } catch let error as NodeError where error.code == "unknown-person" {
            return try person(argument)
        }
    }

    /// Everybody except this person whose name this node knows.
    func everyone() throws -> [PersonID] {
        var persons = Set(
            try contacts().compactMap { bytes(hex: $0.person).flatMap { PersonID($0) } })
        for space in try store.spaces() where space.kind != .own {
            for member in try roster(of: space)?.members ?? [] where member.person != ownPerson {
                persons.insert(member.person)
            }
        }
        return persons.sorted()
    }

    // MARK: Conversations

    /// What a text for a conversation can mean.
    private enum Addressee {
        case conversation(SpaceRecord)
        /// A person without one yet.
        case person(PersonID)
        /// A group that one was added to and has not accepted.
        case invitation
        /// One that was declined, or taken back.
        case formerInvitation(SpaceID, String)
    }

    /// The conversation that an argument means: its name, its identifier or the start of that; one
    /// between two also by the other person's.
    ///
    /// Throws if it means a person without one, or an invitation.
    func conversation(_ argument: String) throws -> SpaceRecord {
        var resolver = Resolver<Addressee>(argument)
        try considerConversations(in: &resolver)
        let addressee = try resolver.thing()
        if addressee == nil,
            let person = try person(callingThemselves: argument, among: everyone())
        {
            return try conversation(person.description)
        }
        if addressee == nil, let renamed = try renamed(argument) { throw renamed }
        return try conversation(addressee, named: argument)
    }

    /// That a group has another name than this one now; nil where none had it.
    private func renamed(_ former: String) throws -> NodeError? {
        let unaccepted = try unaccepted()
        var names: [String] = []
        for space in try store.spaces() where space.kind == .group {
            guard !unaccepted.contains(space.id), let roster = try roster(of: space),
                try Overview.namesEver(of: space.number, in: store).contains(where: {
                    VisibleName.shown($0) == former
                })
            else { continue }
            names.append(try title(of: space, roster))
        }
        return names.isEmpty ? nil : NodeError(former, isCalledNow: names)
    }

    /// The conversation that an argument means, among all that are here, including declined ones;
    /// and its name.
    func deletable(_ argument: String) throws -> (space: SpaceID, name: String) {
        var resolver = Resolver<Addressee>(argument)
        try considerConversations(in: &resolver)
        for space in try store.spaces() {
            guard let invitation = try Invitation.into(space.id, in: store),
                invitation.state == .over
            else { continue }
            let name = VisibleName.shown(invitation.name)
            resolver.consider(
                .formerInvitation(space.id, name), name: name, identifier: space.id.description)
        }
        let addressee = try resolver.thing()
        if case .formerInvitation(let space, let name) = addressee { return (space, name) }
        let space = try conversation(addressee, named: argument)
        return (space.id, try roster(of: space).map { try title(of: space, $0) } ?? "")
    }

    private func considerConversations(in resolver: inout Resolver<Addressee>) throws {
        var met: Set<PersonID> = []
        let unaccepted = try unaccepted()
        for space in try store.spaces() where space.kind != .own {
            guard !unaccepted.contains(space.id), let roster = try roster(of: space) else {
                continue
            }
            var identifiers: [String] = []
            if space.kind == .direct, try successor(of: space, roster) == nil {
                for member in roster.members where member.person != ownPerson {
                    met.insert(member.person)
                    identifiers.append(member.person.description)
                }
            }
            // What lists of contacts show tells persons apart.
            identifiers.append(space.id.description)
            resolver.consider(
                .conversation(space), names: try titles(of: space, roster),
                identifiers: identifiers)
        }
        // Programs say identifiers, and need not wait for all contacts to be looked at.
        if resolver.isIdentified { return }
        for (person, isAsking) in try expected() where !met.contains(person) {
            resolver.consider(
                .person(person), names: [try bareName(of: person), try name(of: person)],
                identifiers: [person.description], yields: isAsking)
        }
        for (space, invitation) in try invitationsShown()
        where unaccepted.contains(space) {
            resolver.consider(
                .invitation, names: [VisibleName.shown(invitation.name)],
                identifiers: [space.description], yields: true)
        }
    }

    private func conversation(
        _ addressee: Addressee?, named argument: String
    ) throws -> SpaceRecord {
        switch addressee {
        case .conversation(let space): return space
        case .person(let person):
            let contact = try contacts().first { $0.person == person.description }
            throw contact.map { NodeError(notMet: $0) } ?? .unknownConversation(argument)
        case .invitation: throw NodeError(.invited)
        case nil, .formerInvitation: throw NodeError.unknownConversation(argument)
        }
    }

    /// Groups that one was added to and has not accepted: they are in no list of conversations. One that
    /// one was in before, of which something is here to read, is.
    func unaccepted() throws -> Set<SpaceID> {
        Set(
            try store.values(.invitation).compactMap { SpaceID($0.key) }.filter {
                try !isHeld($0)
            })
    }

    /// Whether more is here of a space than its control log: nobody else's invitation brings that.
    private func isHeld(_ id: SpaceID) throws -> Bool {
        guard let space = try store.space(id) else { return false }
        return try store.logs(in: space.number).contains {
            $0.lane != .control && $0.heldCount > 0
        }
    }

    /// The group that an argument means, of those that wait for an answer.
    func invited(_ argument: String) throws -> SpaceID {
        var resolver = Resolver<SpaceID>(argument)
        for (space, invitation) in try invitationsShown() {
            resolver.consider(
                space, name: VisibleName.shown(invitation.name), identifier: space.description)
        }
        guard let space = try resolver.thing() else { throw NodeError(.notInvited) }
        return space
    }

    // MARK: Devices

    /// The own device that an argument means: its name, or the start of its identifier.
    func device(_ argument: String) throws -> DeviceID {
        var resolver = Resolver<DeviceID?>(argument)
        for device in try devices() {
            // One that is revoked may have left its name to another.
            resolver.consider(
                bytes(hex: device.device).flatMap { DeviceID($0) },
                name: device.state == "revoked" ? "" : device.name, identifier: device.device)
        }
        let found = try resolver.thing() ?? formerDevice(argument)
        guard let device = found else { throw NodeError(.unknownDevice) }
        if core.node.log.revoked.contains(device) {
            throw NodeError(
                "revoked-device", "That device was already revoked: \(device.short).",
                hint: "`parley device list` shows those that are active.")
        }
        return device
    }

    /// A revoked device by its name, where no other has that.
    private func formerDevice(_ argument: String) throws -> DeviceID? {
        var resolver = Resolver<DeviceID?>(argument)
        for device in try devices() where device.state == "revoked" {
            resolver.consider(
                bytes(hex: device.device).flatMap { DeviceID($0) }, name: device.name,
                identifier: device.device)
        }
        return try resolver.thing() ?? nil
    }

    // MARK: Invites and relays

    /// What ends the invite that an argument means: its identifier, or the start of that.
    func revocation(of argument: String, at wall: UInt64) throws -> Command {
        var resolver = Resolver<Command>(argument)
        for invite in try OpenInvite.all(at: wall, store) {
            resolver.consider(
                .revokeInvite(invite.number), name: "",
                identifier: LogTag(invite.number).description)
        }
        for found in try groupInvites() {
            resolver.consider(
                .endGroupInvite(found.space.id, found.invite.operation), name: "",
                identifier: found.invite.operation.description)
        }
        guard let command = try resolver.thing() else {
            throw core.node.log.devices.count > 1
                ? NodeError.inviteElsewhere : NodeError(.unknownInvite)
        }
        return command
    }

    /// The relay in use that an argument means: one of its addresses, or the start of its key.
    func relay(_ argument: String) throws -> RelayChoice {
        var resolver = Resolver<RelayChoice>(argument)
        for choice in try choices() {
            resolver.consider(
                choice, names: choice.addresses, identifiers: [choice.relay.description])
        }
        guard let relay = try resolver.thing() else {
            throw NodeError(
                "unknown-relay", "None of your relays matches “\(argument)”.",
                hint: "`parley relays list` shows them.")
        }
        return relay
    }

    // MARK: Messages

    /// The operation that a message began with, or in lane 3 or 4 something that people do together.
    func message(
        _ reference: MessageReference, in lane: Lane = .content
    ) throws -> OperationNumber {
        if let number = try number(reference, in: [lane]) {
            if lane == .content, let other = try notMessage(number) { throw other }
            return number
        }
        if lane == .content, let number = try number(reference, in: SharedWord.lanes),
            let other = try notMessage(number)
        {
            throw other
        }
        throw NodeError(.unknownMessage)
    }

    /// The poll, the decision or the thing to be done that one wants to be reminded of.
    func remindable(_ reference: MessageReference) throws -> OperationNumber {
        guard let number = try number(reference, in: SharedWord.lanes + [.content]),
            let kind = try store.operation(number)?.operation.header.kind
        else { throw NodeError(together: .unknownItem) }
        switch kind {
        case .poll, .item, .decision: return number
        case .note:
            throw NodeError(
                "not-an-item", "#\(number.rawValue) is not an action item, but a note.",
                hint: "`parley note show \(number.rawValue)` shows it.")
        case .text, .disappearingText:
            throw NodeError(
                "not-an-item", "#\(number.rawValue) is not an action item, but a message.",
                hint: "`parley remind --message \(number.rawValue)` reminds of it.")
        default: throw NodeError(together: .unknownItem)
        }
    }

    /// The operation that has this number, or in one of these lanes this identifier; nil where none has.
    private func number(
        _ reference: MessageReference, in lanes: [Lane]
    ) throws -> OperationNumber? {
        if let number = reference.number.map(OperationNumber.init) { return number }
        var resolver = Resolver<OperationNumber>(reference.text)
        for lane in lanes { try consider(reference, of: lane, in: &resolver) { $0 } }
        return try resolver.thing()
    }

    /// That a number is one of what people do together, where it is: that stands between messages, or in
    /// lists, with numbers that look like theirs.
    private func notMessage(_ number: OperationNumber) throws -> NodeError? {
        let (what, command): (String, String)
        let stored = try store.operation(number)
        if let stored, hasDisappeared(stored) { return NodeError(.disappeared) }
        switch stored?.operation.header.kind {
        case .poll: (what, command) = ("a poll", "poll")
        case .item: (what, command) = ("an action item", "action")
        case .note: (what, command) = ("a note", "note")
        case .decision: (what, command) = ("a decision", "decision")
        default: return nil
        }
        return NodeError(
            "not-a-message", "#\(number.rawValue) is not a message, but \(what).",
            hint: "`parley \(command) show \(number.rawValue)` shows it.")
    }

    /// Looks at the messages whose identifier a text is, or the start of its tag with their place.
    func consider<Thing>(
        _ reference: MessageReference, of lane: Lane = .content,
        in resolver: inout Resolver<Thing>, as thing: (OperationNumber) -> Thing
    ) throws {
        guard let (tag, sequence, check) = reference.identifier else { return }
        for space in try store.spaces() where space.kind != .own {
            for log in try store.logs(in: space.number)
            where log.lane == lane && log.tag.description.hasPrefix(tag) {
                guard let stored = try store.operation(at: sequence, in: log.number),
                    stored.id.check.description.hasPrefix(check)
                else { continue }
                resolver.consider(
                    thing(stored.number), names: ["#\(stored.number.rawValue)"],
                    identifiers: ["\(log.tag)-\(sequence)-\(stored.id.check)", reference.text])
            }
        }
    }

    /// The name of a message that another answers, and the message if it is here. A message at its
    /// place with another check is of another branch of its log, and was not answered.
    func answered(
        _ message: OperationReference, in space: SpaceNumber
    ) throws -> (id: String, stored: StoredOperation?) {
        guard let log = try store.log(message.tag, in: space),
            let stored = try store.operation(at: message.sequence, in: log.number)
        else { return (try identifier(message, in: space), nil) }
        guard stored.id.check == message.check else {
            return ("\(message.tag)-\(message.sequence)-\(message.check)", nil)
        }
        return (try identifier(message, in: space), stored)
    }

    /// The name of a message that is the same on all devices.
    func identifier(_ message: OperationReference, in space: SpaceNumber) throws -> String {
        let fork = try store.log(message.tag, in: space)?.fork
        let isForked = fork.map { $0.sequence <= message.sequence } ?? false
        return "\(message.tag)-\(message.sequence)" + (isForked ? "-\(message.check)" : "")
    }
}
