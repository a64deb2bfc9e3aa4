@testable import Parley

/// One group, of whom nobody is ever refused anything.
extension FakeNode {
    static let trip = GroupView(
        id: String(repeating: "ab", count: 32), name: "trip",
        members: [
            MemberView(
                person: "aaaaaaaaaa", name: "ada", role: "owner", isSelf: true,
                isVerified: false, isLinked: false, devices: ["d1"]),
            MemberView(
                person: "bbbbbbbbbb", name: "ben", role: "member", isSelf: false,
                isVerified: true, isLinked: true, devices: ["d2", "d3"]),
        ], history: "30d", rotationHours: 24,
        invites: [
            GroupInviteView(
                id: String(repeating: "cd", count: 32), inviter: "ada", role: "reader",
                usesLeft: 2, expires: 1_700_000_000_000)
        ],
        epoch: EpochView(
            conversation: String(repeating: "ab", count: 32), name: "trip", id: "ee",
            device: "d1", author: "ada", madeAt: 1_700_000_000_000, openedAt: nil, deviceCount: 3))

    static let invitation = InvitationView(
        id: String(repeating: "ab", count: 32), name: "trip", inviter: "ben", person: "bbbbbbbbbb",
        memberCount: 3, since: 1_700_000_000_000)

    private static let join = JoinView(
        id: String(repeating: "ab", count: 32), name: "trip", inviter: "ben",
        expires: 1_700_000_000_000)

    static func event(
        _ change: String, _ name: String, by author: String?, at time: UInt64, holds: Bool
    ) -> MembershipView {
        MembershipView(
            conversation: "abab", change: change, name: name, person: "bb", author: author,
            role: "member", time: time, holds: holds)
    }

    /// Notes what is asked in words, and answers always the same.
    private func answer<R: NodeRequest>(
        _ type: R.Type, with reply: R.Reply, noting words: @escaping @Sendable (R) -> String
    ) {
        answer(type) { state, request in
            state.calls.append(words(request))
            return reply
        }
    }

    func answerGroups() {
        answer(GetGroup.self) { _, _ in Self.trip }
        answer(ReportMessage.self) { _, request in
            SentReport(told: ["ada"], untold: request.words.isEmpty ? [] : ["ben"])
        }
        answer(ListReports.self) { _, _ in ReportPage(reports: []) }
        answer(GetGroupLog.self) { _, request in
            let entry = GroupLogEntry(
                id: "0123456789abcdef-1", change: "added", author: "ada", time: 1_700_000_000_000,
                persons: ["ben"], role: "admin")
            return GroupLogPage(
                conversation: FakeNode.id, name: "trip", entries: [entry],
                before: request.before == nil ? entry.id : nil)
        }
        answer(AddGroupMember.self, with: Self.trip) { "add \($0.person) as \($0.role)" }
        answer(RemoveGroupMember.self, with: Self.trip) { "remove \($0.person)" }
        answer(SetMemberRole.self, with: Self.trip) { "role \($0.person) \($0.role)" }
        answer(LeaveGroup.self, with: NoReply()) { _ in "leave" }
        answer(ChangeGroupSettings.self, with: Self.trip) {
            "settings \($0.history ?? "-") \($0.rotationHours.map { "\($0)" } ?? "-")"
        }
        answer(SetGroupRules.self, with: Self.trip) {
            "rules \($0.write?.rawValue ?? "-") \($0.add?.rawValue ?? "-")"
                + " \($0.pin?.rawValue ?? "-") \($0.invite?.rawValue ?? "-")"
        }
        let link = GroupLinkView(link: "parley:g1:QUJD", invite: Self.trip.invites[0])
        answer(CreateGroupInvite.self, with: link) { "invite \($0.role) \($0.uses) \($0.hours)" }
        answer(JoinGroup.self, with: Self.join) { "join \($0.link)" }
        answer(ListJoins.self) { _, _ in [Self.join] }
        answer(ListMembershipEvents.self) { state, _ in state.events }
        answer(ExplainState.self) { state, request in
            ExplanationView(title: "#\(request.subject) counts", facts: state.explained)
        }
    }

    func answerInvitations() {
        answer(ListInvitations.self) { _, _ in
            InvitationsView(policy: "nobody", waiting: [Self.invitation])
        }
        answer(
            AnswerInvitation.self,
            with: InvitationsView(policy: "nobody", waiting: [], answered: Self.invitation)
        ) { ($0.accepting ? "accept " : "decline ") + $0.conversation }
        answer(SetAdditionPolicy.self) { state, request in
            state.calls.append("allow \(request.policy)")
            return InvitationsView(policy: request.policy.rawValue, waiting: [])
        }
    }
}
