import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyLedger
@testable import ParleyReconciliation

/// Small frames that ask for much.
@Suite("Questions of a peer that wants to be worked for", .timeLimit(.minutes(2)))
struct HostileQuestionTests {
    private static func question(_ space: SpaceID) -> Frame {
        .frontier(Frontier(space: space, isComplete: true, asksForMissing: true, entries: []))
    }

    @Test("Attack 285: a wish for all, of a peer that grants nothing, costs a walk and no more")
    func grantsNothing() throws {
        let ann = try End(seed: 285)
        try ann.write(1_200)
        try ann.open()
        let hello = Hello(
            capabilities: 0, wallClock: 1, generation: 1, credit: ByteCredit(clamping: 0))
        try ann.receive(.hello(hello))
        _ = ann.session.takeWalkedCount()
        let space = try ann.space()
        let logCount = UInt64(try ann.store.logs(in: space.number).count)
        for _ in 0..<1_000 {
            try ann.receive(Self.question(space.id))
            #expect(ann.session.takeWalkedCount() == logCount)
            #expect(!ann.session.mayHaveOperations && !ann.session.hasSentAll(of: space.number))
        }
        #expect(ann.operationFrames.isEmpty)
        // Once it grants something it is sent what it lacks, the newest first.
        try ann.receive(.credit(ByteCredit(clamping: 1 << 20)))
        try ann.flush()
        guard case .operations(let first)? = ann.operationFrames.first else {
            Issue.record("nothing was sent")
            return
        }
        #expect(first.runs.first?.first == 1_200 - UInt64(SpaceExchange.windowOperationCount))
    }

    @Test("Attack 285: all proofs of a space are not sent for each question")
    func proofs() throws {
        let ann = try End(seed: 288)
        try ann.write(3)
        try ann.open()
        try ann.receive(
            .hello(Hello(capabilities: 0, wallClock: 1, generation: 1, credit: .greatest)))
        let space = try ann.space()
        let question = Frontier(
            of: space, try ann.store.logs(in: space.number), asksForMissing: true)
        var toldCount = 0
        for _ in 0..<1_000 {
            try ann.receive(.frontier(question))
            toldCount += ann.session.takeOwedForks().count
        }
        #expect((1...11).contains(toldCount), "\(toldCount) times")
    }

    @Test("Attack 285: digests are computed anew only where a log changed")
    func digests() throws {
        let ann = try End(seed: 286, spaces: 3)
        for number in 1...3 { try ann.write(2, in: number) }
        try ann.open()
        let hello = Hello(
            capabilities: 0, wallClock: 1, generation: 1, credit: ByteCredit(clamping: 0))
        try ann.receive(.hello(hello))
        _ = ann.session.takeWalkedCount()
        let wrong = Digest(filling: { $0.initializeMemory(as: UInt8.self, repeating: 5) })
        for _ in 0..<100 { try ann.receive(.heartbeat(wrong)) }
        #expect(ann.session.takeWalkedCount() == 0)
        try ann.write(1, in: 2)
        try ann.receive(.heartbeat(wrong))
        #expect(ann.session.takeWalkedCount() > 0)
        // What is kept is what is computed.
        for number in 1...3 {
            let space = try ann.space(number)
            let kept = try ann.session.shared[space.number]?.digests(store: ann.store)
            let computed = try FrontierDigests(of: space.number, in: ann.store)
            #expect(kept == computed)
        }
    }

    @Test(
        "Attack 286: of messages that are large no more is read than a frame holds",
        arguments: [100, 8_192, 32_000])
    func reads(byteCount: Int) throws {
        let ann = try End(seed: 287)
        // A signature for each ten: a run ends on one.
        let flushCount = 10
        for _ in 0..<60 { try ann.write(flushCount, of: byteCount) }
        let log = try #require(try ann.log(of: ann.key.device))
        let room = Limits.operationsFrameByteCount
        for isForward in [true, false] {
            let before = ann.store.operationReadCount
            let run =
                try isForward
                ? RunReader.forward(log, from: 0, room: room, bringsAnchor: true, store: ann.store)
                : RunReader.backward(log, 0...599, room: room, store: ann.store)
            let count = try #require(run).operations.count
            #expect((1...max(flushCount, room / byteCount + 1)).contains(count))
            let read = ann.store.operationReadCount - before
            #expect(read <= 2 * count + 2 * flushCount, "\(read) for \(count)")
        }
    }
}
