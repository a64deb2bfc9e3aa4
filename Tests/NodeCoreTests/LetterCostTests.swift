import ParleyConversation
import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// What letters cost whoever gets them, counted in signatures and answers.
@Suite("What letters cost")
struct LetterCostTests {
    /// A person with as many devices as a log takes.
    private static func stranger(
        _ random: inout SeededRandom
    ) throws -> (card: Card, key: DeviceSigningKey) {
        let root = DeviceSigningKey.generate(using: &random)
        let first = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random).publicKey
        var log = try IdentityLog.founded(
            root: root, device: first, noiseKey: noise, time: 0, using: &random)
        var parts = [
            CardPart.make(version: 1, noiseKey: noise, name: "x", addresses: [], key: first)
        ]
        for place in 0..<30 {
            let device = DeviceSigningKey.generate(using: &random)
            let noise = DeviceNoiseKey.generate(using: &random).publicKey
            let proof = IdentityOperation.proofOfPossession(
                to: log.person, by: device, noiseKey: noise)
            let author = place < 26 ? first : root
            log = try log.merging([
                log.adding(device.device, noiseKey: noise, proof: proof, by: author)
            ])
            parts.append(
                CardPart.make(version: 1, noiseKey: noise, name: "x", addresses: [], key: device))
        }
        return (
            Card(person: log.person, identity: log.encoded, parts: Array(parts.prefix(16))), first
        )
    }

    @Test("Attack 86: a stranger's letter costs its own signature, whatever card is in it")
    func strangers() throws {
        var desk = try LetterDesk(seed: 61)
        let (card, key) = try Self.stranger(&desk.random)
        let letters = try (0..<20).map { try desk.letter(card, number: $0, by: key) }
        let signatures = CountedSignatures()
        try SignatureMemory.$current.withValue(signatures) {
            for letter in letters { _ = try desk.bring(letter) }
        }
        #expect(signatures.count == letters.count)
        #expect(try desk.refused(.stranger) == UInt64(letters.count))
    }

    @Test("Attack 86: who calls themself a contact has a few looked at, and then waits")
    func liars() throws {
        var desk = try LetterDesk(seed: 62)
        var (card, key) = try Self.stranger(&desk.random)
        card = Card(
            person: desk.pair.ann.identity.person, identity: card.identity, parts: card.parts)
        let letters = try (0..<40).map { try desk.letter(card, number: $0, by: key) }
        let signatures = CountedSignatures()
        try SignatureMemory.$current.withValue(signatures) {
            for letter in letters { _ = try desk.bring(letter) }
        }
        #expect(signatures.count <= letters.count + 8 * 80)
        #expect(try desk.refused(.tooManyFrames) >= 30)
        #expect(try CardReader.identity(of: card.person, desk.store)?.person == card.person)
    }

    @Test("a contact's letter costs its own signature: what is known is not proven again")
    func contacts() throws {
        var desk = try LetterDesk(seed: 63)
        let ann = desk.pair.ann.identity
        let card = try #require(try CardReader.own(of: ann, desk.pair.ann.store))
        let letter = try desk.letter(card, number: 1 << 50, by: ann.key)
        let signatures = CountedSignatures()
        try SignatureMemory.$current.withValue(signatures) { _ = try desk.bring(letter) }
        #expect(signatures.count == 1)
        #expect(try desk.refused(.stranger) == 0)
    }

    @Test("Attack 87: a question is answered once, whenever a relay brings it again")
    func replayed() throws {
        var desk = try LetterDesk(seed: 64)
        let ann = desk.pair.ann.identity
        let card = try #require(try CardReader.own(of: ann, desk.pair.ann.store))
        let space = try #require(try desk.store.spaces().first { $0.kind == .direct })
        let question = Frame.frontier(
            Frontier(space: space.id, isComplete: true, asksForMissing: true, entries: []))
        let letter = try desk.letter(card, [question], number: 1 << 50, by: ann.key)
        func isAnswer(_ action: RelayAction) -> Bool {
            if case .put = action { true } else { false }
        }
        #expect(try desk.bring(letter).contains(where: isAnswer))
        desk.now.monotonic += 60_000
        #expect(try !desk.bring(letter).contains(where: isAnswer))
        // The node forgets what was in memory, and other letters come meanwhile.
        desk.core.courier.letters = LetterBook()
        #expect(try !desk.bring(letter).contains(where: isAnswer))
        let next = try desk.letter(card, [question], number: (1 << 50) + 1, by: ann.key)
        #expect(try desk.bring(next).contains(where: isAnswer))
        // A store that was set back from a time when the clock was ahead asks with lesser numbers.
        for minute in 0..<120 {
            desk.now.monotonic += 60_000
            let aged = try desk.letter(card, [question], number: 1 + UInt64(minute), by: ann.key)
            let isDue = minute % 60 == 59
            #expect(try desk.bring(aged).contains(where: isAnswer) == isDue, "minute \(minute)")
        }
    }

    @Test("Attack 152: envelopes far ahead in a chain are tried eight at once and one a minute")
    func walks() {
        var book = LetterBook()
        let (mallory, ann) = (DeviceID { $0[0] = 1 }, DeviceID { $0[0] = 2 })
        let far = LetterBook.freeStepCount + 1
        let tried = (0..<100).count { _ in book.takeSteps(far, of: mallory, at: 5) }
        #expect(tried == 8)
        let near = (0..<100).count { _ in book.takeSteps(far - 1, of: mallory, at: 5) }
        #expect(near == 100, "what is near costs little")
        let others = book.takeSteps(.max, of: ann, at: 5)
        #expect(others, "others are not kept waiting")
        let later = (0..<3).map { _ in book.takeSteps(far, of: mallory, at: 60_005) }
        #expect(later == [true, false, false])
    }

    @Test("Attack 146: of letters without end a relay has some opened, and keeps the rest")
    func endless() throws {
        var desk = try LetterDesk(seed: 65)
        let junk = (0..<1_000).map { _ in [1] + desk.random.bytes(511) }
        var taken: UInt64 = 0
        func acknowledged(_ actions: [RelayAction]) -> UInt64? {
            for case .acknowledge(let counter) in actions { return counter }
            return nil
        }
        let first = UInt64.max / 2 + 1
        taken = try #require(acknowledged(try desk.bring(junk))) - first + 1
        #expect(taken == 160)
        #expect(try desk.refused(.envelope) == taken)
        // What is pushed meanwhile waits behind them.
        #expect(try desk.bring(junk[0]).isEmpty)
        desk.now.monotonic += 1_000
        let asked = try desk.step(.timer(.relay(desk.pair.relay.key)))
        let cursor = first + taken - 1
        #expect(
            asked.contains {
                if case .get(let range) = $0 { range.after == cursor } else { false }
            })
        #expect(try desk.refused(.tooManyFrames) == 1)
    }

    @Test("a limit gives back what time brings, and no more than it holds")
    func limits() {
        var limit = RateLimit(burst: 2, interval: 100)
        let times: [UInt64] = [5, 5, 50, 105, 150, 205, .max, .max, .max, 0]
        let taken = times.map { limit.take(at: $0) }
        #expect(
            taken == [true, true, false, true, false, true, true, true, false, false])
    }

    @Test("what came last is known again, and no more than that is remembered")
    func recent() {
        var set = RecentSet<Int>(limit: 3)
        let taken = [0, 1, 2, 0, 3, 0, 3].map { set.insert($0) }
        #expect(taken == [true, true, true, false, true, true, false])
        #expect(set.count == 3 && !set.contains(1) && set.contains(2))
    }
}

/// How often somebody asked whether a signature holds.
private final class CountedSignatures: KnownSignatures, @unchecked Sendable {
    // One test alone sees it, on one thread.
    private(set) var count = 0

    func contains(_ claim: SignatureClaim) -> Bool {
        count += 1
        return false
    }

    func insert(_ claim: SignatureClaim) {}
}
