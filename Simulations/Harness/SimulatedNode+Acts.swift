import ParleyConversation
import ParleyLedger
public import ParleyNodeCore
import ParleySignalling
public import ParleyWire

/// What a person does. A message is named by its text: the newest that reads so is meant.
///
/// Each throws ``WorldError``, and then nothing was done, except where the process died over it
/// (``WorldError/Reason/died``): then it may have been.
extension SimulatedNode {
    /// Writes a message.
    public func type(_ text: String, in space: SpaceID) throws {
        try act(
            in: space, "write \(quoted(text))",
            .send(space, [TextMessage(text: text)], replyingTo: nil))
    }

    /// Writes an answer to a message.
    public func reply(_ text: String, to original: String, in space: SpaceID) throws {
        let target = try message(original, in: space)
        try act(
            in: space, "answer \(quoted(original))",
            .send(space, [TextMessage(text: text)], replyingTo: target.number))
    }

    /// Gives an own message another text.
    public func edit(_ original: String, to text: String, in space: SpaceID) throws {
        let target = try message(original, in: space)
        try act(in: space, "edit \(quoted(original))", .edit(target.number, text: text))
    }

    /// Takes an own message back, for everyone.
    public func delete(_ text: String, in space: SpaceID) throws {
        let target = try message(text, in: space)
        try act(in: space, "delete \(quoted(text))", .delete(target.number))
    }

    /// Adds a reaction to a message, or takes it back.
    public func react(
        _ emoji: String, to text: String, in space: SpaceID, isOn: Bool = true
    ) throws {
        let target = try message(text, in: space)
        try act(
            in: space, "react to \(quoted(text))",
            .react(target.number, Reaction(emoji: emoji, isOn: isOn)))
    }

    /// Reads all that is there.
    public func read(_ space: SpaceID) throws { try read(space, limit: .max) }

    /// Reads the newest page, and nothing above it.
    public func read(_ space: SpaceID, limit: Int) throws {
        let page = try messages(in: space, limit: limit)
        try act(in: space, "read", .markRead(space, ShownMessages(page.map(\.number))))
    }

    /// Gives the conversation another name.
    public func rename(_ space: SpaceID, to name: String) throws {
        try act(in: space, "rename it", .rename(space, name))
    }

    /// Carries out any command of the node.
    @discardableResult
    public func perform(_ command: Command) throws -> CommandReply {
        try carryOut(command, "do that")
    }

    private func act(in space: SpaceID, _ deed: String, _ command: Command) throws {
        try checkMembership(of: space)
        _ = try carryOut(command, deed + " in " + (world?.label(of: space) ?? "a conversation"))
    }

    private func message(_ text: String, in space: SpaceID) throws -> Message {
        let home = try home()
        let found = try messages(in: space).last { $0.text == text }
        guard let found else {
            throw home.error(
                .unknownMessage,
                "\(name) sees no message \(quoted(text)) in \(home.label(of: space))")
        }
        return found
    }

    private func quoted(_ text: String) -> String {
        "\"\(text.count > 40 ? text.prefix(40) + "…" : text)\""
    }
}

extension SimulatedNode {
    /// The world that the node lives in.
    func home() throws(WorldError) -> World {
        guard let world else {
            throw WorldError(
                reason: .stranger,
                sentence: "the world of \(name) is gone: keep it as long as its nodes", seed: 0,
                time: .zero)
        }
        return world
    }

    /// Carries out a command, and says in words why it could not.
    func carryOut(_ command: Command, _ deed: String) throws(WorldError) -> CommandReply {
        let home = try home()
        try home.throwMistake()
        guard !isDown else {
            throw home.error(.down, "\(name) cannot \(deed): the process is not running")
        }
        let (life, failures) = (life, failedStepCount)
        do {
            return try home.perform(command, on: self)
        } catch {
            if self.life != life {
                throw home.error(.died, "\(name) died and may not have got to \(deed)")
            }
            if failedStepCount != failures {
                throw home.error(.diskFailed, "\(name) could not \(deed): the disk failed")
            }
            throw home.error(.refused, "\(name) may not \(deed): \(error.words)")
        }
    }

