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
    /// Bytes of lane 0 that arrived and do not join what is held: none of them are kept.
    var unconnected: [SpaceNumber: UInt64] = [:]
    /// How often the peer is asked for what a space lacks.
    var rounds: [SpaceNumber: RoundPace] = [:]
    /// Spaces introduced unasked.
    var introduced: Set<SpaceNumber> = []
    /// Frames that came before it was known whether the peer is entitled to talk.
    var strangerFrameCount = 0
    /// Frames that were not looked at.
    var droppedCount: UInt64 = 0
    /// The peer's clock, once it has greeted.
    var clock: PeerClock?
    /// It lasted until its first heartbeat.
    var hasBeaten = false
    /// It is being hung up: what still comes is not looked at.
    var isEnding = false
    /// What was shared when it was disconnected.
    var spacesBefore: [SpaceNumber] = []
    /// What is shared on it, or was until it was disconnected.
    var spaces: [SpaceNumber] { session?.sharedSpaces ?? spacesBefore }
}

extension NodeCore {
    /// A link shows itself alive this often.
    static let heartbeatInterval: UInt64 = 30_000
    /// A peer silent for this long is gone.
    static let silenceMax: UInt64 = 75_000
    /// Spaces introduced unasked on one link.
    static let introducedCountMax = 64
    /// Bytes of operations sent in one step: others get their turn.
    static let stepByteCountMax = 512 << 10

    mutating func opened(_ id: LinkID, _ peer: LinkPeer, _ turn: inout some Turn) throws(StoreError)
    {
        guard peer.device != identity.device else {
            turn.emit(.hangUp(id, .stranger))
            return
        }
        guard try admitLink(id, peer, &turn) else { return }
        try learn(peer.identity, of: peer.person, &turn)
        guard try isStanding(peer, turn.store) else {
            peers.dialer.drop(peer.device)
            try count(.revokedDevice, turn.store)
            try tellRevocation(on: id, peer, &turn)
            turn.emit(.hangUp(id, .revoked))
            return
        }
        try wasSeen(peer, at: turn.now, turn.store)
        if let other = peers.links.first(where: { $0.value.peer.device == peer.device }) {
            // Both sides decide alike: a direct link is better than one through a relay, else the
            // one whose initiator has the smaller key stays.
            guard other.value.isEnding || isBetter(peer, than: other.value.peer) else {
                turn.emit(.hangUp(id, .duplicate))
                // The dialled link is up, and not needed; a better path still is.
                guard peer.isInitiator else { return }
                peers.dialer.note(.lost, of: peer.device)
                if other.value.peer.isPiped, !timers.isPending(.dial(peer.device)) {
                    scheduleDial(peer.device, &turn)
                }
                return
            }
            turn.emit(.hangUp(other.key, .duplicate))
            try closed(other.key, &turn)
        }
        peers.links[id] = CoreLink(peer: peer, lastHeard: turn.now.monotonic)
        peers.dialer.note(.linked, of: peer.device)
        timers.move(
            .heartbeat(id), to: turn.now.monotonic + Self.heartbeatInterval / 3, &turn)
        turn.emit(.linksChanged)
        // There may be a better way yet.
        if peer.isPiped { scheduleDial(peer.device, &turn) }
        if try tellWhoTheyWere(on: id, &turn) { return }
        try greet(id, &turn)
        try tellOwnDevices(on: id, peer, &turn)
    }

    private func isBetter(_ peer: LinkPeer, than other: LinkPeer) -> Bool {
        if peer.isPiped != other.isPiped { return other.isPiped }
        return initiator(of: peer) <= initiator(of: other)
    }

    private func initiator(of peer: LinkPeer) -> DeviceID {
        peer.isInitiator ? identity.device : peer.device
    }

