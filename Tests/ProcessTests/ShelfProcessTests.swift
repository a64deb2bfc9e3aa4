import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Files between processes that are never there together. Source: `Protocol/13-files.md`, "Shelves".
@Suite("Files at a relay", .serialized, .timeLimit(.minutes(8)))
struct ShelfProcessTests {
    private let place = FileManager.default.temporaryDirectory
        .appending(path: "parley-shelves-\(UUID().uuidString)")

    private func make(_ name: String, _ byteCount: Int) throws -> String {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        var state: UInt64 = 7
        var bytes = Data(capacity: byteCount)
        while bytes.count < byteCount {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            withUnsafeBytes(of: state) { bytes.append(contentsOf: $0) }
        }
        let path = place.appending(path: name).path
        try bytes.prefix(byteCount).write(to: URL(filePath: path))
        return path
    }

    private func run(_ words: [String], at node: NodeProcess) async throws -> String {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
        return program.output
    }

    private func file(_ client: NodeClient) async throws -> (message: String, file: FileView)? {
        guard let entry = try await client.perform(ListFiles()).entries.first,
            let file = entry.message.files.first
        else { return nil }
        return (entry.message.id, file)
    }

    private func why(_ client: NodeClient) async throws -> String {
        guard let id = try await file(client)?.message else { return "" }
        return try await client.perform(ExplainFile(message: MessageReference(id)))
            .joined(separator: "\n")
    }

    @Test func `a file comes to who is never there with its sender, whoever is killed`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: place) }
        let all = try await Hidden()
        try await all.meet()
        #expect(try await all.ben.stop() == 0)
        let source = try make("b.bin", 3_000_000)
        _ = try await run(["send", "ben", "--file", source], at: all.ann)
        var ann = try await all.client(all.ann)
        try await eventually("some of it lies at the relay", on: [all.ann]) {
            try await why(ann).contains(" at 127.0.0.1")
        }
        try await all.ann.kill()
        ann = try await all.ann.start(isHidden: true)
        try await eventually("all of it lies there", on: [all.ann]) {
            try await why(ann).contains("It is at 127.0.0.1")
        }
        #expect(try await why(ann).contains("for 1 device that lacks it."))
        #expect(try await all.ann.stop() == 0)
        var ben = try await all.ben.start(isHidden: true)
        try await eventually("ben has the message", on: [all.ben]) {
            try await file(ben) != nil
        }
        try await all.ben.kill()
        ben = try await all.ben.start(isHidden: true)
        try await eventually("ben has the file", on: [all.ben]) {
            try await file(ben)?.file.state == "here"
        }
        let id = try #require(try await file(ben)).message
        let target = place.appending(path: "out.bin").path
        _ = try await run(["files", "save", id, target], at: all.ben)
        #expect(
            try Data(contentsOf: URL(filePath: target)) == Data(contentsOf: URL(filePath: source)))
        #expect(try await all.ben.stop() == 0)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }
}
