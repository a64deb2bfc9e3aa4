import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ann and ben are met, and hide: what one hears of the other comes by a relay that holds it, and no link
/// leads from one to the other.
@Suite("A recovery code that was used twice, apart", .serialized, .timeLimit(.minutes(5)))
struct RecoveredTwiceApartTests {
    private func relay(in folder: TemporaryFolder) async throws -> (Program, text: String) {
        let relay = try Program([
            "relay", "run", "--home", folder.home("relay"), "--listen", "127.0.0.1:0",
            "--no-pipes",
        ])
        try await relay.says("Ctrl-C stops the relay")
        let line = relay.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        return (relay, String(try #require(line)))
    }

    /// Both have met and use the relay; ben runs, hidden, and there is a backup of ann, who does not.
    private func apart() async throws -> (ProcessPair, Program) {
        let pair = try await ProcessPair()
        let (relay, text) = try await relay(in: pair.folder)
        for node in [pair.ann, pair.ben] {
            #expect(try await node.run("relays", "add", text).status == 0)
        }
        try await pair.agree(within: 60)
        #expect(try await pair.ann.stop() == 0)
        #expect(try await pair.ben.stop() == 0)
        try await pair.ben.start(isHidden: true)
        try await isAtRelay(pair.ben)
        let backup = pair.folder.path + "/backup"
        #expect(try await pair.ann.run("backup", "create", backup).status == 0)
        try Data(try #require(pair.ann.recoveryCode).utf8)
            .write(to: URL(filePath: pair.folder.path + "/code"))
        return (pair, relay)
    }

    /// A device that is made from the backup, which runs, hidden.
    private func comeBack(_ name: String, _ pair: ProcessPair) async throws -> NodeProcess {
        let path = pair.folder.path
        let node = NodeProcess(home: pair.folder.home(name), address: "")
        let restored = try await node.run(
            "backup", "restore", path + "/backup", "--code-file", path + "/code", "--yes")
        #expect(restored.status == 0, "\(restored.output)")
        try await node.start(isHidden: true)
        try await isAtRelay(node)
        return node
    }

    private func isAtRelay(_ node: NodeProcess) async throws {
        try await eventually("it is at the relay", on: [node]) {
            try await node.client?.perform(ListRelays()).first?.state == "connected"
        }
    }

    /// Once its card named no inbox, for good: no letter came.
    @Test("makes a device that is written to, though nobody has a link to it")
    func letters() async throws {
        let (pair, relay) = try await apart()
        defer { relay.signal(SIGKILL) }
        let ben = try #require(await pair.ben.client)
        let again = try await comeBack("again", pair)
        let ann = try #require(await again.client)
        let device = try await ann.perform(GetStatus()).device
        try await eventually("ben knows the device", on: [pair.ben]) {
            try await ben.perform(GetGroup(conversation: "ann")).members.contains {
                $0.devices.contains(device)
            }
        }
        try await ben.perform(CreateConversation(name: "trip", members: ["ann"]))
        try await eventually("ann is asked into a group", on: [again]) {
            let waiting = try await ann.perform(ListInvitations()).waiting.map(\.name)
            let groups = try await ann.perform(ListConversations()).map(\.name)
            return (waiting + groups).contains("trip")
        }
        for node in [again, pair.ben] { #expect(try await node.stop() == 0) }
    }

    @Test("is named as such to contacts and to its person, who never meet but at a relay")
    func told() async throws {
        let (pair, relay) = try await apart()
        defer { relay.signal(SIGKILL) }
        let ben = try #require(await pair.ben.client)
        let first = try await comeBack("first", pair)
        try await eventually("ben knows the first", on: [pair.ben, first]) {
            try await first.run("send", "ben", "by the first").status == 0
        }
        try await eventually("ben has what the first says", on: [pair.ben]) {
            try await ben.perform(ReadMessages(conversation: "ann", limit: 9)).messages
                .contains { $0.text == "by the first" }
        }
        let device = try #require(try await first.client?.perform(GetStatus()).device)
        #expect(try await ben.perform(GetStatus()).notices.isEmpty)
        #expect(try await first.stop() == 0)
        let second = try await comeBack("second", pair)
        try await eventually("ben is told", on: [pair.ben]) {
            try await ben.perform(GetStatus()).notices.contains {
                $0.hasPrefix("The recovery code of ann was used twice")
            }
        }
        // She hears of it by what ben lays down for her, and can revoke what she does not know.
        try await eventually("she is told", on: [second]) {
            guard let client = await second.client else { return false }
            let devices = try await client.perform(ListDevices())
            return try await client.perform(GetStatus()).notices.contains {
                $0.hasPrefix("Your recovery code was used twice")
            } && devices.contains { $0.device == device }
        }
        // What ben says to all her devices, which some of them know nothing of, reaches this one.
        #expect(try await pair.ben.run("send", "ann", "to all of you").status == 0)
        try await eventually("she has it", on: [second]) {
            try await second.client?.perform(ReadMessages(conversation: "ben", limit: 9)).messages
                .contains { $0.text == "to all of you" } == true
        }
        // What is advised to a contact who does not believe it.
        let told = try await pair.ben.run("status").output
        let blocked = try await Advised.first("contact block", in: told).run(in: pair.folder.path)
        #expect(blocked.status == 0 && blocked.output.contains("blocked"), "\(blocked.output)")
        #expect(try await second.stop() == 0)
        #expect(try await pair.ben.stop() == 0)
    }
}
