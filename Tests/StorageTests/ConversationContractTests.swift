import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@Suite("Every store keeps views")
struct ConversationContractTests {
    @Test("locators are equal for equal values only", arguments: StoreKind.allCases)
    func locators(kind: StoreKind) throws {
        try kind.withStore { store in
            let first = try store.locator([1, 2])
            #expect(try store.locator([1, 2]) == first)
            #expect(try store.locator([1, 3]) != first)
        }
    }

    @Test("pages go from the newest to the oldest without a gap", arguments: StoreKind.allCases)
    func pages(kind: StoreKind) throws {
        try kind.withStore { store in
            let logs = try store.transaction {
                let logs = [try store.sampleLog(tag: 3), try store.sampleLog(tag: 1 << 63)]
                // Equal clocks: the tag decides.
                for log in logs { try store.store(try Sample.operations(log, 0..<50), log) }
                return logs
            }
            var seen: [MessageRow] = []
            while true {
                let page = try store.messages(
                    in: logs[0].space, before: seen.last?.order, limit: 7)
                seen += page
                if page.count < 7 { break }
            }
            #expect(seen.count == 100)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.order > $1.order })
            #expect(seen[0].log == logs[1].number)
            #expect(try store.message(seen[3].order, in: logs[0].space) == seen[3])
            #expect(try store.messages(in: SpaceNumber(8), before: nil, limit: 5).isEmpty)
        }
    }

    @Test("flags change, and deleted messages do not count", arguments: StoreKind.allCases)
    func flags(kind: StoreKind) throws {
        try kind.withStore { store in
            let log = try store.transaction { try store.sampleLog() }
            let made = try Sample.operations(log, 0..<5000)
            try store.transaction { try store.store(made, log) }
            #expect(try store.messageCount(in: log.number, 0...UInt64.max) == 5000)
            #expect(try store.messageCount(in: log.number, 10...19) == 10)
            #expect(try store.messageCount(in: log.number, 2040...4100) == 2061)
            try store.transaction {
                var row = try #require(try store.message(made[12].orderKey, in: log.space))
                row.flags = [.deleted, .late]
                try store.update(row)
                #expect(try store.message(made[12].orderKey, in: log.space) == row)
                #expect(try store.messageCount(in: log.number, 10...19) == 9)
            }
            try store.begin(.normal)
            var row = try #require(try store.message(made[13].orderKey, in: log.space))
            row.flags = .deleted
            try store.update(row)
            #expect(try store.messageCount(in: log.number, 10...19) == 8)
            store.rollback()
            #expect(try store.messageCount(in: log.number, 10...19) == 9)
            #expect(try store.messageCount(in: LogNumber(77), 0...9) == 0)
        }
    }

