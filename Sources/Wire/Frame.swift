/// What two linked devices say to each other.
///
/// Any frame may come at any time: one that does not apply is ignored or answered, so a lost race
/// costs a round trip and never correctness. Source: `Protocol/06-sync.md`, "Frames".
public enum Frame: Equatable, Sendable {
    /// The first frame of each side.
    case hello(Hello)
    /// What each shared space looks like here.
    case spaces(Spaces)
    /// The tips held here of one space.
    case frontier(Frontier)
    /// Ranges that the sender lacks.
    case want(Want)
    /// Operations.
    case operations(Operations)
    /// What the sender holds on its disk.
    case acknowledge(Acknowledgement)
    /// So many more bytes of operations may be sent.
    case credit(ByteCredit)
    /// Something was refused.
    case error(WireError)
    /// The sender closes the link in good order.
    case bye
    /// A person presents their card, and the invite that they redeem.
    case introduce(Introduction)
    /// The sender is connected, with this state of its spaces.
    case heartbeat(Digest)
    /// A device wrote two histories: here is the proof.
    case fork(ForkProof)
    /// What may be forgotten: a signal, which another room reads.
    case signal([UInt8])
    /// Which of these blobs does the receiver hold, and how much of each? Ascending.
    case blobAsk([BlobID])
    /// What the sender holds of a blob.
    case blobHave(BlobHolding)
    /// What the sender wants of a blob.
    case blobWant(BlobWant)
    /// The hashes of some of a blob's chunks.
    case blobSection(BlobSection)
    /// A chunk of a blob.
    case blobChunk(BlobChunk)
}

/// Opens a session: what the sender can do and how much it will take.
public struct Hello: Equatable, Sendable {
    /// The version of this protocol.
    public static let version: UInt64 = 2
    /// Feature bits; unknown ones are ignored.
    public var capabilities: UInt64
    /// The sender's wall clock in Unix milliseconds.
    public var wallClock: WallTime
    /// Changes when the sender's store was replaced: what was remembered about it is void.
    public var generation: UInt64
    /// Bytes of operations that the sender takes before it grants more.
    public var credit: ByteCredit

    /// A hello with these fields.
    public init(
        capabilities: UInt64, wallClock: WallTime, generation: UInt64, credit: ByteCredit
    ) {
        self.capabilities = capabilities
        self.wallClock = wallClock
        self.generation = generation
        self.credit = credit
    }
}

/// One line per space that both are believed to share.
public struct Spaces: Equatable, Sendable {
    /// The state of a space here: one short hash per group of lanes.
    public struct Entry: Equatable, Sendable {
        /// The first eight bytes of `H("lp1/spaces", salt ‖ space)`.
        public var hash: UInt64
        /// The digest of the space's frontier.
        public var digests: FrontierDigests

        /// An entry with these fields.
        public init(hash: UInt64, digests: FrontierDigests) {
            self.hash = hash
            self.digests = digests
        }
    }

    /// Makes the hashes of this link tell nothing on another.
    public var salt: UInt64
    /// Ascending by hash.
    public var entries: [Entry]

    /// A list with these entries.
    public init(salt: UInt64, entries: [Entry]) {
        self.salt = salt
        self.entries = entries
    }
}

/// Three digests of a frontier: equal digests mean equal sets of operations.
public struct FrontierDigests: Equatable, Sendable {
    /// Over the tips of lane 0.
    public var control: Check
    /// Over the tips of lanes 1, 3 and 4.
    public var content: Check
    /// Over the tips of lane 2, so that receipts do not make every comparison differ.
    public var receipts: Check

    /// Digests with these values.
    public init(control: Check, content: Check, receipts: Check) {
        self.control = control
        self.content = content
        self.receipts = receipts
    }
}

/// The tips that the sender holds of one space.
public struct Frontier: Equatable, Sendable {
    /// The tip of one log.
    public struct Entry: Equatable, Sendable {
        /// The log.
        public var tag: LogTag
        /// The place of the last operation.
        public var sequence: UInt64
        /// The first half of the last operation's identifier: finding two operations that share it
        /// takes 2^64 hashes.
        public var check: Check

        /// An entry with these fields.
        public init(tag: LogTag, sequence: UInt64, check: Check) {
            self.tag = tag
            self.sequence = sequence
            self.check = check
        }
    }

    /// The receiver's own word that it wrote a log up to a place.
    public struct OwnTip: Equatable, Sendable {
        /// The receiver's log.
        public var tag: LogTag
        /// The place of the last operation that the sender holds of it.
        public var sequence: UInt64
        /// That operation.
        public var operation: OperationID
        /// The receiver's signature over the log up to there.
        public var signature: SignatureBytes

        /// A tip with these fields.
        public init(
            tag: LogTag, sequence: UInt64, operation: OperationID, signature: SignatureBytes
        ) {
            self.tag = tag
            self.sequence = sequence
            self.operation = operation
            self.signature = signature
        }
    }

    /// The space.
    public var space: SpaceID
    /// Whether every log of the space is listed, so that an absent one is held not at all.
    public var isComplete: Bool
    /// Whether the receiver should send what is missing at once.
    public var asksForMissing: Bool
    /// Ascending by tag.
    public var entries: [Entry]
    /// What proves that the receiver wrote more than it seems to hold; ascending by tag.
    public var ownTips: [OwnTip]

