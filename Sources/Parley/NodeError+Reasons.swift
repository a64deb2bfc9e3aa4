import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyStorage

extension NodeError {
    /// The message for a refused command.
    init(_ refusal: CommandRefusal) {
        switch refusal {
        case .unknownConversation:
            self.init(
                "unknown-conversation", "There is no such conversation.",
                hint: "`parley conversations` lists them.")
        case .notAllowed:
            self.init("not-allowed", "You may not do that in this conversation.")
        case .notAuthor(let orAdmin):
            self.init(
                "not-author",
                "Only who wrote it" + (orAdmin ? " or an admin of the group" : "")
                    + " may change, end or delete it.",
                hint: orAdmin
                    ? "Ask one of them; `parley group show` names the admins of a group." : nil)
        case .notMember, .notMemberYet, .invited, .notInvited, .stillMember, .untold,
            .noSuchMember, .alreadyMember, .outranked, .lastOwner, .directConversation:
            self.init(gathering: refusal)
        case .unchanged:
            self.init("unchanged", "It is so already.")
        case .unknownPerson, .ownInvite, .expired, .unknownInvite, .tooManyUses, .tooManyInvites,
            .notAsked, .blocked:
            self.init(meeting: refusal)
        case .tooManyMembers(let limit):
            self.init("too-many-members", "A group begins with at most \(limit) members.")
        case .unknownDevice, .ownDevice, .needsRecoveryCode, .wrongRecoveryCode, .tooManyDevices,
            .revoked:
            self.init(equipping: refusal)
        case .tooManyRelays(let limit):
            self.init(
                "too-many-relays", "Your devices use at most \(limit) relays at a time.",
                hint: "`parley relays remove` or `parley relays move` ends one.")
        case .tooManyServers(let limit):
            self.init(
                "too-many-servers", "At most \(limit) servers are asked.",
                hint: "`parley calls turn remove` ends the use of one.")
        case .tooManyTickets(let limit):
            self.init(
                "too-many-tickets", "At most \(limit) tickets are kept for a relay.",
                hint: "One ticket, every 30 days, is enough for a device.")
        case .unknownMessage, .tooLong, .empty, .noEmoji, .hiddenMark, .identifierAsName,
            .ownWordAsName, .deleted, .impossibleTime:
            self.init(writing: refusal)
        case .noFile, .tooManyFiles, .fileNotHeld: self.init(attaching: refusal)
        case .rejoining, .awaitsOwn, .ownFork, .tooManyChanges:
            self.init(holdingBack: refusal)
        case .call(let objection): self.init(calling: objection)
        case .together(let objection): self.init(together: objection)
        }
    }

    /// The same for messages and names.
    private init(writing refusal: CommandRefusal) {
        switch refusal {
        case .unknownMessage:
            self.init(
                "unknown-message", "There is no such message.",
                hint: "`parley read CONVERSATION` shows each message with its number.")
        case .tooLong(let byteCount, let limit):
            self.init(
                "too-long", "That is \(byteCount) bytes long; at most \(limit) can be sent.",
                hint: "Nothing was sent. Split it, or shorten it.")
        case .empty:
            self.init("empty", "There is nothing in it.")
        case .noEmoji:
            self.init(
                "no-emoji", "A reaction is one emoji.",
                hint: "Such as 👍 or ❤️; `parley reply CONVERSATION NUMBER` answers in words.")
        case .identifierAsName:
            self.init(
                "identifier-as-name",
                "That name looks like an identifier, or has one or “you” in brackets.",
                hint: "Eight hex digits and more stand for identifiers alone; leave them out.")
        case .ownWordAsName:
            self.init(
                "own-word-as-name", "That is how Parley itself says whom it means.",
                hint: "“you”, “me”, “everyone”, “nobody” and “all” are nobody's names.")
        case .hiddenMark(let mark):
            self.init(
                "hidden-mark",
                "It holds a mark that nobody sees (U+\(String(mark.value, radix: 16).uppercased())).",
                hint: "Type it anew, without what was copied along.")
        case .deleted:
            self.init("deleted", "That message was deleted.")
        case .impossibleTime:
            self.init("bad-time", "Its original time cannot be: it lies after the year 2248.")
        default: preconditionFailure("a refusal that is not about what is written")
        }
    }

