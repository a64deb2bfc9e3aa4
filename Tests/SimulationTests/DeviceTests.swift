import Foundation
import ParleyCheckers
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleySimulatedDisk
import ParleyWire
import Testing

@testable import ParleySimulate
@testable import ParleySimulation

/// Devices that come and go in a world: the core's own tests say what they do.
@Suite("Devices in a simulated world")
struct DeviceTests {
    let world = World(seed: 21)
    let ann, ben: SimulatedNode
    let jury: Jury

    init() throws {
        (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        jury = Jury(of: world)
    }

    @Test("the devices of one person end equal, their own space included")
    func linked() throws {
        let phone = try world.addDevice("phone", of: ann)
        let trip = try world.group("trip", [ann, ben, phone])
        world.partition([ann, ben], [phone])
        try ann.perform(.mute(trip, isOn: true))
        try phone.type("from afar", in: trip)
        world.run(for: .seconds(10))
        #expect(try world.difference != nil)
        world.heal()
        try world.runUntilEqual(within: .minutes(15))
        #expect(try ben.texts(in: trip) == ["from afar"])
        try jury.verify(isSettled: true)
    }

    /// Each who had shown that they hold more was asked in turn, and waited for 3 s, though there was
    /// nothing left to come.
    @Test("a new device is done as soon as it holds what the others hold")
    func isDone() throws {
        let cara = try world.addNode("cara")
        let trip = try world.group("trip", [ann, ben, cara])
        // So many that the newest come first, and the others are asked for.
        let texts = (0..<1_500).map { "word \($0)" }
        _ = try world.perform(
            .send(trip, texts.map { TextMessage(text: $0) }, replyingTo: nil), on: ben)
        world.run(for: .seconds(10))
        let phone = try world.addDevice("phone", of: ann)
        let took = try world.runUntil(within: .seconds(30), every: .milliseconds(50)) {
            try !phone.core.isCatchingUp(in: phone.store) && phone.knows(trip)
        }
        #expect(took < .milliseconds(1_000))
        #expect(try phone.messages(in: trip, limit: .max).count == texts.count)
        world.run(for: .seconds(2))
        #expect(try !phone.core.isCatchingUp(in: phone.store))
        try world.runUntilEqual(within: .minutes(15))
        try jury.verify(isSettled: true)
    }

    @Test("a device that its person added unaware of their removal hears that it is in nothing")
    func addedUnaware() throws {
        let trip = try world.group("trip", [ann, ben])
        world.cut(ann, ben)
        try ann.perform(.removeMember(trip, ben.identity.person))
        let phone = try world.addDevice("phone", of: ben)
        world.cut(ann, phone)
        world.run(for: .minutes(1))
        let space = try #require(try phone.store.space(trip))
        #expect(try phone.belongs(to: space))
        world.heal()
        world.run(for: .minutes(10))
        #expect(try !phone.belongs(to: space))
        try jury.verify(isSettled: true)
    }

    @Test(
        "a backup becomes a new device and ends the lost one", arguments: [false, true])
    func backup(onDisk: Bool) throws {
        let store: StoreChoice = onDisk ? .sqlite : .memory
        let phone = try world.addDevice("phone", of: ann, on: store)
        let trip = try world.group("trip", [ann, ben, phone])
        try phone.type("before", in: trip)
        world.run(for: .seconds(10))
        let backup = try phone.makeBackup()
        try phone.type("after the backup", in: trip)
        world.run(for: .seconds(10))
        world.crash(phone)
        let next = try world.recover(
            "next", of: phone, from: backup, keeping: [ann], on: store)
        #expect(try next.texts(in: trip) == ["before"])
        try world.runUntilEqual(within: .minutes(15))
        try next.type("on the next one", in: trip)
        world.run(for: .seconds(1))
        try ben.type("welcome", in: trip)
        try world.runUntilEqual(within: .minutes(15))
        #expect(
            try next.texts(in: trip)
                == ["before", "after the backup", "on the next one", "welcome"])
        // Its log ends where others held it: the word of the new device alone would leave it open.
        let record = try #require(try ben.store.space(trip))
        let roster = try RosterReader.judge(of: record, in: ben.store).roster
        #expect(roster.limit(of: phone.identity.device, lane: .content) != .all)
        #expect(
            try MembershipHistory.events(of: record, in: ben.store).contains {
                $0.change == .revokedDevice(phone.identity.device) && $0.holds
            })
        world.start(phone)
        world.run(for: .minutes(10))
        #expect(phone.core.node.isRevoked)
        #expect(try !phone.texts(in: trip).contains("welcome"))
        try jury.verify(isSettled: true)
    }

    @Test("a backup of the only device takes nothing from what it wrote afterwards")
    func onlyDevice() throws {
        let trip = try world.group("trip", [ann, ben])
        try ann.type("before", in: trip)
        world.run(for: .seconds(10))
        let backup = try ann.makeBackup()
        try ann.type("after the backup", in: trip)
        world.run(for: .seconds(10))
        world.crash(ann)
        let next = try world.recover("next", of: ann, from: backup)
        world.run(for: .minutes(2))
        try next.type("here again", in: trip)
        try world.runUntilEqual(within: .minutes(15))
        let texts = ["before", "after the backup", "here again"]
        #expect(try next.texts(in: trip) == texts)
        #expect(try ben.texts(in: trip) == texts)
        try jury.verify(isSettled: true)
    }

    @Test("a device of somebody who was removed before it came hears of that")
    func removedBefore() throws {
        let cara = try world.addNode("cara")
        try world.introduce(cara, ben)
        let trip = try world.group("trip", [ann, ben, cara])
        world.run(for: .seconds(10))
        let backup = try ben.makeBackup()
        world.crash(ben)
        world.run(for: .seconds(10))
        _ = try world.perform(.removeMember(trip, ben.identity.person), on: ann)
        world.run(for: .seconds(10))
        let next = try world.recover("next", of: ben, from: backup)
        world.run(for: .minutes(10))
        let record = try #require(try next.store.space(trip))
        let roster = try RosterReader.judge(of: record, in: next.store).roster
        #expect(roster.member(ben.identity.person) == nil)
        try jury.verify(isSettled: true)
    }

    @Test("the recovery code and a friend make a device where every other one is lost")
    func code() throws {
        let trip = try world.group("trip", [ann, ben])
        try ann.type("before", in: trip)
        world.run(for: .seconds(10))
        world.crash(ann)
        let next = try world.recover("next", of: ann, helpedBy: ben)
        try world.runUntilEqual(within: .minutes(15))
        world.run(for: .minutes(2))
        #expect(try next.texts(in: trip) == ["before"])
        try next.type("here again", in: trip)
        try world.runUntilEqual(within: .minutes(15))
        #expect(try ben.texts(in: trip) == ["before", "here again"])
        try jury.verify(isSettled: true)
    }

    /// What lies below where the friend's logs begin is named and never comes: a prefix of a run is
    /// applied without the signature over it, which is no damage.
    @Test("a device made by the recovery code gets what a friend has who came into a group later")
    func codeAndLateFriend() throws {
        try world.introduce(ann, ben)
        let reply = try world.perform(.createGroup(name: "trip", members: []), on: ann)
        guard case .space(let number) = reply, let trip = try ann.store.space(number)?.id else {
            Issue.record("ann founded no group")
            return
        }
        try ann.type("before ben", in: trip)
        _ = try world.perform(.addMember(trip, ben.identity.person, .member), on: ann)
        world.run(for: .seconds(10))
        _ = try world.perform(.describe(trip, "for ben"), on: ann)
        for (node, text) in [(ben, "of ben"), (ann, "with ben")] {
            try node.type(text, in: trip)
            world.run(for: .seconds(10))
        }
        world.crash(ann)
        let next = try world.recover("next", of: ann, helpedBy: ben)
        var awaitedCount = 0
        for _ in 0..<30 where try next.store.space(trip) == nil || awaitedCount == 0 {
            world.run(for: .milliseconds(500))
            let audit = try audit(of: next)
            #expect(audit.unsignedCount == 0)
            awaitedCount += audit.awaitedCount
        }
        #expect(awaitedCount > 0)
        world.run(for: .minutes(10))
        #expect(try audit(of: next).awaitedCount == 0)
        // The device that is lost was ended above all that there is of it.
        for node in [ben, next] {
            let record = try #require(try node.store.space(trip))
            let roster = try RosterReader.judge(of: record, in: node.store).roster
            #expect(roster.isFormer(ann.identity.device))
            #expect(roster.uncutDevices(of: ann.identity.person).isEmpty)
            let texts = try node.messages(in: trip, limit: .max).compactMap(\.text)
            #expect(texts == ["of ben", "with ben"], "\(node.name)")
        }
    }

    private func audit(of node: SimulatedNode) throws -> LogAudit {
        var audit = LogAudit(of: node.identity.device)
        for space in try node.store.spaces() {
            for log in try node.store.logs(in: space.number) {
                try audit.check(log, in: node.store)
            }
        }
        return audit
    }

    /// The new device knows of no conversation, and begins one: of the two everybody writes into that of
    /// the lesser name.
    @Test("a device made by the recovery code goes on with the conversation of two that there was")
    func codeAndTwo() throws {
        for round in 1...6 {
            let world = World(seed: UInt64(round))
            let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
            try world.introduce(ann, ben)
            world.run(for: .seconds(10))
            let direct = try #require(
                try ben.store.spaces().first { $0.kind == .direct })
            try ann.type("before", in: direct.id)
            world.run(for: .seconds(10))
            world.crash(ann)
            let next = try world.recover("next", of: ann, helpedBy: ben)
            try world.runUntilEqual(within: .minutes(15))
            for node in [next, ben] {
                let all = try node.store.spaces().filter { $0.kind == .direct }.map(\.id)
                #expect(all.min() == direct.id, "round \(round) of \(node.name)")
                #expect(try node.texts(in: direct.id) == ["before"])
            }
        }
    }

    /// It read nowhere, and named no place on its card where a letter could be left. Found by seed 21140367.
    @Test("a device made by the recovery code goes on with the relay of those that are lost")
    func codeBehindRelay() throws {
        let relay = world.addRelay("relay")
        for node in [ann, ben] { try world.use(relay, by: node) }
        let trip = try world.group("trip", [ann, ben])
        try ann.type("before", in: trip)
        world.run(for: .minutes(1))
        world.crash(ann)
        let next = try world.recover("next", of: ann, helpedBy: ben)
        let mailboxes = try CardReader.parts(of: ann.identity.person, next.store)
            .first { $0.device == next.identity.device }?.mailboxes
        #expect(mailboxes?.map(\.relay) == [relay.key])
        try world.runUntilEqual(within: .minutes(15))
        world.keepToRelays()
        try ben.type("to the new one", in: trip)
        try world.runUntilEqual(within: .minutes(15))
        #expect(try next.texts(in: trip) == ["before", "to the new one"])
    }
}

