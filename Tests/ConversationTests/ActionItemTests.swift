import ParleyLedger
import ParleyRoster
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyConversation

/// Source: Protocol/03-operations.md, "Items".
@Suite("What is to be done")
struct ActionItemTests {
    private let cast: Cast

    init() throws { cast = try Cast(seed: 100) }

    private func items(_ replica: Replica) throws -> [ActionItem] {
        try Overview.items(
            in: replica.space.number, roster: replica.roster, store: replica.store)
    }

    private func item(_ writer: Writer) throws -> ActionItem {
        try #require(try items(writer.replica).first)
    }

    private func change(_ change: ItemChange, by writer: Writer) throws {
        let item = try item(writer)
        try writer.write(change.draft(of: item.reference, replacing: item.titleReferences))
    }

    @Test("is what it was begun as, with the last word on each thing, whoever said it")
    func lastWords() throws {
        let message = try cast.ann.say("somebody must book the hut")
        let (ann, ben, dan) = (
            cast.ann.replica.person, cast.ben.replica.person, cast.dan.replica.person
        )
        let begun = ItemBeginning(
            title: "book it", assignees: [dan, ann], due: 20_000, notes: "by telephone")
        let beginning = try cast.cara.write(begun.draft(from: message))
        try cast.meet()
        let first = try item(cast.dan)
        #expect(first.reference == beginning && first.source == message)
        #expect(first.author == cast.cara.replica.person && first.doneBy == nil)
        #expect(first.titles == ["book it"] && first.assignees == [ann, dan].sorted())
        #expect(first.due == 20_000 && first.notes == "by telephone")
        try change(.assignee(dan, false), by: cast.dan)
        try change(.assignee(ben, true), by: cast.dan)
        try change(.due(nil), by: cast.ben)
        try change(.notes(""), by: cast.ben)
        try change(.title("book the hut"), by: cast.ann)
        try cast.meet()
        try change(.done(true), by: cast.ben)
        try cast.meet()
        for writer in cast.all {
            let shown = try item(writer)
            #expect(shown.titles == ["book the hut"] && shown.assignees == [ann, ben].sorted())
            #expect(shown.due == nil && shown.notes.isEmpty && shown.doneBy == ben)
        }
        try change(.done(false), by: cast.dan)
        try cast.meet()
        #expect(try item(cast.ann).doneBy == nil)
    }

    @Test("keeps both titles where two were written at once, until somebody chooses")
    func titles() throws {
        try cast.ann.write(ItemBeginning(title: "book it").draft())
        try cast.meet()
        try change(.title("book the hut"), by: cast.ben)
        try change(.title("book the inn"), by: cast.cara)
        try cast.meet()
        for writer in cast.all {
            #expect(try Set(item(writer).titles) == ["book the hut", "book the inn"])
            #expect(try item(writer).titles == item(cast.ann).titles)
        }
        try change(.title("book either"), by: cast.dan)
        try cast.meet()
        for writer in cast.all { #expect(try item(writer).titles == ["book either"]) }
    }

    @Test("Attack 195: of the many titles and persons of one liar the last 64 are kept")
    func flood() throws {
        try cast.ann.write(ItemBeginning(title: "book it").draft())
        try cast.meet()
        let reference = try item(cast.dan).reference
        var drafts: [Draft] = []
        for number in 0..<100 {
            drafts.append(ItemChange.title("title \(number)").draft(of: reference))
            let stranger = PersonID { bytes in (bytes[0], bytes[1]) = (7, UInt8(number)) }
            drafts.append(ItemChange.assignee(stranger, true).draft(of: reference))
            drafts.append(ItemChange.done(number % 2 == 0).draft(of: reference))
        }
        for draft in drafts { try cast.dan.write(draft) }
        try cast.meet()
        let expected = try item(cast.ann)
        #expect(expected.titles == (36..<100).reversed().map { "title \($0)" })
        #expect(expected.assignees.count == Limits.itemPersonCountMax)
        #expect(expected.doneBy == nil)
        for order in 0..<3 as Range<UInt64> {
            let replica = try cast.newReplica(seed: order)
            try cast.deliverAll(to: replica, seed: order)
            var shown = try #require(try items(replica).first)
            shown.number = expected.number
            #expect(shown == expected)
        }
        // Whoever writes a title ends it: eight of them at a time are replaced.
        for _ in 0..<12 { try change(.title("enough"), by: cast.ben) }
        #expect(try item(cast.ben).titles.first == "enough")
    }

    @Test("Attack 196: what breaks a bound is no item and no change")
    func bounds() throws {
        let whole = ItemBeginning(
            title: String(repeating: "x", count: Limits.itemTitleByteCountMax),
            assignees: (0..<32).map { place in PersonID { $0[0] = UInt8(place) } },
            due: Limits.itemDayMax - 1,
            notes: String(repeating: "x", count: Limits.itemNotesByteCountMax))
        #expect(whole.draft().payload.flatMap(ItemBeginning.init) == whole)
        func breaks(_ change: (inout ItemBeginning) -> Void) throws {
            var broken = whole
            change(&broken)
            #expect(broken.draft().payload.flatMap(ItemBeginning.init) == nil)
            try cast.ann.write(broken.draft())
        }
        try breaks { $0.title += "x" }
        try breaks { $0.title = "" }
        try breaks { $0.notes += "x" }
        try breaks { $0.due = Limits.itemDayMax }
        try breaks { $0.assignees.append(PersonID { $0[0] = 99 }) }
        try breaks { $0.assignees.reverse() }
        try cast.meet()
        #expect(try items(cast.dan.replica).isEmpty)
        let item = try cast.ann.write(ItemBeginning(title: "a").draft())
        for payload in [
            [], [0x08, 0], [0x08, 6], [0x08, 1], [0x08, 4, 0x18, 2], [0x08, 5, 0x18, 1], [0xff],
        ] as [[UInt8]] {
            #expect(ItemChange(payload: payload) == nil, "\(payload)")
        }
        for change in [
            ItemChange.title("b"), .notes(""), .due(nil), .due(9), .done(true), .done(false),
            .assignee(PersonID { $0[0] = 1 }, true), .assignee(PersonID { $0[0] = 1 }, false),
        ] {
            #expect(change.draft(of: item).payload.flatMap(ItemChange.init) == change)
        }
    }

    @Test("that is taken back is gone with all that was said of it")
    func withdrawing() throws {
        try cast.ann.write(ItemBeginning(title: "book it").draft())
        try cast.meet()
        for number in 0..<3 { try change(.notes("note \(number)"), by: cast.dan) }
        try change(.title("book the hut"), by: cast.dan)
        try cast.meet()
        let item = try item(cast.ben).reference
        try cast.dan.write(Withdrawal.draft(of: item))
        try cast.meet()
        #expect(try items(cast.ann.replica).count == 1)
        try cast.ben.write(Withdrawal.draft(of: item))
        try change(.notes("late"), by: cast.cara)
        try cast.meet()
        let expected = try cast.ann.replica.digest()
        let late = try cast.newReplica(seed: 4)
        try cast.deliverAll(to: late, seed: 4)
        for replica in cast.all.map(\.replica) + [late] {
            #expect(try items(replica).isEmpty)
            #expect(try replica.digest() == expected)
            for log in try replica.store.logs(in: replica.space.number) where log.lane == .shared {
                for stored in try replica.store.operations(in: log.number, 0...99, limit: 99)
                where [.item, .itemChange].contains(stored.operation.header.kind) {
                    #expect(stored.operation.payload == nil)
                }
            }
        }
    }
}
