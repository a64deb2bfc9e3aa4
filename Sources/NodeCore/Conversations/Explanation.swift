public import ParleyConversation
public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// How far a message is with one device, and how that is known.
public struct DeviceExplanation: Equatable, Sendable {
    /// What was observed.
    public enum State: String, Sendable {
        /// Nothing.
        case unknown
        /// The message came before the device did, and is not for it.
        case beforeItCame
        /// It wrote the message.
        case wrote
        /// It is on this device's disk.
        case saved
        /// The device said on a link that it is on its disk.
        case acknowledged
        /// The device said in a receipt that it has it.
        case delivered
        /// The device's person has read it.
        case read
    }

    /// The device.
    public var device: DeviceID
    /// Whose it is.
    public var person: PersonID
    /// Whether it is in the conversation now.
    public var isMember: Bool
    /// What was observed.
    public var state: State
    /// When the device or its person said so by their own clock, in Unix milliseconds; nil if the
    /// observation has no time.
    public var since: UInt64?
}

/// What is known about a message: whether it counts, and who has it.
public struct MessageExplanation: Equatable, Sendable {
    /// The operation.
    public var operation: OperationID
    /// The log and the place.
    public var reference: OperationReference
    /// Which device wrote it.
    public var device: DeviceID
    /// Whether it is shown, and if not, why.
    public var standing: Standing
    /// Whether its log is known to hold two histories from this place or below.
    public var isForked: Bool
    /// Every device that is or was in the conversation, ascending.
    public var devices: [DeviceExplanation]
    /// Relays that said that it is on their disks, ascending.
    public var relays: [NoiseKey]
    /// What this person changed: the last edit, or the deletion, and reactions.
    public var changes: [ChangeExplanation]
    /// Who deleted it for everyone; nil of one that stands.
    public var deletion: DeletionExplanation?
}

/// Who deleted a message for everyone: the author of the first deletion in order.
public struct DeletionExplanation: Equatable, Sendable {
    /// Which device said so.
    public var device: DeviceID
    /// Whose that is; nil where that is not known any more.
    public var person: PersonID?
    /// When, by its clock, in Unix milliseconds.
    public var time: UInt64
}

/// What is known about a change of a message.
public struct ChangeExplanation: Equatable, Sendable {
    /// What was changed.
    public var subject: WaitingChange.Subject
    /// When it was changed by its author's clock, in Unix milliseconds.
    public var time: UInt64
    /// Every device that is or was in the conversation, ascending.
    public var devices: [DeviceExplanation]
    /// Relays that said that the change is on their disks, ascending.
    public var relays: [NoiseKey]
}

/// What is known about a person in a conversation.
public struct MemberExplanation: Equatable, Sendable {
    /// As they stand now; nil where they are out.
    public var member: Member?
    /// Devices that were theirs in the conversation and are out, ascending.
    public var formerDevices: [DeviceID]
    /// All that was ever asked about them, causes first.
    public var reasons: [ControlReason]
}

/// Explains states: what is known, from whom, and since when.
public enum Explanation {
    /// Why a message is in its state; nil if there is none with this number.
    public static func message(
        _ number: OperationNumber, seenBy own: NodeIdentity, in store: some Store
    ) throws(StoreError) -> MessageExplanation? {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            let space = try store.space(log.space)
        else { return nil }
        var judge = try RosterReader.judge(of: space, in: store)
        let operation = VerifiedOperation(stored: stored, tag: log.tag)
        let view = try store.view(at: stored.sequence, in: log.number)
        let standing = judge.standing(of: operation, in: log, under: view)
        let devices = try devices(of: stored.sequence, in: log, judge, own, space, store)
        var changes: [ChangeExplanation] = []
        let timeline = Timeline(of: space, roster: judge.roster, ownPerson: own.person)
        for change in try timeline.ownChanges(of: stored, in: log, store) {
            guard let said = try store.operation(change.operation),
                let log = try store.log(said.log)
            else { continue }
            changes.append(
                ChangeExplanation(
                    subject: change.subject, time: said.operation.header.wallClock,
                    devices: try Self.devices(
                        of: said.sequence, in: log, judge, own, space, store),
                    relays: try Outbox.relays(
                        holding: said.sequence, of: log, in: space, store)))
        }
        return MessageExplanation(
            operation: stored.id,
            reference: OperationReference(
                tag: log.tag, sequence: stored.sequence, check: stored.id.check),
            device: log.device, standing: standing,
            isForked: log.fork.map { $0.sequence <= stored.sequence } ?? false, devices: devices,
            relays: try Outbox.relays(holding: stored.sequence, of: log, in: space, store),
            changes: changes,
            deletion: try deletion(of: stored, in: log, timeline, judge.roster, store))
    }

