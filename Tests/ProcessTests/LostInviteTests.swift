import Foundation
import Parley
import ParleyLocalAPI
import ParleyRelaying
import Testing

@testable import RelayServerTests

/// A relay that open invites name, which is made anew: it has another key then.
@Suite("Invites whose relay is gone", .serialized, .timeLimit(.minutes(5)))
struct LostInviteTests {
    private func relay(_ home: String, _ address: String) async throws -> (Program, String) {
        let program = try Program([
            "relay", "run", "--home", home, "--listen", address, "--unbounded",
        ])
        try await program.says("Ctrl-C stops the relay")
        let line = program.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        return (program, String(try #require(line)))
    }

    @Test("say so to who made them and to who took them, with what to do")
    func madeAnew() async throws {
        let all = try await Neighbours()
        let ann = try await all.client(all.ann)
        let address = "127.0.0.1:\(try FreePort.some())"
        let (old, first) = try await relay(all.folder.path + "/old", address)
        #expect(try await all.ann.run("relays", "add", first).status == 0)
        try await eventually("her card can lie there", on: [all.ann]) {
            try await ann.perform(ListRelays()).first?.state == "connected"
        }
        let link = try await ann.perform(CreateInvite(uses: 3, hours: 1)).link
        #expect(try await !all.ann.run("invite", "list").output.contains("leads nowhere"))
        old.signal(SIGKILL)
        _ = try await old.ended()
        let (new, second) = try await relay(all.folder.path + "/new", address)

        #expect(try await all.cara.run("accept", link, "--alias", "Ann").status == 0)
        try await eventually("cara hears why nothing comes", on: [all.cara]) {
            try await all.cara.run("outbox").output.contains("does not have the key of the relay")
        }
        let status = try await all.cara.run("status").output
        #expect(status.contains("The invite of Ann that you accepted names a relay"), "\(status)")
        #expect(status.contains("Ask for another one, and accept that."), "\(status)")

        try await eventually("ann knows it", on: [all.ann]) {
            try await all.ann.run("invite", "list").output.contains("answers without its key")
        }
        let warned = try await all.ann.run("status").output
        #expect(warned.contains("1 open invite names a relay that is no longer used"), "\(warned)")
        let moved = try await all.ann.run("relays", "move", address, second)
        #expect(
            moved.status == 0 && moved.output.contains("1 open invite names"), "\(moved.output)")

        // As it is told.
        try await eventually("her card can lie on the new one", on: [all.ann]) {
            try await ann.perform(ListRelays()).contains {
                $0.until == nil && $0.state == "connected"
            }
        }
        let other = try await ann.perform(CreateInvite(hours: 1))
        let taken = try await all.cara.run("accept", other.link, "--alias", "Ann")
        #expect(taken.status == 0, "\(taken.output)")
        try await eventually("they are contacts", on: [all.ann, all.cara]) {
            try await all.state(of: "cara", for: all.ann) == "accepted"
        }
        #expect(try await !all.cara.run("status").output.contains("names a relay"))

        let third = try await ann.perform(CreateInvite(hours: 1))
        #expect(third.relayState == nil)
        let used = try #require(third.relayKey)
        let removed = try await all.ann.run("relays", "remove", String(used.prefix(12)))
        #expect(removed.output.contains("2 open invites name"), "\(removed.output)")
        let listed = try await all.ann.run("invite", "list").output
        #expect(listed.contains("leads nowhere: its relay is no longer used"), "\(listed)")
        #expect(!listed.contains("card not known to be on the relay yet"), "\(listed)")
        new.signal(SIGTERM)
        #expect(try await new.ended() == 0)
        try await all.end()
    }
}
