import ParleyWire

/// What a node holds below floors, from an earlier time in a space, is placed once a floor is set: from then
/// on nothing that arrives moves it.
///
/// Source: `Protocol/03-operations.md`, "Order".
extension LogStore {
    /// Puts what is held right below each floor of a space where the floor says that it stands: there is it for
    /// everybody who is given what lies above. Who held it before they were out may have placed it without
    /// what it follows from; what follows from it, and is held below a floor as well, goes below it.
    public func placeBelowFloors(in space: SpaceNumber) throws(StoreError) {
        let logs = try logs(in: space).filter { $0.base > 0 }
        var hasMoved = false
        for log in logs where try moveToFloor(of: log) { hasMoved = true }
        guard hasMoved else { return }
        var held = try HeldBelowFloors(logs.filter { $0.lane.carriesAuthority }, self)
        try held.place(in: self)
    }

    /// Returns whether something stands elsewhere than before.
    private func moveToFloor(of log: LogRecord) throws(StoreError) -> Bool {
        guard let floor = log.floor, let stand = log.order.floor, floor.sequence > 0,
            let held = try header(at: floor.sequence - 1, in: log.number),
            held.id == floor.anchor, held.stand != stand
        else { return false }
        try setStand(stand, of: held.number)
        return held.stand.value != stand.value
    }
}

/// The operations of a space that are held below floors, with where they stand.
private struct HeldBelowFloors {
    private var operations: [(log: LogRecord, header: StoredHeader)] = []
    private var stands: [LogTip: Stand] = [:]
    private var checks: [LogTip: Check] = [:]
    private var moved: [LogTip: OperationNumber] = [:]

    init(_ logs: [LogRecord], _ store: some LogStore) throws(StoreError) {
        for log in logs {
            for header in try store.headers(in: log.number, 0...log.base - 1, limit: .max) {
                let place = LogTip(tag: log.tag, sequence: header.sequence)
                operations.append((log, header))
                (stands[place], checks[place]) = (header.stand, header.id.check)
            }
        }
    }

    /// Moves what stands at or above something that it follows from right below that, and what follows from it
    /// in turn. Names that match form no cycle.
    mutating func place(in store: some LogStore) throws(StoreError) {
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            for (log, header) in operations {
                // Where the last one stands, its floor says.
                guard header.sequence + 1 < log.base, let past = past(of: header, in: log) else {
                    continue
                }
                let place = LogTip(tag: log.tag, sequence: header.sequence)
                guard let stand = stands[place], stand.value <= past else { continue }
                stands[place]?.value = past + 1
                moved[place] = header.number
                hasMoved = true
            }
        }
        for (place, number) in moved.sorted(by: { $0.value < $1.value }) {
            if let stand = stands[place] { try store.setStand(stand, of: number) }
        }
    }

    /// The greatest stand of what it follows from; nil where nothing of that is held here.
    private func past(of header: StoredHeader, in log: LogRecord) -> UInt64? {
        var past: UInt64?
        if header.sequence > 0 {
            past = stands[LogTip(tag: log.tag, sequence: header.sequence - 1)]?.value
        }
        for name in log.names(in: header.header, at: header.sequence) {
            let place = LogTip(name)
            guard checks[place] == name.check, let stand = stands[place] else { continue }
            past = max(past ?? 0, stand.value)
        }
        return past
    }
}
