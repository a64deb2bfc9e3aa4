import GRDB
import ParleyRelaying
import ParleyWire

/// What each share of a mailbox holds, so that a full one need not be counted through.
///
/// Of a drop nothing is kept: it is all one share, which is what the others leave of its sum.
extension RelayTransaction {
    /// Bytes that are dropped of one share before it is looked again which is the greatest.
    private static let pieceByteCount = Int64(Limits.envelopeByteCountMax)

    func shares(of mailbox: Mailbox) throws -> [RelayShare: UInt64] {
        let rows = try Row.fetchAll(
            statement("SELECT share, byte_count FROM shares WHERE mailbox = ?"),
            arguments: [mailbox.number])
        var shares: [RelayShare: UInt64] = [:]
        var rest = mailbox.byteCount
        for row in rows {
            let (number, byteCount): (UInt16, Int64) = (row[0], row[1])
            shares[RelayShare(number: number)] = UInt64(clamping: byteCount)
            rest -= byteCount
        }
        if rest > 0 { shares[RelayShare(number: 0)] = UInt64(rest) }
        return shares
    }

    /// Takes into account that a share grew, or shrank.
    func change(_ share: RelayShare, by byteCount: Int64, in mailbox: Int64) throws {
        guard share.number != 0 else { return }
        try execute(
            """
            INSERT INTO shares (mailbox, share, byte_count) VALUES (?1, ?2, ?3)
            ON CONFLICT (mailbox, share) DO UPDATE SET byte_count = byte_count + ?3
            """, [mailbox, share.number, byteCount])
        guard byteCount < 0 else { return }
        try execute(
            "DELETE FROM shares WHERE mailbox = ? AND share = ? AND byte_count <= 0",
            [mailbox, share.number])
    }

    /// Lets the oldest envelopes of one share go: so many bytes, or the most that go at once.
    ///
    /// - Returns: how many bytes went.
    func dropOldest(
        of share: RelayShare, _ byteCount: Int64, in mailbox: Int64
    ) throws -> Int64 {
        // In words that the partial index is found by.
        let isMeant = share.number == 0 ? "share = 0 AND ?2 = 0" : "share = ?2 AND share <> 0"
        let rows = try Row.fetchCursor(
            statement(
                """
                SELECT counter, length(bytes) FROM envelopes
                WHERE mailbox = ?1 AND \(isMeant) ORDER BY counter
                """), arguments: [mailbox, share.number])
        var gone: Int64 = 0
        var last: Int64?
        while gone < min(byteCount, Self.pieceByteCount), let row = try rows.next() {
            let (counter, size): (Int64, Int64) = (row[0], row[1])
            gone += size
            last = counter
        }
        guard let last else { return 0 }
        try execute(
            "DELETE FROM envelopes WHERE mailbox = ?1 AND \(isMeant) AND counter <= ?3",
            [mailbox, share.number, last])
        try change(share, by: -gone, in: mailbox)
        return gone
    }
}
