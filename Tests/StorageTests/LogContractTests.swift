import ParleyLedger
import ParleyNodeCore
import ParleyWire
import Testing

@Suite("Every store keeps logs")
struct LogContractTests {
    @Test("spaces are found by name and by number", arguments: StoreKind.allCases)
    func spaces(kind: StoreKind) throws {
        try kind.withStore { store in
            let (first, second) = try store.transaction {
                (
                    try store.addSpace(Sample.id(2), kind: .own),
                    try store.addSpace(Sample.id(1), kind: .direct)
                )
            }
            #expect(try store.spaces() == [first, second])
            #expect(try store.space(Sample.id(1)) == second)
            #expect(try store.space(first.number)?.kind == .own)
            #expect(try store.space(Sample.id(3)) == nil)
            #expect(try store.space(SpaceNumber(99)) == nil)
        }
    }

    @Test("logs ascend by tag, also above the sign bit", arguments: StoreKind.allCases)
    func logs(kind: StoreKind) throws {
        try kind.withStore { store in
            let tags: [UInt64] = [0x8000_0000_0000_0000, 5, .max, 0x7fff_ffff_ffff_ffff]
            let logs = try store.transaction { try tags.map { try store.sampleLog(tag: $0) } }
            let space = logs[0].space
            #expect(try store.logs(in: space).map(\.tag.value) == tags.sorted())
            #expect(try store.log(LogTag(.max), in: space) == logs[2])
            #expect(try store.log(LogTag(6), in: space) == nil)
            #expect(try store.log(logs[1].number) == logs[1])
            #expect(try store.logs(in: SpaceNumber(9)).isEmpty)
        }
    }

    @Test("an updated log is read as updated, and rolled back as it was")
    func update() throws {
        for kind in StoreKind.allCases {
            try kind.withStore { store in
                var log = try store.transaction { try store.sampleLog() }
                log.spans = [
                    Span(first: 0, last: 4, anchor: Sample.id(1), tip: Sample.id(2)),
                    Span(first: 9, last: 1 << 40, anchor: Sample.id(3), tip: Sample.id(4)),
                ]
                log.order.tip = Stand(value: 1 << 61, witness: 5, wallClock: 6)
                log.order.floor = Stand(value: 7)
                log.order.settledEnd = 3
                log.coveredEnd = 7
                log.controlCoveredEnd = 3
                try store.transaction { try store.update(log) }
                #expect(try store.log(log.number) == log)
                #expect(try store.logs(in: log.space) == [log])
                var other = log
                other.order.tip.value += 1
                try store.begin(.normal)
                try store.update(other)
                #expect(try store.log(log.tag, in: log.space) == other)
                store.rollback()
                #expect(try store.log(log.number) == log)
            }
        }
    }

