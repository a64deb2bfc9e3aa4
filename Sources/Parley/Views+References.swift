import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// What an argument means: people, conversations, invitations, devices, invites, relays. Commands
/// and the local API come here alike, and ``Resolver`` decides.
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
        guard let person = try resolver.thing() else {
            let refusal = NodeError(.unknownPerson)
            throw NodeError(
                refusal.code, "“\(argument)” is no contact of yours.", hint: refusal.hint)
        }
        return person
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

    /// Everybody but oneself of whom this node knows the name.
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

    /// The conversation that an argument means: its name, its identifier or the start of that; one
    /// between two also by the other person's.
    func conversation(_ argument: String) throws -> SpaceRecord {
        var resolver = Resolver<SpaceRecord>(argument)
        // Whoever invites must not make a name mean two things.
        let unaccepted = try unaccepted()
        for space in try store.spaces() where space.kind != .own {
            guard !unaccepted.contains(space.id), let roster = try roster(of: space) else {
                continue
            }
            var identifiers: [String] = []
            if space.kind == .direct, try successor(of: space, roster) == nil {
                for member in roster.members where member.person != ownPerson {
                    identifiers.append(member.person.description)
                }
            }
            // What lists of contacts show tells persons apart.
            identifiers.append(space.id.description)
            resolver.consider(
                space, names: try titles(of: space, roster), identifiers: identifiers)
        }
        if let space = try resolver.thing() { return space }
        if let contact = try notMet(argument) {
            if contact.state == "pending" {
                let start = contact.person.prefix(8)
                throw NodeError(
                    "asked", "\(contact.name) asks to be your contact, and waits for your answer.",
                    hint: "`parley contact accept \(start)` begins your conversation, "
                        + "`parley contact decline \(start)` does not.")
            }
            if contact.state == "requested" {
                throw NodeError(
                    "not-answered", "\(contact.name) has not answered your request.",
                    hint: "Your conversation begins when they accept it. Whether they decline is "
                        + "not told.")
            }
            if contact.state == "refused" { throw NodeError(refusing: contact) }
            throw NodeError(
                "not-met", "\(contact.name) and you have not met yet.",
                hint: "Your conversation begins when their card has come from the relay that the "
                    + "invite names, or when both nodes run and reach each other: leave "
                    + "`parley run` running.")
        }
        // What waits for an answer says so.
        throw NodeError((try? invited(argument)) == nil ? .unknownConversation : .invited)
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

    /// Somebody who is to be a contact, with whom there is no conversation before both have met.
    private func notMet(_ argument: String) throws -> ContactView? {
        var resolver = Resolver<ContactView>(argument)
        for contact in try contacts()
        where ["invited", "requested", "pending", "refused"].contains(contact.state) {
            resolver.consider(contact, name: contact.name, identifier: contact.person)
        }
        return try resolver.thing()
    }

    /// The group that an argument means, of those that wait for an answer.
    func invited(_ argument: String) throws -> SpaceID {
        var resolver = Resolver<SpaceID>(argument)
        for (space, invitation) in try Invitation.waiting(in: store) {
            resolver.consider(
                space, name: VisibleName.shown(invitation.name), identifier: space.description)
        }
        guard let space = try resolver.thing() else { throw NodeError(.notInvited) }
        return space
    }

    /// The conversation that an argument means, of all that are here: those that were declined, too.
    func deletable(_ argument: String) throws -> SpaceID {
        var resolver = Resolver<SpaceID>(argument)
        for space in try store.spaces() {
            guard let invitation = try Invitation.into(space.id, in: store),
                invitation.state == .over
            else { continue }
            resolver.consider(
                space.id, name: VisibleName.shown(invitation.name),
                identifier: space.id.description)
        }
        if let space = try resolver.thing() { return space }
        return try conversation(argument).id
    }

    // MARK: Devices

    /// The device of one's own that an argument means: its name, or the start of its identifier.
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
                "revoked-device", "That device was revoked already: \(device.short).",
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
        guard let command = try resolver.thing() else { throw NodeError(.unknownInvite) }
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
                "unknown-relay", "No relay in use answers to “\(argument)”.",
                hint: "`parley relays list` shows them.")
        }
        return relay
    }

    // MARK: Messages

    /// The operation that a message began with.
    func message(_ reference: MessageReference) throws -> OperationNumber {
        if let number = reference.number { return OperationNumber(number) }
        var resolver = Resolver<OperationNumber>(reference.text)
        try consider(reference, in: &resolver) { $0 }
        guard let number = try resolver.thing() else { throw NodeError(.unknownMessage) }
        return number
    }

    /// Looks at the messages whose identifier a text is, or the start of its tag with their place.
    func consider<Thing>(
        _ reference: MessageReference, in resolver: inout Resolver<Thing>,
        as thing: (OperationNumber) -> Thing
    ) throws {
        guard let (tag, sequence, check) = reference.identifier else { return }
        for space in try store.spaces() where space.kind != .own {
            for log in try store.logs(in: space.number)
            where log.lane == .content && log.tag.description.hasPrefix(tag) {
                guard let stored = try store.operation(at: sequence, in: log.number),
                    stored.id.check.description.hasPrefix(check)
                else { continue }
                resolver.consider(
                    thing(stored.number), names: ["#\(stored.number.rawValue)"],
                    identifiers: ["\(log.tag)-\(sequence)-\(stored.id.check)", reference.text])
            }
        }
    }

    /// The name of a message that another answers, and the message where it is here. What stands at
    /// its place with another check is of another branch of its log, and is not what was answered.
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
