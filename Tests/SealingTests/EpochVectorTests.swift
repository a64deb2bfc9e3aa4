import ParleyWire
import Testing

@testable import ParleySealing

/// The vectors of `Protocol/09-epochs.md`, made by another program.
@Suite("Epoch vectors")
struct EpochVectorTests {
    /// What the vectors are about: space `c0`, author of the seed `01`, epoch seed `44`.
    enum Fixed {
        static let space = SpaceID { $0.copyBytes(from: [UInt8](repeating: 0xc0, count: 32)) }
        static let author = DeviceSigningKey(seed: secret(1))
        static let seed = EpochSeed(secret(0x44), space: space)
        static let place = EnvelopePlace(
            space: space, epoch: identifier(0xee), mailbox: identifier(0xbb))

        static func secret(_ byte: UInt8) -> Secret { Secret([UInt8](repeating: byte, count: 32)) }

        static func identifier<Subject>(_ byte: UInt8) -> Identifier<Subject> {
            Identifier { $0.copyBytes(from: [UInt8](repeating: byte, count: 32)) }
        }

        static func hash(_ bytes: [UInt8]) throws -> [UInt8] {
            // BLAKE2b-256 without label or key, as the vectors shorten long values.
            HashState.withTemporary { state in
                state.begin(nil, byteCount: 32)
                state.update(bytes)
                var output = [UInt8](repeating: 0, count: 32)
                output.withUnsafeMutableBytes { state.finish(into: $0) }
                return output
            }
        }
    }

    struct KnownCase: Decodable {
        let hash, derived, seedCommitment, context, leaf, sealKey, sealedSeed, chain, stepKey,
            nextChain, env, mailboxes: Hex
    }

    @Test("the known answers of the design hold")
    func known() throws {
        let known = try #require(try Vectors.cases("epoch/known.json", as: KnownCase.self).first)
        let named: Digest = digest(.op, Array("abc".utf8))
        #expect(named.bytes == known.hash.bytes)
        let derived = derive(
            key: [UInt8](repeating: 0, count: 32), Label("x"), context: Array("abc".utf8))
        #expect(derived == known.derived.bytes)
        let (ephemeral, leaf) = (
            PrivateLeaf(scalar: Fixed.secret(0x33)), PrivateLeaf(scalar: Fixed.secret(0x22))
        )
        let recipient = EpochRecipient(
            device: DeviceSigningKey(seed: Fixed.secret(2)).device, leaf: leaf.publicKey)
        let place = EpochPlace(
            space: Fixed.space, author: Fixed.author.device, sequence: 9,
            previous: Fixed.identifier(0x77),
            dependencyBytes: [UInt8](repeating: 0x88, count: 32))
        let body = try EpochBody.seal(
            Fixed.seed, ephemeral: ephemeral,
            newLeaf: PrivateLeaf(scalar: Fixed.secret(0x55)).publicKey,
            at: place, roster: Fixed.identifier(0x66), recipients: [recipient])
        #expect(body.seedCommitment.bytes == known.seedCommitment.bytes)
        let context = body.context(at: place)
        #expect(context.bytes == known.context.bytes)
        #expect(body.entries.map(\.leaf.description) == [hex(known.leaf.bytes)])
        let shared = try #require(ephemeral.agree(with: leaf.publicKey))
        body.sealKey(shared, context, recipient).withKeyBytes {
            #expect(Array($0) == known.sealKey.bytes)
        }
        #expect(body.entries[0].sealedSeed == known.sealedSeed.bytes)
        #expect(try body.open(at: place, as: recipient.device, with: leaf) == Fixed.seed)
        let keys = EpochKeys(
            envelopes: Secret(known.env.bytes), mailboxes: Secret(known.mailboxes.bytes))
        #expect(Fixed.seed.keys == keys)
        try expect(Fixed.seed.chain(of: Fixed.author.device), 0, known.chain, known.stepKey)
        var next = Fixed.seed.chain(of: Fixed.author.device)
        next.use(0, now: 0)
        #expect(chainKey(next) == known.nextChain.bytes)
    }

    private func chainKey(_ chain: Chain) -> [UInt8] {
        chain.stored.withUnsafeBytes { Array($0[5..<37]) }
    }

