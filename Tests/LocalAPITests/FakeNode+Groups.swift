import Synchronization

@testable import Parley

/// One group, of whom nobody is ever refused anything.
extension FakeNode {
    private func told(_ call: String) -> GroupView {
        state.withLock { $0.calls.append(call) }
        return Self.trip
    }

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

    static func event(
        _ change: String, _ name: String, by author: String?, at time: UInt64, holds: Bool
    ) -> MembershipView {
        MembershipView(
            conversation: "abab", change: change, name: name, person: "bb", author: author,
            role: "member", time: time, holds: holds)
    }

    func group(_ conversation: String) async throws -> GroupView { Self.trip }

    func addMember(
        conversation: String, person: String, role: String
    ) async throws -> GroupView {
        told("add \(person) as \(role)")
    }

    func removeMember(conversation: String, person: String) async throws -> GroupView {
        told("remove \(person)")
    }

    func setRole(
        conversation: String, person: String, role: String
    ) async throws -> GroupView {
        told("role \(person) \(role)")
    }

    static let invitation = InvitationView(
        id: String(repeating: "ab", count: 32), name: "trip", inviter: "ben", person: "bbbbbbbbbb",
        memberCount: 3, since: 1_700_000_000_000)

    func invitations() async throws -> InvitationsView {
        InvitationsView(policy: "nobody", waiting: [Self.invitation])
    }

    func answerInvitation(
        conversation: String, accepting: Bool
    ) async throws -> InvitationsView {
        _ = told((accepting ? "accept " : "decline ") + conversation)
        return InvitationsView(policy: "nobody", waiting: [])
    }

    func setAdditionPolicy(_ policy: String) async throws -> InvitationsView {
        _ = told("allow \(policy)")
        return InvitationsView(policy: policy, waiting: [])
    }

    func deleteConversation(_ conversation: String) async throws { _ = told("forget") }

    func leave(conversation: String, anyway: Bool) async throws { _ = told("leave") }

    func changeSettings(
        conversation: String, history: String?, rotationHours: Int?
    ) async throws -> GroupView {
        told("settings \(history ?? "-") \(rotationHours.map { "\($0)" } ?? "-")")
    }

    func inviteToGroup(
        conversation: String, role: String, uses: Int, hours: Int
    ) async throws -> GroupLinkView {
        _ = told("invite \(role) \(uses) \(hours)")
        return GroupLinkView(link: "parley:g1:QUJD", invite: Self.trip.invites[0])
    }

    func joinGroup(link: String) async throws -> JoinView {
        _ = told("join \(link)")
        return try await joins()[0]
    }

    func joins() async throws -> [JoinView] {
        [
            JoinView(
                id: String(repeating: "ab", count: 32), name: "trip", inviter: "ben",
                expires: 1_700_000_000_000)
        ]
    }

    func events(conversation: String) async throws -> [MembershipView] {
        state.withLock { $0.events }
    }

    func why(_ subject: String, conversation: String?) async throws -> ExplanationView {
        ExplanationView(
            title: "#\(subject) counts", facts: state.withLock { $0.explained })
    }
}
