import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// When a device was informed of a space through its inbox.
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
    /// Where it goes, as it was known when it was written.
    let part: CardPart
    let person: PersonID
    /// On the monotonic clock.
    let since: UInt64
    var frames: [Frame] = []
    var byteCount = 0
}

/// What goes to one device through its inbox: a space that it has not heard of, questions about
/// what is missing, and the answers.
/// Source: `Protocol/06-relay.md`, "Repair".
extension NodeCore {
    /// A device that does not answer is informed of a space again after this long.
    static let welcomeInterval: UInt64 = 7 * day
    /// How long letters wait for a relay, in milliseconds, and how many bytes of them for each.
    private static let letterPatience: UInt64 = 300_000
    private static let waitingLetterByteCountMax = 256 << 10
    /// Runs in answer to one question.
    static let answerRunCountMax = 128
    /// Questions of one device are answered no more often, in milliseconds.
    static let answerInterval: UInt64 = 5_000
    /// Questions with numbers of before are answered so often, in milliseconds.
    static let agedAnswerInterval: UInt64 = 3_600_000

    // MARK: Writing

    /// Puts letters into the inbox of a device. Where its relays are not connected they are called, and
    /// the letters wait for that. Returns whether one is.
    mutating func send(
        _ frames: [Frame], to device: DeviceID, of person: PersonID, on only: NoiseKey? = nil,
        for question: RelayQuestion = .whatever, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        let parts = try CardReader.parts(of: person, turn.store)
        guard let part = parts.first(where: { $0.device == device }) else { return false }
        return try send(frames, to: part, of: person, on: only, for: question, &turn)
    }

    /// As above, to a device of which this is known: of one that is revoked nothing is kept.
    mutating func send(
        _ frames: [Frame], to part: CardPart, of person: PersonID, on only: NoiseKey? = nil,
        for question: RelayQuestion = .whatever, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        guard let prekey = part.prekeys.last,
            let own = try CardReader.own(of: identity, turn.store),
            // A letter shows the own card, with the right to write to this device.
            try contact(person, turn.store)?.isBlocked != true
        else { return false }
        var called: [NoiseKey] = []
        for mailbox in part.mailboxes where only == nil || mailbox.relay == only {
            guard !isAbsent(mailbox.inbox, on: mailbox.relay, at: turn.now) else { continue }
            guard try note(mailbox, namedBy: person, at: turn.now, turn.store) else { continue }
            guard courier.lines[mailbox.relay]?.phase == .open else {
                call(mailbox.relay, &turn)
                called.append(mailbox.relay)
                continue
            }
            // A request says who asks, and brings what the two begin with.
            let contents = question.isRequest ? [frames] : frames.map { [$0] }
            for frames in contents {
                let number = try nextLetterNumber(at: turn.now, turn.store)
                let presented = try presented(
                    own, to: person, in: mailbox.inbox, number, turn.store)
                // What does not fit one comes once the request is accepted.
                let alone = question.isRequest ? [presented] : nil
                guard
                    let content = LetterContent.encode([presented] + frames, number: number)
                        ?? alone.flatMap({ LetterContent.encode($0, number: number) }),
                    let letter = Letter.seal(
                        content, to: prekey.key, inbox: mailbox.inbox, by: identity.key,
                        using: &turn.random)
                else { continue }
                ask(
                    .put(envelope: letter), of: mailbox.inbox, as: mailbox.writer,
                    on: mailbox.relay, for: question, &turn)
            }
            // A crash of the machine must not undo what a letter says.
            turn.emit(.commitFully)
            return true
        }
        // Letters for one relay alone are made again once it is connected.
        for relay in called where only == nil {
            keep(frames, to: part, of: person, for: relay, at: turn.now)
        }
        return false
    }

    /// The beginning of a letter: its author, and what entitles them.
    private func presented(
        _ card: Card, to person: PersonID, in inbox: MailboxID, _ number: LetterNumber,
        _ store: some Store
    ) throws(StoreError) -> Frame {
        let state = try contact(person, store)?.state
        return .introduce(
            Introduction(
                card: card.encoded,
                redemption: try pendingInvite(of: person, store)?.invite.redemption(
                    in: inbox, number, by: identity.device),
                isRequest: state == .requested, isContact: state == .accepted))
    }

    /// Counts the letters of this device. Where the store was set back, the clock takes it on.
    private func nextLetterNumber(
        at now: Instant, _ store: some Store
    ) throws(StoreError) -> LetterNumber {
        let last = LetterNumber(clamping: try store.number(.letterNumber, []) ?? 0)
        let next = max(last.next, LetterNumber(clamping: now.wall))
        try store.setNumber(next.value, .letterNumber, [])
        return next
    }

