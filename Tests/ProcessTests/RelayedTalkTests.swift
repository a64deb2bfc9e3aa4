import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Two nodes that listen nowhere, so that neither can ever dial the other, and a relay.
struct Hidden {
    let folder: TemporaryFolder
    let relay: Program
    let text: String
    let ann, ben: NodeProcess

    init() async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        relay = try Program(
            ["relay", "run", "--home", folder.home("relay"), "--listen", "127.0.0.1:0"])
        try await relay.says("Ctrl-C stops the relay")
        let line = relay.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        guard let line else { throw Late(description: relay.output) }
        text = String(line)
        ann = try await NodeProcess(home: folder.home("ann"), name: "ann", port: 1)
        ben = try await NodeProcess(home: folder.home("ben"), name: "ben", port: 1)
    }

    func client(_ node: NodeProcess) async throws -> NodeClient {
        guard let client = await node.client else { throw Late(description: "it does not run") }
        return client
    }

    /// Both run, use the relay, and have met through it.
    func meet() async throws {
        for node in [ann, ben] {
            let client = try await node.start(isHidden: true)
            try await client.perform(AddRelay(text: text))
            try await eventually("the relay is reached", on: [node]) {
                try await client.perform(ListRelays()).first?.state == "connected"
            }
        }
        let link = try await client(ann).perform(CreateInvite(hours: 1)).link
        try await client(ben).perform(AcceptInvite(link: link))
        try await eventually("they have met", on: [ann, ben]) {
            let isSeen = try await client(ann).perform(ListConversations()).contains {
                $0.name == "ben"
            }
            let isSeenBack = try await client(ben).perform(ListConversations()).contains {
                $0.name == "ann"
            }
            return isSeen && isSeenBack
        }
    }

    func texts(of node: NodeProcess, with name: String) async throws -> [String] {
        try await client(node).perform(ReadMessages(conversation: name, limit: 100)).messages
            .compactMap(\.text)
    }
}

@Suite("Nodes that cannot reach each other", .serialized, .timeLimit(.minutes(5)))
struct RelayedTalkTests {
    @Test("two who never see each other meet and talk through a relay, at once and in turn")
    func conversation() async throws {
        let all = try await Hidden()
        try await all.meet()
        // Both are there: an ordinary link runs through a pipe, though they met by letters.
        try await eventually("a link runs through the relay", on: [all.ann]) {
            try await all.client(all.ann).perform(GetStatus()).links.contains {
                $0.address.hasPrefix("through ")
            }
        }
        try await all.client(all.ann).perform(
            SendMessages(conversation: "ben", texts: ["are you there?"]))
        try await eventually("ben has it", on: [all.ben]) {
            try await all.texts(of: all.ben, with: "ann") == ["are you there?"]
        }
        // Until she does it waits with what follows.
        try await eventually("ann knows that", on: [all.ann]) {
            try await all.client(all.ann).perform(
                ReadMessages(conversation: "ben", limit: 10)
            ).messages.allSatisfy { $0.state == "delivered" }
        }
        // One is away: what is written waits on the relay, and says so.
        #expect(try await all.ben.stop() == 0)
        try await all.client(all.ann).perform(
            SendMessages(conversation: "ben", texts: ["good night", "see you"]))
        try await eventually("the relay has it", on: [all.ann]) {
            try await all.client(all.ann).perform(ListOutbox()).first?.relayedCount == 2
        }
        #expect(try await all.ann.stop() == 0)
        try await all.ben.start(isHidden: true)
        try await eventually("ben has what ann wrote, who is away now", on: [all.ben]) {
            try await all.texts(of: all.ben, with: "ann").count == 3
        }
        try await all.client(all.ben).perform(
            SendMessages(conversation: "ann", texts: ["good morning"]))
        try await eventually("the relay has the answer", on: [all.ben]) {
            try await all.client(all.ben).perform(ListOutbox()).first?.relayedCount == 1
        }
        #expect(try await all.ben.stop() == 0)
        try await all.ann.start(isHidden: true)
        try await eventually("ann has the answer, and knows what arrived", on: [all.ann]) {
            let page = try await all.client(all.ann).perform(
                ReadMessages(conversation: "ben", limit: 10))
            return page.messages.map(\.text).last == "good morning"
                && page.messages.filter(\.isOwn).allSatisfy { $0.state == "delivered" }
        }
        #expect(try await all.ann.stop() == 0)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
        try await secrecy(of: all)
    }