@Suite("Devices in a scenario")
struct ScenarioDeviceTests {
    @Test("are a person's, and are named by that person alone")
    func refused() throws {
        func error(_ part: String, _ other: String) -> String? {
            let text = ScenarioFileTests.minimal.replacing(part, with: other, maxReplacements: 1)
            return #expect(throws: ScenarioError.self) {
                try Scenario(json: Data(text.utf8))
            }?.description
        }
        #expect(
            error(#""user": "ben","#, #""user": "ben", "of": "bob","#)?.contains("'bob'") == true)
        let deed = #"{"write": {"space": 0, "text": "hi"}}"#
        let link = #"{"link": {"device": "ben"}}"#
        #expect(error(deed, link) == "'ben' is not of 'ann'")
    }

    @Test("are in half of what seeds draw, and come to be by acts")
    func drawn() throws {
        let all = (100..<160).map { Scenario.drawn(seed: $0) }
        let some = all.filter { $0.workload.devicesPerHour != nil }
        #expect((15...45).contains(some.count))
        let deeds = Set(some.flatMap { Tape(drawing: $0).acts.map(\.do.name) })
        #expect(deeds.isSuperset(of: Mix.household.keys))
        for scenario in some { #expect(try Scenario(json: scenario.json()) == scenario) }
    }
}
