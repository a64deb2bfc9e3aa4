public import ParleyConversation
public import ParleyLedger
public import ParleySealing
public import ParleySignalling
public import ParleyWire

/// A moment as passed to the core: a clock that never jumps, and one that may.
public struct Instant: Equatable, Sendable {
    /// Milliseconds since some fixed moment; never goes back.
    public var monotonic: UInt64
    /// Unix milliseconds, as the machine believes.
    public var wall: UInt64

    /// A moment on both clocks.
    public init(monotonic: UInt64, wall: UInt64) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// An open link to another device. Given by the shell, never used twice.
public struct LinkID: Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt64
    /// The link with this number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    /// Links order by when they opened.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The device at the other end of a link, as its handshake proved it.
public struct LinkPeer: Equatable, Sendable {
    /// Whose device it is.
    public var person: PersonID
    /// The root key of that person's identity.
    public var root: Digest
    /// The device.
    public var device: DeviceID
    /// The identity log that proves both.
    public var identity: [[UInt8]]
    /// Binds statements to this very link.
    public var handshakeHash: [UInt8]
    /// Whether this node dialled.
    public var isInitiator: Bool
    /// Whether the link runs through a relay: a direct one is better.
    public var isPiped: Bool

    /// A peer with these fields.
    public init(
        person: PersonID, root: Digest, device: DeviceID, identity: [[UInt8]],
        handshakeHash: [UInt8], isInitiator: Bool, isPiped: Bool = false
    ) {
        self.person = person
        self.root = root
        self.device = device
        self.identity = identity
        self.handshakeHash = handshakeHash
        self.isInitiator = isInitiator
        self.isPiped = isPiped
    }
}

/// Names a command until it is answered. Given by the shell.
public struct CommandID: Hashable, Sendable {
    /// The number.
    public let rawValue: UInt64
    /// The command with this number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The purpose of a timer. Setting one that is set moves it: the shell keeps the later word.
public enum TimerID: Hashable, Sendable {
    /// Shows a link alive, or finds it dead.
    case heartbeat(LinkID)
    /// Tells peers of logs that grew through others.
    case announce
    /// Writes receipts for delivered messages.
    case receipts
    /// Dials a device again.
    case dial(DeviceID)
    /// Looks whether a space's source still delivers.
    case source(SpaceNumber)
    /// Asks for payloads that did not come along.
    case bodies
    /// Checks which runs have waited long enough for causes.
    case waiting
    /// Places operations again whose causes came after them.
    case placing(SpaceNumber)
    /// Looks whether every space knows the person's devices.
    case devices
    /// Shows the own card to the members of a space.
    case card(SpaceNumber)
    /// Renews old keys, and erases those that are no longer needed.
    case keys
    /// The same for one space, soon after it was first heard of.
    case upkeep(SpaceNumber)
    /// Makes an epoch for a space that has none for the roster of now, unless somebody else did.
    case epoch(SpaceNumber)
    /// Calls a relay again, or looks whether it is still needed.
    case relay(NoiseKey)
    /// Checks what linked devices have not acknowledged.
    case outbox
    /// Continues with the spaces of which something may have to go to relays.
    case backlog
    /// Asks through a relay for what a space lacks.
    case repair(SpaceNumber)
    /// Tells through relays what some seem not to hold of a space.
    case reminder(SpaceNumber)
    /// Accepts invitations that need no answer.
    case invitations
    /// Forgets an invitation that was taken back, unless more of its control log still comes.
    case takenBack(SpaceNumber)
    /// Closes polls that this device opened until a time.
    case polls
    /// Rings for what the person wants to be reminded of.
    case ringing
    /// Sends what the person wanted sent later.
    case scheduled
    /// Erases messages whose time is over.
    case disappearing
    /// Looks after calls, typing and presence, at this moment of the monotonic clock.
    case signals(UInt64)
    /// Checks whether peers deliver the requested pieces of files.
    case files
    /// Tries again what the disk took nothing of.
    case fileRetry
    /// Looks whether files can be given up that others were asked about.
    case fileRoom
    /// Looks at the next messages that bring files, after many of them may count again.
    case fileLook
    /// Looks for files that no message names any more.
    case collection
    /// Checks which devices lack files that lie at relays for them.
    case shelves
}

/// Everything that can happen to a node.
public enum Input: Sendable {
    /// The node begins. The first input, once.
    case started
    /// A handshake was completed.
    case linkOpened(LinkID, LinkPeer)
    /// A link is gone.
    case linkClosed(LinkID)
    /// A frame came, whole and authentic.
    case frame(LinkID, [UInt8])
    /// No address of a device could be reached.
    case dialFailed(DeviceID)
    /// There may be a way now where there was none.
    case networkChanged
    /// Somebody was seen on the local network.
    case sighted(Sighting)
    /// A timer fired.
    case timer(TimerID)
    /// A person or a program wants something.
    case command(CommandID, Command)
    /// Everything stored so far survives a crash of the machine.
    case madeDurable
    /// Something happened on the connection to a relay.
    case relay(NoiseKey, RelayNews)
    /// A peer consumed what was sent on a link. See ``Effect/tellRoom(_:)``.
    case roomOn(LinkID)
    /// The disk has stored a sealed file durably, or refused it. See ``Effect/keepFile(_:)``.
    case fileKept(BlobID, isDurable: Bool)
}

/// What a shell does with an input whose step failed because of the store.
public enum Recovery: Sendable {
    /// Offer these inputs once more after ``pause``: nobody else will.
    case again([Input])
    /// End the link: the content of the frame is requested again on the next one.
    case hangUp(LinkID, then: [Input])
    /// Tell who wanted it that it was not done.
    case refuse(CommandID)
    /// It comes again without action.
    case drop