    private static func deletion(
        of stored: StoredOperation, in log: LogRecord, _ timeline: Timeline, _ roster: Roster,
        _ store: some Store
    ) throws(StoreError) -> DeletionExplanation? {
        guard let number = try timeline.deletion(of: stored, in: log, store),
            let said = try store.operation(number), let log = try store.log(said.log)
        else { return nil }
        return DeletionExplanation(
            device: log.device, person: roster.person(of: log.device),
            time: said.operation.header.wallClock)
    }

    /// How far an operation is with every device.
    private static func devices(
        of sequence: UInt64, in log: LogRecord, _ judge: Judge, _ own: NodeIdentity,
        _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> [DeviceExplanation] {
        let roster = judge.roster
        var devices: [DeviceExplanation] = []
        for device in roster.everyDevice {
            guard let person = roster.person(of: device) else { continue }
            var (state, since): (DeviceExplanation.State, UInt64?) = (.saved, nil)
            if device != own.device {
                (state, since) = try self.state(of: device, log, sequence, roster, space, store)
            }
            // Messages from before somebody's return may have reached them before they left.
            if state == .beforeItCame, cameAgain(person, judge) { state = .unknown }
            devices.append(
                DeviceExplanation(
                    device: device, person: person, isMember: roster.contains(device),
                    state: state, since: since))
        }
        return devices
    }

    /// What is known about a person in a conversation.
    public static func member(
        _ person: PersonID, of space: SpaceRecord, in store: some Store
    ) throws(StoreError) -> MemberExplanation {
        let judge = try RosterReader.judge(of: space, in: store)
        return MemberExplanation(
            member: judge.roster.member(person),
            formerDevices: judge.roster.everyDevice.filter {
                judge.roster.isFormer($0) && judge.roster.person(of: $0) == person
            }, reasons: judge.graph.reasons(about: person))
    }

    /// Whether something let a person in more than once.
    private static func cameAgain(_ person: PersonID, _ judge: Judge) -> Bool {
        judge.graph.reasons(about: person).count {
            $0.outcome == .holds && [.genesis, .addMember, .redeem].contains($0.kind)
        } > 1
    }

    private static func state(
        of device: DeviceID, _ log: LogRecord, _ sequence: UInt64,
        _ roster: Roster, _ space: SpaceRecord, _ store: some Store
    ) throws(StoreError) -> (DeviceExplanation.State, UInt64?) {
        if device == log.device { return (.wrote, nil) }
        // They said so about places beyond a cut before they knew of the cut.
        var log = log
        log.limit = nil
        func has(_ kind: MarkKind) throws(StoreError) -> Bool {
            let actor = Digest(reinterpreting: device)
            let mark = try store.mark(kind, of: actor, on: log.tag, in: space.number)
            return try mark.map { mark throws(StoreError) in
                try store.shared(mark, in: log).contains(sequence)
            } ?? false
        }
        if try has(.read) {
            return (
                .read, try said(by: device, of: log.tag, sequence, { $0.read }, space, store)
            )
        }
        if try has(.delivered) {
            return (
                .delivered,
                try said(by: device, of: log.tag, sequence, { $0.delivered }, space, store)
            )
        }
        // An acknowledgement only says up to which place, even of a member who is out by now.
        if let floor = roster.horizon(of: device).place(of: log.device, log.lane),
            sequence <= floor.sequence
        {
            return (.beforeItCame, nil)
        }
        return try has(.acknowledged) ? (.acknowledged, nil) : (.unknown, nil)
    }

    /// When a device first said in a receipt that it was so far.
    private static func said(
        by device: DeviceID, of tag: LogTag, _ sequence: UInt64,
        _ list: (Receipts) -> [Receipts.Progress], _ space: SpaceRecord,
        _ store: some Store
    ) throws(StoreError) -> UInt64? {
        let name = OperationHash.log(space: space.id, device: device, lane: .receipts)
        guard let log = try store.log(LogTag(name), in: space.number) else { return nil }
        for span in log.spans {
            var time: UInt64?
            _ = try store.eachOperation(of: log, span) { stored throws(StoreError) in
                let receipts = stored.operation.payload.flatMap(Receipts.init)
                let isSaid = receipts.map(list)?.contains {
                    $0.tag == tag && $0.places.contains(sequence)
                }
                if isSaid == true { time = stored.operation.header.wallClock }
                return time == nil
            }
            if let time { return time }
        }
        return nil
    }
}
