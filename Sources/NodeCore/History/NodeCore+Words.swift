import ParleyConversation
public import ParleyLedger
import ParleyReconciliation
import ParleyRoster
public import ParleyWire

/// The place from which it is known whether this device's operations of lanes 3 and 4, and of lane 0 of groups,
/// are delivered. No receipt reports them, and what was acknowledged on links is lost in a repair:
/// nothing is known about earlier ones, and nothing is shown.
extension NodeCore {
    private static func key(ofWordsIn log: LogTag) -> [UInt8] { Array("words".utf8) + log.bytes }

    /// Notes where that begins, with the first that is written in each.
    func noteWords(
        _ applied: [AppliedOperation], in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) {
        guard space.kind != .own else { return }
        // Nobody changes who is in a conversation of two.
        for lane in space.kind == .group ? SharedWord.acknowledgedLanes : SharedWord.lanes {
            guard let first = applied.first(where: { $0.log.lane == lane }) else { continue }
            let key = Self.key(ofWordsIn: first.log.tag)
            if try store.number(.profile, key) == nil {
                try store.setNumber(first.operation.sequence, .profile, key)
            }
        }
    }

    /// The first place in the logs of a device in those lanes of which that is known; none where nothing is.
    public static func wordsKnown(
        of space: SpaceRecord, by device: DeviceID, in store: some NodeStore
    ) throws(StoreError) -> [LogTag: UInt64] {
        var known: [LogTag: UInt64] = [:]
        for tag in SharedWord.logs(
            of: space.id, by: device, in: SharedWord.acknowledgedLanes)
        {
            known[tag] = try store.number(.profile, key(ofWordsIn: tag))
        }
        return known
    }

    /// A linked device holds everything of a space. If it could not acknowledge this device's
    /// operations, because it or the link ended first, it does so once the last of them is sent
    /// again.
    /// Source: `Protocol/06-sync.md`, "ACK".
    mutating func askForAcknowledgement(
        in number: SpaceNumber, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let device = peers.links[id]?.peer.device, let space = try turn.store.space(number)
        else {
            return
        }
        var known = try Self.wordsKnown(of: space, by: identity.device, in: turn.store)
        if peers.links[id]?.session?.shares(number) != true {
            guard try roster(of: space, turn.store)?.isGuest(device) == true else {
                return try heardLeave(in: space, on: id, &turn)
            }
            // They hold nothing else.
            let control = OperationHash.log(
                space: space.id, device: identity.device, lane: .control)
            known = known.filter { $0.key == LogTag(control) }
        }
        guard !known.isEmpty else { return }
        let said = try acknowledgedEnds(in: space, turn.store)[device] ?? [:]
        for tag in known.keys.sorted() {
            guard let log = try turn.store.agreedLog(tag, in: number), log.end > said[tag] ?? 0
            else { continue }
            try peers.links[id]?.session?.sendLastAgain(of: tag, in: number, store: turn.store)
        }
    }

    /// Forgets it, with the acknowledgements.
    public static func forgetWords(
        of space: SpaceRecord, by device: DeviceID, in store: some NodeStore
    ) throws(StoreError) {
        for tag in SharedWord.logs(
            of: space.id, by: device, in: SharedWord.acknowledgedLanes)
        {
            try store.setValue(nil, .profile, key(ofWordsIn: tag))
        }
    }
}
