import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// What seems to be missing of a space, as long as not all of it was read.
struct Doubt: Sendable {
    let holder: DeviceID
    /// Something was not kept because it did not join what is held.
    let isDisconnected: Bool
}

/// When a device was told of a space through its inbox.
struct Welcome {
    let epoch: OperationID
    /// Unix milliseconds.
    let time: UInt64

    init(epoch: OperationID, time: UInt64) {
        self.epoch = epoch
        self.time = time
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        do {
            epoch = try reader.identifier()
            time = try reader.uint64()
            try reader.finish()
        } catch { return nil }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.identifier(epoch)
        writer.uint64(time)
        return writer.bytes
    }
}

/// Letters that wait until their relay is connected. They are sealed only then.
struct WaitingLetter: Sendable {
    let device: DeviceID
    let person: PersonID
    /// On the monotonic clock.
    let since: UInt64
    var frames: [Frame] = []
    var byteCount = 0
}

/// What goes to one device through its inbox: a space that it has not heard of, questions about what
/// is missing, and the answers. Source: `Protocol/06-relay.md`, "Repair".
extension NodeCore {
    /// A device that does not answer is told of a space again after so long.
    static let welcomeInterval: UInt64 = 7 * day
    /// Letters wait so long for a relay, in milliseconds, and so many bytes of them for each.
    private static let letterPatience: UInt64 = 300_000
    private static let waitingLetterByteCountMax = 256 << 10
    /// Runs in answer to one question.
    static let answerRunCountMax = 128
    /// Questions of one device are answered no more often, in milliseconds.
    static let answerInterval: UInt64 = 5_000

    // MARK: Writing

    /// Puts letters into the inbox of a device. Where its relays are not connected they are called, and
    /// the letters wait for that. Returns whether one is.
    mutating func send(
        _ frames: [Frame], to device: DeviceID, of person: PersonID, on only: NoiseKey? = nil,
        for question: RelayQuestion = .whatever, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) -> Bool {
        let card = try CardReader.kept(of: person, store)
        guard let part = card?.parts.first(where: { $0.device == device }),
            let prekey = part.prekeys.last,
            let own = try CardReader.own(of: identity, store)
        else { return false }
        var called: [NoiseKey] = []
        for mailbox in part.mailboxes where only == nil || mailbox.relay == only {
            guard !isAbsent(mailbox.inbox, on: mailbox.relay, at: now) else { continue }
            if lines[mailbox.relay] == nil {
                lines[mailbox.relay] = RelayLine(addresses: mailbox.addresses, isReading: false)
            }
            guard lines[mailbox.relay]?.phase == .open else {
                call(mailbox.relay, at: now, &effects)
                called.append(mailbox.relay)
                continue
            }
            let presented = Frame.introduce(
                Introduction(
                    card: own.encoded, redemption: nil, join: nil, isRequest: false,
                    isContact: false))
            for frame in frames {
                let number = try nextLetterNumber(at: now, store)
                guard let content = LetterContent.encode([presented, frame], number: number),
                    let letter = Letter.seal(
                        content, to: prekey.key, inbox: mailbox.inbox, by: identity.key,
                        using: &random)
                else { continue }
                ask(
                    .put(envelope: letter), of: mailbox.inbox, as: mailbox.writer,
                    on: mailbox.relay, for: question, at: now, &effects)
            }
            // What a letter says must not be taken back by a crash of the machine.
            effects.append(.commitFully)
            return true
        }
        // What is for one relay alone is made anew once that is connected.
        for relay in called where only == nil {
            keep(frames, to: device, of: person, for: relay, at: now)
        }
        return false
    }

    /// Counts the letters of this device. Where the store was set back, the clock takes it on.
    private func nextLetterNumber(
        at now: Instant, _ store: some Store
    ) throws(StoreError) -> UInt64 {
        let last = min(try store.number(.letterNumber, []) ?? 0, LetterContent.numberMax)
        let next = max(last + 1, min(now.wall, LetterContent.numberMax))
        try store.setNumber(next, .letterNumber, [])
        return next
    }

