import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// Letters, which reach only this device through its inbox, and the answers to them. Source:
/// `Protocol/06-relay.md`, "What letters cost".
extension NodeCore {
    /// The least time between answers to letters of a revoked device, or to cards of a former
    /// member, or to those that show too few devices of their person, in milliseconds.
    private static let revokedAnswerInterval: UInt64 = 3_600_000

    /// Opens letters of the inbox, oldest first. Junk costs its opening: of what a relay brings beyond that
    /// the rest stays there.
    mutating func openLetters(
        _ letters: [RelayEntry], in inbox: MailboxID, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) -> PageProgress {
        let prekeys = try letterKeys(for: relay, &turn)
        var progress = PageProgress()
        for letter in letters {
            guard mayGoOnReading else {
                progress.pause = .turn
                break
            }
            guard courier.passing.takeOpening(from: relay, isLetter: true, at: turn.now) else {
                progress.pause = .relay
                break
            }
            courier.workOfStep += Self.letterWork
            let name: Digest = digest(.relayBlob, letter.envelope)
            if !courier.letters.isKnown(name) {
                guard try open(letter, with: prekeys, in: inbox, by: relay, &turn) else {
                    progress.pause = .unpaid
                    break
                }
                courier.letters.note(name)
            }
            progress.takenCount += 1
        }
        return progress
    }

    /// A letter arrived: its author presents their card in it, or it is not read.
    ///
    /// - Returns: false where it is to be opened later, as its author cannot pay for it yet.
    private mutating func open(
        _ entry: RelayEntry, with prekeys: [PrivateLeaf], in inbox: MailboxID, by relay: NoiseKey,
        _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        let sender: DeviceID
        let content: [UInt8]
        var triedCount = 0
        defer { chargeTrying(keyCount: triedCount, for: relay) }
        do throws(EnvelopeRejection) {
            (sender, content) = try Letter.open(
                entry.envelope, in: inbox, with: prekeys, tried: &triedCount)
        } catch {
            try count(.envelope, turn.store)
            return true
        }
        // The rest is read only from a person who is served: a few bytes can expand to thousands of
        // operations.
        guard var letter = LetterContent(content), letter.frames.isNext(.introduce),
            case .introduce(let introduction) = letter.frames.next(),
            let card = CardReader.claimed(introduction.card)
        else {
            try count(.stranger, turn.store)
            return true
        }
        if let redemption = introduction.redemption {
            try redeem(
                redemption, in: ArrivedLetter(letter.number, by: sender, in: inbox, entry), card,
                by: relay, &turn)
        }
        if try tookRequest(introduction, by: sender, card, from: relay, &turn) {
            try hold(content, of: card.person, by: sender, turn.store)
            return true
        }
        guard let peer = try correspondent(sender, card, by: relay, &turn) else {
            try count(.stranger, turn.store)
            return true
        }
        switch try admitParcel(of: peer.person, &turn) {
        case .fine: break
        case .later: return false
        case .never: return true
        }
        var bill = openBill(of: peer.person, byteCount: content.count)
        try read(&letter, of: peer, introduction, by: relay, &bill, &turn)
        settle(bill)
        return true
    }

    /// Reads the frames of a letter behind the first.
    private mutating func read(
        _ letter: inout LetterContent, of peer: LinkPeer, _ introduction: Introduction,
        by relay: NoiseKey, _ bill: inout ParcelBill, _ turn: inout some Turn
    ) throws(StoreError) {
        if introduction.isContact {
            try confirm(peer.person, &turn)
        }
        var bringer = Bringer(person: peer.person, device: peer.device)
        while let frame = letter.frames.next() {
            charge(for: letter.frames.room, to: &bill)
            switch frame {
            case .operations(let operations): try ingest(operations, by: bringer, &turn)
            case .fork(let proof):
                bringer.hasToldAll = true
                try learned(proof, by: bringer, &turn)
                bringer.hasToldAll = false
            case .frontier(let frontier):
                try asked(frontier, in: letter.number, by: peer, &turn)
            case .want(let want):
                try asked(want, in: letter.number, by: peer, &turn)
            case .introduce(let shown):
                try learnOwn(from: shown, by: relay, &turn)
            default: try count(.envelope, turn.store)
            }
        }
        if !letter.frames.isWhole { try count(.envelope, turn.store) }
    }

