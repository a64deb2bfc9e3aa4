import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@Suite("Every store keeps all of a transaction or nothing")
struct TransactionContractTests {
    @Test("values are sealed by table and key", arguments: StoreKind.allCases)
    func values(kind: StoreKind) throws {
        try kind.withStore { store in
            try store.transaction {
                try store.setValue([1], .profile, [9, 9])
                try store.setValue([2], .profile, [9])
                try store.setValue([3], .card, [9])
                try store.setValue([4], .profile, [1, 1, 1])
                try store.setValue([], .profile, [])
            }
            let all = try store.values(.profile)
            #expect(all.map(\.key) == [[], [1, 1, 1], [9], [9, 9]])
            #expect(all.map(\.value) == [[], [4], [2], [1]])
            try store.transaction {
                try store.setValue([7, 7], .profile, [9])
                try store.setValue(nil, .profile, [9, 9])
                try store.setValue(nil, .profile, [5])
            }
            #expect(try store.value(.profile, [9]) == [7, 7])
            #expect(try store.value(.profile, [9, 9]) == nil)
            #expect(try store.value(.card, [9]) == [3])
            #expect(try store.value(.invite, [9]) == nil)
        }
    }

    @Test("secrets come and go by purpose, space and name", arguments: StoreKind.allCases)
    func secrets(kind: StoreKind) throws {
        func secret(_ byte: UInt8, _ count: Int = 32) -> Secret {
            Secret([UInt8](repeating: byte, count: count))
        }
        try kind.withStore { store in
            let (one, two) = (SpaceNumber(1), SpaceNumber(2))
            try store.transaction(.full) {
                try store.setSecret(secret(1), .leaf, [9, 9], in: one)
                try store.setSecret(secret(2, 37), .leaf, [9], in: one)
                try store.setSecret(secret(3), .leaf, [9], in: two)
                try store.setSecret(secret(4), .chain, [9], in: one)
                try store.setSecret(secret(5), .hedge, [], in: nil)
            }
            let all = try store.secrets(.leaf, in: one)
            #expect(all.map(\.name) == [[9], [9, 9]])
            #expect(all.map(\.secret) == [secret(2, 37), secret(1)])
            #expect(try store.secret(.hedge, [], in: nil) == secret(5))
            #expect(try store.secret(.hedge, [], in: one) == nil)
            #expect(try store.secrets(.prekey, in: nil).isEmpty)
            try store.transaction(.full) {
                try store.setSecret(secret(6), .leaf, [9], in: one)
                try store.setSecret(nil, .leaf, [9], in: two)
                try store.setSecret(nil, .seed, [9], in: two)
            }
            #expect(try store.secret(.leaf, [9], in: one) == secret(6))
            #expect(try store.secret(.leaf, [9], in: two) == nil)
            #expect(try store.secret(.chain, [9], in: one) == secret(4))
            try store.begin(.full)
            try store.setSecret(nil, .leaf, [9], in: one)
            try store.setSecret(secret(7), .leaf, [1], in: one)
            store.rollback()
            #expect(try store.secrets(.leaf, in: one).map(\.name) == [[9], [9, 9]])
        }
    }

    @Test("a rollback takes everything back", arguments: StoreKind.allCases)
    func rollback(kind: StoreKind) throws {
        try kind.withStore { store in
            let log = try store.transaction {
                let log = try store.sampleLog()
                try store.store(try Sample.operations(log, 0..<10), log)
                return log
            }
            let before = try store.log(log.number)
            try store.begin(.full)
            _ = try store.sampleLog(space: Sample.id(66), tag: 9)
            try store.store(try Sample.operations(log, 10..<20), log)
            try store.setValue([1], .card, [1])
            try store.addHead(
                SignedHead(sequence: 4, signature: try Sample.signature(2)), in: log.number)
            store.rollback()
            #expect(try store.spaces().count == 1)
            #expect(try store.log(log.number) == before)
            #expect(try store.operations(in: log.number, 0...99, limit: 99).count == 10)
            #expect(try store.messages(in: log.space, before: nil, limit: 99).count == 10)
            #expect(try store.messageCount(in: log.number, 0...99) == 10)
            #expect(try store.value(.card, [1]) == nil)
            #expect(try store.head(atOrAfter: 0, in: log.number) == nil)
            // And the store goes on as if nothing had been.
            try store.transaction {
                try store.store(try Sample.operations(log, 10..<12), log)
                _ = try store.sampleLog(space: Sample.id(67), tag: 9)
            }
            #expect(try store.messageCount(in: log.number, 0...99) == 12)
            try store.makeDurable()
        }
    }
}

@Suite("The store in memory")
struct MemoryStoreTests {
    @Test("fails at the call it is told to, and takes the transaction back")
    func failure() throws {
        let store = MemoryStore()
        let log = try store.transaction { try store.sampleLog() }
        func work() throws {
            try store.transaction {
                try store.store(try Sample.operations(log, 0..<2), log)
                try store.setValue([1], .card, [1])
            }
        }
        // Every call of the transaction, from its beginning to its commit.
        let calls = 8
        for call in 1...calls {
            store.fail(atCall: call)
            let error = #expect(throws: StoreError.self) { try work() }
            #expect(error?.code == .inputOutput)
            #expect(try store.operations(in: log.number, 0...9, limit: 9).isEmpty)
            #expect(!store.isInTransaction)
        }
        store.failNoMore()
        try work()
        #expect(try store.messageCount(in: log.number, 0...9) == 2)
    }

    @Test("loses what was not durable when the machine loses its power")
    func power() throws {
        let store = MemoryStore()
        try store.transaction(.full) { try store.setValue([1], .card, [1]) }
        try store.transaction(.normal) { try store.setValue([2], .card, [1]) }
        try store.makeDurable()
        try store.transaction(.normal) { try store.setValue([3], .card, [1]) }
        store.losePower()
        #expect(try store.value(.card, [1]) == [2])
    }
}
