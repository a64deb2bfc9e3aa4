import ParleyConversation
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// Ann uses a relay, as ben does; he has her card, and the two are never up at the same time.
@Suite("Requests to be a contact, through a relay")
struct RequestLetterTests {
    private func strangers(_ seed: UInt64) throws -> (all: Strangers, card: [UInt8]) {
        let all = try Strangers(seed: seed)
        let card = try #require(try all.ann.store.value(.card, all.ann.identity.person.bytes))
        all.change(from: all.ann, to: all.ben)
        try all.world.use(all.relay, by: all.ben)
        all.world.run(for: 5_000)
        return (all, card)
    }

    @Test("wait for who is away, and so does the answer")
    func apart() throws {
        let (all, card) = try strangers(951)
        let (world, ann, ben) = (all.world, all.ann, all.ben)
        try ben.perform(.requestContact(card: card, alias: ""))
        world.run(for: 5_000)
        #expect(
            try NodeCore.isRequestRelayed(to: ann.identity.person, in: ben.store))
        all.change(from: ben, to: ann)
        #expect(try ann.state(of: ben) == .pending)
        #expect(try ann.conversations().isEmpty)
        try ann.decide(.accept, about: ben)
        let space = try all.space(of: ann)
        try ann.type("welcome", in: space)
        world.run(for: 30_000)
        all.change(from: ann, to: ben)
        #expect(try ben.state(of: ann) == .accepted)
        #expect(try ben.texts(in: space) == ["welcome"])
        try ben.type("thanks", in: space)
        world.run(for: 30_000)
        all.change(from: ben, to: ann)
        #expect(try ann.texts(in: space) == ["welcome", "thanks"])
    }

    @Test("of both at a time make one conversation")
    func mutual() throws {
        let (all, card) = try strangers(952)
        let (world, ann, ben) = (all.world, all.ann, all.ben)
        let own = try #require(try ben.store.value(.card, ben.identity.person.bytes))
        try ben.perform(.requestContact(card: card, alias: ""))
        world.run(for: 5_000)
        world.stopProcess(of: ben)
        world.run(for: 60_000)
        // Before she reads what came she asks him herself.
        world.start(ann)
        try ann.perform(.requestContact(card: own, alias: ""))
        world.run(for: 30_000)
        all.change(from: ann, to: ben)
        all.change(from: ben, to: ann)
        world.startAll()
        world.run(for: 200_000)
        #expect(try all.space(of: ann) == all.space(of: ben))
        #expect(try ann.state(of: ben) == .accepted && ben.state(of: ann) == .accepted)
    }

    @Test("are not heard of who is blocked or was declined, and go again while nobody answers")
    func unheard() throws {
        let (all, card) = try strangers(953)
        let (world, ann, ben) = (all.world, all.ann, all.ben)
        try ben.perform(.requestContact(card: card, alias: ""))
        world.run(for: 5_000)
        let key = ann.identity.person.bytes + ann.identity.device.bytes
        let first = try #require(try ben.store.number(.request, key))
        all.change(from: ben, to: ann)
        try ann.decide(.decline, about: ben)
        all.change(from: ann, to: ben)
        #expect(try ben.store.number(.request, key) == first, "not twice in a week")
        world.pass(days: 8)
        world.restart(ben)
        world.run(for: 30_000)
        #expect(try #require(try ben.store.number(.request, key)) > first)
        all.change(from: ben, to: ann)
        #expect(try ann.state(of: ben) == .declined)
        try ann.decide(.block, about: ben)
        #expect(try ann.conversations().isEmpty)
    }

    @Test("cost no more than as many as may wait, and then one each ten seconds")
    func pace() {
        var book = LetterBook()
        let first = (0..<LetterBook.requestBurst).map { _ in book.takeRequestProof(at: 0) }
        #expect(first.allSatisfy { $0 })
        let interval = LetterBook.requestInterval
        let later = [interval - 1, interval, interval].map { book.takeRequestProof(at: $0) }
        #expect(later == [false, true, false])
    }
}
