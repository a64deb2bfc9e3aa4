import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ann with a laptop and a phone, and ben, who meet through a relay alone.
@Suite("What a revoked device wrote", .serialized, .timeLimit(.minutes(5)))
struct RevokedWordsTests {
    /// All three know each other and the relay, and run hidden.
    private struct Apart {
        let relay: Program
        let pair: ProcessPair
        let phone: NodeProcess

        init() async throws {
            let folder = try TemporaryFolder()
            relay = try Program([
                "relay", "run", "--home", folder.home("relay"), "--listen", "127.0.0.1:0",
                "--no-pipes",
            ])
            try await relay.says("Ctrl-C stops the relay")
            let line = relay.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
            let text = String(try #require(line))
            pair = try await ProcessPair()
            for node in [pair.ann, pair.ben] {
                _ = try await node.client?.perform(AddRelay(text: text))
            }
            phone = NodeProcess(
                home: try await pair.linkPhone(to: pair.ann),
                address: "127.0.0.1:\(try FreePort.some())")
            let client = try await phone.start()
            try await client.perform(SendMessages(conversation: "ben", texts: ["from the phone"]))
            let all = [pair.ann, pair.ben, phone]
            try await eventually("all three have the same", on: all) {
                var digests: Set<Set<String>> = []
                for node in all {
                    guard let client = await node.client else { return false }
                    digests.insert(Set(try await client.perform(ListDigests()).map(\.digest)))
                    if try await client.perform(GetStatus()).pendingCount > 0 { return false }
                }
                return digests.count == 1
            }
            for node in all {
                #expect(try await node.stop() == 0)
                try await node.start(isHidden: true)
            }
            try await eventually("all are at the relay", on: all) {
                for node in all {
                    let state = try await node.client?.perform(ListRelays()).first?.state
                    if state != "connected" { return false }
                }
                return true
            }
        }

        func end(_ nodes: NodeProcess...) async throws {
            for node in nodes { #expect(try await node.stop() == 0) }
            relay.signal(SIGKILL)
        }
    }

    @Test("stays where others have it, though the device that revokes it was away")
    func read() async throws {
        let all = try await Apart()
        let (ann, ben, phone) = (all.pair.ann, all.pair.ben, all.phone)
        #expect(try await ann.stop() == 0)
        #expect(try await phone.run("send", "ben", "meet me at six").status == 0)
        try await eventually("it arrives", on: [ben, phone]) {
            let page = try await phone.client?.perform(
                ReadMessages(conversation: "ben", limit: 9))
            return page?.messages.last?.state == "delivered"
        }
        #expect(try await phone.stop() == 0)
        let revoked = try await ann.run("device", "revoke", "phone")
        #expect(
            revoked.status == 0 && !revoked.output.contains("nobody was reached"),
            "\(revoked.output)")
        let read = try await ann.run("read", "ben", "--newest").output
        #expect(read.contains("meet me at six"), "\(read)")
        try await ann.start(isHidden: true)
        try await eventually("ben hears of it", on: [ann, ben]) {
            let people = try await ben.client?.perform(GetGroup(conversation: "ann")).members
            return people?.allSatisfy { $0.devices.count == 1 } == true
        }
        let shown = try await ben.run("read", "ann", "--newest").output
        #expect(
            shown.contains("meet me at six") && !shown.contains("not shown, because"), "\(shown)")
        try await all.end(ann, ben)
    }

    @Test("and nobody else has, that device keeps, counts and gives out for another one")
    func alone() async throws {
        let all = try await Apart()
        let (ann, ben, phone) = (all.pair.ann, all.pair.ben, all.phone)
        #expect(try await phone.run("offline", "on").status == 0)
        #expect(try await phone.run("send", "ben", "only here").status == 0)
        #expect(try await ann.run("device", "revoke", "phone", "--now").status == 0)
        try await eventually("ben hears of it", on: [ann, ben]) {
            let people = try await ben.client?.perform(GetGroup(conversation: "ann")).members
            return people?.allSatisfy { $0.devices.count == 1 } == true
        }
        #expect(try await phone.run("offline", "off").status == 0)
        try await eventually("the phone knows", on: [phone]) {
            try await phone.client?.perform(GetStatus()).readOnlyReason?.contains("revoked")
                == true
        }
        // Which of its two news comes first, that it was revoked or that it is out of the conversation, decides
        // what it says, not whether.
        let outbox = try await phone.run("outbox").output
        let read = try await phone.run("read", "ben", "--newest").output
        #expect(outbox.contains("ben  1 may have arrived or not\n"), "\(outbox)\(read)")
        #expect(read.contains("only here") && !read.contains("not shown, because"), "\(read)")
        let stranded = try await phone.run("outbox", "--stranded").output
        #expect(stranded.contains("only here"), "\(stranded)")
        let said = all.pair.folder.path + "/said.json"
        let json = try await phone.run("outbox", "--stranded", "--json").output
        let line = try #require(json.split(separator: "\n").first { $0.hasPrefix("[{") })
        try Data(line.utf8).write(to: URL(filePath: said))
        let again = try await ann.run("send", "ben", "--stranded", said)
        #expect(again.status == 0 && again.output.contains("saved 1 message"), "\(again.output)")
        try await all.end(ann, ben, phone)
    }

    @Test("a node that reaches nobody any more says so, though it has run and heard of others")
    func reachedBefore() async throws {
        let pair = try await ProcessPair()
        let phone = NodeProcess(
            home: try await pair.linkPhone(to: pair.ann),
            address: "127.0.0.1:\(try FreePort.some())")
        _ = try await phone.start()
        try await eventually("ann has heard of it", on: [pair.ann, phone]) {
            try await pair.ann.client?.perform(GetStatus()).receivedByteCount ?? 0 > 0
        }
        #expect(try await phone.stop() == 0)
        #expect(try await pair.ben.stop() == 0)
        try await eventually("nobody is linked", on: [pair.ann]) {
            try await pair.ann.client?.perform(GetStatus()).links.isEmpty == true
        }
        let revoked = try await pair.ann.run(["device", "revoke", "phone"])
        #expect(
            revoked.status == 0 && revoked.output.contains("nobody was reached"),
            "\(revoked.output)")
        #expect(try await pair.ann.stop() == 0)
    }
}