    /// Keeps letters until a relay is connected: as many as there is room for, the first ones first.
    private mutating func keep(
        _ frames: [Frame], to part: CardPart, of person: PersonID, for relay: NoiseKey,
        at now: Instant
    ) {
        var letters = (courier.lines[relay]?.letters ?? []).filter {
            now.monotonic < $0.since + Self.letterPatience
        }
        let room = Self.waitingLetterByteCountMax - letters.reduce(0) { $0 + $1.byteCount }
        var letter = WaitingLetter(part: part, person: person, since: now.monotonic)
        for frame in frames {
            let byteCount = letter.byteCount + frame.encoded().count
            guard byteCount <= room else { break }
            letter.frames.append(frame)
            letter.byteCount = byteCount
        }
        if !letter.frames.isEmpty { letters.append(letter) }
        courier.lines[relay]?.letters = letters
    }

    /// A relay is connected: the letters that waited for it go out.
    mutating func sendWaiting(to relay: NoiseKey, _ turn: inout some Turn) throws(StoreError) {
        let letters = courier.lines[relay]?.letters ?? []
        courier.lines[relay]?.letters = []
        for letter in letters where turn.now.monotonic < letter.since + Self.letterPatience {
            let known = try CardReader.parts(of: letter.person, turn.store)
            _ = try send(
                letter.frames, to: known.first { $0.device == letter.part.device } ?? letter.part,
                of: letter.person, on: relay, &turn)
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
        courier.lines[relay]?.absent[inbox].map { now.monotonic < $0 } ?? false
    }

    /// Tells devices about the epoch that this device made, if they are not known to hold it: lane
    /// 0 to those that were never heard of in the space, to others what this device added to it.
    /// They then know at once where the newest messages lie.
    ///
    /// - Parameter acknowledged: the places after what devices said they hold of own logs.
    mutating func welcome(
        _ devices: [DeviceID], to space: SpaceRecord, through relay: NoiseKey, _ roster: Roster,
        _ acknowledged: [DeviceID: [LogTag: UInt64]], _ turn: inout some Turn
    ) throws(StoreError) {
        guard !devices.isEmpty, let epoch = try currentEpoch(of: space, in: turn.store),
            epoch.author == identity.device,
            let log = try turn.store.agreedLogs(in: space.number).first(where: {
                $0.device == identity.device && $0.lane == .control
            })
        else { return }
        for device in devices {
            let isGuest = roster.isGuest(device)
            // Nobody else tells them the rest of lane 0.
            let held = isGuest ? nil : acknowledged[device]
            if let held {
                guard held[log.tag] ?? 0 < log.end, devices.count <= Self.toldLogCountMax else {
                    continue
                }
            }
            let question = RelayQuestion.welcome(space.number, device, epoch: epoch.id)
            let known = try turn.store.value(.welcome, space.id.bytes + device.bytes)
                .flatMap(Welcome.init)
            // A person who has not accepted can read no more with another epoch.
            let isFresh = known.map {
                ($0.epoch == epoch.id || isGuest) && turn.now.wall < $0.time + Self.welcomeInterval
            }
            let isUnderway = courier.lines[relay]?.questions.contains(question)
            guard isFresh != true, isUnderway != true, let person = roster.person(of: device),
                try takesLetters(device, of: person, on: relay, at: turn.now, turn.store)
            else { continue }
            let runs = try lane0(
                of: space, above: held.map { $0[log.tag] ?? 0 }, own: log, turn.store)
            _ = try send(
                frames(of: runs, space), to: device, of: person, on: relay, for: question, &turn)
        }
    }

    /// Lane 0 of a space; of the own log alone, above a place, for those who know the rest.
    private func lane0(
        of space: SpaceRecord, above held: UInt64?, own log: LogRecord, _ store: some Store
    ) throws(StoreError) -> [Run] {
        guard let held else { return try lane0(of: space, store) }
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

    /// Lane 0 of a space, for those who know nothing of it.
    func lane0(of space: SpaceRecord, _ store: some Store) throws(StoreError) -> [Run] {
        let nothing = Frontier(
            space: space.id, isComplete: true, asksForMissing: true, entries: [])
        return try Catchup.runs(
            lackedBy: nothing, of: space, .welcome, room: Self.parcelByteCount,
            runCountMax: Self.answerRunCountMax, in: store)
    }

    /// Runs, as many in a frame as fit a letter; causes first as they come.
    func frames(of runs: [Run], _ space: SpaceRecord) -> [Frame] {
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
}
