import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What a revoked device wrote, sent again by two others", .timeLimit(.minutes(4)))
struct SentAgainTests {
    @Test("stands once where they have met, and is said to stand twice where they had not")
    func sentAgain() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann),
            address: "127.0.0.1:\(try FreePort.some())")
        let tablet = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann, named: "tablet"),
            address: "127.0.0.1:\(try FreePort.some())")
        let lost = try await phone.start()
        let other = try await tablet.start()
        let laptop = try #require(await pair.ann.client)
        #expect(try await pair.ben.stop() == 0)
        try await eventually("the tablet knows ben", on: [tablet]) {
            try await other.perform(ListConversations()).contains { $0.name == "ben" }
        }
        try await lost.perform(SetOffline(on: true))
        try await lost.perform(SendMessages(conversation: "ben", texts: ["one", "two"]))
        try await laptop.perform(RevokeDevice(device: "phone"))
        try await lost.perform(SetOffline(on: false))
        try await eventually("the phone knows", on: [phone]) {
            try await lost.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        let shown = try await phone.run("outbox", "--stranded", "--json").output
        let json = try #require(shown.split(separator: "\n").first { $0.hasPrefix("[{") })
        let all = pair.folder.path + "/all.json"
        try Data(json.utf8).write(to: URL(filePath: all))
        let first = pair.folder.path + "/first.json"
        try alone(json).write(to: URL(filePath: first))

        // Both send the first before they meet.
        try await other.perform(SetOffline(on: true))
        for node in [pair.ann, tablet] {
            let sent = try await node.run("send", "ben", "--stranded", first)
            #expect(sent.status == 0 && sent.output.contains("saved 1 message"), "\(sent.output)")
        }
        try await other.perform(SetOffline(on: false))
        try await eventually("they have met", on: [pair.ann, tablet]) {
            let (mine, others) = try await (texts(laptop), texts(other))
            let known = try await laptop.perform(ListSentAgain(conversation: "ben")).count
            return mine == ["one", "one"] && others == mine && known == 2
        }
        // Only what neither has sent is sent now, and what stands twice is named.
        let sent = try await pair.ann.run("send", "ben", "--stranded", all)
        #expect(sent.status == 0 && sent.output.contains("saved 1 message"), "\(sent.output)")
        #expect(sent.output.contains("“one” stands twice"), "\(sent.output)")
        #expect(sent.output.contains("1 message left out: a device of yours"), "\(sent.output)")
        try await eventually("the tablet has it", on: [pair.ann, tablet]) {
            let known = try await other.perform(ListSentAgain(conversation: "ben")).count
            let held = try await texts(other)
            return held.count == 3 && known == 3
        }
        let twice = try await tablet.run("send", "ben", "--stranded", all)
        #expect(twice.status == 1 && twice.output.contains("sent before"), "\(twice.output)")
        #expect(try await texts(other).sorted() == ["one", "one", "two"])
        for node in [pair.ann, tablet, phone] { #expect(try await node.stop() == 0) }
    }

    /// The same file with the first message only.
    private func alone(_ json: Substring) throws -> Data {
        let read = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
        var words = try #require(read)
        let messages = try #require(words[0]["messages"] as? [[String: Any]])
        #expect(messages.count == 2)
        words[0]["messages"] = [messages[0]]
        return try JSONSerialization.data(withJSONObject: words)
    }

    private func texts(_ node: NodeClient) async throws -> [String] {
        try await node.perform(ReadMessages(conversation: "ben", limit: 10)).messages
            .compactMap(\.text)
    }
}
