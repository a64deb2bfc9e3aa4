import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// A drop whose envelopes are being opened: secrets are taken out of the vault once for all of them.
private struct OpenDrop {
    let space: SpaceRecord
    let epoch: OperationID
    let place: EnvelopePlace
    let keys: EpochKeys
    var chains: [DeviceID: Chain] = [:]
    /// Whose chain is not as it is kept any more.
    var moved: Set<DeviceID> = []
    /// What it took to find that an envelope opens with no key, in units.
    var junkWork: UInt64 = 0
}

/// Opening what lay in a drop.
/// Source: `Protocol/09-epochs.md`, "Envelopes".
extension NodeCore {
    /// Opens envelopes of a drop in their turn, and keeps the chains as they are then.
    mutating func openEnvelopes(
        _ entries: [RelayEntry], in mailbox: MailboxID, of number: SpaceNumber,
        _ epoch: OperationID, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) -> PageProgress {
        guard var drop = try drop(mailbox, of: number, epoch, turn.store) else {
            return PageProgress(takenCount: entries.count)
        }
        var progress = PageProgress()
        for entry in entries {
            guard mayGoOnReading else {
                progress.pause = .turn
                break
            }
            courier.workOfStep += Self.envelopeWork
            guard try open(entry.envelope, in: &drop, &turn) else {
                progress.pause = .unpaid
                break
            }
            progress.takenCount += 1
            guard drop.junkWork > 0 else { continue }
            // Former members hold the keys of their time, and nobody tells who wrote junk.
            let isPaid = courier.passing.takeJunk(drop.junkWork, by: relay, at: turn.now)
            courier.workOfStep += drop.junkWork
            drop.junkWork = 0
            guard isPaid else {
                progress.pause = .unpaid
                break
            }
        }
        for device in drop.moved.sorted() {
            guard let chain = drop.chains[device] else { continue }
            try keep(chain, of: device, in: epoch, of: drop.space, turn.store)
        }
        return progress
    }

    /// So many steps of a chain are walked for one unit.
    private static let stepsEach: UInt64 = 16

    private mutating func drop(
        _ mailbox: MailboxID, of number: SpaceNumber, _ epoch: OperationID, _ store: some Store
    ) throws(StoreError) -> OpenDrop? {
        guard let space = try store.space(number), try belongs(to: space, store),
            let keys = try keys(of: epoch, in: space, store)
        else { return nil }
        return OpenDrop(
            space: space, epoch: epoch,
            place: EnvelopePlace(space: space.id, epoch: epoch, mailbox: mailbox), keys: keys)
    }

    /// Opens one envelope. Returns false where it is to be opened later, as its author cannot pay for it yet.
    private mutating func open(_ bytes: [UInt8], in drop: inout OpenDrop, _ turn: inout some Turn)
        throws(StoreError) -> Bool
    {
        let number = drop.space.number
        // An envelope opened before may have said that this device is out.
        guard try belongs(to: drop.space, turn.store) else { return true }
        let envelope: Envelope
        do throws(EnvelopeRejection) {
            envelope = try Envelope(bytes, at: drop.place, keys: drop.keys)
        } catch {
            drop.junkWork += Self.envelopeWork
            try count(.envelope, turn.store)
            return true
        }
        let devices = rosters.judges[number]?.graph.devicesEver ?? []
        for device in devices where device.prefix == envelope.sender {
            guard var chain = try chain(of: device, in: &drop, turn.store) else {
                try scheduleRepair(of: number, from: device, &turn)
                continue
            }
            let person = rosters.judges[number]?.roster.person(of: device)
            // What is not opened at all is requested, like what can no longer be opened.
            switch try admit(envelope, ahead: chain, of: device, person, &turn) {
            case .fine: break
            case .later: return false
            case .never:
                try scheduleRepair(of: number, from: device, &turn)
                continue
            }
            let stepCount = UInt64(envelope.steps(ahead: chain))
            let content: [UInt8]
            do throws(EnvelopeRejection) {
                content = try envelope.open(from: device, chain: &chain, now: turn.now.wall)
            } catch {
                switch error {
                // An own one, or one that was read before.
                case .chain where device == identity.device: return true
                case .chain: try scheduleRepair(of: number, from: device, &turn)
                case .malformed, .foreign, .brokenSeal, .badSignature:
                    drop.junkWork += Self.envelopeWork + stepCount / Self.stepsEach
                    try count(.envelope, turn.store)
                }
                continue
            }
            drop.chains[device] = chain
            drop.moved.insert(device)
            guard let person else { return true }
            try unpack(content, by: Bringer(person: person, device: device), of: drop.space, &turn)
            return true
        }
        return true
    }

    /// Whether an envelope is opened that seems to be of this device.
    private mutating func admit(
        _ envelope: Envelope, ahead chain: Chain, of device: DeviceID, _ person: PersonID?,
        _ turn: inout some Turn
    ) throws(StoreError) -> ParcelVerdict {
        if let person, device != identity.device {
            let verdict = try admitParcel(of: person, &turn)
            guard verdict == .fine else { return verdict }
        }
        let stepCount = envelope.steps(ahead: chain)
        guard courier.letters.takeSteps(stepCount, of: device, at: turn.now.monotonic) else {
            try count(.envelope, turn.store)
            return .never
        }
        return .fine
    }

