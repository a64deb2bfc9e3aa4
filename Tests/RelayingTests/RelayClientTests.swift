import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

@Suite("A relay's client")
struct RelayClientTests {
    /// A client and the other end of its connection.
    struct Line {
        var random = SplitMix(seed: 7)
        var client: RelayClient
        var relay: RelayLink
        static let welcome = RelayWelcome(
            day: 20_778, newest: 9, needsTicket: true, starts: [RelayStart(id: 42, newest: 3)])

        init() {
            let key = DeviceNoiseKey.generate(using: &random)
            client = RelayClient(
                to: key.publicKey, network: .main, at: 0, using: &random)
            relay = RelayLink(relay: key, welcome: Self.welcome, network: .main, using: &random)
        }

        /// Carries what the client sends to the relay; returns the frames.
        mutating func up() throws -> [RelayClientFrame] {
            var frames: [RelayClientFrame] = []
            for event in try relay.receive(client.output()[...]) {
                switch event {
                case .send(let bytes): #expect(try client.receive(bytes[...], at: 0).count == 1)
                case .opened: break
                case .frame(let bytes): frames.append(try #require(try .decode(bytes)))
                }
            }
            return frames
        }

        mutating func down(_ frames: [RelayServerFrame], at now: UInt64 = 0) throws -> [RelayEvent]
        {
            try client.receive(relay.seal(frames.map { $0.encoded() })[...], at: now)
        }
    }

    @Test("gives a relay up that is there and answers nothing for half a minute")
    func patience() throws {
        var line = Line()
        _ = try line.up()
        _ = try line.down([], at: 0)
        let access = MailboxAccess(drop: .generate(using: &line.random))
        for _ in 0..<3 { line.client.ask(.subscribe, as: access) }
        _ = try line.up()
        for now in stride(from: 10_000, through: 30_000, by: 10_000) as StrideThrough<UInt64> {
            try line.client.tick(at: now)
            _ = try line.down([.pong], at: now)
        }
        // An answer now and then is enough, for two minutes.
        var slow = line
        _ = try slow.down([.answer(to: 2, .done)], at: 39_000)
        try slow.client.tick(at: 68_000)
        _ = try slow.down([.answer(to: 1, .done)], at: 69_000)
        try slow.client.tick(at: 98_000)
        #expect(throws: RelayFailure.silent) { try slow.client.tick(at: 99_000) }
        var last = line
        for number in [1, 2] as [UInt64] {
            _ = try last.down([.answer(to: number, .done)], at: 125_000)
        }
        try last.client.tick(at: 129_000)
        #expect(throws: RelayFailure.silent) { try last.client.tick(at: 130_000) }
        #expect(throws: RelayFailure.silent) { try line.client.tick(at: 40_000) }
    }

    @Test("waits for no answer where nothing was asked")
    func idle() throws {
        var line = Line()
        _ = try line.up()
        _ = try line.down([], at: 0)
        for now in stride(from: 10_000, through: 900_000, by: 10_000) as StrideThrough<UInt64> {
            try line.client.tick(at: now)
            _ = try line.up()
            _ = try line.down([.pong], at: now)
        }
    }

    @Test("changes the key every ten minutes, and the other end follows, and does the same")
    func rekey() throws {
        var line = Line()
        _ = try line.up()
        _ = try line.down([], at: 0)
        try line.client.tick(at: 60_000)
        let plain = line.client.output()
        _ = try line.relay.receive(plain[...])
        _ = try line.down([.pong], at: 599_000)
        try line.client.tick(at: 660_000)
        let both = line.client.output()
        // A record that tells of the key, before the one with the ping.
        #expect(both.count > plain.count)
        #expect(try line.relay.receive(both[...]).count == 1)
        let key = DeviceNoiseKey.generate(using: &line.random)
        var client = RelayClient(to: key.publicKey, network: .main, at: 0, using: &line.random)
        var door = RelayDoor(
            key: key, welcome: Line.welcome, network: .main, using: &line.random)
        for event in try door.receive(client.output()[...]) {
            if case .send(let bytes) = event { _ = try client.receive(bytes[...], at: 0) }
        }
        _ = try door.receive(client.output()[...])
        let day = RelayServerFrame.day(1).encoded()
        var sizes: [Int] = []
        for now in [0, 599_999, 600_000, 600_001] as [UInt64] {
            let bytes = door.seal([day], at: now)
            let events = try client.receive(bytes[...], at: now)
            #expect(events == [.day(1)])
            sizes.append(bytes.count)
        }
        #expect(sizes[0] == sizes[1] && sizes[2] > sizes[0] && sizes[3] == sizes[0])
    }

