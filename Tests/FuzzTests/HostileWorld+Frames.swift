import ParleyConversation
import ParleyLedger
import ParleyRoster
import ParleySignalling
import ParleyWire

@testable import ParleyNodeCore
@testable import ParleySealing
@testable import ParleySimulation

// Frames, cards and signals whose form is right and whose numbers are not.
extension HostileWorld {
    func frame(of node: SimulatedNode) throws -> Frame {
        let space = try space()
        return switch random.next() % 18 {
        case 0 where random.happens(onceIn: 4):
            .hello(
                Hello(
                    capabilities: random.hostile(),
                    wallClock: random.hostile(),
                    generation: random.hostile(), credit: random.hostile()))
        case 1: .spaces(spaceList())
        case 2, 3: .frontier(try frontier(of: space))
        case 4: .want(try want(of: space))
        case 5, 6, 7: try operations(of: node, in: space).map { .operations($0) } ?? .bye
        case 8: .acknowledge(try acknowledgement(of: space))
        case 9: .credit(random.hostile())
        case 10:
            .introduce(
                Introduction(
                    card: card(of: node),
                    redemption: random.happens(onceIn: 8)
                        ? .init(invite: random.hostile(), proof: random.identifier()) : nil,
                    join: random.happens(onceIn: 4) ? join(of: node, in: space) : nil,
                    isRequest: random.flip(), isContact: random.flip()))
        case 11: .heartbeat(random.identifier())
        case 12: try fork(of: node, in: space).map { .fork($0) } ?? .credit(1)
        case 13, 14: fileFrame()
        case 15: .error(WireError.allCases[random.below(WireError.allCases.count)])
        case 16: random.happens(onceIn: 4) ? .bye : .credit(1)
        default: .signal(signal(in: space))
        }
    }

    func frontier(of space: SpaceID) throws -> Frontier {
        var tips: [LogTag: UInt64] = [:]
        for _ in 0..<random.below(4) { tips[try tag(in: space)] = place() }
        return Frontier(
            space: space, isComplete: random.flip(), asksForMissing: random.flip(),
            entries: tips.sorted { $0.key < $1.key }.map { entry(of: $0.key, $0.value) },
            ownTips: random.happens(onceIn: 4) ? [ownTip(in: space)].compactMap { $0 } : [])
    }

    /// Ann's own log as far as she never wrote, with whatever signature.
    private func ownTip(in space: SpaceID) -> Frontier.OwnTip? {
        guard let signature = SignatureBytes(random.bytes(Signature.byteCount)) else { return nil }
        let log = OperationHash.log(space: space, device: ann.identity.device, lane: .content)
        return Frontier.OwnTip(
            tag: LogTag(log), sequence: place(), operation: random.identifier(),
            signature: signature)
    }

    private func spaceList() -> Spaces {
        let hashes = Set((0..<random.below(4)).map { _ in random.hostile() as UInt64 }).sorted()
        return Spaces(
            salt: random.next(),
            entries: hashes.map {
                .init(
                    hash: $0,
                    digests: FrontierDigests(
                        control: random.check(), content: random.check(), receipts: random.check()))
            })
    }

    /// The wish to come into a group, by a key that no link held.
    private func join(of node: SimulatedNode, in space: SpaceID) -> Introduction.Join? {
        let invite: OperationID = random.identifier()
        let departures = Set((0..<random.below(3)).map { _ in random.identifier() as OperationID })
        let (person, key) = (node.identity.person, node.identity.key)
        let signature = Redeem.signature(
            to: invite, in: space, for: person, key.device, with: .generate(using: &random))
        let consent = Redeem.consent(
            to: invite, in: space, for: person, after: departures.sorted(), with: key)
        guard let signature = SignatureBytes(signature.bytes),
            let consent = SignatureBytes(consent.bytes)
        else { return nil }
        return .init(
            space: space, invite: invite, signature: signature, consent: consent,
            departures: departures.sorted())
    }

    private func entry(of tag: LogTag, _ place: UInt64) -> Frontier.Entry {
        Frontier.Entry(tag: tag, sequence: place, check: random.check())
    }

    private func want(of space: SpaceID) throws -> Want {
        var ranges: [LogTag: (UInt64, UInt64)] = [:]
        for _ in 0..<random.below(4) {
            let (one, other) = (place(), place())
            ranges[try tag(in: space)] = (min(one, other), max(one, other))
        }
        return Want(
            space: space, limit: random.flip() ? 4_096 : random.next() % 4,
            ranges: ranges.sorted { $0.key < $1.key }.map {
                Want.Range(tag: $0.key, first: $0.value.0, last: $0.value.1)
            })
    }

    func acknowledgement(of space: SpaceID) throws -> Acknowledgement {
        var tips: [LogTag: UInt64] = [:]
        for _ in 0..<random.below(4) { tips[try tag(in: space)] = place() }
        return Acknowledgement(
            space: space,
            entries: tips.sorted { $0.key < $1.key }.map {
                .init(tag: $0.key, sequence: $0.value, check: Check(high: random.next(), low: 0))
            })
    }

    /// A run of somebody's, at another place than it has, or as it is.
    func operations(of node: SimulatedNode, in space: SpaceID) throws -> Operations? {
        guard let record = try node.store.space(space) else { return nil }
        let logs = try node.store.logs(in: record.number).filter { $0.end > 0 }
        guard !logs.isEmpty else { return nil }
        let log = logs[random.below(logs.count)]
        let all = try node.store.operations(in: log.number, 0...log.end - 1, limit: 20)
        guard !all.isEmpty else { return nil }
        let heads = try node.store.heads(in: log.number, 0...log.end - 1)
        let first = random.flip() ? 0 : place()
        return Operations(
            space: space, endsAnswer: random.flip(),
            runs: [
                Run(
                    device: log.device, lane: log.lane, first: first,
                    anchor: first == 0 ? nil : random.identifier(),
                    operations: all.map(\.operation),
                    heads: heads.filter { $0.sequence < UInt64(all.count) }.map {
                        SignedHead(sequence: first + $0.sequence, signature: $0.signature)
                    })
            ])
    }

