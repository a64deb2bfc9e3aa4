import ParleyConversation
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyCheckers
@testable import ParleyLedger
@testable import ParleySimulation

/// A cut stands for the signature of what ends right below it, as long as it holds.
@Suite("What a cut alone vouches for")
struct CutTests {
    /// The receipt that told of it stood for good; what it told of was dropped.
    @Test("nobody says that they received it, for it is dropped when the cut holds no more")
    func receipts() throws {
        let trial = try Trial(of: "I7")
        let (world, ann, ben) = (trial.world, trial.ann, trial.ben)
        let cara = try world.addNode("cara")
        let all = try world.group("all", [ann, ben, cara])
        try ann.perform(.setRole(all, cara.identity.person, .admin))
        world.run(for: 5_000)
        world.isolate(cara)
        // One flush, of which the last operation alone is signed.
        let rows = (1...3).map { ImportedRow(line: $0, message: TextMessage(text: "line \($0)")) }
        try ben.perform(
            .importMessages(
                all, fileHash: Digest(reinterpreting: ben.identity.device), rows: rows,
                throughLine: 3))
        world.run(for: 5_000)
        try removeBen(cutAt: 1, by: ann, from: all, trial)
        world.heal()
        world.run(for: 700_000)
        #expect(try cara.texts(in: all) == ["line 1", "line 2"])
        try cara.perform(.addMember(all, ben.identity.person, .member))
        try trial.jury.verify()
        #expect(try cara.texts(in: all).isEmpty)
        world.run(for: 700_000)
        // What the cut left out stays out.
        #expect(try cara.texts(in: all) == ["line 1", "line 2"])
        try trial.jury.verify(isSettled: true)
        #expect(trial.jury.checkCounts["I7"] ?? 0 > 0)
    }

    /// Ann removes ben, and says that she held his log through a place that is not the end of a flush.
    private func removeBen(
        cutAt place: UInt64, by ann: SimulatedNode, from group: SpaceID, _ trial: Trial
    ) throws {
        let space = try #require(try ann.store.space(group))
        let log = try #require(
            try ann.store.logs(in: space.number).first {
                $0.lane == .content && $0.device == trial.ben.identity.device
            })
        #expect(log.end == 3)
        let last = try #require(try ann.store.operation(at: place, in: log.number))
        let cut = Cut([
            LogPlace(device: log.device, lane: log.lane, sequence: place, operation: last.id)
        ])
        let forgery = try #require(try Forgery(ann, in: group))
        let run = try #require(
            try forgery.run(
                RemoveMember(trial.ben.identity.person, cut: cut).draft(),
                at: World.epoch + trial.world.now, naming: try forgery.causes(of: .control)))
        try forgery.keep(run)
        trial.world.restart(ann)
        trial.world.run(for: 5_000)
    }
}
