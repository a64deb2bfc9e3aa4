import Parley
import Synchronization
import Testing

/// A client that takes the sound and pictures of calls: every connection comes about at once.
private final class Client: Sendable {
    let seat: String
    private let node: Node
    private let reading = Mutex<Task<Void, Never>?>(nil)
    private let heard = Mutex<[String]>([])

    /// - Parameter digit: what its name is made of.
    init(of node: Node, _ digit: Character) async throws {
        seat = String(repeating: digit, count: 32)
        self.node = node
        let changes = try await node.changes(after: nil, seat: seat)
        let task = Task { [weak self] in
            var call = ""
            for await change in changes {
                guard let order = change.media else { continue }
                call = order.call ?? call
                await self?.take(order, of: call)
            }
        }
        reading.withLock { $0 = task }
    }

    deinit { close() }

    /// What it was told to do.
    var orders: [String] { heard.withLock { $0 } }

    private func take(_ order: MediaLine, of call: String) async {
        heard.withLock { $0.append(order.order) }
        for news in [
            "offer": ["offer"], "answer": ["answer", "connected"], "take": ["connected"],
        ][order.order] ?? [] {
            // The call may end meanwhile.
            _ = try? await node.perform(
                TellCallMedia(seat: seat, call: call, news: news, leg: order.leg, description: news)
            )
        }
    }

    func close() { reading.withLock { $0 }?.cancel() }
}

@Suite("Calls whose sound and pictures a client takes", .timeLimit(.minutes(4)))
struct CallSeatTests {
    private static func isUp(_ call: CallView) -> Bool {
        call.members.contains { $0.connection == "connected" }
    }

    private static func code(_ body: () async throws -> Void) async -> String? {
        let error = await #expect(throws: NodeError.self) { try await body() }
        return error?.code
    }

    /// Two who talk, each by a client.
    private static func talk(_ pair: CallPair, _ ada: Client, _ ben: Client) async throws
        -> CallView
    {
        var (adas, bens) = (try await CallNews(of: pair.ada), try await CallNews(of: pair.ben))
        try await pair.ada.perform(
            StartCall(conversation: "ben", media: ["microphone"], seat: ada.seat))
        _ = await bens.next { $0.state == "ringing" }
        try await pair.ben.perform(AnswerCall(media: ["microphone"], seat: ben.seat))
        _ = await bens.next(isUp)
        return try #require(await adas.next(isUp))
    }

    @Test(
        "are begun and answered without a program, and in the place of one that was started",
        arguments: [nil, agreeableProgram])
    func talk(program: String?) async throws {
        let pair = try await CallPair(nil, program)
        let (ada, ben) = (try await Client(of: pair.ada, "a"), try await Client(of: pair.ben, "b"))
        let call = try await Self.talk(pair, ada, ben)
        #expect(call.state == "talking")
        var bens = try await CallNews(of: pair.ben)
        try await pair.ada.perform(SetCallMedia(media: []))
        _ = await bens.next { $0.members.contains { $0.name == "Ada" && $0.media.isEmpty } }
        try await pair.ada.perform(HangUpCall())
        _ = await bens.next { $0.state == "ended" }
        for (client, node) in [(ada, pair.ada), (ben, pair.ben)] {
            try await eventually("it was told that it is over", on: node) { _ in
                client.orders.first == "begin" && client.orders.last == "end"
            }
            #expect(client.orders.contains("offer") || client.orders.contains("answer"))
        }
        #expect(ada.orders.contains("media"))
        await pair.end()
    }

    @Test("end with their client, for both; and nothing rings where the last one has gone")
    func gone() async throws {
        let pair = try await CallPair(nil, nil)
        let (ada, ben) = (try await Client(of: pair.ada, "a"), try await Client(of: pair.ben, "b"))
        _ = try await Self.talk(pair, ada, ben)
        var (adas, bens) = (try await CallNews(of: pair.ada), try await CallNews(of: pair.ben))
        ada.close()
        let ended = await adas.next { $0.state == "ended" }
        #expect(ended?.reason == "the page or program that handled sound and pictures was closed")
        #expect(await bens.next { $0.state == "ended" } != nil)
        // Whoever could have answered goes: the device cannot come any more, and says so.
        let again = try await Client(of: pair.ada, "c")
        try await pair.ada.perform(StartCall(conversation: "ben", media: [], seat: again.seat))
        _ = await bens.next { $0.state == "ringing" }
        ben.close()
        #expect(await bens.next { $0.end == "media-failed" } != nil)
        #expect(await adas.next { $0.state == "ended" }?.end == "refused-by-other")
        await pair.end()
    }

    @Test(
        "Attack 280: a client takes or feeds the media of a call that another has, and floods news")
    func foreign280() async throws {
        let pair = try await CallPair(nil, nil)
        let (ada, ben) = (try await Client(of: pair.ada, "a"), try await Client(of: pair.ben, "b"))
        let (node, other) = (pair.ada, try await Client(of: pair.ada, "c"))
        let call = try await Self.talk(pair, ada, ben)
        let leg = try #require(call.members.first { !$0.isThis }?.device)
        func tell(_ seat: String, _ news: String, of id: String = call.call) async throws {
            try await node.perform(TellCallMedia(seat: seat, call: id, news: news, leg: leg))
        }
        // Feeding it: by a seat of one's own, by one that nobody has, and of a call that is none.
        #expect(await Self.code { try await tell(other.seat, "hangup") } == "not-yours")
        #expect(await Self.code { try await tell("none", "hangup") } == "not-yours")
        let none = String(repeating: "0", count: 32)
        #expect(await Self.code { try await tell(ada.seat, "hangup", of: none) } == "not-yours")
        // Taking it: by calling or answering there, or by the name of the one that has it.
        for seat in [other.seat, nil] {
            #expect(
                await Self.code {
                    try await node.perform(StartCall(conversation: "ben", media: [], seat: seat))
                } == (seat == nil ? "no-media-program" : "busy"))
            #expect(
                await Self.code {
                    try await node.perform(AnswerCall(call: "ben", media: [], seat: seat))
                } == "unknown-call")
        }
        #expect(await Self.code { _ = try await Client(of: node, "a") } == "seat-taken")
        #expect(await Self.code { _ = try await Client(of: node, "x") } == "bad-seat")
        #expect(
            await Self.code {
                try await node.perform(StartCall(conversation: "ben", media: [], seat: none))
            } == "unknown-seat")
        // News that are none, or too many: they are refused, and the call goes on.
        #expect(await Self.code { try await tell(ada.seat, "offer") } == "bad-news")
        try await tell(ada.seat, "weather")
        var flood: NodeError?
        for _ in 0..<20_000 where flood == nil {
            do { try await tell(ada.seat, "weather") } catch { flood = error as? NodeError }
        }
        #expect(flood?.code == "too-much")
        var bens = try await CallNews(of: pair.ben)
        try await node.perform(SetCallMedia(media: ["camera"]))
        #expect(
            await bens.next { $0.members.contains { $0.media == ["camera"] } }?.state == "talking")
        try await eventually("who has it is told", on: node) { _ in ada.orders.last == "media" }
        #expect(other.orders.isEmpty)
        await pair.end()
    }
}
