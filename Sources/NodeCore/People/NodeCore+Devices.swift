import ParleyConversation
public import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
public import ParleyWire

/// The person's own devices: added, named, revoked, and made known to every space.
extension NodeCore {
    /// Spaces that a device's change has not reached after this long are informed by any device
    /// that knows of it.
    static let devicesDelay: UInt64 = 5_000
    /// What could not be written yet is written this long after a peer has shown that it holds the
    /// same.
    static let devicesRetry: UInt64 = 1_000

    /// Performs commands about the person's own devices.
    mutating func equip(_ command: Command, _ turn: inout some Turn) throws(StoreError) -> Result<
        CommandReply, CommandRefusal
    > {
        switch command {
        case .addDevice(let request):
            return try addDevice(request, &turn)
        case .revokeDevice(let device, let root):
            return try revokeDevice(device, by: root, &turn)
        case .renameDevice(let device, let name):
            return try renameDevice(device, name, &turn)
        default: preconditionFailure("a command that is not about own devices")
        }
    }

    /// Adds a device that has proven to know the secret of a link and to hold its keys.
    mutating func addDevice(_ request: DeviceRequest, _ turn: inout some Turn) throws(StoreError)
        -> Result<CommandReply, CommandRefusal>
    {
        if let known = identity.log.certificate(of: request.device) {
            // The answer to an earlier request was lost: it is given again.
            guard known.noiseKey == request.noiseKey else { return .failure(.unknownDevice) }
        } else {
            // Of two devices under one link key everybody takes one for none of the person's, and that
            // may be the one that was there before.
            guard !identity.log.devices.contains(where: { $0.noiseKey == request.noiseKey }) else {
                return .failure(.unknownDevice)
            }
            guard identity.log.hasRoomForDevices else {
                return .failure(.tooManyDevices(limit: IdentityLog.deviceOperationCountMax))
            }
            let operation = identity.log.adding(
                request.device, noiseKey: request.noiseKey, proof: request.proof,
                by: identity.key)
            guard
                // A proof that does not hold, or a device that was revoked before, adds nothing.
                let checked = try? IdentityOperation(operation.bytes),
                // It was made for this log just now: only a full one takes no more.
                let log = try? identity.log.merging([checked]),
                log.certificate(of: request.device) != nil
            else { return .failure(.unknownDevice) }
            try renew(log, &turn)
            try spreadDevices(prekeys: request.prekey.map { [$0] } ?? [], &turn)
            if !request.name.isEmpty {
                try name(request.device, request.name, &turn)
            }
        }
        guard let card = try turn.store.value(.card, identity.person.bytes) else {
            return .failure(.unknownDevice)
        }
        return .success(.card(card))
    }

    /// Revokes another device of the person's for good.
    ///
    /// No device revokes itself: nobody would link with it any more, so people who are away would
    /// never hear of it.
    ///
    /// - Parameter root: the key that the recovery code makes, for a device that this one may not
    ///   revoke by its own rank.
    mutating func revokeDevice(
        _ device: DeviceID, by root: DeviceSigningKey?, _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        guard let target = identity.log.certificate(of: device),
            let own = identity.log.certificate(of: identity.device)
        else { return .failure(.unknownDevice) }
        guard device != identity.device else { return .failure(.ownDevice) }
        if let root {
            guard root.device == identity.log.root else { return .failure(.wrongRecoveryCode) }
        } else {
            guard own.rank < target.rank, identity.log.hasRoomForDevices else {
                return .failure(.needsRecoveryCode)
            }
        }
        let operation = identity.log.revoking(device, by: root ?? identity.key)
        guard
            // As above.
            let log = try? identity.log.merging([operation]),
            log.certificate(of: device) == nil
        else {
            return .failure(.tooManyDevices(limit: IdentityLog.operationCountMax))
        }
        let part = try CardReader.parts(of: log.person, turn.store).first { $0.device == device }
        try renew(log, &turn)
        try spreadDevices(ending: device, &turn)
        if let part {
            try tellRevocation(to: part, of: log.person, &turn)
        }
        return .success(.done)
    }

    mutating func renameDevice(_ device: DeviceID, _ text: String, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        if let refusal = Self.refusal(personName: text) { return .failure(refusal) }
        guard identity.log.certificate(of: device) != nil else { return .failure(.unknownDevice) }
        try name(device, text, &turn)
        return .success(.done)
    }

    private mutating func name(_ device: DeviceID, _ text: String, _ turn: inout some Turn)
        throws(StoreError)
    {
        guard let ownSpace else { return }
        let draft = DeviceName(device: device, name: text).draft()
        _ = try write([draft], in: ownSpace, &turn)
    }

    /// Lets this device into the space of the person's devices, if it was made with the recovery
    /// code and nobody has done so: its settings from before that would count for nobody, and be
    /// lost silently.
    mutating func enterOwnSpace(_ turn: inout some Turn) throws(StoreError) {
        guard let ownSpace, identity.cameBack, try mayWrite(turn.store),
            !ownHistory.hasGap(in: ownSpace.number),
            let roster = try roster(of: ownSpace, turn.store), !isListed(in: roster)
        else { return }
        try spreadDevices(in: [ownSpace], ending: nil, prekeys: [], isAsked: false, &turn)
    }

