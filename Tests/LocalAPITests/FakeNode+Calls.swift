@testable import Parley

extension FakeNode {
    static func call(_ state: String) -> CallView {
        CallView(
            call: "0123456789abcdef0123456789abcdef",
            conversation: String(repeating: "ab", count: 32),
            name: "home", caller: "ben", isOwn: false, state: state, media: ["microphone"],
            members: [], rings: [], milliseconds: nil, end: nil, reason: nil)
    }

    static func record(_ outcome: String, isOwn: Bool = false, isMissed: Bool = false)
        -> CallRecordView
    {
        CallRecordView(
            call: "fedcba98", conversation: String(repeating: "ab", count: 32), name: "home",
            caller: isOwn ? "ada" : "ben", isOwn: isOwn, time: 1_700_000_030_000, outcome: outcome,
            milliseconds: outcome == "talked" ? 62_000 : 0,
            people: outcome == "talked" ? ["ada", "ben"] : ["ben"], isMissed: isMissed,
            wasIn: outcome == "talked", others: outcome == "talked" && isOwn ? ["ben"] : [])
    }

    /// One call, which rings.
    func answerCalls() {
        answer(StartCall.self) { state, request in
            state.calls.append("call \(request.conversation) \(request.media)")
            return Self.call("calling")
        }
        answer(ListCalls.self) { _, _ in [Self.call("ringing")] }
        answer(ListCallRecords.self) { state, _ in state.records }
        answer(AnswerCall.self) { state, request in
            state.calls.append("answer \(request.call ?? "") \(request.media)")
            return Self.call("joining")
        }
        answer(RejectCall.self) { state, request in
            state.calls.append("reject \(request.call ?? "")")
            return NoReply()
        }
        answer(HangUpCall.self) { state, request in
            state.calls.append("hangUp \(request.call ?? "")")
            return NoReply()
        }
        answer(SetCallMedia.self) { state, request in
            state.calls.append("setMedia \(request.call ?? "") \(request.media)")
            return Self.call("talking")
        }
        answer(TellCallMedia.self) { state, request in
            state.calls.append("tellCallMedia \(request.seat) \(request.news)")
            return NoReply()
        }
    }

    func answerPage() {
        answer(OpenPage.self) { _, _ in
            PageLinkView(link: "http://p00.localhost:1/#enter=00", seconds: 60)
        }
        answer(ListPageSessions.self) { _, _ in
            [PageSessionView(name: "browser-1", created: 1, used: 2)]
        }
        answer(EndPageSession.self) { state, request in
            state.calls.append("endPageSession \(request.called)")
            return NoReply()
        }
    }

    func answerCallSettings() {
        let settings = CallSettingsView(
            program: ["/usr/bin/media", "-q"],
            servers: [.init(address: "turn:turn.example:3478", access: "name", name: "ada")])
        answer(GetCallSettings.self) { _, _ in settings }
        answer(SetMediaProgram.self) { state, request in
            state.calls.append("setMediaProgram \(request.words)")
            return CallSettingsView(program: request.words, servers: settings.servers)
        }
        answer(AddTurnServer.self) { state, request in
            let words = [request.address, request.name, request.password, request.secret]
            state.calls.append(
                "addTurnServer " + words.map { $0 ?? "-" }.joined(separator: " "))
            return settings
        }
        answer(RemoveTurnServer.self) { state, request in
            state.calls.append("removeTurnServer \(request.address)")
            return CallSettingsView(program: settings.program, servers: [])
        }
    }

    func answerPresence() {
        let report = PresenceReport(
            own: "online", told: "now",
            people: [
                .init(
                    person: "cc", name: "ben", presence: "away", lastSeen: 1_700_000_000_000,
                    told: "nothing")
            ])
        answer(SetTyping.self) { state, request in
            state.calls.append("setTyping \(request.conversation) \(request.on)")
            return NoReply()
        }
        answer(ListPresences.self) { _, _ in report }
        let disclosed = DisclosureReport(
            receipts: false, typing: true,
            conversations: [
                .init(
                    conversation: String(repeating: "ab", count: 32), name: "trip", receipts: true,
                    typing: nil)
            ])
        answer(DeleteForMe.self) { state, request in
            try state.change(request.message) {
                $0.isDeleted = true
                $0.text = nil
            }
        }
        answer(GetUsualLifetime.self) { _, _ in UsualLifetime() }
        answer(SetUsualLifetime.self) { _, request in
            UsualLifetime(seconds: request.seconds == 0 ? nil : request.seconds)
        }
        answer(GetDisclosures.self) { _, _ in disclosed }
        answer(SetDisclosures.self) { state, request in
            state.calls.append(
                "disclose \(request.receipts?.rawValue ?? "-") \(request.typing?.rawValue ?? "-")")
            return disclosed
        }
        answer(SetPresence.self) { state, request in
            state.calls.append("setPresence \(request.presence)")
            return NoReply()
        }
        answer(SetPrivacy.self) { state, request in
            state.calls.append("setPrivacy \(request.told) \(request.person ?? "-")")
            return report
        }
    }
}