    /// The author of a letter, if they are served: as on a link.
    ///
    /// First the claimed person is looked up. If they are unknown, declined or blocked, nothing
    /// that they show is verified; if they are known, only what is new.
    private mutating func correspondent(
        _ device: DeviceID, _ card: Card, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) -> LinkPeer? {
        let person = card.person
        guard device != identity.device, try mayTalk(to: person, with: device, turn.store) else {
            return nil
        }
        let isOwn = person == identity.person
        let kept = isOwn ? identity.log : try CardReader.identity(of: person, turn.store)
        let log: IdentityLog
        if let kept, kept.certificate(of: device) != nil,
            Set(card.identity).isSubset(of: kept.encoded)
        {
            log = kept
        } else {
            guard courier.letters.takeProof(from: relay, at: turn.now.monotonic) else {
                try count(.tooManyFrames, turn.store)
                return nil
            }
            // The reason is not told: the sender is counted.
            guard let shown = try? IdentityLog(operations: card.identity),
                shown.person == person, shown.certificate(of: device) != nil
            else { return nil }
            log = shown
            try learn(log.encoded, of: person, &turn)
        }
        let peer = LinkPeer(
            person: person, root: Digest(reinterpreting: log.root), device: device,
            identity: log.encoded, handshakeHash: [], isInitiator: true)
        guard try isStanding(peer, turn.store) else {
            try answerRevoked(device, card, log, &turn)
            return nil
        }
        try takePart(of: device, from: card, log, &turn)
        try tellOwnDevices(to: device, card, &turn)
        return peer
    }

    /// Shows a device of somebody else what is known of its person's devices and its letter did not show: as on a
    /// link, where none leads. So a person hears of devices that somebody made with their recovery code.
    private mutating func tellOwnDevices(
        to device: DeviceID, _ card: Card, _ turn: inout some Turn
    ) throws(StoreError) {
        guard card.person != identity.person,
            let known = try CardReader.kept(of: card.person, turn.store),
            !Set(known.identity).isSubset(of: card.identity),
            let part = known.parts.first(where: { $0.device == device }),
            courier.letters.takeTelling(
                device, every: Self.revokedAnswerInterval, at: turn.now.monotonic)
        else { return }
        try tellRevocation(to: part, of: card.person, &turn)
    }

    /// Answers a letter of a device that its person revoked: it may not have heard, and where no link
    /// leads nobody else tells it.
    private mutating func answerRevoked(
        _ device: DeviceID, _ card: Card, _ log: IdentityLog, _ turn: inout some Turn
    ) throws(StoreError) {
        guard
            courier.letters.takeAnswer(
                device, every: Self.revokedAnswerInterval, at: turn.now.monotonic),
            let part = card.parts.first(where: { $0.device == device }),
            // By the log that the letter shows it was its person's: it says itself where it is.
            (try? Card(person: card.person, identity: log.encoded, parts: [part]).verified(by: log))
                != nil
        else { return }
        try tellRevocation(to: part, of: card.person, &turn)
    }

    /// Merges what a letter shows of this person's own devices: a revoked one is told so.
    private mutating func learnOwn(
        from shown: Introduction, by relay: NoiseKey, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let card = CardReader.claimed(shown.card), card.person == identity.person,
            !Set(card.identity).isSubset(of: identity.operations)
        else { return }
        guard courier.letters.takeProof(from: relay, at: turn.now.monotonic) else {
            return try count(.tooManyFrames, turn.store)
        }
        try learn(card.identity, of: identity.person, &turn)
    }

    /// A device shows its card in an envelope, for its letters were refused: it is written to, so that it
    /// sees this device's card. Who its person's devices are is known by then.
    mutating func takeCard(
        _ bytes: [UInt8], of peer: Bringer, in space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        let isOwn = peer.person == identity.person
        guard let card = CardReader.claimed(bytes), card.person == peer.person,
            try mayTalk(to: peer.person, with: peer.device, turn.store),
            let log = isOwn ? identity.log : try CardReader.identity(of: peer.person, turn.store),
            log.certificate(of: peer.device) != nil
        else { return try count(.card, turn.store) }
        let isNews = try takePart(of: peer.device, from: card, log, &turn)
        guard try roster(of: space, turn.store)?.contains(peer.device) == true else {
            return try tellOutsider(peer, of: space, &turn)
        }
        if isNews { try restartReminders(of: space.number, &turn) }
    }

    /// Tells a device that is out, and seems not to have heard of it, how far lane 0 goes for it.
    /// Nobody sends reminders to a former member: if the news of the removal was lost, they ask as
    /// a member does, and nobody hears them if their right to write was retired meanwhile.
    private mutating func tellOutsider(
        _ peer: Bringer, of space: SpaceRecord, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let scope = try scope(of: space, with: peer.device, of: peer.person, turn.store),
            courier.letters.takeAnswer(
                peer.device, every: Self.revokedAnswerInterval, at: turn.now.monotonic)
        else { return }
        let frontier = try Catchup.frontier(
            of: space, scope, for: peer.device, asks: false, in: turn.store)
        _ = try send([.frontier(frontier)], to: peer.device, of: peer.person, &turn)
    }

