public import ParleyLedger
public import ParleySealing
public import ParleyWire

/// An epoch of a space, as everybody sees it.
public struct ControlEpoch: Hashable, Sendable {
    /// Its operation.
    public let id: OperationID
    /// The device that made it.
    public let author: DeviceID
    /// Where it stands.
    public let place: LogTip
    /// The roster that it is for.
    public let rosterDigest: Digest
    /// Where it stands in lane 0, in 2^-16 milliseconds: of several for one roster the last is used.
    public let stand: UInt64
    /// Its author's wall clock, in Unix milliseconds.
    public let wallClock: UInt64
    /// Whether it is sealed to exactly the devices of the roster that its author saw, as its author
    /// saw them. Everybody judges it alike, and leaves out any other.
    public let isSound: Bool
    let node: Int
}

/// What a graph knows about keys.
struct ControlKeys: Sendable {
    struct Leaf: Sendable {
        let node: Int
        let key: LeafKey
    }

    /// By device, as they stand in its log.
    var leaves: [DeviceID: [Leaf]] = [:]
    /// Every leaf that a device ever named: none is named twice.
    var named: [DeviceID: Set<LeafKey>] = [:]
    var epochs: [ControlEpoch] = []
    /// The last sound epoch of each device.
    var last: [DeviceID: Int] = [:]
    var faults: [OperationID: [DeviceID]] = [:]
}

extension ControlGraph {
    /// All epochs, causes before effects.
    public var epochs: [ControlEpoch] { keys.epochs }

    /// Whether a device has gone on to an epoch of its own since.
    public func hasLeft(_ epoch: OperationID, _ device: DeviceID) -> Bool {
        keys.last[device].map { isInPast(epoch, of: $0) } ?? false
    }

    /// Whether the author of an epoch had seen another one.
    public func saw(_ other: OperationID, in epoch: OperationID) -> Bool {
        numbers[epoch].map { isInPast(other, of: $0) } ?? false
    }

    /// Of several epochs the one that is used: the first of ``heads(of:)``.
    ///
    /// - Parameter epochs: causes before effects, as ``epochs`` has them.
    public func newest(of epochs: [ControlEpoch]) -> ControlEpoch? { heads(of: epochs).first }

    /// Of several epochs those that the author of no other had seen, so that no clock that ran ahead
    /// holds on to an old one: the one with the greatest stand first, of equals the one with the
    /// smallest name.
    ///
    /// - Parameter epochs: causes before effects, as ``epochs`` has them.
    public func heads(of epochs: [ControlEpoch]) -> [ControlEpoch] {
        var heads: [ControlEpoch] = []
        for epoch in epochs.reversed() where !heads.contains(where: { saw(epoch.id, in: $0.id) }) {
            heads.append(epoch)
        }
        return heads.sorted { ($1.stand, $0.id) < ($0.stand, $1.id) }
    }

    /// Whether an epoch takes the place of another: its author had seen that, or neither's had seen
    /// the other and its stand is greater.
    public func isNewer(_ epoch: ControlEpoch, than other: ControlEpoch) -> Bool {
        if saw(other.id, in: epoch.id) { return epoch.id != other.id }
        return !saw(epoch.id, in: other.id) && (epoch.stand, other.id) > (other.stand, epoch.id)
    }

    private func isInPast(_ operation: OperationID, of later: Int) -> Bool {
        guard let number = numbers[operation] else { return false }
        return nodes[later].past.contains(
            log: nodes[number].log, index: Int(nodes[number].sequence))
    }

    /// The devices that said that they cannot open an epoch, ascending.
    public func faults(on epoch: OperationID) -> [DeviceID] {
        (keys.faults[epoch] ?? []).sorted()
    }

    /// Whether a device has written something after it had seen a place.
    public func hasSeen(_ device: DeviceID, _ place: LogTip) -> Bool {
        let tag = LogTag(OperationHash.log(space: space, device: device, lane: .control))
        guard let log = logNumbers[tag], let last = logs[log].nodes.last else { return false }
        let own = LogTip(tag: tag, sequence: nodes[last].sequence)
        return own == place || isInPast(place, of: own)
    }

    /// Every device that was ever let in by something that its author could write, ascending.
    public var devicesEver: [DeviceID] { authorities.index.devices.sorted() }

    /// The key that an epoch written at these tips is sealed to for a device: its newest leaf
    /// since it came, else the newest prekey of its admission. Nil where it has none or is not in
    /// that roster.
    public mutating func leaf(of device: DeviceID, at tips: ControlTips) -> LeafKey? {
        guard let set = set(of: tips) else { return nil }
        return leaf(of: device, set, authorities.view(authoritySet(set)))
    }