    @Test("an imported message stands at its own time", arguments: StoreKind.allCases)
    func imported(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                let log = try store.sampleLog()
                let made = try Sample.operations(log, 0..<3)
                let numbers = try store.insert(made, in: log.number)
                var row = Sample.message(made[2], numbers[2], log, flags: .imported)
                row.order.stand = 55
                try store.insert(row)
                try store.insert(Sample.message(made[0], numbers[0], log))
                let page = try store.messages(in: log.space, before: nil, limit: 9)
                #expect(page.map(\.order.sequence) == [0, 2])
                #expect(page.last == row)
                #expect(try store.messageCount(in: log.number, 1...2) == 1)
                try store.remove(row)
                try store.remove(row)
                #expect(try store.message(row.order, in: log.space) == nil)
                #expect(try store.messageCount(in: log.number, 0...2) == 1)
            }
        }
    }

    @Test("entries ascend by field, element and order", arguments: StoreKind.allCases)
    func entries(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                let log = try store.sampleLog()
                let made = try Sample.operations(log, 0..<6)
                let numbers = try store.insert(made, in: log.number)
                let object = EntryObject.operation(log.tag, 0)
                func entry(_ field: UInt16, _ element: UInt64, _ place: Int) -> Entry {
                    Entry(
                        space: log.space, object: object, field: EntryField(rawValue: field),
                        element: element, operation: numbers[place], order: made[place].orderKey)
                }
                let sorted = [
                    entry(1, 0, 1), entry(1, 0, 3), entry(1, 1 << 63, 2), entry(2, 5, 1),
                ]
                for entry in sorted.reversed() { try store.put(entry) }
                var aboutSpace = entry(1, 0, 4)
                aboutSpace.object = .space
                try store.put(aboutSpace)
                #expect(try store.entries(about: object, in: log.space, field: nil) == sorted)
                let field = EntryField(rawValue: 1)
                #expect(
                    try store.entries(about: object, in: log.space, field: field)
                        == Array(sorted[..<3]))
                #expect(
                    try store.entries(about: .space, in: log.space, field: field) == [aboutSpace])
                func element(_ element: UInt64) throws -> [Entry] {
                    try store.entries(
                        about: object, in: log.space, field: field, element: element)
                }
                #expect(try element(0) == Array(sorted[..<2]))
                #expect(try element(1 << 63) == [sorted[2]])
                #expect(try element(5).isEmpty)
                for (number, isThere) in [(1, true), (2, true), (3, false)] {
                    let field = EntryField(rawValue: UInt16(number))
                    #expect(
                        try store.hasEntry(about: object, in: log.space, field: field) == isThere)
                }
                var off = sorted[1]
                off.isOn = false
                try store.put(off)
                try store.remove(sorted[0])
                try store.remove(sorted[0])
                #expect(
                    try store.entries(about: object, in: log.space, field: field)
                        == [off, sorted[2]])
                #expect(try element(0) == [off])
                try store.remove(off)
                try store.remove(sorted[2])
                #expect(try !store.hasEntry(about: object, in: log.space, field: field))
            }
        }
    }

    @Test(
        "mentions are counted by place and listed over all spaces, the newest first",
        arguments: StoreKind.allCases)
    func mentions(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                let logs = [try store.sampleLog(tag: 3), try store.sampleLog(tag: 1 << 63)]
                var entries: [Entry] = []
                for log in logs {
                    let made = try Sample.operations(log, 0..<20)
                    let numbers = try store.insert(made, in: log.number)
                    for (operation, number) in zip(made, numbers) {
                        entries.append(
                            Entry(
                                space: log.space, object: .operation(log.tag, operation.sequence),
                                field: .mention, operation: number, order: operation.orderKey,
                                isOn: operation.sequence != 7))
                    }
                }
                for entry in entries { try store.put(entry) }
                // Of another field there may be any number.
                var other = entries[2]
                other.field = EntryField(rawValue: 42)
                try store.put(other)
                let on = entries.filter(\.isOn).sorted { $0.order > $1.order }
                #expect(try store.mentions(before: nil, limit: 100) == on)
                #expect(try store.mentions(before: nil, limit: 5) == Array(on[..<5]))
                #expect(try store.mentions(before: on[4].order, limit: 3) == Array(on[5..<8]))
                func count(_ range: ClosedRange<UInt64>, above stand: UInt64 = 0) throws -> Int {
                    try store.mentionCount(
                        on: logs[1].tag, range, above: stand, in: logs[1].space)
                }
                #expect(try count(0...UInt64.max) == 19)
                #expect(try count(5...9) == 4)
                #expect(try count(0...9, above: entries[25].order.stand) == 3)
                try store.remove(entries[28])
                #expect(try count(5...9) == 3)
            }
        }
    }

    @Test(
        "answers and threads are paged, counted and found by place", arguments: StoreKind.allCases)
    func threads(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                let logs = [try store.sampleLog(tag: 3), try store.sampleLog(tag: 1 << 63)]
                var answers: [Entry] = []
                for log in logs {
                    let made = try Sample.operations(log, 0..<10)
                    let numbers = try store.insert(made, in: log.number)
                    for (operation, number) in zip(made, numbers) {
                        answers.append(
                            Entry(
                                space: log.space, object: .operation(log.tag, operation.sequence),
                                field: .answer, element: operation.sequence < 4 ? 1 << 63 : 5,
                                operation: number, order: operation.orderKey))
                    }
                }
                for entry in answers { try store.put(entry) }
                let space = logs[0].space
                let early = answers.filter { $0.element == 1 << 63 }.sorted { $0.order > $1.order }
                func page(_ before: OrderKey?, _ limit: Int) throws -> [Entry] {
                    try store.answers(in: 1 << 63, of: space, before: before, limit: limit)
                }
                #expect(try page(nil, 100) == early)
                #expect(try page(early[2].order, 3) == Array(early[3..<6]))
                #expect(try store.answerCount(in: 1 << 63, of: space, before: nil) == 8)
                #expect(
                    try store.answerCount(in: 1 << 63, of: space, before: early[2].order) == 5)
                #expect(try page(nil, 1).first == early.first)
                let found = try store.threadsAnswered(
                    on: logs[1].tag, 2...5, above: 0, in: space)
                #expect(found.sorted() == [5, 5, 1 << 63, 1 << 63])
                let threads = [early[0], answers[19]].map { newest in
                    var thread = newest
                    (thread.object, thread.field) = (.space, .thread)
                    return thread
                }
                for thread in threads { try store.put(thread) }
                let shown = [threads[1], threads[0]]
                #expect(try store.threads(in: nil, before: nil, limit: 9) == shown)
                #expect(try store.threads(in: space, before: nil, limit: 9) == shown)
                #expect(try store.threads(in: space, before: shown[0], limit: 9) == [shown[1]])
                #expect(try store.threads(in: SpaceNumber(99), before: nil, limit: 9).isEmpty)
            }
        }
    }

    @Test("decisions are paged, of one conversation and of all", arguments: StoreKind.allCases)
    func decisions(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                let log = try store.sampleLog(tag: 3)
                let made = try Sample.operations(log, 0..<5)
                let numbers = try store.insert(made, in: log.number)
                var all: [Entry] = []
                for (operation, number) in zip(made, numbers) {
                    let entry = Entry(
                        space: log.space, object: .space, field: .decision,
                        element: operation.sequence + 1, operation: number,
                        order: operation.orderKey)
                    try store.put(entry)
                    all.insert(entry, at: 0)
                }
                #expect(try store.decisions(in: nil, before: nil, limit: 9) == all)
                #expect(
                    try store.decisions(in: log.space, before: all[1], limit: 2)
                        == Array(all[2..<4]))
                #expect(try store.decisions(in: SpaceNumber(99), before: nil, limit: 9).isEmpty)
                #expect(try store.threads(in: nil, before: nil, limit: 9).isEmpty)
            }
        }
    }

    @Test("an entry keeps an order whose clock is not its operation's")
    func importedEntry() throws {
        for kind in StoreKind.allCases {
            try kind.withStore { store in
                try store.transaction {
                    let log = try store.sampleLog()
                    let made = try Sample.operations(log, 0..<2)
                    let numbers = try store.insert(made, in: log.number)
                    // About an operation that is not held.
                    let object = EntryObject.operation(LogTag(.max), 99)
                    var entry = Entry(
                        space: log.space, object: object, field: EntryField(rawValue: 3),
                        operation: numbers[1], order: made[1].orderKey, isOn: false)
                    entry.order.stand = 12
                    try store.put(entry)
                    #expect(
                        try store.entries(about: object, in: log.space, field: nil) == [entry])
                }
            }
        }
    }

    @Test("a mark takes the place of the one before it", arguments: StoreKind.allCases)
    func marks(kind: StoreKind) throws {
        try kind.withStore { store in
            let log = try store.transaction { try store.sampleLog() }
            let actors: [Digest] = [Sample.id(.max), Sample.id(1)]
            let check = Check(high: 0, low: .max)
            func mark(_ kind: MarkKind, _ actor: Int, _ places: PlaceSet) -> Mark {
                Mark(
                    space: log.space, kind: kind, actor: actors[actor], tag: log.tag,
                    places: places, said: 7, check: actor == 0 ? check : nil)
            }
            var parted = PlaceSet(3..<9)
            parted.insert(1 << 40..<Limits.placeMax)
            try store.transaction {
                try store.put(mark(.read, 0, PlaceSet(0..<5)))
                try store.put(mark(.read, 0, parted))
                try store.put(mark(.read, 1, PlaceSet(0..<1)))
                try store.put(mark(.acknowledged, 1, PlaceSet(0..<4)))
            }
            #expect(
                try store.mark(.read, of: actors[0], on: log.tag, in: log.space)
                    == mark(.read, 0, parted))
            #expect(try store.mark(.delivered, of: actors[0], on: log.tag, in: log.space) == nil)
            #expect(
                try store.marks(.read, in: log.space)
                    == [mark(.read, 1, PlaceSet(0..<1)), mark(.read, 0, parted)])
            try store.begin(.normal)
            try store.put(mark(.delivered, 0, PlaceSet(0..<11)))
            store.rollback()
            #expect(try store.marks(.delivered, in: log.space).isEmpty)
        }
    }

    @Test("cleared views keep acknowledged marks and other spaces")
    func clear() throws {
        for kind in StoreKind.allCases {
            try kind.withStore { store in
                let (log, other) = try store.transaction {
                    let log = try store.sampleLog()
                    let other = try store.sampleLog(space: Sample.id(44))
                    for log in [log, other] {
                        try store.store(try Sample.operations(log, 0..<3), log)
                        let made = try Sample.operation(log, 0)
                        try store.put(
                            Entry(
                                space: log.space, object: .space, field: EntryField(rawValue: 1),
                                operation: OperationNumber(1), order: made.orderKey))
                        for kind in MarkKind.allCases {
                            try store.put(
                                Mark(
                                    space: log.space, kind: kind, actor: Sample.id(1),
                                    tag: log.tag, places: PlaceSet(0..<3)))
                        }
                    }
                    return (log, other)
                }
                try store.transaction { try store.clearViews(of: log.space) }
                #expect(try store.messages(in: log.space, before: nil, limit: 9).isEmpty)
                #expect(try store.messageCount(in: log.number, 0...9) == 0)
                #expect(try store.entries(about: .space, in: log.space, field: nil).isEmpty)
                #expect(try store.marks(.read, in: log.space).isEmpty)
                #expect(try store.marks(.acknowledged, in: log.space).count == 1)
                #expect(try store.messages(in: other.space, before: nil, limit: 9).count == 3)
                #expect(try store.marks(.read, in: other.space).count == 1)
                #expect(try store.operations(in: log.number, 0...9, limit: 9).count == 3)
            }
        }
    }
}