    private func expect(_ chain: Chain, _ step: UInt32, _ key: Hex, _ stepKey: Hex) throws {
        #expect(chain.step == step)
        #expect(chainKey(chain) == key.bytes)
        try chain.messageKey(at: step, now: 0).withKeyBytes {
            #expect(Array($0) == stepKey.bytes)
        }
    }

    struct EpochCase: Decodable {
        struct Dependency: Decodable {
            let tag, sequence: UInt64
            let check: Hex
        }
        let why: String
        let space, authorSeed, previous, roster, hedge, random: Hex
        let sequence: UInt64
        let dependencies: [Dependency]
        let recipients: Int
        let context, seed, newLeafScalar, hash, payload, env, mailboxes: Hex
    }

    @Test("minting gives the bytes of the other program")
    func epochs() throws {
        let devices = try Vectors.cases("epoch/recipients.json", as: RecipientCase.self)
        for vector in try Vectors.cases("epoch/epochs.json", as: EpochCase.self) {
            let place = EpochPlace(
                space: try #require(SpaceID(vector.space.bytes)),
                author: DeviceSigningKey(seed: Secret(vector.authorSeed.bytes)).device,
                sequence: vector.sequence,
                previous: try #require(OperationID(vector.previous.bytes)),
                dependencies: vector.dependencies.map {
                    let words = $0.check.bytes.reduce(into: (UInt64(0), UInt64(0))) { words, byte in
                        words.0 = words.0 << 8 | words.1 >> 56
                        words.1 = words.1 << 8 | UInt64(byte)
                    }
                    return OperationReference(
                        tag: LogTag($0.tag), sequence: $0.sequence,
                        check: Check(high: words.0, low: words.1))
                })
            let recipients = try devices.prefix(vector.recipients).map { try $0.recipient() }
            try #require(recipients.count == vector.recipients)
            var random = FixedRandom(vector.random.bytes)
            let minted = try EpochBody.mint(
                at: place, roster: #require(Digest(vector.roster.bytes)), recipients: recipients,
                hedge: Secret(vector.hedge.bytes), using: &random)
            #expect(minted.body.context(at: place).bytes == vector.context.bytes, "\(vector.why)")
            #expect(minted.seed.secret == Secret(vector.seed.bytes), "\(vector.why)")
            #expect(minted.leaf.scalar == Secret(vector.newLeafScalar.bytes))
            let bytes = minted.body.bytes
            #expect(try Fixed.hash(bytes) == vector.hash.bytes, "\(vector.why)")
            if !vector.payload.bytes.isEmpty { #expect(bytes == vector.payload.bytes) }
            #expect(try EpochBody(bytes: bytes) == minted.body)
            #expect(minted.seed.keys.envelopes == Secret(vector.env.bytes))
            #expect(minted.seed.keys.mailboxes == Secret(vector.mailboxes.bytes))
            guard let first = devices.first, vector.recipients > 0 else { continue }
            let opened = try minted.body.open(
                at: place, as: first.recipient().device,
                with: PrivateLeaf(scalar: Secret(first.scalar.bytes)))
            #expect(opened == minted.seed)
        }
    }

    struct RecipientCase: Decodable {
        let device, scalar, leaf: Hex

        func recipient() throws -> EpochRecipient {
            EpochRecipient(
                device: try #require(DeviceID(device.bytes)),
                leaf: try #require(LeafKey(leaf.bytes)))
        }
    }

    struct ChainCase: Decodable {
        let step: UInt32
        let chain, key: Hex
    }

    @Test("a chain has the other program's key at every step, reached by jumping or by walking")
    func chains() throws {
        var walked = Fixed.seed.chain(of: Fixed.author.device)
        for vector in try Vectors.cases("epoch/chains.json", as: ChainCase.self) {
            var jumped = Fixed.seed.chain(of: Fixed.author.device)
            if vector.step > 0 { jumped.use(vector.step - 1, now: 0) }
            try expect(jumped, vector.step, vector.chain, vector.key)
            while walked.step < vector.step { walked.use(walked.step, now: 0) }
            try expect(walked, vector.step, vector.chain, vector.key)
            let kept = try #require(Chain(stored: jumped.stored))
            try expect(kept, vector.step, vector.chain, vector.key)
        }
    }

    struct MailboxCase: Decodable {
        let day: UInt64
        let relay, key, id: Hex
    }

    @Test("an epoch's mailboxes are where the other program finds them")
    func mailboxes() throws {
        for vector in try Vectors.cases("epoch/mailboxes.json", as: MailboxCase.self) {
            let relay = try #require(NoiseKey(vector.relay.bytes))
            let mailbox = Fixed.seed.keys.drop(
                at: relay, ofDay: try #require(RelayDay(exactly: vector.day)))
            #expect(mailbox.id.bytes == vector.id.bytes)
            #expect(mailbox.key.device.bytes == vector.key.bytes)
        }
    }

    struct EnvelopeCase: Decodable {
        let why: String
        let step: Int64
        let content, byte, random, envelope, hash: Hex
        let count, size: Int

        var text: [UInt8] {
            byte.bytes.first.map { [UInt8](repeating: $0, count: count) } ?? content.bytes
        }
    }

    @Test("envelopes are the other program's, byte for byte, and open again")
    func envelopes() throws {
        let keys = Fixed.seed.keys
        for vector in try Vectors.cases("epoch/envelopes.json", as: EnvelopeCase.self) {
            var random = FixedRandom(vector.random.bytes)
            var chain = Fixed.seed.chain(of: Fixed.author.device)
            var theirs = chain
            let made: [UInt8]
            if let step = UInt32(exactly: vector.step) {
                chain.skip(step)
                made = try Envelope.seal(
                    vector.text, at: Fixed.place, chain: &chain, keys: keys, by: Fixed.author,
                    using: &random)
                #expect(chain.step == step + 1)
            } else {
                made = Envelope.sealVolatile(
                    vector.text, at: Fixed.place, keys: keys, by: Fixed.author, using: &random)
            }
            #expect(made.count == vector.size, "\(vector.why)")
            #expect(try Fixed.hash(made) == vector.hash.bytes, "\(vector.why)")
            if !vector.envelope.bytes.isEmpty { #expect(made == vector.envelope.bytes) }
            let envelope = try Envelope(made, at: Fixed.place, keys: keys)
            #expect(envelope.sender == Fixed.author.device.prefix)
            let content =
                try envelope.isVolatile
                ? envelope.openVolatile(from: Fixed.author.device, keys: keys)
                : envelope.open(from: Fixed.author.device, chain: &theirs, now: 0)
            #expect(content == vector.text, "\(vector.why)")
        }
    }

    struct HostileCase: Decodable {
        let why: String
        let envelope: Hex
        let rejection: String
    }

    @Test("hostile envelopes are refused, each for its reason, and move no chain")
    func hostileEnvelopes() throws {
        for vector in try Vectors.cases("epoch/hostile.json", as: HostileCase.self) {
            var chain = Fixed.seed.chain(of: Fixed.author.device)
            let before = chain.stored
            var met: String?
            do throws(EnvelopeRejection) {
                let envelope = try Envelope(
                    vector.envelope.bytes, at: Fixed.place, keys: Fixed.seed.keys)
                _ = try envelope.open(from: Fixed.author.device, chain: &chain, now: 0)
            } catch {
                met =
                    switch error {
                    case .malformed: "malformed"
                    case .foreign: "foreign"
                    case .brokenSeal: "brokenSeal"
                    case .badSignature: "badSignature"
                    case .chain(.noSuchStep): "noSuchStep"
                    case .chain(.gone): "gone"
                    }
            }
            #expect(met == vector.rejection, "\(vector.why)")
            #expect(chain.stored == before, "\(vector.why)")
        }
    }

    struct BodyCase: Decodable {
        let why, refusal: String
        let input: Hex
    }

    @Test("payloads that are no epoch are refused, each for its reason")
    func hostileBodies() throws {
        for vector in try Vectors.cases("epoch/hostile-bodies.json", as: BodyCase.self) {
            #expect("\(vector.why)") {
                try EpochBody(bytes: vector.input.bytes)
            } throws: { error in
                "\(error)".hasPrefix(vector.refusal)
            }
        }
    }
}