    /// The recipients of an epoch written at these tips: every device of that roster that has a
    /// leaf, ascending; empty if a tip is not in the graph.
    ///
    /// - Parameter author: its author, who is left out.
    public mutating func leaves(
        besides author: DeviceID, at tips: ControlTips
    ) -> [EpochRecipient] {
        guard let set = set(of: tips) else { return [] }
        return recipients(besides: author, set, authorities.view(authoritySet(set)))
    }

    /// Two leaves of one name, which somebody who owns both devices can search for, are one entry:
    /// the lesser device has it. Otherwise nobody could mint as long as the two are in the roster.
    private func recipients(
        besides author: DeviceID, _ set: ClosedSet, _ view: Resolution
    ) -> [EpochRecipient] {
        var names: Set<LeafID> = []
        return view.owners.keys.sorted().compactMap { device in
            guard device != author, let leaf = leaf(of: device, set, view),
                names.insert(LeafID(device: device, leaf: leaf)).inserted
            else { return nil }
            return EpochRecipient(device: device, leaf: leaf)
        }
    }

    private func leaf(of device: DeviceID, _ set: ClosedSet, _ view: Resolution) -> LeafKey? {
        guard let person = view.owners[device], let standing = view.standings[person] else {
            return nil
        }
        let admissions = (standing.admissions[device] ?? []).map { authorities.index[$0].place }
        // They stand in one log, so the set holds a beginning of them.
        let leaves = keys.leaves[device] ?? []
        let end = leaves.firstIndex(afterAll: {
            let node = nodes[$0.node]
            return set.contains(log: node.log, index: Int(node.sequence))
        })
        if end > 0 {
            let leaf = leaves[end - 1]
            let node = nodes[leaf.node]
            let isAfter = admissions.contains { place in
                logNumbers[place.tag].map {
                    node.past.contains(log: $0, index: Int(place.sequence))
                } == true
            }
            // What is below this one came before as well.
            if isAfter { return leaf.key }
        }
        return standing.member.devices.first { $0.device == device }?.prekeys.last?.key
    }

    // MARK: Reading

    mutating func readKeys(_ operation: VerifiedOperation, _ number: Int) {
        guard let payload = operation.operation.payload else { return }
        switch operation.operation.header.kind {
        case .epoch:
            // What cannot be read is no epoch, for nobody.
            guard let body = try? EpochBody(bytes: payload) else { return }
            add(body, operation, number)
        case .leafUpdate:
            guard let leaf = LeafKey(payload), leaf.isSound else { return }
            add(leaf, number)
        case .accept: readAcceptance(payload, number)
        case .fault:
            guard let epoch = OperationID(payload),
                keys.faults[epoch]?.contains(nodes[number].device) != true
            else { return }
            keys.faults[epoch, default: []].append(nodes[number].device)
        // Kinds are numbers, not an enumeration of ours; the others say nothing of keys.
        default: return
        }
    }

    private mutating func add(_ leaf: LeafKey, _ number: Int) {
        let device = nodes[number].device
        guard keys.named[device, default: []].insert(leaf).inserted else { return }
        keys.leaves[device, default: []].append(ControlKeys.Leaf(node: number, key: leaf))
    }

    private mutating func add(
        _ body: EpochBody, _ operation: VerifiedOperation, _ number: Int
    ) {
        let isSound = isSound(body, number)
        keys.epochs.append(
            ControlEpoch(
                id: operation.id, author: nodes[number].device,
                place: LogTip(tag: operation.tag, sequence: operation.sequence),
                rosterDigest: body.rosterDigest, stand: nodes[number].stand,
                wallClock: operation.operation.header.wallClock,
                isSound: isSound, node: number))
        guard isSound else { return }
        add(body.newLeaf, number)
        keys.last[nodes[number].device] = number
    }

    /// Judges an epoch by its past alone.
    private mutating func isSound(_ body: EpochBody, _ number: Int) -> Bool {
        let device = nodes[number].device
        let past = nodes[number].past
        let set = authoritySet(past)
        let view = authorities.view(set)
        guard let person = view.owners[device], keys.named[device]?.contains(body.newLeaf) != true
        else { return false }
        let digest = authorities.roster(set).digest
        // An epoch for another roster costs no look at the devices of this one.
        guard body.rosterDigest == digest else { return false }
        let prekeys =
            view.standings[person]?.member.devices.first { $0.device == device }?.prekeys ?? []
        return body.fits(
            roster: digest, recipients: recipients(besides: device, past, view),
            formerLeaves: prekeys.map(\.key))
    }
}
