import ParleyLedger
import ParleySimulation
import Testing

@testable import ParleyNodeCore

@Suite("A stranger who throws at a node whatever goes through")
struct StrangerTests {
    @Test("half of its letters open, and nothing of them stays")
    func letters() throws {
        let world = World(seed: 7)
        let ann = try world.addNode("ann")
        let stranger = try world.addStranger("stranger")
        let relay = world.addRelay("relay")
        for node in [ann, stranger] { try world.use(relay, by: node) }
        world.run(for: .minutes(1))
        #expect(try world.intrude(stranger, on: ann))
        world.run(for: .minutes(1))
        for refusal in [Refusal.envelope, .stranger] {
            let count = try ann.store.number(.refusal, Array(refusal.rawValue.utf8)) ?? 0
            #expect(count > 0, "\(refusal) is counted")
        }
        #expect(try ann.core.contact(stranger.identity.person, ann.store) == nil)
    }
}
