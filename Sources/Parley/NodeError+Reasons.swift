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
                "Only the author" + (orAdmin ? " or an admin of the group" : "")
                    + " may change, end or delete that.",
                hint: orAdmin
                    ? "Ask one of them; `parley group show` names the admins of a group." : nil)
        case .notMember, .notMemberYet, .invited, .notInvited, .stillMember, .untold,
            .noSuchMember, .alreadyMember, .outranked, .lastOwner, .directConversation:
            self.init(gathering: refusal)
        case .unchanged:
            self.init("unchanged", "There is nothing to change.")
        case .unknownPerson, .ownInvite, .expired, .unknownInvite, .tooManyUses, .tooManyInvites,
            .notAsked, .blocked:
            self.init(meeting: refusal)
        case .tooManyMembers(let limit):
            self.init("too-many-members", "A new group can have at most \(limit) members.")
        case .unknownDevice, .ownDevice, .needsRecoveryCode, .wrongRecoveryCode, .tooManyDevices,
            .revoked:
            self.init(equipping: refusal)
        case .tooManyRelays(let limit):
            self.init(
                "too-many-relays", "Your devices can use at most \(limit) relays at a time.",
                hint: "`parley relays remove` removes one, `parley relays move` replaces one.")
        case .tooManyServers(let limit):
            self.init(
                "too-many-servers", "At most \(limit) servers can be used.",
                hint: "`parley calls turn remove` removes one.")
        case .tooManyTickets(let limit):
            self.init(
                "too-many-tickets", "At most \(limit) tickets can be kept for a relay.",
                hint: "One ticket, every 30 days, is enough for a device.")
        case .unknownMessage, .tooLong, .empty, .noEmoji, .hiddenMark, .identifierAsName,
            .ownWordAsName, .deleted, .impossibleTime:
            self.init(writing: refusal)
        case .disappears, .disappeared, .impossibleLifetime: self.init(disappearing: refusal)
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
                "too-long", "The text is \(byteCount) bytes long; at most \(limit) can be sent.",
                hint: "Nothing was sent. Split the text, or shorten it.")
        case .empty:
            self.init("empty", "The text is empty, or nothing of it can be seen.")
        case .noEmoji:
            self.init(
                "no-emoji", "A reaction must be one emoji.",
                hint: "For example 👍 or ❤️; `parley reply CONVERSATION NUMBER` answers in words.")
        case .identifierAsName:
            self.init(
                "identifier-as-name",
                "That name looks like an identifier, or has an identifier or “you” in brackets.",
                hint: "Eight hex digits or more can only be an identifier, and # with a number "
                    + "only a message; leave them out.")
        case .ownWordAsName:
            self.init(
                "own-word-as-name", "That is a word that Parley itself uses for people.",
                hint: "Names cannot be “you”, “me”, “everyone”, “nobody” or “all”.")
        case .hiddenMark("\t"):
            self.init(
                "hidden-mark", "The name contains a tab.", hint: "Write a space in its place.")
        case .hiddenMark("\n"), .hiddenMark("\r"):
            self.init(
                "hidden-mark", "The name has more than one line.",
                hint: "Write a space in place of each line break.")
        case .hiddenMark(let mark):
            self.init(
                "hidden-mark",
                "The name contains an invisible character "
                    + "(U+\(String(mark.value, radix: 16).uppercased())).",
                hint: "Type the name again instead of copying it.")
        case .deleted:
            self.init("deleted", "That message was deleted.")
        case .impossibleTime:
            self.init("bad-time", "That time is not possible: it is after the year 2248.")
        default: preconditionFailure("a refusal that is not about what is written")
        }
    }

    /// The same for what this device may not write because of what it wrote before.
    private init(holdingBack refusal: CommandRefusal) {
        switch refusal {
        case .rejoining:
            self.init(
                "rejoining",
                "This node has lost some of what it wrote, and writes nothing until it has that "
                    + "back.",
                hint: "`parley status` says who may have it. If nobody has it: "
                    + Self.movingOn)
        case .awaitsOwn:
            self.init(
                "waiting",
                "This conversation waits for what this device wrote in it earlier.",
                hint:
                    "Another device has that, and sends it when it is reached. What you write "
                    + "meanwhile is kept, up to 1,000 messages; everything else has to wait.")
        case .ownFork:
            self.init(
                "forked",
                "This device wrote two different histories, as two copies of one home do.",
                hint:
                    "Nobody accepts more from it. Keep it for reading, and continue with a new "
                    + "device: "
                    + Self.movingOn)
        case .tooManyChanges(let limit):
            self.init(
                "too-many-changes",
                "This device has changed the members or rules of this conversation almost \(limit) "
                    + "times, and no device accepts more changes from it.",
                hint: "Nothing was changed. Another device or another admin can still do it.")
        default: preconditionFailure("a refusal that is not about what was written before")
        }
    }

    /// The same for calls.
    private init(calling objection: Calls.Objection) {
        switch objection {
        case .unknownCall: self.init("unknown-call", "There is no such call, or it has ended.")
        case .busy:
            self.init("busy", "This device is in another call.", hint: "Hang up there first.")
        case .inIt:
            self.init("busy", "This device is in that call.", hint: "`parley calls` shows it.")
        case .nobody: self.init("nobody", "There is nobody else in that conversation.")
        case .goesOn: self.init("goes-on", "A call is already in progress there: answer it.")
        }
    }

    /// The same for the members of a conversation.
    private init(gathering refusal: CommandRefusal) {
        switch refusal {
        case .notMember:
            self.init(
                "not-a-member", "You are no longer in that conversation.",
                hint: "The conversation stays readable here. Somebody in it can add you again.")
        case .notMemberYet:
            self.init(
                "not-a-member-yet", "The members of that conversation do not know this device yet.",
                hint:
                    "`parley run` tells them: they learn of it once another device of yours, or one of "
                    + "them, is reached.")
        case .invited:
            self.init(
                "invited", "You were invited to that conversation and have not accepted.",
                hint: "`parley invitations` shows who invites you; accept or decline there.")
        case .notInvited:
            self.init(
                "not-invited", "You have no such invitation.",
                hint: "`parley invitations` lists your invitations.")
        case .stillMember:
            self.init(
                "still-member", "You are still in that conversation.",
                hint: "Leave the group, decline the invitation, or block the person first.")
        case .untold:
            self.init(
                "untold", "Nobody in that group knows yet that you left.",
                hint: "Try again once a member of it, or a relay, has been reached.")
        case .noSuchMember:
            self.init(
                "no-such-member", "That person is not in the conversation.",
                hint: "`parley conversations` shows who is in which conversation.")
        case .alreadyMember:
            self.init("already-a-member", "That person is already in the conversation.")
        case .outranked:
            self.init(
                "outranked", "That member's rank is equal to or higher than yours.",
                hint: "Ask somebody whose rank is higher than theirs.")
        case .lastOwner:
            self.init(
                "last-owner", "The group would have no owner.",
                hint: "Make somebody else an owner first; or leave anyway, with --anyway.")
        case .directConversation:
            self.init(
                "direct", "The people and names of a conversation of two cannot be changed.",
                hint: "Create a group.")
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
                "A device cannot revoke itself: nobody would learn of it from there.",
                hint:
                    "Revoke it on a device of yours that is senior to it, or on any other one with "
                    + "--code-file FILE and your recovery code.")
        case .needsRecoveryCode:
            self.init(
                "needs-recovery-code",
                "This device may not revoke that one, because that one is not junior to it.",
                hint:
                    "Revoke it on a device that is senior to it, or add --code-file FILE with your "
                    + "recovery code.")
        case .wrongRecoveryCode:
            self.init("wrong-recovery-code", "That recovery code belongs to another identity.")
        case .tooManyDevices(let limit):
            self.init("too-many-devices", "This identity has used all \(limit) device changes.")
        case .revoked:
            self.init(
                "revoked",
                "Another device of yours has revoked this one: it can write nothing more.",
                hint: "What it holds can still be read. " + Self.linkingAnew)
        default: preconditionFailure("a refusal that is not about own devices")
        }
    }

    /// The same for other persons.
    private init(meeting refusal: CommandRefusal) {
        switch refusal {
        case .unknownPerson:
            self.init(
                "unknown-person", "That person is not a contact of yours.",
                hint: "`parley contacts` lists them; `parley invite` creates a link for a new one.")
        case .ownInvite:
            self.init(
                "own-invite",
                "That is your own invite or card.", hint: "Give it to somebody else.")
        case .expired:
            let now = MomentWords(.current).moment(SystemClock.now.wall)
            self.init(
                "expired", "That invite has expired: this device's clock says \(now).",
                hint:
                    "If that is wrong, set the clock and accept the invite again. If it is right, "
                    + "ask for a new invite: this one came too late, or the clock of its maker "
                    + "is wrong.")
        case .unknownInvite:
            self.init(
                "unknown-invite", "There is no such invite that can still be used.",
                hint: "`parley invite list` shows them.")
        case .tooManyUses(let limit):
            self.init("bad-uses", "An invite can be used from 1 to \(limit) times.")
        case .tooManyInvites(let limit):
            self.init(
                "too-many-invites", "\(limit) invites are open; there can be no more.",
                hint: "`parley invite list` shows them, `parley invite revoke` revokes one.")
        case .notAsked:
            self.init(
                "not-asked", "That person is not waiting for an answer.",
                hint:
                    "`parley contacts` shows who is. `parley contact block PERSON` blocks somebody."
            )
        case .blocked:
            self.init(
                "blocked", "You have blocked that person.",
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
                hint: "Free some space, and try again. You can still read.")
        case .readOnly:
            self.init(
                "read-only", "The folder of the node is read-only: nothing was changed.",
                hint:
                    "You can still read: `parley conversations`, `parley read CONVERSATION`, "
                    + "`parley search WORDS` and `parley doctor` work. To write, check its "
                    + "disk, owner and permissions.")
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
            self.init(
                "locked", "Another process is using this node.",
                hint: "`parley status` shows whether it is a running node.")
        case .newerSchema:
            self.init(
                "newer", "A newer version of Parley wrote this database.",
                hint: "Use that version of Parley.")
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
        self.init(
            code, Self.sentence(error.description), hint: Self.sentence(error.hint))
    }
}

