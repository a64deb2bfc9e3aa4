import ParleyConversation
public import ParleyNodeCore
import ParleyRelaying
import ParleySealing
import ParleyWire

// Relays draw from streams of their own: a world without one is what it was before there were any.
extension World {
    /// A new relay, which nobody uses yet.
    public func addRelay(_ name: String) -> SimulatedRelay {
        let relay = SimulatedRelay(
            name: name, seed: seed, index: relays.count, at: Self.epoch + now)
        relays.append(relay)
        events.insert(.relay(relay.index, .tick), at: now + 1_000)
        return relay
    }

    /// A person uses a relay from now on, or until a time.
    public func use(
        _ relay: SimulatedRelay, by node: SimulatedNode, until: UInt64? = nil,
        tickets: [[UInt8]] = []
    ) throws(CommandRefusal) {
        let choice = RelayChoice(relay: relay.key, addresses: [relay.address], until: until)
        _ = try perform(.chooseRelays([choice], tickets: tickets), on: node)
    }

    /// A ticket that a relay takes once.
    public func issueTicket(of relay: SimulatedRelay) -> [UInt8] {
        let ticket = relay.random.bytes(Limits.ticketByteCount)
        relay.store.issue(digest(.relayTicket, ticket), byteCountMax: 64 << 20)
        return ticket
    }

    // MARK: Faults

    /// A relay answers nobody any more.
    public func stop(_ relay: SimulatedRelay) {
        relay.isDown = true
        for connection in relay.callers.keys.sorted() { hangUp(connection, of: relay) }
        for link in wires.keys.sorted() {
            if let wire = wires[link], wire.relay == relay.index { close(wire) }
        }
    }

    /// A relay says goodbye to all, and starts again at once.
    public func sayGoodbye(of relay: SimulatedRelay, retryAfter: UInt32) {
        carryOut(
            relay.relay.handle(.leaving(retryAfter: retryAfter), at: Self.epoch + now), of: relay)
        start(relay)
    }

    /// A relay answers again.
    public func start(_ relay: SimulatedRelay) {
        relay.isDown = false
        relay.store.restart(relay.random.next())
        relay.relay = Relay(policy: relay.policy, at: Self.epoch + now)
    }

    /// A relay is set up anew: it starts again with nothing.
    public func wipe(_ relay: SimulatedRelay) {
        stop(relay)
        relay.store = MemoryRelayStore(start: relay.random.next())
        start(relay)
    }

    /// Keeps a copy of all that a relay has.
    public func copyStore(of relay: SimulatedRelay) { relay.copy = relay.store }

    /// A relay starts again with what it had when it was last copied.
    public func rollBack(_ relay: SimulatedRelay) {
        guard let copy = relay.copy else { return }
        stop(relay)
        relay.store = copy
        start(relay)
    }

    // MARK: What nodes want

    func callRelay(_ key: NoiseKey, at addresses: [String], from index: Int) {
        leaveRelay(key, from: index)
        guard let relay = relays.first(where: { $0.key == key }), !relay.isDown,
            addresses.contains(relay.address), !relayless.contains(index)
        else {
            schedule(.relay(key, .closed), for: index, at: now + 10)
            return
        }
        events.insert(
            .relay(relay.index, .called(by: index, life: nodes[index].life)),
            at: now + draw(relay))
    }

    func ask(_ key: NoiseKey, _ request: MailboxRequest, from index: Int) {
        ask(
            key, RelayRequest(request.action, of: request.mailbox), by: request.key.device,
            counter: request.number, from: index)
    }

    /// Asks a relay for something over the connection that a node has to it.
    func ask(
        _ key: NoiseKey, _ request: RelayRequest, by asker: DeviceID, counter: UInt64,
        from index: Int
    ) {
        guard let relay = relays.first(where: { $0.key == key }),
            let connection = connection(of: index, to: relay)
        else { return }
        let checked = CheckedRequest(simulated: request, by: asker, counter: counter)
        events.insert(
            .relay(relay.index, .request(connection, checked)),
            at: arrival(on: connection, of: relay))
    }

    func leaveRelay(_ key: NoiseKey, from index: Int) {
        guard let relay = relays.first(where: { $0.key == key }),
            let connection = connection(of: index, to: relay)
        else { return }
        relay.callers[connection] = nil
        carryOut(relay.relay.handle(.closed(connection), at: Self.epoch + now), of: relay)
    }

    /// A node loses its connection to a relay, and is told.
    func loseRelay(_ key: NoiseKey, of index: Int) {
        guard let relay = relays.first(where: { $0.key == key }),
            let connection = connection(of: index, to: relay)
        else { return }
        hangUp(connection, of: relay)
    }

    /// The process of a node is gone, and with it its connections.
    func leaveRelays(of index: Int) {
        for relay in relays { leaveRelay(relay.key, from: index) }
    }

    private func connection(of index: Int, to relay: SimulatedRelay) -> RelayConnection? {
        relay.callers.filter { $0.value.node == index }.keys.sorted().last
    }

    /// What was sent before comes before the end: a node is told of no connection that has ended.
    private func hangUp(_ connection: RelayConnection, of relay: SimulatedRelay) {
        guard let caller = relay.callers.removeValue(forKey: connection) else { return }
        carryOut(relay.relay.handle(.closed(connection), at: Self.epoch + now), of: relay)
        guard nodes[caller.node].life == caller.life else { return }
        let end = max(now, relay.lastArrivals.removeValue(forKey: connection) ?? 0)
        schedule(.relay(relay.key, .closed), for: caller.node, at: end + 1)
    }

