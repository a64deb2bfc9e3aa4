import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyWire

/// What people want, and what came of it, as bytes: printing it would cost more than doing it.
extension Trace {
    mutating func add(_ command: Command) {
        switch command {
        case .setProfile(let name, let addresses):
            add(1)
            add(name ?? "")
            for address in addresses ?? [] { add(address) }
        case .createGroup(let name, let members):
            add(2)
            add(name)
            for member in members { add(member.bytes) }
        case .send(let space, let messages, let parent):
            add(3)
            add(messages, parent, in: space)
        case .sendOnce(let space, let messages, let parent, let key):
            add(60)
            add(messages, parent, in: space)
            add(key.bytes)
        case .edit(let number, let text, let mentions):
            add(4, number)
            add(text)
            if !mentions.isEmpty { add(mentions) }
        case .delete(let number): add(5, number)
        case .react(let number, let reaction):
            add(6, number)
            add(reaction.isOn ? 1 : 0)
            add(reaction.emoji)
        case .markRead(let space, let shown):
            add(7, space)
            for number in shown.messages { add(UInt64(bitPattern: number.rawValue)) }
        case .rename(let space, let name):
            add(8, space)
            add(name)
        case .createInvite, .revokeInvite, .acceptInvite, .requestContact, .answerContact,
            .markVerified, .createGroupInvite, .endGroupInvite, .joinGroup:
            addMeeting(command)
        case .addDevice, .revokeDevice, .renameDevice, .chooseRelays: addDevices(command)
        case .importMessages(let space, let hash, let rows, let line, let beginnings):
            add(14, space)
            for name in [hash] + beginnings { add(name.bytes) }
            add(UInt64(bitPattern: Int64(line)))
            rows.forEach { add($0) }
        case .addMember, .removeMember, .setRole, .leave, .changeSettings:
            addMembership(command)
        case .acceptInvitation(let space): add(27, space)
        case .declineInvitation(let space): add(28, space)
        case .setAdditionPolicy(let policy): add(29 << 8 | UInt64(policy.rawValue))
        case .deleteConversation(let space): add(33, space)
        case .star, .deleteForOneself, .pin, .mute, .archive, .keepFirst, .markUnread, .keepUnsent,
            .describe, .setLifetime, .say, .file(.fetch):
            addCuration(command)
        case .together(let command): add("\(command)")
        // Rare: what it is called is bytes enough.
        case .call, .act, .types, .setPresence, .setPrivacy, .setCallServer, .setAlias, .remind,
            .schedule, .removeCallServer, .noteRecoveryCheck, .setLinkPreviews, .setDisclosure,
            .setUsualLifetime, .file, .setPicture, .withdrawJoin, .report:
            add("\(command)")
        }
    }

    private mutating func add(_ row: ImportedRow) {
        add(UInt64(bitPattern: Int64(row.line)))
        add(row.message)
    }

    private mutating func add(
        _ messages: [TextMessage], _ parent: OperationNumber?, in space: SpaceID
    ) {
        add(space.bytes)
        add(UInt64(bitPattern: parent?.rawValue ?? 0))
        for message in messages { add(message) }
    }

    /// What people do with messages and conversations that are there.
    private mutating func addCuration(_ command: Command) {
        switch command {
        case .star(let number, let isOn): add(isOn ? 34 : 35, number)
        case .deleteForOneself(let number): add(64, number)
        case .file(.fetch(let number)): add(45, number)
        case .pin(let number, let isOn): add(isOn ? 36 : 37, number)
        case .mute(let space, let isOn, let until):
            add(isOn ? 10 : 9, space)
            if let until { add(until) }
        case .archive(let space, let isOn): add(isOn ? 38 : 39, space)
        case .keepFirst(let space, let isOn): add(isOn ? 61 : 62, space)
        case .keepUnsent(let space, let text):
            add(42, space)
            add(text)
        case .say(let field):
            add(44 << 8 | UInt64(field.subject.rawValue))
            add(field.value)
        case .describe(let space, let text):
            add(43, space)
            add(text)
        case .setLifetime(let space, let seconds):
            add(63, space)
            add(seconds)
        case .markUnread(let space, let isOn): add(isOn ? 40 : 41, space)
        default: break
        }
    }

    /// What people do with their own devices.
    private mutating func addDevices(_ command: Command) {
        switch command {
        case .addDevice(let request):
            add(18)
            add(request.device.bytes)
        case .revokeDevice(let device, _):
            add(19)
            add(device.bytes)
        case .renameDevice(let device, let name):
            add(20)
            add(device.bytes)
            add(name)
        case .chooseRelays(let choices, _):
            add(21)
            for choice in choices { add(choice) }
        default: break
        }
    }

