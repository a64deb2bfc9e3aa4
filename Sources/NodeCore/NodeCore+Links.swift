import ParleyConversation
import ParleyLedger
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyWire

/// A link to another device, as the core sees it.
struct CoreLink: Sendable {
    let peer: LinkPeer
    /// Runs once the peer is entitled to talk.
    var session: SyncSession?
    /// When something was last heard.
    var lastHeard: UInt64
    /// Logs received on this link whose safe storage was not acknowledged yet.
    var unacknowledged: [SpaceNumber: Set<LogTag>] = [:]
    /// Spaces of which the peer may hold something, to be asked for once their source is done.
    var unasked: Set<SpaceNumber> = []
    /// Bytes of lane 0 that came and do not join what is held: nothing of it is kept.
    var unconnected: [SpaceNumber: UInt64] = [:]
    /// How eagerly the peer is asked for what is missing of a space.
    var rounds: [SpaceNumber: RoundPace] = [:]
    /// Spaces introduced unasked.
    var introduced: Set<SpaceNumber> = []
    /// Frames that came before it was known whether the peer is entitled to talk.
    var strangerFrameCount = 0
    /// Frames that were not looked at.
    var droppedCount: UInt64 = 0
    /// Whether the operations that came last held anything new.
    var broughtNews = false
    /// The peer's clock, once it has greeted.
    var clock: PeerClock?
    /// It lasted until its first heartbeat.
    var hasBeaten = false
    /// It is being hung up: what still comes is not looked at.
    var isEnding = false
    /// What was shared when it was hung up.
    var spacesBefore: [SpaceNumber] = []
    /// What is shared on it, or was until it was hung up.
    var spaces: [SpaceNumber] { session?.sharedSpaces ?? spacesBefore }
}

extension NodeCore {
    /// A link shows itself alive this often.
    static let heartbeatInterval: UInt64 = 30_000
    /// A peer not heard for so long is gone.
    static let silenceMax: UInt64 = 75_000
    /// Spaces introduced unasked on one link.
    static let introducedCountMax = 64
    /// Bytes of operations sent in one step: others get their turn.
    static let stepByteCountMax = 512 << 10

    mutating func opened(
        _ id: LinkID, _ peer: LinkPeer, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard peer.device != identity.device else {
            effects.append(.hangUp(id, .stranger))
            return
        }
        guard try mayOpen(id, peer, at: now, store, &effects) else { return }
        try learn(peer.identity, of: peer.person, at: now, store, &effects)
        guard try isStanding(peer, store) else {
            dialing[peer.device] = nil
            try count(.revokedDevice, store)
            try tellRevocation(on: id, peer, store, &effects)
            effects.append(.hangUp(id, .revoked))
            return
        }
        try wasSeen(peer, at: now, store)
        if let other = links.first(where: { $0.value.peer.device == peer.device }) {
            // Both sides decide alike: a direct link is better than one through a relay, else the
            // one whose initiator has the smaller key stays.
            guard isBetter(peer, than: other.value.peer) else {
                effects.append(.hangUp(id, .duplicate))
                // What was dialled came about, and is not needed; a better way still is.
                guard peer.isInitiator else { return }
                dialing[peer.device]?.wasLost()
                if other.value.peer.isPiped, !timers.contains(.dial(peer.device)) {
                    scheduleDial(peer.device, at: now, &random, &effects)
                }
                return
            }
            effects.append(.hangUp(other.key, .duplicate))
            try closed(other.key, at: now, store, &random, &effects)
        }
        links[id] = CoreLink(peer: peer, lastHeard: now.monotonic)
        dialing[peer.device]?.isLinked()
        timers.insert(.heartbeat(id))
        effects.append(
            .timer(.heartbeat(id), at: now.monotonic + Self.heartbeatInterval / 3))
        effects.append(.linksChanged)
        // There may be a better way yet.
        if peer.isPiped { scheduleDial(peer.device, at: now, &random, &effects) }
        if try tellWhoTheyWere(on: id, at: now, store, &effects) { return }
        try greet(id, at: now, store, &random, &effects)
    }

