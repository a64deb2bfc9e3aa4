import Foundation
import ParleyLocalAPI
import ParleyWire
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import ParleyHTTPAPI

@Suite("What a token sees, and what it takes from others", .timeLimit(.minutes(3)))
struct TokenSightTests {
    /// Kinds of changes that are the person's own, though they name a conversation.
    private static let own = [
        "reminder", "scheduled", "call", "calls", "media", "invitation", "contact", "preferences",
        "devices", "presence", "clocks", "not yet thought of",
    ]

    @Test("Attack 318: a token of one conversation hears nothing that the person noted about it")
    func notes318() async throws {
        let stand = try await Stand()
        let token = try stand.token(.read, conversation: FakeNode.id)
        for kind in Self.own {
            var change = ChangeView(kind: kind)
            change.conversation = FakeNode.id
            change.notice = "PRIVATE"
            #expect(!change.isTold(in: FakeNode.id), "\(kind)")
            stand.node.tell(change)
        }
        stand.node.tell(.of(FakeNode.message(9, "the end")))
        let program = try await stand.connect()
        program.send(stand.request("GET /events?since=0", token: token))
        let told = try #require(await program.text(through: "the end"))
        #expect(!told.contains("PRIVATE"))
        let page = try await stand.ask("GET /changes?since=0", token: token)
        #expect(page.body.contains("the end") && !page.body.contains("PRIVATE"))
        // One for all conversations is the person's own program.
        let all = try await stand.ask(
            "GET /changes?since=0", token: stand.token(.read, called: "b"))
        #expect(all.body.contains("PRIVATE"))
        program.close()
        await stand.server.stop()
    }

    @Test("Attack 318: it reads no draft, no setting of the person, and no other conversation")
    func draft318() async throws {
        let stand = try await Stand()
        stand.node.answer(GetConversation.self) { _, request in
            var view = ConversationView.group(request.conversation)
            (view.draft, view.isMuted, view.isArchived) = ("PRIVATE", true, true)
            (view.resembles, view.heldOn) = (["PRIVATE"], ["PRIVATE"])
            return view
        }
        let parameters = #"{"conversation":"\#(FakeNode.id)"}"#
        let token = try stand.token(.write, conversation: FakeNode.id)
        let found = try await stand.call(GetConversation.name, parameters, token: token)
        #expect(found.status == 200 && !found.body.contains("PRIVATE"), "\(found.body)")
        #expect(found.body.contains(#""isMuted":false"#))
        let all = try await stand.call(
            GetConversation.name, parameters, token: stand.token(.read, called: "b"))
        #expect(all.body.contains("PRIVATE"))
        await stand.server.stop()
    }

    @Test("Attack 318: a token that only reads has no open invite in its hands")
    func invites318() async throws {
        let stand = try await Stand()
        let link = FakeNode.invite(uses: 2, hours: 2).link
        for scope in RequestScope.allCases {
            let token = try stand.token(scope, called: scope.rawValue)
            let found = try await stand.call(ListInvites.name, token: token)
            #expect(found.status == 200 && found.body.contains(link) == (scope != .read))
        }
        await stand.server.stop()
    }
}
