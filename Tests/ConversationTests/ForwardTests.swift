import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

/// Source: Protocol/03-operations.md, "Forwarding".
@Suite("A forwarded message")
struct ForwardTests {
    private let cast: Cast

    init() throws { cast = try Cast(seed: 71) }

    private func shown(_ text: String, to writer: Writer) throws -> Message {
        try #require(try writer.replica.messages().last { $0.text == text })
    }

    @Test("has the bytes that its page tells")
    func bytes() throws {
        let named: [UInt8] = [0x0a, 2, 0x68, 0x69, 0x1a, 5, 0x0a, 3, 0x41, 0x64, 0x61]
        let unnamed: [UInt8] = [0x0a, 2, 0x68, 0x69, 0x1a, 0]
        for (payload, name) in [(named, "Ada"), (unnamed, "")] {
            let message = try #require(TextMessage(payload: payload))
            #expect(message == TextMessage(text: "hi", forwardedFrom: name))
            #expect(message.draft().payload == payload)
        }
        #expect(TextMessage(payload: [0x0a, 2, 0x68, 0x69])?.forwardedFrom == nil)
    }

    @Test("Attack 180: names nobody where its origin breaks a limit, and is shown all the same")
    func broken() throws {
        let long = String(repeating: "a", count: Limits.nameByteCountMax + 1)
        let draft = TextMessage(text: "long", forwardedFrom: long).draft()
        let read = try #require(draft.payload.flatMap(TextMessage.init(payload:)))
        #expect(read.text == "long" && read.forwardedFrom == nil)
        let origin = ImportedOrigin(author: "old", time: 1, isAction: false)
        let imported = try #require(TextMessage(text: "both", origin: origin).draft().payload)
        let both = try #require(TextMessage(payload: imported + [0x1a, 3, 0x0a, 1, 0x41]))
        #expect(both.origin == origin && both.forwardedFrom == nil)
    }

    @Test("keeps the first origin through any number of hands, unless somebody leaves it out")
    func hands() throws {
        try cast.ann.say("at nine")
        try cast.meet()
        let first = try #require(try shown("at nine", to: cast.ben).forwarded(namingAuthor: "Ann"))
        #expect(first == TextMessage(text: "at nine", forwardedFrom: "Ann"))
        try cast.ben.write(first.draft())
        try cast.meet()
        let copy = try shown("at nine", to: cast.cara)
        #expect(copy.forwardedFrom == "Ann" && copy.author == cast.ben.replica.person)
        #expect(copy.forwarded(namingAuthor: "Ben")?.forwardedFrom == "Ann")
        #expect(copy.forwarded(namingAuthor: nil) == TextMessage(text: "at nine"))
        let origin = ImportedOrigin(author: "old", time: 1, isAction: false)
        let log = try cast.dan.write(TextMessage(text: "from a log", origin: origin).draft())
        let imported = try shown("from a log", to: cast.dan).forwarded(namingAuthor: "Dan")
        #expect(imported == TextMessage(text: "from a log", forwardedFrom: "old"))
        // Whoever brought it in may change it: what they made of it nobody else has said.
        try cast.dan.write(MessageEdit(text: "never said").draft(of: log))
        let edited = try shown("never said", to: cast.dan).forwarded(namingAuthor: "Dan")
        #expect(edited == TextMessage(text: "never said", forwardedFrom: "Dan"))
    }

    @Test("lives on when the first one is deleted, and what is deleted is not passed on")
    func deletion() throws {
        let message = try cast.ann.say("the code is 12")
        try cast.meet()
        let copy = try #require(
            try shown("the code is 12", to: cast.ben).forwarded(namingAuthor: "Ann"))
        try cast.ben.write(copy.draft())
        try cast.ann.write(MessageDeletion.draft(of: message))
        try cast.meet()
        for writer in cast.all {
            #expect(try writer.replica.texts() == [nil, "the code is 12"])
            let gone = try #require(try writer.replica.messages().first)
            #expect(gone.forwarded(namingAuthor: "Ann") == nil && gone.forwardedFrom == nil)
        }
    }

    @Test(
        "takes the words that are shown, and names nobody beside words that its forwarder changed")
    func edits() throws {
        let message = try cast.ann.say("at eight")
        try cast.ann.write(MessageEdit(text: "at nine").draft(of: message))
        try cast.meet()
        let copy = try #require(try shown("at nine", to: cast.ben).forwarded(namingAuthor: "Ann"))
        let reference = try cast.ben.write(copy.draft())
        try cast.meet()
        #expect(try shown("at nine", to: cast.dan).editCount == 0)
        // Only its forwarder can change it.
        try cast.ann.write(MessageEdit(text: "never").draft(of: reference))
        try cast.meet()
        #expect(try cast.dan.replica.texts() == ["at nine", "at nine"])
        try cast.ben.write(MessageEdit(text: "at ten").draft(of: reference))
        try cast.meet()
        for writer in cast.all {
            let changed = try shown("at ten", to: writer)
            #expect(changed.forwardedFrom == nil && changed.history == ["at nine"])
            #expect(changed.forwarded(namingAuthor: "Ben")?.forwardedFrom == "Ben")
            try writer.replica.rebuild()
            #expect(try shown("at ten", to: writer) == changed)
        }
    }
}
