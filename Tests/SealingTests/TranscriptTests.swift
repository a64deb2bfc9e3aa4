import ParleyWire
import Testing

@testable import ParleySealing

/// Randomness that was written down before: the next bytes are the next of the list.
struct FixedRandom: RandomNumberGenerator {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    mutating func next() -> UInt64 {
        var word: UInt64 = 0
        for shift in 0..<8 { word |= UInt64(bytes.popFirst() ?? 0) << UInt64(8 * shift) }
        return word
    }
}

@Suite("Whole transcripts, byte for byte")
struct TranscriptTests {
    struct LinkCase: Decodable {
        let network: String
        let callerSeed, callerNoise, callerEphemeral: Hex
        let callerIdentity: [Hex]
        let calleeSeed, calleeNoise, calleeEphemeral: Hex
        let calleeIdentity: [Hex]
        let opening, answer, third, calleeHello, handshakeHash: Hex
        let frames: [Hex]
        let record, rekeyRecord, frameAfter, recordAfter: Hex
    }

    private func credentials(_ seed: Hex, _ noise: Hex, _ identity: [Hex]) throws -> LinkCredentials
    {
        let log = try IdentityLog(operations: identity.map(\.bytes))
        return LinkCredentials(
            person: log.person, device: DeviceSigningKey(seed: Secret(seed.bytes)).device,
            noiseKey: DeviceNoiseKey(scalar: Secret(noise.bytes)), identity: log.encoded)
    }

    /// What an end wants sent, the frames apart.
    private func offer(_ bytes: [UInt8], to link: inout Link) throws -> (
        sent: [UInt8], frames: [[UInt8]]
    ) {
        var result: (sent: [UInt8], frames: [[UInt8]]) = ([], [])
        for event in try link.receive(bytes) {
            switch event {
            case .send(let bytes): result.sent += bytes
            case .frame(let frame): result.frames.append(frame)
            case .authenticated: break
            }
        }
        return result
    }

    @Test("a link gives the transcript that another program computed")
    func link() throws {
        let test = try #require(
            try Vectors.cases("links/transcript.json", as: LinkCase.self).first)
        let caller = try credentials(test.callerSeed, test.callerNoise, test.callerIdentity)
        let callee = try credentials(test.calleeSeed, test.calleeNoise, test.calleeIdentity)
        var fixed = FixedRandom(test.callerEphemeral.bytes)
        var ada = Link(
            initiatorTo: callee.noiseKey.publicKey, expecting: callee.device, credentials: caller,
            network: NetworkID(named: test.network), using: &fixed)
        fixed = FixedRandom(test.calleeEphemeral.bytes)
        var ben = Link(responder: callee, network: NetworkID(named: test.network), using: &fixed)
        #expect(ada.start() == test.opening.bytes)
        #expect(try offer(test.opening.bytes, to: &ben).sent == test.answer.bytes)
        #expect(try offer(test.answer.bytes, to: &ada).sent == test.third.bytes)
        #expect(try offer(test.third.bytes, to: &ben).sent == test.calleeHello.bytes)
        #expect(try offer(test.calleeHello.bytes, to: &ada).sent.isEmpty)
        #expect(ada.peer?.device == callee.device && ben.peer?.device == caller.device)
        #expect(ada.handshakeHash == test.handshakeHash.bytes)
        #expect(ada.seal(test.frames.map(\.bytes)) == test.record.bytes)
        #expect(ada.rekey() == test.rekeyRecord.bytes)
        #expect(ada.seal([test.frameAfter.bytes]) == test.recordAfter.bytes)
        let stream = test.record.bytes + test.rekeyRecord.bytes + test.recordAfter.bytes
        #expect(
            try offer(stream, to: &ben).frames
                == test.frames.map(\.bytes) + [test.frameAfter.bytes])
    }

    struct PersonCase: Decodable {
        let rootSeed, deviceSeed, noise, random: Hex
        let time: UInt64
        let person, root, device: Hex
        let identity, otherIdentity: [Hex]
        let safetyNumber: String
        let recoverySecret: Hex
        let recoveryCode: String
        let recoveryRoot: Hex
        let cardVersion: UInt64
        let cardName: String
        let cardAddresses: [String]
        let card: Hex
    }

    @Test("a person, their card, number and code are those that another program computed")
    func person() throws {
        let test = try #require(
            try Vectors.cases("identity/person.json", as: PersonCase.self).first)
        let device = DeviceSigningKey(seed: Secret(test.deviceSeed.bytes))
        let noise = DeviceNoiseKey(scalar: Secret(test.noise.bytes))
        var fixed = FixedRandom(test.random.bytes)
        let log = try IdentityLog.founded(
            root: DeviceSigningKey(seed: Secret(test.rootSeed.bytes)), device: device,
            noiseKey: noise.publicKey, time: test.time, using: &fixed)
        #expect(log.encoded == test.identity.map(\.bytes))
        #expect(log.person.bytes == test.person.bytes && log.root.bytes == test.root.bytes)
        let other = try IdentityLog(operations: test.otherIdentity.map(\.bytes))
        #expect(SafetyNumber(between: log, and: other).digits == test.safetyNumber)
        fixed = FixedRandom(test.recoverySecret.bytes)
        let code = RecoveryCode.generate(using: &fixed)
        #expect(code.revealed() == test.recoveryCode)
        #expect(code.rootKey.device.bytes == test.recoveryRoot.bytes)
        let part = CardPart.make(
            version: try #require(CardVersion(exactly: test.cardVersion)),
            noiseKey: noise.publicKey, name: test.cardName,
            addresses: test.cardAddresses, key: device)
        let card = Card(person: log.person, identity: log.encoded, parts: [part])
        #expect(card.encoded == test.card.bytes)
    }
}
