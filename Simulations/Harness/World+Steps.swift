import ParleyFiles
import ParleyLedger
public import ParleyNodeCore
import ParleyWire

/// One step of one node, as observers are told of it.
public struct StepReport {
    /// Who made it.
    public let node: SimulatedNode
    /// What it was fed.
    public let input: Input
    /// What it wanted done; nothing of it happened where ``isLost``.
    public let effects: [Effect]
    /// Whether the process died before the effects were performed, or the store failed.
    public let isLost: Bool
    /// What its wall clock showed, in Unix milliseconds.
    public internal(set) var wall: UInt64 = 0
}

/// What can happen in a world.
enum Occurrence {
    /// A node is offered an input, unless it died meanwhile.
    case input(Input, node: Int, life: Int)
    /// What a node received reaches the disk.
    case durable(node: Int, life: Int)
    /// A link breaks.
    case reset(LinkID)
    /// A node that was down starts again.
    case restart(node: Int, life: Int)
    /// Something happens at a relay.
    case relay(Int, RelayOccurrence)
    /// A program for sound and pictures does something.
    case sound(SoundOccurrence)
}

extension World {
    func happens(_ occurrence: Occurrence, order: UInt64) {
        switch occurrence {
        case .input(let input, let node, let life):
            guard nodes[node].life == life, isDue(input, for: node, order: order) else { return }
            offer(input, to: node)
        case .durable(let node, let life):
            guard nodes[node].life == life, !nodes[node].isDown else { return }
            makeDurable(node)
        case .reset(let link):
            guard let wire = wires[link] else { return }
            resetCount += 1
            close(wire)
        case .restart(let node, let life):
            guard nodes[node].life == life, nodes[node].isDown else { return }
            start(node)
        case .relay(let relay, let occurrence): happens(occurrence, at: relay)
        case .sound(let occurrence): happens(occurrence)
        }
    }

    private func isDue(_ input: Input, for node: Int, order: UInt64) -> Bool {
        switch input {
        case .timer(let timer):
            guard nodes[node].timers[timer] == order else { return false }
            nodes[node].timers[timer] = nil
            return true
        case .frame(let link, let bytes):
            guard let wire = wires[link] else { return false }
            wire[from: wire.end(opposite: link).link].inFlight -= bytes.count
            tellOfArrival(bytes, on: link, of: wire)
            frameCount += 1
            byteCount += bytes.count
            let sender = wire.end(opposite: link).node
            if nodes[node].isHonest, nodes[sender].isHonest, !Self.isOfFile(bytes) {
                honestByteCount += bytes.count
            }
            return true
        case .linkClosed(let link):
            tellOfClosing(link)
            forget(link)
            return true
        case .linkOpened(let link, let peer):
            if let wire = wires[link] {
                onEvent?(
                    .linkOpened(link, node: node, peer: wire.end(opposite: link).node))
                return true
            }
            // It was cut before the handshake was through.
            if peer.isInitiator { offer(.dialFailed(peer.device), to: node) }
            return false
        default:
            return true
        }
    }

    @discardableResult
    func schedule(_ input: Input, for node: Int, at time: UInt64) -> UInt64 {
        events.insert(.input(input, node: node, life: nodes[node].life), at: time)
    }

    func offer(_ input: Input, to index: Int) {
        let node = nodes[index]
        guard !node.isDown else { return }
        trace.add(UInt64(index) << 56 | now)
        trace.add(input)
        let death = node.countDown()
        if let death, death.point == .beforeCommit {
            report(node, input, [], isLost: true)
            return die(index, death)
        }
        let effects: [Effect]
        switch node.step(input, at: moment(of: node)) {
        case .done(let wanted): effects = wanted
        case .undone:
            report(node, input, [], isLost: true)
            failed(input, of: index)
            if let death { die(index, death) }
            return
        case .untold(let wanted):
            report(node, input, [], isLost: true)
            abandon(wanted, of: index)
            if let death { die(index, death) }
            return
        }
        for effect in effects { trace.add(effect) }
        if let death {
            let kept = death.point == .amongEffects ? effects.prefix(effects.count / 2) : []
            perform(Array(kept), of: index)
            report(node, input, Array(kept), isLost: true)
            return die(index, death)
        }
        perform(effects, of: index)
        report(node, input, effects, isLost: false)
        // What is not whole yet stays unacknowledged, however often the disk was reached.
        if case .madeDurable = input { return }
        settle(index)
    }

