import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleySealing
import ParleySimulation
import ParleyWire
import Testing

@testable import ParleyNodeCore

/// A node beside its world, with what writes letters to it.
struct LetterDesk {
    let pair: Pair
    var core: NodeCore
    let store: any SimulatedStore
    let inbox: MailboxID
    let prekey: LeafKey
    var now: Instant
    var random = SeededRandom(seed: 5, purpose: "letters")
    private var counter: UInt64 = .max / 2
    private var nextLink: UInt64 = 1 << 40
    /// When the rest of what was brought is looked at.
    private var restsUntil: UInt64?
    /// The last letter that was acknowledged.
    private(set) var acknowledged: UInt64?

    init(seed: UInt64) throws {
        let pair = try Pair(seed: seed)
        pair.world.cut(pair.ann, pair.ben)
        pair.world.run(for: 30_000)
        let store = try pair.ben.store.copy()
        let ben = pair.ben.identity
        let part = try CardReader.parts(of: ben.person, store)
            .first { $0.device == ben.device }
        let inbox = pair.ben.core.courier.lines[pair.relay.key]?.inbox
        self.pair = pair
        self.store = store
        core = pair.ben.core
        self.inbox = try #require(inbox)
        prekey = try #require(part?.prekeys.last).key
        now = Instant(monotonic: pair.world.now, wall: World.epoch + pair.world.now)
    }

    mutating func letter(
        _ card: Card, _ frames: [Frame] = [], number: UInt64 = 1, by key: DeviceSigningKey
    ) throws -> [UInt8] {
        let shown = Frame.introduce(Introduction(card: card.encoded, redemption: nil))
        let content = try #require(
            LetterContent.encode(
                [shown] + frames, number: LetterNumber(clamping: number)))
        let letter = Letter.seal(content, to: prekey, inbox: inbox, by: key, using: &random)
        return try #require(letter)
    }

    /// The node is brought a letter. Returns what it asks of relays.
    mutating func bring(_ letters: [UInt8]...) throws -> [RelayAction] {
        try bring(letters)
    }

    @discardableResult
    mutating func bring(
        _ letters: [[UInt8]], in mailbox: MailboxID? = nil
    ) throws -> [RelayAction] {
        let entries = letters.map { letter in
            counter += 1
            return RelayEntry(counter: counter, envelope: letter)
        }
        return try step(.relay(pair.relay.key, .arrived(mailbox ?? inbox, entries)))
    }

    /// Whether all letters were acknowledged that were brought.
    var isRead: Bool { acknowledged == counter }

    /// Lets so many milliseconds pass in which the node goes on with what it was brought.
    mutating func goOn(for time: UInt64) throws {
        let end = now.monotonic + max(time, 100)
        while let due = restsUntil, due <= end {
            restsUntil = nil
            now.monotonic = max(now.monotonic, due)
            _ = try step(.timer(.backlog))
        }
        now.monotonic = end
    }

    /// Lets something happen. Returns what is asked of relays.
    mutating func step(_ input: Input) throws -> [RelayAction] {
        try store.begin(.full)
        let effects = try core.step(input, at: now, in: store, using: &random)
        try store.commit()
        for effect in effects {
            switch effect {
            case .timer(.backlog, let moment): restsUntil = moment
            case .askRelay(_, let request):
                if case .acknowledge(let last) = request.action { acknowledged = last }
            default: break
            }
        }
        return effects.compactMap {
            if case .askRelay(_, let request) = $0 { request.action } else { nil }
        }
    }

    func refused(_ refusal: Refusal) throws -> UInt64 {
        try store.number(.refusal, Array(refusal.rawValue.utf8)) ?? 0
    }
}

