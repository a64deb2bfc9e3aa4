import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

extension Views {
    func relays() throws -> [RelayView] {
        let states = core.relayStates
        return try choices().map { choice in
            let state = states.first { $0.relay == choice.relay }
            let word =
                switch state {
                case nil: "idle"
                case let state? where state.lacksTicket: "ticket-needed"
                case let state? where state.isDrained: "connected"
                case let state? where state.isConnected: "reading"
                case let state? where state.failureCount == 0: "connecting"
                default: "unreachable"
                }
            return RelayView(
                relay: "\(choice.relay)", addresses: choice.addresses, state: word,
                until: choice.until)
        }
    }

    /// Relays in use, and those that are still read.
    func choices() throws -> [RelayChoice] {
        guard let own = core.ownSpace else { return [] }
        let now = SystemClock.now.wall
        return try Overview.relays(ownSpace: own.number, in: store).filter {
            $0.until.map { now < $0 } ?? true
        }
    }

    func outbox() throws -> [OutboxView] {
        var waiting: [OutboxView] = []
        for space in try store.spaces() where space.kind != .own {
            guard let roster = try roster(of: space) else { continue }
            let kept = try kept(in: space, roster).count
            var view = OutboxView(
                conversation: space.id.description, name: try title(of: space, roster),
                savedCount: 0, relayedCount: 0, changeCount: 0, keptCount: kept)
            // What one writes for oneself alone has nobody to go to.
            var controlCount = 0
            if mayReachOthers(roster) {
                controlCount = try count(into: &view, space, roster)
            }
            // What is about the group goes to the invited themselves.
            let isWritten =
                view.savedCount + view.relayedCount + view.changeCount > controlCount
            view.waiting =
                try self.waiting(in: space, roster) ?? (isWritten ? awaiting(in: roster) : nil)
            try countUntaken(into: &view, space, roster)
            if view.isWaiting || view.untakenCount + view.untakenChangeCount > 0 {
                waiting.append(view)
            }
        }
        return try waiting + wishes()
    }

    /// Why leaving a group loses something: others lack what this device knows that the person wrote there. Nil
    /// where they do not. What a relay alone has does not count: nobody takes anything of whoever is out by then.
    func loss(byLeaving space: SpaceRecord) throws -> NodeError? {
        guard space.kind == .group, !core.node.isRevoked, let roster = try roster(of: space),
            !isOut(of: roster), mayReachOthers(roster)
        else { return nil }
        let counts = try waitingCounts(in: space, roster)
        // What is about the group goes with the Leave.
        let changes = counts.changes - counts.control
        let parts = [(counts.saved + counts.relayed, "message"), (changes, "change")]
            .filter { $0.0 > 0 }.map { counted($0, $1) }
        if parts.isEmpty { return nil }
        let what = parts.joined(separator: " and ")
        return NodeError(
            "undelivered",
            roster.awaited(by: ownPerson).isEmpty
                ? "Nobody in this group has \(what) of yours yet, and once you have left others may "
                    + "not accept them."
                : "\(what) of yours still \(counts.words == 1 ? "waits" : "wait") for somebody to "
                    + "accept the invitation, and once you have left they may not get that.",
            hint:
                "`parley outbox` shows what waits, and for what. "
                + "`parley group leave \(space.id.short) --anyway` leaves regardless.")
    }

    /// Which places of own logs relays have that are still there.
    func relayed(of space: SpaceRecord) throws -> [LogTag: [Range<UInt64>]] {
        try Outbox.relayed(
            of: space, by: core.node.device, besides: mistakenRelays, in: store)
    }

    private func waitingCounts(in space: SpaceRecord, _ roster: Roster) throws -> WaitingCounts {
        try Overview.waitingCounts(
            of: space, roster: roster, ownPerson: ownPerson, device: core.node.device,
            known: wordsKnown(in: space), relayed: relayed(of: space), in: store)
    }

    /// Counts it, and returns how much of it is about who is in the group.
    private func count(
        into view: inout OutboxView, _ space: SpaceRecord, _ roster: Roster
    ) throws -> Int {
        let counts = try waitingCounts(in: space, roster)
        view.strandedCount = counts.stranded
        view.isLeaving = try isLeaving(space, roster)
        // Nobody tells a former member what arrives: it would wait forever.
        if isOut(of: roster), !view.isLeaving { return 0 }
        if core.node.isRevoked {
            view.unknownCount = try counts.total + revokedCount(in: space)
        } else {
            (view.savedCount, view.relayedCount) = (counts.saved, counts.relayed)
            (view.changeCount, view.relayedChangeCount) = (counts.changes, counts.relayedChanges)
            let full = core.relaysFull(of: space.number)
            if counts.saved + counts.changes > 0, !full.isEmpty {
                view.fullRelays = full.map(\.description)
                view.fullRelayNames = try full.map { try shownName(of: $0) }
            }
        }
        return counts.control
    }

    /// A device that was revoked counts them among what may have arrived.
    private func countUntaken(
        into view: inout OutboxView, _ space: SpaceRecord, _ roster: Roster
    ) throws {
        guard !core.node.isRevoked else { return }
        view.untakenCount = try untakenCount(in: space, roster)
        view.untakenChangeCount = try untakenChangeCount(in: space, roster)
        guard view.untakenCount + view.untakenChangeCount > 0 else { return }
        switch roster.member(ownPerson)?.role {
        case nil: view.untakenBar = "removed"
        case .reader: view.untakenBar = "reader"
        case .member, .admin, .owner: break
        }
    }

    /// Future contacts who have not been reached yet.
    private func wishes() throws -> [OutboxView] {
        // A request of a revoked device goes nowhere.
        if core.node.isRevoked { return [] }
        return try contacts().compactMap { contact in
            guard let person = bytes(hex: contact.person).flatMap({ PersonID($0) }),
                let wish = try wish(of: person, contact)
            else { return nil }
            return OutboxView(
                conversation: "", name: try name(of: person), savedCount: 0, relayedCount: 0,
                changeCount: 0, wish: wish, person: contact.person)
        }
    }

    private func wish(of person: PersonID, _ contact: ContactView) throws -> String? {
        switch contact.state {
        case "requested":
            let isRelayed = try NodeCore.isRequestRelayed(to: person, in: store)
            return try isRelayed ? "request-relayed" : wasReached(person) ? nil : "request"
        case "invited":
            guard let invite = try NodeCore.takenInvite(of: person, in: store), !invite.isRefused,
                invite.expires > SystemClock.now.wall, !contact.isWritable
            else { return nil }
            return "invite"
        default: return nil
        }
    }

    /// Whether a link to a device of a person was ever open: a request is sent on the first.
    private func wasReached(_ person: PersonID) throws -> Bool {
        guard try store.value(.card, person.bytes) != nil else { return false }
        return try identity(of: person).devices.contains { certificate in
            try NodeCore.lastSeen(certificate.device, in: store) != nil
        }
    }
}