extension NodeError {
    /// There is a database, and this device's own keys are not in it.
    static func noKeys(_ home: Home) -> NodeError {
        NodeError(
            "no-keys",
            "The database in \(home.path) no longer holds this device's own keys: no repair can "
                + "bring them back, and without them nothing in it can be read.",
            hint: newDevice)
    }

    /// There is a database, and nothing in it can be read.
    static func unreadable(_ home: Home, _ error: HomeError) -> NodeError {
        NodeError(
            "unreadable",
            "Nothing in \(home.database) can be read: \(error). It was not changed, and no repair "
                + "can do more.",
            hint: newDevice)
    }

    /// The only device of a person was to be revoked.
    static let onlyDevice = NodeError(
        "own-device",
        "This is your only device, and no device revokes itself: nobody would learn of it.",
        hint:
            "To leave it behind, link another with `parley device link`, and revoke this one there "
            + "with --code-file FILE and your recovery code. If it is lost, “parley recover” on "
            + "another machine makes a device and revokes this one.")

    /// A reader wants to write.
    static let reader = NodeError(
        "not-allowed", "You are a reader in that conversation: you may read, but not write.",
        hint:
            "An admin or owner can make you a member; `parley group show GROUP` shows who they are."
    )

    /// How a person can continue if this device may not write any more.
    public static let movingOn =
        "`parley backup create FILE`, then `parley recover --home FOLDER --backup FILE` with the "
        + "recovery code, where FOLDER is a new one. You keep your identity, and what the "
        + "backup says it holds."

    /// How a person can continue if their other devices go on without this one.
    static let linkingAnew =
        "To write again on this machine, link it with the text that “parley device link” shows on "
        + "another device of yours while “parley run” runs there: "
        + "`parley device accept-link --home FOLDER TEXT`, where FOLDER is a new one."

    private static let newDevice =
        "Keep the folder: if you find the right file, put it back there. Else create a new device "
        + "in another folder: with the text that “parley device link” shows on another device "
        + "of yours, or with `parley recover --home FOLDER`, the recovery code, and a backup "
        + "or a contact's invite."
}
