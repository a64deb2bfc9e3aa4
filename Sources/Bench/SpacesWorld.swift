import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyStorage
import ParleyWire

/// A node with very many spaces, all shared with a contact who is away, and another contact who
/// writes to it by a relay.
final class SpacesWorld {
    /// Groups beside the conversations with the two, and the own space.
    let count: Int
    private let victim: BareNode
    private let stranger: BareNode
    private let relay = BenchRelay()
    private let arrival: RelayNews

    init(folder: String, count: Int, say: (String) -> Void) throws {
        self.count = count
        victim = try BareNode(home: folder + "/many", name: "many")
        stranger = try BareNode(home: folder + "/nobody", name: "nobody")
        let away = try BareNode(home: folder + "/away", name: "away")
        try victim.part(from: away, try victim.befriend(away))
        say("making \(count) spaces")
        for first in stride(from: 0, to: count, by: 100) {
            let inputs = (first..<min(first + 100, count)).map { number in
                Input.command(
                    CommandID(4),
                    .createGroup(name: "group \(number)", members: [away.identity.person]))
            }
            _ = try victim.steps(inputs)
        }
        let choice = RelayChoice(relay: relay.key, addresses: ["relay.example:7448"])
        _ = try victim.step(.command(CommandID(5), .chooseRelays([choice])))
        // Of very many mailboxes those of the newest spaces are read.
        let writer = try BareNode(home: folder + "/writer", name: "writer")
        let link = try victim.befriend(writer)
        guard let space = try writer.store.spaces().first(where: { $0.kind == .direct }) else {
            throw HostileWorldError(description: "the two did not meet")
        }
        try relay.serve(
            victim,
            try victim.steps([
                .linkClosed(link), .relay(relay.key, .closed), .timer(.relay(relay.key)),
                .timer(.backlog),
            ]))
        try relay.serve(writer, try writer.step(.linkClosed(link)))
        let welcome = relay.welcome(on: writer.day)
        try relay.serve(writer, try writer.step(.relay(relay.key, .opened(welcome))))
        relay.forget()
        let text = TextMessage(text: "hi")
        try relay.serve(
            writer,
            try writer.step(.command(CommandID(6), .send(space.id, [text], replyingTo: nil))))
        guard let newest = relay.newest else {
            throw HostileWorldError(description: "nothing was put into a mailbox")
        }
        arrival = .arrived(newest.mailbox, [newest.entry])
        guard try victim.changes(.relay(relay.key, arrival)) else {
            throw HostileWorldError(description: "the message is not read")
        }
    }

    /// A link of somebody whom nobody knows, from its beginning to its end.
    func strangersLink() throws -> Double {
        let link = victim.newLink()
        let introduction = Frame.introduce(
            Introduction(
                card: stranger.card, redemption: nil, join: nil, isRequest: true,
                isContact: false))
        return try victim.measure([
            .linkOpened(link, stranger.peer(isInitiator: false)),
            .frame(link, introduction.encoded()), .timer(.heartbeat(link)), .linkClosed(link),
        ]).reduce(0, +)
    }

    /// A message by a relay.
    func message() throws -> Double { try victim.measure(.relay(relay.key, arrival)) }

    /// The steps where a relay is reached again, until all is done that it leads to.
    func reached(hasLost: Bool) throws -> [Double] {
        let welcome = relay.welcome(on: victim.day, isAnother: hasLost)
        return try victim.measure(
            [
                .relay(relay.key, .closed), .timer(.relay(relay.key)),
                .relay(relay.key, .opened(welcome)),
            ], andFurther: .backlog)
    }

    /// A stranger's link opens while the node looks at all its spaces for what is due.
    func meanwhile() throws -> Double {
        try victim.measure([
            .relay(relay.key, .closed),
            .linkOpened(victim.newLink(), stranger.peer(isInitiator: false)),
        ])[1]
    }

    /// Closes the home, opens it again and begins.
    func start() throws -> Double { try victim.restart() }
}

/// A relay that does what it is asked, for nodes of one thread.
final class BenchRelay {
    let key: NoiseKey
    /// What was put last.
    private(set) var newest: (mailbox: MailboxID, entry: RelayEntry)?
    private(set) var entries: [MailboxID: [RelayEntry]] = [:]
    private var counter: UInt64 = 0

    init() {
        var random = SystemRandom()
        key = DeviceNoiseKey.generate(using: &random).publicKey
    }

    func welcome(on day: RelayDay, isAnother: Bool = false) -> RelayWelcome {
        RelayWelcome(
            day: day, newest: counter, needsTicket: false,
            starts: [RelayStart(id: isAnother ? 2 : 1, newest: 0)])
    }

    /// Forgets what was put last.
    func forget() { newest = nil }

    /// Does what a node wants of relays until it wants nothing more.
    func serve(_ node: BareNode, _ effects: [Effect]) throws {
        var waiting = Queue(effects)
        while let effect = waiting.popFirst() {
            let input: Input
            switch effect {
            case .callRelay: input = .relay(key, .opened(welcome(on: node.day)))
            case .askRelay(_, let request):
                input = .relay(key, .answered(request.number, answer(request)))
            case .timer(.backlog, _): input = .timer(.backlog)
            default: continue
            }
            waiting.append(contentsOf: try node.step(input))
        }
    }

    private func answer(_ request: MailboxRequest) -> RelayAnswer {
        let kept = entries[request.mailbox] ?? []
        switch request.action {
        case .open: return .opened(expires: Limits.wallClockMax, byteCountMax: 1 << 30)
        case .put(let envelope):
            counter += 1
            let entry = RelayEntry(counter: counter, envelope: envelope)
            entries[request.mailbox] = kept + [entry]
            newest = (request.mailbox, entry)
            return .stored(counter: counter)
        case .get(let range):
            let found = kept.filter { $0.counter > range.after && $0.counter < range.before }
            return .entries(
                range.isNewestFirst ? found.reversed() : found, hasMore: false,
                newest: kept.last?.counter ?? 0)
        case .subscribe: return .subscribed(newest: kept.last?.counter ?? 0)
        case .volatile, .unsubscribe, .acknowledge: return .done
        case .pipe: return .refused(.noMailbox)
        }
    }
}