    /// Stores a device's statements about itself, if they are new and valid. Returns whether it
    /// did.
    @discardableResult
    private mutating func takePart(
        of device: DeviceID, from card: Card, _ log: IdentityLog, _ turn: inout some Turn
    ) throws(StoreError) -> Bool {
        guard let part = card.parts.first(where: { $0.device == device }),
            try CardReader.parts(of: card.person, turn.store)
                .first(where: { $0.device == device })?.bytes != part.bytes
        else { return false }
        guard courier.letters.takePartProof(of: device, at: turn.now.monotonic) else {
            try count(.tooManyFrames, turn.store)
            return false
        }
        let shown = Card(person: card.person, identity: log.encoded, parts: [part])
        // Why it does not hold is not told; the rest of the letter is its sender's all the same.
        guard let sound = try? shown.verified(by: log) else {
            try count(.card, turn.store)
            return false
        }
        try keep(sound, &turn)
        // What was refused before need not be refused now.
        for mailbox in part.mailboxes { courier.lines[mailbox.relay]?.absent[mailbox.inbox] = nil }
        return true
    }

    /// A device tells how far it is, and may ask for the rest. A question is answered once, and then
    /// once an hour at most: a relay that keeps it may bring it again at any time.
    private mutating func asked(
        _ frontier: Frontier, in letter: LetterNumber, by peer: LinkPeer, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let space = try turn.store.space(frontier.space) else {
            return try askForUnknown(frontier, in: letter, of: peer, &turn)
        }
        guard let scope = try scope(of: space, with: peer, turn.store) else { return }
        if scope.isEverything {
            try heardTips(frontier, of: space, by: peer.device, &turn)
            try finishRepair(of: space, by: frontier, turn.store)
        } else if frontier.asksForMissing {
            // They take this device for a member, or themselves for one: what says so may not have come.
            try missTips(frontier, of: space, by: peer.device, &turn)
        }
        guard frontier.asksForMissing,
            try takeAnswer(letter, of: peer.device, at: turn.now, turn.store)
        else {
            return
        }
        let runs = try Catchup.runs(
            lackedBy: frontier, of: space, scope, room: Self.parcelByteCount,
            runCountMax: Self.answerRunCountMax, in: turn.store)
        let own = try Catchup.frontier(
            of: space, scope, for: peer.device, asks: false, in: turn.store)
        let proofs = scope.isEverything ? try proofs(in: space, turn.store) : []
        _ = try send(
            frames(of: runs, space) + proofs + [.frontier(own)], to: peer.device, of: peer.person,
            &turn)
    }

    /// A device asks for places by name: for operations it holds without payload.
    private mutating func asked(
        _ want: Want, in letter: LetterNumber, by peer: LinkPeer, _ turn: inout some Turn
    ) throws(StoreError) {
        guard let space = try turn.store.space(want.space),
            let scope = try scope(of: space, with: peer, turn.store),
            try takeAnswer(letter, of: peer.device, at: turn.now, turn.store)
        else { return }
        let runs = try Catchup.runs(
            answering: want, of: space, scope, room: Self.parcelByteCount,
            runCountMax: Self.answerRunCountMax, in: turn.store)
        guard !runs.isEmpty else { return }
        _ = try send(frames(of: runs, space), to: peer.device, of: peer.person, &turn)
    }

    /// A contact reports how far it is in a space that is not known here. The introduction was
    /// lost, or this store was rolled back since: everything is requested.
    ///
    /// A peer that holds nothing either is not asked: the two would ask each other forever.
    private mutating func askForUnknown(
        _ frontier: Frontier, in letter: LetterNumber, of peer: LinkPeer, _ turn: inout some Turn
    ) throws(StoreError) {
        guard !frontier.entries.isEmpty, try mayIntroduce(frontier.space, peer.person, turn.store),
            try takeAnswer(letter, of: peer.device, at: turn.now, turn.store)
        else { return }
        let nothing = Frontier(
            space: frontier.space, isComplete: true, asksForMissing: true, entries: [])
        _ = try send([.frontier(nothing)], to: peer.device, of: peer.person, &turn)
    }

    /// Whether the question in a letter is to be answered; records that it is answered now.
    private mutating func takeAnswer(
        _ letter: LetterNumber, of device: DeviceID, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        let isAged = letter.value <= (try store.number(.answeredLetter, device.bytes) ?? 0)
        if isAged {
            guard
                courier.letters.takeAgedAnswer(
                    device, every: Self.agedAnswerInterval, at: now.monotonic)
            else { return false }
        }
        guard courier.letters.takeAnswer(device, every: Self.answerInterval, at: now.monotonic)
        else {
            return false
        }
        if !isAged { try store.setNumber(letter.value, .answeredLetter, device.bytes) }
        return true
    }
}
