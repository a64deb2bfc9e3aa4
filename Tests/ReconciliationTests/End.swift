@testable import ParleyLedger
import ParleyNodeCore
@testable import ParleyReconciliation
import ParleySealing
import ParleySimulation
import ParleyWire

/// One side of a link without a node: a store, a device that writes, and a session.
final class End {
    let key: DeviceSigningKey
    let store = MemoryStore()
    var session: SyncSession
    /// Everything that was sent, in order.
    private(set) var sent: [Frame] = []
    private(set) var sentByteCount = 0
    /// The frames among them that hold operations.
    var operationFrames: [Frame] {
        sent.filter { if case .operations = $0 { true } else { false } }
    }
    private(set) var acknowledged: [Acknowledgement] = []
    /// Proofs of forks that were found or told.
    var proofs: [ForkProof] = []
    private(set) var rejection: SessionRejection?
    private var outbox: [Frame] = []
    private var random: SeededRandom

    init(seed: UInt64, spaces count: Int = 1) throws {
        random = SeededRandom(seed: seed)
        key = DeviceSigningKey.generate(using: &random)
        session = SyncSession(salt: seed)
        for number in 1...count { try addSpace(number) }
    }

    func addSpace(_ number: Int) throws {
        try store.begin(.normal)
        _ = try store.addSpace(Self.spaceID(number), kind: .group)
        try store.commit()
    }

    static func spaceID(_ number: Int) -> SpaceID {
        SpaceID { buffer in
            for index in buffer.indices { buffer[index] = UInt8(number) }
        }
    }

    func space(_ number: Int = 1) throws -> SpaceRecord {
        guard let space = try store.space(SpaceNumber(Int64(number))) else {
            throw StoreError(.other, attempt: "looking for a space of the test")
        }
        return space
    }

    /// Writes so many operations at once, and tells the session.
    func write(
        _ count: Int, of byteCount: Int = 100, in number: Int = 1, lane: Lane = .content
    ) throws {
        let drafts = (0..<count).map { place in
            Draft(
                kind: OperationKind(rawValue: 64), lane: lane,
                payload: [UInt8](repeating: UInt8(truncatingIfNeeded: place), count: byteCount))
        }
        let space = try space(number)
        let author = LogAuthor(
            key: key, space: space, authority: 42, wallClock: 1_700_000_000_000)
        try store.begin(.full)
        let applied = try author.append(drafts, to: store, using: &random)
        try store.commit()
        if let last = applied.last {
            session.grew(last.operation.tag, in: space.number, isOwn: true)
        }
    }

    func open(
        credit: ByteCredit = ByteCredit(clamping: SyncSession.creditInitial)
    ) throws {
        let hello = Hello(capabilities: 0, wallClock: 1, generation: 1, credit: credit)
        try perform(
            try session.open(
                hello, sharing: try store.spaces().map { SharedSpace($0) }, store: store))
        try flush()
    }

    /// Takes a frame as the node does, operations included.
    func receive(_ frame: Frame) throws {
        switch try session.receive(frame, store: store) {
        case .success(let outputs): try perform(outputs)
        case .failure(let failure): rejection = failure
        }
        try flush()
    }

    /// Sends whatever the peer lacks, as far as it grants.
    func flush() throws {
        while true {
            let (outputs, hasMore) = try session.nextOperations(upTo: 1 << 19, store: store)
            try perform(outputs)
            if !hasMore { return }
        }
    }

    /// The link is gone, and a new one there: only the store remains.
    func restart(salt: UInt64) {
        session = SyncSession(salt: salt)
        (sent, outbox, sentByteCount) = ([], [], 0)
    }

    /// Takes out what waits to be sent.
    func takeFrames() -> [Frame] {
        defer { outbox = [] }
        return outbox
    }

    func log(of device: DeviceID, in number: Int = 1) throws -> LogRecord? {
        let space = try space(number)
        let id = OperationHash.log(space: space.id, device: device, lane: .content)
        return try store.log(LogTag(id), in: space.number)
    }

    private func perform(_ outputs: [SessionOutput]) throws {
        for output in outputs {
            switch output {
            case .send(let frame):
                sent.append(frame)
                sentByteCount += frame.encoded().count
                outbox.append(frame)
            case .ingest(let operations):
                try ingest(operations)
                try perform(session.renewCredit())
            case .acknowledged(let acknowledgement): acknowledged.append(acknowledgement)
            case .introduceSpace(let space):
                session.offerAll(of: space)
            case .missing(let space, _):
                try perform(try session.ask(space, store: store))
                try perform(try session.fillHoles(space, store: store))
            case .answered(let space):
                try perform(try session.fillHoles(space, store: store))
            case .forked(let proof): proofs.append(proof)
            case .introduced, .equal, .refused, .ended: break
            }
        }
    }

    private func ingest(_ operations: Operations) throws {
        guard let space = try store.space(operations.space) else { return }
        for run in operations.runs {
            let id = OperationHash.log(space: space.id, device: run.device, lane: run.lane)
            let held = try store.log(LogTag(id), in: space.number)?.spans ?? []
            for piece in try OperationVerifier.verify(run, in: space.id, held: held) {
                try store.begin(.normal)
                var log =
                    try store.log(LogTag(id), in: space.number)
                    ?? store.addLog(id, device: run.device, lane: run.lane, in: space.number)
                _ = try store.insert(piece.operations, in: log.number)
                log.hold(piece)
                try store.update(log)
                for head in piece.heads { try store.addHead(head, in: log.number) }
                try store.commit()
            }
            session.peerHolds(LogTag(id), through: run.last, in: space.number)
        }
        try perform(try session.fillHoles(space.number, store: store))
    }
}

/// Two ends of a link that loses nothing.
struct Pair {
    let ann: End
    let ben: End

    init(seed: UInt64, spaces: Int = 1) throws {
        ann = try End(seed: seed, spaces: spaces)
        ben = try End(seed: seed + 1, spaces: spaces)
    }

    func open() throws {
        try ann.open()
        try ben.open()
        try run()
    }

    /// Hands frames over until nobody has anything to say.
    func run() throws {
        for _ in 0..<10_000 {
            let (fromAnn, fromBen) = (ann.takeFrames(), ben.takeFrames())
            if fromAnn.isEmpty, fromBen.isEmpty { return }
            for frame in fromAnn { try ben.receive(frame) }
            for frame in fromBen { try ann.receive(frame) }
        }
        throw StoreError(.other, attempt: "running a session", detail: "it does not end")
    }

    func isInSync() throws -> Bool {
        for space in try ann.store.spaces() {
            let ours = try FrontierDigests(of: space.number, in: ann.store)
            let theirs = try FrontierDigests(of: space.number, in: ben.store)
            if ours != theirs { return false }
            for end in [ann, ben] {
                if try end.store.logs(in: space.number).contains(where: { !$0.isWhole }) {
                    return false
                }
            }
        }
        return true
    }
}