    /// What changes who is in a conversation.
    private mutating func addMembership(_ command: Command) {
        switch command {
        case .addMember(let space, let person, let role):
            add(18, space)
            add(person.bytes)
            add(UInt64(role.rawValue))
        case .removeMember(let space, let person):
            add(19, space)
            add(person.bytes)
        case .setRole(let space, let person, let role):
            add(20, space)
            add(person.bytes)
            add(UInt64(role.rawValue))
        case .leave(let space, let anyway):
            add(21, space)
            if anyway { add(UInt64(1)) }
        case .changeSettings(let space, let settings):
            add(22, space)
            add(settings.draft().payload ?? [])
        default: break
        }
    }

    /// What people do to come to know each other.
    private mutating func addMeeting(_ command: Command) {
        switch command {
        case .createInvite(let secret, let expires, let uses):
            add(11)
            add(secret)
            add(expires)
            add(UInt64(bitPattern: Int64(uses)))
        case .revokeInvite(let number):
            add(15)
            add(number)
        case .requestContact(let card, let alias):
            add(16)
            add(card)
            add(alias)
        case .answerContact(let person, let answer):
            add(17)
            add(person.bytes)
            add(answer.rawValue)
        case .acceptInvite(let invite, let alias):
            add(12)
            add(invite.link)
            add(alias)
        case .markVerified(let person):
            add(13)
            add(person.bytes)
        case .createGroupInvite(let space, let secret, let role, let uses, let expires):
            add(30, space)
            add(secret)
            add(UInt64(role.rawValue))
            add(UInt64(bitPattern: Int64(uses)))
            add(expires)
        case .endGroupInvite(let space, let invite):
            add(31, space)
            add(invite.bytes)
        case .joinGroup(let link):
            add(32, link.space)
            add(link.secret)
        default: break
        }
    }

    mutating func add(_ result: Result<CommandReply, CommandRefusal>) {
        switch result {
        case .success(.done): add(1)
        case .success(.space(let number)): add(2 << 32 | UInt64(bitPattern: number.rawValue))
        case .success(.messages(let numbers)): for number in numbers { add(3, number) }
        case .success(.count(let count)): add(4 << 32 | UInt64(count))
        case .success(.freed(let count, let awaited, let onlyHere)):
            for number in [count, awaited, onlyHere] { add(7 << 32 | UInt64(number)) }
        case .success(.operation(let id)): add(id.bytes)
        case .success(.imported(let stored, let known, _)):
            add(5 << 32 | UInt64(stored))
            add(UInt64(known))
        case .success(.card(let card)): add(card)
        case .success(.call(let call)): add("\(call)")
        case .success(.kept(let count)): add(6 << 32 | UInt64(count))
        case .success(.reminder(let id)): add(id.rawValue)
        case .success(.scheduled(let id)): add(id.rawValue)
        // Rare: what it is called is bytes enough.
        case .failure(let refusal): add("\(refusal)")
        }
    }

    mutating func add(_ choice: RelayChoice) {
        add(choice.relay.bytes)
        for address in choice.addresses { add(address) }
        add(choice.until ?? 0)
    }

    mutating func add(_ reason: HangUpReason) {
        switch reason {
        case .breach(.malformed): add(1)
        case .breach(.outOfOrder): add(2)
        case .breach(.overCredit): add(3)
        case .breach(.unproven): add(4)
        case .stranger: add(5)
        case .duplicate: add(6)
        case .silent: add(7)
        case .ended: add(8)
        case .revoked: add(9)
        case .flooded: add(10)
        case .clockSet: add(11)
        }
    }

    private mutating func add(_ mentions: Mentions) {
        add(UInt64(mentions.persons.count) << 1 | (mentions.everyone ? 1 : 0))
        for mention in mentions.persons { add(mention.person.bytes) }
    }

    private mutating func add(_ message: TextMessage) {
        add(message.text)
        // Of what is not forwarded nothing: traces of before stay what they were.
        if let name = message.forwardedFrom { add(name) }
        if !message.mentions.isEmpty { add(message.mentions) }
        guard let origin = message.origin else { return add(0) }
        add(origin.author)
        add(origin.time)
    }

    private mutating func add(_ kind: UInt64, _ number: OperationNumber) {
        add(kind << 56 | UInt64(bitPattern: number.rawValue))
    }

    private mutating func add(_ kind: UInt64, _ space: SpaceID) {
        add(kind)
        add(space.bytes)
    }
}
