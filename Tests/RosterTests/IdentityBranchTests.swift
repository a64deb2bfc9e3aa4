import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

@Suite("Branches of an identity log in a roster")
struct IdentityBranchTests {
    /// Two devices each wrote as much as one log may hold. Together that was more than devices may
    /// write, so the log was none at all: nobody's device was left, and the recovery code gave none
    /// back either.
    @Test("a thief's two devices fill the log from both sides, and the person keeps their devices")
    func filledFromBothSides() throws {
        var village = try Village(seed: 61, people: 2)
        let thieves = [
            try village.people[1].addDevice(&village.draws),
            try village.people[1].addDevice(&village.draws),
        ]
        village.write(village.add(1), by: 0)
        let seen = Set(village.written.indices)
        for (thief, count) in zip(thieves, [19, 10]) {
            let ident = try branch(of: village.people[1], by: thief, count, &village.draws)
            village.write(ident.draft(), by: thief.device, seen: seen)
        }
        let own = village.people[1].devices.map(\.device)
        for order in village.orders() {
            let roster = village.roster(order)
            #expect(own.allSatisfy(roster.contains))
            // Of the two branches one fits.
            #expect(roster.member(village.people[1].person)?.devices.count == own.count + 1)
        }
    }

    /// So many revocations of a device that nobody knows, and then a device, which lets it in.
    private func branch(
        of villager: Villager, by thief: DeviceSigningKey, _ count: Int, _ draws: inout Draws
    ) throws -> Ident {
        var log = villager.log
        let nobody = DeviceSigningKey.generate(using: &draws).device
        for _ in 0..<count { log = try log.merging([log.revoking(nobody, by: thief)]) }
        let device = DeviceSigningKey.generate(using: &draws)
        let noise = DeviceNoiseKey.generate(using: &draws).publicKey
        let proof = IdentityOperation.proofOfPossession(
            to: log.person, by: device, noiseKey: noise)
        log = try log.merging([
            log.adding(device.device, noiseKey: noise, proof: proof, by: thief)
        ])
        return Ident(person: log.person, identity: log.encoded, change: .add)
    }
}
