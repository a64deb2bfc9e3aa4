import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

/// A relay with its store and the clients that call it, without sockets: what one end sends, the
/// other has at once.
struct RelayWorld {
    var random = SplitMix(seed: 7)
    var now: UInt64 = 1_790_000_000_000
    var store = MemoryRelayStore(start: 42)
    var relay: Relay
    let policy: RelayPolicy
    let key: DeviceNoiseKey
    private(set) var clients: [RelayConnection: RelayClient] = [:]
    private(set) var doors: [RelayConnection: RelayDoor] = [:]
    /// What clients were told and nobody asked for yet.
    private var events: [RelayConnection: [RelayEvent]] = [:]
    private(set) var closings: [RelayConnection: RelayClosing] = [:]
    private(set) var rejections: [RelayConnection: RelayClientRejection] = [:]
    private(set) var pauses: [RelayConnection: UInt32] = [:]
    /// All that went over the wire, and every order that the store got.
    private(set) var traffic: [UInt8] = []
    /// Whether the store fails.
    var isBroken = false
    /// Whether the store carries out nothing until ``carryOut()``.
    var holdsOrders = false
    private var heldOrders: [RelayEffect] = []

    init(_ policy: RelayPolicy = RelayPolicy()) {
        self.policy = policy
        key = DeviceNoiseKey.generate(using: &random)
        relay = Relay(policy: policy, at: now)
    }

    mutating func access() -> MailboxAccess {
        MailboxAccess(drop: .generate(using: &random))
    }

    mutating func inbox() -> MailboxAccess {
        MailboxAccess(inbox: .generate(using: &random))
    }

    /// An envelope that no other is like.
    mutating func envelope(_ byteCount: Int = 512) -> [UInt8] { random.bytes(byteCount) }

    /// A new connection that stands.
    mutating func connect(from origin: [UInt8] = [1]) throws -> RelayConnection {
        let connection = RelayConnection(UInt64(doors.count) + 1)
        doors[connection] = RelayDoor(
            key: key,
            welcome: Relay.welcome(
                starts: store.starts, newest: store.newest, policy: policy, at: now),
            network: .main, using: &random)
        clients[connection] = RelayClient(
            to: key.publicKey, network: .main, at: now, using: &random)
        perform(relay.handle(.opened(connection, origin: origin), at: now))
        try run()
        return connection
    }

    mutating func disconnect(_ connection: RelayConnection) throws {
        clients[connection] = nil
        perform(relay.handle(.closed(connection), at: now))
        try run()
    }

    /// Asks, and gives the answer.
    mutating func ask(
        _ action: RelayAction, as access: MailboxAccess, by connection: RelayConnection
    ) throws -> RelayAnswer {
        let asked = clients[connection]?.ask(action, as: access)
        let number = try #require(asked)
        try run()
        let answers = take(from: connection) { event -> RelayAnswer? in
            if case .answered(number, let answer) = event { answer } else { nil }
        }
        return try #require(answers.first)
    }

    /// Gives orders to a client, and lets all that follows happen.
    mutating func order(
        _ connection: RelayConnection, _ order: (inout RelayClient) -> Void
    ) throws {
        var client = try #require(clients[connection])
        order(&client)
        clients[connection] = client
        try run()
    }

    /// Everything that a client was told since it was last asked for.
    mutating func told(_ connection: RelayConnection) -> [RelayEvent] {
        defer { events[connection] = [] }
        return events[connection, default: []]
    }

    private mutating func take<T>(
        from connection: RelayConnection, _ pick: (RelayEvent) -> T?
    ) -> [T] {
        var found: [T] = []
        events[connection] = events[connection, default: []].filter { event in
            guard let value = pick(event) else { return true }
            found.append(value)
            return false
        }
        return found
    }

    mutating func tick(after milliseconds: UInt64 = 0) throws {
        now += milliseconds
        perform(relay.handle(.tick, at: now))
        try run()
    }

    mutating func say(_ input: RelayInput) throws {
        perform(relay.handle(input, at: now))
        try run()
    }

    /// Lets bytes go to and fro until nobody says anything.
    mutating func run() throws {
        var isBusy = true
        while isBusy {
            isBusy = false
            for connection in clients.keys.sorted() {
                guard let bytes = clients[connection]?.output(), !bytes.isEmpty else { continue }
                isBusy = true
                traffic += bytes
                try deliver(bytes, from: connection)
            }
        }
    }

    /// Bytes from a client, or from somebody in its place.
    mutating func deliver(_ bytes: [UInt8], from connection: RelayConnection) throws {
        guard rejections[connection] == nil, closings[connection] == nil else { return }
        do throws(RelayClientRejection) {
            for event in try doors[connection]?.receive(bytes[...]) ?? [] {
                switch event {
                case .send(let bytes): receive(bytes, connection)
                case .opened: break
                case .request(let request):
                    perform(relay.handle(.request(connection, request), at: now))
                case .malformedRequest(let counter, let byteCount):
                    perform(
                        relay.handle(
                            .malformedRequest(connection, counter: counter, byteCount: byteCount),
                            at: now))
                case .pipe(let frame):
                    perform(relay.handle(.pipe(connection, frame), at: now))
                case .ping: perform(relay.handle(.ping(connection), at: now))
                }
            }
        } catch {
            rejections[connection] = error
        }
    }

    /// Has the store carry out all that was held.
    mutating func carryOut() throws {
        holdsOrders = false
        let orders = heldOrders
        heldOrders = []
        perform(orders)
        try run()
    }

    private mutating func perform(_ effects: [RelayEffect]) {
        for effect in effects {
            switch effect {
            case .send(let connections, let frame):
                for connection in connections {
                    let bytes = doors[connection]?.seal([frame.encoded()], at: 0) ?? []
                    traffic += bytes
                    receive(bytes, connection)
                }
            case .close(let connection, let reason): closings[connection] = reason
            case .pause(let connection, let time): pauses[connection] = time
            case .perform where holdsOrders: heldOrders.append(effect)
            case .perform(let number, let order):
                do throws(RelayStoreFailure) {
                    if isBroken { throw RelayStoreFailure("broken") }
                    let outcomes = try store.perform([order], at: now)
                    for outcome in outcomes {
                        perform(relay.handle(.performed(number, outcome), at: now))
                    }
                } catch {
                    perform(relay.handle(.failed(number), at: now))
                }
            }
        }
    }

    private mutating func receive(_ bytes: [UInt8], _ connection: RelayConnection) {
        guard !bytes.isEmpty, clients[connection] != nil else { return }
        do throws(RelayFailure) {
            let told = try clients[connection]?.receive(bytes[...], at: now) ?? []
            events[connection, default: []] += told
        } catch {
            Issue.record("the relay said something that no relay says: \(error)")
        }
    }
}

extension RelayAnswer {
    /// The counter of what was stored.
    var counter: UInt64? { if case .stored(let counter) = self { counter } else { nil } }
    /// The entries that were asked for.
    var entries: [RelayEntry]? {
        if case .entries(let entries, _, _) = self { entries } else { nil }
    }
}