    @Test("learns the relay's day and starts in the handshake, of which there is one at least")
    func welcome() throws {
        var line = Line()
        _ = try line.up()
        #expect(line.client.welcome == Line.welcome)
        #expect(line.client.handshakeHash == line.relay.handshakeHash)
        var silent = Line.welcome
        silent.starts = []
        #expect(throws: DecodingFailure.forbidden(field: "starts")) {
            try RelayWelcome(bytes: silent.encoded)
        }
    }

    @Test("signs what it asked before the connection stood, for this connection alone")
    func request() throws {
        var line = Line()
        let access = MailboxAccess(drop: .generate(using: &line.random))
        let number = line.client.ask(.subscribe, as: access)
        _ = try line.up()
        let frame = try #require(try line.up().first)
        guard case .request(let signed) = frame else {
            Issue.record("no request")
            return
        }
        #expect(signed.counter == number && signed.request.mailbox == access.mailbox)
        #expect(
            signed.signature.verifies(
                .relayRequest,
                signed.request.signedBytes(counter: number, on: line.relay.handshakeHash),
                by: signed.key))
        #expect(
            try line.down([.answer(to: number, .subscribed(newest: 3))])
                == [.answered(number, .subscribed(newest: 3))])
    }

    @Test("takes no answer to what it never asked")
    func unasked() throws {
        var line = Line()
        _ = try line.up()
        #expect(throws: RelayFailure.malformed) { try line.down([.answer(to: 1, .done)]) }
    }

    @Test("keeps back what the relay would not take, and sends it as answers come")
    func window() throws {
        var line = Line()
        let access = MailboxAccess(drop: .generate(using: &line.random))
        for _ in 0..<300 { line.client.ask(.unsubscribe, as: access) }
        _ = try line.up()
        #expect(try line.up().count == Limits.relayRequestCountMax)
        _ = try line.down((1...10).map { .answer(to: $0, .done) })
        #expect(try line.up().count == 10)
        #expect(line.client.unansweredCount == 290)
    }

    @Test("asks a silent relay whether it is there, and gives it up")
    func silence() throws {
        var line = Line()
        _ = try line.up()
        try line.client.tick(at: RelayClient.pingInterval)
        #expect(try line.up() == [.ping])
        _ = try line.down([.pong], at: RelayClient.pingInterval + 1)
        try line.client.tick(at: RelayClient.pingInterval + RelayClient.patience + 2)
        try line.client.tick(at: 2 * RelayClient.pingInterval + 1)
        #expect(throws: RelayFailure.silent) {
            try line.client.tick(at: 2 * RelayClient.pingInterval + RelayClient.patience + 1)
        }
    }

    @Test("sends through a pipe no more than the other end has room for")
    func pipe() throws {
        var line = Line()
        let access = MailboxAccess(drop: .generate(using: &line.random))
        let number = line.client.ask(.pipe, as: access)
        _ = try line.up()
        _ = try line.up()
        _ = try line.down([.answer(to: number, .pipe(5))])
        line.client.send([UInt8](repeating: 1, count: 300_000), through: 5)
        let sent = try line.up().reduce(0) { sum, frame in
            if case .pipe(.bytes(5, let bytes)) = frame { sum + bytes.count } else { sum }
        }
        #expect(sent == Limits.pipeCreditByteCount)
        #expect(line.client.pendingByteCount(of: 5) == 300_000 - sent)
        #expect(try line.down([.pipe(.credit(5, 100_000))]) == [.drained(5)])
        #expect(try line.down([.pipe(.closed(5))]) == [.ended(5)])
    }
}

/// A small source of numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
