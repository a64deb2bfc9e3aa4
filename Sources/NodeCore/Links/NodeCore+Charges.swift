import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyWire

extension FrameWork {
    /// The cost of proving operations of these many bytes, where nothing comes of it.
    public static func proving(operationCount: Int, byteCount: Int = 0) -> UInt64 {
        UInt64(operationCount) / 4 + UInt64(byteCount) / 4_096
    }

    /// The same for all that was decoded within a room.
    static func proving(_ room: DecodingRoom) -> UInt64 {
        proving(operationCount: room.taken.operationCount, byteCount: room.taken.byteCount)
    }

    /// The cost of reading what an envelope or a letter holds, whatever that is.
    public static func parcel(byteCount: Int) -> UInt64 { UInt64(byteCount) / 256 }
}

/// What is charged once it is known what a frame holds.
/// Source: `Protocol/06-sync.md`, "What a peer may cost".
extension NodeCore {
    /// Charges for a frame of operations. If nothing of it was new, no credit pays for the look at it; what
    /// was hashed and is proven by nothing is paid for in any case. It is not dropped unread, since others of
    /// its operations might be new.
    mutating func charge(
        for operations: Operations, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        // A frame that ends the link is charged as a whole.
        guard peers.links[id]?.isEnding == false else { return }
        let look = intake.yield.newsCount == 0 ? FrameWork.nothingNew(operations) : 0
        let work = look + FrameWork.proving(operationCount: intake.yield.vainCount)
        guard work > 0 else { return }
        try charge(work, on: id, &turn)
    }

    /// Charges a person for the logs that were walked for a frame about spaces: how many these are its size
    /// does not tell.
    mutating func chargeWalk(on id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        let work = (peers.links[id]?.session?.takeWalkedCount() ?? 0) / FrameWork.logsEach
        guard work > 0 else { return }
        try charge(work, on: id, &turn)
    }

    /// Charges for a frame with which a link ended, by all that was decoded of it: a peer can open another
    /// link, and end that as well.
    mutating func chargeLast(_ room: DecodingRoom, on id: LinkID, _ turn: inout some Turn) {
        let work = FrameWork.proving(room)
        guard work > 0, let link = peers.links[id] else { return }
        _ = peers.allowances.take(
            work, for: link.peer.person, sharing: link.spaces.count, at: turn.now.monotonic,
            orDropFor: work)
    }

    private mutating func charge(
        _ work: UInt64, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let person = peers.links[id]?.peer.person,
            let spaceCount = peers.links[id]?.session?.sharedCount
        else { return }
        let verdict = peers.allowances.take(
            work, for: person, sharing: spaceCount, at: turn.now.monotonic, orDropFor: work)
        if verdict == .farOver { try flooded(id, &turn) }
    }
}
