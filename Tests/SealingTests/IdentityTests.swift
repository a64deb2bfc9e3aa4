import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Identity logs")
struct IdentityLogTests {
    /// Keys of one person's life: the root, and devices as they come.
    struct Keys {
        let root: DeviceSigningKey
        let devices: [DeviceSigningKey]
        let noise: [DeviceNoiseKey]

        init(seed: UInt64 = 1) {
            var random = SeededRandom(seed)
            root = .generate(using: &random)
            devices = (0..<4).map { _ in .generate(using: &random) }
            noise = (0..<4).map { _ in .generate(using: &random) }
        }

        func log() throws -> IdentityLog {
            var random = SeededRandom(7)
            return try IdentityLog.founded(
                root: root, device: devices[0], noiseKey: noise[0].publicKey, time: 5,
                using: &random)
        }

        func adding(_ index: Int, to log: IdentityLog, by author: DeviceSigningKey)
            -> IdentityOperation
        {
            log.adding(
                devices[index].device, noiseKey: noise[index].publicKey,
                proof: IdentityOperation.proofOfPossession(
                    to: log.person, by: devices[index], noiseKey: noise[index].publicKey),
                by: author)
        }
    }

    let keys = Keys()

    @Test("a new person has one device of rank 1")
    func founding() throws {
        let log = try keys.log()
        #expect(log.devices.map(\.device) == [keys.devices[0].device])
        #expect(log.devices.map(\.rank) == [1])
        #expect(log.root == keys.root.device)
        #expect(try IdentityLog(operations: log.encoded) == log)
    }

    @Test("devices add devices, and the order of operations does not matter")
    func order() throws {
        var log = try keys.log()
        log = try log.merging([keys.adding(1, to: log, by: keys.devices[0])])
        log = try log.merging([keys.adding(2, to: log, by: keys.devices[1])])
        log = try log.merging([log.revoking(keys.devices[1].device, by: keys.devices[0])])
        #expect(log.revoked == [keys.devices[1].device])
        #expect(
            log.devices.map(\.device)
                == [keys.devices[0].device, keys.devices[2].device].sorted())
        #expect(log.certificate(of: keys.devices[2].device)?.rank == 3)
        var random = SeededRandom(11)
        for _ in 0..<50 {
            #expect(try IdentityLog(operations: log.encoded.shuffled(using: &random)) == log)
        }
    }

    @Test("a junior cannot revoke a senior, a device can revoke itself")
    func ranks() throws {
        var log = try keys.log()
        log = try log.merging([keys.adding(1, to: log, by: keys.devices[0])])
        let coup = try log.merging([log.revoking(keys.devices[0].device, by: keys.devices[1])])
        #expect(coup.devices.count == 2 && coup.revoked.isEmpty)
        let leaving = try log.merging([log.revoking(keys.devices[1].device, by: keys.devices[1])])
        #expect(leaving.devices.map(\.device) == [keys.devices[0].device])
        let byRoot = try log.merging([log.revoking(keys.devices[0].device, by: keys.root)])
        #expect(byRoot.devices.map(\.device) == [keys.devices[1].device])
        let rootless = try log.merging([log.revoking(keys.root.device, by: keys.devices[0])])
        #expect(rootless.revoked.isEmpty)
    }

    @Test("what a revoked device adds unseen by its revoker is void, and it never comes back")
    func backdating() throws {
        var log = try keys.log()
        log = try log.merging([keys.adding(1, to: log, by: keys.devices[0])])
        let unseen = keys.adding(2, to: log, by: keys.devices[1])
        let revocation = log.revoking(keys.devices[1].device, by: keys.devices[0])
        let both = try log.merging([unseen, revocation])
        #expect(both.devices.map(\.device) == [keys.devices[0].device])
        let again = try both.merging([keys.adding(1, to: both, by: keys.devices[0])])
        #expect(again.certificate(of: keys.devices[1].device) == nil)
    }

    @Test("two operations at one place are seen as a fork")
    func fork() throws {
        let log = try keys.log()
        let one = keys.adding(1, to: log, by: keys.devices[0])
        let other = keys.adding(2, to: log, by: keys.devices[0])
        let forked = try log.merging([one, other])
        #expect(forked.forked == [keys.devices[0].device])
        #expect(try log.merging([one]).forked.isEmpty)
    }

    @Test("a stranger's operation changes nothing, and is not kept")
    func stranger() throws {
        let log = try keys.log()
        let after = try log.merging([keys.adding(2, to: log, by: keys.devices[3])])
        #expect(after == log)
    }

    @Test("an operation is refused cut at any length, with any bit flipped, and with a tail")
    func decoding() throws {
        let log = try keys.log()
        for bytes in log.encoded {
            for count in 0..<bytes.count {
                #expect(throws: IdentityRejection.self) {
                    try IdentityOperation(Array(bytes[..<count]))
                }
            }
            #expect(throws: IdentityRejection.self) { try IdentityOperation(bytes + [0]) }
            for place in stride(from: 0, to: bytes.count, by: 3) {
                var flipped = bytes
                flipped[place] ^= 4
                #expect(throws: IdentityRejection.self) { try IdentityOperation(flipped) }
            }
            #expect(try IdentityOperation(bytes).bytes == bytes)
        }
    }

    @Test("a proof by another key, a missing cause and a second beginning are refused")
    func refusals() throws {
        let log = try keys.log()
        let forged = log.adding(
            keys.devices[1].device, noiseKey: keys.noise[1].publicKey,
            proof: IdentityOperation.proofOfPossession(
                to: log.person, by: keys.devices[2], noiseKey: keys.noise[1].publicKey),
            by: keys.devices[0])
        #expect(throws: IdentityRejection.badProofOfPossession) {
            try IdentityOperation(forged.bytes)
        }
        #expect(throws: IdentityRejection.noSingleGenesis) {
            try IdentityLog(operations: [log.encoded[1]])
        }
        #expect(throws: IdentityRejection.noSingleGenesis) {
            try IdentityLog(operations: log.encoded + Keys(seed: 2).log().encoded)
        }
        var grown = try log.merging([keys.adding(1, to: log, by: keys.devices[0])])
        let last = keys.adding(2, to: grown, by: keys.devices[0])
        grown = try grown.merging([last])
        #expect(throws: IdentityRejection.missingCause(grown.operations[2].id)) {
            try log.merging([last])
        }
        let flood = (0...UInt8(IdentityLog.operationCountMax)).map { [$0] }
        #expect(throws: IdentityRejection.tooManyOperations(flood.count)) {
            try IdentityLog(operations: flood)
        }
    }
}

