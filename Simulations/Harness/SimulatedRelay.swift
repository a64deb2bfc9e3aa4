import ParleyNodeCore
public import ParleyRelaying
import ParleySealing
public import ParleyWire

/// A relay of a simulated world: the production value on a store in memory.
public final class SimulatedRelay {
    /// Its place in ``World/relays``.
    public let index: Int
    /// What it is called.
    public let name: String
    /// Its key.
    public let key: NoiseKey
    /// What it keeps.
    public internal(set) var store: MemoryRelayStore
    /// Whether it answers.
    public internal(set) var isDown = false
    /// One envelope in so many is lost after it was answered for; 0 for none.
    public var lossEvery: UInt64 = 0
    /// What it does that it should not.
    public var mischief = RelayMischief()
    /// What it lets its clients do, from when it is started the next time.
    public var policy = RelayPolicy()
    /// Whether nodes may call each other through it.
    public var hasPipes = false
    /// How long something takes to it or from it, in milliseconds.
    public var delay: ClosedRange<UInt64> = 1...20

    var relay: Relay
    var callers: [RelayConnection: Caller] = [:]
    var nextConnection: UInt64 = 1
    var random: SeededRandom
    /// What it kept when it was last copied.
    var copy: MemoryRelayStore?
    var lastArrivals: [RelayConnection: UInt64] = [:]
    /// What it last told of each mailbox.
    var told: [MailboxID: RelayServerFrame] = [:]
    /// A client that is about to lose its connection, and hears nothing more.
    var deaf: RelayConnection?

    /// Where it is called.
    public var address: String { "\(name).example:7448" }

    /// Who is at the other end of a connection.
    struct Caller {
        let node: Int
        let life: Int
    }

    init(name: String, seed: UInt64, index: Int, at now: UInt64) {
        self.name = name
        self.index = index
        random = SeededRandom(seed: seed, purpose: "relay \(index)")
        key = DeviceNoiseKey.generate(using: &random).publicKey
        store = MemoryRelayStore(start: random.next())
        relay = Relay(policy: RelayPolicy(), at: now)
    }

    /// How many envelopes it keeps, with their names.
    public var contents: [[UInt8]] { store.contents }
}

/// What happens at a relay.
enum RelayOccurrence {
    /// A node calls.
    case called(by: Int, life: Int)
    /// A request arrives.
    case request(RelayConnection, CheckedRequest)
    /// Time passes.
    case tick
}
