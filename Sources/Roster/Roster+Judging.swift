public import ParleyWire

/// What a roster knows beside its members: the former members, and what ended their membership.
struct Standings: Equatable, Sendable {
    /// Whose a device in the roster is.
    var persons: [DeviceID: PersonID] = [:]
    /// Devices that had been admitted and are out.
    var former: [DeviceID: FormerDevice] = [:]
    /// All removals, revocations and demotions to reader that hold, each after those that it had seen.
    var revocations: [Revocation] = []
}

/// A device that was in the space.
struct FormerDevice: Equatable, Sendable {
    /// Whose it was.
    let person: PersonID
    /// How much of its logs of lanes 1 to 4 counts, by lane.
    let limits: [LogLimit]
    /// The highest places below which anything that let its person in gave nothing.
    let horizon: Horizon
}

/// Something that ends the operations of a person or a device.
struct Revocation: Equatable, Sendable {
    /// The operation.
    let id: OperationID
    /// How many authority operations its author had seen: of two in a row the first had seen fewer.
    let depth: Int
    /// The affected person, with all devices or this one.
    let person: PersonID
    let device: DeviceID?
    /// How far their logs count; nil by an author whose cut is ignored.
    let cut: Cut?
    /// Of each log that ended something of this person before, the last that its author had seen.
    var earlier: [OperationID] = []

    /// Whether one stands before another, which may have seen it.
    static func precedes(_ one: Revocation, _ other: Revocation) -> Bool {
        (one.depth, one.id) < (other.depth, other.id)
    }
}

extension Roster {
    /// How much of a log of this device is taken, kept in digests and served.
    public func limit(of device: DeviceID, lane: Lane) -> LogLimit {
        if lane == .control || contains(device) { return .all }
        guard let former = standings.former[device] else { return .none }
        return former.limits[Int(lane.rawValue) - 1]
    }

    /// Whether the operation at a place counts by this roster, given that its author could write it
    /// by what it had seen.
    ///
    /// - Parameter view: the roster that the author had seen. Whether *that* lets the author do
    ///   it is asked of ``member(with:)``.
    public func judges(
        _ device: DeviceID, _ lane: Lane, _ sequence: UInt64, view: Roster
    ) -> Bool {
        switch lane {
        case .control: return true
        case .receipts: return limit(of: device, lane: lane).reaches(sequence)
        case .content, .notes, .shared: break
        }
        // What is served to nobody must not count for those who happen to have it.
        guard person(of: device) != nil, limit(of: device, lane: lane).reaches(sequence)
        else { return false }
        return end(of: device, lane, view: view).map { sequence < $0 } ?? true
    }

    /// The first place in a log of this device that does not count where its author had seen no more than
    /// `view`: a removal, a revocation or a demotion to reader that it does not hold hits them. Nil where
    /// none does.
    ///
    /// Of several, those count that had seen no other of them, and of these the highest cut: who puts a
    /// person out again, after they were back, brings nothing back that had ended before.
    public func end(of device: DeviceID, _ lane: Lane, view: Roster) -> UInt64? {
        guard let person = person(of: device) else { return nil }
        var end: UInt64?
        var first: Set<OperationID> = []
        var later: Set<OperationID> = []
        for revocation in standings.revocations where revocation.person == person {
            let isLater = revocation.earlier.contains { first.contains($0) || later.contains($0) }
            if isLater { later.insert(revocation.id) }
            guard (revocation.device ?? device) == device, !view.holds(revocation) else { continue }
            guard let cut = revocation.cut else {
                end = end ?? 0
                continue
            }
            if isLater { continue }
            first.insert(revocation.id)
            end = max(end ?? 0, cut.end(of: device, lane))
        }
        return end
    }

    /// The places in a log of this device from which a remover of its person, or a revoker of the
    /// device, or one who made the person a reader, had nothing; ascending. Operations from there
    /// on by an author who had not seen that no longer count, even if they are back.
    public func endings(of device: DeviceID, lane: Lane) -> [UInt64] {
        guard let person = person(of: device) else { return [] }
        let places = standings.revocations.filter { revocation in
            revocation.person == person && (revocation.device ?? device) == device
        }.map { $0.cut?.end(of: device, lane) ?? 0 }
        return Set(places).sorted()
    }

    /// What ended a place in a log of this device, of which its author, who had seen no more than `view`, had
    /// not heard: of several the first. Nil where nothing did.
    public func ending(
        of device: DeviceID, _ lane: Lane, at sequence: UInt64, view: Roster
    ) -> OperationID? {
        guard let person = person(of: device) else { return nil }
        return standings.revocations.first { revocation in
            revocation.person == person && (revocation.device ?? device) == device
                && revocation.cut.map { $0.end(of: device, lane) <= sequence } ?? true
                && !view.holds(revocation)
        }?.id
    }

    /// Whether the author had seen it: then who could write all the same had come back since.
    private func holds(_ revocation: Revocation) -> Bool {
        let found = standings.revocations.firstIndex(
            afterAll: { Revocation.precedes($0, revocation) })
        return found < standings.revocations.count
            && standings.revocations[found].id == revocation.id
    }
}

extension Cut {
    /// The first place in a log that lies beyond it.
    fileprivate func end(of device: DeviceID, _ lane: Lane) -> UInt64 {
        place(of: device, lane).map { $0.sequence + 1 } ?? 0
    }
}
