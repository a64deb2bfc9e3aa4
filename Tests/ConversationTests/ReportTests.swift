import ParleyConversation
import ParleyLedger
import ParleyPayloads
import ParleyRoster
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Reports".
@Suite("What is reported")
struct ReportTests {
    @Test("Attack 357: nothing in a group, and nothing that is off or malformed")
    func elsewhere() throws {
        let cast = try Cast(seed: 357)
        let message = try cast.ann.say("spam")
        try cast.meet()
        let report = Report(of: message, in: cast.space)
        try cast.dan.write(report.draft())
        try cast.meet()
        for writer in cast.all {
            let (replica, roster) = (writer.replica, writer.replica.roster)
            #expect(
                try Overview.reports(
                    in: replica.space.number, roster: roster, store: replica.store
                ).isEmpty)
            #expect(try replica.messages().map(\.text) == ["spam"])
        }
        let payload = report.draft().payload ?? []
        #expect(Report(payload: payload) == report)
        var changed = try #require(Payload.decode(PayloadStar.self, payload))
        changed.on = false
        #expect(Report(payload: Payload.encode(changed)) == nil)
        changed.on = true
        changed.message.removeLast()
        #expect(Report(payload: Payload.encode(changed)) == nil)
        changed.space = field([1, 2])
        #expect(Report(payload: Payload.encode(changed)) == nil)
    }
}