    /// How long a shell waits before it offers an input again, in milliseconds.
    public static let pause: UInt64 = 1_000
}

extension Input {
    /// Whether it is made to write operations of this device: then a shell makes the whole
    /// transaction durable. Others do so only where the step asks for it.
    public var isOwn: Bool {
        switch self {
        case .command(_, let command): !command.isVolatile
        case .started: true
        case .linkOpened, .linkClosed, .frame, .dialFailed, .networkChanged, .sighted, .timer,
            .madeDurable, .relay, .roomOn, .fileKept:
            false
        }
    }

    /// What becomes of this input when its step failed. A timer that fired and was lost would be
    /// taken for one that is still set, a link that ended for one that is open, and a device that
    /// was not reached for one that is being dialled: each for ever.
    public var recovery: Recovery {
        switch self {
        case .started, .linkClosed, .dialFailed, .networkChanged, .timer, .roomOn, .fileKept:
            .again([self])
        case .linkOpened(let link, let peer): .hangUp(link, then: [.dialFailed(peer.device)])
        case .frame(let link, _): .hangUp(link, then: [])
        case .command(let id, _): .refuse(id)
        case .madeDurable, .sighted: .drop
        // The pending requests and their answers are no longer known: the relay is called again.
        case .relay(let relay, _): .again([.relay(relay, .closed)])
        }
    }
}

/// Why the core ends a link.
public enum HangUpReason: Equatable, Sendable {
    /// The peer broke the protocol.
    case breach(SessionBreach)
    /// The device proved nothing that entitles it to talk.
    case stranger
    /// The device's person has revoked it.
    case revoked
    /// Another link to the same device is kept.
    case duplicate
    /// Nothing was heard for too long.
    case silent
    /// The peer sent far more than it may.
    case flooded
    /// The peer said goodbye.
    case ended
    /// This device's clock was set: the peer has yet to compare its own with it.
    case clockSet
}

/// How a peer broke the protocol.
public enum SessionBreach: Equatable, Sendable {
    /// Bytes that are no frame.
    case malformed
    /// Frames in an order that no honest peer sends.
    case outOfOrder
    /// More operations than granted.
    case overCredit
    /// Operations whose hashes or signatures do not hold.
    case unproven
}

/// Where a device may be reached.
public struct DialTarget: Equatable, Sendable {
    /// The device.
    public var device: DeviceID
    /// Its key for links.
    public var noiseKey: NoiseKey
    /// Addresses as `host:port`, the best first.
    public var addresses: [String]
    /// Relays through which the device may be reached where no address is, the best first.
    public var mailboxes: [CardMailbox]

    /// A target with these fields.
    public init(
        device: DeviceID, noiseKey: NoiseKey, addresses: [String],
        mailboxes: [CardMailbox] = []
    ) {
        self.device = device
        self.noiseKey = noiseKey
        self.addresses = addresses
        self.mailboxes = mailboxes
    }
}

/// Everything that a node can want done. Performed after the commit, in order.
public enum Effect: Sendable {
    /// The transaction holds operations of this device: it must be committed to survive a crash
    /// of the machine before any other effect is performed.
    case commitFully
    /// Send a frame.
    case send(LinkID, [UInt8])
    /// Offer ``Input/roomOn(_:)`` once next to nothing waits to be taken on a link.
    case tellRoom(LinkID)
    /// Remove a sealed file, unless it is needed by now. See ``HeldFile/isUnneeded(_:in:)``.
    case removeFile(BlobID)
    /// Make a sealed file, all of which came, survive a crash of the machine, and offer
    /// ``Input/fileKept(_:isDurable:)`` then.
    case keepFile(BlobID)
    /// End a link after the pending output was sent.
    case hangUp(LinkID, HangUpReason)
    /// The peer of a link is a person whom this node serves: it need not count as a stranger any
    /// more.
    case admitted(LinkID)
    /// Try to reach a device; answered by `linkOpened` or `dialFailed`.
    case dial(DialTarget)
    /// Connect to a relay at the first of these addresses that answers; a connection to it that is
    /// still there is given up. Answered by ``RelayNews/opened(_:)`` or ``RelayNews/closed``.
    case callRelay(NoiseKey, addresses: [String])
    /// Ask a relay something; answered once by ``RelayNews/answered(_:_:)``, unless the connection
    /// ends before.
    case askRelay(NoiseKey, MailboxRequest)
    /// End the connection to a relay, silently.
    case leaveRelay(NoiseKey)
    /// Offer `timer` at this moment of the monotonic clock, in milliseconds.
    case timer(TimerID, at: UInt64)
    /// Screens are out of date.
    case changed([ViewChange])
    /// Links or contacts changed.
    case linksChanged
    /// New links show this identity log from now on.
    case renewIdentity([[UInt8]])
    /// Secrets were dropped: what the disk still holds of them is to be made unreadable, as soon as
    /// nothing else is to be done.
    case forgetKeys
    /// Ring, or send an order to the program for sound and pictures, or show the state of a call:
    /// every call order except `send`. If one is lost, it comes again, or the call ends.
    case call(Calls.Output)
    /// Answers a command.
    case reply(CommandID, Result<CommandReply, CommandRefusal>)
}