    /// Throws where a test asks a node about a conversation that it was left out of.
    func checkMembership(of space: SpaceID) throws(WorldError) {
        let home = try home()
        try home.throwMistake()
        guard let known = home.conversations[space] else { return }
        guard known.members.contains(identity.person) else {
            throw home.error(.notAMember, "\(name) is not in \(known.name)")
        }
    }

    /// Whether it has heard of the conversation and knows who is in it.
    func knows(_ space: SpaceID) throws -> Bool { try digest(of: space) != nil }
}

extension CommandRefusal {
    /// Why, in words.
    var words: String {
        switch self {
        case .unknownConversation: "it has not heard of the conversation"
        case .unknownMessage: "it has no such message"
        case .unknownPerson: "the person is no contact"
        case .notAllowed: "it is not allowed to"
        case .notAuthor: "somebody else wrote it"
        case .notMember: "it is not in the conversation any more"
        case .notMemberYet: "the conversation has not heard of the device yet"
        case .invited: "its person was invited and has not accepted"
        case .notInvited: "its person was not invited, or has answered"
        case .stillMember: "its person is in the conversation"
        case .untold: "nobody has heard that its person left"
        case .noSuchMember: "the other is not in the conversation"
        case .alreadyMember: "the other is in the conversation already"
        case .outranked: "the other stands no lower"
        case .lastOwner: "nobody else owns the conversation"
        case .directConversation: "a conversation of two keeps the two"
        case .unchanged: "it is so already"
        case .tooLong(let count, let limit): "\(count) bytes are more than \(limit)"
        case .empty: "there is nothing in it"
        case .noEmoji: "a reaction is one emoji"
        case .deleted: "the message was deleted"
        case .disappears: "the message disappears"
        case .disappeared: "the message has disappeared"
        case .impossibleLifetime(let limit): "messages stay \(limit) s at most"
        case .noFile: "the message brings no file"
        case .tooManyFiles(let limit): "a message brings \(limit) files at most"
        case .fileNotHeld: "the file is not all there"
        case .together(let objection): "of what is done together: \(objection)"
        case .ownInvite: "the invite is its own"
        case .expired: "the invite has expired"
        case .unknownInvite: "it gave out no such invite"
        case .tooManyUses(let limit): "an invite has 1 to \(limit) uses"
        case .tooManyInvites(let limit): "\(limit) invites are open"
        case .notAsked: "the person did not ask"
        case .blocked: "the person is blocked"
        case .tooManyMembers(let limit): "there may be \(limit) members at most"
        case .tooManyRelays(let limit): "devices use \(limit) relays at most"
        case .tooManyServers(let limit): "a person uses \(limit) servers at most"
        case .tooManyTickets(let limit): "\(limit) tickets are kept for a relay at most"
        case .unknownDevice: "the person has no such device"
        case .ownDevice: "a device does not revoke itself"
        case .needsRecoveryCode: "only the recovery code may revoke that device"
        case .wrongRecoveryCode: "the recovery code is another person's"
        case .tooManyDevices(let limit): "an identity takes \(limit) changes at most"
        case .revoked: "its person has revoked it"
        case .hiddenMark(_): "the name holds a mark that nobody sees"
        case .identifierAsName: "the name looks like an identifier"
        case .ownWordAsName: "the name is a word by which the program means somebody"
        case .impossibleTime: "no clock shows such a time"
        case .rejoining: "it must first take back what it forgot"
        case .awaitsOwn: "the conversation waits for what it once wrote there"
        case .ownFork: "it wrote two histories, and nobody takes more from it"
        case .tooManyChanges(let limit): "its control log takes \(limit) operations at most"
        case .call(.unknownCall): "there is no such call"
        case .call(.busy): "it is in another call"
        case .call(.inIt): "it is in that call"
        case .call(.nobody): "there is nobody to call"
        case .call(.goesOn(_)): "a call goes on there already"
        }
    }
}