    private func isBetter(_ peer: LinkPeer, than other: LinkPeer) -> Bool {
        if peer.isPiped != other.isPiped { return other.isPiped }
        return initiator(of: peer) <= initiator(of: other)
    }

    private func initiator(of peer: LinkPeer) -> DeviceID {
        peer.isInitiator ? identity.device : peer.device
    }

    /// Begins to exchange with a peer that is entitled to.
    mutating func admit(
        _ id: LinkID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links[id], link.session == nil, !link.isEnding else { return }
        let hello = Hello(
            capabilities: 0, wallClock: WallTime(clamping: now.wall),
            generation: try generation(store, &random),
            credit: ByteCredit(clamping: SyncSession.creditInitial))
        var session = SyncSession(salt: random.next(), with: link.peer.device)
        var shared: [SharedSpace] = []
        for space in try spaces(naming: link.peer.person, store) {
            if let scope = try scope(of: space, with: link.peer, store) {
                shared.append(SharedSpace(space, scope: scope))
            }
        }
        let outputs = try session.open(hello, sharing: shared, store: store)
        links[id]?.session = session
        effects.append(.admitted(id))
        // Whoever links again and again has all of it compared each time.
        _ = allowances.take(
            UInt64(4 * shared.count), for: link.peer.person, sharing: shared.count,
            at: now.monotonic)
        try perform(outputs, on: id, at: now, store, &random, &effects)
        askAnewForBodies(at: now, &effects)
        try tellPresence(on: id, at: now, store, &random, &effects)
    }

    mutating func closed(
        _ id: LinkID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links.removeValue(forKey: id) else { return }
        try wasSeen(link.peer, at: now, store)
        try lostPresence(of: link.peer, store, &effects)
        for space in sources.keys.sorted() where sources[space]?.link == id {
            try lostSource(of: space, at: now, store, &effects)
        }
        // There is room for a member who is no contact.
        if links.count == Self.memberLinkCountMax - 1 {
            try dialEveryone(at: now, store, &effects)
        }
        effects.append(.linksChanged)
        // What they have not acknowledged goes to relays now.
        if !lines.isEmpty { outboxDue.formUnion(link.spaces) }
        if !links.values.contains(where: { $0.peer.device == link.peer.device }) {
            scheduleDial(link.peer.device, at: now, &random, &effects)
        }
    }

    mutating func received(
        _ bytes: [UInt8], on id: LinkID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        // Only what is needed of the link is taken out: a copy of all would make its session
        // be copied as well when that changes.
        guard let peer = links[id]?.peer, links[id]?.isEnding == false else { return }
        links[id]?.lastHeard = now.monotonic
        guard links[id]?.session != nil || FrameWork.mayPrecedeSession(bytes) else {
            return try turnAway(id, store, &effects)
        }
        let frame: Frame
        do {
            // A type that only a newer version knows is skipped: it is no breach.
            guard let decoded = try Frame.decode(bytes) else { return }
            frame = decoded
        } catch {
            return try breach(.malformed, .malformedFrame, on: id, store, &effects)
        }
        switch frame {
        case .introduce(let introduction):
            return try introduced(introduction, on: id, at: now, store, &random, &effects)
        case .bye:
            dialing[peer.device]?.isTurnedAway()
            return hangUp(id, .ended, &effects)
        case .error(let error):
            return try refused(error, by: peer, store, &effects)
        default:
            break
        }
        // Greeting is what only a peer does that takes this node in: dialling may be eager again.
        if case .hello(let hello) = frame {
            dialing[peer.device]?.isWelcome()
            links[id]?.clock = PeerClock(ahead: hello.clockOffset(at: now), at: now)
            compareClocks(at: now, &effects)
        }
        if case .signal(let bytes) = frame {
            return try signalled(bytes, on: id, at: now, store, &random, &effects)
        }
        let received = try links[id]?.session?.receive(frame, store: store)
        guard let result = received else { return }
        try compareOwn(frame, on: id, at: now, store, &effects)
        switch result {
        case .success(let outputs):
            links[id]?.broughtNews = false
            try perform(outputs, on: id, at: now, store, &random, &effects)
            if case .operations(let operations) = frame, links[id]?.broughtNews == false {
                try gotNothingNew(in: operations, on: id, at: now, store, &effects)
            }
            try endSources(after: frame, on: id, at: now, store, &effects)
        case .failure(.malformed):
            try breach(.malformed, .malformedFrame, on: id, store, &effects)
        case .failure(.outOfOrder):
            try breach(.outOfOrder, .frameOutOfOrder, on: id, store, &effects)
        case .failure(.overCredit):
            try breach(.overCredit, .overCredit, on: id, store, &effects)
        }
    }

