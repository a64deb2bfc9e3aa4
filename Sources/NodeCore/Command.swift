public import ParleyConversation
public import ParleyLedger
public import ParleyRoster
public import ParleySealing
public import ParleySignalling
public import ParleyWire

/// Everything that a person or a program can want of a node.
public enum Command: Sendable {
    /// What the person is called and where this device can be reached.
    case setProfile(name: String?, addresses: [String]?)
    /// A new conversation; one with a person for a direct one exists already.
    case createGroup(name: String, members: [PersonID])
    /// Writes messages.
    case send(SpaceID, [TextMessage], replyingTo: OperationNumber?)
    /// Writes messages, unless that was done under this key: then it is answered with those.
    case sendOnce(SpaceID, [TextMessage], replyingTo: OperationNumber?, OnceKey)
    /// Gives an own message a new text.
    case edit(OperationNumber, text: String, mentions: Mentions = Mentions())
    /// Takes a message back for everyone.
    case delete(OperationNumber)
    /// Adds or takes back a reaction.
    case react(OperationNumber, Reaction)
    /// Reports a message of a group to admins of it with a text, in these conversations with each.
    case report(OperationNumber, text: String, to: [SpaceID])
    /// Pins a message for everybody in its conversation, or takes it down.
    case pin(OperationNumber, isOn: Bool)
    /// Marks a conversation as unread for the person's own devices, until something is read there, or
    /// ends that. Receipts stay as they are.
    case markUnread(SpaceID, isOn: Bool)
    /// Keeps what the person began to write in a conversation for their own devices; an empty text ends
    /// that. A message of the same words does as well.
    case keepUnsent(SpaceID, String)
    /// Puts a conversation away until something new comes, or takes it back.
    case archive(SpaceID, isOn: Bool)
    /// Has a conversation stand above others in the person's lists, or no longer.
    case keepFirst(SpaceID, isOn: Bool)
    /// Marks a message for the person's own devices, or ends that.
    case star(OperationNumber, isOn: Bool)
    /// Deletes a message for the person alone, on all of their devices. Nothing undoes it.
    case deleteForOneself(OperationNumber)
    /// Marks these messages of a conversation as read, as they were shown, and nothing else.
    case markRead(SpaceID, ShownMessages)
    /// Takes a person into a conversation.
    case addMember(SpaceID, PersonID, Role)
    /// Takes a person out of a conversation.
    case removeMember(SpaceID, PersonID)
    /// Lets a person do more or less.
    case setRole(SpaceID, PersonID, Role)
    /// Goes out of a conversation; as the last owner only where that is wanted.
    case leave(SpaceID, anyway: Bool = false)
    /// Accepts to be in a group that somebody added this person to.
    case acceptInvitation(SpaceID)
    /// Declines that: the person goes.
    case declineInvitation(SpaceID)
    /// Sets who may add this person to groups without asking.
    case setAdditionPolicy(AdditionPolicy)
    /// Deletes a conversation from this device for good: one that this person is not in, or one
    /// with somebody who is no longer a contact.
    case deleteConversation(SpaceID)
    /// Changes settings of a whole conversation; nil leaves a setting as it is.
    case changeSettings(SpaceID, SpaceSettings)
    /// Opens an invite into a group, whose key grows from this secret.
    case createGroupInvite(
        SpaceID, secret: [UInt8], role: Role, uses: UInt32, expires: UInt64)
    /// Ends an invite into a group.
    case endGroupInvite(SpaceID, OperationID)
    /// Wants to come into a group by a link.
    case joinGroup(GroupLink)
    /// Wants that no more, and forgets the link, also one that was refused.
    case withdrawJoin(SpaceID)
    /// Names a conversation.
    case rename(SpaceID, String)
    /// Publishes a profile field to the person's devices and contacts.
    case say(ProfileField)
    /// Sets the description of a group; an empty text removes it.
    case describe(SpaceID, String)
    /// Sets after how many seconds messages of a conversation disappear; 0 for never.
    case setLifetime(SpaceID, seconds: UInt64)
    /// Shows a picture of a group; an empty one ends that.
    case setPicture(SpaceID, [UInt8])
    /// Mutes a conversation, for good or until a time, or unmutes it.
    case mute(SpaceID, isOn: Bool, until: UInt64? = nil)
    /// Opens an invite with this secret.
    case createInvite(secret: [UInt8], expires: UInt64, uses: Int = 1)
    /// Ends an invite, named by ``OpenInvite/number``.
    case revokeInvite(UInt64)
    /// Takes an invite of another person.
    case acceptInvite(Invite, alias: String)
    /// Asks the person whose card this is to be a contact.
    case requestContact(card: [UInt8], alias: String)
    /// Accepts, declines, blocks or unblocks a person.
    case answerContact(PersonID, ContactAnswer)
    /// Notes that safety numbers were compared.
    case markVerified(PersonID)
    /// Calls a person so; by the name on their card where it is empty.
    case setAlias(PersonID, String)
    /// Makes a device that asked for it one of the person's. The shell has checked that it knows
    /// the secret of a link.
    case addDevice(DeviceRequest)
    /// Revokes a device of the person's for good; with the root key if this device may not.
    case revokeDevice(DeviceID, root: DeviceSigningKey?)
    /// Sets the name of one of the person's devices.
    case renameDevice(DeviceID, name: String)
    /// Uses relays for the person's devices, or uses them no more. Tickets are this device's, for the
    /// first of them.
    case chooseRelays([RelayChoice], tickets: [[UInt8]] = [])
    /// Brings in messages from elsewhere, and notes how far the file is in: under its own name, and
    /// under those of its beginnings where it was not as far.
    case importMessages(
        SpaceID, fileHash: Digest, rows: [ImportedRow], throughLine: Int,
        beginnings: [Digest] = [])
    /// Calls everybody in a conversation, sending this. Answered by ``CommandReply/call(_:)``.
    case call(SpaceID, MediaState)
    /// Performs an action on a call, or reports news from the program for sound and pictures.
    case act(CallID, CallAct)
    /// The person types in a conversation, or has stopped. To be sent at each key press: others are
    /// told every three seconds.
    case types(SpaceID, Bool)
    /// Whether the person is at this device. A node begins with offline, and then says nothing.
    case setPresence(Presence)
    /// What a person may see of this person's presence; nil for everybody without a setting of
    /// their own. It is stored.
    case setPrivacy(PresenceBook.Privacy, for: PersonID?)
    /// Uses a server for connections where no direct way exists, in place of one with its address.
    case setCallServer(TurnServer)
    /// Uses the server with this address no more.
    case removeCallServer(String)
    /// Notes that the recovery code was asked back, in Unix milliseconds.
    case noteRecoveryCheck(at: UInt64)
    /// Has messages get previews of links without being told, or no longer.
    case setLinkPreviews(Bool)
    /// Lets others in a conversation know what the person has read, or that they type, or no longer; nil for
    /// what holds of all others, which a nil for the conversation sets.
    case setDisclosure(Disclosure, isTold: Bool?, in: SpaceID?)
    /// Sets after how many seconds messages disappear in conversations that the person begins; 0 for never.
    case setUsualLifetime(seconds: UInt64)
    /// Does something that a group does together.
    case together(TogetherCommand)
    /// Does something about files of messages.
    case file(FileCommand)
    /// Does something about the person's reminders.
    case remind(ReminderCommand)
    /// Does something about messages that are sent later.
    case schedule(ScheduleCommand)
}

