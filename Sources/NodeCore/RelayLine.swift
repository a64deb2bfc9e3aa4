import ParleyLedger
public import ParleySealing
public import ParleyWire

/// What the shell, which holds the connection to a relay, tells of it.
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

/// What a mailbox is to this device.
enum MailboxUse: Equatable, Sendable {
    /// This device's inbox.
    case inbox
    /// Shared by the devices of an epoch.
    case drop(SpaceNumber, OperationID)

    /// Whose operations lie in it; nil for the inbox, which has them of all.
    var space: SpaceNumber? {
        if case .drop(let space, _) = self { space } else { nil }
    }
}

/// How far a mailbox is read on a connection.
struct OpenMailbox: Sendable {
    enum Stage: Sendable {
        /// What it holds is to be asked for.
        case unknown
        /// It was asked for.
        case asked
        /// All that it holds, to be taken in its turn.
        case whole([RelayEntry])
        /// It holds more than came: it is asked for page by page, in its turn.
        case long
        /// A page of it was asked for.
        case paging
        /// All that was there has been taken; what comes from now on is pushed.
        case read
    }

    let use: MailboxUse
    let key: DeviceSigningKey
    /// The day that its drop is of; the last there is for an inbox.
    let day: RelayDay
    /// Everything up to this counter was taken.
    var cursor: UInt64
    var stage = Stage.unknown
    /// Of what it holds the newest, until that was looked at.
    var newest: [RelayEntry] = []
    /// Something was pushed before that, or not told: there is another page to ask for.
    var hasMore = false
    /// The relay was asked to push what comes.
    var isLive = false
    /// The relay had no time to be asked to push what comes.
    var lacksSubscription = false
    /// It is asked to push only after what was there was asked for.
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
        if case .whole(let entries) = stage { waiting += entries }
        return waiting.reduce(0) { $0 + $1.envelope.count }
    }
}

/// What a request was for.
enum RelayQuestion: Equatable, Sendable {
    /// The oldest that was not taken yet.
    case page(MailboxID)
    /// The newest, which most often is all.
    case glance(MailboxID)
    case put(SpaceNumber, LogTag, Range<UInt64>)
    /// The same for one of those who read there; the last of them stands for all.
    case letter(SpaceNumber, LogTag, Range<UInt64>, isLast: Bool)
    case subscribe(MailboxID)
    case welcome(SpaceNumber, DeviceID, epoch: OperationID)
    /// This person asks another one to be a contact, by one of their devices.
    case request(PersonID, DeviceID)
    /// How far this device is, for one that has not said that it holds as much.
    case reminder(SpaceNumber, DeviceID)
    /// A mailbox on a relay that may need a ticket for it, and the one that was shown.
    case open(MailboxID, ticket: [UInt8]?)
    /// A card, for those who take an invite.
    case inviteCard(UInt64, Digest)
    /// The card of who gave an invite.
    case card(MailboxID)
    /// Something that is of use now or never.
    case passing
    /// Whatever comes of it changes nothing.
    case whatever

    /// Whether it asks somebody to be a contact.
    var isRequest: Bool {
        if case .request = self { true } else { false }
    }

    /// Whether it is about somebody's inbox, to which something was to go that matters.
    var isLetter: Bool {
        switch self {
        case .letter, .welcome, .request, .reminder, .passing: true
        case .page, .glance, .put, .subscribe, .open, .inviteCard, .card, .whatever: false
        }
    }
}

/// A request that has no answer yet.
struct AskedQuestion: Equatable, Sendable {
    let question: RelayQuestion
    let mailbox: MailboxID
}

/// A connection to a relay as the core sees it.
struct RelayLine: Sendable {
    enum Phase: Sendable { case idle, calling, open }

