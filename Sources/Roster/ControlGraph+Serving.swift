public import ParleyLedger
public import ParleyWire

extension ControlGraph {
    /// Whether any operation admits the device, even one that does not hold: its operations in lane
    /// 0 are then kept, so that everybody holds the same whatever arrived first.
    public func admits(_ device: DeviceID) -> Bool { authorities.index.devices.contains(device) }

    /// What a device that is out may know of the control lane: the past of everything that puts it
    /// out, including that, and of what voids later admissions of it, or what would have kept it in: what
    /// the person wrote against those who put it out. Where a branch above a proven fork
    /// decides that it is out, it may know as well what vouches for branches, for without that it could
    /// not see so.
    ///
    /// - Parameter base: the graph in which every log with a proven fork ends at its fork.
    /// - Returns: the highest place of each log.
    public func departure(
        of device: DeviceID, _ person: PersonID, below base: ControlGraph? = nil
    ) -> [LogTip] {
        let endings = endings(of: device, person)
        var set = ClosedSet()
        for node in endings.map({ nodes[$0] }) {
            set.formUnion(node.past)
            set.raise(node.log, to: Int(node.sequence) + 1)
        }
        let challenges = challenges(by: person, against: endings)
        let reasons = reasons(against: device, person) + reasons(against: challenges)
        if let reasons = self.set(of: ControlTips(reasons)) { set.formUnion(reasons) }
        if let base, !endings.isEmpty {
            let known = Set(base.endings(of: device, person).map { base.nodes[$0].id })
            if endings.contains(where: { !known.contains(nodes[$0].id) }),
                let words = self.set(of: ControlTips(base.voucherPlaces))
            {
                set.formUnion(words)
            }
        }
        return places(of: set)
    }

    /// The nodes that hold and put this device of a person out.
    private func endings(of device: DeviceID, _ person: PersonID) -> [Int] {
        nodes.indices.filter { number in
            nodes[number].authority.map {
                authorities.whole.holds($0) && authorities.index[$0].puts(device, of: person)
            } ?? false
        }
    }

    /// What the devices of a former member may know of the control lane from each other: the past
    /// of everything that puts the person out, and of everything that says that they had accepted.
    ///
    /// - Returns: the highest place of each log.
    public func departure(of person: PersonID) -> [LogTip] {
        let index = authorities.index
        let accepted = Set(acceptances[person]?.values.map { $0 } ?? [])
        var set = ClosedSet()
        for (number, node) in nodes.enumerated() {
            let isSaid =
                node.authority.map {
                    authorities.whole.holds($0)
                        && (index[$0].expels(person) || index[$0].impliesConsent(of: person))
                } ?? accepted.contains(number)
            guard isSaid else { continue }
            set.formUnion(node.past)
            set.raise(node.log, to: Int(node.sequence) + 1)
        }
        return places(of: set)
    }

    /// What a device admitted only by void operations may know of the control lane: the past of
    /// what voids them, including that. It takes itself for a member until it hears so.
    ///
    /// - Returns: the highest place of each log; none where nothing ever let the device in.
    public func refusal(of device: DeviceID, _ person: PersonID) -> [LogTip] {
        set(of: ControlTips(reasons(against: device, person))).map(places) ?? []
    }

    /// Whether a device that is out may be told more of `former`: this graph holds more, some of
    /// that admits the device, and what is held in `former` voids it.
    public func tells(
        _ device: DeviceID, of person: PersonID, moreThan former: ControlGraph
    ) -> Bool {
        var known: [LogTag: UInt64] = [:]
        for place in former.departure(of: device, person) {
            known[place.tag] = place.sequence + 1
        }
        return departure(of: device, person).contains { place in
            let held = former.logNumbers[place.tag].map { former.logs[$0].nodes.count } ?? 0
            return min(place.sequence + 1, UInt64(held)) > known[place.tag] ?? 0
        }
    }

    /// The devices that have left for a person, by what holds.
    public func leavers(of person: PersonID) -> Set<DeviceID> {
        let index = authorities.index
        let left = nodes.compactMap(\.authority).filter {
            index[$0].deed == .leave && index[$0].author == person && authorities.whole.holds($0)
        }
        return Set(left.map { index[$0].device })
    }

    /// What a person wrote against those who put them out, unseen by these, and does not hold: whoever has
    /// not heard what voids it takes the person for a member.
    private func challenges(by person: PersonID, against endings: [Int]) -> [Int] {
        let index = authorities.index
        let ends = endings.compactMap { nodes[$0].authority }
        guard !ends.isEmpty else { return [] }
        return index.nodes.indices.filter { number in
            guard index[number].author == person, !authorities.whole.holds(number) else {
                return false
            }
            switch index[number].deed {
            case .remove(let other), .setRole(let other, _):
                return ends.contains {
                    index[$0].author == other && !index.isInPast(number, of: $0)
                }
            case .genesis, .add, .leave, .addDevices, .revokeDevice, .settings, .invite,
                .endInvite, .redeem:
                return false
            }
        }
    }

    /// What voids those admissions of a device that do not hold.
    private func reasons(against device: DeviceID, _ person: PersonID) -> [LogTip] {
        let index = authorities.index
        return reasons(
            against: (index.testimonies[person] ?? []).filter {
                index[$0].testimony(of: person)?.devices.contains(device) == true
            })
    }

    /// What voids those of some operations that do not hold, or what gave their authors the right.
    private func reasons(against operations: [Int]) -> [LogTip] {
        let (index, whole) = (authorities.index, authorities.whole)
        var pending = operations
        var met: Set<Int> = []
        var reasons: [LogTip] = []
        while let node = pending.popLast() {
            guard met.insert(node).inserted else { continue }
            switch whole.verdict(on: node, index) {
            case .holds, .unproven: break
            case .ungranted:
                pending += index[node].grants + (index[node].sponsor?.grants ?? [])
            case .revoked(let other): reasons.append(index[other].place)
            case .usedUp(let invite):
                let others = whole.holding(index.redemptions[invite])
                reasons += others.filter { index[$0].key < index[node].key }
                    .map { index[$0].place }
            }
        }
        return reasons
    }

    private func places(of set: ClosedSet) -> [LogTip] {
        logs.indices.filter { set.count(of: $0) > 0 }.map {
            LogTip(tag: logs[$0].tag, sequence: UInt64(set.count(of: $0)) - 1)
        }
    }
}

extension AuthorityNode {
    /// Whether it puts this device of this person out.
    fileprivate func puts(_ device: DeviceID, of person: PersonID) -> Bool {
        if case .revokeDevice(_, device) = deed { return true }
        return expels(person)
    }
}