/// An action on a call, by the person or by the program for sound and pictures.
public enum CallAct: Equatable, Sendable {
    /// The person answers, sending this.
    case answer(MediaState)
    /// The person does not want to answer.
    case decline
    /// The person hangs up.
    case hangUp
    /// The person mutes, or switches the camera or the sharing of the screen.
    case setMedia(MediaState)
    /// The program tells something of the connection to a device.
    case news(DeviceID, MediaNews)
    /// The program cannot continue.
    case mediaFailed

    /// Its role in the call.
    var event: Call.Event {
        switch self {
        case .answer(let media): .answer(media)
        case .decline: .decline
        case .hangUp: .hangUp
        case .setMedia(let media): .setMedia(media)
        case .news(let device, let news): .news(device, news)
        case .mediaFailed: .mediaFailed
        }
    }
}

/// A message from elsewhere, and the line that it stood in.
public struct ImportedRow: Equatable, Sendable {
    /// The line, from 1.
    public var line: Int
    /// The message.
    public var message: TextMessage
    /// How many rows that say the same stand above it in its file. By that it is known whatever part of
    /// the file came before; nil where its line alone tells whether it is in.
    public var alikeAbove: Int?
    /// How many rows as long, of the same author and time, stand above it in its file. By that it is known
    /// where it was deleted; nil where it is not known then.
    public var likeLengthAbove: Int?
    /// Whether its line may still be written on.
    public var mayGrow: Bool
    /// Which message it says again that nobody accepts from another device of the person: it is left out
    /// where one of them has sent it again. Nil of any other.
    public var original: SentAgain.Original?

