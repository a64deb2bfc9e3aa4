import ParleyLedger
public import ParleySealing
public import ParleyWire

/// What the shell, which holds the connection to a relay, reports about it.
public enum RelayNews: Sendable {
    /// The connection stands, and the relay proved its key.
    case opened(RelayWelcome)
    /// There is none, or none any more.
    case closed
    /// What became of the request with this number.
    case answered(UInt64, RelayAnswer)
    /// Envelopes came into a mailbox that is subscribed to.
    case arrived(MailboxID, [RelayEntry])
    /// Something came for this device that the relay passes on and does not keep.
    case passed(MailboxID, [UInt8])
    /// Envelopes came that were not told.
    case missed(MailboxID)
    /// The relay's day is another one now.
    case day(RelayDay)
    /// The relay goes away, and may be back after so many milliseconds.
    case leaving(retryAfter: UInt32)
}

/// Something that is asked of one mailbox on a relay.
public struct MailboxRequest: Sendable {
    /// Names it on this connection.
    public var number: UInt64
    /// What.
    public var action: RelayAction
    /// Of which mailbox.
    public var mailbox: MailboxID
    /// The key that has the right.
    public var key: DeviceSigningKey

    /// A request with these fields.
    public init(number: UInt64, action: RelayAction, mailbox: MailboxID, key: DeviceSigningKey) {
        self.number = number
        self.action = action
        self.mailbox = mailbox
        self.key = key
    }
}

/// The role of a mailbox for this device.
enum MailboxUse: Equatable, Sendable {
    /// This device's inbox.
    case inbox
    /// Shared by the devices of an epoch.
    case drop(SpaceNumber, OperationID)

    /// The author whose operations are in it; nil for the inbox, which has everybody's.
    var space: SpaceNumber? {
        if case .drop(let space, _) = self { space } else { nil }
    }
}

/// How far a mailbox is read on a connection.
struct OpenMailbox: Sendable {
    enum Stage: Sendable {
        /// Its content is to be requested.
        case unknown
        /// It was asked for.
        case asked
        /// All that it holds, to be taken in its turn.
        case whole([RelayEntry])
        /// It holds more than came: it is asked for page by page, in its turn.
        case long
        /// A page of it was requested.
        case paging
        /// The rest of a page, which waits for a later step.
        case taking([RelayEntry])
        /// Everything that was there has been processed; new envelopes are pushed.
        case read
    }

    let use: MailboxUse
    let key: DeviceSigningKey
    /// The day that its drop is of; the last there is for an inbox.
    let day: RelayDay
    /// Everything up to this counter was taken.
    var cursor: UInt64
    var stage = Stage.unknown
    /// The newest of its content, until that was examined.
    var newest: [RelayEntry] = []
    /// Something was pushed before that, or not told: there is another page to ask for.
    var hasMore = false
    /// When the rest of a page is taken, on the monotonic clock.
    var restsUntil: UInt64 = 0
    /// The rest waits until its author can pay for it: nothing else has to wait for that.
    var isUnpaid = false
    /// The relay was asked to push new envelopes.
    var isLive = false
    /// The relay had no time to be asked for pushes.
    var lacksSubscription = false
    /// It is asked for pushes only after the existing content was requested.
    var isSubscribedLate = false

    init(use: MailboxUse, key: DeviceSigningKey, day: RelayDay, cursor: UInt64) {
        self.use = use
        self.key = key
        self.day = day
        self.cursor = cursor
    }

    var isRead: Bool {
        if case .read = stage { true } else { false }
    }

    /// Bytes that wait here.
    var waitingByteCount: Int {
        var waiting = newest
        switch stage {
        case .whole(let entries), .taking(let entries): waiting += entries
        case .unknown, .asked, .long, .paging, .read: break
        }
        return waiting.reduce(0) { $0 + $1.envelope.count }
    }
}

/// A connection to a relay as the core sees it.
struct RelayLine: Sendable {
    enum Phase: Sendable { case idle, calling, open }

