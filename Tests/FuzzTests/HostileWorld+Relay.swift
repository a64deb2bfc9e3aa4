import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleyWire

@testable import ParleyNodeCore
@testable import ParleySealing
@testable import ParleySimulation

// What a relay says, and what it brings: letters, signals and envelopes that open.
extension HostileWorld {
    /// The relay says something that nobody asked for, or answers as it likes.
    func tellAsRelay() {
        let news = relayNews()
        feed(.relay(relay.key, news), "\(news)".prefix(120).description)
    }

    func relayNews() -> RelayNews {
        switch random.next() % 10 {
        case 0: return .opened(welcome())
        case 1: return random.happens(onceIn: 3) ? .closed : .leaving(retryAfter: delay())
        case 2: return .day(random.hostile())
        case 3: return .missed(mailbox())
        case 4: return .arrived(mailbox(), entries())
        case 5: return .passed(mailbox(), random.bytes(512))
        default:
            let open = ann.core.courier.lines[relay.key]?.questions.numbers ?? []
            let number =
                open.isEmpty || random.happens(onceIn: 8)
                ? random.hostile() : open[random.below(open.count)]
            return .answered(number, answer())
        }
    }

    private func welcome() -> RelayWelcome {
        RelayWelcome(
            day: random.flip() ? RelayDay(at: now()) : random.hostile(), newest: random.hostile(),
            needsTicket: random.happens(onceIn: 3),
            starts: (0...random.below(RelayWelcome.startCountMax)).map { _ in
                RelayStart(id: random.hostile(), newest: random.hostile())
            })
    }

    private func delay() -> UInt32 { UInt32(truncatingIfNeeded: random.hostile()) }

    private func answer() -> RelayAnswer {
        switch random.next() % 8 {
        case 0: .opened(expires: random.hostile(), byteCountMax: random.hostile())
        case 1: .stored(counter: random.hostile())
        case 2, 3: .entries(entries(), hasMore: random.flip(), newest: random.hostile())
        case 4: .subscribed(newest: random.hostile())
        case 5: .done
        case 6: .pipe(UInt32(truncatingIfNeeded: random.hostile()))
        default: .refused(refusal())
        }
    }

    private func refusal() -> RelayRefusal {
        switch random.next() % 9 {
        case 0, 1: .busy(retryAfter: delay())
        case 2: .noMailbox
        case 3: .forbidden
        case 4: .ticketNeeded
        case 5: .badTicket
        case 6: .malformed
        case 7: .full
        default: .nobodyThere
        }
    }

    /// One of the mailboxes that Ann's node reads, or another.
    private func mailbox() -> MailboxID {
        let known = (ann.core.courier.lines[relay.key]?.mailboxes.keys).map { $0.sorted() } ?? []
        return known.isEmpty || random.happens(onceIn: 8)
            ? random.identifier() : known[random.below(known.count)]
    }

    private func entries() -> [RelayEntry] {
        let kept = relay.contents.filter { RelayEntry.isSize($0.count) }
        return (0..<random.below(4)).map { _ in
            let envelope =
                switch random.next() % 3 {
                case 0 where !kept.isEmpty: kept[random.below(kept.count)]
                case 1: shelfEnvelope()
                default: random.bytes(512)
                }
            return RelayEntry(counter: random.hostile(), envelope: envelope)
        }
    }

    // MARK: What opens

    private var inbox: (mailbox: CardMailbox, prekey: PrekeyCertificate)? {
        let parts = (try? CardReader.parts(of: ann.identity.person, ann.store)) ?? []
        guard let part = parts.first(where: { $0.device == ann.identity.device }),
            let mailbox = part.mailboxes.first(where: { $0.relay == relay.key }),
            let prekey = part.prekeys.last
        else { return nil }
        return (mailbox, prekey)
    }

    /// A letter of somebody's comes to Ann's inbox.
    func writeLetter() throws {
        guard let inbox else { return }
        let node = liar()
        let key =
            random.happens(onceIn: 8)
            ? DeviceSigningKey.generate(using: &random) : node.identity.key
        // Behind eight bytes of the letter's number.
        var parcel = Parcel(byteCountMax: Letter.contentByteCountMax - 8)
        parcel.add(.introduce(Introduction(card: card(of: node))))
        var kinds: [String] = []
        for _ in 0..<random.below(4) {
            let frame = try frame(of: node)
            parcel.add(frame)
            kinds.append("\(frame)".prefix(40).description)
        }
        var content = ByteWriter()
        content.uint64(random.hostile())
        content.raw(parcel.bytes)
        guard
            let letter = Letter.seal(
                content.bytes, to: inbox.prekey.key, inbox: inbox.mailbox.inbox, by: key,
                using: &random)
        else { return }
        let entry = RelayEntry(counter: random.hostile(), envelope: letter)
        feed(
            .relay(relay.key, .arrived(inbox.mailbox.inbox, [entry])),
            "a letter of \(node.name): \(kinds)")
    }

    /// Something comes to Ann that the relay passes on and does not keep.
    func pass() throws {
        guard let inbox else { return }
        let node = liar()
        let isStranger = random.happens(onceIn: 4)
        let key =
            isStranger ? DeviceSigningKey.generate(using: &random) : node.identity.key
        let time = random.flip() ? now() : random.hostile()
        var content = ByteWriter()
        content.byte(1)
        content.uint64(time)
        content.identifier(isStranger ? person() : node.identity.person)
        content.raw(signal(in: try space()))
        guard
            let letter = Letter.seal(
                content.bytes, as: .passing, to: inbox.prekey.key, inbox: inbox.mailbox.inbox,
                by: key, using: &random)
        else { return }
        feed(
            .relay(relay.key, .passed(inbox.mailbox.inbox, letter)),
            "a signal of \(node.name) through the relay, sent at \(time)")
    }

    /// An envelope that opens comes into a mailbox of an epoch.
    func sealEnvelope() throws {
        let node = liar()
        guard let space = try node.store.space(try space()),
            let line = ann.core.courier.lines[relay.key]
        else { return }
        var core = node.core
        guard let epoch = try core.currentEpoch(of: space, in: node.store)?.id,
            let keys = try core.keys(of: epoch, in: space, node.store)
        else { return }
        try node.store.begin(.full)
        defer { node.store.rollback() }
        guard
            var chain = try core.chain(of: node.identity.device, in: epoch, of: space, node.store)
        else { return }
        let step = random.flip() ? random.next() % 300 : random.hostile()
        chain.skip(UInt32(clamping: min(step, 4_095)))
        let (mailbox, _) = keys.drop(at: relay.key, ofDay: line.day)
        var parcel = Parcel(byteCountMax: Envelope.contentByteCountMax)
        for _ in 0...random.below(3) {
            if let said = try operations(of: node, in: space.id) { parcel.add(.operations(said)) }
            parcel.add(.frontier(try frontier(of: space.id)))
            parcel.add(.acknowledge(try acknowledgement(of: space.id)))
        }
        let place = EnvelopePlace(space: space.id, epoch: epoch, mailbox: mailbox)
        guard
            let envelope = try? Envelope.seal(
                parcel.bytes, at: place, chain: &chain, keys: keys, by: node.identity.key,
                using: &random)
        else { return }
        let entry = RelayEntry(counter: random.hostile(), envelope: envelope)
        feed(.relay(relay.key, .arrived(mailbox, [entry])), "an envelope of \(node.name)")
    }
}