    /// A row with these fields.
    public init(
        line: Int, message: TextMessage, alikeAbove: Int? = nil, likeLengthAbove: Int? = nil,
        mayGrow: Bool = false, original: SentAgain.Original? = nil
    ) {
        self.original = original
        self.line = line
        self.message = message
        self.alikeAbove = alikeAbove
        self.likeLengthAbove = likeLengthAbove
        self.mayGrow = mayGrow
    }
}

/// The result of a command.
public enum CommandReply: Equatable, Sendable {
    /// It is done.
    case done
    /// The conversation that it made.
    case space(SpaceNumber)
    /// The messages that it wrote or changed.
    case messages([OperationNumber])
    /// How many of something it concerned.
    case count(Int)
    /// How many files were freed; for how many the node asked whether somebody else keeps them, so
    /// that they may be freed in a moment; and how many stay because no linked device does.
    case freed(count: Int, awaited: Int, onlyHere: Int)
    /// The operation that it wrote.
    case operation(OperationID)
    /// The person's card, with which a new device begins.
    case card([UInt8])
    /// How many rows were stored, and how many were in before.
    case imported(stored: Int, known: Int, deleted: Int = 0)
    /// The call that it began.
    case call(CallID)
    /// The reminder that it is about.
    case reminder(Reminder.ID)
    /// The message to be sent later that it is about.
    case scheduled(ScheduledMessage.ID)
    /// So many messages are kept, and written once the conversation's own past is back.
    case kept(Int)
}