    private func fork(of node: SimulatedNode, in space: SpaceID) throws -> ForkProof? {
        guard let left = try operations(of: node, in: space)?.runs.first,
            let right = try operations(of: node, in: space)?.runs.first
        else { return nil }
        return ForkProof(space: space, left: left, right: right)
    }

    // MARK: Cards

    /// Somebody's card: their device's part is new, with any version, names and prekeys; the
    /// identity log may have grown.
    func card(of node: SimulatedNode) -> [UInt8] {
        let key = node.identity.key
        let known = try? CardReader.kept(of: node.identity.person, node.store)
        let own = known?.parts.first { $0.device == key.device }
        var mailboxes = own?.mailboxes ?? []
        if random.happens(onceIn: 8) { mailboxes = [] }
        let made = CardPart.make(
            version: 1, noiseKey: node.identity.noiseKey, name: "n\(random.below(3))",
            addresses: ["\(node.index)"], mailboxes: mailboxes,
            prekeys: random.flip() ? own?.prekeys ?? [] : prekeys(of: key), key: key)
        var part = Array(made.bytes.dropLast(Signature.byteCount))
        // Newer than the last, or any.
        let version = random.flip() ? now() + random.next() % 1_000 : random.hostile()
        withUnsafeBytes(of: version.bigEndian) { part.replaceSubrange(33..<41, with: $0) }
        part += key.sign(.card, part).bytes
        var writer = ByteWriter(capacity: 1_024)
        writer.byte(1)
        writer.identifier(node.identity.person)
        let identity = identity(of: node)
        writer.number(UInt64(identity.count))
        for operation in identity { writer.counted(operation) }
        writer.number(1)
        writer.counted(part)
        return writer.bytes
    }

    private func prekeys(of key: DeviceSigningKey) -> [PrekeyCertificate] {
        let (one, other) = (random.hostile(as: WallTime.self), random.hostile(as: WallTime.self))
        guard one != other else { return [] }
        return [
            PrekeyCertificate.make(
                number: UInt32(truncatingIfNeeded: random.hostile()),
                notBefore: min(one, other),
                notAfter: max(one, other),
                key: PrivateLeaf.generate(using: &random).publicKey, by: key)
        ]
    }

    /// What a person's devices are; now and then with an operation of any place.
    private func identity(of node: SimulatedNode) -> [[UInt8]] {
        let log = node.core.node.log
        guard random.happens(onceIn: 6) else { return log.encoded }
        let (key, noiseKey) = (
            DeviceSigningKey.generate(using: &random),
            DeviceNoiseKey.generate(using: &random).publicKey
        )
        let proof = IdentityOperation.proofOfPossession(
            to: log.person, by: key, noiseKey: noiseKey)
        let last = log.operations.last { $0.author == node.identity.device }
        let operation = IdentityOperation(
            .init(
                person: log.person, author: node.identity.device,
                sequence: random.flip() ? (last.map { $0.sequence + 1 } ?? 0) : random.hostile(),
                previous: last?.id ?? random.identifier(), dependencies: [],
                content: random.flip()
                    ? .addDevice(device: key.device, noiseKey: noiseKey, flags: 0, proof: proof)
                    : .revokeDevice(device: device(), reason: UInt8(random.next() % 3))),
            signedBy: node.identity.key)
        return log.encoded + [operation.bytes]
    }

    // MARK: Signals

    func signal(in space: SpaceID) -> [UInt8] {
        let call = CallID(Check(high: 1, low: random.next() % 3))
        let text = "v=0"
        let said: CallSignal =
            switch random.next() % 12 {
            case 0, 1: .ring(MediaState(rawValue: 1), elapsed: random.hostile())
            case 2: .ringing
            case 3: .join(MediaState(rawValue: 7))
            case 4: .reject(refusal())
            case 5: .leave(Departure.allCases[random.below(Departure.allCases.count)])
            case 6: .members([ann, ben, eve].map(\.identity.device).sorted())
            case 7: .state(MediaState(rawValue: 3))
            case 8: .leg(.offer(offer(), startsAnew: random.flip(), text))
            case 9: .leg(.answer(offer(), text))
            case 10: .leg(.renegotiate(startsAnew: random.flip()))
            default:
                .leg(.candidate(offer(), Candidate(text: "c", part: "0", index: 255)))
            }
        let body: SignalBody =
            switch random.next() % 4 {
            case 0: .typing(random.flip())
            case 1:
                .presence(
                    Presence.allCases[random.below(Presence.allCases.count)],
                    lastSeen: random.hostile())
            default: .call(call, said)
            }
        // Most are fresh: what is stale goes no further.
        let wall = random.happens(onceIn: 4) ? random.hostile() : now() + random.next() % 2_000
        let stamp = wall << 16 | random.next() % 4
        return Signal(space: space, stamp: Stamp(stamp), body: body).encoded()
    }

    private func refusal() -> ParleySignalling.Refusal {
        ParleySignalling.Refusal(rawValue: UInt8(1 + random.next() % 6)) ?? .declined
    }

    private func offer() -> UInt64 { random.flip() ? 1 + random.next() % 3 : random.hostile() }
}
