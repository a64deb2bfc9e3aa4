import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

/// Source: `Protocol/06-relay.md`, "Reading".
@Suite("A relay that becomes one's own")
struct OwnRelayTests {
    @Test("opens an inbox at once, also where it was read for a contact's sake")
    func inbox() throws {
        let world = World(seed: 963)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let relay = world.addRelay("relay")
        try world.use(relay, by: ann)
        _ = try world.introduce(ann, ben)
        world.run(for: 60_000)
        // Ben has none of his own, and reads where ann does.
        let before = try #require(ben.core.courier.lines[relay.key])
        #expect(before.isReading && before.inbox == nil)
        try world.use(relay, by: ben)
        world.run(for: 5_000)
        let after = try #require(ben.core.courier.lines[relay.key])
        let inbox = try #require(after.inbox)
        #expect(after.mailboxes[inbox] != nil && after.inboxDay == after.day)
    }
}
