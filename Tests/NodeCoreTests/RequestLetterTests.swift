import ParleyConversation
import ParleyLedger
import ParleySealing
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

    @Test("bring the first words, which are read once the request is accepted")
    func firstWords() throws {
        let (all, card) = try strangers(954)
        let (world, ann, ben) = (all.world, all.ann, all.ben)
        try ben.perform(.requestContact(card: card, alias: ""))
        let space = try all.space(of: ben)
        for text in ["is this you?", "from the train"] { try ben.type(text, in: space) }
        #expect(try all.states(of: ben) == [.saved, .saved])
        world.run(for: 10_000)
        #expect(try all.states(of: ben) == [.relayed, .relayed])
        all.change(from: ben, to: ann)
        #expect(try ann.state(of: ben) == .pending && ann.conversations().isEmpty)
        let person = ben.identity.person.bytes
        #expect(try ann.store.value(.heldLetter, person) != nil)
        try ann.decide(.accept, about: ben)
        // Without a word of his since.
        #expect(try ann.texts(in: all.space(of: ann)) == ["is this you?", "from the train"])
        #expect(try all.space(of: ann) == space)
        #expect(try ann.store.value(.heldLetter, person) == nil)
        try ann.read(space)
        try ann.type("it is", in: space)
        world.run(for: 30_000)
        all.change(from: ann, to: ben)
        #expect(try ben.texts(in: space) == ["is this you?", "from the train", "it is"])
        #expect(try ben.state(of: ann) == .accepted)
        #expect(try all.states(of: ben) == [.read, .read])
        try ben.type("good", in: space)
        world.run(for: 30_000)
        all.change(from: ben, to: ann)
        world.startAll()
        world.run(for: 120_000)
        #expect(try ann.digest(of: space) == ben.digest(of: space))
        #expect(try ann.texts(in: space).last == "good")
    }

    @Test("leave nothing of their words where they are declined, and hold no more than they may")
    func declined() throws {
        for answer in [ContactAnswer.decline, .block] {
            let (all, card) = try strangers(955)
            let (world, ann, ben) = (all.world, all.ann, all.ben)
            try ben.perform(.requestContact(card: card, alias: ""))
            let space = try all.space(of: ben)
            let long = String(repeating: "so it went on and on, ", count: 200)
            for number in 0..<40 { try ben.type("\(number) \(long)", in: space) }
            world.run(for: 60_000)
            all.change(from: ben, to: ann)
            let person = ben.identity.person.bytes
            let bytes = try #require(try ann.store.value(.heldLetter, person))
            let held = try #require(HeldLetters(bytes))
            let byteCount = held.letters.reduce(0) { $0 + $1.content.count }
            #expect((1...Limits.heldLetterByteCountMax).contains(byteCount))
            try ann.decide(answer, about: ben)
            #expect(try ann.store.value(.heldLetter, person) == nil)
            all.change(from: ann, to: ben)
            try ben.type("are you there?", in: space)
            world.run(for: 30_000)
            all.change(from: ben, to: ann)
            #expect(try ann.store.value(.heldLetter, person) == nil)
            #expect(try ann.conversations().isEmpty)
        }
    }

    @Test("that say more than is held arrive whole once they are accepted")
    func long() throws {
        let (all, card) = try strangers(956)
        let (world, ann, ben) = (all.world, all.ann, all.ben)
        try ben.perform(.requestContact(card: card, alias: ""))
        let space = try all.space(of: ben)
        let long = String(repeating: "so it went on and on, ", count: 200)
        let texts = (0..<40).map { "\($0) \(long)" }
        for text in texts { try ben.type(text, in: space) }
        world.run(for: 60_000)
        all.change(from: ben, to: ann)
        try ann.decide(.accept, about: ben)
        #expect(try all.space(of: ann) == space)
        world.run(for: 30_000)
        all.change(from: ann, to: ben)
        world.run(for: 60_000)
        all.change(from: ben, to: ann)
        // What was not held comes as anything does that a relay has lost.
        var passes = 0
        while try ann.texts(in: space) != texts, passes < 4 {
            passes += 1
            world.run(for: 900_000)
            all.change(from: ann, to: ben)
            world.run(for: 900_000)
            all.change(from: ben, to: ann)
        }
        #expect(try ann.texts(in: space) == texts)
    }

    @Test("held letters read back, each once, and no more than there is room for")
    func held() throws {
        let sender: DeviceID = digest(.relayBlob, [1])
        var held = HeldLetters()
        let half = Limits.heldLetterByteCountMax / 2
        for byte in [UInt8(1), 2, 2, 1] {
            let letter = HeldLetters.Letter(
                sender: sender, content: [UInt8](repeating: byte, count: half))
            let isHeld = held.add(letter)
            #expect(isHeld)
        }
        let isThird = held.add(.init(sender: sender, content: [3]))
        #expect(!isThird && held.letters.count == 2)
        #expect(HeldLetters(held.bytes) == held)
        #expect(HeldLetters(held.bytes + [0]) == nil && HeldLetters([]) == HeldLetters())
        #expect(HeldLetters(Array(held.bytes.dropLast())) == nil)
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
        // Each began one, and both take the same for it.
        let spaces = try [ann, ben].map { node in
            try node.conversations().filter { $0.kind == .direct }.map(\.id).sorted()
        }
        #expect(spaces[0] == spaces[1] && spaces[0].count == 2)
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