    /// Keeps letters until a relay is connected: as many as there is room for, the first ones first.
    private mutating func keep(
        _ frames: [Frame], to device: DeviceID, of person: PersonID, for relay: NoiseKey,
        at now: Instant
    ) {
        var letters = (lines[relay]?.letters ?? []).filter {
            now.monotonic < $0.since + Self.letterPatience
        }
        let room = Self.waitingLetterByteCountMax - letters.reduce(0) { $0 + $1.byteCount }
        var letter = WaitingLetter(device: device, person: person, since: now.monotonic)
        for frame in frames {
            let byteCount = letter.byteCount + frame.encoded().count
            guard byteCount <= room else { break }
            letter.frames.append(frame)
            letter.byteCount = byteCount
        }
        if !letter.frames.isEmpty { letters.append(letter) }
        lines[relay]?.letters = letters
    }

    /// A relay is connected: the letters that waited for it go out.
    mutating func sendWaiting(
        to relay: NoiseKey, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        let letters = lines[relay]?.letters ?? []
        lines[relay]?.letters = []
        for letter in letters where now.monotonic < letter.since + Self.letterPatience {
            _ = try send(
                letter.frames, to: letter.device, of: letter.person, on: relay, at: now, store,
                &random, &effects)
        }
    }

    /// Whether a device has an inbox on a relay, as far as is known.
    func takesLetters(
        _ device: DeviceID, of person: PersonID, on relay: NoiseKey, at now: Instant,
        _ store: some Store
    ) throws(StoreError) -> Bool {
        let part = try CardReader.parts(of: person, store).first { $0.device == device }
        guard let part, !part.prekeys.isEmpty,
            let mailbox = part.mailboxes.first(where: { $0.relay == relay })
        else { return false }
        return !isAbsent(mailbox.inbox, on: relay, at: now)
    }

    /// Whether an inbox was not there a moment ago.
    func isAbsent(_ inbox: MailboxID, on relay: NoiseKey, at now: Instant) -> Bool {
        lines[relay]?.absent[inbox].map { now.monotonic < $0 } ?? false
    }

    /// Tells devices of the epoch that this device made, where they are not known to hold it: lane 0
    /// to those that were never heard of in the space, to others what this device added to it. They
    /// know then at once where all that is new lies.
    ///
    /// - Parameter acknowledged: the places after what devices said they hold of own logs.
    mutating func welcome(
        _ devices: [DeviceID], to space: SpaceRecord, through relay: NoiseKey, _ roster: Roster,
        _ acknowledged: [DeviceID: [LogTag: UInt64]], at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard !devices.isEmpty, let epoch = try currentEpoch(of: space, in: store),
            epoch.author == identity.device,
            let log = try store.agreedLogs(in: space.number).first(where: {
                $0.device == identity.device && $0.lane == .control
            })
        else { return }
        for device in devices {
            let held = acknowledged[device]
            if let held {
                guard held[log.tag] ?? 0 < log.end, devices.count <= Self.toldLogCountMax else {
                    continue
                }
            }
            let question = RelayQuestion.welcome(space.number, device, epoch: epoch.id)
            let known = try store.value(.welcome, space.id.bytes + device.bytes)
                .flatMap(Welcome.init)
            let isFresh = known.map {
                $0.epoch == epoch.id && now.wall < $0.time + Self.welcomeInterval
            }
            let isUnderway = lines[relay]?.questions.values.contains {
                $0.question == question
            }
            guard isFresh != true, isUnderway != true, let person = roster.person(of: device),
                try takesLetters(device, of: person, on: relay, at: now, store)
            else { continue }
            let runs = try lane0(
                of: space, above: held.map { $0[log.tag] ?? 0 }, own: log, store)
            _ = try send(
                frames(of: runs, space), to: device, of: person, on: relay, for: question,
                at: now, store, &random, &effects)
        }
    }

