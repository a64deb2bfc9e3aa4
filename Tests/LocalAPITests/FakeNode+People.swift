@testable import Parley

extension FakeNode {
    /// Everybody takes every invite.
    func answerPeople() {
        answer(CreateInvite.self) { _, request in
            Self.invite(uses: request.uses ?? 1, hours: request.hours)
        }
        answer(ListInvites.self) { _, _ in
            var invite = Self.invite(uses: 2, hours: 2)
            invite.guests = ["ben"]
            return [invite]
        }
        answer(RevokeInvite.self) { state, request in
            state.calls.append("revokeInvite \(request.id)")
            return NoReply()
        }
        answer(AcceptInvite.self) { _, request in Self.contact(request.alias ?? "ben") }
        answer(GetCard.self) { _, _ in CardView(text: "parley:c1:QUJD") }
        answer(RequestContact.self) { state, request in
            state.calls.append("requestContact \(request.card)")
            var contact = Self.contact(request.alias ?? "ben")
            contact.state = "requested"
            return contact
        }
        answer(AnswerContact.self) { state, request in
            state.calls.append("\(request.decision) \(request.person)")
            return Self.contact(request.person)
        }
        answer(SetAlias.self) { _, request in Self.contact(request.alias ?? request.person) }
        answer(ListContacts.self) { _, _ in [Self.contact("ben"), Self.contact("cleo")] }
        answer(GetSafetyNumber.self) { _, request in Self.safetyNumber(request.person) }
        answer(VerifyContact.self) { state, request in
            state.calls.append("verify \(request.person) \(request.code)")
            var number = Self.safetyNumber(request.person)
            number.isVerified = true
            return number
        }
        answer(MarkVerified.self) { state, request in
            state.calls.append("markVerified \(request.person)")
            return NoReply()
        }
    }

    static func invite(uses: Int, hours: Int) -> InviteView {
        InviteView(
            id: "0123456789abcdef", link: "parley:invite:\(hours)", expires: 1_700_000_000_000,
            usesLeft: uses, guests: [], addresses: uses == 3 ? [] : ["192.0.2.2:7447"])
    }

    private static func contact(_ name: String) -> ContactView {
        ContactView(
            person: "cc", name: name, state: "invited", isVerified: false, isLinked: false,
            addresses: [])
    }

    private static func safetyNumber(_ person: String) -> SafetyNumberView {
        SafetyNumberView(
            name: person, number: (1...12).map { _ in "12345" }.joined(separator: " "),
            code: "parley:v1:QUJD", isVerified: false)
    }
}
