import ParleyLedger
import ParleyPayloads
import ParleyRoster
import ParleyWire
import Testing

@testable import ParleyConversation

/// Source: Protocol/03-operations.md, "Mentions".
@Suite("Mentions")
struct MentionTests {
    private let cast: Cast

    init() throws { cast = try Cast(seed: 74) }

    private func whom(_ writers: Writer..., everyone: Bool = false) -> Mentions {
        Mentions(writers.map { .init($0.replica.person) }, everyone: everyone)
    }

    @discardableResult
    private func say(
        _ text: String, to mentions: Mentions, by writer: Writer
    ) throws -> OperationReference {
        try writer.write(TextMessage(text: text, mentions: mentions).draft())
    }

    private func edit(
        _ message: OperationReference, to mentions: Mentions, by writer: Writer
    ) throws -> OperationReference {
        try writer.write(MessageEdit(text: "edited", mentions: mentions).draft(of: message))
    }

    private func counts() throws -> [Int] {
        try cast.all.map { try $0.replica.unreadMentionCount() }
    }

    @Test("are counted for those whom they name, or for all but the author, until they are read")
    func counted() throws {
        let first = try say("@dan", to: whom(cast.dan), by: cast.ann)
        try say("@everyone", to: whom(everyone: true), by: cast.ben)
        try cast.ann.say("nobody")
        try cast.meet()
        #expect(try counts() == [1, 0, 1, 2])
        try cast.dan.reads([first])
        #expect(try counts() == [1, 0, 1, 1])
        #expect(try cast.dan.replica.mentions().map(\.sequence).count == 2)
        // Nobody rings at themselves.
        try say("@ann", to: whom(cast.ann), by: cast.ann)
        #expect(try counts() == [1, 0, 1, 1])
    }

    @Test("follow the version that is shown, and what was deleted mentions nobody")
    func shownVersion() throws {
        let message = try say("@dan", to: whom(cast.dan), by: cast.ann)
        try cast.meet()
        _ = try edit(message, to: whom(cast.cara), by: cast.ann)
        try cast.meet()
        #expect(try counts() == [0, 0, 1, 0])
        let shown = try #require(try cast.ben.replica.messages().first)
        #expect(shown.mentions == whom(cast.cara))
        _ = try edit(message, to: whom(cast.dan, cast.cara), by: cast.ann)
        try cast.meet()
        #expect(try counts() == [0, 0, 1, 1])
        try cast.ann.write(MessageDeletion.draft(of: message))
        try cast.meet()
        #expect(try counts() == [0, 0, 0, 0])
        #expect(try cast.dan.replica.mentions().isEmpty)
    }

    @Test("Attack 186: an edit rings where no version before it did, however often it is edited")
    func newlyMentioned() throws {
        let message = try say("hello", to: Mentions(), by: cast.ann)
        try cast.meet()
        try cast.dan.reads([message])
        #expect(try counts() == [0, 0, 0, 0])
        let first = try edit(message, to: whom(cast.dan), by: cast.ann)
        try cast.meet()
        // It is read where the edit is, though the message was read before.
        #expect(try counts() == [0, 0, 0, 1])
        #expect(try cast.dan.replica.mentions().map(\.sequence) == [first.sequence])
        try cast.dan.reads([message])
        #expect(try counts() == [0, 0, 0, 0])
        for _ in 0..<3 {
            _ = try edit(message, to: Mentions(), by: cast.ann)
            _ = try edit(message, to: whom(cast.dan), by: cast.ann)
        }
        try cast.meet()
        #expect(try counts() == [0, 0, 0, 0])
        #expect(try cast.dan.replica.mentions().map(\.sequence) == [first.sequence])
    }

    @Test("Attack 185: of who never was in the conversation have no effect")
    func strangers() throws {
        let stranger = PersonID { $0[0] = 9 }
        let mentions = Mentions([.init(stranger), .init(cast.dan.replica.person)])
        try say("@eve @dan", to: mentions, by: cast.ann)
        try cast.meet()
        let shown = try #require(try cast.ben.replica.messages().first)
        #expect(shown.mentions == whom(cast.dan))
    }

