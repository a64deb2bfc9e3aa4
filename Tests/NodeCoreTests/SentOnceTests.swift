import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Source: Protocol/14-local-api.md, "Said once".
@Suite("What is sent under a key")
struct SentOnceTests {
    private let world: World
    private let ann, ben: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 2_207)
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        space = try world.introduce(ann, ben)
        world.run(for: 10_000)
    }

    private func send(
        _ texts: [String], once name: String, answering parent: OperationNumber? = nil
    ) throws -> CommandReply {
        try world.perform(
            .sendOnce(
                space, texts.map { TextMessage(text: $0) }, replyingTo: parent,
                OnceKey(name, in: space)), on: ann)
    }

    @Test("is written once, however often it is sent, and answered with the same messages")
    func once() throws {
        let first = try send(["one", "two"], once: "a")
        guard case .messages(let numbers) = first else { throw CommandRefusal.empty }
        #expect(numbers.count == 2)
        #expect(try send(["one", "two"], once: "a") == first)
        #expect(try send(["something else"], once: "a") == first)
        #expect(try send([], once: "a") == first)
        #expect(try send(["one", "two"], once: "b") != first)
        world.run(for: 10_000)
        for node in [ann, ben] {
            #expect(try node.texts(in: space) == ["one", "two", "one", "two"])
        }
    }

    @Test("is another thing in another conversation, and under a name of other bytes")
    func names() throws {
        let group = try world.group("trip", [ann, ben])
        #expect(OnceKey("a", in: space) != OnceKey("a", in: group))
        #expect(OnceKey("é", in: space) != OnceKey("e\u{301}", in: space))
        #expect(OnceKey("", in: space) != OnceKey("\0", in: space))
    }

    @Test("leaves its key free where it was refused")
    func refused() throws {
        #expect(throws: CommandRefusal.empty) { try send([], once: "a") }
        #expect(throws: CommandRefusal.unknownMessage) {
            try send(["x"], once: "a", answering: OperationNumber(1 << 40))
        }
        guard case .messages = try send(["x"], once: "a") else {
            Issue.record("nothing was written")
            return
        }
    }

    @Test("is written once where the store fails at any call, and over a crash of the node")
    func crashes() throws {
        var call = 1
        var reply: CommandReply?
        while reply == nil {
            ann.store.fail(atCall: call)
            do {
                reply = try send(["hello"], once: "a")
            } catch CommandRefusal.rejoining {
                // What a simulated shell says of a step that was not done.
                #expect(try ann.texts(in: space).isEmpty)
            }
            ann.store.failNoMore()
            call += 1
        }
        #expect(call > 10)
        // The answer was lost with the program that asked; the machine loses its power.
        world.restart(ann, losingPower: true)
        world.run(for: 10_000)
        #expect(try send(["hello"], once: "a") == reply)
        world.run(for: 10_000)
        for node in [ann, ben] { #expect(try node.texts(in: space) == ["hello"]) }
    }

    @Test("is forgotten once so many others were sent since, and takes no more room than they")
    func bound() throws {
        let store = ann.store
        let keys = (0...SentOnce.countMax).map { OnceKey("\($0)", in: space) }
        try store.begin(.normal)
        for (place, key) in keys.enumerated() {
            try SentOnce.note(.messages([OperationNumber(Int64(place))]), key, in: store)
        }
        try store.commit()
        #expect(try SentOnce.find(keys[0], in: store) == nil)
        #expect(try SentOnce.find(keys[1], in: store)?.messages == [OperationNumber(1)])
        let last = try #require(keys.last)
        #expect(try SentOnce.find(last, in: store)?.messages.count == 1)
        #expect(try store.values(.sentOnce).count == Int(SentOnce.countMax))
        #expect(try store.values(.onceSlot).count == Int(SentOnce.countMax) + 1)
    }

    @Test("keeps what is cut or foreign from being taken for a note")
    func decoding() {
        var sent = SentOnce(slot: 300)
        sent.keptCount = 2
        sent.messages = [OperationNumber(7), OperationNumber(1 << 40)]
        #expect(SentOnce(sent.bytes) == sent)
        for length in 0..<sent.bytes.count {
            #expect(SentOnce(Array(sent.bytes.prefix(length))) != sent)
        }
        #expect(SentOnce([UInt8](repeating: 0xFF, count: 20)) == nil)
    }
}
