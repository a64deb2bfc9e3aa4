import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What a revoked device changed, and its files", .timeLimit(.minutes(4)))
struct StrandedDeedsTests {
    /// Once an edit was said to have arrived, nobody heard of deletions and reactions, and a file without
    /// words kept back all messages.
    @Test("are named one by one where the rest is sent again")
    func named() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann),
            address: "127.0.0.1:\(try FreePort.some())")
        let lost = try await phone.start()
        let laptop = try #require(await pair.ann.client)
        #expect(try await pair.ben.stop() == 0)
        try await lost.perform(
            SendMessages(
                conversation: "ben", texts: ["meet at fve", "dinner", "a slip", "to be kept"]))
        try await eventually("the laptop has them", on: [pair.ann, phone]) {
            try await page(laptop).count == 4
        }
        let ids = try await page(lost).map(\.id)
        try await lost.perform(SetOffline(on: true))
        try await change(ids, at: phone, in: pair.folder.path)
        try await laptop.perform(RevokeDevice(device: "phone"))
        try await lost.perform(SetOffline(on: false))
        try await eventually("the phone knows", on: [phone]) {
            try await lost.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        let shown = try await phone.run("outbox", "--stranded").output
        for line in ["meet at five", "reaction: 👍 to “dinner”", "deletion of a message"] {
            #expect(shown.contains(line), "\(shown)")
        }
        let json = try await phone.run("outbox", "--stranded", "--json").output
        let line = try #require(json.split(separator: "\n").first { $0.hasPrefix("[{") })
        let said = pair.folder.path + "/said.json"
        try Data(line.utf8).write(to: URL(filePath: said))
        let sent = try await pair.ann.run("send", "ben", "--stranded", said)
        #expect(sent.status == 0 && sent.output.contains("saved 2 messages"), "\(sent.output)")
        for line in [
            "please do this again: edit of “meet at fve”: meet at five",
            "please do this again: deletion of a message: “a slip”",
            "please do this again: reaction: 👍 to “dinner”",
            "left out, please send again: file pic.bin",
            "“the map” goes without its file, please send it again: map.bin",
            "“gladly” goes as no answer: it answered “dinner”",
        ] {
            #expect(sent.output.contains(line), "\(sent.output)")
        }
        #expect(
            try await page(laptop).compactMap(\.text)
                == ["meet at fve", "dinner", "a slip", "to be kept", "the map", "gladly"])
        // Once that is done, nothing is said of it.
        for words in [["edit", ids[0], "meet at five"], ["delete", ids[2]]] {
            try await run(words, at: pair.ann)
        }
        let twice = try await pair.ann.run("send", "ben", "--stranded", said)
        #expect(twice.status == 1 && twice.output.contains("sent before"), "\(twice.output)")
        #expect(!twice.output.contains("edit of"), "\(twice.output)")
        #expect(!twice.output.contains("deletion of"), "\(twice.output)")
        for node in [pair.ann, phone] { #expect(try await node.stop() == 0) }
    }

    /// An edit, a reaction, a deletion, files and an answer.
    private func change(
        _ ids: [String], at phone: NodeProcess, in folder: String
    ) async throws {
        let (alone, along) = (folder + "/pic.bin", folder + "/map.bin")
        for path in [alone, along] {
            try Data(repeating: 7, count: 5_000).write(to: URL(filePath: path))
        }
        for words in [
            ["edit", ids[0], "meet at five"], ["react", ids[1], "👍"], ["delete", ids[2]],
            ["send", "ben", "--file", alone], ["send", "ben", "the map", "--file", along],
            ["reply", "ben", ids[1], "gladly"],
        ] {
            try await run(words, at: phone)
        }
    }

    private func run(_ words: [String], at node: NodeProcess) async throws {
        let program = try Program(words + ["--home", node.home])
        #expect(try await program.ended() == 0, "\(words): \(program.output)")
    }

    private func page(_ node: NodeClient) async throws -> [MessageView] {
        try await node.perform(ReadMessages(conversation: "ben", limit: 20)).messages
    }
}