    /// The devices that a space is shared with now.
    func devicesLinked(in space: SpaceNumber) -> Set<DeviceID> {
        Set(links.values.filter { $0.session?.shares(space) == true }.map(\.peer.device))
    }

    /// Ends a link. It is forgotten once the shell says that it is closed; until then it counts as
    /// a link, and nothing is taken from it or sent on it.
    mutating func hangUp(_ id: LinkID, _ reason: HangUpReason, _ effects: inout [Effect]) {
        links[id]?.isEnding = true
        // It may be hung up twice: the second time nothing is shared any more.
        if let spaces = links[id]?.session?.sharedSpaces { links[id]?.spacesBefore = spaces }
        links[id]?.session = nil
        effects.append(.hangUp(id, reason))
    }

    private mutating func refused(
        _ error: WireError, by peer: LinkPeer, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        if error == .joinRefused { return try joinRefused(by: peer.person, store, &effects) }
        if error == .inviteRefused {
            try noteRefusedInvite(of: peer.person, store, &effects)
        }
    }

    mutating func breach(
        _ breach: SessionBreach, _ refusal: Refusal, on id: LinkID, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        try count(refusal, store)
        hangUp(id, .breach(breach), &effects)
    }

    mutating func perform(
        _ outputs: [SessionOutput], on id: LinkID, at now: Instant, _ store: some Store,
        _ random: inout some RandomNumberGenerator, _ effects: inout [Effect]
    ) throws(StoreError) {
        for output in outputs {
            switch output {
            case .send(let frame):
                effects.append(.send(id, frame.encoded()))
            case .ingest(let operations):
                try ingest(operations, from: id, at: now, store, &random, &effects)
                if let renewed = links[id]?.session?.renewCredit() {
                    try perform(renewed, on: id, at: now, store, &random, &effects)
                }
            case .acknowledged(let acknowledgement):
                try acknowledged(acknowledgement, by: id, store, &effects)
            case .introduced(let introduction):
                try introduced(introduction, on: id, at: now, store, &random, &effects)
            case .introduceSpace(let space):
                links[id]?.introduced.insert(space)
                guard links[id]?.introduced.count ?? 0 <= Self.introducedCountMax else {
                    links[id]?.introduced.remove(space)
                    break
                }
                try links[id]?.session?.assumeMissing(space, isOffer: true, store: store)
            case .missing(let space, let isNews):
                if isNews { links[id]?.rounds[space]?.hearNews() }
                try mayHold(space, link: id, at: now, store, &effects)
            case .answered(let space):
                try fillHoles(of: space, from: id, at: now, store, &effects)
            case .forked(let proof):
                guard let peer = links[id]?.peer else { break }
                try learned(
                    proof, by: Bringer(peer, link: id), at: now, store, &random, &effects)
            case .refused:
                break
            case .ended:
                hangUp(id, .ended, &effects)
            }
        }
    }

