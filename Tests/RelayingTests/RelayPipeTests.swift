import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRelaying

@Suite("Pipes through a relay")
struct RelayPipeTests {
    /// Ben is subscribed to his inbox; Ada may write into it.
    struct Two {
        var world: RelayWorld
        let ben: RelayConnection
        let ada: RelayConnection
        let inbox: MailboxAccess
        let writer: MailboxAccess

        init(_ policy: RelayPolicy = RelayPolicy()) throws {
            world = RelayWorld(policy)
            inbox = world.inbox()
            writer = MailboxAccess(inbox.mailbox, key: .generate(using: &world.random))
            ben = try world.connect()
            ada = try world.connect()
            _ = try world.ask(.open(writers: [writer.writer], ticket: nil), as: inbox, by: ben)
            _ = try world.ask(.subscribe, as: inbox, by: ben)
            _ = world.told(ben)
            _ = world.told(ada)
        }

        /// Ada calls, Ben accepts.
        mutating func pipe() throws -> UInt32 {
            let access = writer
            try world.order(ada) { $0.ask(.pipe, as: access) }
            guard case .called(let pipe, inbox.mailbox) = try #require(world.told(ben).first)
            else { throw RelayFailure.malformed }
            try world.order(ben) { $0.accept(pipe) }
            #expect(world.told(ada) == [.answered(1, .pipe(pipe))])
            return pipe
        }
    }

    @Test("carries bytes both ways, in their order, however many")
    func carries() throws {
        var two = try Two()
        let pipe = try two.pipe()
        let bytes = two.world.random.bytes(1_000_000)
        try two.world.order(two.ada) { $0.send(bytes, through: pipe) }
        let came = two.world.told(two.ben).flatMap { event -> [UInt8] in
            if case .bytes(pipe, let piece) = event { piece } else { [] }
        }
        #expect(came == bytes)
        #expect(two.world.told(two.ada) == [.drained(pipe)])
        try two.world.order(two.ben) { $0.send([1, 2], through: pipe) }
        #expect(two.world.told(two.ada) == [.bytes(pipe, [1, 2])])
        #expect(two.world.relay.counters.pipeBytes == 1_000_002)
    }

    @Test("ends for both when one hangs up, or is gone")
    func ends() throws {
        var two = try Two()
        let first = try two.pipe()
        try two.world.order(two.ben) { $0.hangUp(first) }
        #expect(two.world.told(two.ada) == [.ended(first)])
        let access = two.writer
        try two.world.order(two.ada) { $0.ask(.pipe, as: access) }
        guard case .called(let second, _) = try #require(two.world.told(two.ben).first) else {
            return
        }
        try two.world.order(two.ben) { $0.accept(second) }
        try two.world.disconnect(two.ada)
        #expect(two.world.told(two.ben) == [.ended(second)])
        #expect(two.world.relay.load.pipes == 0)
    }

    @Test("tells a caller that nobody is there, refuses, or does not answer")
    func nobody() throws {
        var two = try Two()
        let access = two.writer
        try two.world.order(two.ada) { $0.ask(.pipe, as: access) }
        guard case .called(let pipe, _) = try #require(two.world.told(two.ben).first) else {
            return
        }
        try two.world.order(two.ben) { $0.hangUp(pipe) }
        #expect(two.world.told(two.ada) == [.answered(1, .refused(.nobodyThere))])
        try two.world.order(two.ada) { $0.ask(.pipe, as: access) }
        try two.world.tick(after: 10_001)
        #expect(two.world.told(two.ada) == [.answered(2, .refused(.nobodyThere))])
        try two.world.disconnect(two.ben)
        #expect(
            try two.world.ask(.pipe, as: access, by: two.ada) == .refused(.nobodyThere))
        let stranger = MailboxAccess(two.inbox.mailbox, key: two.world.access().key)
        #expect(
            try two.world.ask(.pipe, as: stranger, by: two.ada) == .refused(.forbidden))
    }

    @Test("Attack 143: who is called by so many that no more fit can call whom they like")
    func apart() throws {
        var two = try Two()
        for _ in 0..<2 {
            let caller = try two.world.connect(from: [2])
            for _ in 0..<Limits.pipeCountMax {
                let access = two.writer
                try two.world.order(caller) { $0.ask(.pipe, as: access) }
            }
        }
        let offers = two.world.told(two.ben)
        #expect(offers.count == Limits.pipeOfferCountMax)
        for case .called(let pipe, _) in offers { try two.world.order(two.ben) { $0.accept(pipe) } }
        let access = two.writer
        #expect(try two.world.ask(.pipe, as: access, by: two.ada) == .refused(.nobodyThere))

        let inbox = two.world.inbox()
        _ = try two.world.ask(.open(writers: [], ticket: nil), as: inbox, by: two.ada)
        _ = try two.world.ask(.subscribe, as: inbox, by: two.ada)
        try two.world.order(two.ben) { $0.ask(.pipe, as: inbox) }
        #expect(
            two.world.told(two.ada).contains {
                if case .called(_, inbox.mailbox) = $0 { true } else { false }
            })
    }

    @Test("Attack 143: one address has only so many pipes offered, whomever it calls")
    func rate() throws {
        var two = try Two()
        let (access, share) = (two.writer, two.world.policy.calls.burst)
        let mallory = try two.world.connect(from: [2])
        for _ in 0..<share {
            try two.world.order(mallory) { $0.ask(.pipe, as: access) }
            guard case .called(let pipe, _) = try #require(two.world.told(two.ben).first) else {
                return
            }
            try two.world.order(two.ben) { $0.hangUp(pipe) }
        }
        let answer = try two.world.ask(.pipe, as: access, by: mallory)
        #expect(answer == .refused(.busy(retryAfter: 1_000)))
        #expect(two.world.told(two.ben).isEmpty)
        _ = try two.pipe()
        two.world.now += 1_000
        try two.world.order(mallory) { $0.ask(.pipe, as: access) }
        #expect(two.world.told(two.ben).count == 1)
    }

    @Test("Attack 292: who calls for many pipes before the store answers has no more than others")
    func atOnce() throws {
        var two = try Two()
        let access = two.writer
        two.world.holdsOrders = true
        let count = Limits.pipeCountMax + 4
        try two.world.order(two.ada) { client in
            for _ in 0..<count { client.ask(.pipe, as: access) }
        }
        try two.world.carryOut()
        #expect(two.world.told(two.ben).count == Limits.pipeCountMax)
        let busy = two.world.told(two.ada).filter {
            if case .answered(_, .refused(.busy)) = $0 { true } else { false }
        }
        #expect(busy.count == 4)
        #expect(two.world.relay.load.pipes == Limits.pipeCountMax)
    }

    @Test("hangs up on who sends more than the other end has room for")
    func unruly() throws {
        var two = try Two()
        let pipe = try two.pipe()
        // As if Ben had taken nothing.
        two.world.relay.pipes[pipe]?.rooms[0] = 0
        try two.world.say(.pipe(two.ada, .bytes(pipe, [1])))
        #expect(two.world.closings[two.ada] == .unruly)
        #expect(two.world.told(two.ben).last == .ended(pipe))
    }

    @Test("reads slower from who sends more than its share")
    func slow() throws {
        var two = try Two()
        let pipe = try two.pipe()
        let piece = [UInt8](repeating: 1, count: Limits.pipeFrameByteCountMax)
        let share = two.world.policy.bytes.burst / piece.count
        for _ in 0...share { try two.world.say(.pipe(two.ada, .bytes(pipe, piece))) }
        #expect(two.world.pauses[two.ada] != nil)
    }
}