    @Test("what a relay has in whose place another one answers is not called on a relay")
    func replaced() async throws {
        let all = try await Hidden()
        try await all.meet()
        #expect(try await all.ben.stop() == 0)
        let ann = try await all.client(all.ann)
        try await ann.perform(SendMessages(conversation: "ben", texts: ["good night"]))
        try await eventually("the relay has it", on: [all.ann]) {
            try await ann.perform(ListOutbox()).first?.relayedCount == 1
        }
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
        let place = all.relay.output.split(separator: "\n").first { $0.hasPrefix("listening on ") }
        let address = String(try #require(place).dropFirst("listening on ".count))
        let other = try Program([
            "relay", "run", "--home", all.folder.home("other"), "--listen", address,
        ])
        try await other.says("Ctrl-C stops the relay")
        try await eventually("it is told from the other", on: [all.ann]) {
            try await ann.perform(ListRelays()).first?.state == "mistaken"
        }
        let waiting = try #require(try await ann.perform(ListOutbox()).first)
        #expect(waiting.relayedCount == 0 && waiting.savedCount == 1)
        let page = try await ann.perform(ReadMessages(conversation: "ben", limit: 10))
        #expect(page.messages.last?.state == "saved")
        // The one that was there comes back with all that it has.
        other.signal(SIGTERM)
        #expect(try await other.ended() == 0)
        let relay = try Program([
            "relay", "run", "--home", all.folder.home("relay"), "--listen", address,
        ])
        try await relay.says("Ctrl-C stops the relay")
        try await eventually("it counts again", on: [all.ann]) {
            try await ann.perform(ListOutbox()).first?.relayedCount == 1
        }
        #expect(try await all.ann.stop() == 0)
        relay.signal(SIGTERM)
        #expect(try await relay.ended() == 0)
    }

    /// No file that the relay wrote tells a word, a name, or who talked.
    private func secrecy(of all: Hidden) async throws {
        var secrets = ["are you there?", "good night", "see you", "good morning", "ann", "ben"]
            .map { Array($0.utf8) }.filter { $0.count >= 5 }
        for node in [all.ann, all.ben] {
            let status = try await node.start(isHidden: true).perform(GetStatus())
            for name in [status.person, status.device] {
                secrets.append(Array(name.utf8))
                secrets.append(Self.bytes(ofHex: name))
            }
            #expect(try await node.stop() == 0)
        }
        let home = URL(fileURLWithPath: all.folder.home("relay"))
        let files = try FileManager.default.contentsOfDirectory(
            at: home, includingPropertiesForKeys: nil)
        var byteCount = 0
        for file in files {
            // Directories and the socket hold nothing of their own.
            guard let content = try? Data(contentsOf: file) else { continue }
            byteCount += content.count
            for secret in secrets {
                #expect(content.range(of: Data(secret)) == nil, "\(file.lastPathComponent)")
            }
        }
        #expect(byteCount > 4_096)
    }

    private static func bytes(ofHex text: String) -> [UInt8] {
        let digits = text.utf8.map { UInt8($0 < 0x3a ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

@Suite("A friend who is behind a relay only", .serialized, .timeLimit(.minutes(4)))
struct RelayedRecoveryTests {
    @Test("tells who came back by the recovery code whom it belongs to")
    func recover() async throws {
        let all = try await Hidden()
        try await all.meet()
        let code = all.folder.path + "/code"
        try Data(try #require(all.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        #expect(try await all.ann.stop() == 0)
        let ben = try await all.client(all.ben)
        let invite = try await ben.perform(CreateInvite(hours: 1)).link
        try await eventually("his card lies on the relay", on: [all.ben]) {
            try await ben.perform(ListInvites()).allSatisfy { !$0.isWaitingForRelay }
        }
        let again = NodeProcess(home: all.folder.home("again"), address: "127.0.0.1:1")
        let recovered = try await again.run(
            "recover", "--code-file", code, "--from", invite, "--yes")
        #expect(recovered.status == 0, "\(recovered.output)")
        #expect(recovered.output.contains("ann"), "\(recovered.output)")
        let client = try await again.start(isHidden: true)
        try await eventually("they talk again", on: [again, all.ben]) {
            try await client.perform(ListContacts()).map(\.name) == ["ben"]
        }
        for node in [again, all.ben] { #expect(try await node.stop() == 0) }
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }
}
