import ParleyRoster
import ParleyConversation
public import ParleyLedger
public import ParleyNodeCore
public import ParleyWire

/// Nodes, a network and a clock in one value: the same seed gives the same run, every time.
///
/// ```
/// let world = World(seed: 7)
/// let ann = try world.addNode("ann"), ben = try world.addNode("ben")
/// try world.introduce(ann, ben)
/// world.partition([ann], [ben])
/// ```
public final class World {
    /// The nodes, in the order in which they were added.
    public private(set) var nodes: [SimulatedNode] = []
    /// Milliseconds since the world began.
    public private(set) var now: UInt64 = 0
    /// How long a frame takes, in milliseconds.
    public var delay: ClosedRange<UInt64> = 1...20
    /// Frames that arrived, over all links.
    public private(set) var frameCount = 0
    /// Their bytes.
    public private(set) var byteCount = 0

    /// The wall clock when a world begins: 2026-01-01.
    static let epoch: UInt64 = 1_767_225_600_000

    private struct Event {
        var time: UInt64
        var order: UInt64
        var node: Int
        var input: Input
    }

    private struct Wire {
        var near: (node: Int, link: LinkID)
        var far: (node: Int, link: LinkID)
        var lastArrival: [UInt64] = [0, 0]
    }

    private var events: [Event] = []
    private var nextOrder: UInt64 = 0
    private var nextNumber: UInt64 = 1
    private var wires: [LinkID: Wire] = [:]
    private var separated: Set<[Int]> = []
    private var timers: [Int: [TimerID: UInt64]] = [:]
    private var random: SeededRandom

    /// An empty world.
    public init(seed: UInt64) { random = SeededRandom(seed: seed) }

    // MARK: Who is in it

    /// A new node, started.
    public func addNode(_ name: String) throws -> SimulatedNode {
        let node = try SimulatedNode(name: name, seed: random.next())
        nodes.append(node)
        let index = nodes.count - 1
        offer(.started, to: index)
        _ = try perform(.setProfile(name: name, addresses: [String(index)]), on: node)
        return node
    }

    /// Makes two people contacts by an invite, and lets them meet.
    ///
    /// - Returns: their direct conversation.
    @discardableResult
    public func introduce(_ first: SimulatedNode, _ second: SimulatedNode) throws -> SpaceID {
        let secret = first.randomBytes(32)
        let expires = World.epoch + now + 86_400_000
        _ = try perform(.createInvite(secret: secret, expires: expires), on: first)
        guard let card = try first.store.value(.card, first.identity.person.bytes) else {
            throw CommandRefusal.unknownPerson
        }
        let invite = Invite(
            person: first.identity.person, card: card, secret: secret, expires: expires)
        _ = try perform(.acceptInvite(Invite(link: invite.link), alias: ""), on: second)
        run(for: 5_000)
        for space in try second.conversations() where space.kind == .direct {
            let roster = try RosterReader.roster(of: space, in: second.store)
            if roster?.member(first.identity.person) != nil { return space.id }
        }
        throw CommandRefusal.unknownConversation
    }

    /// Carries out a command at once.
    public func perform(
        _ command: Command, on node: SimulatedNode
    ) throws(CommandRefusal) -> CommandReply {
        let id = CommandID(nextNumber)
        nextNumber += 1
        offer(.command(id, command), to: index(of: node))
        guard let reply = node.replies.removeValue(forKey: id) else { throw .rejoining }
        return try reply.get()
    }

    /// The person writes a message.
    @discardableResult
    public func type(
        _ text: String, on node: SimulatedNode, in space: SpaceID
    ) throws(CommandRefusal) -> OperationNumber {
        let reply = try perform(
            .send(space, [TextMessage(text: text)], replyingTo: nil), on: node)
        guard case .messages(let numbers) = reply, let number = numbers.first else {
            throw .unknownConversation
        }
        return number
    }

    // MARK: What happens to it

    /// Nodes of different groups no longer reach each other; open links end.
    public func partition(_ groups: [SimulatedNode]...) {
        for (place, group) in groups.enumerated() {
            for other in groups[(place + 1)...] {
                for left in group { for right in other { cut(left, right) } }
            }
        }
    }

    /// Two nodes no longer reach each other.
    public func cut(_ left: SimulatedNode, _ right: SimulatedNode) {
        let pair = [index(of: left), index(of: right)].sorted()
        separated.insert(pair)
        for wire in wires.values.sorted(by: { $0.near.link < $1.near.link })
        where [wire.near.node, wire.far.node].sorted() == pair {
            close(wire.near.link)
        }
    }

    /// Everybody reaches everybody again.
    public func heal() { separated = [] }

    /// A node's process dies and starts again at once.
    ///
    /// - Parameter rejoin: what its shell found out about the store being behind.
    public func restart(
        _ node: SimulatedNode, losingPower: Bool = false, rejoin: Rejoin? = nil
    ) {
        let index = index(of: node)
        for wire in wires.values.sorted(by: { $0.near.link < $1.near.link })
        where wire.near.node == index || wire.far.node == index {
            close(wire.near.link)
        }
        events.removeAll { $0.node == index }
        timers[index] = [:]
        node.restart(losingPower: losingPower, rejoin: rejoin)
        offer(.started, to: index)
    }

