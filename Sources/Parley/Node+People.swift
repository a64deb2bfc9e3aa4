import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// The part of ``NodeService`` that is about other persons.
extension Node {
    // MARK: Oneself

    /// Gives oneself another name.
    public func rename(to name: String) async throws {
        _ = try await running.perform(.setProfile(name: name, addresses: nil))
    }

    // MARK: Invites

    /// A link that lets so many other persons become contacts.
    public func invite(uses: Int, hours: Int) async throws -> InviteView {
        guard (1...24 * 30).contains(hours) else {
            throw NodeError("bad-hours", "An invite lasts from 1 to 720 hours.")
        }
        var random = SystemRandom()
        let secret = random.bytes(Invite.secretByteCount)
        let now = SystemClock.now.wall
        _ = try await running.perform(
            .createInvite(secret: secret, expires: now + UInt64(hours) * 3_600_000, uses: uses))
        // A relay that is connected has the card in a moment, and one is told so.
        return try await settled { views in
            guard
                let invite = try OpenInvite.all(at: now, views.store).first(where: {
                    $0.secret == secret
                })
            else { throw NodeError(.unknownInvite) }
            let isUnderway = views.core.relayStates.contains {
                $0.relay == invite.relay && $0.isConnected
            }
            var view = try views.view(invite)
            view.clockWarning = try views.clockWarning()
            return (view, invite.shown != nil || !isUnderway)
        }
    }

    /// How long an answer waits for what is on its way.
    private static let patience: Duration = .seconds(2)
    private static let lookInterval: Duration = .milliseconds(20)

    /// What is read once it has settled, or as it is after a while; at once where the node does not
    /// run, for nothing moves then.
    func settled<R: Sendable>(
        _ body: @Sendable (Views) throws -> (value: R, isSettled: Bool)
    ) async throws -> R {
        let end = ContinuousClock.now + Self.patience
        while true {
            let (value, isSettled) = try await read(body)
            if isSettled || !network.isRunning || network.isOffline || ContinuousClock.now >= end {
                return value
            }
            try await Task.sleep(for: Self.lookInterval)
        }
    }

    /// Invites that somebody may still take, the newest first.
    public func invites() async throws -> [InviteView] {
        try await read { try $0.invites(at: SystemClock.now.wall) }
    }

    /// Ends an invite.
    public func revokeInvite(_ id: String) async throws {
        _ = try await running.perform(
            try await read { try $0.revocation(of: id, at: SystemClock.now.wall) })
    }

    /// Takes an invite link; the two nodes meet as soon as they can reach each other.
    public func accept(link: String, alias: String?) async throws -> ContactView {
        let invite: Invite
        do {
            invite = try Invite(link: link)
        } catch {
            throw NodeError(
                "bad-link", "That is no invite link, or part of it is missing.", not: link,
                prefix: "parley:1:", hint: "It begins with `parley:1:` and is one long word.")
        }
        _ = try await running.perform(.acceptInvite(invite, alias: alias ?? ""))
        return try await settled { views in
            let view = try views.contact(view: invite.person)
            return (view, view.isWritable || view.state == "refused")
        }
    }

    // MARK: Requests

    /// One's own card as text.
    public func card() async throws -> CardView {
        try await read { views in
            guard let bytes = try views.store.value(.card, views.ownPerson.bytes) else {
                throw NodeError("damaged", "This node has no card of its own.")
            }
            return CardView(text: CardText(card: bytes).text)
        }
    }

    /// Asks the person whose card this is to be a contact, or somebody whose note was lost, by name.
    public func requestContact(card: String, alias: String?) async throws -> ContactView {
        let kept = try await read { try $0.keptCard(of: card) }
        guard let bytes = kept ?? CardText(card)?.card, let person = CardReader.person(of: bytes)
        else {
            throw NodeError(
                "bad-card", "That is no card, or part of it is missing.", not: card,
                prefix: "parley:c1:",
                hint: "It begins with `parley:c1:`; they see theirs with “parley contact card”.")
        }
        _ = try await running.perform(.requestContact(card: bytes, alias: alias ?? ""))
        return try await read { try $0.contact(view: person) }
    }

    /// Accepts, declines, blocks or unblocks a person.
    public func decide(
        about person: String, _ decision: ContactDecision
    ) async throws -> ContactView {
        let id = try await read { try $0.person(person) }
        let answer: ContactAnswer =
            switch decision {
            case .accept: .accept
            case .decline: .decline
            case .block: .block
            case .unblock: .unblock
            }
        _ = try await running.perform(.answerContact(id, answer))
        return try await read { try $0.contact(view: id) }
    }

    /// Calls a person so; by the name on their card where it is nil.
    public func setAlias(person: String, alias: String?) async throws -> ContactView {
        let id = try await read { try $0.person(person) }
        _ = try await running.perform(.setAlias(id, alias ?? ""))
        return try await read { try $0.contact(view: id) }
    }

    /// Everyone known, by name.
    public func contacts() async throws -> [ContactView] { try await read { try $0.contacts() } }

    // MARK: Verification

    /// The safety number shared with a person.
    public func safetyNumber(person: String) async throws -> SafetyNumberView {
        try await read { try $0.safetyNumber(of: $0.person(person)) }
    }

    /// Compares a code with what is known here, and notes that they are equal.
    public func verify(person: String, code: String) async throws -> SafetyNumberView {
        let id = try await read { views in
            let id = try views.person(person)
            try views.compare(code, with: id)
            return id
        }
        _ = try await running.perform(.markVerified(id))
        return try await read { try $0.safetyNumber(of: id) }
    }

    /// Notes that the safety numbers were compared and are equal.
    public func markVerified(person: String) async throws {
        let id = try await read { try $0.person(person) }
        _ = try await running.perform(.markVerified(id))
    }
}

extension NodeService {
    /// A link that lets one other person become a contact.
    public func invite(hours: Int) async throws -> InviteView {
        try await invite(uses: 1, hours: hours)
    }
}