    /// The same for what this device may not write because of what it wrote before.
    private init(holdingBack refusal: CommandRefusal) {
        switch refusal {
        case .rejoining:
            self.init(
                "rejoining",
                "This node fell behind what it once wrote, and writes nothing until it has it back.",
                hint: "`parley status` says whether anybody may have that. If nobody has it: "
                    + Self.movingOn)
        case .awaitsOwn:
            self.init(
                "waiting",
                "This conversation waits for what this device wrote in it before.",
                hint: "Another device holds that, and sends it when it is reached. What you write "
                    + "meanwhile is kept, up to 1,000 messages; everything else has to wait.")
        case .ownFork:
            self.init(
                "forked",
                "This device wrote two different histories, as two copies of one home do.",
                hint:
                    "Nobody takes more from it. Keep it to read, and go on with a new device: "
                    + Self.movingOn)
        case .tooManyChanges(let limit):
            self.init(
                "too-many-changes",
                "This device has changed who is in this conversation, or its rules, almost \(limit) times, "
                    + "and more than that counts nowhere.",
                hint: "Nothing was changed. Another device or another admin can still do it.")
        default: preconditionFailure("a refusal that is not about what was written before")
        }
    }

    /// The same for calls.
    private init(calling objection: Calls.Objection) {
        switch objection {
        case .unknownCall: self.init("unknown-call", "There is no such call, or it is over.")
        case .busy:
            self.init("busy", "This device is in another call.", hint: "Hang up there first.")
        case .inIt:
            self.init("busy", "This device is in that call.", hint: "`parley calls` shows it.")
        case .nobody: self.init("nobody", "There is nobody else in that conversation.")
        case .goesOn: self.init("goes-on", "A call goes on there already: answer it.")
        }
    }

    /// The same for the members of a conversation.
    private init(gathering refusal: CommandRefusal) {
        switch refusal {
        case .notMember:
            self.init(
                "not-a-member", "You are not in that conversation any more.",
                hint: "It stays here to read. Somebody in it can add you again.")
        case .notMemberYet:
            self.init(
                "not-a-member-yet", "That conversation has not heard of this device yet.",
                hint: "Wait a moment: it does as soon as another device of yours, or somebody in "
                    + "it, is reached.")
        case .invited:
            self.init(
                "invited", "You were invited into that conversation and have not accepted.",
                hint: "`parley invitations` shows who invites you; accept or decline there.")
        case .notInvited:
            self.init(
                "not-invited", "No such invitation waits for you.",
                hint: "`parley invitations` shows those that do.")
        case .stillMember:
            self.init(
                "still-member", "You are in that conversation.",
                hint: "Leave the group, decline the invitation, or block the person first.")
        case .untold:
            self.init(
                "untold", "Nobody in that group has heard yet that you left.",
                hint: "Try again when somebody of it, or a relay, was reached.")
        case .noSuchMember:
            self.init(
                "no-such-member", "That person is not in the conversation.",
                hint: "`parley conversations` shows who is.")
        case .alreadyMember:
            self.init("already-a-member", "That person is in the conversation already.")
        case .outranked:
            self.init(
                "outranked", "That person stands as high in that group as you, or higher.",
                hint: "Only who stands above them can do it.")
        case .lastOwner:
            self.init(
                "last-owner", "Nobody would be left who may do everything.",
                hint: "Make somebody else an owner first; or leave all the same, with --anyway.")
        case .directConversation:
            self.init(
                "direct", "A conversation of two keeps its people and their names.",
                hint: "Make a group.")
        default: preconditionFailure("a refusal that is not about members")
        }
    }

    /// The same for the person's own devices.
    private init(equipping refusal: CommandRefusal) {
        switch refusal {
        case .unknownDevice:
            self.init(
                "unknown-device", "You have no such device.",
                hint: "`parley device list` lists them.")
        case .ownDevice:
            self.init(
                "own-device",
                "A device does not revoke itself: nobody would hear of it from there.",
                hint: "Say it on a device of yours that is senior to it, or on any other with "
                    + "--code-file FILE and your recovery code.")
        case .needsRecoveryCode:
            self.init(
                "needs-recovery-code",
                "This device may not revoke that one, which is not its junior.",
                hint: "Say it on a senior one, or add --code-file FILE with your recovery code.")
        case .wrongRecoveryCode:
            self.init("wrong-recovery-code", "That recovery code is of another identity.")
        case .tooManyDevices(let limit):
            self.init("too-many-devices", "An identity takes at most \(limit) such changes.")
        case .revoked:
            self.init(
                "revoked", "Another device of yours has revoked this one: it writes nothing more.",
                hint: "What it holds can still be read. " + Self.linkingAnew)
        default: preconditionFailure("a refusal that is not about own devices")
        }
    }

