import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Screens that were once asked in a state in which what they said was not true.
@Suite("What is shown is so", .serialized, .timeLimit(.minutes(4)))
struct TrueWordsProcessTests {
    @Test("relays are not connecting where no node runs, or where it is cut off")
    func idleRelays() async throws {
        let all = try await Hidden()
        let added = try await all.ann.run("relays", "add", all.text)
        let home = all.ann.home
        let idle = "no node runs, so nothing is connected: parley run --home \(home)\n"
        let listed = try await all.ann.run("relays", "list")
        for shown in [added, listed] {
            #expect(shown.status == 0)
            #expect(shown.output.contains("  not connected\n"), "\(shown.output)")
            #expect(shown.output.contains(idle) && !shown.output.contains("connecting"))
        }
        #expect(try await all.ann.run("relays", "--json").output.contains(#""state":"idle""#))

        let ann = try await all.ann.start(isHidden: true)
        try await eventually("the relay is reached", on: [all.ann]) {
            try await ann.relays().first?.state == "connected"
        }
        #expect(try await all.ann.run("offline", "on").status == 0)
        let cut = try await all.ann.run("relays").output
        let end = "this node is cut off: parley offline --home \(home) off ends that\n"
        #expect(cut.contains("  not connected\n") && cut.contains(end), "\(cut)")
        #expect(try await all.ann.run("offline", "off").status == 0)
        try await eventually("the relay is reached again", on: [all.ann]) {
            try await ann.relays().first?.state == "connected"
        }
        #expect(try await !all.ann.run("relays").output.contains("cut off"))
        #expect(try await all.ann.stop() == 0)
        all.relay.signal(SIGTERM)
        #expect(try await all.relay.ended() == 0)
    }
}
