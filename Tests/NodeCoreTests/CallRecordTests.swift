import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleySimulation

@Suite("What is noted of calls")
struct CallRecordTests {
    private func records(_ node: SimulatedNode, in space: SpaceID) throws -> [CallRecord] {
        try node.observing {
            let record = try #require(try node.store.space(space))
            return try Overview.calls(in: record.number, store: node.store)
        }
    }

    @Test("all devices of both show the same record of a call in which people talked")
    func talked() throws {
        let home = try Families(seed: 21)
        let (telephony, world) = (home.telephony, home.world)
        let call = try telephony.call(home.ann, in: home.space)
        world.run(for: 1_000)
        #expect(try records(home.bens[0], in: home.space).map(\.summary.outcome) == [.begun])
        try telephony.act(.answer([]), call, home.bens[2])
        world.run(for: 1_000)
        // A leg that stands without a word before it: the program says so.
        for _ in 0..<2 {
            try telephony.connect(call, [home.ann, home.bens[2]])
            world.run(for: 500)
        }
        let devices = [home.ann.identity.device, home.bens[2].identity.device]
        for (node, other) in zip([home.ann, home.bens[2]], devices.reversed()) {
            try telephony.act(.news(other, .connected), call, node)
        }
        world.run(for: 20_000)
        try telephony.act(.hangUp, call, home.bens[2])
        world.run(for: 10_000)
        let known = try records(home.ann, in: home.space)
        let record = try #require(known.first)
        #expect(known.count == 1 && record.call == call)
        #expect(record.founder == home.ann.identity.person)
        #expect(record.summary.outcome == .talked)
        #expect((19_000...21_000).contains(record.summary.duration))
        #expect(record.summary.persons.count == 2)
        for node in home.bens { #expect(try records(node, in: home.space) == known) }
        #expect(try home.ann.digest(of: home.space) == home.bens[1].digest(of: home.space))
    }

    @Test("who was offline sees the missed call when they return")
    func offline() throws {
        let home = try Families(seed: 22)
        let (telephony, world) = (home.telephony, home.world)
        for device in home.bens { world.isolate(device) }
        world.run(for: 120_000)
        let call = try telephony.call(home.ann, in: home.space)
        world.run(for: 90_000)
        #expect(telephony.heard(.ended(.unanswered)) == ["ann"])
        world.heal()
        world.run(for: 120_000)
        #expect(telephony.heard(.ring).isEmpty)
        for device in home.bens {
            let record = try #require(try records(device, in: home.space).first)
            #expect(record.call == call && record.summary.outcome == .unanswered)
            #expect(record.isMissed(by: device.identity.person))
        }
    }

    @Test("a caller that dies has left word that it called")
    func died() throws {
        let home = try Families(seed: 23)
        let (telephony, world) = (home.telephony, home.world)
        let call = try telephony.call(home.ann, in: home.space)
        world.run(for: 2_000)
        world.crash(home.ann, downFor: .minutes(10))
        world.run(for: 200_000)
        for device in home.bens {
            #expect(device.core.calls.all.isEmpty)
            let record = try #require(try records(device, in: home.space).first)
            #expect(record.call == call && record.isMissed(by: device.identity.person))
        }
        #expect(telephony.stopped().values.allSatisfy { $0 == [.missed] })
    }

    @Test("who is left notes a call whose host has died")
    func hostDied() throws {
        let home = try Families(seed: 24)
        let (telephony, world) = (home.telephony, home.world)
        let call = try telephony.call(home.ann, in: home.space)
        world.run(for: 1_000)
        try telephony.act(.answer([]), call, home.bens[0])
        world.run(for: 2_000)
        world.crash(home.ann, downFor: .minutes(10))
        world.run(for: 120_000)
        #expect(home.bens[0].core.calls.all.isEmpty)
        let record = try #require(try records(home.bens[1], in: home.space).first)
        #expect(record.call == call && record.summary.outcome == .failed)
    }
}
