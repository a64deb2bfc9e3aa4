import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// What is missing here of a conversation that this person left, or deleted, and came back to.
/// Source: `Protocol/08-roster.md`, "Horizons".
extension Views {
    /// Whether there were messages in a conversation that this device does not hold: all of before its
    /// person came back into a group, or before it was deleted here; or the last ones of another device of
    /// theirs, which nobody else tells apart from what was said while they were out. Logs of messages begin
    /// above them.
    ///
    /// - Parameter logs: those of the conversation.
    func lacksEarlier(_ space: SpaceRecord, _ roster: Roster, _ logs: [LogRecord]) throws -> Bool {
        guard roster.takesPart(ownPerson) else { return false }
        let later = logs.filter { $0.lane == .content && $0.base > 0 }
        let own = Set(roster.everyDevice(of: ownPerson))
        guard !later.isEmpty,
            later.allSatisfy(\.lacksBeginning)
                || later.contains(where: { own.contains($0.device) && !$0.holds($0.base - 1) })
        else { return false }
        // A person who only came later is told nothing of a time before theirs.
        return try space.kind == .direct || rosters.hasReturned(ownPerson, to: space, in: store)
    }

    /// Whether messages from before the person came back into a group are here.
    func holdsEarlier(_ space: SpaceRecord) throws -> Bool {
        guard space.kind == .group else { return false }
        let came = try MembershipHistory.events(of: space, in: store).last { event in
            guard event.holds, event.person == ownPerson else { return false }
            return switch event.change {
            case .added, .joined: true
            case .founded, .removed, .left, .declined, .becameRole, .addedDevices, .revokedDevice:
                false
            }
        }
        guard let place = came?.place else { return false }
        return try !store.messages(in: space.number, before: place, limit: 1).isEmpty
    }

    /// Whether what people do together in a conversation with these logs is not here from before it was
    /// deleted on this device. Nothing else lets a log of that begin above its first operation.
    static func lacksShared(_ logs: [LogRecord]) -> Bool {
        logs.contains { SharedWord.lanes.contains($0.lane) && $0.lacksBeginning }
    }

    /// For a group that the person is out of and of which this device, which was never in it, has
    /// only the control log: the names of their devices that were in it.
    func heldOn(_ space: SpaceRecord, _ roster: Roster) throws -> [String]? {
        let own = core.node.device
        guard space.kind == .group, roster.member(ownPerson) == nil, roster.person(of: own) == nil
        else { return nil }
        let isHeld = try store.logs(in: space.number).contains {
            $0.lane != .control && $0.heldCount > 0
        }
        if isHeld { return nil }
        let were = Set(roster.devicesEver(of: ownPerson).map(\.description))
        let all = try devices()
        return all.filter { $0.state != "revoked" && were.contains($0.device) }
            .map { $0.label(among: all) }
    }
}

extension LogRecord {
    /// Whether it begins above its first operation here, and nothing is held below.
    fileprivate var lacksBeginning: Bool {
        base > 0 && !spans.contains { $0.first < base }
    }
}

extension RosterReader {
    /// Whether a member had taken part before something took them out that holds. Who declined an
    /// invitation wrote nothing but that they leave.
    static func hasReturned(
        _ person: PersonID, to space: SpaceRecord, _ roster: Roster, in store: some LogStore
    ) throws(StoreError) -> Bool {
        let graph = try judge(of: space, in: store).graph
        let expulsions = graph.expulsions(of: person, limit: .max)
        guard !expulsions.isEmpty else { return false }
        // One that is revoked since may have written everything that mentions them.
        let own = roster.everyDevice(of: person)
        var (words, ends) = ([LogTip](), [LogTip]())
        for log in try store.logs(in: space.number) where log.lane == .control && log.end > 0 {
            for stored in try store.operations(in: log.number, 0...log.end - 1, limit: .max) {
                let place = LogTip(tag: log.tag, sequence: stored.sequence)
                if expulsions.contains(stored.id) {
                    ends.append(place)
                } else if own.contains(log.device), stored.operation.header.kind != .leave {
                    words.append(place)
                }
            }
        }
        return ends.contains { end in words.contains { graph.isInPast($0, of: end) } }
    }
}
