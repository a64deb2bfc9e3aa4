import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What a message carries beside its words", .timeLimit(.minutes(4)))
struct StrandedMarksTests {
    /// Once whoever was mentioned did not hear of it, and words of others became one's own.
    @Test("goes with it where another device sends it again")
    func kept() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann),
            address: "127.0.0.1:\(try FreePort.some())")
        let lost = try await phone.start()
        let (laptop, ben) = (
            try #require(await pair.ann.client), try #require(await pair.ben.client)
        )
        try await ben.perform(SendMessages(conversation: "ann", texts: ["hey, all"]))
        try await eventually("the phone has it", on: [phone]) {
            guard try await lost.perform(ListConversations()).contains(where: { $0.name == "ben" })
            else { return false }
            return try await page(lost, "ben").compactMap(\.text) == ["hey, all"]
        }
        let first = try #require(try await page(lost, "ben").first?.id)
        try await lost.perform(SetOffline(on: true))
        for words in [["send", "ben", "U1 @ben and @everyone hear"], ["forward", first, "ben"]] {
            let program = try Program(words + ["--home", phone.home])
            #expect(try await program.ended() == 0, "\(words): \(program.output)")
        }
        try await laptop.perform(RevokeDevice(device: "phone"))
        try await lost.perform(SetOffline(on: false))
        try await eventually("the phone knows", on: [phone]) {
            try await lost.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        let id = try #require(try await lost.perform(ListConversations()).first).id
        let why = try await phone.run("why", id).output
        #expect(why.contains("revoked: it learns no more of this conversation"), "\(why)")
        let held = try await pair.ann.run("why", id).output
        #expect(held.contains("began") && !held.contains("learns no more"), "\(held)")
        let shown = try await phone.run("outbox", "--stranded").output
        #expect(shown.contains("(forwarded from ben)"), "\(shown)")
        let json = try await phone.run("outbox", "--stranded", "--json").output
        let line = try #require(json.split(separator: "\n").first { $0.hasPrefix("[{") })
        let said = pair.folder.path + "/said.json"
        try Data(line.utf8).write(to: URL(filePath: said))
        let sent = try await pair.ann.run("send", "ben", "--stranded", said)
        #expect(sent.status == 0 && sent.output.contains("saved 2 messages"), "\(sent.output)")
        try await eventually("ben has both", on: [pair.ben]) {
            try await page(ben, "ann").count == 3
        }
        let copies = try await page(ben, "ann").suffix(2)
        #expect(copies.compactMap(\.text) == ["U1 @ben and @everyone hear", "hey, all"])
        #expect(copies.first?.mentions.map(\.name) == ["ben"])
        #expect(copies.first?.mentions.first?.start == 3)
        #expect(copies.first?.mentionsEveryone == true && copies.first?.mentionsMe == true)
        #expect(copies.last?.forwardedFrom == "ben")
        for node in [pair.ann, pair.ben, phone] { #expect(try await node.stop() == 0) }
    }

    private func page(_ node: NodeClient, _ conversation: String) async throws -> [MessageView] {
        try await node.perform(ReadMessages(conversation: conversation, limit: 20)).messages
    }
}