    /// Where it may be, by who says so.
    var places: RelayPlaces
    /// Whether this device reads there; else it only brings something.
    var isReading: Bool
    var phase = Phase.idle
    var failureCount: UInt64 = 0
    /// When the connection came about, on the monotonic clock.
    var openedAt: UInt64 = 0
    /// How many connections in a row ended soon after they had come about.
    var shortCount: UInt64 = 0
    var day = RelayDay.zero
    /// When it last told another day than before, and when all was last put again for that, on the
    /// monotonic clock.
    var dayToldAt: UInt64?
    /// A day that it told too soon after another.
    var nextDay: RelayDay?
    var leaptAt: UInt64?
    var lastNumber: UInt64 = 0
    var questions: [UInt64: AskedQuestion] = [:]
    var mailboxes: [MailboxID: OpenMailbox] = [:]
    /// Mailboxes that are not read yet, by space, in the order in which they are.
    var queues: [SpaceNumber?: Queue<MailboxID>] = [:]
    /// The look at all spaces for mailboxes to read, while it goes on.
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
    /// The relay wants to be left alone until this moment of the monotonic clock.
    var busyUntil: UInt64 = 0
    /// How often in a row it had no time.
    var busyCount: UInt64 = 0
    /// It said goodbye, and may be back after so many milliseconds.
    var absence: UInt64?
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

    /// Whether everything that was there has been taken.
    var isDrained: Bool { !isReading || (queues.isEmpty && walk == nil) }

    /// Whether it stands and everything that was there has been taken.
    var isOpenAndDrained: Bool { phase == .open && isDrained }

    /// Bytes of envelopes that wait for their turn.
    var waitingByteCount: Int { mailboxes.values.reduce(0) { $0 + $1.waitingByteCount } }

    /// Whether this device's inbox could not be opened.
    var lacksTicket: Bool { inbox.map(unpaid.contains) ?? false }

    var putCount: Int {
        questions.values.count {
            switch $0.question {
            case .put, .letter: true
            case .page, .glance, .subscribe, .welcome, .request, .reminder, .open, .inviteCard,
                .card, .passing, .whatever:
                false
            }
        }
    }

    /// Whether this was asked and has no answer yet.
    func asks(_ question: RelayQuestion) -> Bool {
        questions.values.contains { $0.question == question }
    }

    /// Signals that were given to the relay and have no answer yet.
    var passingCount: Int { questions.values.count { $0.question == .passing } }

    /// Notes that the relay has no time: as long as it says, and 1 s, 2 s, 4 s … 5 min at least.
    /// What was asked at once and is refused at once counts once. Returns how long that is.
    mutating func rest(for delay: UInt64, at now: UInt64) -> UInt64 {
        if now >= busyUntil { busyCount += 1 }
        isOwed = true
        let least = min(300_000, UInt64(500) << min(busyCount, 10))
        busyUntil = max(busyUntil, now + max(least, min(delay, 3_600_000)))
        return busyUntil - now
    }

    /// Notes that the relay did what takes it time.
    mutating func answered(_ answer: RelayAnswer, at now: UInt64) {
        switch answer {
        case .stored, .entries: if now >= busyUntil { busyCount = 0 }
        case .opened, .subscribed, .done, .pipe, .refused: break
        }
    }

    /// Begins anew: nothing that was asked is answered any more.
    mutating func reset(_ phase: Phase) {
        self.phase = phase
        questions = [:]
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
        busyUntil = 0
        busyCount = 0
        absence = nil
        isOwed = false
    }

    /// A connection that ended sooner than this, in milliseconds, was of little use.
    static let usefulTime: UInt64 = 30_000
    /// So many of these in a row may be bad luck, and are made up for at once.
    static let shortCountMax: UInt64 = 3

    /// Notes that a connection ended.
    mutating func end(at now: UInt64) {
        guard phase == .open else { return }
        shortCount = now < openedAt + Self.usefulTime ? shortCount + 1 : 0
    }

    /// 1 s, 2 s, 4 s … 5 min, and up to a quarter more; not before a relay that said goodbye may be
    /// back, as far as 5 min. One that takes each call and soon hangs up, though it fails at none, is
    /// called after 2 s, 4 s … 64 s from the fourth time on: what is asked at the beginning costs both.
    func delay(using random: inout some RandomNumberGenerator) -> UInt64 {
        // Another person's word may be tried sooner than one that failed often.
        let failures = min(failureCount, places.failureCount, 9)
        let count = max(failures, min(shortCount - min(shortCount, Self.shortCountMax), 6))
        let base = min(300_000, max(UInt64(1_000) << count, absence ?? 0))
        return base + random.next() % (base / 4)
    }
}

/// What was last known of a relay's store.
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

    /// Whether what was put and read by the days that it told before is of no use: it goes back, or on
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

/// A mailbox that is being opened.
struct Opening: Sendable {
    let key: DeviceSigningKey
    /// Who else may write; nil for a drop.
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
    }
}
