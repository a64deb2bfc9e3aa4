import ParleySealing
import ParleyWire

@testable import ParleyRelaying
@testable import ParleySimulation

/// A relay with a few clients that ask for anything, in any order, at any time, and two who use it
/// as they should: see ``HonestClients``.
struct HostileClients {
    var random: SeededRandom
    var relay: Relay
    var store: MemoryRelayStore
    var now: UInt64 = 1_790_000_000_000
    var honest: HonestClients
    /// Whether the relay's clock goes as clocks do, and the relay stays.
    let isOrderly: Bool
    /// Whether there is room for next to nothing.
    let isSmall: Bool
    /// Orders that have no outcome yet.
    private var orders: [(RelayOrderNumber, RelayOrder)] = []
    /// How many orders the store did not carry out.
    private(set) var failureCount = 0
    private let keys: [DeviceSigningKey]
    private var connections: [RelayConnection] = []
    private var connectionCount: UInt64 = 0
    /// The greatest that one input has cost.
    private(set) var effectCount = 0
    private(set) var byteCount = 0

    init(seed: UInt64) throws {
        var random = SeededRandom(seed: seed, purpose: "hostile clients")
        keys = (0..<4).map { _ in DeviceSigningKey.generate(using: &random) }
        isOrderly = random.flip()
        isSmall = random.happens(onceIn: 3)
        var policy = RelayPolicy()
        policy.needsTicket = random.flip()
        // Small ones are full soon.
        if random.flip() { policy.mailboxByteCountMax = 65_536 }
        if random.flip() { policy.shelfByteCountMax = 65_536 }
        relay = Relay(policy: policy, at: now)
        let bounds = isSmall ? RelayStoreBounds(byteCountMax: 1 << 20) : RelayStoreBounds()
        store = MemoryRelayStore(start: random.next(), bounds: bounds)
        honest = HonestClients(isApart: random.flip(), number: 1 << 32, using: &random)
        self.random = random
        for number in 0..<4 as Range<UInt8> {
            store.issue(digest(.relayTicket, ticket(number)), byteCountMax: 1 << 18)
        }
        try comeHonestly()
    }

    func ticket(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    mutating func advance() throws {
        try feed(input())
        if isOrderly, random.happens(onceIn: 8) { try useHonestly() }
        while !orders.isEmpty, !random.happens(onceIn: 4) { try performNext() }
    }

    /// The store carries out the next order, or cannot.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    mutating func performNext() throws -> Bool {
        guard !orders.isEmpty else { return false }
        let (number, order) = orders.removeFirst()
        guard !random.happens(onceIn: 16) else {
            failureCount += 1
            try feed(.failed(number))
            return true
        }
        for outcome in try store.perform([order], at: now) {
            try feed(.performed(number, outcome))
        }
        return true
    }

    mutating func feed(_ input: RelayInput) throws {
        let effects = relay.handle(input, at: now)
        var byteCount = 0
        for effect in effects {
            switch effect {
            case .perform(let number, let order): orders.append((number, order))
            case .send(let clients, let frame):
                byteCount += clients.count * frame.encoded().count
                for client in clients { honest.hear(frame, on: client) }
            case .close(let client, let reason):
                connections.removeAll { $0 == client }
                honest.note(closed: client, reason)
            case .pause: break
            }
        }
        effectCount = max(effectCount, effects.count)
        self.byteCount = max(self.byteCount, byteCount)
    }

    // MARK: What liars say

    mutating func input() throws -> RelayInput {
        switch random.next() % 24 {
        case 0, 1: return opening()
        case 2: return closing()
        case 3...15: return .request(connection(), request())
        case 16:
            return .malformedRequest(connection(), counter: random.hostile(), byteCount: size())
        case 17, 18: return .pipe(connection(), pipeFrame())
        case 19: return .ping(connection())
        case 20: return .congested(connection(), random.flip())
        case 21 where !isOrderly:
            return .leaving(retryAfter: UInt32(truncatingIfNeeded: random.hostile()))
        case 22 where !isOrderly:
            // Clocks go wrong: to what a board without a battery shows, and to the end of time.
            now = random.flip() ? 1_790_000_000_000 : random.hostile()
            return .tick
        default:
            now = now &+ random.next() % 100_000
            // Who is honest says so meanwhile.
            for connection in honest.connections { try feed(.ping(connection)) }
            return .tick
        }
    }

    /// Numbers of connections are never used again.
    private mutating func opening() -> RelayInput {
        guard connections.count < 6 else { return closing() }
        connectionCount += 1
        connections.append(RelayConnection(connectionCount))
        return .opened(RelayConnection(connectionCount), origin: [UInt8(random.next() % 2)])
    }

    private mutating func closing() -> RelayInput {
        guard !connections.isEmpty else { return .closed(RelayConnection(0)) }
        return .closed(connections.remove(at: random.below(connections.count)))
    }

    /// One that stands, or is over.
    private mutating func connection() -> RelayConnection {
        connections.isEmpty || random.happens(onceIn: 16)
            ? RelayConnection(random.next() % (connectionCount + 1))
            : connections[random.below(connections.count)]
    }

    private mutating func request() -> CheckedRequest {
        let key = keys[random.below(keys.count)]
        let owner = random.flip() ? key : keys[random.below(keys.count)]
        return CheckedRequest(
            simulated: RelayRequest(action(), of: mailbox(of: owner)), by: key.device,
            counter: random.hostile())
    }

    /// One of somebody's, and now and then one of those who are honest: their names are no secret.
    private mutating func mailbox(of key: DeviceSigningKey) -> MailboxID {
        switch random.next() % 8 {
        case 0, 1, 2: MailboxID(drop: key.device)
        case 3, 4: MailboxID(inbox: key.device)
        case 5, 6: MailboxID(shelf: key.device)
        default: honest.boxes[random.below(honest.boxes.count)].mailbox
        }
    }

    private mutating func size() -> Int { 512 << random.below(8) }

    mutating func action() -> RelayAction {
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: size())
        return switch random.next() % 14 {
        case 0, 1, 2:
            .open(
                writers: random.flip() ? keys.prefix(9).map { WriterID(key: $0.device) } : nil,
                ticket: random.flip() ? ticket(UInt8(random.next() % 8)) : nil)
        case 3, 4, 5: .put(envelope: bytes)
        case 6: .volatile(lifetime: UInt8(1 + random.next() % 60), envelope: bytes)
        case 7, 8, 9:
            .get(
                RelayRange(
                    after: random.hostile(), before: random.hostile(), isNewestFirst: random.flip(),
                    byteCountMax: random.below(Limits.relayPageByteCountMax + 1)))
        case 10: .subscribe
        case 11: .unsubscribe
        case 12: .acknowledge(upTo: random.hostile())
        default: .pipe
        }
    }

    mutating func pipeFrame() -> PipeFrame {
        let pipe =
            random.flip() ? UInt32(random.next() % 4) : UInt32(truncatingIfNeeded: random.hostile())
        return switch random.next() % 6 {
        case 0: .offered(pipe, mailbox(of: keys[0]))
        case 1, 2: .accepted(pipe)
        case 3: .bytes(pipe, random.bytes(64))
        case 4: .credit(pipe, UInt32(truncatingIfNeeded: random.hostile()))
        default: .closed(pipe)
        }
    }
}