    @Test("operations come back byte by byte", arguments: StoreKind.allCases)
    func operations(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                let log = try store.sampleLog()
                let made = try Sample.operations(log, 0..<20)
                let numbers = try store.insert(made, in: log.number)
                #expect(numbers == numbers.sorted())
                let row = try #require(try store.operation(at: 7, in: log.number))
                #expect(row.operation == made[7].operation)
                #expect(row.id == made[7].id)
                #expect(row.number == numbers[7])
                #expect(try store.operation(numbers[7]) == row)
                #expect(try store.operation(at: 20, in: log.number) == nil)
                #expect(try store.operation(OperationNumber(999)) == nil)
                let some = try store.operations(in: log.number, 3...100, limit: 4)
                #expect(some.map(\.sequence) == [3, 4, 5, 6])
                #expect(try store.operations(in: log.number, 18...100, limit: 9).count == 2)
            }
        }
    }

    @Test("an operation without payload, and one erased before it came")
    func bodies() throws {
        for kind in StoreKind.allCases {
            try kind.withStore { store in
                try store.transaction {
                    let log = try store.sampleLog()
                    let bare = try Sample.bare(log, 0)
                    let gone = try Sample.erased(log, 1)
                    _ = try store.insert([bare, gone], in: log.number)
                    #expect(try store.operation(at: 0, in: log.number)?.operation == bare.operation)
                    #expect(try store.operation(at: 1, in: log.number)?.operation == gone.operation)
                }
            }
        }
    }

    @Test("a place is taken once", arguments: StoreKind.allCases)
    func place(kind: StoreKind) throws {
        try kind.withStore { store in
            let log = try store.transaction { try store.sampleLog() }
            let made = try Sample.operations(log, 0..<1)
            _ = try store.transaction { try store.insert(made, in: log.number) }
            try store.begin(.normal)
            #expect(throws: StoreError.self) { try store.insert(made, in: log.number) }
            store.rollback()
            #expect(try store.operations(in: log.number, 0...9, limit: 9).count == 1)
        }
    }

    @Test("an erased payload is gone, and can be put back", arguments: StoreKind.allCases)
    func erase(kind: StoreKind) throws {
        try kind.withStore { store in
            let log = try store.transaction { try store.sampleLog() }
            let made = try Sample.operation(log, 0)
            let number = try store.transaction { try store.insert([made], in: log.number)[0] }
            let commitment: Digest = Sample.id(77)
            try store.transaction { try store.erase(number, commitment: commitment) }
            let erased = try #require(try store.operation(number))
            #expect(erased.operation == made.operation.erased(commitment: commitment))
            #expect(erased.id == made.id)
            try store.transaction { try store.restore(made, in: number) }
            #expect(try store.operation(number)?.operation == made.operation)
        }
    }

    @Test("the newest places come from the logs with the highest clocks")
    func newest() throws {
        for kind in StoreKind.allCases {
            try kind.withStore { store in
                try store.transaction {
                    let old = try store.sampleLog(tag: 1)
                    let new = try store.sampleLog(tag: 2)
                    let receipts = try store.sampleLog(tag: 3, lane: .receipts)
                    let clocks = try (0..<50).map {
                        try Sample.operation(old, $0, milliseconds: 1000 + $0 * 10)
                    }
                    try store.store(clocks, old)
                    let recent = try (0..<10).map {
                        try Sample.operation(new, $0, milliseconds: 1405 + $0 * 10)
                    }
                    try store.store(recent, new)
                    try store.store([try Sample.operation(receipts, 0)], receipts)
                    let found = try store.newestPlaces(in: old.space, count: 5)
                    #expect(found.map(\.log) == [old.number, new.number])
                    #expect(found.map(\.first) == [48, 7])
                    let all = try store.newestPlaces(in: old.space, count: 1000)
                    #expect(all.map(\.first) == [0, 0])
                    #expect(try store.newestPlaces(in: SpaceNumber(9), count: 5).isEmpty)
                }
            }
        }
    }

    @Test("signed heads are found at or above a place", arguments: StoreKind.allCases)
    func heads(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                let log = try store.sampleLog()
                for sequence: UInt64 in [255, 511, 700] {
                    let signature = try Sample.signature(UInt8(sequence & 0xff))
                    try store.addHead(
                        SignedHead(sequence: sequence, signature: signature), in: log.number)
                }
                #expect(try store.head(atOrAfter: 0, in: log.number)?.sequence == 255)
                #expect(try store.head(atOrAfter: 511, in: log.number)?.sequence == 511)
                #expect(try store.head(atOrAfter: 701, in: log.number) == nil)
                #expect(try store.heads(in: log.number, 256...700).map(\.sequence) == [511, 700])
            }
        }
    }

    @Test(
        "a branch is dropped with its signatures, and another takes its place",
        arguments: StoreKind.allCases)
    func branch(kind: StoreKind) throws {
        try kind.withStore { store in
            let space: SpaceID = Sample.id(1)
            var log = try store.transaction { try store.sampleLog(space: space, lane: .control) }
            try store.transaction {
                let operations = try Sample.operations(log, 0..<8)
                _ = try store.insert(operations, in: log.number)
                log.spans = [
                    Span(
                        first: 0, last: 7, anchor: OperationID(reinterpreting: log.id),
                        tip: operations[7].id)
                ]
                try store.update(log)
                for sequence: UInt64 in [3, 7] {
                    let signature = try Sample.signature(1)
                    try store.addHead(
                        SignedHead(sequence: sequence, signature: signature), in: log.number)
                }
                try store.addFork(try Sample.evidence(log, space, parting: 5), in: log.number)
            }
            try store.begin(.normal)
            let fork = try #require(try store.log(log.number)?.proven)
            try store.drop(log.number, from: fork)
            store.rollback()
            #expect(try store.operation(at: 5, in: log.number) != nil)
            #expect(try store.log(log.number)?.end == 8)
            try store.transaction { try store.drop(log.number, from: fork) }
            #expect(try store.operations(in: log.number, 0...9, limit: .max).count == 5)
            #expect(try store.heads(in: log.number, 0...9).map(\.sequence) == [3])
            #expect(try store.log(log.number)?.end == 5)
            try store.transaction {
                let others = try Sample.operations(log, 5..<7, text: "other")
                _ = try store.insert(others, in: log.number)
            }
            #expect(try store.operations(in: log.number, 5...9, limit: .max).count == 2)
        }
    }

    @Test("evidence of a fork is kept once a log, the lowest", arguments: StoreKind.allCases)
    func forks(kind: StoreKind) throws {
        try kind.withStore { store in
            let space: SpaceID = Sample.id(1)
            let log = try store.transaction { try store.sampleLog(space: space) }
            let high = try Sample.evidence(log, space, parting: 9)
            let low = try Sample.evidence(log, space, parting: 4)
            for evidence in [high, low, high, low] {
                try store.transaction { try store.addFork(evidence, in: log.number) }
            }
            #expect(try store.forks() == [low])
            #expect(try store.log(log.number)?.fork == low.point)
            store.rollback()
            try store.begin(.normal)
            try store.addFork(
                try Sample.evidence(log, space, parting: 2), in: log.number)
            store.rollback()
            #expect(try store.log(log.number)?.fork == low.point)
            #expect(try store.forks() == [low])
        }
    }
}
