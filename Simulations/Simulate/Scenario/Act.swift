/// One thing that happens in a run by decision: what somebody does, or what breaks.
///
/// A run is decided by its acts, all drawn before it begins. They are told in words that mean
/// something in any state ("the third newest message"), so that a run from which some were left
/// out is still a run: this is what makes shrinking work.
public struct Act: Codable, Equatable, Sendable {
    /// When, from the beginning of the run.
    public var at: VirtualTime
    /// Whom it concerns: a user's name.
    public var node: String
    /// What it is.
    public var `do`: Deed

    /// An act with these fields.
    public init(at: VirtualTime, node: String, do deed: Deed) {
        self.at = at
        self.node = node
        self.do = deed
    }
}

/// What an act is. `space` counts the conversations of the node, groups first, and begins anew
/// behind the last; `message` counts back from the newest one there, which is 0.
public enum Deed: Codable, Equatable, Sendable {
    // MARK: What people do

    /// Writes a message.
    case write(space: Int, text: String)
    /// Replies to a message.
    case reply(space: Int, message: Int, text: String)
    /// Gives an own message a new text.
    case edit(space: Int, message: Int, text: String)
    /// Takes a message back for everyone.
    case delete(space: Int, message: Int)
    /// Adds a reaction, or takes it back.
    case react(space: Int, message: Int, emoji: String, on: Bool)
    /// Reads the newest messages: a page, or so many.
    case read(space: Int, messages: Int? = nil)
    /// Names the conversation.
    case rename(space: Int, name: String)
    /// Silences the conversation, for good or until a time, or ends that.
    case mute(space: Int, on: Bool, until: UInt64? = nil)
    /// Passes a message on to another conversation, and says whose words they are or not.
    case forward(space: Int, message: Int, to: Int, withOrigin: Bool)
    /// Marks a message, or ends that.
    case star(space: Int, message: Int, on: Bool)
    /// Reports a message of a group to those of its admins whom one has a conversation with.
    case report(space: Int, message: Int)
    /// Deletes a message for oneself.
    case deleteForOneself(space: Int, message: Int)
    /// Pins a message, or takes it down.
    case pin(space: Int, message: Int, on: Bool)
    /// Says something of oneself: of the three fields this one, of status where there is none of it.
    case profile(field: Int, text: String)
    /// Says what the conversation is for; an empty text ends that.
    case describe(space: Int, text: String)
    /// Has new messages disappear after so many seconds, or stay: 0; where it is nil those of conversations that
    /// are begun from then on.
    case lifetime(space: Int?, seconds: Int)
    /// Has everybody or admins alone do one of the four acts that a group's rules are about.
    case rule(space: Int, act: Int, everybody: Bool)
    /// Tells others what one reads or that one types, or does not, or as everywhere: 0, 1 or 2; in a
    /// conversation, or where it is nil in all that have no setting of their own.
    case discreet(space: Int?, typing: Bool, how: Int)
    /// Mentions these people, or everybody, in a message or in an edit of one.
    case mention(space: Int, users: [String], text: String, edit: Int?)
    /// Marks the conversation as unread, or ends that.
    case unread(space: Int, on: Bool)
    /// Begins to write and does not send; an empty text ends that.
    case draft(space: Int, text: String)
    /// Sends a file of so many bytes.
    case attach(space: Int, bytes: Int, number: Int)
    /// Wants the files of a message.
    case fetch(space: Int, message: Int)
    /// Frees what the files of a message take.
    case forget(space: Int, message: Int)
    /// Says how many bytes files may take, and which come by themselves: of all kinds, and of pictures.
    case room(bytes: Int, byItself: Int, pictures: Int)
    /// Shows a picture of a group, of so many bytes; of none, none.
    case picture(space: Int, bytes: Int)
    /// Puts the conversation away until something new comes, or takes it back.
    case archive(space: Int, on: Bool)
    /// Has the conversation stand above others in the person's lists, or no longer.
    case keepFirst(space: Int, on: Bool)
    /// Does something together with the others of a conversation.
    case together(space: Int, what: Together)
    /// Imports lines of an old log, the first of them being this one.
    case bringIn(space: Int, firstLine: Int, texts: [String])
    /// Founds a group.
    case found(name: String, members: [String])
    /// Changes the own name.
    case nameSelf(name: String)
    /// Invites somebody, who takes the invite at once: for a day, or for this time.
    case invite(user: String, for: VirtualTime? = nil)
    /// Asks somebody to be a contact.
    case ask(user: String)
    /// Decides about somebody: `accept`, `decline`, or `block`, which is soon regretted.
    case answer(user: String, how: String)
    /// Ends the oldest invite that is still open.
    case uninvite
    /// Notes that safety numbers were compared.
    case verify(user: String)
    /// Takes somebody into a group; roles are 0 for a reader up to 3 for an owner.
    case add(space: Int, user: String, role: Int)
    /// Takes somebody out of a group.
    case remove(space: Int, user: String)
    /// Lets somebody do more or less.
    case promote(space: Int, user: String, role: Int)
    /// Goes out of a group.
    case quit(space: Int)
    /// Answers the invitation into a group that has waited longest.
    case consent(accepting: Bool)
    /// Lets contacts put them into groups, or wants to be asked.
    case permit(contacts: Bool)
    /// Decides how many days of what was written before a newcomer is given: 0 for nothing, and
    /// below 0 for all.
    case govern(space: Int, historyDays: Int)
    /// Opens a link into a group, for so many guests and so long. Nothing comes of one without a
    /// time: in runs that are kept nothing ever did.
    case openGroup(space: Int, uses: Int, for: VirtualTime? = nil)
    /// Ends the oldest link into a group that is open.
    case closeGroup(space: Int)
    /// Wants to come in by the newest link that somebody opened, with the help of that person or of
    /// another member.
    case join(user: String, through: String? = nil)
    /// Links a further device of the same person, which the scenario names.
    case link(device: String)
    /// Calls a device of the same person something.
    case nameDevice(device: String, name: String)
    /// Ends a device of the same person for good: by rank, or with the recovery code.
    case revoke(device: String, byCode: Bool)
    /// Makes a backup.
    case keepBackup
    /// Makes a device of the same person with the recovery code, from the last backup or with the
    /// help of somebody. Devices that are not kept are revoked.
    case recover(device: String, helper: String?, keep: [String])
    /// Calls everybody in the conversation.
    case call(space: Int)
    /// Answers what rings, or comes into what goes on.
    case pickUp
    /// Does not want to answer what rings.
    case turnDown
    /// Hangs up.
    case hangUp
    /// Calls, and gives up after this time: by hanging up, or by dying.
    case ringAndGo(space: Int, after: VirtualTime, dies: Bool)
    /// Calls in a conversation with somebody, whatever they think of it.
    case ringAt(user: String)
    /// Keeps somebody away for this time.
    case shutOut(user: String, for: VirtualTime)
    /// Types in the conversation, or stops.
    case typing(space: Int, on: Bool)
    /// Is there or not: `offline`, `away` or `online`.
    case appear(how: String)
    /// Decides what somebody is let know of that: `everything`, `nowOnly` or `nothing`.
    case confide(user: String, how: String)
    /// Misbehaves, as only a changed program can.
    case misbehave(Malice)

