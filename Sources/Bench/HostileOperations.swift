import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// Operations of which nothing comes, as many as a frame opens to, in very few bytes.
struct HostileOperations {
    /// All that a frame may hold.
    static let count = Limits.frameOperationCountMax

    let world: HostileWorld
    private let least: Operation
    private let end: UInt64
    private let tip: OperationID

    init(in world: HostileWorld) throws {
        self.world = world
        least = try Operation.make(
            OperationHeader(kind: OperationKind(rawValue: 64), wallClock: 0, clock: 0),
            payload: [1])
        let store = world.contact.store
        guard let record = try store.space(world.space),
            let log = try store.log(world.tag, in: record.number),
            let last = try store.operation(at: log.end - 1, in: log.number)
        else { throw HostileWorldError(description: "the contact wrote nothing") }
        (end, tip) = (log.end, last.id)
    }

    /// No signature is over any of them: others of the frame might be new.
    var unsigned: Frame { frame(heads: []) }

    /// The last of them has a signature that does not hold, which ends a link.
    var unproven: Frame {
        let nothing = [UInt8](repeating: 3, count: SignatureBytes.byteCount)
        let place = end + UInt64(Self.count) - 1
        return frame(
            heads: SignatureBytes(nothing).map { [SignedHead(sequence: place, signature: $0)] }
                ?? [])
    }

    /// Two branches that are none.
    var fork: Frame {
        .fork(ForkProof(space: world.space, left: run(at: end, []), right: run(at: end, [])))
    }

    /// What is held already, as far as a frame takes it.
    func held() throws -> Operations {
        let store = world.contact.store
        guard let record = try store.space(world.space),
            let log = try store.log(world.tag, in: record.number), let span = log.spans.first
        else { throw HostileWorldError(description: "the contact wrote nothing") }
        let stored = try store.operations(in: log.number, 0...999, limit: .max)
        let run = Run(
            device: world.contact.identity.device, lane: .content, first: 0, anchor: span.anchor,
            operations: stored.map(\.operation), heads: try store.heads(in: log.number, 0...999))
        return Operations(space: world.space, endsAnswer: false, runs: [run])
    }

    private func frame(heads: [SignedHead]) -> Frame {
        let half = UInt64(Self.count / 2)
        return .operations(
            Operations(
                space: world.space, endsAnswer: false,
                runs: [run(at: end, []), run(at: end + half, heads)]))
    }

    private func run(at first: UInt64, _ heads: [SignedHead]) -> Run {
        Run(
            device: world.contact.identity.device, lane: .content, first: first, anchor: tip,
            operations: Array(repeating: least, count: Self.count / 2), heads: heads)
    }

    // MARK: The control lane

    /// Settings of the conversation, each by who had seen all before: the roster is made of them.
    static let settingCount = 250
    /// Devices for which an epoch is that are in no roster.
    static let recipientCount = 1_000

    func settings() throws -> Frame {
        try control { author, store, random in
            try author.append(
                (0..<Self.settingCount).map {
                    SpaceSettings(rotationHours: UInt32(1 + $0 % 100)).draft()
                }, to: store, using: &random)
        }
    }

    func epoch() throws -> Frame {
        let device = world.contact.identity.device
        return try control { author, store, random in
            let recipients = (0..<Self.recipientCount).map { _ in
                EpochRecipient(
                    device: DeviceSigningKey.generate(using: &random).device,
                    leaf: PrivateLeaf.generate(using: &random).publicKey)
            }.sorted { $0.device < $1.device }
            let hedge = Secret.random(using: &random)
            return try author.append(.epoch, to: store) { next in
                let place = EpochPlace(
                    space: world.space, author: device, sequence: next.sequence,
                    previous: next.previous, dependencies: next.dependencies)
                // Leaves that were just made can be sealed to.
                return try? EpochBody.mint(
                    at: place, roster: Digest { $0[0] = 1 }, recipients: recipients, hedge: hedge,
                    using: &random
                ).body.bytes
            }
        }
    }

    /// What the contact writes there for nobody else, as it is sent.
    private func control(
        _ write: (LogAuthor, SQLiteStore, inout SystemRandom) throws -> [AppliedOperation]
    ) throws -> Frame {
        let (store, key) = (world.contact.store, world.contact.identity.key)
        guard let record = try store.space(world.space) else {
            throw HostileWorldError(description: "the two have no conversation")
        }
        var random = SystemRandom()
        try store.begin(.normal)
        defer { store.rollback() }
        let author = LogAuthor(
            key: key, space: record, authority: 0, wallClock: world.contact.now.wall)
        let written = try write(author, store, &random).map(\.operation)
        guard let first = written.first, let last = written.last,
            let log = try store.log(first.tag, in: record.number)
        else { throw HostileWorldError(description: "the contact wrote nothing") }
        let before =
            try first.sequence > 0
            ? store.operation(at: first.sequence - 1, in: log.number)?.id
            : OperationID(reinterpreting: log.id)
        let run = Run(
            device: key.device, lane: .control, first: first.sequence,
            anchor: before ?? OperationID(reinterpreting: log.id),
            operations: written.map(\.operation),
            heads: try store.heads(in: log.number, first.sequence...last.sequence))
        return .operations(Operations(space: world.space, endsAnswer: false, runs: [run]))
    }
}
