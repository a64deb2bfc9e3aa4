import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire
import Testing

@Suite("Every store keeps views, floors and limits of logs")
struct ViewContractTests {
    private func view(_ first: UInt64, _ places: [UInt64], claimed: UInt64? = nil) -> LogView {
        LogView(
            first: first, tips: places.map { LogTip(tag: LogTag($0 << 60), sequence: $0) },
            claimed: claimed)
    }

    @Test("the view of a place is the row at it or below", arguments: StoreKind.allCases)
    func views(kind: StoreKind) throws {
        try kind.withStore { store in
            let log = try store.transaction { try store.sampleLog() }.number
            let rows = [view(3, [1]), view(9, [1, 15]), view(1 << 50, [], claimed: .max)]
            try store.transaction { for row in rows.reversed() { try store.setView(row, in: log) } }
            #expect(try store.view(at: 2, in: log) == nil)
            #expect(try store.view(at: 3, in: log) == rows[0])
            #expect(try store.view(at: 8, in: log) == rows[0])
            #expect(try store.view(at: 1 << 61, in: log) == rows[2])
            #expect(try store.views(in: log, 0...UInt64.max) == rows)
            #expect(try store.views(in: log, 4...9) == [rows[1]])
            #expect(try store.view(at: 9, in: LogNumber(77)) == nil)
        }
    }

    @Test("a row replaces another, goes away, and comes back", arguments: StoreKind.allCases)
    func change(kind: StoreKind) throws {
        try kind.withStore { store in
            let log = try store.transaction { try store.sampleLog() }.number
            try store.transaction { try store.setView(view(3, [1]), in: log) }
            try store.begin(.normal)
            try store.setView(view(3, [2]), in: log)
            try store.removeView(at: 3, in: log)
            #expect(try store.views(in: log, 0...9).isEmpty)
            store.rollback()
            #expect(try store.view(at: 5, in: log) == view(3, [1]))
            try store.transaction { try store.setView(view(3, [2]), in: log) }
            #expect(try store.views(in: log, 0...9) == [view(3, [2])])
        }
    }

    @Test("floor and limit are kept with a log", arguments: StoreKind.allCases)
    func bounds(kind: StoreKind) throws {
        try kind.withStore { store in
            var log = try store.transaction { try store.sampleLog() }
            log.floor = LogPoint(sequence: 1 << 40, anchor: Sample.id(5))
            log.limit = LogPoint(sequence: 0, anchor: Sample.id(6))
            try store.transaction { try store.update(log) }
            #expect(try store.log(log.number) == log)
            log.limit = nil
            try store.begin(.normal)
            try store.update(log)
            store.rollback()
            #expect(try store.log(log.number)?.limit?.anchor == Sample.id(6))
        }
    }

    @Test("views, floors and limits are there after opening again")
    func reopening() throws {
        try withHome { home in
            var log: LogRecord
            do {
                let store = try SQLiteStore.open(home: home)
                log = try store.transaction { try store.sampleLog() }
                log.floor = LogPoint(sequence: 7, anchor: Sample.id(5))
                log.limit = LogPoint(sequence: 9, anchor: Sample.id(6))
                try store.transaction {
                    try store.update(log)
                    try store.setView(view(7, [2]), in: log.number)
                }
                try store.close()
            }
            let store = try SQLiteStore.open(home: home)
            #expect(try store.log(log.number) == log)
            #expect(try store.view(at: 8, in: log.number) == view(7, [2]))
        }
    }
}
