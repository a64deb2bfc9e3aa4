import ParleyLedger
import ParleySealing
import ParleyWire
import Testing

@testable import ParleyRoster

@Suite("Epochs that are over")
struct StaleEpochTests {
    /// An epoch for the roster of now, by a person who has seen everything.
    private func mint(by person: Int, in village: inout Village) throws -> OperationID {
        var graph = village.graph()
        let device = village.people[person].devices[0].device
        let recipients = graph.leaves(besides: device, at: graph.tips()).map {
            EpochRecipient(device: $0.device, leaf: $0.leaf)
        }
        let place = EpochPlace(
            space: village.space, author: device, sequence: 0,
            previous: OperationID { _ in }, dependencies: [])
        let minted = try EpochBody.mint(
            at: place, roster: graph.roster().digest, recipients: recipients,
            hedge: Secret([UInt8](repeating: 1, count: 32)), using: &village.draws)
        let draft = Draft(
            kind: .epoch, lane: .control, payload: minted.body.bytes, isErasable: false)
        return village.written[village.write(draft, by: person)].operation.id
    }

    @Test("Attack 30: an epoch that its user left, or for another roster, is known for what it is")
    func stale() throws {
        var village = try Village(seed: 30, people: 3)
        village.write(village.add(1), by: 0)
        let devices = village.people.map { $0.devices[0].device }
        let first = try mint(by: 0, in: &village)
        let second = try mint(by: 0, in: &village)
        var graph = village.graph()
        let digest = graph.roster().digest
        #expect(graph.epochs.map(\.isSound) == [true, true])
        #expect(graph.epochs.allSatisfy { $0.rosterDigest == digest })
        #expect(graph.hasLeft(first, devices[0]) && !graph.hasLeft(second, devices[0]))
        #expect(!graph.hasLeft(first, devices[1]))
        village.write(village.add(2), by: 0)
        graph = village.graph()
        let grown = graph.roster().digest
        #expect(graph.epochs.allSatisfy { $0.rosterDigest != grown })
        // The same persons as before are another roster: nothing that was over comes back.
        village.write(village.remove(2), by: 0)
        graph = village.graph()
        let now = graph.roster()
        #expect(now.members.count == 2 && now.digest != digest)
        #expect(graph.epochs.allSatisfy { $0.rosterDigest != now.digest })
        // Who mints for a roster that is over is heard by nobody.
        let leaf = graph.leaf(of: devices[1], at: graph.tips())
        let recipient = EpochRecipient(device: devices[1], leaf: try #require(leaf))
        let place = EpochPlace(
            space: village.space, author: devices[0], sequence: 0,
            previous: OperationID { _ in }, dependencies: [])
        let late = try EpochBody.mint(
            at: place, roster: digest, recipients: [recipient],
            hedge: Secret([UInt8](repeating: 1, count: 32)), using: &village.draws)
        village.write(
            Draft(kind: .epoch, lane: .control, payload: late.body.bytes, isErasable: false), by: 0)
        graph = village.graph()
        #expect(graph.epochs.last?.isSound == false)
    }
}
