public import ParleyLedger
public import ParleyWire

/// What one control operation did to the roster, and why: what `why` tells.
public struct ControlReason: Hashable, Sendable {
    /// The result.
    public enum Outcome: Hashable, Sendable {
        /// It holds.
        case holds
        /// Its author could not write it by what they had seen, so it never held.
        case rejected(ControlRejection)
        /// It would hold, but something that is heard before it does not let it.
        case void(Rule, by: OperationID?)
    }

    /// Why an operation that its author could write does not hold.
    public enum Rule: Hashable, Sendable {
        /// What gave its author the right does not hold.
        case rightIsVoid
        /// Its author or device was out, or the invite had ended, and they had not seen it.
        case revokedUnseen
        /// As many came by the invite as may.
        case inviteUsedUp
        /// The person's identity log does not say so.
        case unproven
    }

    /// The operation.
    public let operation: OperationID
    /// The kind.
    public let kind: OperationKind
    /// Where it stands.
    public let place: LogTip
    /// The author.
    public let device: DeviceID
    /// Whose right was used, if it was examined: the author's, or that of the invite's creator.
    public let author: PersonID?
    /// The affected person, if it concerns one.
    public let subject: PersonID?
    /// The author's wall clock in Unix milliseconds: advice for display.
    public let wallClock: UInt64
    /// The result.
    public let outcome: Outcome
}

extension ControlGraph {
    /// What an operation did to the roster, or nil if it is not in the graph or requests nothing.
    public func reason(of operation: OperationID) -> ControlReason? {
        guard let number = numbers[operation], nodes[number].kind.isAuthority else { return nil }
        return reason(number)
    }

    /// Everything that was ever asked about a person, causes before effects: what let them in,
    /// raised them and took them out last stands last.
    public func reasons(about person: PersonID) -> [ControlReason] {
        nodes.indices.filter { number in
            if nodes[number].subject == person { return true }
            guard let authority = nodes[number].authority else { return false }
            return authorities.index[authority].subjects.contains(person)
        }.map(reason)
    }

    private func reason(_ number: Int) -> ControlReason {
        let node = nodes[number]
        let index = authorities.index
        return ControlReason(
            operation: node.id, kind: node.kind,
            place: LogTip(tag: logs[node.log].tag, sequence: node.sequence),
            device: node.device, author: node.authority.map { index[$0].author },
            subject: node.subject ?? node.authority.flatMap { index[$0].subjects.first },
            wallClock: node.wallClock, outcome: outcome(node))
    }

    private func outcome(_ node: ControlNode) -> ControlReason.Outcome {
        if let rejection = node.rejection { return .rejected(rejection) }
        guard let authority = node.authority else { return .rejected(.malformed) }
        let index = authorities.index
        switch authorities.whole.verdict(on: authority, index) {
        case .holds: return .holds
        case .ungranted(let grant): return .void(.rightIsVoid, by: grant.map { index[$0].id })
        case .revoked(let other): return .void(.revokedUnseen, by: index[other].id)
        case .usedUp(let invite): return .void(.inviteUsedUp, by: index[invite].id)
        case .unproven: return .void(.unproven, by: nil)
        }
    }
}