    /// The same for other persons.
    private init(meeting refusal: CommandRefusal) {
        switch refusal {
        case .unknownPerson:
            self.init(
                "unknown-person", "That person is no contact.",
                hint: "`parley contacts` lists them; `parley invite` makes a link for a new one.")
        case .ownInvite:
            self.init("own-invite", "That is your own.", hint: "Pass it to somebody else.")
        case .expired:
            let now = MomentWords(.current).moment(SystemClock.now.wall)
            self.init(
                "expired", "That invite has expired: this device's clock says \(now).",
                hint: "If that is wrong, set it and take the invite again. If it is right, ask for "
                    + "a new one: it came too late, or the clock of who made the invite is wrong.")
        case .unknownInvite:
            self.init(
                "unknown-invite", "There is no such invite that somebody could still take.",
                hint: "`parley invite list` shows them.")
        case .tooManyUses(let limit):
            self.init("bad-uses", "An invite works from 1 to \(limit) times.")
        case .tooManyInvites(let limit):
            self.init(
                "too-many-invites", "\(limit) invites are open; there may be no more.",
                hint: "`parley invite list` shows them, `parley invite revoke` ends one.")
        case .notAsked:
            self.init(
                "not-asked", "That person does not wait for an answer.",
                hint:
                    "`parley contacts` shows who does. `parley contact block PERSON` keeps one away."
            )
        case .blocked:
            self.init(
                "blocked", "You blocked that person.",
                hint: "`parley contact unblock PERSON` ends that.")
        default: preconditionFailure("a refusal that is not about other persons")
        }
    }

    /// The message when the store fails.
    init(_ error: StoreError) {
        switch error.code {
        case .full:
            self.init(
                "disk-full", "The disk is full: this was not saved.",
                hint: "Free some room, and say it again. Reading goes on.")
        case .readOnly:
            self.init(
                "read-only", "The node's folder may not be written: nothing was changed.",
                hint: "It can be read: `parley conversations`, `parley read CONVERSATION`, "
                    + "`parley search WORDS` and `parley doctor` work. To write, look at its "
                    + "medium, owner and permissions.")
        case .corrupt:
            let what = error.detail.isEmpty ? error.attempt : error.detail
            self.init(
                "damaged",
                "The database is damaged (\(what)): "
                    + "nothing is written into it.",
                hint:
                    "`parley doctor` says what is lost, `parley doctor --repair` saves what can be "
                    + "read.")
        case .locked:
            self.init("locked", "Another process uses this node.", hint: "`parley status`")
        case .newerSchema:
            self.init(
                "newer", "A newer version of parley wrote this database.",
                hint: "Use that version.")
        case .inputOutput, .other:
            self.init("storage", "The disk failed: \(error).", hint: "Nothing was saved.")
        }
    }

    /// The message when a home does not open.
    init(_ error: HomeError) {
        let code =
            switch error.code {
            case .wrongPassphrase: "wrong-passphrase"
            case .passphraseNeeded: "passphrase-needed"
            case .locked: "locked"
            case .passphraseNotUsed: "passphrase-not-used"
            case .keyMissing: "key-missing"
            case .keystoreBroken: "keystore-broken"
            case .databaseOfAnotherNode: "foreign-database"
            case .readOnly: "read-only"
            case .foreignOwner: "foreign-owner"
            case .openToOthers: "open-to-others"
            case .symbolicLink: "symbolic-link"
            case .diskFull: "disk-full"
            case .newerSchema: "newer"
            case .databaseDamaged: "damaged"
            case .databaseGone: "database-gone"
            case .other: "home"
            }
        self.init(code, error.description, hint: error.hint)
    }
}

extension NodeError {
    /// There is a database, and this device's own keys are not in it.
    static func noKeys(_ home: Home) -> NodeError {
        NodeError(
            "no-keys",
            "The database in \(home.path) does not hold this device's own keys any more: no repair "
                + "brings them back, and without them nothing in it can be read.",
            hint: newDevice)
    }

    /// There is a database, and nothing in it can be read.
    static func unreadable(_ home: Home, _ error: HomeError) -> NodeError {
        NodeError(
            "unreadable",
            "Nothing of \(home.database) can be read: \(error). "
                + "It is left as it is, and no repair can do more.",
            hint: newDevice)
    }

    /// A reader wants to write.
    static let reader = NodeError(
        "not-allowed", "You are a reader in that conversation: you may read it, and not write.",
        hint: "An admin or owner can make you a member; `parley group show GROUP` shows who is one."
    )

    /// How a person can continue if this device may not write any more.
    public static let movingOn =
        "`parley backup create FILE`, then `parley recover --home FOLDER --backup FILE` with the "
        + "recovery code, where FOLDER is a new one. It keeps who you are, and what the backup says "
        + "it holds."

    /// How a person can continue if their other devices go on without this one.
    static let linkingAnew =
        "To write again on this machine, take what “parley device link” shows on another device of yours: "
        + "`parley device accept-link --home FOLDER TEXT`, where FOLDER is a new one."

    private static let newDevice =
        "Keep the folder: if the right file is found, put it back there. Else make a new device in "
        + "another folder: by what “parley device link” shows on another device of yours, or by "
        + "`parley recover --home FOLDER` with the recovery code, and a backup or a contact's invite."
}
