/// A frame from a client to a relay.
/// Source: `Protocol/06-relay.md`, "Frames".
public enum RelayClientFrame: Equatable, Sendable {
    /// Something is asked of a mailbox, with the right to ask it.
    case request(SignedRelayRequest)
    /// About a pipe through the relay.
    case pipe(PipeFrame)
    /// The client is still there.
    case ping
}

/// A frame from a relay to a client.
/// Source: `Protocol/06-relay.md`, "Frames".
public enum RelayServerFrame: Equatable, Sendable {
    /// What became of the request with this counter.
    case answer(to: UInt64, RelayAnswer)
    /// An envelope has come into a mailbox that the client subscribed to.
    case push(MailboxID, RelayEntry)
    /// Something that may be forgotten: it is stored nowhere, and of use for so many seconds.
    case volatile(MailboxID, lifetime: UInt8, envelope: [UInt8])
    /// Envelopes came into this mailbox that were not pushed, for the client reads too slowly: it
    /// asks for them once it can.
    case missed(MailboxID)
    /// About a pipe through the relay.
    case pipe(PipeFrame)
    /// The relay's day has changed.
    case day(RelayDay)
    /// The answer to a ping.
    case pong
    /// The relay closes in good order; it may be back after so many milliseconds.
    case bye(retryAfter: UInt32)
}

/// The relay's description of itself, in the handshake.
public struct RelayWelcome: Equatable, Sendable {
    /// How many bytes it has at most.
    public static let byteCountMax = 15 + 16 * startCountMax
    /// How many starts are reported at most.
    public static let startCountMax = 8
    /// The relay's day, which names the mailboxes of epochs.
    public var day: RelayDay
    /// The counter of the newest envelope of the whole store.
    public var newest: UInt64
    /// Whether a mailbox is only made for a ticket.
    public var needsTicket: Bool
    /// The last starts of the relay, the newest first: one to ``startCountMax``.
    public var starts: [RelayStart]

    /// A welcome with these fields.
    public init(day: RelayDay, newest: UInt64, needsTicket: Bool, starts: [RelayStart]) {
        self.day = day
        self.newest = newest
        self.needsTicket = needsTicket
        self.starts = starts
    }

    /// Whether the store has lost, or may have lost, what it had when it reported a counter: it was
    /// replaced, or rolled back, however much it has received since.
    ///
    /// - Parameter start: the newest start that was reported together with the counter.
    public func hasLost(_ counter: UInt64, toldIn start: UInt64) -> Bool {
        guard let place = starts.firstIndex(where: { $0.id == start }) else { return true }
        // What it held when that start was over, the next one says.
        return counter > (place == 0 ? newest : starts[place - 1].newest)
    }
}

/// A start of a relay, kept in its store.
public struct RelayStart: Equatable, Sendable {
    /// Drawn at random.
    public var id: UInt64
    /// The greatest counter of the store then.
    public var newest: UInt64

    /// A start with these fields.
    public init(id: UInt64, newest: UInt64) {
        self.id = id
        self.newest = newest
    }
}

/// A request in transit: the action, signed by the mailbox's key.
public struct SignedRelayRequest: Equatable, Sendable {
    /// Greater than that of any request before on this connection; the answer bears it.
    public var counter: UInt64
    /// The public key that signed: the mailbox's own, or the one that may write into it.
    public var key: DeviceID
    /// `SIG(key, "lp1/relay/req", handshake hash ‖ u64 counter ‖ request)`.
    public var signature: SignatureBytes
    /// The action.
    public var request: RelayRequest

    /// A request with these fields.
    public init(
        counter: UInt64, key: DeviceID, signature: SignatureBytes, request: RelayRequest
    ) {
        self.counter = counter
        self.key = key
        self.signature = signature
        self.request = request
    }
}

/// The action on one mailbox.
public struct RelayRequest: Equatable, Sendable {
    /// Which one.
    public var mailbox: MailboxID
    /// What.
    public var action: RelayAction

    /// A request with these fields.
    public init(_ action: RelayAction, of mailbox: MailboxID) {
        self.mailbox = mailbox
        self.action = action
    }
}

