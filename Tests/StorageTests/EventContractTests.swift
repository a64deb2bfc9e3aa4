import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire
import Testing

@Suite("Every store keeps the log of events")
struct EventContractTests {
    private func read(
        _ store: any TransactionalStore, from number: UInt64 = 1, limit: Int = 100
    ) throws -> [String] {
        try store.eventEntries(from: number, limit: limit).map { "\($0.number) \($0.content)" }
    }

    @Test("entries are numbered from 1, and the oldest go", arguments: StoreKind.allCases)
    func entries(kind: StoreKind) throws {
        try kind.withStore { store in
            #expect(store.nextEventEntry == 1)
            #expect(try read(store).isEmpty)
            try store.transaction {
                for byte in UInt8(1)...5 { try store.appendEventEntry([byte, 0]) }
            }
            #expect(store.nextEventEntry == 6)
            #expect(try read(store, from: 2, limit: 2) == ["2 [2, 0]", "3 [3, 0]"])
            try store.transaction { try store.dropEventEntries(below: 4) }
            #expect(try read(store) == ["4 [4, 0]", "5 [5, 0]"])
            #expect(store.nextEventEntry == 6)
            #expect(try read(store, from: 6).isEmpty)
        }
    }

    @Test("what a transaction wrote goes with it", arguments: StoreKind.allCases)
    func rollback(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                for byte in UInt8(1)...3 { try store.appendEventEntry([byte]) }
            }
            try store.begin(.full)
            try store.appendEventEntry([9])
            try store.dropEventEntries(below: 3)
            #expect(try read(store) == ["3 [3]", "4 [9]"])
            store.rollback()
            #expect(try read(store) == ["1 [1]", "2 [2]", "3 [3]"])
            #expect(store.nextEventEntry == 4)
        }
    }

    @Test("a store that is opened again goes on with the numbers")
    func reopened() throws {
        try withHome { home in
            do {
                let store = try SQLiteStore.open(home: home)
                try store.transaction {
                    for byte in UInt8(1)...3 { try store.appendEventEntry([byte]) }
                    try store.dropEventEntries(below: 3)
                }
                try store.close()
            }
            let store = try SQLiteStore.open(home: home)
            #expect(store.nextEventEntry == 4)
            #expect(try read(store) == ["3 [3]"])
        }
    }
}