    /// Begins to exchange with a peer that is entitled to.
    mutating func admit(_ id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let link = peers.links[id], link.session == nil, !link.isEnding else { return }
        let hello = Hello(
            capabilities: 0, wallClock: WallTime(clamping: turn.now.wall),
            generation: try generation(&turn),
            credit: ByteCredit(clamping: SyncSession.creditInitial))
        var session = SyncSession(salt: turn.random.next(), with: link.peer.device)
        var shared: [SharedSpace] = []
        for space in try spaces(naming: link.peer.person, turn.store) {
            if let scope = try scope(of: space, with: link.peer, turn.store) {
                shared.append(SharedSpace(space, scope: scope))
            }
        }
        let outputs = try session.open(hello, sharing: shared, store: turn.store)
        peers.links[id]?.session = session
        turn.emit(.admitted(id))
        // A peer that links again and again has everything compared each time.
        _ = peers.allowances.take(
            UInt64(4 * shared.count), for: link.peer.person, sharing: shared.count,
            at: turn.now.monotonic)
        try perform(outputs, on: id, &turn)
        restartBodyRequests(&turn)
        try tellPresence(on: id, &turn)
        try askForFiles(on: id, &turn)
        try inquireAfterFiles(on: id, &turn)
        try reconsiderRoomSoon(&turn)
    }

    mutating func closed(_ id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let link = peers.links.removeValue(forKey: id) else { return }
        try wasSeen(link.peer, at: turn.now, turn.store)
        try lostPresence(of: link.peer, &turn)
        try closeFiles(on: id, &turn)
        for space in intake.sources.keys.sorted() where intake.sources[space]?.link == id {
            try lostSource(of: space, &turn)
        }
        // There is room for a member who is no contact.
        if peers.links.count == Self.memberLinkCountMax - 1 {
            try dialEveryone(&turn)
        }
        turn.emit(.linksChanged)
        // What they have not acknowledged goes to relays now.
        if !courier.lines.isEmpty { courier.outbox.note(all: link.spaces) }
        if !peers.links.values.contains(where: { $0.peer.device == link.peer.device }) {
            scheduleDial(link.peer.device, &turn)
        }
    }

    mutating func received(_ bytes: [UInt8], on id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        var room = DecodingRoom()
        intake.yield = Yield()
        try received(bytes, within: &room, on: id, &turn)
        if peers.links[id]?.isEnding == true { chargeLast(room, on: id, &turn) }
    }

    private mutating func received(
        _ bytes: [UInt8], within room: inout DecodingRoom, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        // Only the needed parts of the link are taken out: a copy of all would cause its session to
        // be copied when that changes.
        guard let peer = peers.links[id]?.peer, peers.links[id]?.isEnding == false else { return }
        peers.links[id]?.lastHeard = turn.now.monotonic
        guard peers.links[id]?.session != nil || FrameWork.mayPrecedeSession(bytes) else {
            return try turnAway(id, &turn)
        }
        let frame: Frame
        do {
            // A type that only a newer version knows is skipped: it is no breach.
            guard let decoded = try Frame.decode(bytes, within: &room) else { return }
            frame = decoded
        } catch {
            return try breach(.malformed, .malformedFrame, on: id, &turn)
        }
        switch frame {
        case .introduce(let introduction):
            return try introduced(introduction, on: id, &turn)
        case .bye:
            peers.dialer.note(.turnedAway, of: peer.device)
            return hangUp(id, .ended, &turn)
        case .error(let error):
            return try refused(error, by: peer, &turn)
        default:
            break
        }
        // Greeting is what only a peer does that takes this node in: dialling may be eager again.
        if case .hello(let hello) = frame {
            peers.dialer.note(.welcomed, of: peer.device)
            compareClock(of: hello, on: id, &turn)
        }
        if case .signal(let bytes) = frame {
            return try signalled(bytes, on: id, &turn)
        }
        let received = try peers.links[id]?.session?.receive(frame, store: turn.store)
        guard let result = received else { return }
        try chargeWalk(on: id, &turn)
        try compareOwnLogs(frame, on: id, &turn)
        switch result {
        case .success(let outputs):
            if try receivedFile(frame, on: id, &turn) { return }
            try perform(outputs, on: id, &turn)
            if case .operations(let operations) = frame {
                try charge(for: operations, on: id, &turn)
            }
            try endSources(after: frame, on: id, &turn)
        case .failure(.malformed):
            try breach(.malformed, .malformedFrame, on: id, &turn)
        case .failure(.outOfOrder):
            try breach(.outOfOrder, .frameOutOfOrder, on: id, &turn)
        case .failure(.overCredit):
            try breach(.overCredit, .overCredit, on: id, &turn)
        }
    }

