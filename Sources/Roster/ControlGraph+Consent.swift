public import ParleyLedger
public import ParleyWire

/// How a person came to be asked into a conversation.
public struct ControlInvitation: Hashable, Sendable {
    /// The person who asks.
    public let inviter: PersonID
    /// The operation that admits the person.
    public let place: LogTip
}

/// Consent: who of a roster has accepted membership. A function of the set of operations like the
/// roster, and without effect on it.
/// Source: `Protocol/08-roster.md`, "Consent".
extension ControlGraph {
    /// Records that a person accepts, if the author is theirs by what it had seen.
    mutating func readAcceptance(_ payload: [UInt8], _ number: Int) {
        let device = nodes[number].device
        // What cannot be read says nothing, for anybody.
        guard (try? Accept(payload: payload)) != nil,
            let person = authorities.view(authoritySet(nodes[number].past)).owners[device]
        else { return }
        // Logs are chains: the last word has seen all that those before it had.
        acceptances[person, default: [:]][device] = number
    }

    /// Who of a roster has not accepted, ascending by person.
    func invited(of roster: Roster) -> [PersonID] {
        guard roster.kind == .group else { return [] }
        return roster.members.map(\.person).filter { !hasAccepted($0) }
    }

    /// Whether something says that a person accepts, and had seen all that takes them out.
    private func hasAccepted(_ person: PersonID) -> Bool {
        let (index, whole) = (authorities.index, authorities.whole)
        let holding = whole.holding(index.about[person])
        let leavings = holding.filter { index[$0].expels(person) }
        let isImplied = holding.contains { admission in
            index[admission].impliesConsent(of: person)
                && leavings.allSatisfy { index.isInPast($0, of: admission) }
        }
        if isImplied { return true }
        return acceptances[person]?.values.contains { number in
            leavings.allSatisfy { isInPast(index[$0].place, ofNode: number) }
        } ?? false
    }

    /// Whether a person has ever accepted to be in, whatever took them out since.
    public func hadAccepted(_ person: PersonID) -> Bool {
        if acceptances[person]?.isEmpty == false { return true }
        let index = authorities.index
        return authorities.whole.holding(index.about[person]).contains {
            index[$0].impliesConsent(of: person)
        }
    }

    /// Whether an invite brings a person in, whatever took them out before.
    ///
    /// - Parameter departures: what of that the person names.
    public func mayCome(
        _ person: PersonID, by invite: OperationID, after departures: [OperationID]
    ) -> Bool {
        let index = authorities.index
        guard let number = index.byID[invite] else { return false }
        return authorities.whole.refusal(of: person, by: number, after: departures, index) == nil
    }

    /// What took a person out, of what holds: what no other of these had seen, ascending, and no more
    /// than so many.
    public func expulsions(of person: PersonID, limit: Int) -> [OperationID] {
        let index = authorities.index
        let holding = authorities.whole.holding(index.about[person]).filter {
            index[$0].expels(person)
        }
        let last = holding.filter { one in !holding.contains { index.isInPast(one, of: $0) } }
        return Array(last.map { index[$0].id }.sorted().prefix(limit))
    }

    /// Whether a person has been out since one of these took them out: nothing that holds and had seen
    /// any of these lets them in.
    public func isOut(_ person: PersonID, since expulsions: [OperationID]) -> Bool {
        let index = authorities.index
        let holding = authorities.whole.holding(index.about[person])
        let known = holding.filter {
            index[$0].expels(person) && expulsions.contains(index[$0].id)
        }
        return !known.isEmpty
            && !holding.contains { admission in
                index[admission].admits(person)
                    && known.contains { index.isInPast($0, of: admission) }
            }
    }

    /// Whether a person came in by an invite at some time.
    public func hasRedeemed(_ invite: OperationID, _ person: PersonID) -> Bool {
        let index = authorities.index
        guard let number = index.byID[invite] else { return false }
        return authorities.whole.holding(index.redemptions[number]).contains {
            index[$0].admits(person)
        }
    }

    private func isInPast(_ place: LogTip, ofNode number: Int) -> Bool {
        guard let log = logNumbers[place.tag], let index = Int(exactly: place.sequence) else {
            return false
        }
        return nodes[number].past.contains(log: log, index: index)
    }

    /// Who asked a member in: of what admits them the most senior; nil for nobody.
    public func invitation(of person: PersonID) -> ControlInvitation? {
        let (index, whole) = (authorities.index, authorities.whole)
        let holding = whole.holding(index.about[person])
        let leavings = holding.filter { index[$0].expels(person) }
        let admissions = holding.filter { admission in
            index[admission].admits(person)
                && leavings.allSatisfy { index.isInPast($0, of: admission) }
        }
        return admissions.min { index[$0].key < index[$1].key }.map {
            ControlInvitation(inviter: index[$0].author, place: index[$0].place)
        }
    }
}

extension AuthorityNode {
    /// Whether it admits a person who asked for it: the creator of a space, or a newcomer by an
    /// invite, whose device has signed that they want to join.
    func impliesConsent(of person: PersonID) -> Bool {
        switch deed {
        case .genesis: author == person
        case .redeem(let other, _): other == person
        case .add, .remove, .setRole, .leave, .addDevices, .revokeDevice, .settings, .invite,
            .endInvite:
            false
        }
    }
}
