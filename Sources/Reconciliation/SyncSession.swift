import ParleySealing
public import ParleyLedger
public import ParleyWire

/// The outputs of a session, in order.
public enum SessionOutput: Equatable, Sendable {
    /// A frame for the peer, once the transaction is committed.
    case send(Frame)
    /// Operations to verify and store.
    case ingest(Operations)
    /// The peer holds of this space what is held here, as far as it passes: the first time it shows so
    /// since the link began, or since something was written here.
    case equal(SpaceNumber)
    /// The peer holds this on its disk.
    case acknowledged(Acknowledgement)
    /// The peer presents itself.
    case introduced(Introduction)
    /// The peer lacks a space that both belong to.
    case introduceSpace(SpaceNumber)
    /// The peer may hold what is missing here: should it become the space's source? It is news if
    /// the peer did not say so before.
    case missing(SpaceNumber, isNews: Bool)
    /// The peer has answered a want, or cannot.
    case answered(SpaceNumber)
    /// The peer refused something.
    case refused(WireError)
    /// A device wrote two histories; the proof is not checked yet.
    case forked(ForkProof)
    /// The peer said goodbye.
    case ended
}

/// Why a session ends at once. Each is a breach that no honest peer commits.
public enum SessionRejection: Error, Equatable, Sendable {
    /// The bytes are no frame.
    case malformed(DecodingFailure)
    /// Something came before the greeting, or a second greeting came.
    case outOfOrder
    /// More operations came than had been granted.
    case overCredit
}

/// Two devices find out what each lacks, and send it: one session, one value.
///
/// It knows logs and places, never the content of operations. It is fed frames and told what was
/// stored; it answers with frames. None of its state outlives the link: whatever was committed
/// moved the frontier, and the next session asks for the rest.
///
/// ```
///  HELLO SPACES ──▶ ◀── HELLO SPACES      at once, both
///  FRONT ──▶ ◀── FRONT                    for each space whose digests differ
///  OPS ──▶ ◀── OPS   ACK ──▶ ◀── ACK      what the other lacks, newest first where it is much
///  WANT ──▶ ◀── OPS                       holes, from the top down
///  OPS (live) ──▶                         whatever is written from then on
/// ```
/// Source: `Protocol/06-sync.md`.
public struct SyncSession: Sendable {
    /// Bytes of operations that a peer may send before the first is stored: 1 MiB.
    public static let creditInitial: UInt64 = 1 << 20
    /// Credit is renewed in steps of this many bytes.
    static let creditStep: UInt64 = 128 << 10
    /// A greater grant is never believed: nobody makes this node send more at once than twice what
    /// an honest peer grants.
    static let creditMax: UInt64 = 2 << 20

    private enum Phase: Sendable, Equatable {
        /// Our greeting is out; theirs is due.
        case greeting
        /// Both have greeted.
        case open
    }

    private var phase: Phase = .greeting
    var isOpen: Bool { phase == .open }
    let salt: UInt64
    private let peer: DeviceID?
    /// The spaces that both belong to.
    var shared: [SpaceNumber: SpaceExchange] = [:]
    /// Spaces of which the peer was told that no more is kept.
    private var declinedRests: Set<SpaceNumber> = []
    /// How many lists of the peer's did not hold a space that both belong to, since one did.
    var unlisted: [SpaceNumber: UInt64] = [:]
    private var acceptance = Acceptance.unknown
    /// Bytes of operations that may still be sent.
    private var credit: Int64 = 0
    /// Bytes of operations that the peer may still send.
    private var granted = Int64(SyncSession.creditInitial)
    /// Bytes received since credit was last renewed.
    private var consumed: UInt64 = 0

    /// A session with one device.
    ///
    /// - Parameters:
    ///   - salt: random; makes the hashes of spaces on this link tell nothing on another.
    ///   - peer: the device at the other end: it is told how far its own logs are known.
    public init(salt: UInt64, with peer: DeviceID? = nil) {
        self.salt = salt
        self.peer = peer
    }

    /// The frames that a session begins with.
    ///
    /// - Parameter spaces: the spaces whose roster holds the peer's device, or held it.
    public mutating func open(
        _ hello: Hello, sharing spaces: [SharedSpace], store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        for space in spaces { shared[space.record.number] = SpaceExchange(space, with: peer) }
        return [.send(.hello(hello)), .send(.spaces(try summary(store)))]
    }

    /// Sets how much of a space passes from now on; nil for nothing any more. A device that became
    /// a member by this, or is invited, is introduced to the space: it is sent everything, and then
    /// the tips.
    ///
    /// - Returns: whether the peer is introduced.
    @discardableResult
    public mutating func share(
        _ space: SpaceRecord, _ scope: SharingScope?, store: some LogStore
    ) throws(StoreError) -> Bool {
        let before = shared[space.number]?.scope
        let hasBrought = shared[space.number]?.hasBrought == true
        guard before != scope else { return false }
        guard let scope else {
            shared[space.number] = nil
            return false
        }
        if before == nil {
            shared[space.number] = SpaceExchange(
                SharedSpace(space, scope: scope), with: peer)
        } else {
            try shared[space.number]?.narrow(to: scope, store: store)
        }
        let isIntroduced =
            scope.isEverything
            ? before?.isEverything != true : scope.isMutual && before?.isMutual != true
        // A person who accepts got lane 0 before: of that only the rest is sent.
        if isIntroduced {
            shared[space.number]?.introduce(
                holdsLane0: before == .welcome, letItselfIn: hasBrought)
        }
        return isIntroduced
    }

