import ParleyNodeCore
import ParleyRelaying
import ParleyWire

/// What a relay does that does not do as it should. Nothing of it loses a message.
public struct RelayMischief: Sendable {
    /// It gives the envelopes of an answer in any order.
    public var isShuffling = false
    /// It tells again of what it told before.
    public var isReplaying = false
    /// It answers with what it had when it was last copied.
    public var isStale = false
    /// One request in so many is carried out, and the connection ends before the answer; 0 for none.
    public var cutEvery: UInt64 = 0

    /// A relay that does as it should.
    public init() {}
}

extension World {
    /// What a relay says in the place of a frame, in this order.
    func distort(_ frame: RelayServerFrame, of relay: SimulatedRelay) -> [RelayServerFrame] {
        switch frame {
        case .answer(let number, .entries(let entries, let hasMore, let newest))
        where relay.mischief.isShuffling:
            let shuffled = entries.shuffled(using: &relay.random)
            return [.answer(to: number, .entries(shuffled, hasMore: hasMore, newest: newest))]
        case .push(let mailbox, _), .volatile(let mailbox, _, _):
            guard relay.mischief.isReplaying else { return [frame] }
            defer { relay.told[mailbox] = frame }
            return [frame] + (relay.told[mailbox].map { [$0] } ?? []) + [frame]
        case .answer, .missed, .pipe, .day, .pong, .bye: return [frame]
        }
    }

    /// What a relay's store says, or what it said once.
    func outcome(of order: RelayOrder, at relay: SimulatedRelay) -> RelayOutcome? {
        let time = Self.epoch + now
        if relay.mischief.isStale, var old = relay.copy {
            switch order {
            case .get, .newest:
                // A store in memory never fails.
                return (try? old.perform([order], at: time))?.first
            case .open, .put, .acknowledge, .mayWrite, .putChunk, .getChunk, .expire: break
            }
        }
        // As above.
        return (try? relay.store.perform([order], at: time))?.first
    }

    /// Whether this request is carried out, and its client hears nothing of it.
    func isCut(at relay: SimulatedRelay) -> Bool {
        let one = relay.mischief.cutEvery
        return one > 0 && relay.random.next() % one == 0
    }
}

extension World {
    /// From now on people reach each other through relays alone; links that stand end. The devices of
    /// one person still meet: that is how a new one comes to know the others.
    public func keepToRelays() {
        hasRelaysOnly = true
        for link in wires.keys.sorted() {
            guard let wire = wires[link], wire.relay == nil else { continue }
            if needsRelay(wire.near.node, wire.far.node) { close(wire) }
        }
    }

    /// Whether no direct way is between two nodes, however well the network does.
    func needsRelay(_ left: Int, _ right: Int) -> Bool {
        hasRelaysOnly && nodes[left].identity.person != nodes[right].identity.person
    }
}
