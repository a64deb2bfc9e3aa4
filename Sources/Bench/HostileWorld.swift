import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// A node as others meet it: the production core on the production store, and nothing else. What
/// it wants done is handed back, so that a single step can be measured.
final class BareNode {
    let identity: NodeIdentity
    let store: SQLiteStore
    private(set) var core: NodeCore
    private var random = SystemRandom()
    /// The next link's number, and the time in milliseconds.
    private var next: UInt64 = 1
    private var time: UInt64 = 1_000

    init(home: String, name: String) throws {
        var random = SystemRandom()
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        let log = try IdentityLog.founded(
            root: RecoveryCode.generate(using: &random).rootKey, device: key,
            noiseKey: noise.publicKey, time: Self.wall, using: &random)
        identity = NodeIdentity(log: log, key: key, noiseKey: noise.publicKey)
        store = try SQLiteStore.open(home: Home(home), unlock: .keyFile)
        core = NodeCore(identity: identity)
        try store.begin(.normal)
        try NodeIdentity.keep(log, in: store)
        try store.commit()
        _ = try step(.started)
        _ = try step(.command(CommandID(1), .setProfile(name: name, addresses: [])))
    }

    private static let wall: UInt64 = 1_700_000_000_000
    private var now: Instant { Instant(monotonic: time, wall: Self.wall + time) }

    /// One step for good.
    func step(_ input: Input) throws -> [Effect] {
        time += 1
        try store.begin(.normal)
        let effects = try core.step(input, at: now, in: store, using: &random)
        try store.commit()
        return effects
    }

    /// Seconds that a step takes of which nothing stays.
    func measure(_ input: Input) throws -> Double {
        var copy = core
        try store.begin(.normal)
        defer { store.rollback() }
        let start = seconds()
        _ = try copy.step(input, at: now, in: store, using: &random)
        return seconds() - start
    }

    /// How this node looks to another, on a link.
    func peer(isInitiator: Bool) -> LinkPeer {
        LinkPeer(
            person: identity.person, root: identity.root, device: identity.device,
            identity: identity.operations, handshakeHash: [UInt8](repeating: 7, count: 64),
            isInitiator: isInitiator)
    }

    /// A link number that was not used yet.
    func newLink() -> LinkID {
        next += 1
        return LinkID(next)
    }

    var card: [UInt8] {
        // Every node has one since it was named.
        (try? store.value(.card, identity.person.bytes)) ?? []
    }
}

/// Two nodes that are contacts, talk over a link, and share a conversation.
struct HostileWorld {
    let victim: BareNode
    let contact: BareNode
    let stranger: BareNode
    /// The victim's end of the link with the contact.
    let link: LinkID
    let space: SpaceID
    /// The contact's log of what it wrote there.
    let tag: LogTag

    init(folder: String) throws {
        victim = try BareNode(home: folder + "/victim", name: "victim")
        contact = try BareNode(home: folder + "/contact", name: "contact")
        stranger = try BareNode(home: folder + "/stranger", name: "stranger")
        let secret = [UInt8](repeating: 9, count: 32)
        let expires: UInt64 = 1_800_000_000_000
        _ = try victim.step(
            .command(CommandID(2), .createInvite(secret: secret, expires: expires)))
        let invite = Invite(
            person: victim.identity.person, card: victim.card, secret: secret, expires: expires)
        _ = try contact.step(.command(CommandID(2), .acceptInvite(invite, alias: "victim")))
        link = victim.newLink()
        var mail = Mail(victim: victim, contact: contact, link: link)
        try mail.deliver(
            try victim.step(.linkOpened(link, contact.peer(isInitiator: false))),
            try contact.step(.linkOpened(link, victim.peer(isInitiator: true))))
        guard let record = try contact.store.spaces().first(where: { $0.kind == .direct }) else {
            throw HostileWorldError(description: "the two did not meet")
        }
        space = record.id
        for number in 0..<20 {
            let texts = (0..<50).map { TextMessage(text: "\(number) \($0) some words to send") }
            let effects = try contact.step(
                .command(CommandID(3), .send(space, texts, replyingTo: nil)))
            try mail.deliver([], effects)
        }
        let logs = try contact.store.logs(in: record.number)
        guard let log = logs.first(where: { $0.lane == .content && $0.end >= 1_000 }) else {
            throw HostileWorldError(description: "the messages were not written")
        }
        tag = log.tag
    }

    /// Frames on their way between the two, until there are none.
    private struct Mail {
        let victim: BareNode
        let contact: BareNode
        let link: LinkID

        mutating func deliver(_ ofVictim: [Effect], _ ofContact: [Effect]) throws {
            var toContact = Queue(frames(ofVictim))
            var toVictim = Queue(frames(ofContact))
            while !toContact.isEmpty || !toVictim.isEmpty {
                if let frame = toContact.popFirst() {
                    toVictim.append(contentsOf: frames(try contact.step(.frame(link, frame))))
                }
                if let frame = toVictim.popFirst() {
                    toContact.append(contentsOf: frames(try victim.step(.frame(link, frame))))
                }
            }
        }

        private func frames(_ effects: [Effect]) -> [[UInt8]] {
            effects.compactMap { if case .send(_, let bytes) = $0 { bytes } else { nil } }
        }
    }
}

/// The nodes of a benchmark did not do what nodes do.
struct HostileWorldError: Error, CustomStringConvertible {
    let description: String
}
