import Foundation

import Parley
import ParleyImporting
import Synchronization
import Testing

@testable import LocalAPITests

@Suite("An import", .timeLimit(.minutes(4)))
struct ImporterTests {
    static func source(_ name: String, lines: Int) throws -> ImportSource {
        let text = (0..<lines).map { "[10:\($0 % 60 < 10 ? "0" : "")\($0 % 60)] <a> \($0)\n" }
        return try ImportSource(name: name, bytes: Array((["\n"] + text).joined().utf8))
    }

    @Test("goes through the files by date, in bounded batches, to the last line")
    func batches() async throws {
        let node = FakeNode()
        let sources = [
            try Self.source("2005-01-01.log", lines: 1),
            try Self.source("2004-12-25.log", lines: 4_500),
        ]
        let reports = Mutex<[ImportProgress]>([])
        let importer = Importer(node: node, conversation: "home") { progress in
            reports.withLock { $0.append(progress) }
        }
        let summary = try await importer.run(sources)
        #expect(summary.stored == 4_501)
        #expect(summary.known == 0)
        #expect(summary.fileCount == 2)
        #expect(summary.lineCount == 4_503)
        #expect(summary.skipped.count == 2)
        #expect(summary.skipped.groups.first?.examples == ["2004-12-25.log:1", "2005-01-01.log:1"])
        let batches = node.state.withLock { $0.batches }
        #expect(batches.map(\.rows.count) == [2_000, 2_000, 500, 1])
        #expect(batches.map(\.throughLine) == [2_001, 4_001, 4_501, 2])
        #expect(reports.withLock { $0.last?.linesRead } == 4_503)
        #expect(reports.withLock { $0.last?.fileNumber } == 2)
    }

    @Test("of the same file again stores nothing, whatever it is called now")
    func again() async throws {
        let node = FakeNode()
        let importer = Importer(node: node, conversation: "home")
        _ = try await importer.run([try Self.source("2004-12-25.log", lines: 10)])
        let summary = try await importer.run([try Self.source("2004-12-26-copy.log", lines: 10)])
        #expect(summary.stored == 0)
        #expect(summary.known == 10)
        #expect(node.state.withLock { $0.batches.count } == 1)
    }

    @Test("that is stopped goes on where it was, and doubles nothing")
    func resumed() async throws {
        let running = Mutex<Task<ImportSummary, any Error>?>(nil)
        let node = FakeNode { batch in
            if batch == 2 { running.withLock { $0 }?.cancel() }
        }
        let source = try Self.source("2004-12-25.log", lines: 9_000)
        let importer = Importer(node: node, conversation: "home")
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in gate {}
            return try await importer.run([source])
        }
        running.withLock { $0 = task }
        opener.finish()
        let first = try await task.value
        #expect(first.isStopped)
        #expect(first.stored == 4_000)
        let second = try await importer.run([source])
        #expect(!second.isStopped)
        #expect(second.stored == 5_000)
        #expect(second.known == 4_000)
        let lines = node.state.withLock { $0.batches.flatMap(\.rows).map(\.line) }
        #expect(lines == Array(2...9_001))
    }

    @Test("names a file whose name is no date")
    func noDate() {
        #expect(throws: ImportSource.Rejection.nameWithoutDate(name: "ubuntu.log")) {
            try ImportSource(name: "ubuntu.log", bytes: [])
        }
    }

    @Test(
        "counts lines whether or not the last one ends",
        arguments: [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)])
    func lineCount(text: String, count: Int) throws {
        #expect(try ImportSource(name: "2004-12-25", bytes: Array(text.utf8)).lineCount == count)
    }
}

/// Where real logs are; the tests on them are skipped, saying so, where there are none.
enum RealLogs {
    static let folder: String = {
        if let given = ProcessInfo.processInfo.environment["PARLEY_IRC_LOGS"] { return given }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return root.appendingPathComponent("../shared/data/irc-ubuntu/logs").path
    }()

    static let names: [String] = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return all.filter { $0.hasSuffix(".log") }.sorted()
    }()
}

@Suite("Real IRC logs", .timeLimit(.minutes(5)))
struct RealLogTests {
    @Test(
        "come in whole: every line is a message or counted as skipped, nearly none unknown",
        .enabled(if: !RealLogs.names.isEmpty, "no logs here; PARLEY_IRC_LOGS names their folder"))
    func whole() async throws {
        let sources = try RealLogs.names.map { name in
            let data = try Data(contentsOf: URL(fileURLWithPath: RealLogs.folder + "/" + name))
            return try ImportSource(name: name, bytes: Array(data))
        }
        let node = FakeNode()
        let summary = try await Importer(node: node, conversation: "home").run(sources)
        #expect(summary.lineCount == sources.reduce(0) { $0 + $1.lineCount })
        #expect(summary.stored + summary.known + summary.skipped.count == summary.lineCount)
        #expect(summary.known == 0)
        #expect(summary.stored > summary.lineCount / 2)
        #expect(summary.skipped.count(.unknown) < summary.lineCount / 1_000)
        #expect(summary.skipped.count(.badTime) == 0)
    }
}
