import ParleyLedger
import ParleySealing
import ParleySignalling
import ParleyWire

/// A signal as it is sealed to a device.
///
/// ```
/// content = u8 1 ‖ u64 sent (Unix milliseconds) ‖ person[32] (the sender's) ‖ signal
/// ```
struct PassingContent: Equatable {
    private static let version: UInt8 = 1

    let sent: WallTime
    let person: PersonID
    let signal: [UInt8]

    init(sent: WallTime, person: PersonID, signal: [UInt8]) {
        self.sent = sent
        self.person = person
        self.signal = signal
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            guard try reader.byte() == Self.version else { return nil }
            sent = try reader.bounded64()
            person = try reader.identifier()
        } catch { return nil }
        signal = Array(reader.rest())
        guard signal.count <= Limits.signalByteCountMax else { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 41 + signal.count)
        writer.byte(Self.version)
        writer.uint64(sent)
        writer.identifier(person)
        writer.raw(signal)
        return writer.bytes
    }
}

/// Signals to and from devices that are not linked, through relays that store nothing of them.
/// Source: `Protocol/06-relay.md`, "Signals".
extension NodeCore {
    /// By how much the clocks of two devices may differ, in milliseconds.
    static let passingSkewMax: UInt64 = 60_000
    /// Relays of a device through which a signal goes at a time.
    static let passingRelayCountMax = 2

    /// How many signals came through relays and were taken.
    public var passedCount: UInt64 { courier.passing.takenCount }

    // MARK: Out

    /// Sends a signal to a device that is not linked, through relays that it reads: through those
    /// that are connected, else through the first that can be called within ten seconds. Nobody
    /// tells whether it came.
    mutating func pass(
        _ signal: [UInt8], to device: DeviceID, of person: PersonID, _ turn: inout some Turn
    ) throws(StoreError) {
        guard signal.count <= Limits.signalByteCountMax, device != identity.device,
            let part = try CardReader.parts(of: person, turn.store).first(where: {
                $0.device == device
            }), let prekey = part.prekeys.last
        else { return }
        let waiting = Passing.Waiting(
            signal: signal, device: device, person: person, since: turn.now)
        let open = part.mailboxes.filter { courier.lines[$0.relay]?.phase == .open }
        for mailbox in open.prefix(Self.passingRelayCountMax) {
            put(waiting, to: prekey, in: mailbox, &turn)
        }
        guard open.isEmpty else { return }
        for mailbox in part.mailboxes.prefix(Self.passingRelayCountMax) {
            guard try note(mailbox, namedBy: person, at: turn.now, turn.store) else { continue }
            call(mailbox.relay, &turn)
            courier.passing.enqueue(waiting, for: mailbox.relay)
        }
    }

    /// A relay is connected: what waited for it goes out, and its readers are told who is here.
    mutating func passWaiting(to relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        for waiting in courier.passing.takeWaiting(for: relay, at: turn.now) {
            let part = try CardReader.parts(of: waiting.person, turn.store).first {
                $0.device == waiting.device
            }
            guard let part, let prekey = part.prekeys.last,
                let mailbox = part.mailboxes.first(where: { $0.relay == relay })
            else { continue }
            put(waiting, to: prekey, in: mailbox, &turn)
        }
        try tellReaders(of: relay, turn.store)
    }

    private mutating func put(
        _ waiting: Passing.Waiting, to prekey: PrekeyCertificate, in mailbox: CardMailbox,
        _ turn: inout some Turn
    ) {
        guard let line = courier.lines[mailbox.relay], !line.pace.isBusy(at: turn.now.monotonic),
            line.questions.passingCount < Passing.waitingCountMax,
            !isAbsent(mailbox.inbox, on: mailbox.relay, at: turn.now)
        else { return }
        let content = PassingContent(
            sent: WallTime(clamping: waiting.since.wall), person: identity.person,
            signal: waiting.signal)
        guard
            let letter = Letter.seal(
                content.bytes, as: .passing, to: prekey.key, inbox: mailbox.inbox,
                by: identity.key, using: &turn.random)
        else { return }
        let seconds = UInt8(Passing.lifetime / 1_000)
        ask(
            .volatile(lifetime: seconds, envelope: letter), of: mailbox.inbox,
            as: mailbox.writer, on: mailbox.relay, for: .passing, &turn)
    }

    // MARK: In

    /// A relay passed a signal on to this device's inbox. Its author must be a device of a person
    /// whom this node serves; it must be fresh, and not a repetition.
    mutating func openPassed(
        _ bytes: [UInt8], in mailbox: MailboxID, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard courier.lines[relay]?.inbox == mailbox else { return }
        guard courier.passing.takeOpening(from: relay, isLetter: false, at: turn.now) else {
            return try count(.tooManyFrames, turn.store)
        }
        let name: Digest = digest(.relayBlob, bytes)
        guard !courier.passing.isKnown(name) else { return }
        let prekeys = try letterKeys(for: relay, &turn)
        var triedCount = 0
        defer { chargeTrying(keyCount: triedCount, for: relay) }
        guard
            // Why it does not open helps nobody.
            let (sender, inner) = try? Letter.open(
                bytes, as: .passing, in: mailbox, with: prekeys, tried: &triedCount),
            let content = PassingContent(inner)
        else { return try count(.envelope, turn.store) }
        // Not counted: a relay or a bad line may be slow.
        let bound = Passing.lifetime + Self.passingSkewMax
        guard content.sent.distance(to: WallTime(clamping: turn.now.wall)) < bound else { return }
        guard let peer = try passer(sender, content.person, turn.store) else {
            return try count(.stranger, turn.store)
        }
        guard peers.allowances.take(Passing.work, for: peer.person, at: turn.now.monotonic) == .fine
        else {
            return try count(.tooManyFrames, turn.store)
        }
        courier.passing.noteTaken(name)
        try passedOn(content.signal, from: peer, &turn)
    }

    /// The author of a signal that was passed on, if they are served: as on a link. Nothing is
    /// accepted from a person whose card is not known.
    private mutating func passer(
        _ device: DeviceID, _ person: PersonID, _ store: some Store
    ) throws(StoreError) -> LinkPeer? {
        let log: IdentityLog
        if person == identity.person {
            log = identity.log
        } else {
            guard let kept = try CardReader.identity(of: person, store) else { return nil }
            log = kept
        }
        guard device != identity.device, log.certificate(of: device) != nil else { return nil }
        let peer = LinkPeer(
            person: person, root: Digest(reinterpreting: log.root), device: device,
            identity: log.encoded, handshakeHash: [], isInitiator: true)
        return try mayTalk(peer, store) ? peer : nil
    }

    /// A signal came through a relay from this device.
    mutating func passedOn(_ bytes: [UInt8], from peer: LinkPeer, _ turn: inout some Turn)
        throws(StoreError)
    {
        // Nobody compared clocks, and an invalid signal ends no link.
        guard let signal = try? Signal.decode(bytes) else { return }
        try heard(
            signal, from: Participant(person: peer.person, device: peer.device), offset: nil, &turn)
    }
}