/// What can be asked of a mailbox.
public enum RelayAction: Equatable, Sendable {
    /// Make it, or let it live on. Its owner alone may. Of an inbox the owner names the keys that
    /// may write as well, of a shelf those that may read, at most ``Limits/inboxWriterCountMax``; they
    /// replace those before, and nil leaves these as they are. A drop has none.
    case open(writers: [WriterID]?, ticket: [UInt8]?)
    /// Keep an envelope. The same one again is kept once.
    case put(envelope: [UInt8])
    /// Pass an envelope to present subscribers, and store it nowhere.
    case volatile(lifetime: UInt8, envelope: [UInt8])
    /// Return stored envelopes.
    case get(RelayRange)
    /// Push new envelopes.
    case subscribe
    /// Tell no more.
    case unsubscribe
    /// Delete all up to and including this counter. Only for an inbox or a shelf: the others of a shared
    /// mailbox read it, too.
    case acknowledge(upTo: UInt64)
    /// A byte pipe to the owner of the mailbox, who is subscribed to it now.
    case pipe
}

/// Which envelopes of a mailbox are wanted, and in which order.
public struct RelayRange: Equatable, Sendable {
    /// Only those with a greater counter.
    public var after: UInt64
    /// Only those with a lesser counter; the greatest number for all.
    public var before: UInt64
    /// Whether the newest come first.
    public var isNewestFirst: Bool
    /// Bytes of envelopes in the answer; it may exceed them by the first one.
    public var byteCountMax: Int

    /// A range with these fields.
    public init(
        after: UInt64, before: UInt64 = .max, isNewestFirst: Bool = false,
        byteCountMax: Int = Limits.relayPageByteCountMax
    ) {
        self.after = after
        self.before = before
        self.isNewestFirst = isNewestFirst
        self.byteCountMax = byteCountMax
    }
}

/// An envelope as a relay keeps it.
public struct RelayEntry: Equatable, Sendable {
    /// When it came among the others of its mailbox: greater than any before, with gaps.
    public var counter: UInt64
    /// What the relay cannot open.
    public var envelope: [UInt8]

    /// An entry with these fields.
    public init(counter: UInt64, envelope: [UInt8]) {
        self.counter = counter
        self.envelope = envelope
    }
}

/// What became of a request.
public enum RelayAnswer: Equatable, Sendable {
    /// The mailbox exists, until this Unix millisecond, with room for this many bytes.
    case opened(expires: UInt64, byteCountMax: UInt64)
    /// The envelope is on the relay's disk.
    case stored(counter: UInt64)
    /// The requested entries; whether more of the range is stored; and the newest counter of the
    /// mailbox.
    case entries([RelayEntry], hasMore: Bool, newest: UInt64)
    /// Entries after this counter will be pushed.
    case subscribed(newest: UInt64)
    /// It is done.
    case done
    /// The pipe with this number stands.
    case pipe(UInt32)
    /// It was not done.
    case refused(RelayRefusal)
}

/// Why a relay refused a request.
public enum RelayRefusal: Error, Equatable, Sendable {
    /// Too much was asked, or the relay is full: again after so many milliseconds.
    case busy(retryAfter: UInt32)
    /// There is no such mailbox, or not any more: it must be opened first.
    case noMailbox
    /// The key that signed may not do this.
    case forbidden
    /// The relay makes mailboxes for tickets alone.
    case ticketNeeded
    /// The ticket is not of this relay, was used for another mailbox, or was revoked.
    case badTicket
    /// The action is not known, the envelope has no size that envelopes have, or a field breaks its
    /// bound.
    case malformed
    /// Nobody is at the other end of the pipe, or nobody answered.
    case nobodyThere
    /// The drop is full: it accepts nothing more. Its content stays.
    case full
}

/// About a pipe through the relay: bytes between two clients, which the relay does not read.
public enum PipeFrame: Equatable, Sendable {
    /// From the relay: somebody who may write into this inbox of the client's calls.
    case offered(UInt32, MailboxID)
    /// From the client: the pipe shall stand.
    case accepted(UInt32)
    /// Bytes from the other end.
    case bytes(UInt32, [UInt8])
    /// So many more bytes may be sent to the end that says so.
    case credit(UInt32, UInt32)
    /// It is over.
    case closed(UInt32)
}