    // MARK: Pipes

    /// The relay through which a device can be called, and its node; nil where there is none.
    func pipe(to target: DialTarget, from index: Int) -> (relay: Int, node: Int)? {
        guard !relays.isEmpty, !relayless.contains(index),
            let far = nodes.firstIndex(where: { $0.identity.device == target.device }),
            !nodes[far].isDown
        else { return nil }
        for mailbox in target.mailboxes {
            guard let relay = relays.first(where: { $0.key == mailbox.relay }), relay.hasPipes,
                !relay.isDown, connection(of: far, to: relay) != nil
            else { continue }
            return (relay.index, far)
        }
        return nil
    }

    // MARK: What happens at a relay

    func happens(_ occurrence: RelayOccurrence, at index: Int) {
        let relay = relays[index]
        let time = Self.epoch + now
        switch occurrence {
        case .called(let node, let life):
            guard nodes[node].life == life, !nodes[node].isDown else { return }
            guard !relay.isDown else {
                schedule(.relay(relay.key, .closed), for: node, at: now + 1)
                return
            }
            let connection = RelayConnection(relay.nextConnection)
            relay.nextConnection += 1
            relay.callers[connection] = SimulatedRelay.Caller(node: node, life: life)
            carryOut(relay.relay.handle(.opened(connection, origin: []), at: time), of: relay)
            let welcome = Relay.welcome(
                starts: relay.store.starts, newest: relay.store.newest,
                policy: relay.policy, at: time)
            tell(.opened(distort(welcome, of: relay)), on: connection, of: relay)
        case .request(let connection, let request):
            guard relay.callers[connection] != nil else { return }
            let isCut = isCut(at: relay)
            if isCut { relay.deaf = connection }
            carryOut(relay.relay.handle(.request(connection, request), at: time), of: relay)
            relay.deaf = nil
            if isCut { hangUp(connection, of: relay) }
        case .tick:
            // Clients are there as long as their connections are.
            for connection in relay.callers.keys.sorted() {
                _ = relay.relay.handle(.ping(connection), at: time)
            }
            carryOut(relay.relay.handle(.tick, at: time), of: relay)
            for frame in tellAnyDay(at: relay) {
                carryOut([.send(relay.callers.keys.sorted(), frame)], of: relay)
            }
            events.insert(.relay(index, .tick), at: now + 10_000)
        }
    }

    private func carryOut(_ effects: [RelayEffect], of relay: SimulatedRelay) {
        let time = Self.epoch + now
        for effect in effects {
            switch effect {
            case .send(let connections, let frame):
                for news in distort(frame, of: relay).compactMap(RelayNews.init) {
                    for connection in connections where connection != relay.deaf {
                        tell(news, on: connection, of: relay)
                    }
                }
            case .close(let connection, _): hangUp(connection, of: relay)
            case .pause: break
            case .perform(let number, let order):
                guard let outcome = outcome(of: order, at: relay) else { continue }
                forget(order, relay)
                carryOut(relay.relay.handle(.performed(number, outcome), at: time), of: relay)
            }
        }
    }

    /// A relay that loses what it answered for.
    private func forget(_ order: RelayOrder, _ relay: SimulatedRelay) {
        guard relay.lossEvery > 0, case .put(let mailbox, _, _, _, _) = order,
            relay.random.next() % relay.lossEvery == 0
        else { return }
        relay.store.lose(mailbox)
    }

    /// A relay tells a node something, if that is connected, whatever is true.
    public func tell(_ news: RelayNews, by relay: SimulatedRelay, to node: SimulatedNode) {
        guard let index = nodes.firstIndex(where: { $0 === node }),
            let connection = connection(of: index, to: relay)
        else { return }
        tell(news, on: connection, of: relay)
    }

    /// A relay tells all its clients which day it is.
    public func tellDay(by relay: SimulatedRelay) {
        let day = RelayServerFrame.day(RelayDay(at: Self.epoch + now))
        carryOut([.send(relay.callers.keys.sorted(), day)], of: relay)
    }

    private func tell(
        _ news: RelayNews, on connection: RelayConnection, of relay: SimulatedRelay
    ) {
        guard let caller = relay.callers[connection], nodes[caller.node].life == caller.life else {
            return
        }
        schedule(
            .relay(relay.key, news), for: caller.node, at: arrival(on: connection, of: relay))
    }

    private func draw(_ relay: SimulatedRelay) -> UInt64 {
        UInt64.random(in: relay.delay, using: &relay.random)
    }

    /// One connection keeps the order of what it carries, each way, as TCP does.
    private func arrival(on connection: RelayConnection, of relay: SimulatedRelay) -> UInt64 {
        let time = max(now + draw(relay), relay.lastArrivals[connection] ?? 0)
        relay.lastArrivals[connection] = time + (isChaotic ? 1 : 0)
        return time
    }
}

extension RelayNews {
    /// What the shell tells the core of a frame; nil where that is nothing.
    init?(_ frame: RelayServerFrame) {
        switch frame {
        case .answer(let number, let answer): self = .answered(number, answer)
        case .push(let mailbox, let entry): self = .arrived(mailbox, [entry])
        case .volatile(let mailbox, _, let envelope): self = .passed(mailbox, envelope)
        case .missed(let mailbox): self = .missed(mailbox)
        case .day(let day): self = .day(day)
        case .bye(let delay): self = .leaving(retryAfter: delay)
        case .pipe, .pong: return nil
        }
    }
}
