import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySignalling
import ParleyWire
import Testing

@Suite("Records of calls")
struct CallRecordTests {
    private static func record(
        _ call: UInt64, _ outcome: CallSummary.Outcome, _ duration: UInt64 = 0,
        by founder: Writer, with persons: [Writer] = []
    ) -> CallRecord {
        CallRecord(
            call: CallID(Check(high: call, low: call)), founder: founder.replica.person,
            began: 1_700_000_000_000 + call,
            summary: CallSummary(
                outcome: outcome, duration: duration,
                persons: persons.map(\.replica.person).sorted()))
    }

    @Test("of two of one call the one that says more holds, on all devices")
    func greater() throws {
        let cast = try Cast(seed: 7)
        let (ann, ben) = (cast.ann, cast.ben)
        let begun = Self.record(1, .begun, by: ann, with: [ann])
        let talked = Self.record(1, .talked, 5_000, by: ann, with: [ann, ben])
        let longer = Self.record(1, .talked, 5_100, by: ann, with: [ann, ben])
        try ben.write(longer.draft())
        try cast.meet()
        try ann.write(begun.draft())
        try ann.write(talked.draft())
        try cast.cara.write(Self.record(2, .unanswered, by: cast.cara).draft())
        try cast.meet()
        for writer in cast.all {
            let calls = try Overview.calls(
                in: writer.replica.space.number, store: writer.replica.store)
            #expect(calls == [longer, Self.record(2, .unanswered, by: cast.cara)])
            #expect(try writer.replica.digest() == ann.replica.digest())
        }
        #expect(try ann.replica.messages().isEmpty)
    }

    @Test("come to the same in any order", arguments: 1...6 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) throws {
        let cast = try Cast(seed: seed)
        let outcomes: [CallSummary.Outcome] = [.begun, .failed, .talked, .talked, .declined]
        for (place, outcome) in outcomes.enumerated() {
            let writer = cast.all[place % cast.all.count]
            let record = Self.record(
                3, outcome, UInt64(place % 2), by: cast.ann, with: [cast.ann, writer])
            try writer.write(record.draft())
        }
        try cast.meet()
        let wanted = try cast.ann.replica.digest()
        for order in 0..<8 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: seed << 8 | order)
            #expect(try replica.digest() == wanted)
            try replica.rebuild()
            #expect(try replica.digest() == wanted)
        }
    }

    @Test(
        "Attack 148: nobody shows a call as begun by who says nothing of it, nor of who was not in")
    func forged() throws {
        let cast = try Cast(seed: 9)
        let (ann, ben, dan) = (cast.ann, cast.ben, cast.dan)
        // Ann's word on four calls of hers.
        let unanswered = Self.record(2, .unanswered, by: ann, with: [ann])
        let begun = Self.record(3, .begun, by: ann, with: [ann])
        let talked = Self.record(4, .talked, 5_000, by: ann, with: [ann, ben])
        let mine = [unanswered, begun, talked, Self.record(5, .begun, by: ann, with: [ann])]
        for record in mine { try ann.write(record.draft()) }
        try cast.meet()
        // A call that never was; one that was not answered; one and one more that Dan was not in;
        // and an hour more of one that he was in by his own word, as Ben says for himself.
        let forged = [
            Self.record(1, .talked, 3_600_000, by: ann, with: [ann, dan]),
            Self.record(2, .talked, 3_600_000, by: ann, with: [ann, dan]),
            Self.record(3, .talked, 3_600_000, by: ann, with: [ann, ben]),
            Self.record(4, .talked, 3_600_000, by: ann, with: [ann, ben]),
            Self.record(6, .unanswered, by: ben, with: [ben]),
        ]
        for record in forged { try dan.write(record.draft()) }
        var word = Self.record(5, .talked, 9_000, by: ann, with: [ann, ben])
        word.began += 777
        try ben.write(word.draft())
        // The name of a call of Ann's, for one of Dan's.
        let namesake = Self.record(4, .unanswered, by: dan, with: [dan])
        try dan.write(namesake.draft())
        try cast.meet()
        word.began -= 777
        let digest = try ann.replica.digest()
        for order in 0..<6 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: 9 << 8 | order)
            let shown = try Overview.calls(in: replica.space.number, store: replica.store)
            #expect(
                shown.filter { $0.founder == ann.replica.person } == [
                    unanswered, begun, talked, word,
                ])
            #expect(shown.filter { $0.founder != ann.replica.person } == [namesake])
            #expect(try replica.digest() == digest)
            try replica.rebuild()
            #expect(try replica.digest() == digest)
        }
    }

    @Test("tell who missed a call")
    func missed() throws {
        let cast = try Cast(seed: 8)
        let (ann, ben, cara) = (cast.ann, cast.ben, cast.cara)
        #expect(Self.record(1, .unanswered, by: ann, with: [ann]).isMissed(by: ben.replica.person))
        #expect(Self.record(1, .begun, by: ann, with: [ann]).isMissed(by: ben.replica.person))
        #expect(!Self.record(1, .unanswered, by: ann, with: [ann]).isMissed(by: ann.replica.person))
        #expect(
            !Self.record(1, .talked, by: ann, with: [ann, ben]).isMissed(by: cara.replica.person))
        #expect(!Self.record(1, .declined, by: ann, with: [ann]).isMissed(by: ben.replica.person))
    }
}
