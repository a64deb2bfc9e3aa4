import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyConversation

/// Dan's home was copied, and both go on: at one place of his log stand two messages. Cara has the one that
/// the first wrote.
///
/// Source: Protocol/03-operations.md, "Receipts".
@Suite("Receipts of logs with two branches")
struct BranchReceiptTests {
    private let cast: Cast
    private let twin: Writer
    private let former, told, other: OperationReference

    init() throws {
        cast = try Cast(seed: 7)
        former = try cast.dan.say("to all")
        try cast.meet()
        twin = Writer(key: cast.dan.key, replica: try cast.newReplica(seed: 8), seed: 9)
        try twin.catchUp(with: cast.all)
        told = try cast.dan.say("the house is sold")
        other = try twin.say("the house is kept")
        #expect(told.sequence == other.sequence && told.check != other.check)
        try cast.cara.catchUp(with: [cast.dan])
    }

    private func states(of writer: Writer) throws -> [MessageState?] {
        try writer.replica.messages().map(\.state)
    }

    private func stranded(by writer: Writer) throws -> Int {
        let replica = writer.replica
        return try Overview.waitingCounts(
            of: #require(try replica.store.space(replica.space.number)), roster: replica.roster,
            ownPerson: replica.person, device: writer.key.device, in: replica.store
        ).stranded
    }

    private func proveFork() throws {
        func run(of writer: Writer) throws -> Run {
            try #require(
                try writer.logs().flatMap { $0 }.first {
                    $0.run.lane == .content && $0.place == told.sequence
                }
            ).run
        }
        let evidence = ForkEvidence(
            stored: ForkProof(
                space: cast.space, left: try run(of: cast.dan), right: try run(of: twin)))
        for replica in [cast.dan.replica, twin.replica] {
            let log = try #require(try replica.store.log(told.tag, in: replica.space.number))
            try replica.store.begin(.normal)
            try replica.store.addFork(evidence, in: log.number)
            try replica.store.commit()
        }
    }

    @Test(
        "tell by the check which branch was received, whether it was read or only came",
        arguments: [MarkKind.read, .delivered])
    func told(kind: MarkKind) throws {
        let progress = [
            Receipts.Progress(
                tag: told.tag, places: PlaceSet(0..<told.sequence + 1), check: told.check)
        ]
        let receipts =
            kind == .read ? Receipts(read: progress) : Receipts(delivered: progress)
        let state: MessageState = kind == .read ? .read : .delivered
        try cast.cara.write(receipts.draft())
        for writer in [cast.dan, twin] { try writer.catchUp(with: [cast.cara]) }
        #expect(try states(of: cast.dan) == [state, state])
        // What is said is of a branch that parts from this one somewhere, and nobody knows where.
        #expect(try states(of: twin) == [.saved, .saved])
        try proveFork()
        #expect(try states(of: cast.dan) == [state, state])
        #expect(try stranded(by: cast.dan) == 0)
        #expect(try states(of: twin) == [state, .saved])
        #expect(try stranded(by: twin) == 1)
        // What follows on a branch that somebody has is theirs only once they say so.
        try cast.dan.say("for good")
        #expect(try states(of: cast.dan) == [state, state, .saved])
        #expect(try stranded(by: cast.dan) == 1)
        try cast.dan.replica.rebuild()
        #expect(try states(of: cast.dan) == [state, state, .saved])
    }

    @Test("without a check hold below the fork")
    func untold() throws {
        let progress = Receipts.Progress(
            tag: told.tag, places: PlaceSet(0..<told.sequence + 1))
        try cast.cara.write(Receipts(delivered: [progress]).draft())
        for writer in [cast.dan, twin] { try writer.catchUp(with: [cast.cara]) }
        try proveFork()
        for writer in [cast.dan, twin] {
            #expect(try states(of: writer) == [.delivered, .saved])
            #expect(try stranded(by: writer) == 1)
        }
    }

    @Test("by an acknowledgement tell it as well")
    func acknowledged() throws {
        for writer in [cast.dan, twin] {
            let store = writer.replica.store
            try store.begin(.normal)
            try store.acknowledge(told, by: cast.cara.key.device, in: writer.replica.space.number)
            try store.commit()
        }
        try proveFork()
        #expect(try states(of: cast.dan) == [.delivered, .delivered])
        #expect(try states(of: twin) == [.delivered, .saved])
    }

    @Test("keep the check in their payload, and do without one of another length")
    func payload() throws {
        let mark = Receipts.Progress(
            tag: LogTag(7), places: PlaceSet(3..<9), check: Check(high: 1, low: 2))
        let payload = try #require(Receipts(read: [mark]).draft().payload)
        #expect(Receipts(payload: payload)?.read == [mark])
        let hexed = payload.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(
            hexed == "0a21" + "090700000000000000" + "1000" + "1003" + "1006"
                + "1a1000000000000000010000000000000002")
        var bytes = Array(payload.dropLast(1))
        bytes[1] -= 1
        bytes[18] -= 1
        #expect(
            Receipts(payload: bytes)?.read
                == [Receipts.Progress(tag: LogTag(7), places: PlaceSet(3..<9))])
    }
}