/// Why a command was not carried out. Nothing changed.
public enum CommandRefusal: Error, Equatable, Sendable {
    /// There is no such conversation here.
    case unknownConversation
    /// There is no such message here.
    case unknownMessage
    /// The person is no contact.
    case unknownPerson
    /// The person may not do that here.
    case notAllowed
    /// Only the author of a message may do that, or an admin of the group where one may.
    case notAuthor(orAdmin: Bool)
    /// This person is not in the conversation any more.
    case notMember
    /// This person is in the conversation, and it has not heard of this device yet.
    case notMemberYet
    /// This person was added to the conversation, and has not accepted.
    case invited
    /// The person was not asked into that conversation, or has answered.
    case notInvited
    /// This person is in the conversation, or asked into it, or the other one is a contact.
    case stillMember
    /// Nobody has heard that this person left.
    case untold
    /// The other person is not in the conversation.
    case noSuchMember
    /// The other person is in the conversation already.
    case alreadyMember
    /// The other person stands no lower.
    case outranked
    /// Nobody with full rights would be left.
    case lastOwner
    /// A conversation of two keeps the two.
    case directConversation
    /// It would change nothing.
    case unchanged
    /// It is longer than may be sent: so many UTF-8 bytes, of at most so many.
    case tooLong(byteCount: Int, limit: Int)
    /// The text, title or name is empty, or nothing of it can be seen.
    case empty
    /// It is not one emoji.
    case noEmoji
    /// A name holds a mark that nobody sees.
    case hiddenMark(Unicode.Scalar)
    /// A name looks like the start of an identifier.
    case identifierAsName
    /// The name of a person or a device is a word by which Parley itself means somebody, or that of a
    /// conversation is one with the sign by which one calls them.
    case ownWordAsName
    /// The message was deleted.
    case deleted
    /// The message disappears: it cannot be changed, nor kept beside its conversation.
    case disappears
    /// The message has disappeared.
    case disappeared
    /// Messages stay no longer than so many seconds, if they disappear at all.
    case impossibleLifetime(limit: UInt64)
    /// The message brings no file.
    case noFile
    /// A message brings at most so many files.
    case tooManyFiles(limit: Int)
    /// A file that was to be sent is not held as a whole.
    case fileNotHeld
    /// A group cannot do this.
    case together(TogetherCommand.Objection)
    /// The invite is the person's own.
    case ownInvite
    /// The invite has expired.
    case expired
    /// There is no such invite here.
    case unknownInvite
    /// An invite has at most so many uses, and at least one.
    case tooManyUses(limit: Int)
    /// So many invites are open, and no more may be.
    case tooManyInvites(limit: Int)
    /// The person did not ask to be a contact.
    case notAsked
    /// The person is blocked.
    case blocked
    /// The group would have more members than one genesis takes.
    case tooManyMembers(limit: Int)
    /// The person has no such device, or it cannot become one.
    case unknownDevice
    /// A device does not revoke itself.
    case ownDevice
    /// Only the recovery code may revoke a device that is not junior to this one.
    case needsRecoveryCode
    /// The recovery code is another person's.
    case wrongRecoveryCode
    /// The identity log takes no more: so many operations at most.
    case tooManyDevices(limit: Int)
    /// The person has revoked this device: it writes nothing more.
    case revoked
    /// A person's devices use at most so many relays.
    case tooManyRelays(limit: Int)
    /// A person uses at most so many servers in calls.
    case tooManyServers(limit: Int)
    /// So many tickets are kept for a relay.
    case tooManyTickets(limit: Int)
    /// The original time lies after the year 2248.
    case impossibleTime
    /// This node must first recover its own operations from another device.
    case rejoining
    /// The conversation waits for operations that this device once wrote there; messages are queued
    /// meanwhile, but this cannot be queued, or the queue is full.
    case awaitsOwn
    /// This device wrote two histories, and everybody has the proof: nobody takes more from it.
    case ownFork
    /// This device has changed the conversation's members and settings so many times: nobody takes more.
    case tooManyChanges(limit: UInt64)
    /// The call cannot be begun, or is not as it would have to be.
    case call(Calls.Objection)
}

extension Command {
    /// The conversation whose roster, keys or past it changes: what cannot be kept for later.
    var governedSpace: SpaceID? {
        switch self {
        case .addMember(let space, _, _), .removeMember(let space, _), .setRole(let space, _, _),
            .leave(let space, _), .changeSettings(let space, _),
            .createGroupInvite(let space, _, _, _, _), .endGroupInvite(let space, _),
            .importMessages(let space, _, _, _, _):
            space
        default: nil
        }
    }

    /// True if it writes nothing by itself: a transient signal.
    var isVolatile: Bool {
        switch self {
        case .act, .types, .setPresence: true
        case .setProfile, .createGroup, .send, .sendOnce, .edit, .delete, .react, .markRead,
            .addMember,
            .removeMember, .setRole, .leave, .acceptInvitation, .declineInvitation,
            .setAdditionPolicy, .deleteConversation, .changeSettings, .createGroupInvite,
            .endGroupInvite,
            .joinGroup, .withdrawJoin, .rename, .describe, .setLifetime, .setPicture, .say, .mute,
            .createInvite,
            .revokeInvite,
            .acceptInvite,
            .requestContact, .answerContact, .markVerified, .addDevice, .revokeDevice,
            .renameDevice, .chooseRelays, .importMessages, .call, .setPrivacy,
            .setCallServer, .removeCallServer, .noteRecoveryCheck, .setLinkPreviews, .setDisclosure,
            .setUsualLifetime, .setAlias,
            .star, .deleteForOneself, .report, .pin, .archive, .keepFirst, .markUnread, .keepUnsent,
            .file,
            .together, .remind, .schedule:
            false
        }
    }

    /// Whether it says where this device can be found, and nothing else.
    var isOfAddresses: Bool {
        if case .setProfile(name: nil, _) = self { true } else { false }
    }
}
