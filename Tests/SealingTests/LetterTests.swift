import ParleySealing
import ParleyWire
import Testing

@Suite("Letters")
struct LetterTests {
    struct Correspondents {
        var random = SystemRandom()
        let sender: DeviceSigningKey
        let prekey: PrivateLeaf
        let inbox = MailboxID { $0.copyBytes(from: [UInt8](repeating: 0x1b, count: 32)) }

        init() {
            sender = DeviceSigningKey.generate(using: &random)
            prekey = PrivateLeaf.generate(using: &random)
        }

        mutating func letter(_ content: [UInt8]) throws -> [UInt8] {
            try #require(
                Letter.seal(
                    content, to: prekey.publicKey, inbox: inbox, by: sender, using: &random))
        }
    }

    @Test(
        "what is sealed to a prekey is opened by who holds it, and names who wrote it",
        arguments: [0, 1, 300, 20_000, Letter.contentByteCountMax])
    func opens(byteCount: Int) throws {
        var all = Correspondents()
        let content = [UInt8](repeating: 7, count: byteCount)
        let letter = try all.letter(content)
        let other = PrivateLeaf.generate(using: &all.random)
        let opened = try Letter.open(letter, in: all.inbox, with: [other, all.prekey])
        #expect(opened.sender == all.sender.device)
        #expect(opened.content == content)
        #expect([512, 1024, 32_768, 65_536].contains(letter.count))
    }

    @Test("a letter of another size than those that there are is none")
    func sizes() throws {
        var all = Correspondents()
        let letter = try all.letter([7])
        let sizes = [letter.count - 1, letter.count + 1, 3 * 512, 2 * Limits.envelopeByteCountMax]
        for size in sizes {
            let other = Array((letter + [UInt8](repeating: 0, count: size)).prefix(size))
            #expect(throws: EnvelopeRejection.malformed) {
                try Letter.open(other, in: all.inbox, with: [all.prekey])
            }
        }
    }

    struct LetterCase: Decodable {
        let why: String
        let ephemeral, inbox, writerSeed, writer, content, letter: Hex
    }

    @Test("letters and keys of inboxes are the other program's, byte for byte")
    func vectors() throws {
        let sender = DeviceSigningKey(seed: Secret([UInt8](repeating: 1, count: 32)))
        let prekey = PrivateLeaf(scalar: Secret([UInt8](repeating: 0x22, count: 32)))
        let secret = Secret([UInt8](repeating: 0x77, count: 32))
        let relay = NoiseKey { $0.copyBytes(from: [UInt8](repeating: 0x88, count: 32)) }
        let keys = InboxKeys(secret: secret, relay: relay)
        let writer = InboxWriter(secret: secret, relay: relay)
        let shown = keys.shown(on: relay, at: [], to: writer)
        for vector in try Vectors.cases("relay/letters.json", as: LetterCase.self) {
            #expect(keys.inbox.bytes == vector.inbox.bytes)
            #expect(writer.key.device.bytes == vector.writer.bytes)
            #expect(shown.writerSeed.bytes == vector.writerSeed.bytes)
            var random = FixedRandom(vector.ephemeral.bytes)
            let made = Letter.seal(
                vector.content.bytes, to: prekey.publicKey, inbox: keys.inbox, by: sender,
                using: &random)
            #expect(made == vector.letter.bytes, "\(vector.why)")
            let opened = try Letter.open(vector.letter.bytes, in: keys.inbox, with: [prekey])
            #expect(opened.sender == sender.device && opened.content == vector.content.bytes)
        }
    }

    struct PassingCase: Decodable {
        let why: String
        let ephemeral, inbox, content, letter, request, push: Hex
    }

    @Test("what is passed on and not kept is the other program's, byte for byte")
    func passing() throws {
        let sender = DeviceSigningKey(seed: Secret([UInt8](repeating: 1, count: 32)))
        let prekey = PrivateLeaf(scalar: Secret([UInt8](repeating: 0x22, count: 32)))
        for vector in try Vectors.cases("relay/passing.json", as: PassingCase.self) {
            let inbox = try #require(MailboxID(vector.inbox.bytes))
            var random = FixedRandom(vector.ephemeral.bytes)
            let made = Letter.seal(
                vector.content.bytes, as: .passing, to: prekey.publicKey, inbox: inbox,
                by: sender, using: &random)
            #expect(made == vector.letter.bytes, "\(vector.why)")
            let opened = try Letter.open(
                vector.letter.bytes, as: .passing, in: inbox, with: [prekey])
            #expect(opened.sender == sender.device && opened.content == vector.content.bytes)
            let action = RelayAction.volatile(lifetime: 10, envelope: vector.letter.bytes)
            #expect(RelayRequest(action, of: inbox).encoded == vector.request.bytes)
            let push = RelayServerFrame.volatile(
                inbox, lifetime: 10, envelope: vector.letter.bytes)
            #expect(push.encoded() == vector.push.bytes)
        }
    }

    @Test("a relay makes no kept letter of one that passes, and none of the other")
    func forms() throws {
        var all = Correspondents()
        for form in Letter.Form.allCases {
            let made = Letter.seal(
                [1, 2, 3], as: form, to: all.prekey.publicKey, inbox: all.inbox, by: all.sender,
                using: &all.random)
            var letter = try #require(made)
            let other: Letter.Form = form == .kept ? .passing : .kept
            #expect(throws: EnvelopeRejection.malformed) {
                try Letter.open(letter, as: other, in: all.inbox, with: [all.prekey])
            }
            letter[0] = other.rawValue
            #expect(throws: EnvelopeRejection.foreign) {
                try Letter.open(letter, as: other, in: all.inbox, with: [all.prekey])
            }
        }
    }

    @Test("nobody else opens it, and nobody in another inbox")
    func foreign() throws {
        var all = Correspondents()
        let letter = try all.letter([1, 2, 3])
        let other = PrivateLeaf.generate(using: &all.random)
        #expect(throws: EnvelopeRejection.foreign) {
            try Letter.open(letter, in: all.inbox, with: [other])
        }
        let elsewhere = MailboxID { $0.copyBytes(from: [UInt8](repeating: 9, count: 32)) }
        #expect(throws: EnvelopeRejection.foreign) {
            try Letter.open(letter, in: elsewhere, with: [all.prekey])
        }
    }

    @Test("a byte that was changed anywhere opens nothing")
    func changed() throws {
        var all = Correspondents()
        let letter = try all.letter([1, 2, 3])
        for place in stride(from: 0, to: letter.count, by: 13) {
            var broken = letter
            broken[place] ^= 1
            #expect(throws: EnvelopeRejection.self) {
                try Letter.open(broken, in: all.inbox, with: [all.prekey])
            }
        }
        #expect(throws: EnvelopeRejection.self) {
            try Letter.open(Array(letter.dropLast()), in: all.inbox, with: [all.prekey])
        }
        #expect(throws: EnvelopeRejection.malformed) {
            try Letter.open([], in: all.inbox, with: [all.prekey])
        }
    }

    @Test("a prekey of small order gets no letter: anybody could open it")
    func smallOrder() {
        var random = SystemRandom()
        let sender = DeviceSigningKey.generate(using: &random)
        let weak = LeafKey { $0.copyBytes(from: [UInt8](repeating: 0, count: 32)) }
        let inbox = MailboxID { $0.copyBytes(from: [UInt8](repeating: 1, count: 32)) }
        #expect(Letter.seal([1], to: weak, inbox: inbox, by: sender, using: &random) == nil)
    }

    @Test("a card's part names mailboxes, whose keys grow from one secret of the device")
    func cardMailboxes() throws {
        var random = SystemRandom()
        let key = DeviceSigningKey.generate(using: &random)
        let secret = Secret.random(using: &random)
        let relay = NoiseKey { $0.copyBytes(from: [UInt8](repeating: 3, count: 32)) }
        let other = NoiseKey { $0.copyBytes(from: [UInt8](repeating: 4, count: 32)) }
        let keys = InboxKeys(secret: secret, relay: relay)
        let writer = InboxWriter(secret: secret, relay: relay)
        let shown = keys.shown(on: relay, at: ["relay.example:7448", "not sound"], to: writer)
        #expect(shown.addresses == ["relay.example:7448"])
        #expect(shown.inbox == MailboxID(inbox: keys.owner.device))
        #expect(shown.writer.device == writer.key.device)
        #expect(writer.key.device != keys.owner.device)
        #expect(InboxWriter(secret: secret, relay: other).name != writer.name)
        #expect(InboxKeys(secret: secret, relay: other).inbox != keys.inbox)
        let part = CardPart.make(
            version: 1, noiseKey: relay, name: "ann", addresses: ["a:1"], mailboxes: [shown],
            key: key)
        let card = Card(
            person: PersonID { $0.copyBytes(from: [UInt8](repeating: 5, count: 32)) },
            identity: [], parts: [part])
        let read = try Card(bytes: card.encoded)
        #expect(read.parts.first?.mailboxes == [shown])
    }
}
