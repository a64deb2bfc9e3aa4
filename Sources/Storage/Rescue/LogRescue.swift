public import ParleyLedger
import ParleyNodeCore
public import ParleyWire

/// A log whose record does not open, and whose author nobody can tell.
public struct LostLog: Equatable, Sendable {
    /// The space that it is of.
    public let space: SpaceNumber
    /// Its name everywhere.
    public let id: LogID
    /// The places of it that were held.
    public let places: ClosedRange<UInt64>
}

/// The author of a log is sealed in its row. If that does not open, the name of the log still tells
/// it: it is a hash of its space, its author and its lane, and is the predecessor of the first
/// operation of the log.
extension SQLiteStore {
    /// Seals again which log a row is, if the devices of other logs tell whose it is.
    ///
    /// - Returns: how many rows are whole again.
    func renewLogs(_ report: inout RescueReport) throws(StoreError) -> Int {
        let strange = strangeRows.filter { $0.table == "log" }.map(\.number)
        guard !strange.isEmpty else { return 0 }
        let devices = Set(
            records.spaces.flatMap { records.logs[$0.number] ?? [] }.map(\.device)
        ).sorted()
        var found: [(row: Int64, id: LogID, device: DeviceID)] = []
        let rows = try connection.prepare("SELECT space, lane, spans FROM log WHERE number = ?")
        for number in strange {
            rows.bind(1, number)
            defer { rows.reset() }
            guard try rows.step("reading a log that does not open"),
                let space = records.space(SpaceNumber(rows.integer(0))),
                let lane = UInt8(exactly: rows.integer(1)).flatMap(Lane.init),
                // A row that is damaged in two places tells nothing.
                let spans = try? Span.list(rows.array(2)), let first = spans.first,
                let last = spans.last
            else { continue }
            var author: (id: LogID, device: DeviceID)?
            for device in devices where author == nil {
                let id = OperationHash.log(space: space.id, device: device, lane: lane)
                if try isName(id, by: device, of: number, first, last) { author = (id, device) }
            }
            if let author {
                found.append((number, author.id, author.device))
            } else if first.first == 0 {
                report.lostLogs.append(
                    LostLog(
                        space: space.number, id: LogID(reinterpreting: first.anchor),
                        places: 0...last.last))
            }
        }
        try begin(.full)
        for log in found { try renew(log.row, log.id, log.device) }
        try loadForks()
        try commit()
        return found.count
    }

    /// Whether a log has this name: its first operation stands on it, or its author has signed that.
    private func isName(
        _ id: LogID, by device: DeviceID, of number: Int64, _ first: Span, _ last: Span
    ) throws(StoreError) -> Bool {
        if first.first == 0 { return first.anchor == OperationID(reinterpreting: id) }
        return try heads(in: LogNumber(number), last.last...last.last).contains { head in
            OperationHash.isSigned(head, log: id, operation: last.tip, by: device)
        }
    }

    private func renew(_ row: Int64, _ id: LogID, _ device: DeviceID) throws(StoreError) {
        let update = try connection.prepare("UPDATE log SET definition = ? WHERE number = ?")
        update.bind(1, copying: try seal(id.bytes + device.bytes, .logDefinition, row: row))
        update.bind(2, row)
        try update.run("naming a log anew")
        strangeRows.removeAll { $0.table == "log" && $0.number == row }
        try loadLog(row)
    }
}
