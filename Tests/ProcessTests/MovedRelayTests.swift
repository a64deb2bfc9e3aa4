import Foundation
import Parley
import ParleyLocalAPI
import ParleyRelaying
import Testing

/// A relay that ends, and runs again with the same key at another address.
@Suite("A relay that moved", .serialized, .timeLimit(.minutes(5)))
struct MovedRelayTests {
    private func relay(_ home: String, _ address: String) async throws -> (Program, String) {
        let program = try Program([
            "relay", "run", "--home", home, "--listen", address, "--unbounded",
        ])
        try await program.says("Ctrl-C stops the relay")
        let line = program.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        return (program, String(try #require(line)))
    }

    @Test("is named to who waits for its user, and called at once where it is now")
    func moved() async throws {
        let all = try await Neighbours()
        #expect(try await all.cara.stop() == 0)
        try await all.meet(all.ann, all.ben, named: "ben")
        let ann = try await all.client(all.ann)
        let address = "127.0.0.1:\(try FreePort.some())"
        let home = all.folder.path + "/relay"
        let (old, first) = try await relay(home, address)
        #expect(try await all.ben.run("relays", "add", first).status == 0)
        try await eventually("ben uses it", on: [all.ben]) {
            try await all.client(all.ben).perform(ListRelays()).first?.state == "connected"
        }
        #expect(try await !all.ann.run("why", "ben").output.contains("not reached"))
        old.signal(SIGKILL)
        _ = try await old.ended()

        let why = "it is not reached, and ben uses no other"
        try await eventually("ann is told of ben's relay", on: [all.ann]) {
            try await all.ann.run("why", "ben").output.contains(why)
        }
        #expect(try await all.ben.stop() == 0)
        let sent = try await ann.perform(SendMessages(conversation: "ben", texts: ["hello"]))
        let number = try #require(sent.first).number
        try await eventually("and why a message waits", on: [all.ann]) {
            let told = try await all.ann.run("why", "\(number)").output
            return told.contains("relay \(address) (") && told.contains(why)
        }

        let ben = try await all.ben.start()
        try await eventually("ben does not reach it", on: [all.ben]) {
            try await ben.perform(ListRelays()).first?.state == "unreachable"
        }
        let (new, second) = try await relay(home, "127.0.0.1:\(try FreePort.some())")
        let added = try await all.ben.run("relays", "add", second)
        #expect(added.status == 0 && !added.output.contains("unreachable"), "\(added.output)")
        try await eventually("ben reaches it", on: [all.ben]) {
            try await ben.perform(ListRelays()).first?.state == "connected"
        }
        new.signal(SIGTERM)
        #expect(try await new.ended() == 0)
        try await all.end()
    }
}
