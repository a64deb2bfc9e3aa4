import ParleyLedger
import ParleyNodeCore
import ParleyConversation
import ParleySimulation
import ParleyWire
import Testing

@Suite("Credit")
struct CreditTests {
    /// Sender and receiver once measured frames differently: what was granted leaked away, and a
    /// long transfer stood still after some megabytes.
    @Test("a long transfer never runs out of credit")
    func longTransfer() throws {
        let world = World(seed: 31)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        let space = try world.introduce(ann, ben)
        world.partition([ann], [ben])
        let long = String(repeating: "a long and boring message ", count: 40)
        for block in 0..<60 {
            let texts = (0..<100).map { TextMessage(text: "\(block) \($0) \(long)") }
            _ = try world.perform(.send(space, texts, replyingTo: nil), on: ann)
        }
        world.heal()
        world.run(for: 400_000)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
        #expect(try ben.messages(in: space, limit: 10_000).count == 6_000)
    }

    @Test("a compressed run counts the same on both sides")
    func sameMeasure() throws {
        let device = try #require(DeviceID([UInt8](repeating: 3, count: 32)))
        let operations = try (0..<40).map { number in
            try Operation.make(
                OperationHeader(
                    kind: OperationKind(rawValue: 64), wallClock: UInt64(number),
                    clock: UInt64(number) << 16),
                payload: Array("message \(number)".utf8))
        }
        let run = Run(
            device: device, lane: .content, first: 0, anchor: nil, operations: operations,
            heads: [])
        let space = try #require(SpaceID([UInt8](repeating: 4, count: 32)))
        let frame = Frame.operations(
            Operations(space: space, endsAnswer: false, runs: [run]))
        let bytes = frame.encoded()
        #expect(bytes.count < run.byteCount)
        guard case .operations(let read) = try Frame.decode(bytes) else {
            Issue.record("no operations")
            return
        }
        #expect(read.runs == [run] && read.runs[0].byteCount == run.byteCount)
    }
}