    /// Takes a frame from the peer.
    public mutating func receive(
        _ frame: Frame, store: some LogStore
    ) throws(StoreError) -> Result<[SessionOutput], SessionRejection> {
        if case .hello(let hello) = frame {
            guard phase == .greeting else { return .failure(.outOfOrder) }
            phase = .open
            credit = Int64(min(hello.credit.value, Self.creditMax))
            return .success([])
        }
        guard phase == .open else { return .failure(.outOfOrder) }
        switch frame {
        case .hello:
            return .failure(.outOfOrder)
        case .spaces(let spaces):
            return .success(try received(spaces, store: store))
        case .frontier(let frontier):
            return .success(try received(frontier, store: store))
        case .want(let want):
            return .success(try received(want, store: store))
        case .operations(let operations):
            let byteCount = operations.creditByteCount
            granted -= Int64(byteCount)
            guard granted >= -Int64(Limits.runByteCountMax) else {
                return .failure(.overCredit)
            }
            consumed += UInt64(byteCount)
            return .success(try received(operations, store: store))
        case .acknowledge(let acknowledgement):
            if let space = try store.space(acknowledgement.space) {
                shared[space.number]?.noteTaken()
            }
            return .success([.acknowledged(acknowledgement)])
        case .credit(let bytes):
            credit = min(credit + Int64(bytes.value), Int64(Self.creditMax))
            return .success([])
        case .error(let error):
            return .success([.refused(error)])
        case .bye:
            return .success([.ended])
        case .introduce(let introduction):
            return .success([.introduced(introduction)])
        case .fork(let proof):
            return .success([.forked(proof)])
        // Nothing in a log depends on it: the owner of the session decides.
        case .signal, .blobAsk, .blobHave, .blobWant, .blobSection, .blobChunk:
            return .success([])
        case .heartbeat(let digest):
            guard try digest != root(store) else {
                var outputs: [SessionOutput] = []
                for number in shared.keys.sorted() where shares(number) {
                    outputs += try foundEqual(number, store: store)
                }
                return .success(outputs)
            }
            return .success([.send(.spaces(try summary(store)))])
        }
    }

    /// The frame that shows the link alive and the spaces equal, or not.
    public mutating func heartbeat(store: some LogStore) throws(StoreError) -> SessionOutput {
        .send(.heartbeat(try root(store)))
    }

    /// Renews the peer's credit for what was stored since the last time.
    public mutating func renewCredit() -> [SessionOutput] {
        guard consumed >= Self.creditStep else { return [] }
        defer { consumed = 0 }
        granted += Int64(consumed)
        return [.send(.credit(ByteCredit(clamping: consumed)))]
    }

    /// Asks the peer to send what a space lacks here.
    public mutating func ask(
        _ space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard phase == .open, let request = try shared[space]?.request(store: store) else {
            return []
        }
        shared[space]?.hasTold = true
        return [.send(.frontier(request))]
    }

    /// Tells the peer once what is held of a space, without requesting what is missing: others send
    /// that. From then on the peer sends what it writes.
    public mutating func tell(
        _ space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard phase == .open, let exchange = shared[space], !exchange.hasTold else { return [] }
        shared[space]?.hasTold = true
        return [.send(.frontier(try exchange.frontier(asksForMissing: false, store: store)))]
    }

    /// Tells the peer once that no more of a space is kept than is listed: it drops what it was
    /// about to send.
    public mutating func declineRest(
        of space: SpaceRecord, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard phase == .open, declinedRests.insert(space.number).inserted else { return [] }
        shared[space.number]?.hasTold = true
        // According to what has arrived, this device may not be in it at all.
        let exchange =
            shared[space.number] ?? SpaceExchange(SharedSpace(space, scope: .welcome), with: nil)
        return [.send(.frontier(try exchange.frontier(asksForMissing: false, store: store)))]
    }

    /// What was requested and did not arrive may be requested again.
    public mutating func forgetQuestions(_ space: SpaceNumber) {
        shared[space]?.forgetQuestions()
    }

