import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// Puts what is due into the mailboxes that all members read.
/// Source: `Protocol/06-relay.md`, "What envelopes carry".
extension NodeCore {
    /// Puts the own card, and the own logs of a space once more from where a device says it holds
    /// them, into the mailbox that all read: the device accepts no letters, and may have no address
    /// for writing one. This does not count as putting something new, so that it does not repeat
    /// forever.
    mutating func putAgain(
        _ number: SpaceNumber, for device: DeviceID, to relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard courier.lines[relay]?.phase == .open, let space = try turn.store.space(number) else {
            return
        }
        let current = try currentEpoch(of: space, in: turn.store)?.id
        guard let epoch = current, try !isUnpaid(epoch, of: space, on: relay, turn.store) else {
            // A member who has written nothing since others left may have no epoch for the present
            // members.
            guard current == nil else { return }
            return try putCard(in: space, nil, to: relay, &turn)
        }
        try putCard(in: space, epoch, to: relay, &turn)
        // A store that was rolled back may lack the newest of what it wrote.
        guard rejoin == nil, !ownHistory.hasGap(in: number) else { return }
        let acknowledged = try acknowledgedEnds(in: space, turn.store)[device] ?? [:]
        var due: [(log: LogRecord, first: UInt64)] = []
        for log in try turn.store.agreedLogs(in: space.number)
        where log.device == identity.device && log.lane != .receipts {
            let first = lowestShared(log, above: acknowledged[log.tag] ?? 0, of: space)
            if first < log.end { due.append((log, first)) }
        }
        due.sort { $0.log.lane < $1.log.lane }
        try put(due, of: space, epoch, to: relay, tellsProgress: true, isAgain: true, &turn)
    }

    /// Puts the own card, for those as well who have not heard of the current epoch.
    private mutating func putCard(
        in space: SpaceRecord, _ epoch: OperationID?, to relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let card = try CardReader.own(of: identity, turn.store) else { return }
        var parcel = Parcel(byteCountMax: Envelope.contentByteCountMax)
        parcel.add(
            .introduce(
                Introduction(
                    card: card.encoded, redemption: nil, join: nil, isRequest: false,
                    isContact: false)))
        if let epoch {
            _ = try put(parcel, for: .whatever, of: space, epoch, to: relay, &turn)
        }
        try putForFormer(parcel, of: space, besides: epoch, to: relay, &turn)
    }

    /// Puts logs of a space from these places on, as many envelopes as a relay is given at a time.
    mutating func put(
        _ due: [(log: LogRecord, first: UInt64)], of space: SpaceRecord, _ epoch: OperationID,
        to relay: NoiseKey, tellsProgress: Bool, isAgain: Bool = false, _ turn: inout some Turn
    ) throws(StoreError) {
        for (index, (log, first)) in due.enumerated() {
            var next = first
            while next < log.end {
                guard courier.lines[relay]?.questions.putCount ?? .max < Self.putCountMax,
                    let run = try RunReader.forward(
                        log, from: next, room: Self.parcelByteCount, bringsAnchor: true,
                        store: turn.store)
                else { return }
                var parcel = Parcel(byteCountMax: Envelope.contentByteCountMax)
                let frame = Frame.operations(
                    Operations(space: space.id, endsAnswer: false, runs: [run]))
                // Runs end on signed heads, which are never so far apart.
                guard parcel.add(frame) else { return try count(.envelope, turn.store) }
                if tellsProgress, index == due.count - 1, run.last + 1 >= log.end {
                    try tellProgress(of: space, in: &parcel, turn.store)
                }
                // First: once the relay has confirmed what follows, it has this as well.
                if log.lane == .control {
                    try putForFormer(parcel, of: space, besides: epoch, to: relay, &turn)
                }
                let places = next..<run.last + 1
                let isPut = try put(
                    parcel, for: isAgain ? .whatever : .put(space.number, log.tag, places),
                    of: space, epoch, to: relay, &turn)
                guard isPut else { return }
                if !isAgain {
                    courier.lines[relay]?.underway[space.number, default: [:]][log.tag] =
                        places.upperBound
                }
                next = places.upperBound
            }
        }
    }
    /// Adds what this device holds on its disk, and how far it is.
    private func tellProgress(
        of space: SpaceRecord, in parcel: inout Parcel, _ store: some Store
    ) throws(StoreError) {
        let logs = try store.agreedLogs(in: space.number)
        guard logs.count <= Self.toldLogCountMax else { return }
        var held: [OperationReference] = []
        for log in logs where log.device != identity.device {
            if let last = try MissingBodies.lastWhole(of: log, in: space, store) {
                held.append(last)
            }
        }
        if !held.isEmpty {
            parcel.add(.acknowledge(Acknowledgement(space: space.id, entries: held)))
        }
        parcel.add(
            .frontier(
                try Catchup.frontier(
                    of: space, .everything(), for: nil, asks: false, in: store)))
    }

    /// Seals a parcel and puts it into today's mailbox of an epoch. Returns whether it could.
    private mutating func put(
        _ parcel: Parcel, for question: RelayQuestion, of space: SpaceRecord, _ epoch: OperationID,
        to relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        guard let line = courier.lines[relay], let keys = try keys(of: epoch, in: space, turn.store)
        else {
            return false
        }
        let (mailbox, key) = keys.drop(at: relay, ofDay: line.day)
        guard line.full[mailbox] == nil else { return false }
        if line.needsTicket, !line.paid.contains(mailbox) {
            let opening = Opening(key: key, writers: nil, use: .drop(space.number))
            open(mailbox, opening, on: relay, &turn)
            return false
        }
        guard var chain = try chain(of: identity.device, in: epoch, of: space, turn.store)
        else { return false }
        let place = EnvelopePlace(space: space.id, epoch: epoch, mailbox: mailbox)
        let sealed: [UInt8]
        do throws(EnvelopeRejection) {
            sealed = try Envelope.seal(
                parcel.bytes, at: place, chain: &chain, keys: keys, by: identity.key,
                using: &turn.random)
        } catch {
            // Its steps are used up: another epoch is made first.
            epochs[space.number, default: EpochProgress()].outworn = epoch
            timers.set(.epoch(space.number), in: turn.random.next() % Self.mintDelayMax, &turn)
            return false
        }
        try keep(chain, of: identity.device, in: epoch, of: space, turn.store)
        turn.emit(.commitFully)
        let opening = Opening(key: key, writers: nil, use: .drop(space.number))
        open(mailbox, opening, on: relay, &turn)
        ask(.put(envelope: sealed), of: mailbox, as: key, on: relay, for: question, &turn)
        return true
    }

    /// Lane 0 goes to those as well who have not heard of the current epoch yet.
    private mutating func putForFormer(
        _ parcel: Parcel, of space: SpaceRecord, besides current: OperationID?, to relay: NoiseKey,
        _ turn: inout some Turn
    ) throws(StoreError) {
        let former = try newestEpochs(of: space, turn.store).filter { $0.id != current }
        for epoch in former.prefix(Self.formerEpochCountMax) {
            _ = try put(parcel, for: .whatever, of: space, epoch.id, to: relay, &turn)
        }
    }
}