    /// Lane 0 of a space; of the own log alone, above a place, for those who know the rest.
    private func lane0(
        of space: SpaceRecord, above held: UInt64?, own log: LogRecord, _ store: some Store
    ) throws(StoreError) -> [Run] {
        guard let held else {
            let nothing = Frontier(
                space: space.id, isComplete: true, asksForMissing: true, entries: [])
            return try Catchup.runs(
                lackedBy: nothing, of: space, .welcome, room: Self.parcelByteCount,
                runCountMax: Self.answerRunCountMax, in: store)
        }
        var runs: [Run] = []
        var next = held
        while next < log.end, runs.count < Self.answerRunCountMax,
            let run = try RunReader.forward(
                log, from: next, room: Self.parcelByteCount, bringsAnchor: true, store: store)
        {
            runs.append(run)
            next = run.last + 1
        }
        return runs
    }

    /// Runs, as many in a frame as fit a letter; causes first as they come.
    private func frames(of runs: [Run], _ space: SpaceRecord) -> [Frame] {
        var frames: [Frame] = []
        var together: [Run] = []
        var size = 0
        for run in runs {
            if !together.isEmpty, size + run.byteCount > Self.parcelByteCount {
                frames.append(
                    .operations(Operations(space: space.id, endsAnswer: false, runs: together)))
                together = []
                size = 0
            }
            together.append(run)
            size += run.byteCount
        }
        if !together.isEmpty {
            frames.append(
                .operations(Operations(space: space.id, endsAnswer: false, runs: together)))
        }
        return frames
    }

    // MARK: Reading

    /// A letter came: who wrote it presents their card in it, or it is not read.
    mutating func openLetter(
        _ bytes: [UInt8], in inbox: MailboxID, by relay: NoiseKey, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard letters.isNew(digest(.relayBlob, bytes)) else { return }
        let prekeys = try store.secrets(.prekey, in: nil).compactMap {
            TimedLeaf($0.secret)?.leaf
        }
        let sender: DeviceID
        let content: [UInt8]
        do throws(EnvelopeRejection) {
            (sender, content) = try Letter.open(bytes, in: inbox, with: prekeys)
        } catch {
            return try count(.envelope, store)
        }
        guard let letter = LetterContent(content),
            case .introduce(let introduction) = letter.frames.first,
            let card = CardReader.claimed(introduction.card),
            let peer = try correspondent(sender, card, by: relay, at: now, store, &effects)
        else { return try count(.stranger, store) }
        for frame in letter.frames.dropFirst() {
            switch frame {
            case .operations(let operations):
                try ingest(
                    operations, by: Bringer(person: peer.person, device: sender), at: now, store,
                    &random, &effects)
            case .fork(let proof):
                var bringer = Bringer(person: peer.person, device: sender)
                bringer.hasToldAll = true
                try learned(proof, by: bringer, at: now, store, &random, &effects)
            case .frontier(let frontier):
                try asked(
                    frontier, in: letter.number, by: peer, at: now, store, &random, &effects)
            default: try count(.envelope, store)
            }
        }
    }

    /// Who wrote a letter, if they are talked to: as on a link.
    ///
    /// First whoever they say they are is looked up. For who is unknown, declined or blocked nothing
    /// that they show is proven; for who is known, what is not known of them.
    private mutating func correspondent(
        _ device: DeviceID, _ card: Card, by relay: NoiseKey, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) -> LinkPeer? {
        let person = card.person
        guard device != identity.device, try mayTalk(to: person, with: device, store) else {
            return nil
        }
        let isOwn = person == identity.person
        let kept = isOwn ? identity.log : try CardReader.identity(of: person, store)
        let log: IdentityLog
        if let kept, kept.certificate(of: device) != nil,
            Set(card.identity).isSubset(of: kept.encoded)
        {
            log = kept
        } else {
            guard letters.mayProve(from: relay, at: now.monotonic) else {
                try count(.tooManyFrames, store)
                return nil
            }
            // Why it does not hold is not told: whoever wrote it is counted.
            guard let shown = try? IdentityLog(operations: card.identity),
                shown.person == person, shown.certificate(of: device) != nil
            else { return nil }
            log = shown
            try learn(log.encoded, of: person, at: now, store, &effects)
        }
        let peer = LinkPeer(
            person: person, root: Digest(reinterpreting: log.root), device: device,
            identity: log.encoded, handshakeHash: [], isInitiator: true)
        guard try isStanding(peer, store) else { return nil }
        try takePart(of: device, from: card, log, at: now, store, &effects)
        return peer
    }

