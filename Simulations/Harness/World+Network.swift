import ParleyLedger
import ParleyNodeCore
public import ParleyWire

extension World {
    /// Gives the way between two nodes a model of its own, in both directions.
    public func setModel(_ model: LinkModel, _ left: SimulatedNode, _ right: SimulatedNode) {
        guard let left = place(of: left), let right = place(of: right) else { return }
        models[.between(left, right)] = model
    }

    /// Nodes of different groups no longer reach each other; open links end.
    public func partition(_ groups: [SimulatedNode]...) {
        for (place, group) in groups.enumerated() {
            for other in groups[(place + 1)...] {
                for left in group { for right in other { cut(left, right) } }
            }
        }
    }

    /// Two nodes no longer reach each other; their link ends.
    public func cut(_ left: SimulatedNode, _ right: SimulatedNode) {
        guard let left = place(of: left), let right = place(of: right), left != right else {
            return
        }
        separated.insert(.between(left, right))
        breakLinks(left, right)
    }

    /// The link of two nodes breaks, and all that is on its way is lost. They may link again.
    public func reset(_ left: SimulatedNode, _ right: SimulatedNode) {
        guard let left = place(of: left), let right = place(of: right) else { return }
        breakLinks(left, right)
    }

    /// Nothing passes from one node to the other any more, and neither is told. What is sent is
    /// held back, as TCP does, and passes if the block ends before the link does.
    public func block(from source: SimulatedNode, to target: SimulatedNode) {
        guard let from = place(of: source), let to = place(of: target), from != to else { return }
        blocked.insert(Way(source: from, target: to))
    }

    /// Everybody reaches everybody again.
    public func heal() {
        separated = []
        blocked = []
        relayless = []
        releaseHeld()
    }

    /// Two nodes reach each other again; others stay apart.
    public func heal(_ left: SimulatedNode, _ right: SimulatedNode) {
        guard let left = place(of: left), let right = place(of: right) else { return }
        separated.remove(.between(left, right))
        relayless.subtract([left, right])
        blocked.remove(Way(source: left, target: right))
        blocked.remove(Way(source: right, target: left))
        releaseHeld()
    }

    /// Sends on what was held back; what still is blocked is held anew.
    private func releaseHeld() {
        for link in wires.keys.sorted() {
            guard let wire = wires[link] else { continue }
            for end in [wire.near, wire.far] where !wire[from: end.link].held.isEmpty {
                let held = wire[from: end.link].held
                wire[from: end.link].held = []
                for frame in held { send(frame, on: end.link, from: end.node) }
                if wire[from: end.link].awaitsRoom { tellRoom(on: end.link, to: end.node) }
            }
        }
    }

    private func breakLinks(_ left: Int, _ right: Int) {
        for wire in wires(of: left)
        where (wire.near.node == right || wire.far.node == right) && wire.relay == nil {
            if wire.isCarrying { resetCount += 1 }
            close(wire)
        }
    }

    /// The connections of a node that one end at least has not hung up, in the order in which they
    /// were made.
    func wires(of index: Int) -> [Wire] {
        let connections = nodes[index].connections
        return connections.keys.sorted().compactMap { connections[$0] }
    }

    /// Ends what one end knows of a connection.
    func forget(_ link: LinkID) {
        guard let wire = wires.removeValue(forKey: link) else { return }
        guard wires[wire.end(opposite: link).link] == nil else { return }
        nodes[wire.near.node].connections[wire.near.link] = nil
        nodes[wire.far.node].connections[wire.near.link] = nil
    }

    /// A number from the stream of one way, which no other way shares.
    func draw(_ range: ClosedRange<UInt64>, from way: Way) -> UInt64 {
        guard range.lowerBound < range.upperBound else { return range.lowerBound }
        let purpose = "way [\(way.source), \(way.target)]"
        var stream = wayRandom[way] ?? SeededRandom(seed: seed, purpose: purpose)
        defer { wayRandom[way] = stream }
        return UInt64.random(in: range, using: &stream)
    }

    /// A frame that the node would not send by itself, on the open link between the two.
    public func inject(
        _ frame: Frame, from liar: SimulatedNode, to victim: SimulatedNode
    ) {
        inject(frame.encoded(), from: liar, to: victim)
    }

    /// Bytes that the node would not send by itself, on the open link between the two.
    func inject(_ bytes: [UInt8], from liar: SimulatedNode, to victim: SimulatedNode) {
        guard let from = place(of: liar), let to = place(of: victim) else { return }
        for wire in wires(of: from) {
            let end = wire.near.node == from ? wire.near : wire.far
            guard wires[end.link] != nil, wire.end(opposite: end.link).node == to else { continue }
            return send(bytes, on: end.link, from: from)
        }
    }

    /// A frame that a core sends leaves its machine: as it is, or as a liar wants it.
    func tell(_ bytes: [UInt8], on link: LinkID, from index: Int) {
        guard let wire = wires[link], !nodes[index].isHonest else {
            return send(bytes, on: link, from: index)
        }
        let target = wire.end(opposite: link).node
        let dressed = nodes[index].disguise.dressed(
            bytes, from: nodes[index].identity.device, to: nodes[target].identity.device)
        if let dressed { send(dressed, on: link, from: index) }
    }

    /// Tells a node once what it sent on a link has arrived. What is blocked has not.
    func tellRoom(on link: LinkID, to index: Int) {
        guard let wire = wires[link] else { return }
        wire[from: link].awaitsRoom = !wire[from: link].held.isEmpty
        guard !wire[from: link].awaitsRoom else { return }
        schedule(.roomOn(link), for: index, at: max(now, wire[from: link].lastArrival))
    }

