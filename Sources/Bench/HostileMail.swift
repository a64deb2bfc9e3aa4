import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// What a relay brings the victim of a contact, and what makes that nobody's.
struct HostileMail {
    let letter: Input
    let blocking: Input
    let junkSignal: Input
    private let world: HostileWorld
    private let relay: BenchRelay
    private let inbox: MailboxID
    private let prekey: LeafKey

    /// The two part, and go on by a relay.
    init(in world: HostileWorld) throws {
        let (relay, victim, contact) = (BenchRelay(), world.victim, world.contact)
        let link = try victim.befriend(contact)
        let choice = RelayChoice(relay: relay.key, addresses: ["relay.example:7448"])
        let effects = try victim.step(.command(CommandID(7), .chooseRelays([choice])))
        try Mail(victim: victim, contact: contact, link: link).deliver(effects, [])
        try relay.serve(victim, effects)
        try relay.serve(victim, try victim.step(.linkClosed(link)))
        try relay.serve(contact, try contact.step(.linkClosed(link)))
        let welcome = relay.welcome(on: contact.day)
        try relay.serve(contact, try contact.step(.relay(relay.key, .opened(welcome))))
        let part = try CardReader.parts(of: victim.identity.person, victim.store).first
        guard let inbox = part?.mailboxes.first?.inbox, let prekey = part?.prekeys.last?.key,
            let last = relay.entries[inbox]?.last
        else {
            throw HostileWorldError(description: "no letter was put into the inbox")
        }
        letter = .relay(relay.key, .arrived(inbox, [last]))
        blocking = .command(CommandID(8), .answerContact(contact.identity.person, .block))
        let junk = [UInt8](repeating: 9, count: Limits.smallestEnvelopeByteCount - 1)
        junkSignal = .relay(relay.key, .passed(inbox, [2] + junk))
        (self.world, self.relay, self.inbox, self.prekey) = (world, relay, inbox, prekey)
    }

    /// Bytes that look like a letter, behind all others.
    func junkLetter(_ number: UInt8) -> Input {
        let junk = [UInt8](repeating: number, count: Limits.smallestEnvelopeByteCount - 1)
        return arrival(of: [1] + junk, in: inbox, number: UInt64(number))
    }

    /// A signal of the contact, as a relay passes it on and keeps it nowhere.
    func signal(_ content: [UInt8]) -> Input {
        let contact = world.contact
        var writer = ByteWriter()
        writer.byte(1)
        writer.uint64(contact.now.wall)
        writer.identifier(contact.identity.person)
        writer.raw(content)
        var random = SystemRandom()
        let sealed = Letter.seal(
            writer.bytes, as: .passing, to: prekey, inbox: inbox, by: contact.identity.key,
            using: &random)
        return .relay(relay.key, .passed(inbox, sealed ?? []))
    }

    /// What a relay says that nobody asked, as much at a time as it may.
    var answers: [(name: String, note: String, input: Input)] {
        let envelope = [1] + [UInt8](repeating: 9, count: Limits.smallestEnvelopeByteCount - 1)
        let page = (0..<UInt64(Limits.relayPageByteCountMax / envelope.count)).map {
            RelayEntry(counter: (1 << 41) + $0, envelope: envelope)
        }
        let unknown = MailboxID { $0[0] = 7 }
        let all = RelayAnswer.entries(page, hasMore: true, newest: 1 << 50)
        return [
            ("relay-arrival", "a page of junk in the inbox", .arrived(inbox, page)),
            ("relay-foreign", "a page of a mailbox that is not read", .arrived(unknown, page)),
            ("relay-answer", "a page that nobody asked for", .answered(1 << 40, all)),
            ("relay-missed", "word of letters in a mailbox that is not read", .missed(unknown)),
            ("relay-day", "another day", .day(RelayDay(at: world.victim.now.wall + 86_400_000))),
            (
                "relay-reopened", "a connection to a relay that has lost its store",
                .opened(relay.welcome(on: world.victim.day, isAnother: true))
            ),
        ].map { name, note, news in (name, note, Input.relay(relay.key, news)) }
    }

    /// A letter of the contact with this frame.
    func letter(with frame: [UInt8]) throws -> Input {
        let contact = world.contact
        let shown = Frame.introduce(
            Introduction(
                card: contact.card, redemption: nil, join: nil, isRequest: false, isContact: false))
        var content = ByteWriter()
        content.uint64(contact.now.wall)
        content.raw(Self.parcel([shown.encoded(), frame]))
        var random = SystemRandom()
        let sealed = Letter.seal(
            content.bytes, to: prekey, inbox: inbox, by: contact.identity.key, using: &random)
        return arrival(of: sealed ?? [], in: inbox)
    }

    /// An envelope of the contact with this frame, in the drop of their conversation.
    func envelope(with frame: [UInt8]) throws -> Input {
        let (store, key) = (world.contact.store, world.contact.identity.key)
        var core = world.contact.core
        var random = SystemRandom()
        guard let space = try store.space(world.space) else {
            throw HostileWorldError(description: "the two have no conversation")
        }
        try store.begin(.normal)
        defer { store.rollback() }
        for (name, _) in try store.secrets(.epochKeys, in: space.number) {
            guard let epoch = OperationID(name),
                let keys = try core.keys(of: epoch, in: space, store),
                var chain = try core.chain(of: key.device, in: epoch, of: space, store)
            else { continue }
            let mailbox = keys.drop(at: relay.key, ofDay: world.contact.day).id
            let place = EnvelopePlace(space: space.id, epoch: epoch, mailbox: mailbox)
            let sealed = try Envelope.seal(
                Self.parcel([frame]), at: place, chain: &chain, keys: keys, by: key, using: &random)
            return arrival(of: sealed, in: mailbox)
        }
        throw HostileWorldError(description: "the two have no epoch")
    }

    /// Keeps as many prekeys as a node does at most. Returns how many these are.
    func keepEarlierPrekeys() throws -> Int {
        let victim = world.victim
        var random = SystemRandom()
        try victim.store.begin(.normal)
        for number in 1..<NodeCore.prekeyCountMax {
            try Prekey(
                number: UInt32(number), of: victim.identity.key, at: victim.now.wall, using: &random
            ).keep(in: victim.store)
        }
        try victim.store.commit()
        return try victim.store.secrets(.prekey, in: nil).count
    }

    /// Something comes behind all that lies in a mailbox.
    private func arrival(
        of envelope: [UInt8], in mailbox: MailboxID, number: UInt64 = 0
    ) -> Input {
        let entry = RelayEntry(counter: (1 << 40) + number, envelope: envelope)
        return .relay(relay.key, .arrived(mailbox, [entry]))
    }

    private static func parcel(_ frames: [[UInt8]]) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(1)
        for frame in frames { writer.counted(frame) }
        return writer.bytes
    }
}
