import ParleyLedger
import ParleyReconciliation
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// What letters, envelopes and last frames hold, and who pays for it: counted in units of work.
@Suite("What is brought, and who pays for it")
struct ParcelCostTests {
    /// What all operations cost that fit a frame.
    private static let full = FrameWork.proving(operationCount: Limits.frameOperationCountMax)
    private static let rate = Allowance.Rate.person(spaceCount: 0)
    private static let putOff = LetterBook.putOff

    // MARK: Links

    @Test("Attack 322: a frame that ends the link is paid for by all that it opens to")
    func lastFrame() throws {
        var desk = try LetterDesk(seed: 322)
        let ann = desk.pair.ann.identity.person
        let cut = Array(try desk.bomb().encoded().dropLast())
        for frame in [try desk.bomb(endsLink: true).encoded(), cut] {
            let link = try desk.link(of: desk.pair.ann)
            let before = desk.core.peers.allowances.spent(by: ann)
            _ = try desk.step(.frame(link, frame))
            let isEnding = desk.core.peers.links[link]?.isEnding == true
            #expect(isEnding)
            let spent = desk.core.peers.allowances.spent(by: ann) - before
            #expect(spent >= Self.full / 2, "\(spent) units")
            _ = try desk.step(.linkClosed(link))
        }
    }

    @Test("Attack 323: who ends each link so is let in a few times, and then once a minute")
    func putOff() throws {
        var desk = try LetterDesk(seed: 323)
        let frame = try desk.bomb(endsLink: true).encoded()
        func admitted(_ linkCount: Int) throws -> Int {
            var count = 0
            for _ in 0..<linkCount {
                desk.now.monotonic += 1
                let link = try desk.link(of: desk.pair.ann)
                if desk.core.peers.links[link] != nil { count += 1 }
                _ = try desk.step(.frame(link, frame))
                _ = try desk.step(.linkClosed(link))
            }
            return count
        }
        let atOnce = try admitted(100)
        #expect(atOnce == Int(Breaches.rate.burst))
        desk.now.monotonic += Breaches.rate.interval
        let later = try admitted(100)
        #expect(later == 1)
        desk.now.monotonic += 10 * Breaches.rate.interval
        let link = try desk.link(of: desk.pair.ann)
        let stands = desk.core.peers.links[link]?.session != nil
        #expect(stands, "once they behave")
    }

    @Test("Attack 324: one new operation does not pay for thousands that nobody signed")
    func mixed() throws {
        var desk = try LetterDesk(seed: 324)
        let ann = desk.pair.ann.identity
        guard case .operations(var operations) = try desk.bomb() else { return }
        let vain = FrameWork.proving(operationCount: operations.runs[1].operations.count)
        func spent(_ bring: (inout LetterDesk) throws -> Void) throws -> UInt64 {
            let before = desk.core.peers.allowances.spent(by: ann.person)
            try bring(&desk)
            return desk.core.peers.allowances.spent(by: ann.person) - before
        }
        try desk.pair.say("new", by: desk.pair.ann)
        operations.runs[0] = try desk.lastRun(of: desk.pair.ann)
        let link = try desk.link(of: desk.pair.ann)
        let frame = Frame.operations(operations)
        let onLink = try spent { _ = try $0.step(.frame(link, frame.encoded())) }
        #expect(onLink >= vain)
        var end = try desk.end(of: operations.runs[0])
        #expect(end == operations.runs[0].last + 1)
        _ = try desk.step(.linkClosed(link))
        // And what comes along in a letter.
        try desk.pair.say("newer", by: desk.pair.ann)
        operations.runs[0] = try desk.lastRun(of: desk.pair.ann)
        let card = try #require(try CardReader.own(of: ann, desk.pair.ann.store))
        let letter = try desk.letter(card, [.operations(operations)], by: ann.key)
        let inLetter = try spent { _ = try $0.bring(letter) }
        #expect(inLetter >= vain)
        end = try desk.end(of: operations.runs[0])
        #expect(end == operations.runs[0].last + 1)
    }

    // MARK: Relays

    @Test("Attack 325: letters that open to very many operations are paid for by who wrote them")
    func letters() throws {
        var desk = try LetterDesk(seed: 325)
        let ann = desk.pair.ann.identity
        let card = try #require(try CardReader.own(of: ann, desk.pair.ann.store))
        let bomb = try desk.bomb()
        let letters = try (0..<150).map { number in
            try desk.letter(card, [bomb], number: number, by: ann.key)
        }
        try desk.bring(letters)
        try expectPaid(for: &desk)
        // Others wait for a while and not for ever, and nothing is looked at that nobody can pay for.
        let time = 2 * Self.putOff.burst * NodeCore.pageRest
        try desk.goOn(for: time)
        let isRead = desk.isRead
        #expect(isRead)
        let bombCount = try desk.bombCount
        #expect(bombCount <= (Self.rate.burst + time * 10) / Self.full + 1)
        // What is new is taken once they can pay again.
        try desk.pair.say("behind them", by: desk.pair.ann)
        let run = try desk.lastRun(of: desk.pair.ann)
        let operations = Operations(space: desk.pair.space, endsAnswer: false, runs: [run])
        try desk.goOn(for: 10_000)
        _ = try desk.bring(try desk.letter(card, [.operations(operations)], by: ann.key))
        let end = try desk.end(of: run)
        #expect(end == run.last + 1)
    }