    mutating func heartbeat(
        _ id: LinkID, at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links[id] else { return }
        guard now.monotonic < link.lastHeard + Self.silenceMax else {
            return hangUp(id, .silent, &effects)
        }
        guard let session = link.session else {
            // Ten seconds to say who one is; only strangers take longer.
            return hangUp(id, .stranger, &effects)
        }
        // Who is in no common space any more has been told so by now.
        guard try mayLink(link.peer.person, store) else {
            effects.append(.send(id, Frame.bye.encoded()))
            dialing[link.peer.device]?.isTurnedAway()
            return hangUp(id, .stranger, &effects)
        }
        // The peer's first heartbeat, at which it may end the link, is over by the second.
        if link.hasBeaten { dialing[link.peer.device]?.isSettled() }
        links[id]?.hasBeaten = true
        if case .send(let frame) = try session.heartbeat(store: store) {
            effects.append(.send(id, frame.encoded()))
        }
        set(.heartbeat(id), in: Self.heartbeatInterval, at: now, &effects)
    }

    /// Sends what peers lack, as far as they grant.
    mutating func sendOperations(
        at now: Instant, _ store: some Store, _ effects: inout [Effect]
    ) throws(StoreError) {
        var ready: [LinkID] = []
        for (id, link) in links where link.session?.mayHaveOperations == true {
            ready.append(id)
        }
        for id in ready.sorted() {
            while let result = try links[id]?.session?.nextOperations(
                upTo: Self.stepByteCountMax, store: store)
            {
                for output in result.outputs {
                    if case .send(let frame) = output {
                        gave(frame, on: id, at: now, store)
                        effects.append(.send(id, frame.encoded()))
                    }
                }
                guard result.hasMore else { break }
            }
            try tellForks(to: id, store, &effects)
        }
    }

    mutating func announce(_ store: some Store, _ effects: inout [Effect]) throws(StoreError) {
        for id in links.keys.sorted() where links[id]?.session?.hasAnnouncements == true {
            for output in try links[id]?.session?.announce(store: store) ?? [] {
                if case .send(let frame) = output {
                    effects.append(.send(id, frame.encoded()))
                }
            }
        }
    }

    /// Tells each peer what of its operations is safe here.
    mutating func acknowledge(_ store: some Store, _ effects: inout [Effect]) throws(StoreError) {
        for id in links.keys.sorted() {
            guard let pending = links[id]?.unacknowledged, !pending.isEmpty else { continue }
            for number in pending.keys.sorted() {
                guard let space = try store.space(number), let tags = pending[number] else {
                    continue
                }
                var entries: [Acknowledgement.Entry] = []
                var unfinished: Set<LogTag> = []
                for tag in tags.sorted() {
                    guard let log = try store.agreedLog(tag, in: number), log.lane != .receipts
                    else {
                        continue
                    }
                    if let place = try store.lastSoundPlace(of: log) {
                        entries.append(.init(tag: tag, sequence: place))
                    } else if log.wholeThrough == nil || !log.isWhole {
                        unfinished.insert(tag)
                    }
                }
                links[id]?.unacknowledged[number] = unfinished.isEmpty ? nil : unfinished
                guard !entries.isEmpty else { continue }
                let frame = Frame.acknowledge(Acknowledgement(space: space.id, entries: entries))
                effects.append(.send(id, frame.encoded()))
            }
        }
    }

    func acknowledged(
        _ acknowledgement: Acknowledgement, by id: LinkID, _ store: some Store,
        _ effects: inout [Effect]
    ) throws(StoreError) {
        guard let link = links[id], let space = try store.space(acknowledgement.space),
            link.session?.shares(space.number) == true
        else { return }
        for entry in acknowledgement.entries {
            guard let log = try store.log(entry.tag, in: space.number), entry.sequence < log.end
            else { continue }
            try store.acknowledge(
                entry.tag, through: entry.sequence, by: link.peer.device, in: space.number)
        }
        effects.append(.changed([.receipts(space.number)]))
    }
}
