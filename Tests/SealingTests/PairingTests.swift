import ParleyWire
import Testing

@testable import ParleySealing

/// A person's device that waits, a device that wants to become theirs, and what came of it.
struct PairingPair {
    static let secret = [UInt8](repeating: 0x5e, count: 32)
    let ada: TestDevice
    let newSigner: DeviceSigningKey
    let newNoise: DeviceNoiseKey
    var desk = PairingDesk()
    var caller: Pairing
    var waiting: Pairing
    var asked: [DeviceRequest] = []
    var accepted: (card: Card, log: IdentityLog)?
    /// What the waiting device hands over besides, as bytes: any, for it may be hostile.
    var handedOver: [UInt8]?
    var backup: BackupCertificate?

    init(
        secret: [UInt8] = Self.secret, calling: NoiseKey? = nil, of person: PersonID? = nil,
        network: NetworkID = .main, isOpen: Bool = true, seed: UInt64 = 7
    ) throws {
        var random = SeededRandom(seed)
        ada = try TestDevice(1)
        newSigner = .generate(using: &random)
        newNoise = .generate(using: &random)
        if isOpen { _ = desk.open(Self.secret, at: 0) }
        caller = Pairing(
            calling: calling ?? ada.noiseKey.publicKey, of: person ?? ada.log.person,
            secret: secret, as: newSigner, noiseKey: newNoise, name: "phone", network: network,
            using: &random)
        waiting = Pairing(
            awaiting: desk.offer(at: 0), credentials: ada.credentials, network: .main,
            using: &random)
    }

    /// What ada's node does with a request: certifies the device and answers with her card.
    func card(adding request: DeviceRequest) throws -> [UInt8] {
        let operation = ada.log.adding(
            request.device, noiseKey: request.noiseKey, proof: request.proof, by: ada.signer)
        let log = try ada.log.merging([IdentityOperation(operation.bytes)])
        let part = CardPart.make(
            version: 1, noiseKey: ada.noiseKey.publicKey, name: "Ada", addresses: ["a:1"],
            key: ada.signer)
        return Card(person: log.person, identity: log.encoded, parts: [part]).encoded
    }

    mutating func deliver(
        _ bytes: [UInt8], toWaiting: Bool, piece: Int
    ) throws -> [UInt8] {
        var answers: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let next = rest.prefix(piece)
            rest = rest.dropFirst(next.count)
            for event in toWaiting ? try waiting.receive(next) : try caller.receive(next) {
                switch event {
                case .send(let answer): answers += answer
                case .asked(let request):
                    asked.append(request)
                    answers += waiting.answer(
                        try card(adding: request), besides: handedOver.map { [$0] } ?? [])
                case .accepted(let card, let log, let backup):
                    accepted = (card, log)
                    self.backup = backup
                }
            }
        }
        return answers
    }

    /// The whole exchange, with the bytes of one message changed on the way.
    mutating func run(
        piece: Int = .max, _ change: (Int, inout [UInt8]) -> Void = { _, _ in }
    ) throws {
        var message = caller.start()
        for index in 0..<4 {
            change(index, &message)
            message = try deliver(message, toWaiting: index.isMultiple(of: 2), piece: piece)
        }
    }
}

@Suite("Linking a device")
struct PairingTests {
    @Test("a prekey that is another device's, or does not hold, is refused before anybody is asked")
    func prekeys() throws {
        var random = SeededRandom(11)
        let (device, other) = (
            DeviceSigningKey.generate(using: &random), DeviceSigningKey.generate(using: &random)
        )
        let noise = DeviceNoiseKey.generate(using: &random)
        let person = try TestDevice(1).log.person
        func request(_ prekey: PrekeyCertificate?) throws -> DeviceRequest {
            let made = DeviceRequest(
                device: device.device, noiseKey: noise.publicKey,
                proof: IdentityOperation.proofOfPossession(
                    to: person, by: device, noiseKey: noise.publicKey),
                name: "phone", prekey: prekey)
            let read = try DeviceRequest(made.encoded, noiseKey: noise.publicKey)
            #expect(read == made)
            return read
        }
        let leaf = PrivateLeaf.generate(using: &random).publicKey
        func certificate(by key: DeviceSigningKey) -> PrekeyCertificate {
            .make(number: 1, notBefore: 1, notAfter: 2, key: leaf, by: key)
        }
        #expect(try request(nil).isProven(to: person))
        #expect(try request(certificate(by: device)).isProven(to: person))
        #expect(try !request(certificate(by: other)).isProven(to: person))
        var bytes = certificate(by: device).bytes
        bytes[bytes.count - 1] ^= 1
        #expect(try !request(PrekeyCertificate(bytes: bytes)).isProven(to: person))
    }

