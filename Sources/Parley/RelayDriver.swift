import ParleyNodeCore
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization

/// Joins one connection to a relay to one ``ParleyRelaying/RelayClient``.
///
/// What concerns mailboxes goes to the core and comes from it. Pipes are the shell's own: to the
/// core a link through one is a link.
final class RelayDriver: ConnectionHandler {
    private struct State {
        var client: RelayClient
        var carrier: (any RelayCarrier)?
        var isOpen = false
        var isAbandoned = false
        /// What the core calls the requests that it asked.
        var numbers: [UInt64: UInt64] = [:]
        /// Pipes that were asked for.
        var calls: [UInt64: (UInt32?) -> Void] = [:]
        var pipes: [UInt32: PipedLink] = [:]
        var guests = PipeGuests()
        /// It exists for one link only, and ends with it.
        var endsWithPipes = false
        /// Nothing is read: the core has no room for more.
        var isPaused = false

        /// Forgets a pipe that is over.
        mutating func forget(_ pipe: UInt32) -> (any PipedEnd)? {
            guard let piped = pipes.removeValue(forKey: pipe) else { return nil }
            if let ticket = piped.ticket { guests.left(ticket) }
            return piped.link
        }
    }

    private struct PipedLink {
        let link: any PipedEnd
        /// Its place among those who came unasked, unless it was asked for here.
        var ticket: PipeGuests.Ticket?
    }

    /// A relay is looked at so often.
    static let tickInterval: Duration = .seconds(10)
    /// A pipe is waited for so long: twice what a relay waits for whoever is called.
    static let callTimeMax: Duration = .seconds(20)

    let relay: NoiseKey
    private let clock: NodeClock
    private let state: Mutex<State>
    private let told: @Sendable (RelayDriver, RelayNews) -> Bool
    private let admitted: @Sendable (RelayDriver) -> Bool
    private let left: @Sendable (RelayDriver) -> Void
    private let answerer: @Sendable () -> (any PipedEnd)?
    private let refused: @Sendable (PipeRefusal) -> Void
    private let finished: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - told: what the core is to be told; answers whether it may be told more now, else
    ///     ``resume()`` follows.
    ///   - admitted: asked once it is connected whether that is still wanted.
    ///   - left: told when it is connected no more.
    ///   - answerer: makes the end of a link that somebody calls for; nil where none is wanted.
    ///   - refused: told of a link through a pipe that is ended here.
    ///   - finished: called once with whether the connection was established.
    init(
        _ relay: NoiseKey, network: NetworkID, clock: NodeClock = .system,
        told: @escaping @Sendable (RelayDriver, RelayNews) -> Bool,
        admitted: @escaping @Sendable (RelayDriver) -> Bool,
        left: @escaping @Sendable (RelayDriver) -> Void,
        answerer: @escaping @Sendable () -> (any PipedEnd)?,
        refused: @escaping @Sendable (PipeRefusal) -> Void,
        finished: @escaping @Sendable (Bool) -> Void
    ) {
        var random = SystemRandom()
        self.relay = relay
        self.clock = clock
        state = Mutex(
            State(
                client: RelayClient(
                    to: relay, network: network, at: clock.now().monotonic, using: &random)))
        self.told = told
        self.admitted = admitted
        self.left = left
        self.answerer = answerer
        self.refused = refused
        self.finished = finished
    }

    // MARK: The transport's side

    func opened(_ connection: Connection) { opened(over: connection) }

    func opened(over carrier: any RelayCarrier) {
        let isAbandoned = state.withLock { state in
            state.carrier = carrier
            return state.isAbandoned
        }
        guard !isAbandoned, admitted(self) else { return carrier.close() }
        flush()
        tickLater(on: carrier)
    }

    /// Lets time pass as long as the connection stands, whoever made it and what for: else a relay that
    /// says nothing any more would be waited for without end.
    private func tickLater(on carrier: any RelayCarrier) {
        carrier.perform(after: Self.tickInterval) { [weak self] in
            guard let self, state.withLock({ $0.carrier === carrier }) else { return }
            let isSilent = state.withLock { state in
                do throws(RelayFailure) {
                    try state.client.tick(at: clock.now().monotonic)
                    return false
                } catch {
                    return true
                }
            }
            if isSilent { return end() }
            flush()
            tickLater(on: carrier)
        }
    }

    func received(_ bytes: [UInt8]) {
        let result: Result<[RelayEvent], RelayFailure> = state.withLock { state in
            do throws(RelayFailure) {
                return .success(
                    try state.client.receive(bytes[...], at: clock.now().monotonic))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let events):
            for event in events { handle(event) }
            flush()
        case .failure:
            state.withLock { $0.carrier }?.close()
        }
    }