    @Test("Attack 185: too many of them, or of what is no person, leave the text")
    func broken() throws {
        var text = PayloadText()
        text.text = "hello"
        let person = cast.dan.replica.person
        let many = Mentions(.init(repeating: .init(person), count: Limits.mentionCountMax + 1))
        text.mentions = many.payload
        #expect(TextMessage(payload: Payload.encode(text)) == TextMessage(text: "hello"))
        text.mentions.mentions.removeLast()
        let most = TextMessage(payload: Payload.encode(text))
        #expect(most?.mentions.persons.count == Limits.mentionCountMax)
        text.mentions.mentions[3].person = field([1, 2, 3])
        #expect(TextMessage(payload: Payload.encode(text)) == TextMessage(text: "hello"))
        text.mentions.mentions = []
        text.mentions.everyone = true
        text.forwarded.author = "ada"
        #expect(TextMessage(payload: Payload.encode(text))?.mentions.isEmpty == true)
        text.clearForwarded()
        text.imported.author = "ada"
        #expect(TextMessage(payload: Payload.encode(text))?.mentions.isEmpty == true)
    }

    @Test(
        "Attack 185: a place counts where a name begins that the text has, after the one before",
        arguments: [
            (0..<3, true), (1..<3, false), (0..<1, false), (4..<9, true), (4..<10, true),
            (4..<8, false), (4..<7, true), (4..<60, false), (0..<0, false),
        ])
    func places(place: Range<Int>, isSound: Bool) throws {
        let text = "@bo @zoë"
        let person = cast.dan.replica.person
        let message = TextMessage(text: text, mentions: Mentions([.init(person, at: place)]))
        let read = try #require(TextMessage(payload: message.draft().payload ?? []))
        let isInside = place.upperBound <= text.utf8.count
        #expect(read.mentions.persons == [.init(person, at: isSound && isInside ? place : nil)])
    }

    @Test("Attack 185: places that overlap stand where the first does")
    func overlapping() throws {
        let person = cast.dan.replica.person
        let mentions = Mentions([.init(person, at: 0..<8), .init(person, at: 4..<8)])
        let message = TextMessage(text: "@bo @zoe", mentions: mentions)
        let read = try #require(TextMessage(payload: message.draft().payload ?? []))
        #expect(read.mentions.persons.map(\.place) == [0..<8, nil])
    }

    @Test("are left out of what is passed on")
    func passedOn() throws {
        try say("@dan", to: whom(cast.dan), by: cast.ann)
        let message = try #require(try cast.ann.replica.messages().first)
        let copy = try #require(message.forwarded(namingAuthor: "ann"))
        #expect(copy.mentions.isEmpty && copy.text == "@dan")
    }

    @Test("are part of what members see alike, and change no digest where there are none")
    func digest() throws {
        let message = try cast.ann.say("hello")
        try cast.meet()
        _ = try edit(message, to: whom(cast.dan), by: cast.ann)
        try cast.meet()
        let before = try cast.dan.replica.digest()
        _ = try edit(message, to: whom(cast.dan, cast.cara), by: cast.ann)
        try cast.meet()
        #expect(try cast.dan.replica.digest() != before)
        #expect(try cast.dan.replica.digest() == cast.ann.replica.digest())
    }

    @Test(
        "come to the same in whatever order their versions are heard of",
        arguments: 1...8 as ClosedRange<UInt64>)
    func anyOrder(seed: UInt64) throws {
        var messages: [OperationReference] = []
        for step in 0..<24 {
            let isMeant = (UInt64(step) + seed) % 3 != 0
            let mentions = isMeant ? whom(cast.dan) : Mentions()
            cast.ann.wallClock += UInt64(step) * seed * 7_919 % 60_000
            if step % 4 == 0 {
                messages.append(try say("message \(step)", to: mentions, by: cast.ann))
            } else {
                let message = messages[(step * Int(seed)) % messages.count]
                _ = try edit(message, to: mentions, by: cast.ann)
            }
        }
        try cast.ann.write(MessageDeletion.draft(of: messages[1]))
        try cast.meet()
        let expected = try cast.dan.replica.mentions()
        #expect(!expected.isEmpty)
        for order in 0..<8 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: seed << 8 | order)
            #expect(try replica.mentions() == expected, "seed \(seed), order \(order)")
            try replica.rebuild()
            #expect(try replica.mentions() == expected, "seed \(seed), order \(order), rebuilt")
        }
    }
}