    @Test("makes it the person's, by the one-use secret", arguments: [Int.max, 1, 5])
    func links(piece: Int) throws {
        var pair = try PairingPair()
        try pair.run(piece: piece)
        let accepted = try #require(pair.accepted)
        #expect(accepted.log.certificate(of: pair.newSigner.device)?.rank == 2)
        #expect(accepted.log.person == pair.ada.log.person)
        #expect(accepted.log.root == pair.ada.log.root)
        #expect(accepted.card.name == "Ada")
        #expect(accepted.card.parts.map(\.addresses) == [["a:1"]])
        #expect(pair.asked.map(\.name) == ["phone"])
    }

    @Test("fails at any flipped byte of any message, and then certifies and hands over nothing")
    func flips() throws {
        for message in 0..<4 {
            var place = 0
            while true {
                var pair = try PairingPair()
                var isPast = false
                var rejection: (any Error)?
                do {
                    try pair.run { index, bytes in
                        guard index == message else { return }
                        guard place < bytes.count else { return isPast = true }
                        bytes[place] ^= 0x41
                    }
                } catch { rejection = error }
                if isPast { break }
                #expect(pair.accepted == nil, "\(message) \(place)")
                #expect(message > 2 || pair.asked.isEmpty, "\(message) \(place)")
                // A length that grew is waited for; everything else is refused.
                #expect(rejection != nil || (message >= 2 && place < 2), "\(message) \(place)")
                place += message < 3 || place < 80 ? 1 : 13
            }
        }
    }

    @Test("by another secret fails where it is to be shown, before the device is known")
    func wrongSecret() throws {
        var pair = try PairingPair(secret: [UInt8](repeating: 0x5f, count: 32))
        #expect(throws: LinkRejection.undecipherable) { try pair.run() }
        #expect(pair.asked.isEmpty)
        #expect(pair.waiting.rejection == .undecipherable)
    }

    @Test("is refused while nobody is waited for, before a key is shown")
    func closed() throws {
        var pair = try PairingPair(isOpen: false)
        #expect(throws: LinkRejection.nobodyAwaited) { try pair.run() }
    }

    @Test("calls no device but the one whose key was shown")
    func otherDevice() throws {
        var pair = try PairingPair(calling: try TestDevice(9).noiseKey.publicKey)
        #expect(throws: LinkRejection.otherDevice) { try pair.run() }
        #expect(pair.asked.isEmpty)
    }

    @Test("stays within one network")
    func networks() throws {
        var pair = try PairingPair(network: NetworkID(named: "another"))
        #expect(throws: LinkRejection.undecipherable) { try pair.run() }
    }

    @Test("takes no proof that was said to another person")
    func otherPerson() throws {
        var pair = try PairingPair(of: try TestDevice(9).log.person)
        #expect(throws: LinkRejection.badProof) { try pair.run() }
    }