    private mutating func chain(
        of device: DeviceID, in drop: inout OpenDrop, _ store: some Store
    ) throws(StoreError) -> Chain? {
        if let chain = drop.chains[device] { return chain }
        let chain = try chain(of: device, in: drop.epoch, of: drop.space, store)
        drop.chains[device] = chain
        return chain
    }

    /// Opens the newest envelopes of a drop before those that came earlier, and takes of them what
    /// people write. Chains are copies that nobody keeps.
    mutating func openAhead(
        _ entries: [RelayEntry], in mailbox: MailboxID, on relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard case .drop(let number, let epoch) = courier.lines[relay]?.mailboxes[mailbox]?.use,
            var drop = try drop(mailbox, of: number, epoch, turn.store)
        else { return }
        for entry in entries.sorted(by: { $0.counter < $1.counter }) {
            guard mayGoOnReading else { return }
            guard
                // In its turn it is opened again, and counted where it cannot be.
                let envelope = try? Envelope(entry.envelope, at: drop.place, keys: drop.keys),
                let device = rosters.judges[number]?.graph.devicesEver.first(where: {
                    $0.prefix == envelope.sender
                }), device != identity.device,
                let person = rosters.judges[number]?.roster.person(of: device),
                peers.allowances.canPay(person, at: turn.now.monotonic),
                var chain = try chain(of: device, in: &drop, turn.store),
                courier.letters.takeSteps(
                    envelope.steps(ahead: chain), of: device, at: turn.now.monotonic),
                // As above.
                let content = try? envelope.open(from: device, chain: &chain, now: turn.now.wall)
            else { continue }
            drop.chains[device] = chain
            var bringer = Bringer(person: person, device: device)
            bringer.isAhead = true
            guard var frames = ParcelReader(content) else { continue }
            courier.workOfStep += Self.envelopeWork
            var bill = openBill(of: person, byteCount: content.count)
            defer { settle(bill) }
            while let frame = frames.next() {
                charge(for: frames.room, to: &bill)
                guard case .operations(var operations) = frame, operations.space == drop.space.id
                else { continue }
                // Control operations depend on everything before them.
                operations.runs.removeAll { $0.lane == .control }
                guard !operations.runs.isEmpty else { continue }
                try ingest(operations, by: bringer, &turn)
            }
        }
    }

    /// Takes the frames of an envelope in their turn.
    private mutating func unpack(
        _ content: [UInt8], by peer: Bringer, of space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        guard var frames = ParcelReader(content) else { return try count(.envelope, turn.store) }
        // A peer that writes here has accepted the conversation, and with it this person.
        if space.kind == .direct, peer.person != identity.person {
            try confirm(peer.person, &turn)
        }
        var bill = openBill(of: peer.person, byteCount: content.count)
        defer { settle(bill) }
        while let frame = frames.next() {
            charge(for: frames.room, to: &bill)
            switch frame {
            case .operations(let operations) where operations.space == space.id:
                try ingest(operations, by: peer, &turn)
            case .acknowledge(let said) where said.space == space.id:
                try acknowledged(said, of: space, by: peer.device, &turn)
            case .introduce(let introduction):
                try takeCard(introduction.card, of: peer, in: space, &turn)
            case .frontier(let frontier) where frontier.space == space.id:
                try heardTips(frontier, of: space, by: peer.device, &turn)
            default: try count(.envelope, turn.store)
            }
        }
        if !frames.isWhole { try count(.envelope, turn.store) }
    }

    /// A device reports what it holds on its disk of this device's logs.
    func acknowledged(
        _ said: Acknowledgement, of space: SpaceRecord, by device: DeviceID, _ turn: inout some Turn
    ) throws(StoreError) {
        guard device != identity.device else { return }
        for entry in said.entries {
            // Another branch of a log is not what is held here.
            guard let log = try turn.store.log(entry.tag, in: space.number),
                try turn.store.check(at: entry.sequence, of: log) == entry.check
            else { continue }
            try turn.store.acknowledge(entry, by: device, in: space.number)
        }
        turn.emit(.changed([.receipts(space.number)]))
    }

    /// A device says how far it is with a space.
    mutating func heardTips(
        _ frontier: Frontier, of space: SpaceRecord, by device: DeviceID, _ turn: inout some Turn
    ) throws(StoreError) {
        guard device != identity.device, try roster(of: space, turn.store)?.contains(device) == true
        else { return }
        try compareOwnLogs(frontier, of: space, by: device, &turn)
        try missTips(frontier, of: space, by: device, &turn)
    }

    /// What a device has of a space and this node does not is missing here.
    mutating func missTips(
        _ frontier: Frontier, of space: SpaceRecord, by device: DeviceID, _ turn: inout some Turn
    ) throws(StoreError) {
        var ends: [LogTag: UInt64] = [:]
        for entry in frontier.entries {
            let log = try turn.store.agreedLog(entry.tag, in: space.number)
            guard entry.sequence >= log?.end ?? 0, log?.endsAtBound != true else { continue }
            ends[entry.tag] = entry.sequence + 1
        }
        guard !ends.isEmpty else { return }
        try scheduleRepair(of: space.number, from: device, upTo: ends, &turn)
    }
}