    /// Asks for the newest parts of holes; at most two questions are open at a time.
    public mutating func fillHoles(
        _ space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> [SessionOutput] {
        guard phase == .open, shared[space] != nil else { return [] }
        var outputs: [SessionOutput] = []
        while let want = try shared[space]?.nextWant(store: store) {
            outputs.append(.send(.want(want)))
        }
        return outputs
    }

    /// Whether the peer showed the very digests that this node had.
    public func isEqual(_ space: SpaceNumber) -> Bool {
        shares(space) && shared[space]?.wasEqual == true
    }

    /// Whether the peer was asked for the holes of a space, and has nothing of them.
    public func cannotFill(_ space: SpaceNumber) -> Bool { shared[space]?.cannotFill == true }

    /// Whether all of a space is held here that the peer said it holds, up to the tips that it listed.
    public mutating func lacksNothing(
        _ space: SpaceNumber, store: some LogStore
    ) throws(StoreError) -> Bool {
        try shared[space]?.lacksNothing(store: store) == true
    }

    /// How many spaces both belong to.
    public var sharedCount: Int { shared.count }

    /// The spaces that something of is shared, ascending.
    public var sharedSpaces: [SpaceNumber] { shared.keys.sorted() }

    /// Whether the peer belongs to this space as well.
    public func shares(_ space: SpaceNumber) -> Bool { shared[space]?.scope.isEverything == true }

    /// Nothing of a space passes any more: it is not here.
    public mutating func forget(_ space: SpaceNumber) {
        shared[space] = nil
        unlisted[space] = nil
    }

    /// Whether the peer is known to hold, or was sent, all of a space that it may have.
    public func hasSentAll(of space: SpaceNumber) -> Bool { shared[space]?.hasSentAll == true }

    /// Whether anything of this space passes.
    public func knows(_ space: SpaceNumber) -> Bool { shared[space] != nil }

    /// Takes it that the peer holds nothing of a space, which it may not want: sends it the first frame,
    /// and once it has shown that it does want it the rest, control first, and then the tips.
    public mutating func offerAll(of space: SpaceNumber) { shared[space]?.offerAll() }

    /// The peer says whether this person is a contact of theirs. A peer who has accepted takes what
    /// they refused from a stranger: once per link, all spaces of which they have shown nothing are
    /// introduced again.
    public mutating func hear(isContact: Bool) -> [SessionOutput] {
        guard isContact else {
            if acceptance == .unknown { acceptance = .awaited }
            return []
        }
        guard acceptance == .awaited else { return [] }
        acceptance = .heard
        return shared.keys.sorted().compactMap { space in
            guard let exchange = shared[space], exchange.scope.isMutual, !exchange.wasTaken else {
                return nil
            }
            return .introduceSpace(space)
        }
    }

    /// Records that the log grew.
    ///
    /// - Parameter isOwn: written here: sent at once. Else it is announced, since the peer may
    ///   well have it from its author.
    public mutating func grew(_ tag: LogTag, in space: SpaceNumber, isOwn: Bool) {
        shared[space]?.grew(tag, isOwn: isOwn)
    }

    /// Records that the peer sent, and so holds, this log up to a place.
    public mutating func peerHolds(_ tag: LogTag, through place: UInt64, in space: SpaceNumber) {
        shared[space]?.peerHolds(tag, through: place)
    }

    /// Sends the last operation of a log again, for the peer to acknowledge what it holds.
    public mutating func sendLastAgain(
        of tag: LogTag, in space: SpaceNumber, store: some LogStore
    ) throws(StoreError) {
        try shared[space]?.sendLastAgain(of: tag, store: store)
    }

    /// Tells the peer of logs that grew through others.
    public mutating func announce(store: some LogStore) throws(StoreError) -> [SessionOutput] {
        guard phase == .open else { return [] }
        var outputs: [SessionOutput] = []
        for number in shared.keys.sorted() where shared[number]?.hasAnnouncements == true {
            if let frontier = try shared[number]?.announcement(store: store) {
                outputs.append(.send(.frontier(frontier)))
            }
        }
        return outputs
    }

    /// Whether something is to be announced.
    public var hasAnnouncements: Bool { shared.values.contains { $0.hasAnnouncements } }

    /// Whether ``nextOperations(upTo:store:)`` might have any: asked in every step, of every link.
    public var mayHaveOperations: Bool {
        phase == .open && credit > 0
            && shared.values.contains { $0.mayHaveOperations || $0.mustTellForks }
    }

    /// Operations that the peer lacks, as far as its credit goes and no more than `byteCount`.
    ///
    /// - Returns: frames to send, and whether more could be sent at once.
    public mutating func nextOperations(
        upTo byteCount: Int, store: some LogStore
    ) throws(StoreError) -> (outputs: [SessionOutput], hasMore: Bool) {
        var outputs: [SessionOutput] = []
        var sent = 0
        for number in shared.keys.sorted() where shared[number]?.mayHaveOperations == true {
            while credit > 0 {
                guard sent < byteCount else { return (outputs, true) }
                guard let operations = try shared[number]?.nextOperations(store: store) else {
                    // A peer that was introduced to everything is told that this is all.
                    if shared[number]?.endIntroducing() == true {
                        outputs += try tell(number, store: store)
                    }
                    break
                }
                let size = operations.creditByteCount
                credit -= Int64(size)
                sent += size
                outputs.append(.send(.operations(operations)))
            }
        }
        return (outputs, false)
    }
}

extension Operations {
    /// How many bytes it counts for credit, on both sides.
    public var creditByteCount: Int { runs.reduce(64) { $0 + $1.byteCount } }
}
