import ParleyWire
import Testing

@testable import ParleySealing

/// A device with its leaves in one space, as the attacks need it.
struct EpochMember {
    let signer: DeviceSigningKey
    var leaf: PrivateLeaf
    let hedge: Secret

    var device: DeviceID { signer.device }
    var recipient: EpochRecipient { EpochRecipient(device: device, leaf: leaf.publicKey) }

    init(using random: inout SeededRandom) {
        signer = .generate(using: &random)
        leaf = .generate(using: &random)
        hedge = .random(using: &random)
    }
}

/// Attacks on epochs, by the numbers of the design's list of attacks.
@Suite("Attacks on epochs")
struct EpochAttackTests {
    private let space = SpaceID { $0[0] = 1 }
    private let roster = Digest { $0[0] = 2 }

    private func place(
        _ author: EpochMember, _ sequence: UInt64 = 3, in space: SpaceID? = nil
    ) -> EpochPlace {
        EpochPlace(
            space: space ?? self.space, author: author.device, sequence: sequence,
            previous: OperationID { $0[0] = 9 }, dependencies: [])
    }

    private func mint(
        _ author: EpochMember, for others: [EpochMember], _ random: inout SeededRandom,
        at sequence: UInt64 = 3
    ) throws -> MintedEpoch {
        try EpochBody.mint(
            at: place(author, sequence), roster: roster, recipients: others.map(\.recipient),
            hedge: author.hedge, using: &random)
    }

    private func copy(_ body: EpochBody, entries: [EpochEntry]) -> EpochBody {
        EpochBody(
            ephemeral: body.ephemeral, seedCommitment: body.seedCommitment,
            newLeaf: body.newLeaf, rosterDigest: body.rosterDigest, entries: entries)
    }