    /// A stranger, by its place among them, throws at the node whatever goes through.
    case intrude(stranger: Int)

    // MARK: What breaks

    /// Nodes of different groups do not reach each other, until the next `part` or `heal`; with
    /// `oneWay`, what an earlier group sends to a later one is held back, and nobody is told.
    case part(groups: [[String]], oneWay: Bool)
    /// Ends every parting, one by one within this time, in an order of its own.
    case heal(within: VirtualTime)
    /// The node is out of reach, until `returns`.
    case leave
    /// The node is within reach again.
    case returns
    /// The link to another node breaks.
    case reset(user: String)
    /// What is sent to another node is held up for this time.
    case stall(user: String, for: VirtualTime)
    /// The next frame to another node arrives with one bit turned over.
    case flip(user: String, bit: Int)
    /// The process dies, so many steps from now.
    case crash(steps: Int, point: CrashPoint, power: Bool, down: VirtualTime)
    /// The store fails, so many changes from now.
    case failStore(calls: Int, full: Bool)
    /// The disk takes no more of files from now on, or takes them again.
    case fillDisk(on: Bool)
    /// One page of the database decays; seen on real disks only.
    case rot(page: Int)
    /// The wall clock jumps; below 0 it goes back.
    case jumpClock(seconds: Int64)
    /// A copy of the disk is put aside.
    case backUp
    /// The copy is put in the place of the disk, as from an old backup.
    case restore
    /// Something befalls a relay, by its place among the relays.
    case befall(relay: Int, how: RelayTrouble)
    /// Somebody copies the disk with all keys, and runs the node elsewhere as well.
    case steal
    /// Whoever copied the disk writes a message with it.
    case impersonate(space: Int, text: String)
}