    func becameWritable() {}

    func closed(_ reason: CloseReason) {
        let (wasOpen, isAbandoned, links, calls) = state.withLock { state in
            defer {
                state.carrier = nil
                state.pipes = [:]
                state.calls = [:]
            }
            return (
                state.isOpen, state.isAbandoned, state.pipes.sorted { $0.key < $1.key },
                state.calls.sorted { $0.key < $1.key }
            )
        }
        for (_, piped) in links { piped.link.closed(.closedByPeer) }
        for (_, call) in calls { call(nil) }
        left(self)
        guard wasOpen else { return finished(false) }
        if !isAbandoned { tell(.closed) }
    }

    private func handle(_ event: RelayEvent) {
        switch event {
        case .opened(let welcome):
            state.withLock { state in
                state.isOpen = true
                state.carrier?.markAuthenticated()
            }
            // The next request must find the connection.
            tell(.opened(welcome))
            finished(true)
        case .answered(let counter, let answer): answered(counter, answer)
        case .arrived(let mailbox, let entry): tell(.arrived(mailbox, [entry]))
        case .passed(let mailbox, _, let envelope): tell(.passed(mailbox, envelope))
        case .missed(let mailbox): tell(.missed(mailbox))
        case .day(let day): tell(.day(day))
        case .leaving(let delay):
            tell(.leaving(retryAfter: delay))
            end()
        case .drained(let pipe): state.withLock { $0.pipes[pipe] }?.link.becameWritable()
        case .called(let pipe, _): called(pipe)
        case .bytes(let pipe, let bytes): state.withLock { $0.pipes[pipe] }?.link.received(bytes)
        case .ended(let pipe):
            state.withLock { $0.forget(pipe) }?.closed(.closedByPeer)
            endIfUnused()
        }
    }

    /// Tells the core, and reads no more of the relay where that has no room for more.
    private func tell(_ news: RelayNews) {
        guard !told(self, news) else { return }
        let carrier = state.withLock { state -> (any RelayCarrier)? in
            guard !state.isPaused else { return nil }
            state.isPaused = true
            return state.carrier
        }
        carrier?.pauseReading()
    }

    /// The core has room again.
    func resume() {
        perform {
            let carrier = self.state.withLock { state -> (any RelayCarrier)? in
                guard state.isPaused else { return nil }
                state.isPaused = false
                return state.carrier
            }
            carrier?.resumeReading()
        }
    }

    private func endIfUnused() {
        if state.withLock({ $0.endsWithPipes && $0.pipes.isEmpty }) { end() }
    }

    private func answered(_ counter: UInt64, _ answer: RelayAnswer) {
        let (number, call) = state.withLock { state in
            (
                state.numbers.removeValue(forKey: counter),
                state.calls.removeValue(forKey: counter)
            )
        }
        if let number { return tell(.answered(number, answer)) }
        guard case .pipe(let pipe) = answer else { call?(nil); return }
        // Nobody waits for a pipe that was given up.
        if let call { call(pipe) } else { hangUp(pipe) }
    }

    /// A call arrives: the caller is a guest until it turns out that they are known.
    private func called(_ pipe: UInt32) {
        let now = clock.now().monotonic
        let (isOver, ticket, displaced) = state.withLock { state in
            // A relay that offers an existing pipe twice gets no answer.
            guard state.pipes[pipe] == nil else {
                return (true, PipeGuests.Ticket?.none, UInt32?.none)
            }
            let (ticket, displaced) = state.guests.admit(at: now)
            let leaving = state.pipes.first { displaced != nil && $0.value.ticket == displaced }
            return (false, ticket, leaving?.key)
        }
        guard !isOver else { return }
        if let displaced {
            refused(.displaced)
            hangUp(displaced)
        }
        guard let ticket else {
            refused(.tooManyStrangers)
            return state.withLock { $0.client.hangUp(pipe) }
        }
        guard let link = answerer() else {
            return state.withLock { state in
                state.guests.known(ticket)
                state.client.hangUp(pipe)
            }
        }
        state.withLock { $0.client.accept(pipe) }
        begin(PipedLink(link: link, ticket: ticket), in: pipe)
    }

