import ParleyLedger
import ParleyNodeCore
public import ParleyWire

/// A connection between two nodes. Direction 0 leads from near to far.
struct Wire {
    var near: (node: Int, link: LinkID)
    var far: (node: Int, link: LinkID)
    /// When the last frame of a direction arrives, and when the way is free for the next.
    var lastArrival: [UInt64] = [0, 0]
    var freeFrom: [UInt64] = [0, 0]
    var inFlight = [0, 0]
    /// Frames of a direction that is blocked: sent again and again until they pass.
    var held: [[[UInt8]]] = [[], []]
}

extension World {
    /// Gives the way between two nodes a model of its own, in both directions.
    public func setModel(_ model: LinkModel, _ left: SimulatedNode, _ right: SimulatedNode) {
        guard let left = place(of: left), let right = place(of: right) else { return }
        models[[left, right].sorted()] = model
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
        let pair = [left, right].sorted()
        separated.insert(pair)
        breakLinks(between: pair)
    }

    /// The link of two nodes breaks, and all that is on its way is lost. They may link again.
    public func reset(_ left: SimulatedNode, _ right: SimulatedNode) {
        guard let left = place(of: left), let right = place(of: right) else { return }
        breakLinks(between: [left, right].sorted())
    }

    /// Nothing passes from one node to the other any more, and neither is told. What is sent is
    /// held back, as TCP does, and passes if the block ends before the link does.
    public func block(from source: SimulatedNode, to target: SimulatedNode) {
        guard let from = place(of: source), let to = place(of: target), from != to else { return }
        blocked.insert([from, to])
    }

    /// Everybody reaches everybody again.
    public func heal() {
        separated = []
        blocked = []
        releaseHeld()
    }

    /// Two nodes reach each other again; others stay apart.
    public func heal(_ left: SimulatedNode, _ right: SimulatedNode) {
        guard let left = place(of: left), let right = place(of: right) else { return }
        separated.remove([left, right].sorted())
        blocked.remove([left, right])
        blocked.remove([right, left])
        releaseHeld()
    }

    /// Sends on what was held back; what still is blocked is held anew.
    private func releaseHeld() {
        for link in wires.keys.sorted() {
            guard var wire = wires[link], wire.held != [[], []] else { continue }
            let held = wire.held
            wire.held = [[], []]
            keep(wire)
            for frame in held[0] { send(frame, on: wire.near.link, from: wire.near.node) }
            for frame in held[1] { send(frame, on: wire.far.link, from: wire.far.node) }
        }
    }

    private func breakLinks(between pair: [Int]) {
        for link in wires.keys.sorted() {
            guard let wire = wires[link],
                [wire.near.node, wire.far.node].sorted() == pair
            else { continue }
            if wire.inFlight != [0, 0] { resetCount += 1 }
            close(link)
        }
    }

    /// Keeps what changed, at each end that has not hung up.
    func keep(_ wire: Wire) {
        if wires[wire.near.link] != nil { wires[wire.near.link] = wire }
        if wires[wire.far.link] != nil { wires[wire.far.link] = wire }
    }

    /// A number from the stream of one way, which no other way shares.
    func draw(_ range: ClosedRange<UInt64>, from way: [Int]) -> UInt64 {
        guard range.lowerBound < range.upperBound else { return range.lowerBound }
        var stream = wayRandom[way] ?? SeededRandom(seed: seed, purpose: "way \(way)")
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
        for link in wires.keys.sorted() {
            guard let wire = wires[link] else { continue }
            let near = wire.near.link == link ? wire.near : wire.far
            let far = wire.near.link == link ? wire.far : wire.near
            guard near.node == from, far.node == to else { continue }
            return send(bytes, on: link, from: from)
        }
    }

    /// A frame that a core sends leaves its machine: as it is, or as a liar wants it.
    func tell(_ bytes: [UInt8], on link: LinkID, from index: Int) {
        guard let wire = wires[link], !nodes[index].isHonest else {
            return send(bytes, on: link, from: index)
        }
        let target = wire.near.link == link ? wire.far.node : wire.near.node
        let dressed = nodes[index].disguise.dressed(
            bytes, from: nodes[index].identity.device, to: nodes[target].identity.device)
        if let dressed { send(dressed, on: link, from: index) }
    }

    func send(_ bytes: [UInt8], on link: LinkID, from index: Int) {
        guard var wire = wires[link] else { return }
        let direction = wire.near.link == link ? 0 : 1
        let target = direction == 0 ? wire.far : wire.near
        defer { keep(wire) }
        if blocked.contains([index, target.node]) {
            wire.held[direction].append(bytes)
            onEvent?(.held(passage(of: bytes, on: target.link, from: index, to: target.node)))
            return
        }
        let way = [index, target.node]
        let model = directionModels[way] ?? models[way.sorted()] ?? model
        var time = max(now, wire.freeFrom[direction])
        if model.bytesPerMillisecond > 0 {
            time += UInt64(bytes.count) / model.bytesPerMillisecond
            wire.freeFrom[direction] = time
        }
        time += draw(model.delay, from: way)
        if happens(onceIn: model.stallEvery, on: way) { time += draw(model.stall, from: way) }
        // One wire keeps the order of its frames, as TCP does.
        time = max(time, wire.lastArrival[direction])
        wire.lastArrival[direction] = time
        wire.inFlight[direction] += bytes.count
        flightByteCountMax = max(flightByteCountMax, wire.inFlight[direction])
        var bytes = bytes
        if let bit = flips.removeValue(forKey: way), !bytes.isEmpty {
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

    private func happens(onceIn count: UInt64, on way: [Int]) -> Bool {
        count > 0 && draw(0...count - 1, from: way) == 0
    }

    /// One side ends the link: what it sent still arrives.
    func hangUp(_ link: LinkID) {
        tellOfClosing(link)
        guard let wire = wires.removeValue(forKey: link) else { return }
        let direction = wire.near.link == link ? 0 : 1
        let (end, other) = direction == 0 ? (wire.near, wire.far) : (wire.far, wire.near)
        schedule(.linkClosed(link), for: end.node, at: now)
        schedule(
            .linkClosed(other.link), for: other.node, at: max(now, wire.lastArrival[direction]))
    }

    /// The link is cut: what is under way is lost.
    func close(_ link: LinkID) {
        guard let wire = wires[link] else { return }
        for end in [wire.near, wire.far] {
            tellOfClosing(end.link)
            wires[end.link] = nil
            schedule(.linkClosed(end.link), for: end.node, at: now)
        }
    }

    func dial(_ target: DialTarget, from index: Int) {
        guard let far = target.addresses.first.flatMap({ Int($0) }), nodes.indices.contains(far),
            nodes[far].identity.device == target.device, !nodes[far].isDown,
            !separated.contains([index, far].sorted()), !blocked.contains([index, far]),
            !blocked.contains([far, index])
        else {
            schedule(.dialFailed(target.device), for: index, at: now + 10)
            return
        }
        let near = (node: index, link: LinkID(nextNumber))
        let end = (node: far, link: LinkID(nextNumber + 1))
        nextNumber += 2
        linkCount += 1
        let arrival =
            now + draw((models[[index, far].sorted()] ?? model).delay, from: [index, far])
        let wire = Wire(near: near, far: end, lastArrival: [arrival, arrival])
        wires[near.link] = wire
        wires[end.link] = wire
        let hash = (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
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