    @Test("Attack 326: envelopes that open to very many operations are paid for by who wrote them")
    func envelopes() throws {
        var desk = try LetterDesk(seed: 326)
        let (mailbox, envelopes) = try desk.envelopes(
            of: desk.pair.ann, with: try desk.bomb(), count: 150)
        try desk.bring(envelopes, in: mailbox)
        try expectPaid(for: &desk)
        let time = 2 * Self.putOff.burst * NodeCore.pageRest
        try desk.goOn(for: time)
        let bombCount = try desk.bombCount
        #expect(bombCount <= (Self.rate.burst + time * 10) / Self.full + 1)
        let cursor = desk.core.courier.lines[desk.pair.relay.key]?.mailboxes[mailbox]?.cursor
        #expect(cursor == UInt64.max / 2 + UInt64(envelopes.count), "none is left")
    }

    @Test("Attack 338: envelopes that open with no key are looked at as a relay may bring them")
    func junk() throws {
        var desk = try LetterDesk(seed: 338)
        let (mailbox, envelopes) = try desk.envelopes(
            of: desk.pair.ann, with: .signal([1]), count: 150, isJunk: true)
        let count = 20 * envelopes.count
        try desk.bring((0..<20).flatMap { _ in envelopes }, in: mailbox)
        try desk.goOn(for: 400)
        let atOnce = try desk.refused(.envelope)
        let least = NodeCore.envelopeWork
        #expect(atOnce > 100)
        #expect(atOnce <= (Passing.junkBurst + Passing.junkRate) / least, "\(atOnce) at once")
        #expect(atOnce < UInt64(count) / 2)
        // All of it is looked at in time, and what comes by letter meanwhile is opened.
        let ann = desk.pair.ann.identity
        let card = try #require(try CardReader.own(of: ann, desk.pair.ann.store))
        _ = try desk.bring(try desk.letter(card, by: ann.key))
        let isRead = desk.isRead
        #expect(isRead)
        try desk.goOn(for: 30_000)
        let inTime = try desk.refused(.envelope)
        #expect(inTime == UInt64(count))
    }

    /// Of what was brought others wait for no more than a portion, and all that is looked at at once costs
    /// no more than is saved up.
    private func expectPaid(for desk: inout LetterDesk) throws {
        let inStep = try desk.bombCount
        let portion = NodeCore.pageWorkMax / Self.full + 1
        #expect((1...portion).contains(inStep), "\(inStep) in a step")
        try desk.goOn(for: 400)
        let atOnce = try desk.bombCount
        #expect(atOnce > portion, "the rest is not forgotten")
        #expect(atOnce <= (Self.rate.burst + 4_000) / Self.full + 2, "\(atOnce) at once")
        let refusedCount = try desk.refused(.tooManyFrames)
        #expect(refusedCount > 0)
    }

    @Test("who writes very much loses nothing, and is charged for nothing")
    func honest() throws {
        let pair = try Pair(seed: 327)
        pair.world.stopProcess(of: pair.ben)
        let filler = String(repeating: "so much was to be told ", count: 10)
        for count in 0..<3_000 {
            try pair.say("\(count) \(filler)", by: pair.ann)
            if count % 10 == 0 { pair.world.run(for: 100) }
        }
        pair.world.run(for: 60_000)
        pair.world.stopProcess(of: pair.ann)
        pair.world.start(pair.ben)
        pair.world.run(for: 30_000)
        let count = try pair.ben.messages(in: pair.space, limit: 4_000).count
        #expect(count == 3_000)
        let name = Array(Refusal.tooManyFrames.rawValue.utf8)
        let refusedCount = try pair.ben.store.number(.refusal, name) ?? 0
        #expect(refusedCount == 0)
        let spent = pair.ben.core.peers.allowances.spent(by: pair.ann.identity.person)
        #expect(spent < 1_000, "\(spent) units")
    }

    // MARK: Prekeys

    @Test("Attack 327: of very many prekeys the newest is tried first, and each further one costs")
    func prekeys() throws {
        var desk = try LetterDesk(seed: 328)
        let ben = desk.pair.ben.identity
        let (wall, hour) = (desk.now.wall, UInt64(3_600_000))
        try desk.store.begin(.normal)
        for number in 1..<UInt32(NodeCore.prekeyCountMax) {
            try Prekey(
                number: number, of: ben.key, at: wall - hour * UInt64(number), using: &desk.random
            ).keep(in: desk.store)
        }
        try desk.store.commit()
        let keyCount = try desk.store.secrets(.prekey, in: nil).count
        #expect(keyCount == NodeCore.prekeyCountMax)
        let ann = desk.pair.ann.identity
        let card = try #require(try CardReader.own(of: ann, desk.pair.ann.store))
        // All letters to the newest key, as ever.
        let letters = try (0..<100).map { try desk.letter(card, number: $0, by: ann.key) }
        let store = try #require(desk.store as? MemoryStore)
        let listCount = store.secretListCount
        try desk.bring(letters)
        let isRead = desk.isRead
        #expect(isRead)
        #expect(store.secretListCount == listCount + 1, "out of the vault once for a page")
        // Junk is tried with all of them: a relay brings as many keys to try as its allowance pays for.
        desk.now.monotonic += 10_000
        let junk = (0..<160).map { _ in [1] + desk.random.bytes(511) }
        try desk.bring(junk)
        try desk.goOn(for: 0)
        let work = Passing.work + FrameWork.trying(keyCount: NodeCore.prekeyCountMax)
        let triedCount = try desk.refused(.envelope)
        // And as what comes back meanwhile.
        #expect(triedCount <= Passing.burst / 2 / work + 10)
    }
}