    /// A frontier with these fields.
    public init(
        space: SpaceID, isComplete: Bool, asksForMissing: Bool, entries: [Entry],
        ownTips: [OwnTip] = []
    ) {
        self.space = space
        self.isComplete = isComplete
        self.asksForMissing = asksForMissing
        self.entries = entries
        self.ownTips = ownTips
    }
}

/// Ranges of logs that the sender lacks.
public struct Want: Equatable, Sendable {
    /// Consecutive places of one log, both ends included.
    public struct Range: Equatable, Sendable {
        /// The log.
        public var tag: LogTag
        /// The first place wanted.
        public var first: UInt64
        /// The last place wanted.
        public var last: UInt64

        /// A range with these fields.
        public init(tag: LogTag, first: UInt64, last: UInt64) {
            self.tag = tag
            self.first = first
            self.last = last
        }
    }

    /// The space.
    public var space: SpaceID
    /// At most so many operations in answer, the newest of each range first.
    public var limit: UInt64
    /// Ascending by tag.
    public var ranges: [Range]

    /// A want with these fields.
    public init(space: SpaceID, limit: UInt64, ranges: [Range]) {
        self.space = space
        self.limit = limit
        self.ranges = ranges
    }
}

/// Operations of one space.
public struct Operations: Equatable, Sendable {
    /// The space.
    public var space: SpaceID
    /// Whether this ends the answer to a ``Want``, even where nothing could be served.
    public var endsAnswer: Bool
    /// Runs in an order in which they can be applied.
    public var runs: [Run]

    /// Operations with these fields.
    public init(space: SpaceID, endsAnswer: Bool, runs: [Run]) {
        self.space = space
        self.endsAnswer = endsAnswer
        self.runs = runs
    }
}

/// What the sender holds on its disk of one space.
public struct Acknowledgement: Equatable, Sendable {
    /// The space.
    public var space: SpaceID
    /// Of each log that is held without a gap the last operation that is safe; ascending by tag.
    public var entries: [OperationReference]

    /// An acknowledgement with these fields.
    public init(space: SpaceID, entries: [OperationReference]) {
        self.space = space
        self.entries = entries
    }
}

/// Two runs of one log that follow the same operation and are both signed, though they differ from
/// the first operation on. Nothing in it is verified yet; verification needs nothing else.
public struct ForkProof: Equatable, Sendable {
    /// The space.
    public var space: SpaceID
    /// One branch, as far as its first signature; payloads erased.
    public var left: Run
    /// The other, likewise.
    public var right: Run

    /// A proof with these fields.
    public init(space: SpaceID, left: Run, right: Run) {
        self.space = space
        self.left = left
        self.right = right
    }
}

/// A person's card, and what entitles them to be heard.
public struct Introduction: Equatable, Sendable {
    /// The proof that the sender knows an invite's secret.
    public struct Redemption: Equatable, Sendable {
        /// Which invite: the first eight bytes of a hash of its secret.
        public var invite: UInt64
        /// Keyed by the secret, over the link's handshake: worth nothing on another link.
        public var proof: Digest

        /// A redemption with these fields.
        public init(invite: UInt64, proof: Digest) {
            self.invite = invite
            self.proof = proof
        }
    }

    /// The wish to join a space by a link, signed with the key that the link holds and by the sender.
    public struct Join: Equatable, Sendable {
        /// The space.
        public var space: SpaceID
        /// The operation that opened the invite.
        public var invite: OperationID
        /// Over the space, the invite and the sender: worth nothing to anybody else.
        public var signature: SignatureBytes
        /// By the sender's device, over the space, the invite, the person and the departures.
        public var consent: SignatureBytes
        /// What took the sender's person out before, as far as the device knows, ascending.
        public var departures: [OperationID]

        /// A wish with these fields.
        public init(
            space: SpaceID, invite: OperationID, signature: SignatureBytes,
            consent: SignatureBytes, departures: [OperationID] = []
        ) {
            self.space = space
            self.invite = invite
            self.signature = signature
            self.consent = consent
            self.departures = departures
        }
    }

    /// The encoded card.
    public var card: [UInt8]
    /// Present on the first meeting only.
    public var redemption: Redemption?
    /// Present until the space was introduced.
    public var join: Join?
    /// Whether the sender asks to become a contact.
    public var isRequest: Bool
    /// Whether the sender counts the receiver among its contacts.
    public var isContact: Bool

    /// An introduction with these fields.
    public init(
        card: [UInt8], redemption: Redemption? = nil, join: Join? = nil,
        isRequest: Bool = false, isContact: Bool = false
    ) {
        self.card = card
        self.redemption = redemption
        self.join = join
        self.isRequest = isRequest
        self.isContact = isContact
    }
}

/// Why a device refuses a frame.
public enum WireError: UInt64, CaseIterable, Sendable {
    /// The sender is no contact, and brought no valid invite.
    case stranger = 5
    /// The invite is unknown, used or expired.
    case inviteRefused = 7
    /// The link into a group was used up, has ended or expired.
    case joinRefused = 9
}