@Suite("Cards")
struct CardTests {
    private func part(
        _ device: TestDevice, version: CardVersion = 1, name: String = "Ada"
    ) -> CardPart {
        CardPart.make(
            version: version, noiseKey: device.noiseKey.publicKey, name: name,
            addresses: ["127.0.0.1:4711", "[::1]:4711"], key: device.signer)
    }

    private func card(_ device: TestDevice, _ parts: [CardPart]) -> Card {
        Card(person: device.log.person, identity: device.log.encoded, parts: parts)
    }

    @Test("a card comes back from its bytes, and holds")
    func roundTrip() throws {
        let ada = try TestDevice(1)
        let card = card(ada, [part(ada)])
        let read = try Card(bytes: card.encoded)
        #expect(read == card)
        #expect(read.name == "Ada")
        #expect(try read.verified(by: ada.log) == card)
        #expect(try IdentityLog(operations: read.identity) == ada.log)
    }

    @Test("a card is refused cut at any length, with a tail, and oversized")
    func decoding() throws {
        let ada = try TestDevice(1)
        let bytes = card(ada, [part(ada)]).encoded
        for count in 0..<bytes.count {
            #expect(throws: DecodingFailure.self) { try Card(bytes: Array(bytes[..<count])) }
        }
        #expect(throws: DecodingFailure.trailingBytes(1)) { try Card(bytes: bytes + [0]) }
        #expect(throws: DecodingFailure.self) {
            try Card(bytes: [UInt8](repeating: 1, count: Limits.cardByteCountMax + 1))
        }
    }

    @Test("no part with a flipped bit holds")
    func tampering() throws {
        let ada = try TestDevice(1)
        let original = card(ada, [part(ada)])
        let bytes = original.encoded
        let start = bytes.count - original.parts[0].bytes.count
        for place in start..<bytes.count {
            var flipped = bytes
            flipped[place] ^= 1
            let survivor = (try? Card(bytes: flipped)).flatMap { try? $0.verified(by: ada.log) }
            #expect(survivor?.parts.isEmpty ?? true, "byte \(place)")
        }
    }

    @Test("a part with another key than the certificate's, or of another person, is refused")
    func keys() throws {
        let (ada, ben) = (try TestDevice(1), try TestDevice(2))
        let wrong = CardPart.make(
            version: 1, noiseKey: ben.noiseKey.publicKey, name: "", addresses: [], key: ada.signer)
        #expect(throws: CardRejection.otherNoiseKey(ada.signer.device)) {
            try card(ada, [wrong]).verified(by: ada.log)
        }
        #expect(throws: CardRejection.otherPerson) {
            try card(ada, [part(ada)]).verified(by: ben.log)
        }
        // A device that is not certified says nothing.
        #expect(try card(ada, [part(ben)]).verified(by: ada.log).parts.isEmpty)
    }

    @Test("the newest part of a device stays, and two with one version are evidence")
    func merging() throws {
        let ada = try TestDevice(1)
        let old = card(ada, [part(ada)])
        let new = card(ada, [part(ada, version: 2, name: "Ada L.")])
        #expect(old.merged(with: new).card == new)
        #expect(new.merged(with: old).card == new)
        #expect(old.merged(with: old).evidence == nil)
        let twin = card(ada, [part(ada, name: "Eve")])
        let one = old.merged(with: twin)
        let other = twin.merged(with: old)
        #expect(one.card == other.card)
        #expect(one.evidence == other.evidence)
        #expect(one.evidence?.device == ada.signer.device)
    }

    @Test("the part of a device that was revoked leaves the merged card")
    func revocation() throws {
        let ada = try TestDevice(1)
        let old = card(ada, [part(ada)])
        let log = try ada.log.merging([ada.log.revoking(ada.signer.device, by: ada.signer)])
        let fresh = Card(person: log.person, identity: log.encoded, parts: [])
        #expect(old.merged(with: fresh).card.parts.isEmpty)
        #expect(old.merged(with: fresh).card.identity == log.encoded)
    }
}

