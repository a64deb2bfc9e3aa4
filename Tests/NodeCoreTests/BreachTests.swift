import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("Peers who break the protocol")
struct BreachTests {
    /// A fuzzer's world had three nodes dial a liar every second, each of them for as long as it
    /// lived: a greeting made them forget how often the links before had ended so.
    @Test("Attack 320: who breaks the protocol on each link is dialled more and more rarely")
    func dials() throws {
        let world = World(seed: 320)
        let (ann, mal) = (try world.addNode("ann"), try world.addNode("mal"))
        _ = try world.introduce(ann, mal)
        mal.isHonest = false
        var dialCount = 0
        var breachCount = 0
        world.onStep = { step in
            guard step.node === ann else { return }
            for effect in step.effects {
                if case .dial = effect { dialCount += 1 }
                if case .hangUp(_, .breach) = effect { breachCount += 1 }
            }
        }
        func live(seconds: Int) {
            for _ in 0..<2 * seconds {
                world.run(for: 500)
                // Nothing is shorter than a HELLO.
                world.inject([Frame.Kind.hello.rawValue], from: mal, to: ann)
            }
        }
        live(seconds: 600)
        #expect(breachCount > 10)
        #expect(dialCount < 20, "of 600 seconds")
        (dialCount, breachCount) = (0, 0)
        live(seconds: 1_200)
        #expect(dialCount <= 5, "of 1,200 seconds")
        // Once they behave, a link lasts.
        world.run(for: 400_000)
        (dialCount, breachCount) = (0, 0)
        world.run(for: 600_000)
        #expect(ann.core.linkedPeers.map(\.device) == [mal.identity.device])
        #expect(dialCount == 0 && breachCount == 0)
    }
}
