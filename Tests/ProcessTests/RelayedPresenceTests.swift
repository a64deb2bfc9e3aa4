import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("Who is there, through a relay that joins nobody", .timeLimit(.minutes(5)))
struct RelayedPresenceTests {
    @Test("is seen by who shares nothing but the relay, and ends when a node is shut down")
    func presence() async throws {
        let folder = try TemporaryFolder()
        let relay = try Program([
            "relay", "run", "--home", folder.home("relay"), "--listen", "127.0.0.1:0", "--no-pipes",
        ])
        defer { relay.signal(SIGKILL) }
        try await relay.says("Ctrl-C stops the relay")
        let line = relay.output.split(separator: "\n").first { $0.hasPrefix("parley-relay:") }
        let text = String(try #require(line))
        let pair = try await ProcessPair()
        for node in [pair.ann, pair.ben] {
            _ = try await node.client?.perform(AddRelay(text: text))
        }
        try await eventually("each has the other's card", on: [pair.ann, pair.ben]) {
            let states = try await (
                pair.ann.client?.perform(GetStatus()), pair.ben.client?.perform(GetStatus())
            )
            return states.0?.links.count == 1 && states.0?.pendingCount == 0
                && states.1?.pendingCount == 0
        }
        for node in [pair.ann, pair.ben] {
            #expect(try await node.stop() == 0)
            try await node.start(isHidden: true)
        }
        let ann = try #require(await pair.ann.client)
        let ben = try #require(await pair.ben.client)
        try await eventually("both are at the relay", on: [pair.ann, pair.ben]) {
            let states = try await (
                ann.perform(ListRelays()).first?.state, ben.perform(ListRelays()).first?.state
            )
            return states == ("connected", "connected")
        }
        try await ann.perform(SetPresence(presence: "online"))
        try await ben.perform(SetPresence(presence: "away"))
        try await eventually("each sees the other", on: [pair.ann, pair.ben]) {
            let seen = try await (
                ann.perform(ListPresences()).people, ben.perform(ListPresences()).people
            )
            return seen.0.map(\.presence) == ["away"] && seen.1.map(\.presence) == ["online"]
        }
        #expect(try await ann.perform(GetStatus()).links.isEmpty)
        #expect(try await pair.ben.stop() == 0)
        // A word would hold for ten minutes.
        try await eventually("ben has gone", on: [pair.ann], within: 120) {
            try await ann.perform(ListPresences()).people.map(\.presence) == ["offline"]
        }
    }
}