@Suite("Safety numbers and recovery codes")
struct RecoveryTests {
    @Test("Attack 53: a safety number has sixty digits, the same from both sides")
    func symmetric() throws {
        let (ada, ben) = (try TestDevice(1), try TestDevice(2))
        let number = SafetyNumber(between: ada.log, and: ben.log)
        #expect(number == SafetyNumber(between: ben.log, and: ada.log))
        #expect(number.digits.count == 60)
        #expect(number.digits.allSatisfy { ("0"..."9").contains($0) })
        #expect(number.groups.count == 12)
        #expect(number != SafetyNumber(between: ada.log, and: try TestDevice(3).log))
    }

    @Test("Attack 53: a safety number does not change with devices")
    func stable() throws {
        let (ada, ben) = (try TestDevice(1), try TestDevice(2))
        let log = try ada.log.merging([ada.log.revoking(ada.signer.device, by: ada.signer)])
        #expect(
            SafetyNumber(between: log, and: ben.log) == SafetyNumber(between: ada.log, and: ben.log)
        )
    }

    @Test("a recovery code comes back however it was typed")
    func typing() throws {
        var random = SeededRandom(1)
        for _ in 0..<20 {
            let code = RecoveryCode.generate(using: &random)
            let text = code.revealed()
            #expect(text.utf8.count == 56 + 13)
            let typed = text.lowercased().replacing("-", with: " ").replacing("0", with: "o")
                .replacing("1", with: "l")
            #expect(try RecoveryCode(typed: typed) == code)
            #expect(try RecoveryCode(typed: text).rootKey.device == code.rootKey.device)
        }
    }

    @Test("a mistyped recovery code is noticed")
    func mistyping() throws {
        var random = SeededRandom(2)
        let text = RecoveryCode.generate(using: &random).revealed()
        var wrong = Array(text.utf8)
        for place in wrong.indices where wrong[place] != UInt8(ascii: "-") {
            let right = wrong[place]
            wrong[place] = right == UInt8(ascii: "7") ? UInt8(ascii: "8") : UInt8(ascii: "7")
            #expect(throws: RecoveryCodeRejection.mistyped) {
                try RecoveryCode(typed: String(decoding: wrong, as: UTF8.self))
            }
            wrong[place] = right
        }
        #expect(throws: RecoveryCodeRejection.wrongLength(4)) { try RecoveryCode(typed: "ABCD") }
        #expect(throws: RecoveryCodeRejection.strangeCharacter(place: 1)) {
            try RecoveryCode(typed: "AU")
        }
    }

    @Test("a recovery code shows nothing of itself")
    func redacted() {
        var random = SeededRandom(3)
        let code = RecoveryCode.generate(using: &random)
        var dumped = "\(code)"
        dump(code, to: &dumped)
        #expect(!dumped.contains(code.revealed().prefix(4)))
        #expect(dumped.contains("redacted"))
    }
}
