import ParleyNodeCore
import ParleyRelaying
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

@testable import Parley

/// A connection to a relay on which nothing happens by itself: work waits until a test has it done, and time
/// passes when a test lets it.
private final class HeldCarrier: RelayCarrier {
    private struct Alarm {
        var time: Duration
        var work: @Sendable () -> Void
    }
    private struct State {
        var works: Queue<@Sendable () -> Void> = []
        var alarms: [Alarm] = []
        var time = Duration.zero
        var sent: [UInt8] = []
        var isClosed = false
    }
    private let state = Mutex(State())

    var remoteAddress: String { "192.0.2.1:7448" }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var clock: NodeClock {
        NodeClock(now: { [self] in
            let time = state.withLock { $0.time }
            return Instant(monotonic: 1_000_000 + UInt64(time / .milliseconds(1)), wall: 0)
        }) { _, _, _ in }
    }

    func send(_ bytes: [UInt8]) -> Bool {
        state.withLock { $0.sent += bytes }
        return true
    }
    func markAuthenticated() {}
    func pauseReading() {}
    func resumeReading() {}
    func close() { state.withLock { $0.isClosed = true } }
    func perform(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.works.append(work) }
    }
    func perform(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.alarms.append(Alarm(time: $0.time + delay, work: work)) }
    }

    /// What was sent since this was last asked.
    func takeSent() -> [UInt8] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }

    /// Does all that waits.
    func work() {
        while let work = state.withLock({ $0.works.popFirst() }) { work() }
    }

    /// Lets so much time pass, and all be done that is due meanwhile.
    func pass(_ time: Duration) {
        let end = state.withLock { $0.time } + time
        while let alarm = due(until: end) {
            alarm.work()
            work()
        }
        state.withLock { $0.time = end }
    }

    private func due(until end: Duration) -> Alarm? {
        state.withLock { state in
            let due = state.alarms.indices.filter { state.alarms[$0].time <= end }
            guard let first = due.min(by: { state.alarms[$0].time < state.alarms[$1].time })
            else { return nil }
            state.time = max(state.time, state.alarms[first].time)
            return state.alarms.remove(at: first)
        }
    }
}

/// A relay that a test speaks for, and who calls it.
private struct Called {
    let carrier = HeldCarrier()
    let driver: RelayDriver
    private var random = SystemRandom()
    private var door: RelayDoor
    private let relay: NoiseKey

    init() {
        let key = DeviceNoiseKey.generate(using: &random)
        relay = key.publicKey
        let welcome = RelayWelcome(
            day: 20_000, newest: 0, needsTicket: false, starts: [RelayStart(id: 1, newest: 0)])
        door = RelayDoor(key: key, welcome: welcome, network: .main, using: &random)
        driver = RelayDriver(
            key.publicKey, network: .main, clock: carrier.clock,
            told: { _, _ in true }, admitted: { _ in true }, left: { _ in }, answerer: { nil },
            refused: { _ in }, finished: { _ in })
        driver.opened(over: carrier)
    }

    var mailbox: CardMailbox {
        CardMailbox(
            relay: relay, addresses: ["192.0.2.1:7448"], inbox: MailboxID { $0[0] = 1 },
            writerSeed: Digest { $0[0] = 2 })
    }

    /// Lets bytes go to and fro. Returns what the relay was told.
    mutating func run() throws -> [RelayDoorEvent] {
        var told: [RelayDoorEvent] = []
        carrier.work()
        while case let bytes = carrier.takeSent(), !bytes.isEmpty {
            for event in try door.receive(bytes[...]) {
                if case .send(let bytes) = event {
                    driver.received(bytes)
                } else {
                    told.append(event)
                }
            }
            carrier.work()
        }
        return told
    }

    mutating func say(_ frame: RelayServerFrame) {
        driver.received(door.seal([frame.encoded()], at: 0))
    }
}

@Suite("A connection to a relay")
struct RelayDriverTests {
    @Test("Attack 290: a relay that is gone while a pipe is asked of it leaves nobody waiting")
    func gone() throws {
        var called = Called()
        _ = try called.run()
        let answers = Mutex<[UInt32?]>([])
        called.driver.call(called.mailbox) { pipe in answers.withLock { $0.append(pipe) } }
        // The end comes between the call and its turn on the loop.
        called.driver.closed(.closedByPeer)
        called.carrier.work()
        #expect(answers.withLock { $0 } == [nil])
        called.driver.call(called.mailbox) { pipe in answers.withLock { $0.append(pipe) } }
        #expect(answers.withLock { $0 } == [nil, nil])
    }

    @Test(
        "Attack 290: a relay that talks on and never answers a call for a pipe is waited for 20 s, and its late answer is hung up on"
    )
    func mute() throws {
        var called = Called()
        _ = try called.run()
        let answers = Mutex<[UInt32?]>([])
        called.driver.call(called.mailbox) { pipe in answers.withLock { $0.append(pipe) } }
        let asked = try called.run()
        var counter: UInt64?
        for case .request(let request) in asked { counter = request.counter }
        for _ in 0..<19 {
            called.carrier.pass(.seconds(1))
            called.say(.day(20_001))
        }
        #expect(answers.withLock { $0.isEmpty } && !called.carrier.isClosed)
        called.carrier.pass(.seconds(1))
        #expect(answers.withLock { $0 } == [nil])
        called.say(.answer(to: try #require(counter), .pipe(7)))
        let told = try called.run()
        #expect(
            told.contains { if case .pipe(.closed(7)) = $0 { true } else { false } }, "\(told)")
        #expect(answers.withLock { $0 } == [nil])
    }

    @Test("is ended once the relay says nothing more, whatever it was made for")
    func silent() throws {
        var called = Called()
        _ = try called.run()
        called.carrier.pass(.seconds(60))
        let told = try called.run()
        #expect(told.contains { if case .ping = $0 { true } else { false } }, "\(told)")
        #expect(!called.carrier.isClosed)
        called.carrier.pass(.seconds(30))
        #expect(called.carrier.isClosed)
    }
}
