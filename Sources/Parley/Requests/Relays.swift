import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRelaying
import ParleySealing
import ParleyWire

/// Relays that the person's devices use, and how the connections to them are.
public struct ListRelays: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "relays", RequestScope.read,
        "Relays that the person's devices use, and the state of the connections to them."
    )
    /// An example of the request.
    public static let example = ListRelays()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [RelayView] {
        let views = try await node.read { try $0.relays() }
        if node.network.isRunning, !node.network.isOffline { return views.map { node.told($0) } }
        // Nothing is called, whatever the core waits for.
        let state = node.network.isRunning ? "offline" : "idle"
        return views.map { view in
            var view = view
            view.state = state
            return view
        }
    }
}

/// Uses a relay, by the text that `parley relay run` prints.
public struct AddRelay: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "addRelay", RequestScope.admin,
        "Adds a relay, with the text that parley relay run prints."
    )
    /// An example of the request.
    public static let example = AddRelay(
        text: "parley-relay:1:QUJD", tickets: ["parley-ticket:1:QUJD"])

    /// The text.
    public var text: String
    /// What pays for this device's mailboxes there, where the relay asks for it: texts that `parley
    /// relay ticket new` prints.
    public var tickets: [String]

    /// A request with these parameters.
    public init(text: String, tickets: [String] = []) {
        self.text = text
        self.tickets = tickets
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> RelayView {
        let choice = try RelayChoice(text: text)
        guard tickets.count <= NodeCore.ticketCountMax else {
            throw NodeError(
                "too-many-tickets",
                "At most \(NodeCore.ticketCountMax) tickets can be given at a time.")
        }
        let paid = try tickets.map(Self.ticket)
        _ = try await node.running.perform(.chooseRelays([choice], tickets: paid))
        return try await node.view(of: choice.relay)
    }

    private static func ticket(_ text: String) throws -> [UInt8] {
        guard let ticket = TicketText(text: text) else {
            throw NodeError(
                "bad-ticket",
                "That is not a ticket of a relay, or part of it is missing.", not: text,
                prefix: "parley-ticket:1:",
                hint: "`parley relay ticket new` prints it: it begins with `parley-ticket:1:`.")
        }
        return ticket.bytes
    }
}

/// Stops using a relay, named by the start of its key or an address.
public struct RemoveRelay: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "removeRelay", RequestScope.admin,
        "Stops using a relay, named by the start of its key or an address of it."
    )
    /// An example of the request.
    public static let example = RemoveRelay(name: "relay.example:7448")

    /// The start of its key, or an address.
    public var name: String

    /// A request with these parameters.
    public init(name: String) {
        self.name = name
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        var choice = try await node.read { try $0.relay(name) }
        choice.until = 1
        _ = try await node.running.perform(.chooseRelays([choice]))
        return NoReply()
    }
}

/// Replaces a relay by another; the old one is read for thirty more days, so that nobody is lost
/// who has yet to hear of it.
public struct MoveRelay: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "moveRelay", RequestScope.admin,
        "Replaces a relay by another one; the old one is read for thirty more days, for people who "
            + "have not learned of the new one yet."
    )
    /// An example of the request.
    public static let example = MoveRelay(name: "relay.example:7448", text: "parley-relay:1:QUJD")

    /// The start of the key of the replaced one, or an address.
    public var name: String
    /// The text of the one that comes, as `parley relay run` prints it.
    public var text: String

    /// A request with these parameters.
    public init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> RelayView {
        var former = try await node.read { try $0.relay(name) }
        let choice = try RelayChoice(text: text)
        guard former.relay != choice.relay else {
            throw NodeError("same-relay", "That is the relay that is to be replaced.")
        }
        former.until = SystemClock.now.wall + NodeCore.relayLeaveTime
        _ = try await node.running.perform(.chooseRelays([former, choice]))
        return try await node.view(of: choice.relay)
    }
}

/// Own messages that no device of another person has yet, by conversation.
public struct ListOutbox: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "outbox", RequestScope.read,
        "The person's own messages that no device of another person has yet, by conversation."
    )
    /// An example of the request.
    public static let example = ListOutbox()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [OutboxView] {
        let (waiting, relays) = try await node.read { try ($0.outbox(), $0.relaysOfInvites()) }
        return waiting.map { view in
            guard view.wish == "invite", let person = view.person, let relay = relays[person],
                node.network.isMistaken(relay.key)
            else { return view }
            var view = view
            view.mistakenRelay = relay.address
            return view
        }
    }
}

/// Ends all links and makes none until it is taken back: everything that is written waits, as it
/// does where there is no network.
public struct SetOffline: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setOffline", RequestScope.admin,
        "Closes all connections and opens none until it is turned off again: everything that is "
            + "written waits, as without a network."
    )
    /// An example of the request.
    public static let example = SetOffline(on: true)

    /// Whether the node is cut off.
    public var on: Bool

    /// A request with these parameters.
    public init(on: Bool) {
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        node.network.setOffline(on)
        return NoReply()
    }
}

extension Node {
    fileprivate func view(of relay: NoiseKey) async throws -> RelayView {
        guard let view = try await perform(ListRelays()).first(where: { $0.relay == "\(relay)" })
        else { throw NodeError("unknown-relay", "You do not use that relay.") }
        return view
    }
}

extension RelayChoice {
    /// The relay that a text of `parley relay run` names.
    fileprivate init(text: String) throws {
        let relay: RelayText
        do {
            relay = try RelayText(text: text)
        } catch {
            throw NodeError(
                "bad-relay",
                "That is not the text of a relay, or part of it is missing.", not: text,
                prefix: "parley-relay:1:",
                hint: "`parley relay run` prints it: it begins with `parley-relay:1:`.")
        }
        self.init(relay: relay.key, addresses: relay.addresses)
    }
}

extension Node {
    /// An invite that names a relay in whose place another one answers says so.
    func told(_ invite: InviteView) -> InviteView {
        guard invite.relayState != "removed", let key = invite.relayKey.flatMap(bytes(hex:)),
            let relay = NoiseKey(key), network.isMistaken(relay)
        else { return invite }
        var invite = invite
        invite.relayState = "mistaken"
        return invite
    }

    /// What is wrong with relays that invites name, own invites and used ones.
    func warningsOfInvites() async throws -> [String] {
        let now = SystemClock.now.wall
        let (own, taken) = try await read { try ($0.openInvites(at: now), $0.relaysOfInvites()) }
        var warnings: [String] = []
        let lostCount = own.map { told($0) }.count { $0.leadsNowhere }
        if lostCount > 0 {
            let what = counted(lostCount, "open invite names", "open invites name")
            warnings.append(
                "\(what) a relay that is no longer used, or at whose address another one answers: "
                    + "whoever accepts it never gets an answer. `parley invite list` shows it, "
                    + "`parley invite` creates another.")
        }
        for (_, relay) in taken.sorted(by: { $0.key < $1.key }) where network.isMistaken(relay.key)
        {
            warnings.append(
                "The invite of \(relay.name) that you accepted names a relay, and the server at "
                    + "\(relay.address) does not have its key: the invite leads to nobody. Ask for "
                    + "another one, and accept that.")
        }
        return warnings
    }

    /// A relay that is not reached, which says where another one answers in its place.
    fileprivate func told(_ relay: RelayView) -> RelayView {
        guard relay.state == "unreachable", let bytes = bytes(hex: relay.relay),
            let key = NoiseKey(bytes), network.isMistaken(key)
        else { return relay }
        var relay = relay
        relay.state = "mistaken"
        return relay
    }
}