    /// Lets time pass.
    public func run(for milliseconds: UInt64) {
        let end = now + milliseconds
        while let event = nextEvent(until: end) {
            now = max(now, event.time)
            if case .timer(let timer) = event.input {
                guard timers[event.node]?[timer] == event.order else { continue }
                timers[event.node]?[timer] = nil
            }
            if case .frame(let link, let bytes) = event.input {
                guard wires[link] != nil else { continue }
                frameCount += 1
                byteCount += bytes.count
            }
            if case .linkClosed(let link) = event.input { wires[link] = nil }
            if case .linkOpened(let link, let peer) = event.input, wires[link] == nil {
                // It was cut before the handshake was through.
                if peer.isInitiator { offer(.dialFailed(peer.device), to: event.node) }
                continue
            }
            offer(event.input, to: event.node)
        }
        now = end
    }

    // MARK: How it works

    private func index(of node: SimulatedNode) -> Int {
        guard let index = nodes.firstIndex(where: { $0 === node }) else {
            preconditionFailure("the node belongs to this world")
        }
        return index
    }

    private func nextEvent(until end: UInt64) -> Event? {
        guard
            let next = events.indices.min(by: {
                (events[$0].time, events[$0].order) < (events[$1].time, events[$1].order)
            }), events[next].time <= end
        else { return nil }
        return events.remove(at: next)
    }

    @discardableResult
    private func schedule(_ input: Input, for node: Int, at time: UInt64) -> UInt64 {
        nextOrder += 1
        events.append(Event(time: time, order: nextOrder, node: node, input: input))
        return nextOrder
    }

    private func offer(_ input: Input, to index: Int) {
        let node = nodes[index]
        let wall = Int64(World.epoch + now) + node.clockSkew
        let moment = Instant(monotonic: now, wall: UInt64(max(0, wall)))
        if let effects = node.step(input, at: moment) {
            perform(effects, of: index)
        } else {
            recover(input, of: index)
        }
        // A shell makes received operations durable as soon as nothing more waits; here: at once.
        if node.core.hasUnacknowledged, (try? node.store.makeDurable()) != nil {
            perform(node.step(.madeDurable, at: moment) ?? [], of: index)
        }
    }

    /// What every shell does when the store failed.
    private func recover(_ input: Input, of index: Int) {
        var again: [Input] = []
        switch input.recovery {
        case .again(let inputs): again = inputs
        case .hangUp(let link, let inputs):
            close(link)
            again = inputs
        case .refuse, .drop: break
        }
        for input in again {
            let order = schedule(input, for: index, at: now + Recovery.pause)
            if case .timer(let timer) = input { timers[index, default: [:]][timer] = order }
        }
    }

    private func perform(_ effects: [Effect], of index: Int) {
        for effect in effects {
            switch effect {
            case .send(let link, let bytes): send(bytes, on: link, from: index)
            case .hangUp(let link, _): hangUp(link)
            case .dial(let target): dial(target, from: index)
            case .timer(let timer, let time):
                timers[index, default: [:]][timer] = schedule(
                    .timer(timer), for: index, at: time)
            case .reply(let id, let result): nodes[index].replies[id] = result
            case .commitFully, .changed, .linksChanged: break
            }
        }
    }

    private func randomDelay() -> UInt64 { UInt64.random(in: delay, using: &random) }

    private func send(_ bytes: [UInt8], on link: LinkID, from index: Int) {
        guard var wire = wires[link] else { return }
        let isNear = wire.near.node == index
        let target = isNear ? wire.far : wire.near
        // One wire keeps the order of its frames, as TCP does.
        let arrival = max(now + randomDelay(), wire.lastArrival[isNear ? 0 : 1])
        wire.lastArrival[isNear ? 0 : 1] = arrival
        wires[link] = wire
        if wires[target.link] != nil { wires[target.link] = wire }
        schedule(.frame(target.link, bytes), for: target.node, at: arrival)
    }

    /// One side ends the link: what it sent still arrives.
    private func hangUp(_ link: LinkID) {
        guard let wire = wires.removeValue(forKey: link) else { return }
        let isNear = wire.near.link == link
        let (end, other) = isNear ? (wire.near, wire.far) : (wire.far, wire.near)
        schedule(.linkClosed(link), for: end.node, at: now)
        let arrival = max(now, wire.lastArrival[isNear ? 0 : 1])
        schedule(.linkClosed(other.link), for: other.node, at: arrival)
    }

    /// The link is cut: what is under way is lost.
    private func close(_ link: LinkID) {
        guard let wire = wires[link] else { return }
        for end in [wire.near, wire.far] {
            wires[end.link] = nil
            schedule(.linkClosed(end.link), for: end.node, at: now)
        }
    }

    private func dial(_ target: DialTarget, from index: Int) {
        guard let far = target.addresses.first.flatMap({ Int($0) }), nodes.indices.contains(far),
            nodes[far].identity.device == target.device,
            !separated.contains([index, far].sorted())
        else {
            schedule(.dialFailed(target.device), for: index, at: now + 10)
            return
        }
        let near = (node: index, link: LinkID(nextNumber))
        let end = (node: far, link: LinkID(nextNumber + 1))
        nextNumber += 2
        let wire = Wire(near: near, far: end)
        wires[near.link] = wire
        wires[end.link] = wire
        let hash = (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let arrival = now + randomDelay()
        for (here, there) in [(near, end), (end, near)] {
            let peer = nodes[there.node].identity
            schedule(
                .linkOpened(
                    here.link,
                    LinkPeer(
                        person: peer.person, root: peer.root, device: peer.device,
                        identity: peer.operations, handshakeHash: hash,
                        isInitiator: here.node == index)), for: here.node, at: arrival)
        }
    }
}