    /// The devices that a space is shared with now.
    func devicesLinked(in space: SpaceNumber) -> Set<DeviceID> {
        Set(peers.links.values.filter { $0.session?.shares(space) == true }.map(\.peer.device))
    }

    /// Ends a link. It is forgotten once the shell says that it is closed; until then it counts as
    /// a link, and nothing is taken from it or sent on it.
    mutating func hangUp(_ id: LinkID, _ reason: HangUpReason, _ turn: inout some Turn) {
        peers.links[id]?.isEnding = true
        // It may be hung up twice: the second time nothing is shared any more.
        if let spaces = peers.links[id]?.session?.sharedSpaces {
            peers.links[id]?.spacesBefore = spaces
        }
        peers.links[id]?.session = nil
        turn.emit(.hangUp(id, reason))
    }

    private mutating func refused(_ error: WireError, by peer: LinkPeer, _ turn: inout some Turn)
        throws(StoreError)
    {
        if error == .joinRefused { return try joinRefused(by: peer.person, &turn) }
        if error == .inviteRefused {
            try noteRefusedInvite(by: peer, &turn)
        }
    }

    mutating func breach(
        _ breach: SessionBreach, _ refusal: Refusal, on id: LinkID, _ turn: inout some Turn
    ) throws(StoreError) {
        try count(refusal, turn.store)
        // Who does so on each link, right after the greeting, would be dialled every second for ever.
        if let peer = peers.links[id]?.peer {
            peers.dialer.note(.turnedAway, of: peer.device)
            // Strangers' devices are made up, and cost what all strangers together may.
            if !peer.isInitiator, peers.links[id]?.session != nil {
                peers.breaches.note(peer.device, at: turn.now.monotonic)
            }
        }
        hangUp(id, .breach(breach), &turn)
    }

    mutating func perform(_ outputs: [SessionOutput], on id: LinkID, _ turn: inout some Turn)
        throws(StoreError)
    {
        for output in outputs {
            switch output {
            case .send(let frame):
                turn.emit(.send(id, frame.encoded()))
            case .ingest(let operations):
                try ingest(operations, from: id, &turn)
                if let renewed = peers.links[id]?.session?.renewCredit() {
                    try perform(renewed, on: id, &turn)
                }
            case .acknowledged(let acknowledgement):
                guard let peer = peers.links[id]?.peer,
                    let space = try turn.store.space(acknowledgement.space),
                    try mayAcknowledge(peer, in: space, on: id, turn.store)
                else { continue }
                try acknowledged(acknowledgement, of: space, by: peer.device, &turn)
            case .equal(let space):
                try askForAcknowledgement(in: space, on: id, &turn)
            case .introduced(let introduction):
                try introduced(introduction, on: id, &turn)
            case .introduceSpace(let space):
                peers.links[id]?.introduced.insert(space)
                guard peers.links[id]?.introduced.count ?? 0 <= Self.introducedCountMax else {
                    peers.links[id]?.introduced.remove(space)
                    break
                }
                peers.links[id]?.session?.offerAll(of: space)
            case .missing(let space, let isNews):
                if isNews { peers.links[id]?.rounds[space]?.hearNews() }
                try noteHolder(of: space, link: id, &turn)
            case .answered(let space):
                try fillHoles(of: space, from: id, &turn)
            case .forked(let proof):
                guard let peer = peers.links[id]?.peer else { break }
                try learned(proof, by: Bringer(peer, link: id), &turn)
            case .refused:
                break
            case .ended:
                hangUp(id, .ended, &turn)
            }
        }
    }

