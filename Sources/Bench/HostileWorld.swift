import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleySignalling
import ParleyStorage
import ParleyWire

/// A node as others meet it: the production core on the production store, and nothing else. Its
/// effects are returned, so that a single step can be measured.
final class BareNode {
    let identity: NodeIdentity
    let home: String
    /// Nil while the home is closed: letting go of it releases the folder.
    private var opened: SQLiteStore?
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
        self.home = home
        let store = try SQLiteStore.open(home: Home(home), unlock: .keyFile)
        opened = store
        core = NodeCore(identity: identity)
        try store.begin(.normal)
        try NodeIdentity.keep(log, in: store)
        try store.commit()
        _ = try step(.started)
        _ = try step(.command(CommandID(1), .setProfile(name: name, addresses: [])))
    }

    private static let wall: UInt64 = 1_700_000_000_000
    /// The day that a relay tells now.
    var day: RelayDay { RelayDay(at: now.wall) }
    var now: Instant { Instant(monotonic: time, wall: Self.wall + time) }

    var store: SQLiteStore {
        guard let opened else { preconditionFailure("the home is open between two steps") }
        return opened
    }

    /// One step for good.
    func step(_ input: Input) throws -> [Effect] { try steps([input]) }

    /// Steps for good, in one transaction.
    func steps(_ inputs: [Input]) throws -> [Effect] {
        time += 1
        try store.begin(.normal)
        let effects = try inputs.flatMap { try core.step($0, at: now, in: store, using: &random) }
        try store.commit()
        return effects
    }

    /// Seconds that a step takes of which nothing stays.
    func measure(_ input: Input) throws -> Double { try measure([input])[0] }

    /// The seconds of each of these steps, one after the other, of which nothing stays.
    ///
    /// - Parameter timer: taken as well, as long as the step before sets it.
    func measure(_ inputs: [Input], andFurther timer: TimerID? = nil) throws -> [Double] {
        var copy = core
        var times: [Double] = []
        try store.begin(.normal)
        defer { store.rollback() }
        var rest = Queue(inputs)
        while let input = rest.popFirst() {
            let start = seconds()
            let effects = try copy.step(input, at: now, in: store, using: &random)
            times.append(seconds() - start)
            for case .timer(let set, _) in effects where set == timer { rest.append(.timer(set)) }
        }
        return times
    }

    /// Whether a step changes what is shown, if it is taken.
    func changes(_ input: Input) throws -> Bool {
        var copy = core
        try store.begin(.normal)
        defer { store.rollback() }
        return try copy.step(input, at: now, in: store, using: &random).contains {
            if case .changed = $0 { true } else { false }
        }
    }

    /// Closes the home; then the seconds until it is open again and the node has begun.
    func restart() throws -> Double {
        try store.writeGuard(heads: store.heads(of: identity.device))
        try store.close()
        opened = nil
        let start = seconds()
        let store = try SQLiteStore.open(home: Home(home), unlock: .keyFile)
        opened = store
        core = NodeCore(identity: identity, rejoin: Rejoin(store))
        _ = try step(.started)
        return seconds() - start
    }

    /// How this node looks to another, on a link.
    func peer(isInitiator: Bool) -> LinkPeer {
        LinkPeer(
            person: identity.person, root: identity.root, device: identity.device,
            identity: identity.operations, handshakeHash: [UInt8](repeating: 7, count: 64),
            isInitiator: isInitiator)
    }

    /// Makes a contact of another node, on a link that stays open; returns that.
    func befriend(_ other: BareNode) throws -> LinkID {
        let secret = [UInt8](
            repeating: UInt8(truncatingIfNeeded: next), count: Invite.secretByteCount)
        let expires: UInt64 = 1_800_000_000_000
        _ = try step(.command(CommandID(2), .createInvite(secret: secret, expires: expires)))
        let invite = Invite(
            person: identity.person, secret: secret, expires: expires,
            place: .device(identity.device, identity.noiseKey, addresses: []))
        _ = try other.step(.command(CommandID(2), .acceptInvite(invite, alias: "victim")))
        let link = newLink()
        try Mail(victim: self, contact: other, link: link).deliver(
            try step(.linkOpened(link, other.peer(isInitiator: false))),
            try other.step(.linkOpened(link, peer(isInitiator: true))))
        return link
    }

    /// Parts two nodes.
    func part(from other: BareNode, _ link: LinkID) throws {
        _ = try step(.linkClosed(link))
        _ = try other.step(.linkClosed(link))
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
    /// Messages that the contact wrote: more than are sent without looking which are the newest.
    static let messageCount = 2_000
    /// The victim's end of the link with the contact.
    let link: LinkID
    let space: SpaceID
    /// The contact's log of what it wrote there.
    let tag: LogTag

    init(folder: String) throws {
        victim = try BareNode(home: folder + "/victim", name: "victim")
        contact = try BareNode(home: folder + "/contact", name: "contact")
        stranger = try BareNode(home: folder + "/stranger", name: "stranger")
        link = try victim.befriend(contact)
        let mail = Mail(victim: victim, contact: contact, link: link)
        guard let record = try contact.store.spaces().first(where: { $0.kind == .direct }) else {
            throw HostileWorldError(description: "the two did not meet")
        }
        space = record.id
        for number in 0..<Self.messageCount / 50 {
            let texts = (0..<50).map { TextMessage(text: "\(number) \($0) some words to send") }
            let effects = try contact.step(
                .command(CommandID(3), .send(space, texts, replyingTo: nil)))
            try mail.deliver([], effects)
        }
        let logs = try contact.store.logs(in: record.number)
        let written = logs.first { $0.lane == .content && $0.end >= Self.messageCount }
        guard let log = written else {
            throw HostileWorldError(description: "the messages were not written")
        }
        tag = log.tag
    }

    /// The first operation that the contact wrote, as it is sent.
    func firstRun() throws -> Run {
        let store = contact.store
        guard let record = try store.space(space), let log = try store.log(tag, in: record.number),
            let first = try store.operation(at: 0, in: log.number), let span = log.spans.first
        else { throw HostileWorldError(description: "the contact wrote nothing") }
        return Run(
            device: contact.identity.device, lane: .content, first: 0, anchor: span.anchor,
            operations: [first.operation], heads: try store.heads(in: log.number, 0...0))
    }

    /// A frame with so many calls of the contact's, each with a name of its own.
    func calls(_ count: Int, from first: Int) throws -> [UInt8] {
        let drafts = (first..<first + count).map { number in
            CallRecord(
                call: CallID(Check(high: 1, low: UInt64(number))),
                founder: contact.identity.person, began: contact.now.wall,
                summary: CallSummary(
                    outcome: .unanswered, duration: 0, persons: [contact.identity.person])
            ).draft()
        }
        return try frame(of: drafts)
    }

    /// A frame with what the contact writes next.
    func frame(of drafts: [Draft]) throws -> [UInt8] {
        let store = contact.store
        guard let record = try store.space(space), let log = try store.log(tag, in: record.number),
            let last = try store.operation(at: log.end - 1, in: log.number)
        else { throw HostileWorldError(description: "the contact has no conversation") }
        let author = LogAuthor(
            key: contact.identity.key, space: record,
            authority: last.operation.header.authority ?? 0, wallClock: contact.now.wall)
        var random = SystemRandom()
        try store.begin(.normal)
        let written = try author.append(drafts, to: store, using: &random)
        try store.commit()
        let run = Run(
            device: contact.identity.device, lane: .content, first: log.end, anchor: last.id,
            operations: written.map(\.operation.operation),
            heads: try store.heads(in: log.number, log.end...log.end + UInt64(written.count) - 1))
        return Frame.operations(Operations(space: space, endsAnswer: false, runs: [run])).encoded()
    }
}

/// Frames on their way between two linked nodes, until there are none.
struct Mail {
    let victim: BareNode
    let contact: BareNode
    let link: LinkID

    func deliver(_ ofVictim: [Effect], _ ofContact: [Effect]) throws {
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

/// The nodes of a benchmark did not do what nodes do.
struct HostileWorldError: Error, CustomStringConvertible {
    let description: String
}
