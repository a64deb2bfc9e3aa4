import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

/// Decisions.
/// Source: `Protocol/03-operations.md`, "Decisions".
extension NodeCore {
    mutating func propose(
        _ proposal: DecisionProposal, from source: OperationNumber?, in id: SpaceID,
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        if let refusal = Self.refusal(proposal) { return .failure(refusal) }
        var reference: OperationReference?
        if let source {
            switch try self.source(source, in: space, turn.store) {
            case .success(let found): reference = found
            case .failure(let refusal): return .failure(refusal)
            }
        }
        if let refusal = try refusal(sharingIn: space, doing: .write, turn.store) {
            return .failure(refusal)
        }
        let applied = try write([proposal.draft(from: reference)], in: space, &turn)
        return .success(.messages(applied.filter { $0.isKind(.decision) }.map(\.number)))
    }

    /// The message or the poll that a decision is made from. A poll that is open has no result yet.
    private mutating func source(
        _ number: OperationNumber, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Result<OperationReference, CommandRefusal> {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            log.space == space.number
        else { return .failure(.unknownMessage) }
        let reference = OperationReference(
            tag: log.tag, sequence: stored.sequence, check: stored.id.check)
        switch stored.operation.header.kind {
        case .text: return .success(reference)
        case .disappearingText:
            return .failure(Self.refusal(keeping: stored) ?? .unknownMessage)
        case .poll:
            guard let (_, poll) = try poll(number, store) else {
                return .failure(.together(.unknownPoll))
            }
            return poll.closing == nil ? .failure(.together(.open)) : .success(reference)
        default: return .failure(.unknownMessage)
        }
    }

    mutating func approve(
        _ isOn: Bool, of number: OperationNumber, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let (space, decision) = try decision(number, turn.store) else {
            return .failure(.together(.unknownDecision))
        }
        if let refusal = try refusal(sharingIn: space, turn.store) { return .failure(refusal) }
        if decision.approvers.contains(identity.person) != isOn {
            _ = try write([Approval.draft(of: decision.reference, isOn: isOn)], in: space, &turn)
        }
        return .success(.messages([number]))
    }

    mutating func settle(
        _ number: OperationNumber, _ state: DecisionState, by other: OperationNumber?,
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let (space, decision) = try decision(number, turn.store) else {
            return .failure(.together(.unknownDecision))
        }
        if let refusal = try refusal(ending: decision.author, in: space, turn.store) {
            return .failure(refusal)
        }
        var settling = Settling(state)
        if state == .superseded {
            guard let other, let (place, found) = try self.decision(other, turn.store),
                place.number == space.number
            else { return .failure(.together(.unknownDecision)) }
            let isCircle = try Overview.isCircle(
                decision.reference, by: found.reference, in: space.number, store: turn.store)
            if isCircle { return .failure(.together(.circle)) }
            settling.successor = found.reference
        }
        if decision.settling != settling {
            _ = try write([settling.draft(of: decision.reference)], in: space, &turn)
        }
        return .success(.messages([number]))
    }

    mutating func decision(
        _ number: OperationNumber, _ store: some Store
    ) throws(StoreError) -> (SpaceRecord, Decision)? {
        guard let (space, roster, reference) = try begun(number, as: .decision, store) else {
            return nil
        }
        return try Overview.decision(reference, in: space.number, roster: roster, store: store).map
        {
            (space, $0)
        }
    }

    /// Why something cannot be proposed, or nil.
    private static func refusal(_ proposal: DecisionProposal) -> CommandRefusal? {
        let tags = proposal.tags
        if ([proposal.title] + tags).contains(where: VisibleName.isBlank) { return .empty }
        let limits =
            [
                (proposal.title, Limits.decisionTitleByteCountMax),
                (proposal.text, Limits.decisionTextByteCountMax),
            ] + tags.map { ($0, Limits.decisionTagByteCountMax) }
        for (text, limit) in limits where text.utf8.count > limit {
            return .tooLong(byteCount: text.utf8.count, limit: limit)
        }
        return tags.count <= Limits.decisionTagCountMax
            ? nil : .together(.tooManyTags(limit: Limits.decisionTagCountMax))
    }
}
