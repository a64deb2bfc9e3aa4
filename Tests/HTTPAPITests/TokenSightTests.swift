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

    @Test("Attack 319: one token that fills its share of all bodies leaves room for others")
    func room319() async throws {
        let stand = try await Stand()
        let (flood, other) = (try stand.token(.read), try stand.token(.read, called: "other"))
        // Four once took all the room there is, by what they announced.
        var programs: [HTTPProgram] = []
        for _ in 0..<12 {
            let program = try await stand.connect()
            program.send(
                stand.request(
                    "POST /rpc", token: flood,
                    fields: ["Content-Length: \(LocalAPI.lineByteCountMax)"]))
            programs.append(program)
        }
        #expect(try await stand.call("contacts", token: other).status == 200)
        // Nor do they by what they send.
        for program in programs { program.send([UInt8](repeating: 0x20, count: 1 << 20)) }
        let first = await withTaskGroup(of: Int?.self) { group in
            for program in programs {
                // One that is hung up on has no status.
                group.addTask { (try? await program.response())?.status }
            }
            let first = await group.next() ?? nil
            for program in programs { program.close() }
            return first
        }
        #expect(first == 503)
        #expect(try await stand.call("contacts", token: other).status == 200)
        await stand.server.stop()
    }

    @Test("Attack 319: nor does one that holds every place for connections")
    func places319() async throws {
        let stand = try await Stand()
        let (flood, other) = (try stand.token(.read), try stand.token(.read, called: "other"))
        var programs: [HTTPProgram] = []
        for _ in 0..<HTTPAPI.connectionCountMax {
            // Who finds no place is hung up on, perhaps before a word was said.
            guard let program = try? await stand.connect() else { continue }
            program.send(stand.request("GET /changes", token: flood))
            _ = try await program.response()
            programs.append(program)
        }
        var isAnswered = false
        while !isAnswered {
            guard let program = try? await stand.connect() else { continue }
            program.send(stand.request("GET /changes", token: other))
            isAnswered = try await program.response()?.status == 200
            program.close()
        }
        for program in programs { program.close() }
        await stand.server.stop()
    }

    @Test("Attack 339: what the page asks of a new device always waits for the person")
    func device339() async throws {
        let stand = try await Stand()
        var page = TokenGrant(
            name: "browser-1", scope: .write, conversation: nil,
            digest: try #require(Digest([UInt8](repeating: 1, count: 32))))
        page.isOfPage = true
        for waits in [nil, false, true] {
            let asked = try await page.admit(StartPairing(waits: waits), on: stand.node)
            #expect(asked.waits == true)
        }
        #expect(throws: NodeError.self) { try page.check(ConfirmPairing.self) }
        await stand.server.stop()
    }
}
