import ParleyRelaying
import ParleySealing
import ParleyWire

/// A relay's step, store and sockets aside, under the dearest things that clients do to it.
struct HostileRelay {
    /// Connections, each from another address: some of them are told of the same mailbox.
    private static let connectionCount = 16_384
    private static let toldCount = 4_096
    /// Mailboxes that a connection is told of at most.
    private static let subscriptionCount = Limits.relaySubscriptionCountMax

    private var relay: Relay
    private var store = MemoryRelayStore(start: 1)
    private var now: UInt64 = 1_790_000_000_000
    private var random = SystemRandom()
    private var counter: UInt64 = 0
    private let owner: DeviceSigningKey
    private let inbox: MailboxAccess
    /// Of mailboxes of which nobody else is told.
    private let drops: [DeviceSigningKey]
    private var door: RelayDoor
    private var client: RelayClient

    init() throws {
        var random = SystemRandom()
        owner = .generate(using: &random)
        inbox = MailboxAccess(inbox: owner)
        drops = (1..<Self.subscriptionCount).map { _ in .generate(using: &random) }
        let key = DeviceNoiseKey.generate(using: &random)
        relay = Relay(policy: .unbounded, at: now)
        let welcome = Relay.welcome(
            starts: store.starts, newest: store.newest, policy: .unbounded, at: now)
        door = RelayDoor(key: key, welcome: welcome, network: .main, using: &random)
        client = RelayClient(to: key.publicKey, network: .main, at: now, using: &random)
        for number in 0..<UInt64(Self.connectionCount) {
            let origin = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
            _ = take(.opened(RelayConnection(number), origin: origin))
        }
        _ = ask(.open(writers: nil, ticket: nil), of: inbox.mailbox, on: 0)
        for number in 0..<UInt64(Self.toldCount) {
            _ = ask(.subscribe, of: inbox.mailbox, on: number)
        }
        try shakeHands()
    }

    static func figures(sampleCount: Int) throws -> [Figure] {
        var world = try HostileRelay()
        let big = Limits.envelopeByteCountMax
        return [
            Figure(
                "hostile-relay-request",
                samples: try (0..<sampleCount).map { _ in try world.signedRequest(big) }, unit: "s",
                budget: requestBudget,
                note:
                    "a client's request with an envelope of \(big >> 10) KiB: opened, proven, ordered"
            ),
            Figure(
                "hostile-relay-told", samples: (0..<sampleCount).map { _ in world.told() },
                unit: "s",
                budget: toldBudget,
                note: "an envelope is stored of which \(toldCount) connections are told"),
            Figure(
                "hostile-relay-page", samples: try (0..<sampleCount).map { _ in try world.page() },
                unit: "s", budget: pageBudget,
                note: "a page of the smallest envelopes, found and sealed for a client"),
            Figure(
                "hostile-relay-frame", samples: (0..<sampleCount).map { _ in world.frame() },
                unit: "s", budget: frameBudget,
                note: "a frame about a pipe that is not there"),
            Figure(
                "hostile-relay-gone",
                samples: (0..<100).map { _ in world.gone() }, unit: "s",
                budget: goneBudget,
                note: "a connection ends that was told of \(subscriptionCount) mailboxes"),
            Figure(
                "hostile-relay-sweep", samples: (0..<100).map { _ in world.sweep() }, unit: "s",
                budget: sweepBudget,
                note: "\(connectionCount) connections of as many addresses are looked at, every 5 s"
            ),
        ]
    }

    // About three times what each was measured to take, in seconds.
    private static let requestBudget = 1e-3
    private static let toldBudget = 1.1e-3
    private static let pageBudget = 400e-6
    private static let frameBudget = 5e-6
    private static let goneBudget = 800e-6
    private static let sweepBudget = 5e-3

    // MARK: Inputs

    /// A request as it comes: the record is opened and the signature proven at the door.
    private mutating func signedRequest(_ byteCount: Int) throws -> Double {
        _ = client.ask(.put(envelope: random.bytes(byteCount)), as: inbox)
        let bytes = client.output()
        let start = seconds()
        for case .request(let request) in try door.receive(bytes[...]) {
            _ = relay.handle(.request(RelayConnection(1), request), at: now)
        }
        return seconds() - start
    }

    private mutating func told() -> Double {
        let envelope = random.bytes(Limits.smallestEnvelopeByteCount)
        return ask(.put(envelope: envelope), of: inbox.mailbox, on: UInt64(Self.toldCount))
    }

    private mutating func page() throws -> Double {
        counter += 1
        let range = RelayRange(after: 0)
        let effects = take(
            .request(
                RelayConnection(0),
                CheckedRequest(
                    simulated: RelayRequest(.get(range), of: inbox.mailbox), by: owner.device,
                    counter: counter))
        ).effects
        let kept = (1...UInt64(Limits.relayPageByteCountMax / Limits.smallestEnvelopeByteCount)).map
        {
            RelayEntry(
                counter: $0,
                envelope: [UInt8](repeating: 7, count: Limits.smallestEnvelopeByteCount))
        }
        var time = 0.0
        for case .perform(let number, _) in effects {
            let start = seconds()
            let answer = RelayAnswer.entries(kept, hasMore: true, newest: 1 << 40)
            for case .send(_, let frame) in relay.handle(
                .performed(number, .answer(answer)), at: now)
            {
                _ = door.seal([frame.encoded()], at: now)
            }
            time += seconds() - start
        }
        return time
    }

    private mutating func frame() -> Double {
        take(.pipe(RelayConnection(1), .credit(7, 1))).seconds
    }

    private mutating func gone() -> Double {
        counter += 1
        let connection = RelayConnection(UInt64(Self.connectionCount) + counter)
        _ = take(.opened(connection, origin: [1]))
        for key in drops + [owner] {
            // Many others are told of what the last one names as well.
            let own = key.device == owner.device ? inbox : MailboxAccess(drop: key)
            let request = CheckedRequest(
                simulated: RelayRequest(.subscribe, of: own.mailbox), by: key.device,
                counter: counter)
            for case .perform(let order, _) in take(.request(connection, request)).effects {
                _ = take(.performed(order, .answer(.subscribed(newest: 0))))
            }
        }
        return take(.closed(connection)).seconds
    }

    private mutating func sweep() -> Double {
        now += 5_000
        for number in 0..<UInt64(Self.connectionCount) { _ = take(.ping(RelayConnection(number))) }
        return take(.tick).seconds
    }

    // MARK: Steps

    private mutating func take(_ input: RelayInput) -> (seconds: Double, effects: [RelayEffect]) {
        let start = seconds()
        let effects = relay.handle(input, at: now)
        return (seconds() - start, effects)
    }

    /// Seconds of all steps of a request of the owner's; the store is not counted.
    private mutating func ask(
        _ action: RelayAction, of mailbox: MailboxID, on connection: UInt64
    ) -> Double {
        counter += 1
        let request = CheckedRequest(
            simulated: RelayRequest(action, of: mailbox), by: owner.device, counter: counter)
        let (first, effects) = take(.request(RelayConnection(connection), request))
        var time = first
        for case .perform(let number, let order) in effects {
            // What a store in memory cannot do, it says in its outcome.
            for outcome in (try? store.perform([order], at: now)) ?? [] {
                let (more, _) = take(.performed(number, outcome))
                time += more
            }
        }
        return time
    }

    private mutating func shakeHands() throws {
        while true {
            let bytes = client.output()
            if bytes.isEmpty { return }
            for case .send(let answer) in try door.receive(bytes[...]) {
                _ = try client.receive(answer[...], at: now)
            }
        }
    }
}
