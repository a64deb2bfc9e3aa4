import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@testable import ParleySimulation

/// Ben, who has a laptop and a phone, and his contacts ann and cara.
/// Source: Protocol/03-operations.md, "Deleting for oneself".
@Suite("Deleting for oneself")
struct OwnDeletionTests {
    private let world: World
    private let ann, laptop, phone, cara: SimulatedNode
    private let space: SpaceID

    init() throws {
        world = World(seed: 1353)
        (ann, laptop) = (try world.addNode("ann"), try world.addNode("laptop"))
        cara = try world.addNode("cara")
        space = try world.group("club", [ann, laptop, cara])
        phone = try world.addDevice("phone", of: laptop)
        world.run(for: 30_000)
    }

    private func texts(_ node: SimulatedNode) throws -> [String?] {
        try node.observing { try node.messages(in: space, limit: .max).map(\.text) }
    }

    private func number(_ text: String, on node: SimulatedNode) throws -> OperationNumber {
        try node.observing {
            try #require(
                try node.messages(in: space, limit: .max).first { $0.text == text }?.number)
        }
    }

    private func delete(_ text: String, on node: SimulatedNode) throws {
        _ = try world.perform(.deleteForOneself(try number(text, on: node)), on: node)
    }

    /// The words of the conversation that a device holds, those that nobody sees as well.
    private func words(_ node: SimulatedNode) throws -> [String] {
        try node.observing {
            let record = try #require(try node.store.space(space))
            return try node.store.logs(in: record.number).filter { $0.lane == .content }.flatMap {
                try node.store.operations(in: $0.number, 0...UInt64.max, limit: .max)
                    .compactMap { $0.searchableText?.text }
            }.sorted()
        }
    }

    /// Whether a device says of an operation of a log that it has it, or that its person has read it.
    private func says(
        _ kind: MarkKind, _ place: UInt64, of tag: LogTag, _ node: SimulatedNode
    ) throws -> Bool {
        try node.observing {
            let record = try #require(try node.store.space(space))
            let actor = Digest(reinterpreting: node.identity.device)
            return try node.store.mark(kind, of: actor, on: tag, in: record.number)?.places
                .contains(place) == true
        }
    }

    @Test("Attack 372: what comes without its words is neither delivered nor read until they come")
    func withoutWords() throws {
        world.stopProcess(of: cara)
        for text in ["milk", "bread"] { try world.type(text, on: ann, in: space) }
        world.run(for: 30_000)
        let (tag, place) = try ann.observing {
            let stored = try #require(try ann.store.operation(try number("milk", on: ann)))
            return (try #require(try ann.store.log(stored.log)).tag, stored.sequence)
        }
        try delete("milk", on: laptop)
        try delete("milk", on: ann)
        world.run(for: 120_000)
        #expect(try words(ann) == ["bread", "milk"], "somebody is to have it still")
        world.partition([ann], [laptop, phone, cara])
        world.restart(cara)
        world.run(for: 60_000)
        #expect(try texts(cara) == [nil, "bread"])
        try cara.read(space)
        world.run(for: 30_000)
        for kind in [MarkKind.delivered, .read] {
            #expect(try !says(kind, place, of: tag, cara), "\(kind) without its words")
            #expect(try says(kind, place + 1, of: tag, cara), "\(kind) of what came whole")
        }
        world.heal()
        world.run(for: 300_000)
        #expect(try texts(cara) == ["milk", "bread"])
        #expect(try says(.delivered, place, of: tag, cara) && !says(.read, place, of: tag, cara))
        #expect(try words(ann) == ["bread"], "everybody has it who was to")
        try cara.read(space)
        #expect(try says(.read, place, of: tag, cara))
    }

    @Test(
        "erases it on one's devices; others keep it, hear nothing, and give it to who was away"
    )
    func devices() throws {
        world.stopProcess(of: cara)
        for text in ["milk", "bread"] { try world.type(text, on: ann, in: space) }
        world.run(for: 30_000)
        try delete("milk", on: laptop)
        #expect(try texts(laptop) == ["bread"] && words(laptop) == ["bread"])
        world.run(for: 30_000)
        #expect(try texts(phone) == ["bread"] && words(phone) == ["bread"])
        #expect(try texts(ann) == ["milk", "bread"])
        // Cara meets those first who passed it on without its words.
        world.partition([ann], [laptop, phone, cara])
        world.restart(cara)
        world.run(for: 60_000)
        #expect(try texts(cara) == [nil, "bread"])
        world.heal()
        try world.runUntilEqual(within: .minutes(30))
        #expect(try texts(cara) == ["milk", "bread"])
        for node in [ann, cara] {
            for space in try node.store.spaces() {
                for log in try node.store.logs(in: space.number) {
                    let held = try node.store.operations(
                        in: log.number, 0...UInt64.max, limit: .max)
                    #expect(!held.contains { $0.operation.header.kind == .ownDeletion })
                }
            }
        }
        for node in [laptop, phone] {
            #expect(try texts(node) == ["bread"] && words(node) == ["bread"])
            #expect(try node.observing { try node.store.values(.missingBody) }.isEmpty)
            world.restart(node)
            world.run(for: 30_000)
            #expect(try texts(node) == ["bread"] && words(node) == ["bread"])
        }
    }

    @Test("takes effect on a device that hears of it before the message, and where both were apart")
    func apart() throws {
        world.run(for: 5_000)
        world.stopProcess(of: phone)
        try world.type("milk", on: ann, in: space)
        world.run(for: 5_000)
        let milk = try number("milk", on: laptop)
        _ = try world.perform(.edit(try number("milk", on: ann), text: "oat milk"), on: ann)
        world.run(for: 5_000)
        _ = try world.perform(.deleteForOneself(milk), on: laptop)
        world.run(for: 5_000)
        world.restart(phone)
        world.run(for: 120_000)
        for node in [laptop, phone] {
            #expect(try texts(node).isEmpty && words(node).isEmpty)
            #expect(try node.observing { try node.store.values(.missingBody) }.isEmpty)
        }
        #expect(try texts(ann) == ["oat milk"])
    }

    @Test("keeps one's own words, unseen, until somebody else has them, with what edited them")
    func undelivered() throws {
        world.partition([laptop, phone], [ann, cara])
        try world.type("wait", on: laptop, in: space)
        _ = try world.perform(
            .edit(try number("wait", on: laptop), text: "wait for me"), on: laptop)
        world.run(for: 5_000)
        try delete("wait for me", on: phone)
        world.run(for: 300_000)
        for node in [laptop, phone] {
            #expect(try texts(node).isEmpty)
            #expect(try words(node) == ["wait", "wait for me"])
        }
        world.restart(laptop)
        world.run(for: 5_000)
        #expect(try texts(laptop).isEmpty)
        world.heal()
        try world.runUntilEqual(within: .minutes(30))
        for node in [ann, cara] { #expect(try texts(node) == ["wait for me"]) }
        world.run(for: 120_000)
        for node in [laptop, phone] {
            #expect(try words(node).isEmpty)
            #expect(try node.observing { try node.store.values(.disappearing) }.isEmpty)
        }
    }

    @Test(
        "takes it out of what is unread, of threads, mentions and pins, and nothing brings it back"
    )
    func everywhere() throws {
        let mentions = Mentions([.init(laptop.identity.person, at: 0..<4)])
        try world.type("first", on: ann, in: space)
        _ = try world.perform(
            .send(
                space, [TextMessage(text: "@ben come", mentions: mentions)],
                replyingTo: try number("first", on: ann)), on: ann)
        world.run(for: 5_000)
        let come = try number("@ben come", on: laptop)
        _ = try world.perform(.star(come, isOn: true), on: laptop)
        _ = try world.perform(.pin(try number("@ben come", on: ann), isOn: true), on: ann)
        world.run(for: 5_000)
        func look(_ node: SimulatedNode) throws -> [Int] {
            try node.observing {
                let record = try #require(try node.store.space(space))
                let roster = try #require(try node.roster(of: record))
                let own = try #require(node.core.ownSpace)
                let listed = try Overview.summary(
                    of: record, roster: roster, ownPerson: node.identity.person,
                    ownSpace: own.number, in: node.store)
                return [
                    listed.unreadCount, listed.unreadMentionCount,
                    try Overview.pins(in: record.number, store: node.store).count,
                    try node.store.threads(in: record.number, before: nil, limit: 9).count,
                ]
            }
        }
        #expect(try look(laptop) == [2, 1, 1, 1])
        _ = try world.perform(.deleteForOneself(come), on: laptop)
        #expect(try look(laptop) == [1, 0, 0, 0])
        world.run(for: 5_000)
        #expect(try look(phone) == [1, 0, 0, 0])
        _ = try world.perform(
            .edit(try number("@ben come", on: ann), text: "@ben come now", mentions: mentions),
            on: ann)
        _ = try world.perform(
            .react(try number("@ben come now", on: ann), Reaction(emoji: "👍", isOn: true)), on: ann)
        world.run(for: 5_000)
        #expect(try look(laptop) == [1, 0, 0, 0] && words(laptop) == ["first"])
        for refused: Command in [
            .star(come, isOn: true), .react(come, Reaction(emoji: "👍", isOn: true)),
        ] {
            #expect(throws: CommandRefusal.deleted) { try world.perform(refused, on: laptop) }
        }
        _ = try world.perform(.deleteForOneself(come), on: laptop)
        _ = try world.perform(.delete(try number("@ben come now", on: ann)), on: ann)
        world.run(for: 30_000)
        #expect(try texts(ann) == ["first", nil])
        for node in [laptop, phone] { #expect(try texts(node) == ["first"]) }
        // As an earlier program left it, which only carried what was said.
        try laptop.store.begin(.normal)
        try laptop.store.setValue(nil, .profile, Array("views".utf8))
        try laptop.store.commit()
        world.restart(laptop)
        world.run(for: 30_000)
        #expect(try texts(laptop) == ["first"] && words(laptop) == ["first"])
    }

    @Test("of one that is deleted for oneself its author may still take it back from everybody")
    func forEverybody() throws {
        try world.type("oops", on: laptop, in: space)
        world.run(for: 5_000)
        let oops = try number("oops", on: laptop)
        _ = try world.perform(.deleteForOneself(oops), on: laptop)
        world.run(for: 30_000)
        #expect(try texts(ann) == ["oops"] && words(laptop).isEmpty)
        _ = try world.perform(.delete(oops), on: laptop)
        world.run(for: 30_000)
        #expect(try texts(ann) == [nil] && texts(laptop).isEmpty)
    }
}
