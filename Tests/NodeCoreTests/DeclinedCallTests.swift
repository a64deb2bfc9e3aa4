import ParleyLedger
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleyNodeCore
@testable import ParleySimulation

@Suite("Which calls were declined")
struct DeclinedCallTests {
    private func knows(_ call: CallID, _ node: SimulatedNode, in id: SpaceID) throws -> Bool {
        try node.observing {
            let space = try #require(try node.store.space(id))
            return try NodeCore.hasDeclined(call, in: space.number, node.store)
        }
    }

    @Test("is known on all devices of a person that rang, and of a call that was answered on none")
    func devices() throws {
        let home = try Families(seed: 61)
        let (telephony, world) = (home.telephony, home.world)
        let declined = try telephony.call(home.ann, in: home.space)
        world.run(for: 1_000)
        try telephony.act(.decline, declined, home.bens[1])
        world.run(for: 60_000)
        let answered = try telephony.call(home.ann, in: home.space)
        world.run(for: 1_000)
        try telephony.act(.answer([]), answered, home.bens[1])
        world.run(for: 1_000)
        for device in home.bens {
            #expect(try knows(declined, device, in: home.space))
            #expect(try !knows(answered, device, in: home.space))
        }
        #expect(try !knows(declined, home.ann, in: home.space))
    }

    @Test("is forgotten with the conversation, and once so many others were declined since")
    func bound() throws {
        let village = try Village(seed: 62)
        let ben = village.ben
        let space = try #require(try ben.observing { try ben.store.space(village.group) })
        let calls = (0...UInt64(NodeCore.declinedCallCountMax)).map { number in
            CallID(Check(high: 9_999 - number, low: number))
        }
        try ben.store.begin(.normal)
        for (place, call) in calls.enumerated() {
            try ben.core.keepDecline(
                .declined, of: call, in: space.number,
                at: Instant(monotonic: 0, wall: UInt64(place)), ben.store)
        }
        try ben.core.keepDecline(
            .missed, of: CallID(Check(high: 1, low: 1)), in: space.number,
            at: Instant(monotonic: 0, wall: 9_999), ben.store)
        try ben.store.commit()
        let count = NodeCore.declinedCallCountMax
        #expect(try ben.observing { try ben.store.values(.declinedCall).count } == count)
        #expect(try !knows(calls[0], ben, in: village.group))
        #expect(try knows(calls[1], ben, in: village.group))
        try village.perform(.leave(village.group), ben)
        village.settle()
        try village.perform(.deleteConversation(village.group), ben)
        #expect(try ben.observing { try ben.store.values(.declinedCall).isEmpty })
    }
}
