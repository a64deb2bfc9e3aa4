import ParleyWire
import Testing

@testable import ParleySealing

@Suite("Noise")
struct NoiseTests {
    struct Message: Decodable {
        let payload: Hex
        let ciphertext: Hex
    }

    struct Case: Decodable {
        let protocol_name: String
        let init_prologue: Hex
        let init_ephemeral: Hex
        let init_static: Hex?
        let init_remote_static: Hex?
        let init_psks: [Hex]?
        let resp_prologue: Hex
        let resp_ephemeral: Hex
        let resp_static: Hex?
        let resp_psks: [Hex]?
        let handshake_hash: Hex
        let messages: [Message]
    }

    static let patterns: [HandshakePattern] = [.xk, .xxpsk3, .nk]

    @Test("reproduces each pattern's vectors byte for byte", arguments: ["XK", "XXpsk3", "NK"])
    func vectors(name: String) throws {
        let pattern = try #require(Self.patterns.first { $0.name.contains("_\(name)_") })
        let test = try #require(
            try Vectors.cases("noise/handshakes.json", as: Case.self)
                .first { $0.protocol_name == pattern.name })
        var sides = try [state(pattern, test, true), state(pattern, test, false)]
        for (index, message) in test.messages.prefix(pattern.messages.count).enumerated() {
            let written = try sides[index % 2].write(message.payload.bytes)
            #expect(written == message.ciphertext.bytes)
            #expect(try sides[1 - index % 2].read(written[...]) == message.payload.bytes)
        }
        #expect(sides[0].hash == test.handshake_hash.bytes)
        #expect(sides[1].hash == test.handshake_hash.bytes)
        let initiator = sides[0].split()
        let responder = sides[1].split()
        var sending = [initiator.sending, responder.sending]
        var receiving = [initiator.receiving, responder.receiving]
        for (index, message) in test.messages.enumerated().dropFirst(pattern.messages.count) {
            let sealed = seal(message.payload.bytes, with: &sending[index % 2])
            #expect(sealed == message.ciphertext.bytes)
            let opened = open(sealed, with: &receiving[1 - index % 2])
            #expect(opened == message.payload.bytes)
        }
    }

    @Test("a rekeyed pair goes on, one that missed it does not")
    func rekey() {
        let key = WipedBytes(byteCount: 32) { $0[0] = 1 }
        var sender = CipherState(key)
        var receiver = CipherState(key)
        let first = seal([1], with: &sender)
        #expect(open(first, with: &receiver) == [1])
        sender.rekey()
        let second = seal([2], with: &sender)
        #expect(open(second, with: &receiver) == nil)
        receiver.rekey()
        #expect(open(second, with: &receiver) == [2])
    }

    private func state(
        _ pattern: HandshakePattern, _ test: Case, _ isInitiator: Bool
    ) throws -> HandshakeState {
        let ephemeral = isInitiator ? test.init_ephemeral : test.resp_ephemeral
        let own = isInitiator ? test.init_static : test.resp_static
        let psk = (isInitiator ? test.init_psks : test.resp_psks)?.first
        return HandshakeState(
            pattern, isInitiator: isInitiator,
            prologue: (isInitiator ? test.init_prologue : test.resp_prologue).bytes,
            localStatic: own.map { DeviceNoiseKey(scalar: Secret($0.bytes)) },
            ephemeral: DeviceNoiseKey(scalar: Secret(ephemeral.bytes)),
            remoteStatic: isInitiator
                ? test.init_remote_static.flatMap { NoiseKey($0.bytes) } : nil,
            sharedKey: psk.map { Secret($0.bytes) })
    }

    private func seal(_ plaintext: [UInt8], with cipher: inout CipherState) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: plaintext.count + 16)
        output.withUnsafeMutableBytes { output in
            plaintext.withUnsafeBytes {
                cipher.encrypt(
                    $0, authenticating: UnsafeRawBufferPointer(start: nil, count: 0), into: output)
            }
        }
        return output
    }

    private func open(_ ciphertext: [UInt8], with cipher: inout CipherState) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: ciphertext.count - 16)
        let isGenuine = output.withUnsafeMutableBytes { output in
            ciphertext.withUnsafeBytes {
                cipher.decrypt(
                    $0, authenticating: UnsafeRawBufferPointer(start: nil, count: 0), into: output)
            }
        }
        return isGenuine ? output : nil
    }
}
