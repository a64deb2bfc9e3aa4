import ParleyFiles
import ParleyLedger
import ParleyWire

/// Giving peers the pieces that they asked for.
/// Source: `Protocol/13-files.md`, "Serving".
extension NodeCore {
    /// Pieces that go to a peer at a time, before it has taken them.
    private static let servedPieceCountMax = 2
    /// Pieces that a person may be given in an hour for nothing, whatever is held: 256 MiB.
    static let givenPieceCountMin: UInt64 = 4_096
    /// How long pieces wait for who cannot pay for them, in milliseconds.
    private static let givenPieceRest: UInt64 = 500

    /// Sends peers the next requested pieces once they have consumed the previous ones. This comes
    /// last in a step, so that messages go first.
    mutating func serveFiles(_ turn: inout some Turn) throws(StoreError) {
        for link in fileDesk.served {
            guard let peer = peers.links[link], peer.session != nil else {
                fileDesk.close(link)
                continue
            }
            try serveFiles(of: peer.peer.person, on: link, &turn)
        }
    }

    /// Within an hour a person gets twice all that is held here for nothing; what goes beyond that is
    /// given as they can pay for it, and waits meanwhile.
    private mutating func serveFiles(
        of person: PersonID, on link: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        let heldCount = max(0, fileDesk.room.byteCount) / Limits.chunkByteCount
        let free = Self.givenPieceCountMin + 2 * UInt64(heldCount)
        let now = turn.now.monotonic
        for place in 0..<Self.servedPieceCountMax {
            guard peers.allowances.mayBeGivenPiece(person, freely: free, at: now) else {
                timers.hasten(.files, in: Self.givenPieceRest, &turn)
                if place == 0 { return }
                break
            }
            guard let frame = try fileDesk.server.next(for: link, from: turn.store.blobs) else {
                break
            }
            peers.allowances.givePiece(to: person, freely: free, at: now)
            turn.emit(.send(link, frame.encoded()))
            fileDesk.fill(link)
        }
        turn.emit(.tellRoom(link))
    }
}
