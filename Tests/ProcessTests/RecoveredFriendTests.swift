import Foundation
import Parley
import ParleyLocalAPI
import Testing

/// Ann has lost everything, and came back by her recovery code with what ben knows. Cara is a contact
/// of hers still, and ann does not know it.
@Suite("A friend of somebody who came back", .serialized, .timeLimit(.minutes(4)))
struct RecoveredFriendTests {
    /// Returns ann's new device, and the conversations with her that there were.
    private func comeBack(
        _ all: Neighbours, haveMet: Bool = false
    ) async throws -> (NodeProcess, [(NodeProcess, String)]) {
        if !haveMet {
            try await all.meet(all.ann, all.ben, named: "ben")
            try await all.meet(all.ann, all.cara, named: "cara")
        }
        #expect(try await all.ann.run("send", "cara", "hi").status == 0)
        try await eventually("cara has it", on: [all.cara]) {
            try await all.texts("ann", of: all.cara) == ["hi"]
        }
        var before: [(NodeProcess, String)] = []
        for node in [all.ben, all.cara] {
            before.append(
                (node, try await all.client(node).perform(GetConversation(conversation: "ann")).id))
        }
        #expect(try await all.ann.stop() == 0)
        let code = all.folder.path + "/code"
        try Data(try #require(all.ann.recoveryCode).utf8).write(to: URL(filePath: code))
        let invite = try await all.client(all.ben).perform(CreateInvite(hours: 1)).link
        let again = NodeProcess(
            home: all.folder.home("again"), address: "127.0.0.1:\(try FreePort.some())")
        let recovered = try await again.run(
            "recover", "--code-file", code, "--from", invite, "--yes")
        #expect(recovered.status == 0, "\(recovered.output)")
        try await again.start()
        return (again, before)
    }

    @Test("gets in by a new invite or card, and what waited arrives", arguments: [true, false])
    func anew(isInvite: Bool) async throws {
        let all = try await Neighbours()
        let (again, before) = try await comeBack(all)
        let ann = try await all.client(again)
        #expect(try await all.cara.run("send", "ann", "are you there").status == 0)
        if isInvite {
            let invite = try await ann.perform(CreateInvite(hours: 1)).link
            #expect(try await all.cara.run("accept", invite).status == 0)
        } else {
            let card = try await ann.perform(GetCard()).text
            #expect(try await all.cara.run("contact", "request", card).status == 0)
            try await eventually("ann is asked", on: [again]) {
                try await ann.perform(ListContacts()).contains {
                    $0.name == "cara" && $0.state == "pending"
                }
            }
            #expect(try await again.run("contact", "accept", "cara").status == 0)
        }
        try await eventually("what waited is there", on: [again, all.cara]) {
            guard
                try await ann.perform(ListContacts()).contains(where: {
                    $0.name == "cara" && $0.state == "accepted"
                }),
                try await ann.perform(ListConversations()).contains(where: { $0.name == "cara" })
            else { return false }
            return try await all.texts("cara", of: again).contains("are you there")
        }
        #expect(try await all.client(all.cara).perform(ListContacts()).map(\.state) == ["accepted"])
        // One with each, on either side: the one that there was before.
        #expect(try await ann.perform(ListConversations()).map(\.name).sorted() == ["ben", "cara"])
        for (node, id) in before {
            let shown = try await all.client(node).perform(ListConversations()).filter {
                $0.name == "ann"
            }
            #expect(shown.map(\.id) == [id] && shown.allSatisfy { $0.supersededBy == nil })
        }
        for node in [again, all.ben, all.cara] { #expect(try await node.stop() == 0) }
    }

    /// A group links the two before ann has said that cara is a contact of hers: what cara tells of their
    /// conversation until then is refused.
    @Test("goes on in the conversation there was once they are accepted, linked as they are")
    func linked() async throws {
        let all = try await Neighbours()
        try await all.meet(all.ann, all.ben, named: "ben")
        try await all.meet(all.ann, all.cara, named: "cara")
        let group = try await all.client(all.ann).perform(
            CreateConversation(name: "trio", members: ["ben", "cara"]))
        for node in [all.ben, all.cara] {
            try await eventually("both are asked", on: [node]) {
                try await !all.client(node).perform(ListInvitations()).waiting.isEmpty
            }
            try await all.client(node).perform(
                AnswerInvitation(conversation: group.id, accepting: true))
        }
        try await eventually("all are in, and linked", on: [all.ann, all.ben]) {
            for node in [all.ann, all.ben] {
                let group = try await all.client(node).perform(GetGroup(conversation: "trio"))
                guard group.members.count == 3,
                    group.members.allSatisfy({ $0.isSelf || $0.isLinked && !$0.isInvited })
                else { return false }
            }
            return true
        }
        let (again, before) = try await comeBack(all, haveMet: true)
        let ann = try await all.client(again)
        try await eventually("cara asks, and is linked", on: [again]) {
            try await ann.perform(ListContacts()).contains {
                $0.name == "cara" && $0.state == "pending" && $0.isLinked
            }
        }
        #expect(try await all.cara.run("send", "ann", "after loss").status == 0)
        #expect(try await again.run("contact", "accept", "cara").status == 0)
        try await eventually("what cara wrote is there", on: [again, all.cara]) {
            try await all.texts("cara", of: again).contains("after loss")
        }
        #expect(try await again.run("send", "cara", "back again").status == 0)
        try await eventually("and the other way", on: [again, all.cara]) {
            try await all.texts("ann", of: all.cara).contains("back again")
        }
        for (node, id) in before {
            let shown = try await all.client(node).perform(ListConversations()).filter {
                $0.name == "ann"
            }
            #expect(shown.map(\.id) == [id])
        }
        for node in [again, all.ben, all.cara] { #expect(try await node.stop() == 0) }
    }
}
