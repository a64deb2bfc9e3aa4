import ParleyLedger
import ParleySealing
import ParleySimulation
import ParleyWire

@testable import ParleyRoster

/// Operations of the control lane that read, by a person whose keys are drawn.
private struct Deeds: Sendable {
    static let all = Result { try Deeds() }

    let drafts: [(kind: OperationKind, payload: [UInt8])]
    /// The founder, and a group with its first operation.
    let device: DeviceID
    let genesis: OperationID
    let graph: ControlGraph

    init() throws {
        var random = SeededRandom(seed: 50)
        let key = DeviceSigningKey.generate(using: &random)
        let log = try IdentityLog.founded(
            root: .generate(using: &random), device: key,
            noiseKey: DeviceNoiseKey.generate(using: &random).publicKey, time: 5, using: &random)
        let place = LogPlace(
            device: key.device, lane: .content, sequence: 9, operation: OperationID { $0[0] = 1 })
        let newcomer = Newcomer(
            person: log.person, name: "Ada", identity: log.encoded,
            prekeys: [
                PrekeyCertificate.make(
                    number: 1, notBefore: 0, notAfter: 1,
                    key: PrivateLeaf.generate(using: &random).publicKey, by: key)
            ], horizon: Horizon([place]))
        let invite = OperationID { $0[0] = 2 }
        var rules = GroupRules()
        for act in GroupAct.allCases { rules[act] = act == .pin ? .everybody : .admins }
        let drafts = [
            AddMember(newcomer, role: .admin).draft(),
            RemoveMember(log.person, cut: Cut([place])).draft(),
            SetRole(log.person, role: .reader, cut: Cut([place])).draft(), Leave().draft(),
            Accept().draft(),
            Ident(person: log.person, identity: log.encoded, change: .add).draft(),
            Ident(
                person: log.person, identity: log.encoded,
                change: .revoke(key.device, cut: Cut([place]))
            ).draft(),
            SpaceSettings(history: .days(9), rotationHours: 7, rules: rules).draft(),
            GroupInvite.open(key: key.device, role: .member, uses: 3, expires: 99).draft(),
            GroupInvite.end(invite).draft(),
            Redeem(
                invite: invite, newcomer: newcomer, device: key.device,
                signature: Redeem.signature(
                    to: invite, in: SpaceID { _ in }, for: log.person, key.device, with: key),
                departures: [invite, OperationID { $0[0] = 3 }],
                consent: Redeem.consent(
                    to: invite, in: SpaceID { _ in }, for: log.person, after: [], with: key)
            ).draft(),
        ]
        let founding = Genesis(
            kind: .group, creator: key.device, random: [UInt8](repeating: 1, count: 16),
            founders: [
                Founder(
                    person: log.person, role: .owner, name: "Ada", identity: log.encoded,
                    prekeys: newcomer.prekeys)
            ])
        let first = founding.draft()
        self.drafts = (drafts + [first]).map { ($0.kind, $0.payload ?? []) }
        device = key.device
        var graph = ControlGraph(space: founding.space(at: 0))
        genesis = try Self.add(
            first.kind, first.payload ?? [], at: 0, by: device, after: nil, to: &graph)
        self.graph = graph
    }

    /// Puts an operation of the founder's into a graph; returns what it is called.
    static func add(
        _ kind: OperationKind, _ payload: [UInt8], at place: UInt64, by device: DeviceID,
        after previous: OperationID?, to graph: inout ControlGraph
    ) throws -> OperationID {
        let log = OperationHash.log(space: graph.space, device: device, lane: .control)
        let operation = try Operation.make(
            OperationHeader(kind: kind, wallClock: 0, clock: place), payload: payload)
        let id = OperationHash.operation(
            operation, after: previous ?? OperationID(reinterpreting: log))
        let stored = StoredOperation(
            number: OperationNumber(0), log: LogNumber(0), sequence: place, id: id,
            operation: operation, stand: Stand(wallClock: operation.header.wallClock))
        graph.add(VerifiedOperation(stored: stored, tag: LogTag(log)), by: device)
        return id
    }
}

extension Decoder {
    static let control: [Decoder] = [
        Decoder(
            name: "control payloads",
            sources: [
                "Sources/Roster/Membership.swift": 6, "Sources/Roster/GroupInvite.swift": 2,
                "Sources/Roster/SpaceSettings.swift": 1,
            ], hasOneSpelling: false, inputs: { try deeds() },
            decode: { read($0) ? $0 : nil }),
        // The founder writes the same payload as every kind: whatever it does to the roster.
        Decoder(
            name: "control operations", sources: [:], hasOneSpelling: false,
            inputs: { try deeds() }, decode: { taken($0) ? $0 : nil }),
    ]

    private static func deeds() throws -> [[UInt8]] {
        try Deeds.all.get().drafts.map { $0.payload }
    }

    private static let kinds: [OperationKind] = (1...15).map { OperationKind(rawValue: $0) }

    private static func read(_ payload: [UInt8]) -> Bool {
        let wishes = kinds.contains { kind in (try? Candidate.Wish(kind, payload)) != nil }
        // Consent is no wish: the roster is the same without it.
        let accepts = (try? Accept(payload: payload)) != nil
        return wishes || accepts
    }

    private static func taken(_ payload: [UInt8]) -> Bool {
        guard !payload.isEmpty, payload.count < 40_000, let deeds = try? Deeds.all.get() else {
            return false
        }
        var graph = deeds.graph
        var previous = deeds.genesis
        for (place, kind) in kinds.enumerated() {
            let added = try? Deeds.add(
                kind, payload, at: UInt64(place) + 1, by: deeds.device, after: previous, to: &graph)
            guard let added else { return false }
            previous = added
            _ = graph.roster()
            _ = graph.reason(of: added)
        }
        return true
    }
}