    func send(_ bytes: [UInt8], on link: LinkID, from index: Int) {
        guard let wire = wires[link] else { return }
        let target = wire.end(opposite: link)
        let way = Way(source: index, target: target.node)
        if blocked.contains(way), wire.relay == nil {
            wire[from: link].held.append(bytes)
            onEvent?(.held(passage(of: bytes, on: target.link, from: index, to: target.node)))
            return
        }
        let model = model(from: index, to: target.node)
        var time = max(now, wire[from: link].freeFrom)
        if model.bytesPerMillisecond > 0 {
            time += UInt64(bytes.count) / model.bytesPerMillisecond
            wire[from: link].freeFrom = time
        }
        time += draw(model.delay, from: way)
        if happens(onceIn: model.stallEvery, on: way) { time += draw(model.stall, from: way) }
        // One wire keeps the order of its frames, as TCP does.
        time = max(time, wire[from: link].lastArrival + (isChaotic ? 1 : 0))
        wire[from: link].lastArrival = time
        wire[from: link].inFlight += bytes.count
        flightByteCountMax = max(flightByteCountMax, wire[from: link].inFlight)
        var bytes = indistinct.isEmpty ? bytes : blurred(bytes, for: nodes[target.node])
        if !flips.isEmpty, let bit = flips.removeValue(forKey: way), !bytes.isEmpty {
            if draw(0...1, from: way) == 0 {
                // Sealed as it travels, it no longer opens: the link ends.
                events.insert(.reset(link), at: time)
                return
            }
            let place = bit % (bytes.count * 8)
            bytes[place / 8] ^= 1 << UInt8(place % 8)
        }
        onEvent?(
            .sent(
                passage(of: bytes, on: target.link, from: index, to: target.node), arrival: time))
        schedule(.frame(target.link, bytes), for: target.node, at: time)
        if happens(onceIn: model.resetEvery, on: way) {
            events.insert(.reset(link), at: draw(now...time, from: way))
        }
    }

    /// A list of tips as it would be, had somebody found branches that share a check.
    private func blurred(_ bytes: [UInt8], for receiver: SimulatedNode) -> [UInt8] {
        // What is no frame arrives as it is.
        guard case .frontier(let frontier)? = try? Frame.decode(bytes) else { return bytes }
        // A store that fails tells nothing: then the list is the sender's own.
        let blurred = try? observe { try self.blurred(frontier, for: receiver.store) }
        return blurred.map { Frame.frontier($0).encoded() } ?? bytes
    }

    private func blurred(
        _ frontier: Frontier, for store: any SimulatedStore
    ) throws(StoreError) -> Frontier {
        guard let space = try store.space(frontier.space) else { return frontier }
        var frontier = frontier
        for (place, entry) in frontier.entries.enumerated() where indistinct.contains(entry.tag) {
            guard let log = try store.log(entry.tag, in: space.number),
                let held = try store.operation(at: entry.sequence, in: log.number)
            else { continue }
            frontier.entries[place].check = held.id.check
        }
        return frontier
    }

    private func model(from source: Int, to target: Int) -> LinkModel {
        if models.isEmpty, directionModels.isEmpty { return model }
        return directionModels[Way(source: source, target: target)]
            ?? models[.between(source, target)] ?? model
    }

    private func happens(onceIn count: UInt64, on way: Way) -> Bool {
        count > 0 && draw(0...count - 1, from: way) == 0
    }

    /// One side ends the link: what it sent still arrives.
    func hangUp(_ link: LinkID) {
        tellOfClosing(link)
        guard let wire = wires[link] else { return }
        let other = wire.end(opposite: link)
        let end = wire.end(opposite: other.link)
        forget(end.link)
        schedule(.linkClosed(link), for: end.node, at: now)
        schedule(
            .linkClosed(other.link), for: other.node,
            at: max(now, wire[from: link].lastArrival + (isChaotic ? 1 : 0)))
    }

    /// The link is cut: what is under way is lost.
    func close(_ wire: Wire) {
        for end in [wire.near, wire.far] {
            tellOfClosing(end.link)
            forget(end.link)
            schedule(.linkClosed(end.link), for: end.node, at: now)
        }
    }

    func dial(_ target: DialTarget, from index: Int) {
        guard let far = target.addresses.first.flatMap({ Int($0) }), nodes.indices.contains(far),
            nodes[far].identity.device == target.device, !nodes[far].isDown,
            !needsRelay(index, far), !separated.contains(.between(index, far)),
            !blocked.contains(Way(source: index, target: far)),
            !blocked.contains(Way(source: far, target: index))
        else {
            if let (relay, far) = pipe(to: target, from: index) {
                return link(index, far, through: relay)
            }
            schedule(.dialFailed(target.device), for: index, at: now + 10)
            return
        }
        link(index, far, through: nil)
    }

    /// Two nodes link: the first dialled.
    func link(_ index: Int, _ far: Int, through relay: Int?) {
        let near = Wire.End(node: index, link: LinkID(nextNumber))
        let end = Wire.End(node: far, link: LinkID(nextNumber + 1))
        nextNumber += 2
        linkCount += 1
        let way = Way(source: index, target: far)
        let arrival = now + draw(model(from: index, to: far).delay, from: way)
        let wire = Wire(near: near, far: end, arrival: arrival, relay: relay)
        for end in [wire.near, wire.far] {
            wires[end.link] = wire
            nodes[end.node].connections[near.link] = wire
        }
        let hash = (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        for (here, there) in [(near, end), (end, near)] {
            let peer = nodes[there.node].core.node
            schedule(
                .linkOpened(
                    here.link,
                    LinkPeer(
                        person: peer.person, root: peer.root, device: peer.device,
                        identity: peer.operations, handshakeHash: hash,
                        isInitiator: here.node == index, isPiped: relay != nil)),
                for: here.node, at: arrival)
        }
    }
}
