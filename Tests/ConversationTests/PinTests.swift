import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Pins".
@Suite("Pins")
struct PinTests {
    private let cast: Cast

    init() throws { cast = try Cast(seed: 73) }

    private func pinned(_ replica: Replica) throws -> [String?] {
        let shown = try replica.messages()
        return try Overview.pins(in: replica.space.number, store: replica.store).map { pin in
            shown.first { $0.reference == pin }?.text
        }
    }

    @Test("Attack 182: stand the last first, and in a group only those of admins count")
    func order() throws {
        let (rules, place) = (try cast.cara.say("rules"), try cast.dan.say("place"))
        try cast.meet()
        try cast.ann.write(Pin(isOn: true).draft(of: rules))
        try cast.meet()
        try cast.ben.write(Pin(isOn: true).draft(of: place))
        try cast.cara.write(Pin(isOn: false).draft(of: rules))
        try cast.meet()
        for writer in cast.all { #expect(try pinned(writer.replica) == ["place", "rules"]) }
        try cast.ben.write(Pin(isOn: false).draft(of: rules))
        try cast.meet()
        for writer in cast.all { #expect(try pinned(writer.replica) == ["place"]) }
    }

    @Test("Attack 182: are the last 32: an older one is shown again where a newer one is gone")
    func bound() throws {
        let texts = (0..<40).map { "message \($0)" }
        let messages = try texts.map { try cast.ann.say($0) }
        for message in messages { try cast.ann.write(Pin(isOn: true).draft(of: message)) }
        try cast.meet()
        let newest = Array(texts.reversed())
        #expect(try pinned(cast.dan.replica) == Array(newest.prefix(32)))
        try cast.ben.write(Pin(isOn: false).draft(of: messages[39]))
        try cast.ann.write(MessageDeletion.draft(of: messages[38]))
        try cast.meet()
        for writer in cast.all { #expect(try pinned(writer.replica) == Array(newest[2..<34])) }
    }

    @Test(
        "come to the same in whatever order they are heard of, and folded anew",
        arguments: 1...6 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) throws {
        let messages = try (0..<4).map { try cast.ann.say("message \($0)") }
        try cast.meet()
        // Two who are apart and pin, take down and delete the same.
        for step in 0..<12 {
            let writer = [cast.ann, cast.ben][step % 2]
            writer.wallClock += UInt64(step) * seed * 7_919 % 60_000
            let target = messages[(step * Int(seed) + step / 3) % 4]
            try writer.write(Pin(isOn: step % 4 != 3).draft(of: target))
        }
        try cast.ann.write(MessageDeletion.draft(of: messages[Int(seed) % 4]))
        try cast.meet()
        let expected = try cast.ann.replica.digest()
        let shown = try pinned(cast.ann.replica)
        #expect(!shown.contains(nil))
        for order in 0..<6 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: seed << 8 | order)
            #expect(try pinned(replica) == shown, "seed \(seed), order \(order)")
            #expect(try replica.digest() == expected, "seed \(seed), order \(order)")
            try replica.rebuild()
            #expect(try pinned(replica) == shown, "seed \(seed), order \(order), rebuilt")
        }
    }

    @Test("are part of what members see alike")
    func digest() throws {
        let message = try cast.ann.say("rules")
        try cast.meet()
        let before = try cast.dan.replica.digest()
        try cast.ann.write(Pin(isOn: true).draft(of: message))
        try cast.meet()
        let after = try cast.dan.replica.digest()
        #expect(after != before)
        #expect(try cast.ann.replica.digest() == after)
        // A program that pins nothing has the digest of before.
        try cast.ann.write(Pin(isOn: false).draft(of: message))
        try cast.meet()
        #expect(try cast.dan.replica.digest() == before)
    }

    @Test("a payload that says neither has no effect")
    func broken() throws {
        let message = try cast.ann.say("rules")
        for payload in [[0x08, 0x00], [0x08, 0x03], [0xff]] as [[UInt8]] {
            try cast.ann.write(
                Draft(kind: .pin, lane: .shared, references: [message], payload: payload))
        }
        try cast.meet()
        #expect(try pinned(cast.dan.replica).isEmpty)
        #expect(Pin(isOn: false).draft(of: message).payload == [0x08, 0x02])
    }
}