extension LetterDesk {
    var record: SpaceRecord { get throws { try #require(try store.space(pair.space)) } }

    /// As many operations of ann's as a frame holds, in two runs, which nothing proves.
    ///
    /// - Parameter endsLink: whether one has a signature that does not hold.
    func bomb(endsLink: Bool = false) throws -> Frame {
        let least = try Operation.make(
            OperationHeader(kind: OperationKind(rawValue: 64), wallClock: 0, clock: 0),
            payload: [1])
        let wrong = try #require(SignatureBytes([UInt8](repeating: 3, count: 64)))
        let half = UInt64(Limits.frameOperationCountMax / 2)
        let runs = [1_000, 1_000 + half].map { first in
            Run(
                device: pair.ann.identity.device, lane: .content, first: first,
                anchor: OperationID { $0[0] = 5 },
                operations: Array(repeating: least, count: Int(half)),
                heads: endsLink && first > 1_000
                    ? [SignedHead(sequence: first + half - 1, signature: wrong)] : [])
        }
        return .operations(Operations(space: pair.space, endsAnswer: false, runs: runs))
    }

    /// How often the node looked at all of a bomb, and found no signature.
    var bombCount: UInt64 { get throws { try refused(.unsignedOperations) / 2 } }

    /// What a node wrote last.
    func lastRun(of node: SimulatedNode) throws -> Run {
        let record = try #require(try node.store.space(pair.space))
        let logs = try node.store.logs(in: record.number)
        let log = try #require(
            logs.first { $0.device == node.identity.device && $0.lane == .content })
        let run = try RunReader.forward(
            log, from: log.end - 1, room: 10_000, bringsAnchor: true, store: node.store)
        return try #require(run)
    }

    /// Up to where the log of this run is held.
    func end(of run: Run) throws -> UInt64? {
        let name = OperationHash.log(space: pair.space, device: run.device, lane: run.lane)
        return try store.log(LogTag(name), in: record.number)?.end
    }

    /// A link that a node opens, and on which it greets.
    mutating func link(of node: SimulatedNode) throws -> LinkID {
        nextLink += 1
        let link = LinkID(nextLink)
        let identity = node.identity
        let peer = LinkPeer(
            person: identity.person, root: identity.root, device: identity.device,
            identity: identity.operations, handshakeHash: [], isInitiator: false)
        _ = try step(.linkOpened(link, peer))
        let hello = Hello(
            capabilities: 0, wallClock: WallTime(clamping: now.wall), generation: 1,
            credit: .greatest)
        _ = try step(.frame(link, Frame.hello(hello).encoded()))
        return link
    }

    /// Envelopes of a node's with this frame, and the drop that they are for.
    ///
    /// - Parameter isJunk: whether they open with no key, though their outer seal holds.
    mutating func envelopes(
        of node: SimulatedNode, with frame: Frame, count: Int, isJunk: Bool = false
    ) throws -> (mailbox: MailboxID, envelopes: [[UInt8]]) {
        var core = node.core
        let theirs = try node.store.copy()
        let space = try #require(try theirs.space(pair.space))
        try theirs.begin(.normal)
        defer { theirs.rollback() }
        let epoch = try #require(try core.newestEpochs(of: space, theirs).first).id
        let keys = try #require(try core.keys(of: epoch, in: space, theirs))
        // With another's chain the outer seal holds, and nothing else.
        let owner = isJunk ? pair.ben.identity.device : node.identity.device
        let found = try core.chain(of: owner, in: epoch, of: space, theirs)
        var chain = try #require(found)
        if isJunk { chain.skip(50) }
        let day = try #require(self.core.courier.lines[pair.relay.key]?.day)
        let mailbox = keys.drop(at: pair.relay.key, ofDay: day).id
        let place = EnvelopePlace(space: space.id, epoch: epoch, mailbox: mailbox)
        var parcel = Parcel(byteCountMax: Envelope.contentByteCountMax)
        parcel.add(frame)
        let envelopes = try (0..<count).map { _ in
            try Envelope.seal(
                parcel.bytes, at: place, chain: &chain, keys: keys, by: node.identity.key,
                using: &random)
        }
        return (mailbox, envelopes)
    }
}
