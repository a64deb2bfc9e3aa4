import Foundation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import Testing

@Suite("A home without a guard that tells of its database")
struct GuardTests {
    /// Each start finds what the one before it has left.
    @Test("gets none that is made of that database, over any number of starts")
    func starts() throws {
        for reason in [RejoinReason.guardMissing, .guardDamaged] {
            try withHome { home in
                do {
                    let store = try SQLiteStore.open(home: home)
                    try store.transaction(.full) {
                        let log = try store.sampleLog()
                        try store.store(try Sample.operations(log, 0..<10), log)
                    }
                    try store.writeGuard(heads: store.heads(of: Sample.device))
                    try store.close()
                }
                try FileManager.default.removeItem(atPath: home.guardFile)
                if reason == .guardDamaged {
                    try Data(repeating: 9, count: 64).write(to: URL(filePath: home.guardFile))
                    chmod(home.guardFile, 0o600)
                }
                for _ in 1...3 {
                    let store = try SQLiteStore.open(home: home)
                    #expect(store.rejoin == reason)
                    try store.writeGuard(heads: store.heads(of: Sample.device))
                    try store.close()
                }
                // Once a peer has shown what there was, it is written.
                do {
                    let store = try SQLiteStore.open(home: home)
                    try store.rejoined(heads: store.heads(of: Sample.device))
                    try store.close()
                }
                #expect(try SQLiteStore.open(home: home).rejoin == nil)
            }
        }
    }
}
