import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("Causes of control operations")
struct ControlCauseTests {
    /// A control operation that names a log of another lane enters no roster. If it were kept, every
    /// honest member would name it as the head of its log, and nobody could judge what they write.
    @Test(
        "Attack 112: a control operation that names another lane is kept by nobody",
        arguments: [Lane.content, .receipts])
    func anotherLane(lane: Lane) throws {
        let village = try Village(seed: 1_120)
        let (world, ann, eve) = (village.world, village.ann, village.dora)
        for node in village.nodes { try village.type("from \(node.name)", node) }
        world.run(for: 60_000)
        let isShown = try world.forge(eve, in: village.group) { forgery in
            let named = try #require(
                try eve.store.logs(in: forgery.space.number).first {
                    $0.lane == lane && $0.end > 0 && $0.device == ann.identity.device
                })
            let draft = Draft(
                kind: .acknowledgement, lane: .control, payload: nil, isErasable: false)
            let cause = OperationReference(
                tag: named.tag, sequence: named.end - 1, check: named.tip.check)
            let run = try #require(
                try forgery.run(draft, at: world.wall(of: eve), naming: [cause]))
            for node in village.nodes.dropLast() {
                world.show(run, of: village.group, from: eve, to: node)
            }
            return true
        }
        #expect(isShown)
        world.run(for: 60_000)

        let honest = village.nodes.dropLast()
        for node in honest { try village.type("still here: \(node.name)", node) }
        try village.perform(.rename(village.group, "renamed"), ann)
        village.settle()
        let expected = Set(honest.map { "still here: \($0.name)" })
        for node in honest {
            #expect(try expected.isSubset(of: village.texts(node)), "\(node.name)")
        }
    }
}