    private func report(
        _ node: SimulatedNode, _ input: Input, _ effects: [Effect], isLost: Bool
    ) {
        if onStep == nil, onEvent == nil { return }
        let step = StepReport(
            node: node, input: input, effects: effects, isLost: isLost, wall: wall(of: node))
        onStep?(step)
        onEvent?(.stepped(step, node: node.index))
    }

    func moment(of node: SimulatedNode) -> Instant {
        Instant(monotonic: now, wall: node.clock.wall(epoch: World.epoch, now: now))
    }

    /// What every shell does when a step was stored and may not be told: links end, and the next
    /// ones find out anew what each side lacks.
    private func abandon(_ effects: [Effect], of index: Int) {
        for effect in effects {
            switch effect {
            case .send(let link, _), .hangUp(let link, _): if let wire = wires[link] { close(wire) }
            case .timer, .dial, .callRelay, .leaveRelay: perform([effect], of: index)
            case .askRelay(let relay, _): loseRelay(relay, of: index)
            case .commitFully, .changed, .linksChanged, .admitted, .reply, .renewIdentity: break
            case .forgetKeys, .call, .tellRoom: perform([effect], of: index)
            case .keepFile: perform([effect], of: index)
            // It is looked for again.
            case .removeFile: break
            }
        }
    }

    /// What every shell does when the store failed.
    private func failed(_ input: Input, of index: Int) {
        var again: [Input] = []
        switch input.recovery {
        case .again(let inputs): again = inputs
        case .hangUp(let link, let inputs):
            if let wire = wires[link] { close(wire) }
            again = inputs
        case .refuse, .drop: break
        }
        for input in again {
            let order = schedule(input, for: index, at: now + Recovery.pause)
            if case .timer(let timer) = input { nodes[index].timers[timer] = order }
        }
    }

    /// A shell makes received operations durable as soon as nothing more waits.
    private func settle(_ index: Int) {
        let node = nodes[index]
        guard node.core.hasUnacknowledged, !node.awaitsDisk else { return }
        node.awaitsDisk = true
        let wait = draw(durabilityDelay, from: Way(source: index, target: index))
        if wait == 0 { return makeDurable(index) }
        events.insert(.durable(node: index, life: node.life), at: now + wait)
    }

    private func makeDurable(_ index: Int) {
        let node = nodes[index]
        node.awaitsDisk = false
        do {
            try node.store.makeDurable()
        } catch {
            node.awaitsDisk = true
            events.insert(.durable(node: index, life: node.life), at: now + Recovery.pause)
            return
        }
        offer(.madeDurable, to: index)
    }

    /// How long a disk takes over a file, in milliseconds.
    private static let fileDelay: UInt64 = 100

    /// A shell tells once a file survives a crash of the machine.
    private func keep(_ blob: BlobID, at index: Int) {
        let isDurable: Bool
        do {
            try nodes[index].store.blobs.makeDurable(blob)
            isDurable = true
        } catch {
            isDurable = false
        }
        schedule(.fileKept(blob, isDurable: isDurable), for: index, at: now + Self.fileDelay)
    }

    private func perform(_ effects: [Effect], of index: Int) {
        for effect in effects {
            switch effect {
            case .send(let link, let bytes): tell(bytes, on: link, from: index)
            case .hangUp(let link, _): hangUp(link)
            case .dial(let target): dial(target, from: index)
            case .timer(let timer, _) where switchedOff.contains { $0.uses(timer) }: break
            case .timer(let timer, let time):
                nodes[index].timers[timer] = schedule(
                    .timer(timer), for: index, at: max(now, time))
            case .reply(let id, let result): nodes[index].replies[id] = result
            case .commitFully, .changed, .linksChanged, .admitted, .renewIdentity: break
            case .call(let output): order(output, at: index)
            case .callRelay(let relay, let addresses):
                callRelay(relay, at: addresses, from: index)
            case .askRelay(let relay, let request): ask(relay, request, from: index)
            case .leaveRelay(let relay): leaveRelay(relay, from: index)
            case .forgetKeys: nodes[index].forgetKeys()
            case .tellRoom(let link): tellRoom(on: link, to: index)
            case .removeFile(let blob): nodes[index].remove(blob)
            case .keepFile(let blob): keep(blob, at: index)
            }
        }
    }
}
