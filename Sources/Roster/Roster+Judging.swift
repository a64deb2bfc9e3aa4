public import ParleyWire

/// What a roster knows beside its members: the former members, and what ended their membership.
struct Standings: Equatable, Sendable {
    /// Whose a device in the roster is.
    var persons: [DeviceID: PersonID] = [:]
    /// Devices that had been admitted and are out.
    var former: [DeviceID: FormerDevice] = [:]
    /// All removals, revocations and demotions to reader that hold, ascending by operation.
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
    /// The affected person, with all devices or this one.
    let person: PersonID
    let device: DeviceID?
    /// How far their logs count.
    let cut: Cut

    /// The same by an author whose cut is ignored.
    var withoutCut: Revocation { Revocation(id: id, person: person, device: device, cut: Cut()) }
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
    public func end(of device: DeviceID, _ lane: Lane, view: Roster) -> UInt64? {
        guard let person = person(of: device) else { return nil }
        var end: UInt64?
        for revocation in standings.revocations
        where revocation.person == person && (revocation.device ?? device) == device
            && !view.holds(revocation)
        {
            let next = revocation.cut.place(of: device, lane).map { $0.sequence + 1 } ?? 0
            end = max(end ?? 0, next)
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
        }.map { $0.cut.place(of: device, lane).map { $0.sequence + 1 } ?? 0 }
        return Set(places).sorted()
    }

    /// Whether the author had seen it: then who could write all the same had come back since.
    private func holds(_ revocation: Revocation) -> Bool {
        let found = standings.revocations.firstIndex(afterAll: { $0.id < revocation.id })
        return found < standings.revocations.count
            && standings.revocations[found].id == revocation.id
    }
}
