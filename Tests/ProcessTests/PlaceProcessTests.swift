import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("What happened to members, in processes", .serialized, .timeLimit(.minutes(3)))
struct PlaceProcessTests {
    /// Pages once took what is no older than their first message: one whose clock was behind brought all
    /// that had happened since onto its page.
    @Test("stands on the page on which it stands in the whole")
    func pages() async throws {
        let clock = try SetClock()
        let all = try await Neighbours(ofBen: clock)
        try await all.meet(all.ben, all.ann, named: "ann")
        let ben = try await all.client(all.ben)
        try await ben.perform(CreateConversation(name: "club", members: ["ann"]))
        try await ben.perform(SetMemberRole(conversation: "club", person: "ann", role: .admin))
        for (text, ahead) in [
            ("one", 0), ("two", 0), ("behind", -365 * 86_400), ("three", 0), ("four", 0),
        ] {
            try clock.set(ahead: ahead)
            try await ben.perform(SendMessages(conversation: "club", texts: [text]))
        }
        let note = "ben made ann admin"
        let whole = try await all.ben.run("read", "club", "--newest").output
        let above = try #require(whole.range(of: note))
        #expect(above.upperBound < (try #require(whole.range(of: "one"))).lowerBound, "\(whole)")
        let page = try await all.ben.run("read", "club", "--newest", "--limit", "3").output
        #expect(page.contains("behind") && !page.contains(note), "\(page)")
        let cursor = try #require(
            try await ben.perform(ReadMessages(conversation: "club", limit: 3)).cursor)
        let first = try await all.ben.run("read", "club", "--before", cursor).output
        #expect(first.contains("one") && first.contains(note), "\(first)")
        try await all.end()
    }
}
