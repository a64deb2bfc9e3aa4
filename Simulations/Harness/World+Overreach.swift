import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
public import ParleyWire

/// What a changed program says with the valid keys of a member who may not say it.
extension World {
    /// Gives a message of somebody else a new text.
    @discardableResult
    public func editOthers(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try overreach(liar, in: space) { forgery, message in
            MessageEdit(text: "\(forgery.liar.name) never said that, \(self.now)").draft(
                of: message)
        }
    }

    /// Takes a message of somebody else back, whatever the liar is in the conversation.
    @discardableResult
    public func deleteOthers(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try overreach(liar, in: space) { _, message in MessageDeletion.draft(of: message) }
    }

    /// Takes a message of somebody else back as what the liar was before: under the roster of the
    /// last operation that it wrote under another one, and dated as that is.
    @discardableResult
    public func deleteAsBefore(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            guard let former = try forgery.lastUnderAnotherRoster(),
                let message = try forgery.messageOfSomebodyElse()
            else { return false }
            let run = try forgery.run(
                MessageDeletion.draft(of: message), at: former.clock, naming: [],
                under: former.authority)
            return try show(run, by: forgery, in: space)
        }
    }

    /// Names the conversation, whatever the liar is in it.
    @discardableResult
    public func nameAnyway(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let draft = ConversationName(name: "\(liar.name) was here at \(now)").draft(
                replacing: [])
            let run = try forgery.run(draft, at: wall(of: liar), naming: [])
            return try show(run, by: forgery, in: space)
        }
    }

    /// Pins a message of somebody else, whatever the liar is in the conversation.
    @discardableResult
    public func pinAnyway(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try overreach(liar, in: space) { _, message in Pin(isOn: true).draft(of: message) }
    }

    /// Writes a message, and pins one, whatever the rules of the conversation let the liar do.
    @discardableResult
    public func writeAnyway(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let text = TextMessage(text: "\(liar.name) says so anyway at \(now)").draft()
            let written = try forgery.run(
                text, at: wall(of: liar), naming: try forgery.causes(of: .content))
            var isShown = try show(written, by: forgery, in: space)
            if let message = try forgery.messageOfSomebodyElse() {
                let pinned = try forgery.run(
                    Pin(isOn: true).draft(of: message), at: wall(of: liar),
                    naming: try forgery.causes(of: .shared))
                isShown = try show(pinned, by: forgery, in: space) || isShown
            }
            return isShown
        }
    }

    /// Names in a control operation what stands in another lane: in the liar's own log, or in that of
    /// somebody else. No roster can be made of it, so it waits, and with it all that the liar writes
    /// there from then on.
    @discardableResult
    public func nameAnotherLane(_ liar: SimulatedNode, in space: SpaceID) throws -> Bool {
        try forge(liar, in: space) { forgery in
            let logs = try liar.store.logs(in: forgery.space.number).filter {
                $0.lane != .control && $0.end > 0
            }
            liar.lieCount += 1
            let own = logs.filter { $0.device == liar.identity.device }
            let named = liar.lieCount % 2 == 0 && !own.isEmpty ? own : logs
            guard !named.isEmpty else { return false }
            let log = named[Int(liar.randomNumber() % UInt64(named.count))]
            let draft = Draft(
                kind: .acknowledgement, lane: .control, payload: nil, isErasable: false)
            let cause = OperationReference(
                tag: log.tag, sequence: log.end - 1, check: log.tip.check)
            let run = try forgery.run(draft, at: wall(of: liar), naming: [cause])
            for lane in Lane.allCases where lane != .control {
                stuckLogs.insert(LogTag(forgery.id(of: lane)))
            }
            return try show(run, by: forgery, in: space)
        }
    }

    private func overreach(
        _ liar: SimulatedNode, in space: SpaceID,
        _ draft: (Forgery, OperationReference) -> Draft
    ) throws -> Bool {
        try forge(liar, in: space) { forgery in
            guard let message = try forgery.messageOfSomebodyElse() else { return false }
            let run = try forgery.run(
                draft(forgery, message), at: wall(of: liar),
                naming: try forgery.causes(of: .content))
            return try show(run, by: forgery, in: space)
        }
    }

    func show(_ run: Run?, by forgery: Forgery, in space: SpaceID) throws -> Bool {
        guard let run else { return false }
        try forgery.keep(run)
        let victims = victims(of: forgery.liar, forgery)
        for victim in victims { show(run, of: space, from: forgery.liar, to: victim) }
        return !victims.isEmpty
    }
}

extension Forgery {
    /// One of the newest messages that another person wrote.
    func messageOfSomebodyElse() throws(StoreError) -> OperationReference? {
        let own = Set(
            (liar.world?.nodes ?? []).filter { $0.identity.person == liar.identity.person }
                .map(\.identity.device))
        var found: [OperationReference] = []
        for row in try liar.store.messages(in: space.number, before: nil, limit: 16) {
            guard let stored = try liar.store.operation(row.operation),
                let log = try liar.store.log(stored.log), !own.contains(log.device)
            else { continue }
            found.append(
                OperationReference(
                    tag: log.tag, sequence: stored.sequence, check: stored.id.check))
        }
        return found.isEmpty ? nil : found[Int(liar.randomNumber() % UInt64(found.count))]
    }

    /// The last operation of content that the liar wrote under another roster than the last one.
    func lastUnderAnotherRoster() throws(StoreError) -> (authority: UInt64, clock: UInt64)? {
        guard let log = try log(.content), log.end > 0 else { return nil }
        var newest: UInt64?
        for stored in try liar.store.operations(
            in: log.number, (log.end - min(log.end, 512))...(log.end - 1), limit: .max
        ).reversed() {
            guard let authority = stored.operation.header.authority else { continue }
            if let newest, newest != authority {
                return (authority, stored.operation.header.wallClock)
            }
            newest = authority
        }
        return nil
    }
}
