import Foundation
import ParleyLocalAPI
import ParleyNodeCore
import ParleyStorage
import ParleyWire
import Testing

@testable import Parley

/// What a person set holds when the program or the device is another.
@Suite("Settings of a person", .serialized, .timeLimit(.minutes(3)))
struct SettingsProcessTests {
    private func run(_ words: String..., at home: String) async throws -> (
        status: Int32, output: String
    ) {
        let program = try Program(words + ["--home", home])
        return (try await program.ended(), program.output)
    }

    /// Presence and servers lay in the node's own table, each device's for itself.
    @Test("what an earlier program kept on one device is taken over, and its rows go")
    func former() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ben = try await #require(bytes(hex: all.client(all.ben).perform(GetStatus()).person))
        #expect(try await all.ann.stop() == 0)
        let home = all.ann.home
        let presence = Array("presence".utf8)
        let calls = """
            {"program":["/bin/true","-x"],"servers":[{"address":"turn:t.example:3478","secret":"north"},\
            {"address":"turn:u.example:3478","name":"ann","password":"south"},{"address":"no server"}]}
            """
        let rows: [[UInt8]: [UInt8]] = [
            presence: [2], presence + ben: [0],
            // Who is no contact any more.
            presence + [UInt8](repeating: 7, count: 32): [1],
            Array("calls".utf8): Array(calls.utf8),
            Array("links".utf8): Array(#"{"isOn":true}"#.utf8),
        ]
        try await write(rows, into: home)
        try await all.ann.start()
        let told = try await run("presence", at: home).output.split(separator: "\n")
        #expect(told.first?.contains("told nothing") == true, "\(told)")
        #expect(told.last?.hasPrefix("ben ") == true && told.last?.hasSuffix("told all") == true)
        let servers = try await run("calls", "turn", "list", at: home).output
        #expect(servers.contains("turn:t.example:3478  shares a secret"), "\(servers)")
        #expect(servers.contains("turn:u.example:3478  has a password for  ann"), "\(servers)")
        #expect(try await run("calls", "media", at: home).output.contains("/bin/true -x"))
        #expect(try await run("link-previews", at: home).output.contains("are on"))
        // It stays as it is set from now on: no row comes back.
        #expect(try await run("link-previews", "off", at: home).output.contains("are off"))
        #expect(try await run("presence", "tell", "now", at: home).status == 0)
        #expect(
            try await run("calls", "turn", "remove", "turn:t.example:3478", at: home).status == 0)
        #expect(try await all.ann.stop() == 0)
        let left = try await read(from: home)
        #expect(!left.keys.contains { $0.starts(with: presence) })
        #expect(left[Array("links".utf8)] == nil)
        let settings = String(decoding: left[Array("calls".utf8)] ?? [], as: UTF8.self)
        #expect(settings.contains("true") && !settings.contains("servers"))
        try await all.ann.start()
        #expect(try await run("presence", at: home).output.contains("told now only"))
        #expect(try await !run("calls", "turn", "list", at: home).output.contains("t.example"))
        #expect(try await run("link-previews", at: home).output.contains("are off"))
        // Another device had them on and comes later to this: no holds, which tells no site anything.
        #expect(try await all.ann.stop() == 0)
        try await write([Array("links".utf8): Array(#"{"isOn":true}"#.utf8)], into: home)
        try await all.ann.start()
        #expect(try await run("link-previews", at: home).output.contains("are off"))
        try await all.end()
    }

    /// Opens a home in this process, and writes into the node's own table.
    private func write(_ rows: [[UInt8]: [UInt8]], into home: String) async throws {
        let node = try await Node.open(NodeSettings(home: home))
        try await node.running.write { store in
            try store.transact(.full) {
                for (key, value) in rows { try store.setValue(value, .profile, key) }
            }
        }
        await node.shutdown()
    }

    private func read(from home: String) async throws -> [[UInt8]: [UInt8]] {
        let node = try await Node.open(NodeSettings(home: home))
        let rows = try await node.running.read { views in
            Dictionary(
                uniqueKeysWithValues: try views.store.values(.profile).map { ($0.key, $0.value) })
        }
        await node.shutdown()
        return rows
    }

    @Test("a device that the recovery code alone made tells nobody that one is there, and says so")
    func recovered() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let ben = try await all.client(all.ben)
        try await eventually("ben has her card", on: [all.ben]) {
            try await ben.perform(ListContacts()).contains {
                $0.name == "ann" && $0.state == "accepted"
            }
        }
        try await all.ann.kill()
        let code = all.folder.home("code")
        try #require(all.ann.recoveryCode).write(toFile: code, atomically: true, encoding: .utf8)
        let link = try await ben.perform(CreateInvite(hours: 1)).link
        let home = all.folder.home("again")
        let made = try await run(
            "recover", "--from", link, "--code-file", code, "--yes", at: home)
        #expect(made.status == 0, "\(made.output)")
        #expect(made.output.contains("nobody sees whether you are online"), "\(made.output)")
        #expect(made.output.contains("parley presence tell --home \(home) everything"))
        let again = NodeProcess(home: home, address: "127.0.0.1:\(try FreePort.some())")
        let client = try await again.start()
        try await eventually("they have met again", on: [again]) {
            try await client.perform(ListContacts()).contains { $0.name == "ben" && $0.isLinked }
        }
        #expect(try await run("presence", "set", "online", at: home).status == 0)
        #expect(try await client.perform(ListPresences()).told == "nothing")
        #expect(try await run("presence", at: home).output.contains("told nothing"))
        #expect(try await ben.perform(ListPresences()).people.map(\.presence) == ["offline"])
        let said = try await run("presence", "tell", "everything", at: home)
        #expect(said.status == 0)
        try await eventually("ben sees that she is there", on: [again, all.ben]) {
            try await ben.perform(ListPresences()).people.map(\.presence) == ["online"]
        }
        // The device that was lost is found: it hears that it is revoked, and whose it was.
        let old = try await all.ann.start()
        try await eventually("it knows", on: [all.ann, all.ben]) {
            try await old.perform(GetStatus()).readOnlyReason?.contains("revoked") == true
        }
        #expect(try await old.perform(GetStatus()).name == "ann")
        #expect(try await all.ann.stop() == 0)
        #expect(try await all.ann.start().perform(GetStatus()).name == "ann")
        #expect(try await again.stop() == 0)
        try await all.end()
    }
}