    @Test("played again as a whole comes to nothing: the keys of the moment are others")
    func replay() throws {
        var pair = try PairingPair()
        var heard: [[UInt8]] = []
        try pair.run { index, bytes in if index.isMultiple(of: 2) { heard.append(bytes) } }
        var again = try PairingPair()
        var random = SeededRandom(99)
        again.waiting = Pairing(
            awaiting: again.desk.offer(at: 1), credentials: again.ada.credentials, network: .main,
            using: &random)
        _ = try again.deliver(heard[0], toWaiting: true, piece: .max)
        #expect(throws: LinkRejection.undecipherable) {
            _ = try again.deliver(heard[1], toWaiting: true, piece: .max)
        }
        #expect(again.asked.isEmpty)
    }

    @Test("hands on what backups are sealed to, and goes on without it")
    func backupKeys() throws {
        var pair = try PairingPair()
        try pair.run()
        #expect(pair.accepted != nil && pair.backup == nil)
        pair = try PairingPair()
        let signed = BackupCertificate(
            pair.ada.noiseKey.publicKey, signedBy: try #require(pair.ada.root))
        pair.handedOver = signed.bytes
        try pair.run()
        #expect(pair.accepted != nil && pair.backup == signed)
    }

    @Test("Attack 168: a key for backups that the root did not sign ends the call")
    func plantedKeys() throws {
        let pair = try PairingPair()
        let planted = try TestDevice(9)
        let key = planted.noiseKey.publicKey
        let right = BackupCertificate(
            pair.ada.noiseKey.publicKey, signedBy: try #require(pair.ada.root))
        for bytes in [
            // As it was handed over before keys were signed.
            key.bytes, BackupCertificate(key, signedBy: try #require(planted.root)).bytes,
            BackupCertificate(key, signedBy: pair.ada.signer).bytes,
            key.bytes + right.signature.bytes, right.bytes + [0], [],
        ] {
            var pair = try PairingPair()
            pair.handedOver = bytes
            #expect(throws: LinkRejection.badBackupKey) { try pair.run() }
            #expect(pair.accepted == nil && pair.backup == nil)
        }
    }

    @Test("trusts a card only where it is the person's and certifies this device and that one")
    func falseCards() throws {
        let stranger = try TestDevice(9)
        let foreign = Card(
            person: stranger.log.person, identity: stranger.log.encoded, parts: [])
        let uncertified = Card(
            person: try TestDevice(1).log.person, identity: try TestDevice(1).log.encoded, parts: []
        )
        for card in [foreign, uncertified] {
            var pair = try PairingPair()
            var message = pair.caller.start()
            message = try pair.deliver(message, toWaiting: true, piece: .max)
            message = try pair.deliver(message, toWaiting: false, piece: .max)
            for event in try pair.waiting.receive(message[...]) {
                guard case .asked = event else { continue }
                message = pair.waiting.answer(card.encoded)
            }
            #expect(throws: LinkRejection.notCertified) {
                _ = try pair.deliver(message, toWaiting: false, piece: .max)
            }
        }
    }

    @Test("answers once, and hears nothing after that")
    func once() throws {
        var pair = try PairingPair()
        try pair.run()
        #expect(pair.waiting.answer([1]).isEmpty)
        #expect(throws: LinkRejection.malformedHandshake) {
            try pair.waiting.receive([0, 16] + [UInt8](repeating: 0, count: 16))
        }
    }
}

@Suite("The secret by which a device is linked")
struct PairingDeskTests {
    private let device = DeviceID { $0[0] = 1 }
    private let other = DeviceID { $0[0] = 2 }

    @Test("is good for five minutes")
    func expires() throws {
        var desk = PairingDesk()
        #expect(desk.open(PairingPair.secret, at: 1_000) == 301_000)
        let opened = desk.offer(at: 300_999)
        let offer = try #require(opened)
        #expect(throws: LinkRejection.nobodyAwaited) {
            try desk.redeem(offer, by: device, at: 301_000)
        }
        #expect(desk.offer(at: 301_000) == nil)
        #expect(desk.offer(at: 2_000) == nil)
    }

    @Test("is good for one device, which may come again for a lost answer")
    func oneUse() throws {
        var desk = PairingDesk()
        _ = desk.open(PairingPair.secret, at: 0)
        let opened = desk.offer(at: 1)
        let offer = try #require(opened)
        try desk.redeem(offer, by: device, at: 1)
        try desk.redeem(offer, by: device, at: 2)
        #expect(throws: LinkRejection.secretSpent) { try desk.redeem(offer, by: other, at: 3) }
    }

    @Test("that was replaced or closed ends what was begun by it")
    func replaced() throws {
        var desk = PairingDesk()
        _ = desk.open(PairingPair.secret, at: 0)
        let opened = desk.offer(at: 1)
        let first = try #require(opened)
        _ = desk.open([UInt8](repeating: 1, count: 32), at: 2)
        #expect(throws: LinkRejection.nobodyAwaited) {
            try desk.redeem(first, by: device, at: 3)
        }
        desk.close()
        #expect(desk.offer(at: 4) == nil)
    }
}
