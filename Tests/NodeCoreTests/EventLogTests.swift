import ParleyConversation
import ParleyLedger
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

@Suite("The log of events")
struct EventLogTests {
    private let space = SpaceNumber(3)

    /// A store with entries of several lives, each of one event.
    private func store(_ lives: [(generation: UInt64, count: Int)]) throws -> MemoryStore {
        let store = MemoryStore()
        try store.begin(.full)
        for life in lives {
            for _ in 0..<life.count {
                let entry = EventEntry(
                    generation: life.generation, items: [.one(Event(.conversation(space)))])
                try store.appendEventEntry(entry.bytes)
            }
        }
        try store.commit()
        return store
    }

    private func life(_ number: UInt64, _ mark: UInt64 = 7) -> UInt64 { number << 32 | mark }

    @Test("an entry comes back from its bytes, whatever it holds")
    func codec() throws {
        let person = PersonID(reinterpreting: Digest([UInt8](repeating: 9, count: 32))!)
        let changes: [ViewChange] = [
            .message(space, OperationNumber(5)), .conversation(space), .receipts(space),
            .contact(person), .devices(person), .relays, .membership(space),
            .invitation(SpaceID(reinterpreting: person)), .additionPolicy,
            .preference(.presence), .refolded(space),
            .calls(space), .together(space, OperationNumber(4)), .reminder(Reminder.ID(5)),
            .notSent(ScheduledMessage.ID(6)),
            .message(space, OperationNumber(11)),
            .message(space, OperationNumber(12)), .message(space, OperationNumber(300)),
        ]
        var gathering = EventGathering(after: OperationNumber(10))
        for change in changes + changes { gathering.add(change) }
        let entry = EventEntry(generation: life(1), items: gathering.items)
        #expect(try EventEntry(bytes: entry.bytes) == entry)
        #expect(entry.eventCount == changes.count)
        let events = entry.events(from: 0, limit: 100)
        #expect(events.map(\.change) == changes)
        #expect(events.map(\.isNew) == changes.indices.map { $0 >= 15 })
        for skip in 0...entry.eventCount {
            #expect(entry.events(from: skip, limit: 3) == Array(events.dropFirst(skip).prefix(3)))
        }
        #expect(throws: DecodingFailure.self) { try EventEntry(bytes: entry.bytes + [77]) }
        #expect(throws: DecodingFailure.self) { try EventEntry(bytes: [1, 2]) }
    }

    @Test("talk that may be forgotten is not kept, and a flush of messages costs a few bytes")
    func gathering() throws {
        var gathering = EventGathering(after: OperationNumber(0))
        gathering.add(.typing(space))
        gathering.add(.card(OperationNumber(1)))
        #expect(gathering.items.isEmpty)
        for number in 1...8_000 { gathering.add(.message(space, OperationNumber(Int64(number)))) }
        // Edits of what came in the same step tell nothing more.
        gathering.add(.message(space, OperationNumber(17)))
        #expect(gathering.items == [.appeared(space, first: OperationNumber(1), count: 8_000)])
        #expect(EventEntry(generation: life(1), items: gathering.items).bytes.count < 16)
    }

    @Test("pages of any size tell all, each once, and every cursor goes on exactly")
    func pages() throws {
        let store = MemoryStore()
        try store.begin(.full)
        var number: Int64 = 1
        for count in [3, 1, 7, 2] {
            let entry = EventEntry(
                generation: life(1),
                items: [
                    .appeared(space, first: OperationNumber(number), count: count),
                    .one(Event(.receipts(space))),
                ])
            number += Int64(count)
            try store.appendEventEntry(entry.bytes)
        }
        try store.commit()
        let all = try EventLog.resume(after: .start, limit: 100, in: store)
        #expect(all.events.count == 17)
        #expect(all.isEnd)
        #expect(all.cursor == (try EventLog.end(in: store)))
        for limit in [1, 2, 5, 16, 17] {
            var (cursor, told) = (EventCursor.start, [Event]())
            while true {
                let page = try EventLog.resume(after: cursor, limit: limit, in: store)
                #expect(page.gap == nil)
                told += page.events.map(\.event)
                cursor = page.cursor
                if page.isEnd { break }
            }
            #expect(told == all.events.map(\.event))
        }
        for (index, one) in all.events.enumerated() {
            let rest = try EventLog.resume(after: one.cursor, limit: 100, in: store)
            #expect(rest.gap == nil)
            #expect(rest.events.map(\.event) == all.events.dropFirst(index + 1).map(\.event))
        }
    }

