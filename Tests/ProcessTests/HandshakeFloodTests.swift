import Foundation
import Parley
import ParleyLocalAPI
import ParleySealing
import ParleyWire
import Testing

@Suite("A node under a flood of handshakes", .serialized, .timeLimit(.minutes(5)))
struct HandshakeFloodTests {
    /// A person whose log is as long as a log may be.
    private static func stranger() throws -> LinkCredentials {
        var random = SystemRandom()
        let root = DeviceSigningKey.generate(using: &random)
        let signing = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        var log = try IdentityLog.founded(
            root: root, device: signing, noiseKey: noise.publicKey, time: 1, using: &random)
        while log.operations.count < IdentityLog.operationCountMax {
            let device = DeviceSigningKey.generate(using: &random)
            let noiseKey = DeviceNoiseKey.generate(using: &random).publicKey
            let proof = IdentityOperation.proofOfPossession(
                to: log.person, by: device, noiseKey: noiseKey)
            let next = log.adding(device.device, noiseKey: noiseKey, proof: proof, by: root)
            log = try log.merging([next])
        }
        return LinkCredentials(
            person: log.person, device: signing.device, noiseKey: noise, identity: log.encoded)
    }

    @Test("Attack 144: of handshakes of strangers with 36 operations a few are proven a second")
    func longLogs() async throws {
        let node = try await FloodedNode()
        let stranger = try Self.stranger()
        let flood = Flood()
        let clock = ContinuousClock()
        let start = clock.now
        let links = 400
        let proven = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let proven = (0..<links).count { number in
                    // Eight handshakes of each address, so that its own bound is not reached.
                    let source = 0x7F00_0100 + UInt32(number / 8)
                    return FloodLink(
                        node.link(as: stranger), port: node.port, from: source,
                        while: { flood.goesOn }) != nil
                }
                continuation.resume(returning: proven)
            }
        }
        let seconds = (clock.now - start) / .seconds(1)
        #expect(proven >= 1 && Double(proven) <= 48 + 12 * seconds)
        // Who is known is let in, though strangers have nothing left.
        try await node.meetAgain()
        #expect(
            try await node.client.perform(GetStatus()).refusals["link-over-allowance", default: 0]
                > 0)
        #expect(try await node.ann.stop() == 0)
        await node.end()
    }
}
