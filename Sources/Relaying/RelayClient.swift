public import ParleySealing
public import ParleyWire

/// The right to do something with a mailbox: to read and write it, or to write only.
public struct MailboxAccess: Sendable {
    /// Which mailbox.
    public let mailbox: MailboxID
    /// The key that requests are signed with.
    public let key: DeviceSigningKey

    /// The right of all who share a drop. Its name follows from the key.
    public init(drop key: DeviceSigningKey) {
        mailbox = MailboxID(drop: key.device)
        self.key = key
    }

    /// The right of an inbox's owner. Its name follows from the key.
    public init(inbox key: DeviceSigningKey) {
        mailbox = MailboxID(inbox: key.device)
        self.key = key
    }

    /// The right of a shelf's owner. Its name follows from the key.
    public init(shelf key: DeviceSigningKey) {
        mailbox = MailboxID(shelf: key.device)
        self.key = key
    }

    /// The right of the holder of this key, which need not be the mailbox's own.
    public init(_ mailbox: MailboxID, key: DeviceSigningKey) {
        self.mailbox = mailbox
        self.key = key
    }

    /// The name that the owner of an inbox or a shelf gives the relay for this right, see
    /// ``RelayAction/open(writers:ticket:)``.
    public var writer: WriterID { WriterID(key: key.device) }
}

/// Why a connection to a relay is of no use any more.
public enum RelayFailure: Error, Equatable, Sendable {
    /// The handshake or a record did not hold.
    case link(LinkRejection)
    /// The relay said something that relays do not say.
    case malformed
    /// The relay says nothing.
    case silent
}

/// An event from a relay.
public enum RelayEvent: Equatable, Sendable {
    /// The connection is established: the relay proved its key, and sent its welcome.
    case opened(RelayWelcome)
    /// The outcome of the request with this number. Each is answered once, unless the connection
    /// ends first: then nobody knows the outcome, and asking again does no harm.
    case answered(UInt64, RelayAnswer)
    /// An envelope came into a mailbox that was subscribed to.
    case arrived(MailboxID, RelayEntry)
    /// Something that may be forgotten came, of use for so many seconds.
    case passed(MailboxID, lifetime: UInt8, envelope: [UInt8])
    /// Envelopes arrived that were not pushed: ask for what comes after the last known one.
    case missed(MailboxID)
    /// Somebody calls the owner of this inbox: ``RelayClient/accept(_:)`` or
    /// ``RelayClient/hangUp(_:)``.
    case called(UInt32, MailboxID)
    /// Bytes from the other end of a pipe.
    case bytes(UInt32, [UInt8])
    /// The other end of a pipe took so much that nothing of ours waits any more.
    case drained(UInt32)
    /// A pipe is over.
    case ended(UInt32)
    /// The relay's day, since 1970, is another one now.
    case day(RelayDay)
    /// The relay goes away, and may be back after so many milliseconds.
    case leaving(retryAfter: UInt32)
}

/// A node's end of a connection to a relay, as a value: bytes of the stream and orders in; events
/// and bytes to send out. It knows no socket, no clock and no store.
///
/// ```
/// var client = RelayClient(to: key, network: .main, at: now, using: &random)
/// send(client.output())                           after every call, until it is empty
/// for event in try client.receive(bytes, at: now) { … }
/// let number = client.ask(.put(envelope: …), as: access)    answered(number, .stored(counter:))
/// try client.tick(at: now)                        once a second or so
/// ```
///
/// Requests are numbered in the order in which they are asked, may be asked before the connection
/// stands, and are sent as far as the relay lets: the rest waits here. `now` is a clock that never
/// goes back, in milliseconds. Source: `Protocol/06-relay.md`.
public struct RelayClient: Sendable {
    /// Milliseconds of silence after which the relay is pinged.
    public static let pingInterval: UInt64 = 60_000
    /// Milliseconds for which a handshake, or the answer to a ping, is waited for.
    public static let patience: UInt64 = 20_000

    /// Milliseconds for which any answer is waited for, as long as something was asked. A slow line
    /// brings one now and then.
    public static let answerPatience: UInt64 = 30_000
    /// Milliseconds for which the answer to one question is waited for, whatever else is answered.
    public static let questionPatience: UInt64 = 120_000

    /// A key seals for so many milliseconds at most.
    public static let rekeyInterval: UInt64 = 600_000

    private struct Question {
        let counter: UInt64
        let request: RelayRequest
        let key: DeviceSigningKey
    }

    private struct Unanswered {
        /// Whether the answer can be long.
        let isLong: Bool
        /// When it was first seen waiting; nil until time has passed.
        var since: UInt64?
    }

