import Foundation
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
@testable import ParleyStorage
import ParleyWire
import Testing

@Suite("A disk that fails")
struct FullDiskTests {
    /// Stores until the store refuses; returns how many operations were committed and the refusal.
    private func fill(
        _ store: SQLiteStore, _ log: LogRecord
    ) throws -> (kept: Int, refusal: StoreError?) {
        var kept = 0
        for batch: UInt64 in 0..<100 {
            let made = try Sample.operations(
                log, batch * 50..<batch * 50 + 50, text: String(repeating: "x", count: 500))
            do {
                try store.transaction(.full) { try store.store(made, log) }
            } catch let error as StoreError {
                return (kept, error)
            }
            kept += 50
        }
        return (kept, nil)
    }

    private func examine(_ store: SQLiteStore) throws {
        let log = try store.transaction(.full) { try store.sampleLog() }
        let (kept, refusal) = try fill(store, log)
        #expect(refusal?.code == .full)
        #expect(kept > 0)
        // Reading goes on, and shows exactly what was committed.
        #expect(try store.operations(in: log.number, 0...9999, limit: 9999).count == kept)
        #expect(try store.messages(in: log.space, before: nil, limit: 9999).count == kept)
        #expect(try store.messageCount(in: log.number, 0...9999) == kept)
        #expect(try store.log(log.number)?.end == UInt64(kept))
    }

    @Test("refuses what does not fit, keeps what did, and goes on when there is room again")
    func pages() throws {
        try withHome { home in
            let store = try SQLiteStore.open(home: home)
            try store.connection.execute("PRAGMA max_page_count = 100", "test")
            try examine(store)
            try store.connection.execute("PRAGMA max_page_count = 100000", "test")
            let log = try #require(try store.logs(in: SpaceNumber(1)).first)
            let next = log.end
            try store.transaction(.full) {
                try store.store(try Sample.operations(log, next..<next + 5), log)
            }
            #expect(try store.messageCount(in: log.number, 0...9999) == Int(next) + 5)
        }
    }

    @Test("says that a small disk is full", .enabled(if: SmallDisk.canMount))
    func smallDisk() throws {
        try withHome { home in
            let disk = try SmallDisk(at: home.path, megabytes: 1)
            defer { disk.unmount() }
            let path = Home(home.path + "/home")
            do { try examine(try SQLiteStore.open(home: path)) }
            // And what was kept is there when it is opened again, though there is no room at all.
            let store = try SQLiteStore.open(home: path)
            let log = try #require(try store.logs(in: SpaceNumber(1)).first)
            #expect(try store.messageCount(in: log.number, 0...9999) == Int(log.end))
            try disk.fill()
            let code = #expect(throws: HomeError.self) { try store.rejoined(heads: []) }?.code
            #expect(code == .diskFull)
        }
    }

    @Test(
        "lets a home be read that cannot be written, and says so", .enabled(if: SmallDisk.canMount))
    func readOnly() throws {
        try withHome { home in
            let disk = try SmallDisk(at: home.path, megabytes: 2)
            defer { disk.unmount() }
            let path = Home(home.path + "/home")
            do { _ = try SQLiteStore.open(home: path) }
            try disk.makeReadOnly()
            do {
                let store = try SQLiteStore.open(home: path)
                #expect(store.bar == .readOnly)
                #expect(try store.spaces().isEmpty)
                let code = #expect(throws: StoreError.self) { try store.begin(.normal) }?.code
                #expect(code == .readOnly)
            }
            let fresh = Home(home.path + "/other")
            let other = #expect(throws: HomeError.self) {
                try SQLiteStore.open(home: fresh, unlock: .keyFile)
            }?.code
            #expect(other == .readOnly)
        }
    }
}

/// A file system in memory of a few megabytes; only the administrator may mount one.
struct SmallDisk {
    static let canMount: Bool = {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("parley-mount-\(UUID().uuidString)").path
        guard let disk = try? SmallDisk(at: path, megabytes: 1) else { return false }
        disk.unmount()
        try? FileManager.default.removeItem(atPath: path)
        return true
    }()

    private let path: String

    init(at path: String, megabytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path)
    }

    func makeReadOnly() throws { try Self.run("/bin/mount", "-o", "remount,ro", path) }

    /// Leaves no byte free.
    func fill() throws {
        let handle = fopen(path + "/filler", "w")
        defer { fclose(handle) }
        while fputs(String(repeating: "x", count: 4096), handle) >= 0, fflush(handle) == 0 {}
    }

    func unmount() { try? Self.run("/bin/umount", "-l", path) }

    private static func run(_ program: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw StoreError(.other, attempt: program)
        }
    }
}