    /// Its addresses, by who names them.
    var places: RelayPlaces
    /// Whether this device reads there; else it only brings something.
    var isReading: Bool
    var phase = Phase.idle
    /// When it is called again, and asked again.
    var pace = RelayPace()
    var day = RelayDay.zero
    /// When it last told another day than before, and when all was last put again for that, on the
    /// monotonic clock.
    var dayToldAt: UInt64?
    /// A day that it told too soon after another.
    var nextDay: RelayDay?
    var leaptAt: UInt64?
    /// Requests without an answer yet.
    var questions = RelayQuestions()
    var mailboxes: [MailboxID: OpenMailbox] = [:]
    /// Mailboxes that are not read yet, by space, in the order in which they are.
    var queues: [SpaceNumber?: Queue<MailboxID>] = [:]
    /// The walk over all spaces for mailboxes to read, while it lasts.
    var walk: MailboxWalk?
    /// Conversations that were not read here, as their other person was blocked.
    var shut: Set<SpaceNumber> = []
    /// Spaces whose newest envelopes were looked at before their turn.
    var glanced: Set<SpaceNumber> = []
    /// Keys of mailboxes that were read on this connection or one before.
    var dropKeys: [WatchedDay: DeviceSigningKey] = [:]
    /// Mailboxes that were opened on this connection.
    var opened: Set<MailboxID> = []
    /// Whether the relay makes mailboxes for tickets alone.
    var needsTicket = false
    /// Of such a relay the mailboxes that are being opened, those that stand, and those for which
    /// there is no ticket.
    var openings: [MailboxID: Opening] = [:]
    var paid: Set<MailboxID> = []
    var unpaid: Set<MailboxID> = []
    /// Tickets that were shown and have no answer yet.
    var spending: Set<[UInt8]> = []
    /// Whether the card of somebody is looked for here whose invite was taken.
    var awaitsCard = false
    /// The mailboxes in which such cards are to lie that were asked for on this connection.
    var cards: [MailboxID: PersonID] = [:]
    /// This device's inbox.
    var inbox: MailboxID?
    /// The day on which this device's inbox was opened last.
    var inboxDay: RelayDay?
    /// Up to where own logs are on their way, by space and log.
    var underway: [SpaceNumber: [LogTag: UInt64]] = [:]
    /// Inboxes that take nothing until these moments of the monotonic clock.
    var absent: [MailboxID: UInt64] = [:]
    /// Drops that take nothing more: of one day, whatever the connection.
    var full: [MailboxID: FullDrop] = [:]
    /// Something was refused that is to be tried again.
    var isOwed = false
    /// Letters that wait for the connection, the oldest first.
    var letters: [WaitingLetter] = []
    /// When something was last asked, on the monotonic clock.
    var usedAt: UInt64 = 0

    init(at places: RelayPlaces, isReading: Bool) {
        self.places = places
        self.isReading = isReading
    }

    /// Whether the connection is to stand though nothing is asked.
    var isInUse: Bool { isReading || awaitsCard }

    /// Whether everything that was there has been taken, but what its authors cannot pay for yet.
    var isDrained: Bool { !isReading || (walk == nil && queues.values.allSatisfy(isHeldUp)) }

    /// Whether nothing of a queue is taken until somebody can pay for what comes first.
    private func isHeldUp(_ queue: Queue<MailboxID>) -> Bool {
        guard let first = queue.first, let open = mailboxes[first] else { return queue.isEmpty }
        if case .taking = open.stage { return open.isUnpaid }
        return false
    }

    /// Whether it stands and everything that was there has been taken.
    var isOpenAndDrained: Bool { phase == .open && isDrained }

    /// Bytes of envelopes that wait for their turn.
    var waitingByteCount: Int { mailboxes.values.reduce(0) { $0 + $1.waitingByteCount } }

    /// Whether this device's inbox could not be opened.
    var lacksTicket: Bool { inbox.map(unpaid.contains) ?? false }

    /// Resets: no pending request is answered any more.
    mutating func reset(_ phase: Phase) {
        self.phase = phase
        questions.removeAll()
        mailboxes = [:]
        queues = [:]
        walk = nil
        glanced = []
        opened = []
        openings = [:]
        paid = []
        unpaid = []
        spending = []
        cards = [:]
        inboxDay = nil
        nextDay = nil
        underway = [:]
        absent = [:]
        isOwed = false
    }
}

/// The last known state of a relay's store.
struct RelayRecord: Equatable {
    /// Its newest start.
    var start: UInt64
    /// The greatest counter that it told.
    var newest: UInt64
    /// The relay's day when its mailboxes were last read.
    var day: RelayDay
    /// The day that it told last.
    var toldDay: RelayDay

    init(start: UInt64, newest: UInt64, day: RelayDay, toldDay: RelayDay) {
        self.start = start
        self.newest = newest
        self.day = day
        self.toldDay = toldDay
    }

    /// Whether what was put and read under earlier days is useless: the day goes back, or forward
    /// by more days than others look back.
    func hasLeapt(to day: RelayDay) -> Bool {
        day < toldDay || day.excess(over: toldDay) > NodeCore.readDayCountMax
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            start = try reader.uint64()
            newest = try reader.uint64()
            day = try reader.bounded32()
            toldDay = try reader.bounded32()
            try reader.finish()
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 24)
        writer.uint64(start)
        writer.uint64(newest)
        writer.uint32(day)
        writer.uint32(toldDay)
        return writer.bytes
    }
}

/// A drop that takes nothing more.
struct FullDrop: Equatable, Sendable {
    /// The space that it is of.
    var space: SpaceNumber
    /// When it is tried again, on the monotonic clock: the relay's operator may have made room.
    var until: UInt64
}

/// A mailbox that is being opened.
struct Opening: Sendable {
    let key: DeviceSigningKey
    /// Who else may write, or read where it is a shelf; nil for a drop.
    let writers: [WriterID]?
    /// What for.
    let use: Use

    enum Use: Equatable, Sendable {
        /// This device's inbox.
        case inbox
        /// Operations of a space wait for it.
        case drop(SpaceNumber)
        /// A card for those who take an invite.
        case invite
        /// A file that somebody lacks.
        case shelf(BlobID)
    }
}