    private var link: RelayLink
    /// What the relay told of itself, once the connection stands.
    public private(set) var welcome: RelayWelcome?
    private var handshake: [UInt8]
    private var frames: [[UInt8]] = []
    private var questions: Queue<Question> = []
    /// Requests without an answer.
    private var unanswered: [UInt64: Unanswered] = [:]
    /// When something was last answered, or nothing was to be.
    private var answeredAt: UInt64
    private var longCount = 0
    private var lastCounter: UInt64 = 0
    private var pipes: [UInt32: PipeEnd] = [:]
    private var rekeyAt: UInt64
    private var mustRekey = false
    private var heardAt: UInt64
    private var pingedAt: UInt64?

    /// A call to the relay with this key.
    public init(
        to key: NoiseKey, network: NetworkID, at now: UInt64,
        using random: inout some RandomNumberGenerator
    ) {
        link = RelayLink(callingRelay: key, network: network, using: &random)
        handshake = link.start()
        heardAt = now
        answeredAt = now
        rekeyAt = now + Self.rekeyInterval
    }

    /// How many requests have no answer yet, those that wait here included.
    public var unansweredCount: Int { unanswered.count + questions.count }

    /// The connection's hash, equal on both ends; empty until it stands.
    public var handshakeHash: [UInt8] { link.handshakeHash }

    // MARK: Orders

    /// Asks something of a mailbox.
    ///
    /// - Returns: the number that the answer bears.
    @discardableResult
    public mutating func ask(_ action: RelayAction, as access: MailboxAccess) -> UInt64 {
        lastCounter += 1
        questions.append(
            Question(
                counter: lastCounter, request: RelayRequest(action, of: access.mailbox),
                key: access.key))
        return lastCounter
    }

    /// Lets a pipe stand that was called for.
    public mutating func accept(_ pipe: UInt32) {
        guard pipes[pipe] == nil else { return }
        pipes[pipe] = PipeEnd()
        frames.append(RelayClientFrame.pipe(.accepted(pipe)).encoded())
    }

    /// Ends a pipe, or refuses one that was called for.
    public mutating func hangUp(_ pipe: UInt32) {
        pipes[pipe] = nil
        frames.append(RelayClientFrame.pipe(.closed(pipe)).encoded())
    }

    /// Sends bytes through a pipe, behind all that was sent before; what the other end has no room
    /// for waits here. Does nothing once the pipe is over.
    public mutating func send(_ bytes: [UInt8], through pipe: UInt32) {
        guard var end = pipes.removeValue(forKey: pipe) else { return }
        end.unsent.append(contentsOf: bytes)
        frames += end.takeFrames(of: pipe)
        pipes[pipe] = end
    }

    /// Grants the other end of a pipe no more credit than it has, or resumes: further bytes wait
    /// there.
    public mutating func pause(_ pipe: UInt32, _ isPaused: Bool) {
        guard var end = pipes.removeValue(forKey: pipe) else { return }
        grant(end.pause(isPaused), in: pipe)
        pipes[pipe] = end
    }

    private mutating func grant(_ credit: Int, in pipe: UInt32) {
        guard credit > 0 else { return }
        frames.append(RelayClientFrame.pipe(.credit(pipe, UInt32(credit))).encoded())
    }

    /// How many bytes wait here for the other end of a pipe to have room: a sender of much data
    /// waits for ``RelayEvent/drained(_:)``.
    public func pendingByteCount(of pipe: UInt32) -> Int { pipes[pipe]?.unsent.count ?? 0 }

    /// All that is to be sent now; empty where nothing is.
    public mutating func output() -> [UInt8] {
        var bytes = handshake
        handshake = []
        guard link.isOpen else { return bytes }
        if mustRekey {
            mustRekey = false
            bytes += link.rekey()
        }
        ask()
        if !frames.isEmpty {
            bytes += link.seal(frames)
            frames = []
        }
        return bytes
    }

    /// Signs what waited, as far as the relay takes it.
    private mutating func ask() {
        while unanswered.count < Limits.relayRequestCountMax, let question = questions.first {
            let isLong = question.request.action.isLong
            if isLong, longCount >= Limits.relayLongAnswerCountMax { return }
            _ = questions.popFirst()
            unanswered[question.counter] = Unanswered(isLong: isLong)
            if isLong { longCount += 1 }
            let signature = question.request.signature(
                by: question.key, counter: question.counter, on: link.handshakeHash)
            let signed = SignedRelayRequest(
                counter: question.counter, key: question.key.device, signature: signature,
                request: question.request)
            frames.append(RelayClientFrame.request(signed).encoded())
        }
    }

    // MARK: What comes

