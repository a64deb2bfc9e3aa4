import ParleyWire
import Testing

@testable import ParleySealing

/// What one device holds of one epoch: its keys, and the chains that it made of the seed.
struct EpochWorld {
    let place: EnvelopePlace
    var keys: EpochKeys
    let seed: EpochSeed
    var chains: [DeviceID: Chain] = [:]

    init(_ minted: MintedEpoch, epoch: UInt8, space: SpaceID) {
        self.init(seed: minted.seed, epoch: epoch, space: space)
    }

    init(seed: EpochSeed, epoch: UInt8, space: SpaceID, place: EnvelopePlace? = nil) {
        self.place =
            place
            ?? EnvelopePlace(
                space: space, epoch: OperationID { $0[0] = epoch },
                mailbox: seed.keys.drop(at: NoiseKey { _ in }, ofDay: 20_000).id)
        keys = seed.keys
        self.seed = seed
    }

    mutating func seal(
        _ text: String, by member: EpochMember, _ random: inout SeededRandom
    ) throws -> [UInt8] {
        var chain = chains[member.device] ?? seed.chain(of: member.device)
        defer { chains[member.device] = chain }
        return try Envelope.seal(
            Array(text.utf8), at: place, chain: &chain, keys: keys, by: member.signer,
            using: &random)
    }

    mutating func open(
        _ bytes: [UInt8], from member: EpochMember, now: UInt64 = 0
    ) throws -> String {
        var chain = chains[member.device] ?? seed.chain(of: member.device)
        defer { chains[member.device] = chain }
        let envelope = try Envelope(bytes, at: place, keys: keys)
        return String(
            decoding: try envelope.open(from: member.device, chain: &chain, now: now),
            as: UTF8.self)
    }
}

/// Chains and envelopes; attacks by the numbers of the design's list.
@Suite("Chains and envelopes")
struct ChainTests {
    private let space = SpaceID { $0[0] = 1 }
    private static let hour: UInt64 = 3_600_000

    private func world(_ random: inout SeededRandom) -> EpochWorld {
        EpochWorld(
            seed: EpochSeed(.random(using: &random), space: space), epoch: 1, space: space)
    }

