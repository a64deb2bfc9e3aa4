import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying
@testable import ParleySimulation

/// A relay with a few clients that ask for anything, in any order, at any time.
private struct HostileClients {
    var random: SeededRandom
    var relay: Relay
    var store: MemoryRelayStore
    var now: UInt64 = 1_790_000_000_000
    /// Orders that have no outcome yet.
    private var orders: [(RelayOrderNumber, RelayOrder)] = []
    private let keys: [DeviceSigningKey]
    private(set) var effectCount = 0
    private(set) var byteCount = 0

    init(seed: UInt64) {
        var random = SeededRandom(seed: seed, purpose: "hostile clients")
        keys = (0..<4).map { _ in DeviceSigningKey.generate(using: &random) }
        var policy = RelayPolicy()
        policy.needsTicket = random.flip()
        // Small ones are full soon.
        if random.flip() { policy.mailboxByteCountMax = 65_536 }
        relay = Relay(policy: policy, at: now)
        store = MemoryRelayStore(start: random.next())
        self.random = random
    }

    mutating func advance() throws {
        let input = input()
        try feed(input)
        while !orders.isEmpty, !random.happens(onceIn: 4) {
            let (number, order) = orders.removeFirst()
            guard !random.happens(onceIn: 16) else {
                try feed(.failed(number))
                continue
            }
            for outcome in try store.perform([order], at: now) {
                try feed(.performed(number, outcome))
            }
        }
    }

    private mutating func feed(_ input: RelayInput) throws {
        let effects = relay.handle(input, at: now)
        var byteCount = 0
        for effect in effects {
            switch effect {
            case .perform(let number, let order): orders.append((number, order))
            case .send(let clients, let frame): byteCount += clients.count * frame.encoded().count
            case .close, .pause: break
            }
        }
        effectCount = max(effectCount, effects.count)
        self.byteCount = max(self.byteCount, byteCount)
    }

    private mutating func input() -> RelayInput {
        let connection = RelayConnection(random.next() % 6)
        switch random.next() % 24 {
        case 0, 1: return .opened(connection, origin: [UInt8(random.next() % 2)])
        case 2: return .closed(connection)
        case 3...16: return .request(connection, request())
        case 17, 18: return .pipe(connection, pipeFrame())
        case 19: return .ping(connection)
        case 20: return .congested(connection, random.flip())
        case 21: return .leaving(retryAfter: UInt32(truncatingIfNeeded: random.hostile()))
        case 22:
            // Clocks go wrong: to what a board without a battery shows, and to the end of time.
            now = random.flip() ? 1_790_000_000_000 : random.hostile()
            return .tick
        default:
            now = now &+ random.next() % 100_000
            return .tick
        }
    }

    private mutating func request() -> CheckedRequest {
        let key = keys[random.below(keys.count)]
        let owner = random.flip() ? key : keys[random.below(keys.count)]
        return CheckedRequest(
            simulated: RelayRequest(action(), of: mailbox(of: owner)), by: key.device,
            counter: random.hostile())
    }

    private mutating func mailbox(of key: DeviceSigningKey) -> MailboxID {
        random.flip() ? MailboxID(drop: key.device) : MailboxID(inbox: key.device)
    }

    private mutating func action() -> RelayAction {
        let size = 512 << random.below(8)
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: size)
        return switch random.next() % 14 {
        case 0, 1, 2:
            .open(
                writers: random.flip() ? keys.prefix(9).map { WriterID(key: $0.device) } : nil,
                ticket: random.flip() ? [UInt8](repeating: 1, count: 32) : nil)
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

    private mutating func pipeFrame() -> PipeFrame {
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

@Suite("A relay's step under hostile inputs")
struct RelayStepFuzzTests {
    @Test("Attack 60: no request ends a relay, and none costs much")
    func steps() throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(FuzzPlan.seconds)
        var (life, inputCount, effectCount, byteCount) = (FuzzPlan.life, 0, 0, 0)
        repeat {
            FuzzPlan.tell("relay: PARLEY_FUZZ_LIFE=\(life)")
            var clients = HostileClients(seed: FuzzPlan.seed << 20 | life)
            for _ in 0..<2_000 where inputCount < 200 || clock.now < end {
                try clients.advance()
                inputCount += 1
            }
            effectCount = max(effectCount, clients.effectCount)
            byteCount = max(byteCount, clients.byteCount)
            life += 1
        } while clock.now < end
        // Each of six clients may be told one frame, and be closed.
        #expect(effectCount <= 64)
        #expect(byteCount <= 6 * Limits.frameByteCountMax)
        FuzzPlan.tell(
            "relay, seed \(FuzzPlan.seed): \(inputCount) inputs, at most \(effectCount) effects "
                + "and \(byteCount) bytes of one")
    }
}
