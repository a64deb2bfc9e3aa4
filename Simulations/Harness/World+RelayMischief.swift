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
    /// It tells any day, another each time, and now and then that it is another one.
    public var isLyingAboutDays = false
    /// It tells of starts that never were, and of counters that it never gave.
    public var isLyingAboutStarts = false
    /// It tells those who listen nothing of what comes: they find it when they ask.
    public var isMute = false

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
        case .push where relay.mischief.isMute: return []
        case .push(let mailbox, _), .volatile(let mailbox, _, _):
            guard relay.mischief.isReplaying else { return [frame] }
            defer { relay.told[mailbox] = frame }
            return [frame] + (relay.told[mailbox].map { [$0] } ?? []) + [frame]
        case .answer, .missed, .pipe, .day, .pong, .bye: return [frame]
        }
    }

    /// What a relay tells of itself to who calls.
    func distort(_ welcome: RelayWelcome, of relay: SimulatedRelay) -> RelayWelcome {
        var told = welcome
        if relay.mischief.isLyingAboutDays { told.day = anyDay(at: relay) }
        if relay.mischief.isLyingAboutStarts {
            let count = 1 + Int(relay.random.next() % UInt64(RelayWelcome.startCountMax))
            let any = (0..<count).map { _ in
                RelayStart(id: relay.random.next(), newest: anyCounter(welcome.newest, relay))
            }
            told.starts = relay.random.next() % 2 == 0 ? any : welcome.starts
            told.newest = anyCounter(welcome.newest, relay)
        }
        return told
    }

    private func anyCounter(_ newest: UInt64, _ relay: SimulatedRelay) -> UInt64 {
        let all: [UInt64] = [
            0, 1, newest, newest - min(newest, 1), .max - 1, .max, relay.random.next(),
        ]
        return all[Int(relay.random.next() % UInt64(all.count))]
    }

    /// Any day: the first, the greatest, one near today, one far from it.
    private func anyDay(at relay: SimulatedRelay) -> RelayDay {
        let today = RelayDay(at: Self.epoch + now)
        let all: [RelayDay] = [
            .zero, 1, 28, .greatest, .greatest.previous, today, today.next, today.previous,
            today.lowered(by: 31), today.raised(by: 31), today.lowered(by: 400),
            today.raised(by: 400), RelayDay(clamping: relay.random.next() % 100_000),
        ]
        return all[Int(relay.random.next() % UInt64(all.count))]
    }

    /// Tells everybody that the day is another one, now and then.
    func tellAnyDay(at relay: SimulatedRelay) -> [RelayServerFrame] {
        guard relay.mischief.isLyingAboutDays, relay.random.next() % 6 == 0 else { return [] }
        return [.day(anyDay(at: relay))]
    }

    /// What a relay's store says, or what it said once.
    func outcome(of order: RelayOrder, at relay: SimulatedRelay) -> RelayOutcome? {
        let time = Self.epoch + now
        if relay.mischief.isStale, var old = relay.copy {
            switch order {
            case .get, .read, .newest:
                // A store in memory never fails.
                return (try? old.perform([order], at: time))?.first
            case .open, .put, .acknowledge, .mayWrite, .expire: break
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