    /// Takes bytes of the stream, cut anywhere, and returns the events in them.
    ///
    /// - Throws: why the connection is over. Every later call throws the same.
    public mutating func receive(
        _ bytes: ArraySlice<UInt8>, at now: UInt64
    ) throws(RelayFailure) -> [RelayEvent] {
        heardAt = now
        pingedAt = nil
        let before = unanswered.count
        defer { if unanswered.count < before { answeredAt = now } }
        let told: [RelayLinkEvent]
        do throws(LinkRejection) { told = try link.receive(bytes) } catch { throw .link(error) }
        var events: [RelayEvent] = []
        for event in told {
            switch event {
            case .send(let bytes): handshake += bytes
            case .opened(let welcome):
                self.welcome = welcome
                events.append(.opened(welcome))
            case .frame(let bytes): try take(bytes, &events)
            }
        }
        return events
    }

    private mutating func take(
        _ bytes: [UInt8], _ events: inout [RelayEvent]
    ) throws(RelayFailure) {
        let decoded: RelayServerFrame?
        do throws(DecodingFailure) {
            decoded = try RelayServerFrame.decode(bytes)
        } catch {
            throw .malformed
        }
        // A frame that only newer relays know means nothing here.
        guard let frame = decoded else { return }
        switch frame {
        case .answer(let counter, let answer): try answered(counter, answer, &events)
        case .push(let mailbox, let entry): events.append(.arrived(mailbox, entry))
        case .volatile(let mailbox, let lifetime, let envelope):
            events.append(.passed(mailbox, lifetime: lifetime, envelope: envelope))
        case .missed(let mailbox): events.append(.missed(mailbox))
        case .pipe(let frame): try piped(frame, &events)
        case .day(let day): events.append(.day(day))
        case .pong: break
        case .bye(let delay): events.append(.leaving(retryAfter: delay))
        }
    }

    private mutating func answered(
        _ counter: UInt64, _ answer: RelayAnswer, _ events: inout [RelayEvent]
    ) throws(RelayFailure) {
        guard let asked = unanswered.removeValue(forKey: counter) else { throw .malformed }
        if asked.isLong { longCount -= 1 }
        if case .pipe(let pipe) = answer { pipes[pipe] = PipeEnd() }
        events.append(.answered(counter, answer))
    }

    private mutating func piped(
        _ frame: PipeFrame, _ events: inout [RelayEvent]
    ) throws(RelayFailure) {
        switch frame {
        case .offered(let pipe, let mailbox): events.append(.called(pipe, mailbox))
        case .accepted: throw .malformed
        case .bytes(let pipe, let bytes):
            // It may have been hung up here meanwhile.
            guard var end = pipes.removeValue(forKey: pipe) else { return }
            guard let credit = end.receive(bytes.count) else { throw .malformed }
            pipes[pipe] = end
            events.append(.bytes(pipe, bytes))
            grant(credit, in: pipe)
        case .credit(let pipe, let count):
            guard var end = pipes.removeValue(forKey: pipe) else { return }
            let waited = !end.unsent.isEmpty
            end.grant(Int(count))
            frames += end.takeFrames(of: pipe)
            pipes[pipe] = end
            if waited, end.unsent.isEmpty { events.append(.drained(pipe)) }
        case .closed(let pipe):
            if pipes.removeValue(forKey: pipe) != nil { events.append(.ended(pipe)) }
        }
    }

    /// Lets time pass: pings a silent relay, and changes the key now and then. The wait for answers
    /// counts from the first call after the request.
    ///
    /// - Throws: ``RelayFailure/silent`` once it has not answered for long enough.
    public mutating func tick(at now: UInt64) throws(RelayFailure) {
        if link.isOpen, now >= rekeyAt {
            rekeyAt = now + Self.rekeyInterval
            mustRekey = true
        }
        if let since = link.isOpen ? pingedAt : heardAt {
            guard now < since + Self.patience else { throw .silent }
        } else if now >= heardAt + Self.pingInterval {
            pingedAt = now
            frames.append(RelayClientFrame.ping.encoded())
        }
        if link.isOpen { try awaitAnswers(at: now) }
    }

    /// A relay that is connected and does not answer is of no use: another connection may be.
    private mutating func awaitAnswers(at now: UInt64) throws(RelayFailure) {
        var oldest = now
        // The least is the same in any order.
        for counter in unanswered.keys {
            let since = unanswered[counter]?.since ?? now
            unanswered[counter]?.since = since
            oldest = min(oldest, since)
        }
        guard now < oldest + Self.questionPatience,
            now < max(oldest, answeredAt) + Self.answerPatience
        else { throw .silent }
    }
}

extension RelayRequest {
    /// The signature that lets the request through on the connection with this hash alone.
    func signature(
        by key: DeviceSigningKey, counter: UInt64, on handshakeHash: [UInt8]
    ) -> SignatureBytes {
        key.sign(.relayRequest, signedBytes(counter: counter, on: handshakeHash))
    }

    /// `handshake hash[64] ‖ u64 counter ‖ request`.
    func signedBytes(counter: UInt64, on handshakeHash: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.raw(handshakeHash)
        writer.uint64(counter)
        writer.raw(encoded)
        return writer.bytes
    }
}
