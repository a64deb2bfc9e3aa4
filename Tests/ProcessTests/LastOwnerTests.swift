import Foundation
import Parley
import ParleyLocalAPI
import Testing

@Suite("The last owner of a group", .serialized, .timeLimit(.minutes(3)))
struct LastOwnerTests {
    /// The commands that a text advises, without the program's name.
    private func advised(_ text: String) -> [[String]] {
        text.replacing("\n", with: " ").matches(of: /`parley ([^`]+)`/).map {
            $0.1.split(separator: " ").map(String.init)
        }
    }

    @Test("is told whose word keeps somebody beside them, and goes by the way that is named")
    func stuck() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.meet(all.ann, all.cara, named: "cara")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ann.perform(CreateConversation(name: "club", members: ["ben", "cara"]))
        let cara = try await all.client(all.cara)
        try await eventually("both have accepted", on: [all.ann]) {
            try await ann.perform(GetGroup(conversation: "club")).members.allSatisfy {
                !$0.isInvited
            }
        }
        try await ann.perform(SetMemberRole(conversation: "club", person: "cara", role: .admin))
        try await ann.perform(SetMemberRole(conversation: "club", person: "ben", role: .owner))
        try await eventually("ben is an owner", on: [all.ben]) {
            (try? await ben.perform(GetGroup(conversation: "club")).members.filter {
                $0.role == "owner"
            }.count) == 2
        }
        // Her card may come later: until then she answers to her identifier alone.
        let hers = String(try await cara.perform(GetStatus()).person.prefix(12))
        let early = try await all.ben.run("group", "remove", "club", hers)
        #expect(
            early.output.contains(
                "made admin by ann, who has a higher rank than you"), "\(early.output)")
        #expect(early.output.contains("ann can change that"), "\(early.output)")
        // With her goes who made them known to each other.
        try await eventually("ben and cara have met", on: [all.ben, all.cara]) {
            let theirs = try await cara.perform(GetGroup(conversation: "club")).members
            return try await ben.perform(GetGroup(conversation: "club")).members.allSatisfy {
                $0.isSelf || $0.isLinked
            }
                && theirs.allSatisfy { $0.isSelf || $0.isLinked }
        }
        try await ann.perform(LeaveGroup(conversation: "club"))
        try await eventually("ann is out", on: [all.ben]) {
            try await all.members(of: "club", on: all.ben) == ["ben", "cara"]
        }

        for words in [["remove", "club", hers], ["role", "club", hers, "owner"]] {
            let program = try Program(["group"] + words + ["--home", all.ben.home])
            #expect(try await program.ended() == 1)
            let said = program.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(said.contains("made admin by ann, who had a higher rank than you"), "\(said)")
            #expect(said.contains("No member can change that"), "\(said)")
        }
        let refused = try await all.ben.run("group", "leave", "club")
        #expect(refused.status == 1 && refused.output.contains("--role owner"), "\(refused.output)")
        let way = try #require(advised(refused.output).first { $0.contains("--anyway") })
        let gone = try Program(way)
        #expect(try await gone.ended() == 0, "\(way): \(gone.output)")
        try await eventually("cara is there alone", on: [all.cara]) {
            try await cara.perform(GetGroup(conversation: "club")).members.map(\.name) == ["cara"]
        }
        #expect(try await all.ben.run("conversations", "delete", "club").status == 0)
        try await all.end()
    }

    @Test("stays until an owner who was only invited has accepted")
    func invited() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        let (ann, ben) = (try await all.client(all.ann), try await all.client(all.ben))
        try await ben.perform(SetAdditionPolicy(policy: .nobody))
        try await ann.perform(CreateConversation(name: "club", members: []))
        try await ann.perform(AddGroupMember(conversation: "club", person: "ben", role: .owner))
        let refused = try await all.ann.run("group", "leave", "club")
        #expect(refused.status == 1, "\(refused.output)")
        #expect(
            refused.output.contains("ben was invited as an owner and has not accepted"),
            "\(refused.output)")
        try await eventually("ben is asked", on: [all.ben]) {
            try await !ben.perform(ListInvitations()).waiting.isEmpty
        }
        try await ben.perform(AnswerInvitation(conversation: "club", accepting: true))
        try await eventually("ben is in", on: [all.ann]) {
            try await ann.perform(GetGroup(conversation: "club")).members.allSatisfy {
                !$0.isInvited
            }
        }
        let gone = try await all.ann.run("group", "leave", "club")
        #expect(gone.status == 0, "\(gone.output)")
        try await all.end()
    }
}