    @Test("Attack 31: a step opens once, out of order within reach, and no chain has a 4,097th")
    func steps31() throws {
        var random = SeededRandom(31)
        let ada = EpochMember(using: &random)
        var mine = world(&random)
        var theirs = mine
        let sent = try (0..<5).map { try mine.seal("\($0)", by: ada, &random) }
        #expect(try theirs.open(sent[3], from: ada) == "3")
        #expect(throws: EnvelopeRejection.chain(.gone(3))) { try theirs.open(sent[3], from: ada) }
        #expect(try theirs.open(sent[0], from: ada) == "0")
        #expect(throws: EnvelopeRejection.chain(.gone(0))) { try theirs.open(sent[0], from: ada) }
        #expect(try theirs.open(sent[4], from: ada) == "4")
        #expect(try theirs.open(sent[1], from: ada) == "1")
        var chain = mine.seed.chain(of: ada.device)
        #expect(throws: ChainRefusal.noSuchStep(4096)) { try chain.messageKey(at: 4096, now: 0) }
        #expect(throws: ChainRefusal.noSuchStep(.max)) { try chain.messageKey(at: .max, now: 0) }
        chain.skip(5000)
        #expect(chain.isSpent && chain.step == 4096)
        #expect(throws: EnvelopeRejection.chain(.noSuchStep(4096))) {
            try Envelope.seal(
                [], at: mine.place, chain: &chain, keys: mine.keys, by: ada.signer, using: &random)
        }
    }

    @Test("Attack 31: a jump keeps the newest 256 keys that it skips, for a day")
    func skipped31() throws {
        var random = SeededRandom(31)
        var chain = world(&random).seed.chain(of: DeviceID { $0[0] = 1 })
        let untouched = chain
        chain.use(4095, now: 0)
        #expect(chain.isSpent && chain.skippedCount == 256)
        let kept = try chain.messageKey(at: 3839, now: 0)
        let original = try untouched.messageKey(at: 3839, now: 0)
        #expect(kept.withKeyBytes { Array($0) } == original.withKeyBytes { Array($0) })
        #expect(throws: ChainRefusal.gone(3838)) { try chain.messageKey(at: 3838, now: 0) }
        let restored = try #require(Chain(stored: chain.stored))
        #expect(restored.stored == chain.stored && restored.skippedCount == 256)
        let day = Chain.skippedLifetime
        _ = try chain.messageKey(at: 4000, now: day - 1)
        #expect(throws: ChainRefusal.gone(4000)) { try chain.messageKey(at: 4000, now: day) }
        chain.eraseExpiredKeys(now: day)
        #expect(chain.skippedCount == 0)
    }

    @Test("many small jumps keep no more than 256 keys, and a clock set back keeps none longer")
    func bounds() throws {
        var random = SeededRandom(2)
        var chain = world(&random).seed.chain(of: DeviceID { $0[0] = 1 })
        for step in stride(from: UInt32(2), to: 3000, by: 3) {
            chain.use(step, now: 1000 * Self.hour)
        }
        #expect(chain.skippedCount == 256)
        chain.eraseExpiredKeys(now: Self.hour)
        #expect(chain.skippedCount == 256)
        chain.eraseExpiredKeys(now: 25 * Self.hour)
        #expect(chain.skippedCount == 0)
        #expect(Chain(stored: Secret([2] + [UInt8](repeating: 0, count: 36))) == nil)
        #expect(Chain(stored: Secret([UInt8](repeating: 1, count: 36))) == nil)
        #expect(Chain(stored: Secret([UInt8](repeating: 1, count: 38))) == nil)
    }

    @Test("Attack 32: what was sealed for one step, sender, epoch or mailbox opens as no other")
    func swapped32() throws {
        var random = SeededRandom(32)
        let (ada, ben) = (EpochMember(using: &random), EpochMember(using: &random))
        var mine = world(&random)
        let theirs = mine
        let sent = try mine.seal("for one step", by: ada, &random)
        for place in [
            EnvelopePlace(
                space: space, epoch: OperationID { $0[0] = 2 }, mailbox: mine.place.mailbox),
            EnvelopePlace(
                space: SpaceID { $0[0] = 2 }, epoch: mine.place.epoch, mailbox: mine.place.mailbox),
        ] {
            var chain = theirs.seed.chain(of: ada.device)
            let envelope = try Envelope(sent, at: place, keys: theirs.keys)
            #expect(throws: EnvelopeRejection.brokenSeal) {
                try envelope.open(from: ada.device, chain: &chain, now: 0)
            }
        }
        #expect(throws: EnvelopeRejection.foreign) {
            try Envelope(
                sent,
                at: EnvelopePlace(
                    space: space, epoch: mine.place.epoch, mailbox: MailboxID { $0[0] = 3 }),
                keys: theirs.keys)
        }
        // Under another's chain, even at the same step.
        var other = theirs.seed.chain(of: ben.device)
        let envelope = try Envelope(sent, at: theirs.place, keys: theirs.keys)
        #expect(throws: EnvelopeRejection.brokenSeal) {
            try envelope.open(from: ben.device, chain: &other, now: 0)
        }
        #expect(other.step == 0)
    }

    @Test("no member can speak for another, though everybody knows every chain")
    func impersonation() throws {
        var random = SeededRandom(7)
        let (ada, eve) = (EpochMember(using: &random), EpochMember(using: &random))
        let world = world(&random)
        // Eve seals under ada's chain, as ada, with the only signature she can make.
        var chain = world.seed.chain(of: ada.device)
        let key = try chain.messageKey(at: 0, now: 0)
        let bound = world.place.bound(to: ada.device, step: 0)
        let content = Array("send me money".utf8)
        let hash: Digest = digest(.envelope, content)
        let plaintext = content + eve.signer.sign(.envelopeSignature, bound + hash.bytes).bytes
        let nonce = random.bytes(24)
        let ciphertext = XChaCha.seal(
            plaintext, key: deriveWiped(key: key, .messageKey), nonce: nonce, authenticating: bound)
        var writer = ByteWriter()
        writer.uint64(ada.device.prefix)
        writer.uint32(0)
        writer.raw(nonce)
        writer.uint16(UInt16(ciphertext.count))
        writer.raw(ciphertext)
        let inner = writer.bytes + [UInt8](repeating: 0, count: 512 - 41 - writer.bytes.count)
        let outerNonce = random.bytes(24)
        let forged =
            [2] + outerNonce
            + XChaCha.seal(
                inner, key: world.keys.envelopes, nonce: outerNonce,
                authenticating: world.place.mailbox.bytes)
        let envelope = try Envelope(forged, at: world.place, keys: world.keys)
        #expect(throws: EnvelopeRejection.badSignature) {
            try envelope.open(from: ada.device, chain: &chain, now: 0)
        }
        #expect(chain.step == 0, "a forgery must move no chain")
    }

    @Test("Attack 47: with everything a device keeps, nothing that it opened opens again")
    func forwardSecrecy47() throws {
        var random = SeededRandom(47)
        let ada = EpochMember(using: &random)
        var mine = world(&random)
        var theirs = mine
        let recorded = try (0..<40).map { try mine.seal("word \($0)", by: ada, &random) }
        for (place, envelope) in recorded.enumerated() where place != 20 && place < 30 {
            _ = try theirs.open(envelope, from: ada)
        }
        // The thief takes both chains, and all keys of the epoch that are still there.
        for stolen in [mine, theirs] {
            let chain = try #require(stolen.chains[ada.device])
            for (place, bytes) in recorded.enumerated() {
                var copy = try #require(Chain(stored: chain.stored))
                let envelope = try Envelope(bytes, at: mine.place, keys: stolen.keys)
                let opened = try? envelope.open(from: ada.device, chain: &copy, now: 0)
                // The window that the design names: what was not opened yet.
                let isOpenToReceiver = place == 20 || place >= 30
                #expect(
                    (opened != nil)
                        == (stolen.keys == theirs.keys && chain.step == 30 && isOpenToReceiver),
                    "\(place)")
            }
        }
        #expect(throws: EnvelopeRejection.chain(.gone(20))) {
            try theirs.open(recorded[20], from: ada, now: Chain.skippedLifetime)
        }
    }

    @Test("after an unclean stop the author skips 64 steps, and the others follow")
    func uncleanStop() throws {
        var random = SeededRandom(64)
        let ada = EpochMember(using: &random)
        var mine = world(&random)
        var theirs = mine
        let first = try mine.seal("before", by: ada, &random)
        mine.chains[ada.device]?.skip()
        let second = try mine.seal("after", by: ada, &random)
        #expect(mine.chains[ada.device]?.step == 66)
        #expect(try theirs.open(second, from: ada) == "after")
        #expect(try theirs.open(first, from: ada) == "before")
    }

    @Test("Attack 35: a copy that repeats a step repeats no nonce for another text")
    func copies35() throws {
        var random = SeededRandom(35)
        let ada = EpochMember(using: &random)
        let start = world(&random)
        var (one, two) = (start, start)
        let a = try Envelope(
            one.seal("one", by: ada, &random), at: start.place, keys: start.keys)
        let b = try Envelope(
            two.seal("two", by: ada, &random), at: start.place, keys: start.keys)
        #expect(a.step == b.step && a.nonce != b.nonce)
    }
}
