import Foundation
import ParleyNodeCore
import ParleySealing
import ParleyTransport
import ParleyWire
import Synchronization
import Testing

@testable import Parley

/// A device of ann's that somebody else rules: it shows a text, certifies whoever comes, and hands
/// over whatever key for backups it likes.
private struct RuledDevice {
    let code: RecoveryCode
    let transport = Transport(threadCount: 1)
    private let key: DeviceSigningKey
    private let noise: DeviceNoiseKey
    private let log: IdentityLog

    init() throws {
        var random = SystemRandom()
        code = .generate(using: &random)
        key = .generate(using: &random)
        noise = .generate(using: &random)
        log = try IdentityLog.founded(
            root: code.rootKey, device: key, noiseKey: noise.publicKey,
            time: 1_700_000_000_000, using: &random)
    }

    /// Waits for one new device, which is handed this; returns what to show it.
    func show(handingOver backup: BackupCertificate?) async throws -> String {
        var random = SystemRandom()
        let secret = random.bytes(DeviceOffer.secretByteCount)
        var desk = PairingDesk()
        _ = desk.open(secret, at: 0)
        let offer = desk.offer(at: 1)
        let credentials = LinkCredentials(
            person: log.person, device: key.device, noiseKey: noise, identity: log.encoded)
        let listener = try await transport.listen(on: try Endpoint("127.0.0.1:0")) {
            var random = SystemRandom()
            let pairing = Pairing(
                awaiting: offer, credentials: credentials, network: NetworkID(named: "parley"),
                using: &random)
            return PairingDriver(pairing) { outcome, driver in
                guard case .asked(let request) = outcome,
                    let card = try? card(adding: request)
                else { return }
                driver.answer(card, backup: backup)
            }
        }
        return DeviceOffer(
            person: log.person, noiseKey: noise.publicKey, secret: secret,
            expires: SystemClock.now.wall + 60_000,
            addresses: listener.endpoints.map(\.description)
        ).text
    }

    private func card(adding request: DeviceRequest) throws -> [UInt8] {
        let longer = try log.merging([
            log.adding(
                request.device, noiseKey: request.noiseKey, proof: request.proof, by: key)
        ])
        let part = CardPart.make(
            version: 1, noiseKey: noise.publicKey, name: "ann", addresses: [], key: key)
        return Card(person: log.person, identity: longer.encoded, parts: [part]).encoded
    }
}

@Suite("A key for backups that a thief plants", .serialized, .timeLimit(.minutes(3)))
struct PlantedKeyTests {
    private func accept(_ text: String, at home: String) async throws -> (Int32, String) {
        let ended = try await Program.run(
            "device", "accept-link", text, "--home", home, "--name", "phone", "--wait", "1")
        return (ended.status, ended.output)
    }

    @Test("Attack 168: a ruled device's key is refused by a new one; without one, backups wait")
    func linking() async throws {
        let folder = try TemporaryFolder()
        let ruled = try RuledDevice()
        var random = SystemRandom()
        let thief = RecoveryCode.generate(using: &random)

        let planted = try await ruled.show(handingOver: thief.backupCertificate)
        let (refused, why) = try await accept(planted, at: folder.home("a"))
        #expect(refused == 1 && why.contains("did not sign"), "\(why)")
        #expect(why.contains("parley: hint: Somebody else may control that device"))
        #expect(!Node.exists(at: folder.home("a")))

        let (linked, said) = try await accept(
            try await ruled.show(handingOver: nil), at: folder.home("b"))
        #expect(linked == 0, "\(said)")
        let home = folder.home("b")
        let status = try await Program.run("status", "--home", home)
        #expect(status.output.contains("Backups are not possible yet"), "\(status.output)")
        let file = folder.path + "/backup"
        let early = try await Program.run("backup", "create", file, "--home", home)
        #expect(early.status == 1 && early.output.contains("recovery check"), "\(early.output)")
        let codeFile = folder.path + "/code"
        try Data(ruled.code.revealed().utf8).write(to: URL(filePath: codeFile))
        let check = try await Program.run(
            "recovery", "check", "--home", home, "--code-file", codeFile)
        #expect(check.status == 0 && check.output.contains("encrypted to it from now on"))
        #expect(try await Program.run("backup", "create", file, "--home", home).status == 0)
        #expect(
            try await Program.run("backup", "verify", file, "--code-file", codeFile).status == 0)

        let (again, _) = try await accept(
            try await ruled.show(handingOver: ruled.code.backupCertificate), at: folder.home("c"))
        #expect(again == 0)
        let third = try await Program.run(
            "backup", "create", file + "-c", "--home", folder.home("c"))
        #expect(third.status == 0, "\(third.output)")
        await ruled.transport.shutdown()
    }
}
