import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyPayloads
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Disappearing messages".
@Suite("What disappears")
struct DisappearingTests {
    private let cast: Cast

    init() throws { cast = try Cast(seed: 79) }

    private func secret(_ text: String, lifetime: UInt64 = 60) -> Draft {
        var message = TextMessage(text: text)
        message.lifetime = lifetime
        return message.draft()
    }

    private func texts(_ replica: Replica) throws -> [String?] {
        try replica.messages().map(\.text)
    }

    /// The kinds of what has not lost its payload.
    private func kindsWithBody(_ replica: Replica) throws -> [OperationKind] {
        try replica.store.logs(in: replica.space.number).flatMap { log in
            try replica.store.operations(in: log.number, 0...UInt64.max, limit: .max)
                .filter { !$0.operation.isErased }.map(\.operation.header.kind)
        }
    }

    @Test(
        "Attack 328: a lifetime that is none makes no message",
        arguments: [
            0, 31_536_001, UInt64.max,
        ] as [UInt64])
    func bounds(lifetime: UInt64) throws {
        var payload = PayloadText()
        payload.text = "for ever"
        payload.lifetime = lifetime
        let draft = Draft(
            kind: .disappearingText, lane: .content, payload: Payload.encode(payload))
        try cast.cara.write(draft)
        payload.lifetime = 60
        payload.imported.author = "somebody"
        try cast.cara.write(
            Draft(kind: .disappearingText, lane: .content, payload: Payload.encode(payload)))
        try cast.meet()
        for writer in cast.all { #expect(try texts(writer.replica).isEmpty) }
        #expect(TextMessage(payload: Payload.encode(payload))?.lifetime == nil)
    }

    @Test("a lifetime in a text that stays has no meaning")
    func staying() throws {
        var payload = PayloadText()
        payload.text = "stays"
        payload.lifetime = 60
        try cast.cara.write(
            Draft(kind: .text, lane: .content, payload: Payload.encode(payload)))
        try cast.meet()
        for writer in cast.all {
            #expect(try writer.replica.messages().map(\.lifetime) == [nil])
            #expect(try texts(writer.replica) == ["stays"])
        }
    }

    @Test(
        "Attack 329: an edit of one has no effect and loses its words, in whatever order both come",
        arguments: 1...8 as ClosedRange<UInt64>)
    func edited(seed: UInt64) throws {
        let message = try cast.cara.write(secret("secret"))
        try cast.cara.write(MessageEdit(text: "kept for ever").draft(of: message))
        try cast.meet()
        let late = try cast.newReplica(seed: seed)
        try cast.deliverAll(to: late, seed: seed)
        for replica in cast.all.map(\.replica) + [late] {
            #expect(try texts(replica) == ["secret"])
            #expect(try replica.messages().map(\.editCount) == [0])
            #expect(try !kindsWithBody(replica).contains(.edit))
        }
    }

    @Test("only admins of a group say how long messages stay, and the last word holds")
    func lifetimes() throws {
        try cast.dan.write(MessageLifetime(seconds: 60).draft)
        try cast.meet()
        func lifetimes() throws -> [UInt64?] {
            try cast.all.map {
                try Overview.messageLifetime(
                    of: $0.replica.space.number, in: $0.replica.store)
            }
        }
        #expect(try lifetimes() == [nil, nil, nil, nil])
        try cast.ben.write(MessageLifetime(seconds: 60).draft)
        try cast.meet()
        try cast.ann.write(MessageLifetime(seconds: 3_600).draft)
        try cast.meet()
        #expect(try lifetimes() == [3_600, 3_600, 3_600, 3_600])
        try cast.ben.write(MessageLifetime(seconds: 31_536_001).draft)
        try cast.meet()
        #expect(try lifetimes() == [3_600, 3_600, 3_600, 3_600])
        try cast.ben.write(MessageLifetime(seconds: 0).draft)
        try cast.meet()
        #expect(try lifetimes() == [nil, nil, nil, nil])
    }

    @Test("once erased it is in no timeline, thread or search, and answers to it stay")
    func erased() throws {
        let question = try cast.cara.say("question")
        try cast.meet()
        var answer = secret("secret")
        answer.references = [question]
        let message = try cast.dan.write(answer)
        try cast.meet()
        try cast.ann.say("what was that?", replyingTo: message)
        try cast.meet()
        let replica = cast.ann.replica
        let shown = try replica.messages()
        let number = try #require(shown.first { $0.text == "secret" }?.number)
        try replica.store.begin(.normal)
        let changes = try Disappearance.erase(number, in: replica.store)
        #expect(try Disappearance.erase(number, in: replica.store).isEmpty)
        try replica.store.commit()
        #expect(changes.contains(.message(replica.space.number, number)))
        #expect(
            try texts(replica).sorted { $0 ?? "" < $1 ?? "" } == ["question", "what was that?"])
        #expect(try replica.store.operation(number)?.searchableText == nil)
        #expect(try replica.digest() == cast.cara.replica.digest())
    }
}