/// What can befall a relay.
public enum RelayTrouble: String, Codable, CaseIterable, Sendable {
    /// It answers nobody, until it is `up`.
    case down
    /// It answers again.
    case up
    /// It is set up anew, with nothing.
    case wipe
    /// A copy of what it keeps is put aside.
    case copy
    /// It starts again with the copy.
    case rollBack
    /// From now on it loses every third envelope that it answered for, until it is `up`.
    case lose
    /// From now on it loses all that it answers for, until it is `up`.
    case swallow
    /// From now on it is slow, until it is `up`.
    case slow
    /// From now on it gives envelopes in any order, until it is `up`.
    case shuffle
    /// From now on it tells again what it told before, until it is `up`.
    case replay
    /// From now on it answers with what it had when it was last copied, until it is `up`.
    case stale
    /// From now on it ends one connection in ten in the middle of an answer, until it is `up`.
    case cutOff
    /// From now on it tells any day, another each time, until it is `up`.
    case wrongDays
    /// From now on it tells of starts and counters that never were, until it is `up`.
    case wrongStarts

    /// What is drawn for a seed: those before 300 are what they were.
    static func drawn(for seed: UInt64) -> [RelayTrouble] {
        let first: [RelayTrouble] = [.down, .up, .wipe, .copy, .rollBack, .lose, .slow]
        return seed < 300 ? first : first + [.shuffle, .replay, .stale, .cutOff]
    }

    /// What is claimed of days, starts and counters, and is not so.
    static let lies: [RelayTrouble] = [.wrongDays, .wrongStarts]

    /// What loses nothing of what a relay answered for: whoever tries again gets everything through.
    static let harmless: [RelayTrouble] = [.down, .up, .slow, .cutOff, .cutOff]
}

/// Where in a step a process dies.
public enum CrashPoint: String, Codable, CaseIterable, Sendable {
    /// Nothing of the step is left.
    case beforeCommit
    /// The step happened, and nobody hears of it.
    case afterCommit
    /// Some effects were performed, and some were not.
    case amongEffects
}

/// How a member misbehaves.
public enum Malice: String, Codable, CaseIterable, Sendable {
    /// Writes two operations at one place, and shows each to others.
    case equivocate
    /// Signs operations with a clock long past.
    case backdate
    /// Signs operations with a clock far ahead.
    case postdate
    /// Names causes that nobody has.
    case inventCauses
    /// Names no causes at all.
    case omitCauses
    /// Serves operations of others without their bodies.
    case stripBodies
    /// Sends more than any limit allows.
    case oversize
    /// Sends very much that is valid.
    case flood
    /// Claims to hold what it does not, and to lack what it has.
    case lieInFront
    /// Never serves some ranges.
    case withhold
    /// Goes on writing under the roster that it was in, whoever removed it.
    case writeOn
    /// Signs changes of the roster as if it had seen nothing since some moment long past.
    case backdateRoster
    /// Signs two changes of the roster at one place, and shows each to others.
    case equivocateRoster
    /// Writes two operations at one place whose names begin alike, and shows each to others.
    case grindHashes
    /// Edits what others wrote.
    case editOthers
    /// Takes back what others wrote.
    case deleteOthers
    /// Takes back what others wrote as the admin that it was before.
    case deleteAsBefore
    /// Names the conversation without the right to.
    case nameAnyway
    /// Names in a control operation what stands in another lane, so that it waits for ever.
    case nameAnotherLane
    /// Puts somebody who wants to be asked into a group, and writes ever more into its control log.
    case floodUnasked
    /// Gives other bytes than it has of files.
    case spoilFiles
    /// Pins what others wrote, without the right to.
    case pinAnyway
    /// Writes a message, and pins one, whatever the rules let it do.
    case writeAnyway

    /// What is drawn for a seed: those before 400 are what they were.
    static func drawn(for seed: UInt64) -> [Malice] {
        let late: Set<Malice> = [
            .grindHashes, .editOthers, .deleteOthers, .deleteAsBefore, .nameAnyway,
        ]
        return allCases.filter { kind in
            ![.spoilFiles, .pinAnyway, .writeAnyway].contains(kind) && !besides.contains(kind)
                && (seed >= Scenario.firstLateSeed || !late.contains(kind))
        }
    }

    /// What liars of seeds from 400 on do besides: drawn from another stream.
    static let besides: [Malice] = [.nameAnotherLane, .floodUnasked]
}