    /// Looks soon whether every space knows the person's devices, if there are several to know.
    mutating func watchDevices(_ turn: inout some Turn) {
        guard identity.log.operations.count > 2 else { return }
        timers.set(.devices, in: Self.devicesDelay, &turn)
    }

    /// Tells every space that this person is in of devices that came or were revoked.
    ///
    /// - Parameters:
    ///   - device: the device that is being revoked.
    ///   - prekeys: of devices that just came: their cards do not name any yet.
    ///   - isAsked: whether a person wants it now. Else spaces that were not heard of are left out;
    ///     into one that this device is not in yet it has written nothing.
    mutating func spreadDevices(
        ending device: DeviceID? = nil, prekeys: [PrekeyCertificate] = [], isAsked: Bool = true,
        _ turn: inout some Turn
    ) throws(StoreError) {
        guard try mayWrite(turn.store) else { return }
        try spreadDevices(
            in: turn.store.spaces()[...], ending: device, prekeys: prekeys, isAsked: isAsked, &turn)
    }

    /// Looks whether every space knows the person's devices, some spaces at a time.
    mutating func lookAtDevices(_ turn: inout some Turn) throws(StoreError) {
        let spaces = peers.walks.nextPortion(for: .devices, of: try turn.store.spaces())
        if peers.walks.isUnderway(.devices) { timers.set(.devices, in: SpaceWalks.interval, &turn) }
        guard try mayWrite(turn.store) else { return }
        try spreadDevices(in: spaces, ending: nil, prekeys: [], isAsked: false, &turn)
    }

    private mutating func spreadDevices(
        in spaces: ArraySlice<SpaceRecord>, ending device: DeviceID?, prekeys: [PrekeyCertificate],
        isAsked: Bool, _ turn: inout some Turn
    ) throws(StoreError) {
        for space in spaces {
            guard let roster = try roster(of: space, turn.store),
                let own = roster.member(identity.person),
                isAsked || peers.confirmations.isConfirmed(space.number) || !isListed(in: roster)
            else { continue }
            var drafts = try additions(to: own, prekeys, turn.store)
            // Devices removed by the log of a newcomer are out already, and still have to be cut
            // off.
            let ended =
                own.devices.map(\.device).filter { identity.log.certificate(of: $0) == nil }
                + roster.uncutDevices(of: own.person).filter(identity.log.revoked.contains)
            for other in ended {
                if try other == device ? true : isEven(in: space, turn.store) {
                    drafts.append(try revocation(of: other, in: space, turn.store))
                } else {
                    peers.confirmations.awaitEqualPeer()
                }
            }
            guard !drafts.isEmpty else { continue }
            try changeRoster(drafts, in: space, &turn)
        }
    }

    /// Whether this device holds everything of a space that somebody else holds. A cut leaves of a
    /// log what its author holds: a device that has just come back would void what it has yet to
    /// receive.
    private func isEven(in space: SpaceRecord, _ store: some Store) throws(StoreError) -> Bool {
        let equal = peers.links.values.filter { $0.session?.isEqual(space.number) == true }
        guard !equal.isEmpty else { return false }
        // The other device cannot deliver what lies below the start of its logs.
        if equal.contains(where: { $0.session?.cannotFill(space.number) == true }) { return true }
        return try store.agreedLogs(in: space.number).allSatisfy(\.isWhole)
    }

    /// Lets in those of the person's devices that a space has yet to be told of.
    private func additions(
        to own: Member, _ prekeys: [PrekeyCertificate], _ store: some Store
    ) throws(StoreError) -> [Draft] {
        let held = Set(own.devices.map(\.device))
        let fresh = identity.log.devices.map(\.device).filter { !held.contains($0) }
        guard !fresh.isEmpty else { return [] }
        let parts = try CardReader.parts(of: identity.person, store)
        let named = parts.filter { fresh.contains($0.device) }.flatMap(\.prekeys)
        let ident = Ident(
            person: identity.person, identity: identity.operations,
            prekeys: named + prekeys.filter { fresh.contains($0.device) }, change: .add)
        return [ident.draft()]
    }

    /// Removes a revoked device from a space: what is held of it here counts.
    private func revocation(
        of device: DeviceID, in space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> Draft {
        let cut = try Cut(
            store.agreedLogs(in: space.number).filter { $0.device == device }
                .compactMap(\.lastPlaceHeld) + branches(of: device, in: space, store))
        return Ident(
            person: identity.person, identity: identity.operations,
            change: .revoke(device, cut: cut)
        ).draft()
    }

    /// Records when a device was last linked; nobody else is told. Nothing is recorded for persons
    /// without a stored card: strangers are unlimited in number.
    func wasSeen(_ peer: LinkPeer, at now: Instant, _ store: some Store) throws(StoreError) {
        guard try store.value(.card, peer.person.bytes) != nil else { return }
        try store.setNumber(now.wall, .lastSeen, peer.device.bytes)
    }

    /// When a device was last linked, in Unix milliseconds; nil for never.
    public static func lastSeen(
        _ device: DeviceID, in store: some NodeStore
    ) throws(StoreError) -> UInt64? {
        try store.number(.lastSeen, device.bytes)
    }
}