    @Test("a cursor that is older than the log says so once, and goes on with the oldest")
    func forgotten() throws {
        let store = try store([(life(1), 10), (life(2), 10)])
        try store.begin(.full)
        try store.dropEventEntries(below: 8)
        try store.commit()
        for cursor in [EventCursor.start, EventCursor(generation: life(1), entry: 5)] {
            let page = try EventLog.resume(after: cursor, limit: 4, in: store)
            #expect(page.gap == .forgotten)
            #expect(page.events.count == 4)
            // Who was told of the gap, and of nothing after it, is not told of it again.
            let again = try EventLog.resume(after: page.begin, limit: 4, in: store)
            #expect(again.gap == nil)
            #expect(again.events.count == 4)
            #expect(try EventLog.resume(after: page.cursor, limit: 4, in: store).gap == nil)
        }
        // A slow reader of this process, whom the log has overtaken.
        let slow = try EventLog.page(
            from: EventCursor(generation: life(1), entry: 3), limit: 100, in: store)
        #expect(slow.gap == .forgotten)
        #expect(slow.events.count == 13)
    }

    @Test("what was told and then lost with the power is told so, and what follows goes on there")
    func undone() throws {
        let store = try store([(life(1), 4), (life(2, 9), 3)])
        // The second life told six entries, of which three were on the disk.
        let lost = EventCursor(generation: life(2, 9), entry: 11)
        let page = try EventLog.resume(after: lost, limit: 10, in: store)
        #expect(page.gap == .undone)
        #expect(page.begin == EventCursor(generation: life(2, 9), entry: 8))
        #expect(page.events.isEmpty)
        // The next life writes others in their place.
        try store.begin(.full)
        for _ in 0..<9 {
            let entry = EventEntry(
                generation: life(3, 2), items: [.one(Event(.receipts(space)))])
            try store.appendEventEntry(entry.bytes)
        }
        try store.commit()
        let later = try EventLog.resume(after: lost, limit: 10, in: store)
        #expect(later.gap == .undone)
        #expect(later.begin == page.begin)
        #expect(later.events.count == 9)
        #expect(later.events.allSatisfy { $0.event.change == .receipts(space) })
    }

    @Test("a cursor of another store, or of a life that was set back, is told as such")
    func foreign() throws {
        let store = try store([(life(1), 4), (life(2, 9), 3)])
        for generation in [life(2, 8), life(1, 1), life(5), life(0, 4)] {
            let page = try EventLog.resume(
                after: EventCursor(generation: generation, entry: 6), limit: 10, in: store)
            #expect(page.gap == .foreign)
            #expect(page.events.count == 7)
            #expect(try EventLog.resume(after: page.begin, limit: 9, in: store).gap == nil)
        }
        let empty = try EventLog.resume(
            after: EventCursor(generation: life(1), entry: 6), limit: 10, in: MemoryStore())
        #expect(empty.gap == .foreign)
        #expect(empty.isEnd)
    }

    @Test("the log keeps a named number of entries, and the oldest go")
    func bound() throws {
        let world = World(seed: 5)
        let ann = try world.addNode("ann")
        let max = EventLog.entryCountMax
        try ann.store.begin(.full)
        let filler = EventEntry(generation: life(0), items: [.one(Event(.relays))]).bytes
        while ann.store.nextEventEntry < max + 2 { try ann.store.appendEventEntry(filler) }
        try ann.store.commit()
        for name in 0..<UInt64(300) {
            _ = try world.perform(.setProfile(name: "ann \(name)", addresses: nil), on: ann)
        }
        let oldest = try #require(try ann.store.eventEntries(from: 1, limit: 1).first?.number)
        let kept = ann.store.nextEventEntry - oldest
        #expect((max..<max + EventLog.dropCount).contains(kept))
    }

    /// Once a frame of more than two hundred messages was told as one change of its conversation.
    @Test(
        "messages that come at once are told each, in their order, when the node has died as well")
    func burst() throws {
        let world = World(seed: 6)
        let (ann, ben) = (try world.addNode("ann"), try world.addNode("ben"))
        let trip = try world.group("trip", [ann, ben])
        world.run(for: 5_000)
        let begin = try EventLog.end(in: ben.store)
        world.cut(ann, ben)
        let texts = (0..<1_000).map { "line \($0)" }
        _ = try world.perform(
            .send(trip, texts.map { TextMessage(text: $0) }, replyingTo: nil), on: ann)
        world.restart(ben)
        world.heal(ann, ben)
        world.run(for: 20_000)
        world.restart(ben)
        var (cursor, told) = (begin, [OperationNumber]())
        while true {
            let page = try EventLog.resume(after: cursor, limit: 64, in: ben.store)
            #expect(page.gap == nil)
            for (event, _) in page.events {
                if case .message(_, let number) = event.change, event.isNew { told.append(number) }
            }
            cursor = page.cursor
            if page.isEnd { break }
        }
        let shown = try ben.messages(in: trip, limit: 2_000)
        #expect(shown.suffix(1_000).map(\.text) == texts)
        #expect(Array(told.suffix(1_000)) == shown.suffix(1_000).map(\.number))
    }
}
