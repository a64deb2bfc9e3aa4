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
        let summary = try await importer.run([try Self.source("2004-12-25-copy.log", lines: 10)])
        #expect(summary.stored == 0)
        #expect(summary.known == 10)
        #expect(node.state.withLock { $0.batches.count } == 1)
    }

    @Test("that a full disk stops says how much of it is stored, and goes on from there")
    func fullDisk() async throws {
        let node = FakeNode()
        let source = try Self.source("2004-12-25.log", lines: 4_500)
        let importer = Importer(node: node, conversation: "home")
        node.state.withLock { $0.batchCountMax = 2 }
        let error = await #expect(throws: NodeError.self) { try await importer.run([source]) }
        #expect(error?.code == "disk-full")
        #expect(error?.message.hasPrefix("The disk is full: 4000 messages are stored") == true)
        #expect(error?.hint?.contains("run the same command again: it continues") == true)
        // Where nothing is stored, the node's own words are true.
        let other = await #expect(throws: NodeError.self) { try await importer.run([source]) }
        #expect(other?.message == "The disk is full: this was not saved.")
        node.state.withLock { $0.batchCountMax = nil }
        let rest = try await importer.run([source])
        #expect(rest.stored == 500 && rest.known == 4_000)
    }

    private static func log(_ lines: [String], _ name: String = "2004-12-25.log") throws
        -> ImportSource
    {
        try ImportSource(name: name, bytes: Array(lines.joined(separator: "\n").utf8))
    }

    private static func said(_ range: Range<Int>) -> [String] {
        range.map { "[10:00] <a> \($0)" }
    }

    @Test(
        "of a log that has grown brings in what is new", arguments: [1, 2, 3, 7, 8, 9, 300, 4_100])
    func grown(count: Int) async throws {
        let node = FakeNode()
        let importer = Importer(node: node, conversation: "home")
        for end in [count, count + 1, count + 100] {
            _ = try await importer.run([try Self.log(Self.said(0..<end) + [""])])
        }
        let texts = node.state.withLock { $0.batches.flatMap(\.rows).map(\.text) }
        #expect(texts == (0..<count + 100).map { "\($0)" })
        // Once more, as it was before: all of that is in.
        let before = try await importer.run([try Self.log(Self.said(0..<count) + [""])])
        #expect(before.stored == 0 && before.known == count)
    }

    @Test("of a log whose last line was cut short brings that line in anew, and no other")
    func cutShort() async throws {
        let node = FakeNode()
        let importer = Importer(node: node, conversation: "home")
        _ = try await importer.run([try Self.log(Self.said(0..<300) + ["[10:01] <a> go"])])
        let grown = Self.said(0..<300) + ["[10:01] <a> good night", "[10:02] <b> night", ""]
        let summary = try await importer.run([try Self.log(grown)])
        #expect(summary.stored == 2 && summary.known == 300)
        // One that was whole, and had no end, is in.
        _ = try await importer.run([try Self.log(["[11:00] <a> hi"])])
        let whole = try await importer.run([try Self.log(["[11:00] <a> hi", "[11:01] <b> hi", ""])])
        #expect(whole.stored == 1 && whole.known == 1)
    }

    @Test("of two logs that only begin alike leaves nothing of either out")
    func alike() async throws {
        let node = FakeNode()
        let importer = Importer(node: node, conversation: "home")
        _ = try await importer.run([try Self.log(Self.said(0..<100) + [""])])
        let other = try await importer.run([
            try Self.log(Self.said(0..<40) + Self.said(500..<560) + [""], "2004-12-25 b.log")
        ])
        #expect(other.stored == 60 && other.known == 40)
    }

    @Test("of the same words on another day brings them in")
    func otherDay() async throws {
        let node = FakeNode()
        let importer = Importer(node: node, conversation: "home")
        let summary = try await importer.run([
            try Self.log(["[09:00] <bot> good morning", ""], "2021-03-01.log"),
            try Self.log(["[09:00] <bot> good morning", ""], "2021-03-02.log"),
        ])
        #expect(summary.stored == 2 && summary.known == 0)
    }

    @Test("knows what an older version noted by the whole file")
    func older() async throws {
        let node = FakeNode()
        let source = try Self.log(Self.said(0..<10))
        node.state.withLock { $0.imported[source.fileHash] = 10 }
        let summary = try await Importer(node: node, conversation: "home").run([source])
        #expect(summary.stored == 0 && summary.known == 10)
    }

    @Test("reads the first message behind a byte order mark, and knows the log without it")
    func byteOrderMark() async throws {
        let node = FakeNode()
        let importer = Importer(node: node, conversation: "home")
        let plain = Array("[09:00] <a> one\r\n[09:01] <a> two\r\n".utf8)
        let marked = try ImportSource(name: "2021-03-01.log", bytes: [0xEF, 0xBB, 0xBF] + plain)
        let first = try await importer.run([marked])
        #expect(first.stored == 2 && first.skipped.count == 0)
        let again = try await importer.run([
            try ImportSource(name: "2021-03-01.log", bytes: plain)
        ])
        #expect(again.stored == 0 && again.known == 2)
    }

    @Test("that is stopped goes on where it was, and doubles nothing")
    func resumed() async throws {
        let running = Mutex<Task<ImportSummary, any Error>?>(nil)
        let node = FakeNode()
        node.answer(ImportMessages.self) { state, request in
            defer { if state.batches.count == 2 { running.withLock { $0 }?.cancel() } }
            return try state.take(request)
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