    /// Runs a link through a pipe, whose handshake has as long as on a connection of its own.
    private func begin(_ piped: PipedLink, in pipe: UInt32) {
        let (link, carrier) = (piped.link, state.withLock { $0.carrier })
        guard let carrier else { return link.closed(.closedByPeer) }
        let before = state.withLock { $0.pipes.updateValue(piped, forKey: pipe) }
        before?.link.closed(.closedByPeer)
        carrier.perform(after: LinkDriver.handshakeTimeMax) { [weak self, weak link] in
            guard let self, let link, !link.isAuthenticated,
                state.withLock({ $0.pipes[pipe]?.link === link })
            else { return }
            refused(.handshakeTimeout)
            hangUp(pipe)
        }
        link.opened(over: PipeCarrier(pipe, of: link, through: self))
    }

    /// Sends what the client has to say.
    private func flush() {
        let (bytes, carrier) = state.withLock { ($0.client.output(), $0.carrier) }
        if !bytes.isEmpty { carrier?.send(bytes) }
    }

    // MARK: The node's side

    /// Whether requests are taken.
    var isOpen: Bool { state.withLock { $0.isOpen && $0.carrier != nil } }

    var remoteAddress: String { state.withLock { $0.carrier?.remoteAddress ?? "" } }

    /// Asks what the core wants to know.
    func ask(_ request: MailboxRequest) {
        perform {
            self.state.withLock { state in
                let access = MailboxAccess(request.mailbox, key: request.key)
                let counter = state.client.ask(request.action, as: access)
                state.numbers[counter] = request.number
            }
            self.flush()
        }
    }

    /// Asks for a pipe to the owner of an inbox, who must be there. Tells nil where they are not, where
    /// the relay is gone, and where it has not answered in time: it is told in any case.
    func call(_ mailbox: CardMailbox, _ answer: @escaping @Sendable (UInt32?) -> Void) {
        guard let carrier = state.withLock({ $0.carrier }) else { return answer(nil) }
        carrier.perform {
            let counter = self.state.withLock { state -> UInt64? in
                // The connection may have ended meanwhile: then nobody answers any more.
                guard state.carrier != nil else { return nil }
                let access = MailboxAccess(mailbox.inbox, key: mailbox.writer)
                let counter = state.client.ask(.pipe, as: access)
                state.calls[counter] = answer
                return counter
            }
            guard let counter else { return answer(nil) }
            self.flush()
            carrier.perform(after: Self.callTimeMax) { [weak self] in
                self?.state.withLock { $0.calls.removeValue(forKey: counter) }?(nil)
            }
        }
    }

    /// Runs a link through a pipe that stands.
    func run(_ link: any PipedEnd, through pipe: UInt32) {
        let isThere = perform { self.begin(PipedLink(link: link), in: pipe) }
        if !isThere { link.closed(.closedByPeer) }
    }

    /// Ends the connection; the core is told.
    func end() { state.withLock { $0.carrier }?.close() }

    /// Ends once no link runs through it any more.
    func endWithPipes() {
        state.withLock { $0.endsWithPipes = true }
        // The last one may have ended already.
        perform { self.endIfUnused() }
    }

    /// Returns once all that was asked so far is on its way.
    func hasAsked() async {
        await withCheckedContinuation { continuation in
            if !perform({ continuation.resume() }) { continuation.resume() }
        }
    }

    /// Ends the connection; nobody is told.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
        end()
    }

    // MARK: Pipes

    @discardableResult
    func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard let carrier = state.withLock({ $0.carrier }) else { return false }
        carrier.perform(work)
        return true
    }

    /// Called on the connection's loop.
    func send(_ bytes: [UInt8], through pipe: UInt32) {
        state.withLock { $0.client.send(bytes, through: pipe) }
        flush()
    }

    func hangUp(_ pipe: UInt32) {
        let link = state.withLock { state in
            state.client.hangUp(pipe)
            return state.forget(pipe)
        }
        flush()
        link?.closed(.closedHere)
        endIfUnused()
    }

    /// The peer of a link is known: it is no guest any more.
    func markKnown(_ link: (any PipedEnd)?, in pipe: UInt32) {
        state.withLock { state in
            guard let piped = state.pipes[pipe], piped.link === link, let ticket = piped.ticket
            else { return }
            state.guests.known(ticket)
            state.pipes[pipe]?.ticket = nil
        }
    }

    /// The other end gets no leave to send more, or gets it again: other pipes go on.
    func pause(_ pipe: UInt32, _ isPaused: Bool) {
        perform {
            self.state.withLock { $0.client.pause(pipe, isPaused) }
            self.flush()
        }
    }

    func pendingByteCount(of pipe: UInt32) -> Int {
        state.withLock { $0.client.pendingByteCount(of: pipe) }
    }
}
