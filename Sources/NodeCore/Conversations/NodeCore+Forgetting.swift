import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// Deleting a conversation on this device. Others keep theirs.
/// Source: `Protocol/08-roster.md`, "Deleting".
extension NodeCore {
    mutating func deleteConversation(_ id: SpaceID, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        guard let space = try conversation(id, turn.store) else {
            return .failure(.unknownConversation)
        }
        if let refusal = try refusal(deleting: space, turn.store) { return .failure(refusal) }
        let said = deletion(of: space)
        try remove(space, &turn)
        try keep(said, &turn)
        // Else what the person began to write there would stand in it once it is back.
        try endUnsent(in: id, &turn)
        return .success(.done)
    }

    private mutating func refusal(
        deleting space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> CommandRefusal? {
        guard let roster = try roster(of: space, store) else { return nil }
        if space.kind == .direct {
            return try isAmongContacts(roster, store) ? .stillMember : nil
        }
        if roster.member(identity.person) != nil { return .stillMember }
        return try hasToldLeaving(space, roster, store) ? nil : .untold
    }

    /// Whether somebody knows that this device left. Otherwise the others would wait for this person forever.
    private func hasToldLeaving(
        _ space: SpaceRecord, _ roster: Roster, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard roster.devices.contains(where: { $0.device != identity.device }),
            let told = try toldLeave(space, roster, store)
        else { return true }
        if !told.devices.isEmpty || !told.relays.isEmpty { return true }
        return peers.links.values.contains {
            // An own device that was never in the group is told, and tells nobody.
            $0.session?.hasSentAll(of: space.number) == true && $0.peer.device != identity.device
                && roster.person(of: $0.peer.device) != nil
        }
    }

    /// Removes everything of a space except where the own logs ended, and others' with what was
    /// reported there.
    mutating func remove(_ space: SpaceRecord, _ turn: inout some Turn) throws(StoreError) {
        for log in try turn.store.logs(in: space.number)
        where log.device == identity.device && log.end > 0 {
            let place = log.lane.carriesAuthority ? log.lastPlaceHeld : nil
            var former = FormerLog(log)
            former.author = try place.map { place throws(StoreError) in
                FormerLog.Author(try viewed(place, of: log, turn.store))
            }
            try turn.store.setValue(former.bytes, .formerLog, log.id.bytes)
        }
        for log in try turn.store.agreedLogs(in: space.number)
        where log.device != identity.device && [.content, .notes].contains(log.lane) {
            guard let place = log.lastPlaceHeld else { continue }
            let former = FormerLog(try viewed(place, of: log, turn.store))
            try turn.store.setValue(former.bytes, .formerLog, log.id.bytes)
        }
        try Self.forgetWords(of: space, by: identity.device, in: turn.store)
        try FormerMarks.keep(
            of: space, by: identity.device, &rosters.judges[space.number], in: turn.store)
        for purpose in SecretPurpose.allCases {
            for (name, _) in try turn.store.secrets(purpose, in: space.number) {
                try turn.store.setSecret(nil, purpose, name, in: space.number)
            }
        }
        try removeValues(of: space, turn.store)
        try turn.store.removeSpace(space.number)
        try forget(space, &turn)
        intake.bodyRequests.setMissing(try !turn.store.values(.missingBody).isEmpty)
        turn.emit(.commitFully)
        turn.emit(.forgetKeys)
        turn.emit(.changed([.conversation(space.number), .invitation(space.id)]))
        turn.emit(.linksChanged)
    }

    /// The rows about a space in the node's own tables.
    private func removeValues(of space: SpaceRecord, _ store: some Store) throws(StoreError) {
        let names = [space.id.bytes, space.number.key]
        let tables: [ValueTable] = [
            .importProgress, .missingBody, .join, .departure, .outbox, .welcome, .awaitedLog,
            .repair, .reminder, .invitation, .ownGap, .keptDraft, .droppedEpoch,
            .deletedImport, .declinedCall,
        ]
        for table in tables {
            for (key, _) in try store.values(table) {
                // An outbox is a relay's before it is a space's.
                let rest = table == .outbox ? Array(key.dropFirst(32)) : key
                guard names.contains(where: { rest.starts(with: $0) }) else { continue }
                try store.setValue(nil, table, key)
            }
        }
    }

    /// What is in flight for a space.
    private mutating func forget(_ space: SpaceRecord, _ turn: inout some Turn)
        throws(StoreError)
    {
        let number = space.number
        rosters.judges[number] = nil
        rosters.awaited[number] = nil
        ownHistory.forget(number)
        _ = intake.waiting.take(number)
        intake.sources[number] = nil
        intake.unreceipted.remove(number)
        for (key, _) in try turn.store.values(.untoldFiles) where key.starts(with: number.key) {
            try turn.store.setValue(nil, .untoldFiles, key)
        }
        people.cardsShared[number] = nil
        peers.confirmations.forget(number)
        epochs[number] = nil
        courier.relayUpkeep.forget(number)
        courier.outbox.forget(number)
        courier.suspectedGaps.forget(number)
        courier.repairs.forget(number)
        courier.reminders.forget(number)
        _ = people.withdrawnInvitations.endWatch(of: number)
        try collectFilesSoon(&turn)
        for id in peers.links.keys.sorted() {
            peers.links[id]?.session?.forget(number)
            peers.links[id]?.unacknowledged[number] = nil
            peers.links[id]?.unasked.remove(number)
            peers.links[id]?.rounds[number] = nil
            peers.links[id]?.introduced.remove(number)
        }
        for relay in courier.lines.keys.sorted() {
            courier.lines[relay]?.underway[number] = nil
            courier.lines[relay]?.queues[number] = nil
            for (mailbox, open) in courier.lines[relay]?.mailboxes ?? [:]
            where open.use.space == number {
                courier.lines[relay]?.mailboxes[mailbox] = nil
            }
        }
    }

    // MARK: What own devices know of it

    /// What says on all own devices that a conversation was deleted on this one.
    private mutating func deletion(of space: SpaceRecord) -> Preference {
        let graph = rosters.judges[space.number]?.graph
        let expulsions =
            graph?.expulsions(of: identity.person, limit: Deletion.expulsionCountMax) ?? []
        return Preference(
            .deleted, about: space.id.bytes, Deletion(expulsions: expulsions).bytes)
    }

    /// Whether a group was deleted on an own device since the person was in it last.
    func isDeleted(_ space: SpaceRecord, _ store: some Store) throws(StoreError) -> Bool {
        guard space.kind == .group, let ownSpace, let judge = rosters.judges[space.number],
            judge.roster.member(identity.person) == nil
        else { return false }
        let said = try Overview.preference(
            .deleted, about: space.id.bytes, ownSpace: ownSpace.number, in: store)
        guard let deletion = said.flatMap(Deletion.init) else { return false }
        return judge.graph.isOut(identity.person, since: deletion.expulsions)
    }

    /// Forgets groups that were deleted and that another own device introduced again. A device that
    /// has more of one keeps it: deleting concerns one device.
    mutating func forgetDeleted(_ turn: inout some Turn) throws(StoreError) {
        guard let ownSpace else { return }
        for said in try Overview.preferences(.deleted, ownSpace: ownSpace.number, in: turn.store) {
            guard let id = SpaceID(said.topic), let space = try turn.store.space(id) else {
                continue
            }
            try prepare(space, turn.store)
            guard try isDeleted(space, turn.store), try holdsControlOfOthersAlone(space, turn.store)
            else {
                continue
            }
            try remove(space, &turn)
        }
    }

    // MARK: Coming back

    /// Whether a conversation of two that may have been deleted here is taken in: while the other
    /// person is a contact.
    func mayReturn(
        _ id: SpaceID, _ roster: Roster, _ store: some Store
    ) throws(StoreError) -> Bool {
        var wasDeleted = false
        for lane in Lane.allCases where try formerLog(lane, of: id, store) != nil {
            wasDeleted = true
        }
        // Or on another own device, where this one had written nothing.
        if let ownSpace {
            let said = try Overview.preference(
                .deleted, about: id.bytes, ownSpace: ownSpace.number, in: store)
            wasDeleted = wasDeleted || said != nil
        }
        guard wasDeleted else { return true }
        return try isAmongContacts(roster, store)
    }

    /// Withdraws the deletion of conversations of two that are here again and whose other person is
    /// a contact: otherwise a later device would not accept them once that person no longer is.
    mutating func noteReturns(_ turn: inout some Turn) throws(StoreError) {
        guard let ownSpace, try mayWrite(turn.store) else { return }
        for said in try Overview.preferences(.deleted, ownSpace: ownSpace.number, in: turn.store) {
            guard let id = SpaceID(said.topic), let space = try turn.store.space(id),
                space.kind == .direct, let roster = try roster(of: space, turn.store),
                try isAmongContacts(roster, turn.store)
            else { continue }
            let word = Preference(.deleted, about: id.bytes, [])
            try keep(word, &turn)
        }
    }

    private func isAmongContacts(_ roster: Roster, _ store: some Store) throws(StoreError) -> Bool {
        for member in roster.members where member.person != identity.person {
            if try !isAccepted(member.person, store) { return false }
        }
        return true
    }

    /// Lets logs continue where they ended when the conversation was deleted here. Lane 0 comes
    /// back from the others.
    func restoreEnds(in space: SpaceRecord, _ store: some Store) throws(StoreError) {
        for lane in Lane.allCases where lane != .control {
            guard let former = try formerLog(lane, of: space.id, store) else { continue }
            try restore(former, of: identity.device, lane, in: space, store)
        }
        for (former, author) in try formerLogs(of: space, store) {
            try restore(former, of: author.device, author.lane, in: space, store)
        }
    }

    /// The ends of logs of a conversation that was deleted here, for records that name the author.
    private func formerLogs(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [(FormerLog, FormerLog.Author)] {
        try store.values(.formerLog).compactMap { key, value in
            guard let former = FormerLog(value), let author = former.author else { return nil }
            let name = OperationHash.log(
                space: space.id, device: author.device, lane: author.lane)
            return key == name.bytes ? (former, author) : nil
        }
    }

    /// Restores, for logs that begin where they were deleted, what they had seen of lane 0 there,
    /// as soon as that is held again. Returns whether more is known than before.
    func learnFormerViews(
        in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let judge = rosters.judges[space.number] else { return false }
        var isMore = false
        for (former, author) in try formerLogs(of: space, store)
        where author.lane.carriesAuthority {
            let name = OperationHash.log(
                space: space.id, device: author.device, lane: author.lane)
            guard let log = try store.log(LogTag(name), in: space.number),
                log.floor == former.point, let tips = judge.tips([], naming: author.view)
            else { continue }
            let last = former.end - 1
            let row = LogView(first: last, tips: tips, endsHere: !log.holds(last))
            guard try store.view(at: row.first, in: log.number) != row else { continue }
            try store.setView(row, in: log.number)
            try ViewWalk.again(through: log, judge, store)
            isMore = true
        }
        return isMore
    }

    private func restore(
        _ former: FormerLog, of device: DeviceID, _ lane: Lane, in space: SpaceRecord,
        _ store: some Store
    ) throws(StoreError) {
        let name = OperationHash.log(space: space.id, device: device, lane: lane)
        // Logs are named by half of a hash: two may share a name.
        guard try store.log(LogTag(name), in: space.number) == nil else { return }
        var log = try store.addLog(name, device: device, lane: lane, in: space.number)
        log.begin(at: former.point, below: former.stand)
        try store.update(log)
    }

    /// Whether all is held that this device ever wrote into the control log of a space, as far as it
    /// knows. Before that it writes nothing there.
    func holdsOwnControl(
        of space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard let former = try formerLog(.control, of: space.id, store) else { return true }
        let name = OperationHash.log(space: space.id, device: identity.device, lane: .control)
        return try store.log(LogTag(name), in: space.number)?.end ?? 0 >= former.end
    }

    /// Operations of lane 0 for which a person's commands leave room: new keys, and what ties heads together.
    static let controlReserve = 256

    /// Whether this device may write so many operations into the control log of a space.
    func hasControlRoom(
        in space: SpaceRecord, besides count: Int, _ store: some Store
    ) throws(StoreError) -> Bool {
        let end = try ownControlEnd(in: space, store)
        // Each may first have to tie as many heads together as there are devices.
        let ties = Limits.deviceCountMax / Limits.dependencyCountMax
        return end + UInt64(count + ties) <= Limits.controlOperationCountMax
    }

    /// How many operations this device has written into the control log of a space.
    func ownControlEnd(in space: SpaceRecord, _ store: some Store) throws(StoreError) -> UInt64 {
        let name = OperationHash.log(space: space.id, device: identity.device, lane: .control)
        return try store.log(LogTag(name), in: space.number)?.end ?? 0
    }

    private func formerLog(
        _ lane: Lane, of space: SpaceID, _ store: some Store
    ) throws(StoreError) -> FormerLog? {
        let name = OperationHash.log(space: space, device: identity.device, lane: lane)
        return try FormerLog.kept(name, in: store)
    }
}
