import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleySimulation

/// Three people with two devices each. Ben and cara know each other through ann's group alone, and
/// phones know nobody but their person's first device, and whom that one knows.
@Suite("Devices that know each other through a group alone")
struct MeetingTests {
    let world = World(seed: 33)
    let ann, ben, cara, annPhone, benPhone, caraPhone: SimulatedNode

    init() throws {
        (ann, ben, cara) = (
            try world.addNode("ann"), try world.addNode("ben"), try world.addNode("cara")
        )
        try world.introduce([ann, ben])
        try world.introduce([ann, cara])
        annPhone = try world.addDevice("ann-phone", of: ann)
        benPhone = try world.addDevice("ben-phone", of: ben)
        caraPhone = try world.addDevice("cara-phone", of: cara)
    }

    /// Which of two devices of the group have no link.
    private func apart(_ nodes: [SimulatedNode]? = nil) -> [String] {
        var found: [String] = []
        let nodes = (nodes ?? world.nodes).filter { !$0.isDown }
        for (place, node) in nodes.enumerated() {
            let linked = Set(node.core.linkedPeers.map(\.device))
            for other in nodes[(place + 1)...] where !linked.contains(other.identity.device) {
                found.append("\(node.name) and \(other.name)")
            }
        }
        return found
    }

    private func foundGroup() throws -> SpaceID {
        let members = [ben, cara].map(\.identity.person)
        guard
            case .space(let number) = try world.perform(
                .createGroup(name: "log", members: members), on: ann),
            let space = try ann.store.space(number)
        else { throw CommandRefusal.notAllowed }
        return space.id
    }

    private func meet(_ nodes: [SimulatedNode]? = nil, within limit: Duration) {
        do {
            try world.runUntil(within: limit) { apart(nodes).isEmpty }
        } catch {
            Issue.record("after \(limit) still apart are \(apart(nodes))")
        }
    }

    /// Nobody can dial it; it can dial others.
    private func hide(_ node: SimulatedNode) throws {
        _ = try world.perform(.setProfile(name: nil, addresses: ["nowhere"]), on: node)
    }

    private func show(_ node: SimulatedNode) throws {
        let address = String(node.index)
        _ = try world.perform(.setProfile(name: nil, addresses: [address]), on: node)
    }

    /// A card went into some space at most every ten minutes: whoever had shown theirs to the phones
    /// of a direct conversation did not show it to a group that began soon after.
    @Test(
        "find each other soon, however soon before their cards went elsewhere",
        arguments: [0, 1, 5, 20, 90, 1_000])
    func founded(seconds: Int) throws {
        world.run(for: .seconds(seconds))
        _ = try foundGroup()
        // Whoever accepts after the first cards went into the group is shown them as a newcomer.
        meet(within: .seconds(75))
    }

    /// Ben's phone waited up to five minutes more where it had been told long before that cara's phone
    /// was elsewhere.
    @Test("try at once where one of them says it is now, however long it was not found")
    func moved() throws {
        _ = try foundGroup()
        meet(within: .seconds(15))
        try hide(benPhone)
        try hide(caraPhone)
        world.run(for: .minutes(11))
        world.reset(benPhone, caraPhone)
        world.run(for: .minutes(30))
        #expect(apart() == ["ben-phone and cara-phone"])
        try show(caraPhone)
        meet(within: .seconds(5))
    }

    /// By default who comes later is given nothing of before, where the others had shown their cards.
    @Test("show themselves to who comes later, and can be found by nobody")
    func newcomer() throws {
        let group = try foundGroup()
        world.run(for: .seconds(20))
        let dora = try world.addNode("dora")
        try world.introduce([ann, dora])
        try hide(dora)
        _ = try world.perform(
            .addMember(group, dora.identity.person, .member), on: ann)
        meet(within: .seconds(75))
    }

    /// What cara had shown came to dora while cara was out, and counted for nothing; and cara saw no
    /// reason to show it again.
    @Test("are found again by who came while they were out", arguments: [true, false])
    func cameBack(isAllShown: Bool) throws {
        let group = try foundGroup()
        if isAllShown {
            _ = try world.perform(
                .changeSettings(group, SpaceSettings(history: .all)), on: ann)
        }
        meet(within: .seconds(15))
        let dora = try world.addNode("dora")
        try world.introduce([ann, dora])
        try hide(dora)
        world.crash(caraPhone)
        _ = try world.perform(.removeMember(group, cara.identity.person), on: ann)
        world.run(for: .minutes(2))
        _ = try world.perform(.addMember(group, dora.identity.person, .member), on: ann)
        world.run(for: .minutes(2))
        #expect(apart([dora, cara]).count == 1)
        for node in [ben, benPhone] { #expect(apart([dora, node]).isEmpty) }
        _ = try world.perform(.addMember(group, cara.identity.person, .member), on: ann)
        meet([dora, cara], within: .seconds(75))
    }
}
