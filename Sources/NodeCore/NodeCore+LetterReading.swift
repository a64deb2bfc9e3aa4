import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// What comes to this device alone through its inbox, and what is answered.
/// Source: `Protocol/06-relay.md`, "What letters cost".
extension NodeCore {
    /// A revoked device is told so in answer to its letters no more often, nor who is out in answer to a
    /// card, in milliseconds.
    private static let revokedAnswerInterval: UInt64 = 3_600_000

    /// A letter came: who wrote it presents their card in it, or it is not read.
    mutating func openLetter(
        _ entry: RelayEntry, in inbox: MailboxID, by relay: NoiseKey, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        let bytes = entry.envelope
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
        // The rest is read only for who is talked to: a few bytes can grow to thousands of operations.
        guard var letter = LetterContent(content),
            case .introduce(let introduction) = letter.frames.next(),
            let card = CardReader.claimed(introduction.card)
        else { return try count(.stranger, store) }
        if let redemption = introduction.redemption {
            try redeem(
                redemption, in: ArrivedLetter(letter.number, by: sender, in: inbox, entry), card,
                by: relay, at: now, store, &random, &effects)
        }
        if try tookRequest(
            introduction, by: sender, card, from: relay, at: now, store, &random, &effects)
        {
            return
        }
        let peer = try correspondent(sender, card, by: relay, at: now, store, &random, &effects)
        guard let peer else { return try count(.stranger, store) }
        if introduction.isContact {
            try confirm(peer.person, at: now, store, &random, &effects)
        }
        while let frame = letter.frames.next() {
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
            case .want(let want):
                try asked(want, in: letter.number, by: peer, at: now, store, &random, &effects)
            case .introduce(let shown):
                try learnOwn(from: shown, by: relay, at: now, store, &effects)
            default: try count(.envelope, store)
            }
        }
        if !letter.frames.isWhole { try count(.envelope, store) }
    }

    /// Who wrote a letter, if they are talked to: as on a link.
    ///
    /// First whoever they say they are is looked up. For who is unknown, declined or blocked nothing
    /// that they show is proven; for who is known, what is not known of them.
    private mutating func correspondent(
        _ device: DeviceID, _ card: Card, by relay: NoiseKey, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
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
        guard try isStanding(peer, store) else {
            try answerRevoked(device, card, log, at: now, store, &random, &effects)
            return nil
        }
        try takePart(of: device, from: card, log, at: now, store, &effects)
        return peer
    }

    /// Answers a letter of a device that its person revoked: it may not have heard, and where no link
    /// leads nobody else tells it.
    private mutating func answerRevoked(
        _ device: DeviceID, _ card: Card, _ log: IdentityLog, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard letters.mayAnswer(device, every: Self.revokedAnswerInterval, at: now.monotonic),
            let part = card.parts.first(where: { $0.device == device }),
            // By the log that the letter shows it was its person's: it says itself where it is.
            (try? Card(person: card.person, identity: log.encoded, parts: [part]).verified(by: log))
                != nil
        else { return }
        try tellRevocation(to: part, of: card.person, at: now, store, &random, &effects)
    }

    /// Takes in what a letter shows of this person's own devices: one that was revoked is told so.
    private mutating func learnOwn(
        from shown: Introduction, by relay: NoiseKey, at now: Instant, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let card = CardReader.claimed(shown.card), card.person == identity.person,
            !Set(card.identity).isSubset(of: identity.operations)
        else { return }
        guard letters.mayProve(from: relay, at: now.monotonic) else {
            return try count(.tooManyFrames, store)
        }
        try learn(card.identity, of: identity.person, at: now, store, &effects)
    }

    /// A device shows its card in an envelope, for its letters were refused: it is written to, so that it
    /// sees this device's card. Who its person's devices are is known by then.
    mutating func takeCard(
        _ bytes: [UInt8], of peer: Bringer, in space: SpaceRecord, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        let isOwn = peer.person == identity.person
        guard let card = CardReader.claimed(bytes), card.person == peer.person,
            try mayTalk(to: peer.person, with: peer.device, store),
            let log = isOwn ? identity.log : try CardReader.identity(of: peer.person, store),
            log.certificate(of: peer.device) != nil
        else { return try count(.card, store) }
        let isNews = try takePart(of: peer.device, from: card, log, at: now, store, &effects)
        guard try roster(of: space, store)?.contains(peer.device) == true else {
            return try tellOutsider(peer, of: space, at: now, store, &random, &effects)
        }
        if isNews { try remindLater(of: space.number, at: now, store, &effects) }
    }

    /// Tells a device that is out, and seems not to have heard so, how far lane 0 goes for it. Nobody
    /// reminds who is out: where what says so was lost, they ask as a member does, and nobody hears them
    /// where their right to write was retired meanwhile.
    private mutating func tellOutsider(
        _ peer: Bringer, of space: SpaceRecord, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let scope = try scope(of: space, with: peer.device, of: peer.person, store),
            letters.mayAnswer(
                peer.device, every: Self.revokedAnswerInterval, at: now.monotonic)
        else { return }
        let frontier = try Catchup.frontier(
            of: space, scope, for: peer.device, asks: false, in: store)
        _ = try send(
            [.frontier(frontier)], to: peer.device, of: peer.person, at: now, store, &random,
            &effects)
    }

    /// Keeps what a device says of itself, where that is news and holds. Returns whether it does.
    @discardableResult
    private mutating func takePart(
        of device: DeviceID, from card: Card, _ log: IdentityLog, at now: Instant,
        _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) -> Bool {
        guard let part = card.parts.first(where: { $0.device == device }),
            try CardReader.parts(of: card.person, store)
                .first(where: { $0.device == device })?.bytes != part.bytes
        else { return false }
        guard letters.mayProvePart(of: device, at: now.monotonic) else {
            try count(.tooManyFrames, store)
            return false
        }
        let shown = Card(person: card.person, identity: log.encoded, parts: [part])
        // Why it does not hold is not told; the rest of the letter is its sender's all the same.
        guard let sound = try? shown.verified(by: log) else {
            try count(.card, store)
            return false
        }
        try keep(sound, at: now, store, &effects)
        // What was refused before need not be now.
        for mailbox in part.mailboxes { lines[mailbox.relay]?.absent[mailbox.inbox] = nil }
        return true
    }

    /// A device tells how far it is, and may ask for the rest. A question is answered once, and then
    /// once an hour at most: a relay that keeps it may bring it again at any time.
    private mutating func asked(
        _ frontier: Frontier, in letter: LetterNumber, by peer: LinkPeer, at now: Instant,
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
        guard frontier.asksForMissing, try mayAnswer(letter, of: peer.device, at: now, store) else {
            return
        }
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

    /// A device asks for places by name: for what it holds without their payload.
    private mutating func asked(
        _ want: Want, in letter: LetterNumber, by peer: LinkPeer, at now: Instant,
        _ store: some Store, _ random: inout some RandomNumberGenerator,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let space = try store.space(want.space),
            let scope = try scope(of: space, with: peer, store),
            try mayAnswer(letter, of: peer.device, at: now, store)
        else { return }
        let runs = try Catchup.runs(
            answering: want, of: space, scope, room: Self.parcelByteCount,
            runCountMax: Self.answerRunCountMax, in: store)
        guard !runs.isEmpty else { return }
        _ = try send(
            frames(of: runs, space), to: peer.device, of: peer.person, at: now, store, &random,
            &effects)
    }

    /// A contact tells how far it is in a space that is not known here. What introduced this device
    /// to it was lost, or this store fell behind since: all of it is asked for.
    ///
    /// Who holds nothing of it either is not asked: two would ask each other for ever.
    private mutating func askForUnknown(
        _ frontier: Frontier, in letter: LetterNumber, of peer: LinkPeer, at now: Instant,
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

    /// Whether what a letter asks is to be answered; notes that it is answered now.
    private mutating func mayAnswer(
        _ letter: LetterNumber, of device: DeviceID, at now: Instant, _ store: some Store
    ) throws(StoreError) -> Bool {
        let isAged = letter.value <= (try store.number(.answeredLetter, device.bytes) ?? 0)
        if isAged {
            guard
                letters.mayAnswerAged(device, every: Self.agedAnswerInterval, at: now.monotonic)
            else { return false }
        }
        guard letters.mayAnswer(device, every: Self.answerInterval, at: now.monotonic) else {
            return false
        }
        if !isAged { try store.setNumber(letter.value, .answeredLetter, device.bytes) }
        return true
    }
}