    mutating func heartbeat(_ id: LinkID, _ turn: inout some Turn) throws(StoreError) {
        guard let link = peers.links[id] else { return }
        guard turn.now.monotonic < link.lastHeard + Self.silenceMax else {
            return hangUp(id, .silent, &turn)
        }
        guard link.session != nil else {
            // Ten seconds to say who one is; only strangers take longer.
            return hangUp(id, .stranger, &turn)
        }
        // A peer without a common space has been told so by now.
        guard try mayLink(link.peer.person, turn.store) else {
            turn.emit(.send(id, Frame.bye.encoded()))
            peers.dialer.note(.turnedAway, of: link.peer.device)
            return hangUp(id, .stranger, &turn)
        }
        // The peer's first heartbeat, at which it may end the link, is over by the second.
        if link.hasBeaten { peers.dialer.note(.settled, of: link.peer.device) }
        peers.links[id]?.hasBeaten = true
        if case .send(let frame)? = try peers.links[id]?.session?.heartbeat(store: turn.store) {
            turn.emit(.send(id, frame.encoded()))
        }
        timers.set(.heartbeat(id), in: Self.heartbeatInterval, &turn)
    }

    /// Sends what peers lack, as far as they grant.
    mutating func sendOperations(_ turn: inout some Turn) throws(StoreError) {
        var ready: [LinkID] = []
        for (id, link) in peers.links where link.session?.mayHaveOperations == true {
            ready.append(id)
        }
        for id in ready.sorted() {
            while let result = try peers.links[id]?.session?.nextOperations(
                upTo: Self.stepByteCountMax, store: turn.store)
            {
                for output in result.outputs {
                    if case .send(let frame) = output {
                        gave(frame, on: id, at: turn.now, turn.store)
                        turn.emit(.send(id, frame.encoded()))
                    }
                }
                guard result.hasMore else { break }
            }
            try tellForks(to: id, &turn)
        }
    }

    mutating func announce(_ turn: inout some Turn) throws(StoreError) {
        for id in peers.links.keys.sorted() where peers.links[id]?.session?.hasAnnouncements == true
        {
            for output in try peers.links[id]?.session?.announce(store: turn.store) ?? [] {
                if case .send(let frame) = output {
                    turn.emit(.send(id, frame.encoded()))
                }
            }
        }
    }

    /// Tells each peer what of its operations is safe here.
    mutating func acknowledge(_ turn: inout some Turn) throws(StoreError) {
        for id in peers.links.keys.sorted() {
            guard let pending = peers.links[id]?.unacknowledged, !pending.isEmpty else { continue }
            for number in pending.keys.sorted() {
                guard let space = try turn.store.space(number), let tags = pending[number] else {
                    continue
                }
                var entries: [OperationReference] = []
                var unfinished: Set<LogTag> = []
                for tag in tags.sorted() {
                    guard let log = try turn.store.agreedLog(tag, in: number), log.lane != .receipts
                    else {
                        continue
                    }
                    if let last = try MissingBodies.lastWhole(of: log, in: space, turn.store) {
                        entries.append(last)
                    } else if log.wholeThrough == nil || !log.isWhole {
                        unfinished.insert(tag)
                    }
                }
                peers.links[id]?.unacknowledged[number] = unfinished.isEmpty ? nil : unfinished
                guard !entries.isEmpty else { continue }
                let frame = Frame.acknowledge(Acknowledgement(space: space.id, entries: entries))
                turn.emit(.send(id, frame.encoded()))
            }
        }
    }
}
