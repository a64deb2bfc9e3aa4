import ParleyConversation
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySealing

@Suite("Hostile contacts")
struct HostileContactTests {
    /// Each pair of parts was a notice of its own, for ever and a row each.
    @Test("a device that forks its card again and again is told of once")
    func forkedCards() throws {
        let world = World(seed: 61)
        let ann = try world.addNode("ann")
        let ben = try world.addNode("ben")
        try world.introduce(ann, ben)
        let card = try #require(
            try CardReader.kept(of: ann.identity.person, ben.store)?.parts.first)
        for count in 0..<20 {
            let part = CardPart.make(
                version: card.version, noiseKey: ann.identity.noiseKey, name: "ann \(count)",
                addresses: [], prekeys: [], key: ann.identity.key)
            let other = Card(
                person: ann.identity.person, identity: ann.identity.operations, parts: [part])
            world.inject(
                .introduce(Introduction(card: other.encoded, redemption: nil)), from: ann, to: ben)
            world.run(for: 1_000)
        }
        #expect(try Notice.all(in: ben.store).map(\.kind) == [.compromised])
    }
}