    @Test(
        "Attack 23: an epoch that leaves somebody out, adds somebody or lies is refused by everybody"
    )
    func roster23() throws {
        var random = SeededRandom(23)
        let (ada, ben, cleo, eve) = (
            EpochMember(using: &random), EpochMember(using: &random), EpochMember(using: &random),
            EpochMember(using: &random)
        )
        let others = [ben.recipient, cleo.recipient]
        func fits(_ body: EpochBody) -> Bool {
            body.fits(roster: roster, recipients: others, formerLeaves: [ada.leaf.publicKey])
        }
        let sound = try mint(ada, for: [ben, cleo], &random).body
        #expect(fits(sound))
        #expect(try !fits(mint(ada, for: [ben], &random).body), "one left out")
        #expect(try !fits(mint(ada, for: [ben, cleo, eve], &random).body), "one too many")
        #expect(try !fits(mint(ada, for: [ben, eve], &random).body), "one in another's place")
        var stale = cleo
        stale.leaf = .generate(using: &random)
        #expect(try !fits(mint(ada, for: [ben, stale], &random).body), "another leaf")
        #expect(
            !sound.fits(
                roster: Digest { $0[0] = 3 }, recipients: others, formerLeaves: []),
            "another roster")
        #expect(
            !sound.fits(roster: roster, recipients: others, formerLeaves: [sound.newLeaf]),
            "a leaf used before")
        for key in [LeafKey { _ in }, LeafKey { $0[0] = 1 }] {
            let weak = EpochBody(
                ephemeral: sound.ephemeral, seedCommitment: sound.seedCommitment, newLeaf: key,
                rosterDigest: roster, entries: sound.entries)
            #expect(!fits(weak), "a leaf of small order")
            let open = EpochBody(
                ephemeral: key, seedCommitment: sound.seedCommitment, newLeaf: sound.newLeaf,
                rosterDigest: roster, entries: sound.entries)
            #expect(!fits(open), "an ephemeral key of small order")
        }
    }

    @Test("Attack 24: garbage for one device is noticed by it alone, and takes nothing from others")
    func garbage24() throws {
        var random = SeededRandom(24)
        let (ada, ben, cleo) = (
            EpochMember(using: &random), EpochMember(using: &random), EpochMember(using: &random)
        )
        let minted = try mint(ada, for: [ben, cleo], &random)
        let victim = LeafID(device: ben.device, leaf: ben.leaf.publicKey)
        let body = copy(
            minted.body,
            entries: minted.body.entries.map {
                $0.leaf == victim
                    ? EpochEntry(leaf: victim, sealedSeed: [UInt8](repeating: 7, count: 48)) : $0
            })
        #expect(
            body.fits(
                roster: roster, recipients: [ben.recipient, cleo.recipient], formerLeaves: []))
        #expect(throws: EpochFailure.brokenSeal) {
            try body.open(at: place(ada), as: ben.device, with: ben.leaf)
        }
        #expect(try body.open(at: place(ada), as: cleo.device, with: cleo.leaf) == minted.seed)
    }

    @Test("Attack 25: who is given another seed than the rest notices")
    func seeds25() throws {
        var random = SeededRandom(25)
        let (ada, ben) = (EpochMember(using: &random), EpochMember(using: &random))
        let (real, other) = (
            EpochSeed(.random(using: &random), space: space),
            EpochSeed(.random(using: &random), space: space)
        )
        let ephemeral = PrivateLeaf.generate(using: &random)
        let head = try EpochBody.seal(
            real, ephemeral: ephemeral, newLeaf: ada.leaf.publicKey, at: place(ada), roster: roster,
            recipients: [])
        // The attacker seals another seed under the very context of the honest one.
        let context = head.context(at: place(ada))
        let shared = try #require(ephemeral.agree(with: ben.leaf.publicKey))
        let leaf = LeafID(device: ben.device, leaf: ben.leaf.publicKey)
        let bound = context.bytes + withUnsafeBytes(of: leaf.value.bigEndian) { Array($0) }
        let sealed = ChaCha.seal(
            other.secret.withUnsafeBytes { Array($0) },
            key: head.sealKey(shared, context, ben.recipient),
            nonce: [UInt8](repeating: 0, count: 12), authenticating: bound)
        let body = copy(head, entries: [EpochEntry(leaf: leaf, sealedSeed: sealed)])
        #expect(throws: EpochFailure.otherSeed) {
            try body.open(at: place(ada), as: ben.device, with: ben.leaf)
        }
    }

    @Test("Attack 26: who names another's leaf as its own opens nothing and denies nothing")
    func copiedLeaf26() throws {
        var random = SeededRandom(26)
        let (ada, ben, eve) = (
            EpochMember(using: &random), EpochMember(using: &random), EpochMember(using: &random)
        )
        var thief = eve
        thief.leaf = ben.leaf
        let minted = try mint(ada, for: [ben, thief], &random)
        #expect(minted.body.entries.count == 2)
        #expect(try minted.body.open(at: place(ada), as: ben.device, with: ben.leaf) == minted.seed)
        #expect(throws: EpochFailure.notAddressed) {
            try minted.body.open(at: place(ada), as: eve.device, with: eve.leaf)
        }
    }

    @Test(
        "Attack 27: an entry opens in no other epoch, space, log or place, and for no other device")
    func replay27() throws {
        var random = SeededRandom(27)
        let (ada, ben, cleo) = (
            EpochMember(using: &random), EpochMember(using: &random), EpochMember(using: &random)
        )
        let one = try mint(ada, for: [ben], &random)
        let two = try mint(ada, for: [ben], &random)
        let moved = copy(two.body, entries: one.body.entries)
        let elsewhere = SpaceID { $0[0] = 8 }
        let places = [place(cleo), place(ada, 4), place(ada, in: elsewhere)]
        for other in places {
            #expect(throws: EpochFailure.brokenSeal) {
                try one.body.open(at: other, as: ben.device, with: ben.leaf)
            }
        }
        #expect(throws: EpochFailure.brokenSeal) {
            try moved.open(at: place(ada), as: ben.device, with: ben.leaf)
        }
        let readdressed = copy(
            one.body,
            entries: [
                EpochEntry(
                    leaf: LeafID(device: cleo.device, leaf: cleo.leaf.publicKey),
                    sealedSeed: one.body.entries[0].sealedSeed)
            ])
        #expect(throws: EpochFailure.brokenSeal) {
            try readdressed.open(at: place(ada), as: cleo.device, with: cleo.leaf)
        }
    }

    @Test("a source of randomness that repeats gives no seed twice: the hedge and the place differ")
    func hedge() throws {
        var random = SeededRandom(1)
        let (ada, ben) = (EpochMember(using: &random), EpochMember(using: &random))
        func seed(_ author: EpochMember, _ sequence: UInt64) throws -> EpochSeed {
            var stuck = SeededRandom(5)
            return try mint(author, for: [], &stuck, at: sequence).seed
        }
        #expect(try seed(ada, 1) == seed(ada, 1))
        #expect(try seed(ada, 1) != seed(ada, 2))
        #expect(try seed(ada, 1) != seed(ben, 1))
    }

    @Test(
        "Attack 46: who joins without history opens nothing from before, with every key it ever gets"
    )
    func joiner46() throws {
        var random = SeededRandom(46)
        let (ada, ben, cleo) = (
            EpochMember(using: &random), EpochMember(using: &random), EpochMember(using: &random)
        )
        let before = try mint(ada, for: [ben], &random)
        var world = EpochWorld(before, epoch: 1, space: space)
        let recorded = try world.seal("before", by: ada, &random)
        let after = try mint(ada, for: [ben, cleo], &random, at: 4)
        let known = try after.body.open(at: place(ada, 4), as: cleo.device, with: cleo.leaf)
        #expect(throws: EpochFailure.notAddressed) {
            try before.body.open(at: place(ada), as: cleo.device, with: cleo.leaf)
        }
        var newcomer = EpochWorld(seed: known, epoch: 1, space: space)
        #expect(throws: EnvelopeRejection.foreign) { try newcomer.open(recorded, from: ada) }
        // Even with the outer key, which every member could tell it, the words stay shut.
        newcomer = EpochWorld(seed: known, epoch: 1, space: space, place: world.place)
        newcomer.keys = before.seed.keys
        #expect(throws: EnvelopeRejection.brokenSeal) { try newcomer.open(recorded, from: ada) }
    }

    @Test("Attack 48: once the victim mints, a copy of its keys reads nothing more")
    func healing48() throws {
        var random = SeededRandom(48)
        var (ada, ben) = (EpochMember(using: &random), EpochMember(using: &random))
        let thief = ben
        let first = try mint(ada, for: [ben], &random)
        ada.leaf = first.leaf
        #expect(
            try first.body.open(at: place(ada), as: thief.device, with: thief.leaf) == first.seed)
        let healing = try mint(ben, for: [ada], &random, at: 0)
        ben.leaf = healing.leaf
        #expect(throws: EpochFailure.notAddressed) {
            try healing.body.open(at: place(ben, 0), as: thief.device, with: thief.leaf)
        }
        let next = try mint(ada, for: [ben], &random, at: 9)
        #expect(throws: EpochFailure.notAddressed) {
            try next.body.open(at: place(ada, 9), as: thief.device, with: thief.leaf)
        }
        #expect(try next.body.open(at: place(ada, 9), as: ben.device, with: ben.leaf) == next.seed)
    }

    @Test("Attack 50: neither the mailbox nor the outer key of an epoch serves in the next one")
    func removed50() throws {
        var random = SeededRandom(50)
        let (ada, ben, eve) = (
            EpochMember(using: &random), EpochMember(using: &random), EpochMember(using: &random)
        )
        let before = try mint(ada, for: [ben, eve], &random)
        let after = try mint(ada, for: [ben], &random, at: 4)
        #expect(throws: EpochFailure.notAddressed) {
            try after.body.open(at: place(ada, 4), as: eve.device, with: eve.leaf)
        }
        let relay = NoiseKey { $0[0] = 8 }
        #expect(
            before.seed.keys.drop(at: relay, ofDay: 20_000).id
                != after.seed.keys.drop(at: relay, ofDay: 20_000).id)
        var world = EpochWorld(after, epoch: 2, space: space)
        let sent = try world.seal("without eve", by: ben, &random)
        var removed = EpochWorld(before, epoch: 2, space: space)
        #expect(throws: EnvelopeRejection.foreign) { try removed.open(sent, from: ben) }
    }
}