    /// Keeps what a device says of itself in a letter, where that is news and holds.
    private mutating func takePart(
        of device: DeviceID, from card: Card, _ log: IdentityLog, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let part = card.parts.first(where: { $0.device == device }),
            try CardReader.parts(of: card.person, store)
                .first(where: { $0.device == device })?.bytes != part.bytes
        else { return }
        guard letters.mayProvePart(of: device, at: now.monotonic) else {
            return try count(.tooManyFrames, store)
        }
        let shown = Card(person: card.person, identity: log.encoded, parts: [part])
        // Why it does not hold is not told; the rest of the letter is its sender's all the same.
        guard let sound = try? shown.verified(by: log) else { return try count(.card, store) }
        try keep(sound, at: now, store, &effects)
    }

    /// A device tells how far it is, and may ask for the rest. A question is answered once: a relay
    /// that keeps it may bring it again at any time.
    private mutating func asked(
        _ frontier: Frontier, in letter: UInt64, by peer: LinkPeer, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let space = try store.space(frontier.space) else {
            return try askForUnknown(
                frontier, in: letter, of: peer, at: now, store, &random, &effects)
        }
        guard let scope = try scope(of: space, with: peer, store) else { return }
        if scope.isEverything {
            try heardTips(frontier, of: space, by: peer.device, at: now, store, &effects)
            try settleRepair(of: space, by: frontier, store)
        } else if frontier.asksForMissing,
            judges[space.number]?.roster.contains(peer.device) == true
        {
            // They take this device for a member: what says so may not have come.
            try missTips(frontier, of: space, by: peer.device, at: now, store, &effects)
        }
        guard frontier.asksForMissing, try mayAnswer(letter, of: peer.device, at: now, store)
        else { return }
        let runs = try Catchup.runs(
            lackedBy: frontier, of: space, scope, room: Self.parcelByteCount,
            runCountMax: Self.answerRunCountMax, in: store)
        let own = try Catchup.frontier(
            of: space, scope, for: peer.device, asks: false, in: store)
        let proofs = scope.isEverything ? try proofs(in: space, store) : []
        _ = try send(
            frames(of: runs, space) + proofs + [.frontier(own)], to: peer.device, of: peer.person,
            at: now, store, &random, &effects)
    }

    /// A contact tells how far it is in a space that is not known here. What introduced this device
    /// to it was lost, or this store fell behind since: all of it is asked for.
    ///
    /// Who holds nothing of it either is not asked: two would ask each other for ever.
    private mutating func askForUnknown(
        _ frontier: Frontier, in letter: UInt64, of peer: LinkPeer, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard !frontier.entries.isEmpty, try mayIntroduce(frontier.space, peer.person, store),
            try mayAnswer(letter, of: peer.device, at: now, store)
        else { return }
        let nothing = Frontier(
            space: frontier.space, isComplete: true, asksForMissing: true, entries: [])
        _ = try send(
            [.frontier(nothing)], to: peer.device, of: peer.person, at: now, store, &random,
            &effects)
    }

    /// Whether a question in a letter is answered: once, and not too often; notes that it is.
    private mutating func mayAnswer(
        _ letter: UInt64, of device: DeviceID, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        guard letter > (try store.number(.answeredLetter, device.bytes) ?? 0),
            letters.mayAnswer(device, every: Self.answerInterval, at: now.monotonic)
        else { return false }
        try store.setNumber(letter, .answeredLetter, device.bytes)
        return true
    }
}
