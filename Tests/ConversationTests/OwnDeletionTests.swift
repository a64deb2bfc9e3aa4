import ParleyConversation
import ParleyLedger
import ParleyPayloads
import ParleyRoster
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Deleting for oneself".
@Suite("What is deleted for oneself")
struct OwnDeletionTests {
    @Test("Attack 353: somebody says in a conversation what holds in an own space alone")
    func elsewhere() throws {
        let cast = try Cast(seed: 353)
        let message = try cast.ann.say("stays")
        try cast.meet()
        for writer in [cast.ann, cast.dan] {
            try writer.write(OwnDeletion(of: message, in: cast.space).draft())
        }
        try cast.meet()
        for writer in cast.all {
            #expect(try writer.replica.messages().map(\.text) == ["stays"])
            try writer.replica.rebuild()
            #expect(try writer.replica.messages().map(\.text) == ["stays"])
        }
    }

    @Test(
        "Attack 354: one that is off, or names too little, too much or an impossible place, is none"
    )
    func bounds() {
        let message = OperationReference(
            tag: LogTag(7), sequence: 8, check: Check(high: 9, low: 10))
        let said = OwnDeletion(of: message, in: SpaceID { $0[0] = 6 })
        #expect(OwnDeletion(payload: said.draft().payload ?? []) == said)
        var payload = PayloadStar()
        payload.space = field(said.space.bytes)
        let place = [UInt8](repeating: 0, count: 7) + [8]
        let name = [UInt8](repeating: 0, count: 7) + [7] + place + [UInt8](repeating: 1, count: 16)
        payload.message = field(name)
        #expect(OwnDeletion(payload: Payload.encode(payload)) == nil, "nothing undoes one")
        payload.on = true
        #expect(OwnDeletion(payload: Payload.encode(payload)) != nil)
        for wrong in [
            Array(name.dropLast()), name + [0], [],
            Array(name.prefix(8)) + [0x40] + name.dropFirst(9),
        ] {
            payload.message = field(wrong)
            #expect(OwnDeletion(payload: Payload.encode(payload)) == nil)
        }
    }
}
