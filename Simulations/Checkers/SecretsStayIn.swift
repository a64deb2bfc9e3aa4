import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleySimulation
import ParleyWire

/// I16: who is out reads nothing new, whatever they kept: no secret in their store opens an epoch
/// that was made for others, and nothing is in it whose author knew that they were out. And who is
/// in can open what is sealed for those who are. Words are not judged where a fork of lane 0 is proven:
/// by what stands below it, those who are out may have been in.
///
/// Whoever is out is tried with all that they have saved, thieves and liars as well.
/// Source: `Protocol/09-epochs.md`.
final class SecretsStayIn: Checker {
    static let invariant = "I16"
    private(set) var checkCount = 0
    private let book = NaiveBook()
    /// Devices that may have lost keys.
    private var forgetful: Set<DeviceID> = []

    /// When each device died last, in milliseconds of the world.
    private var deaths: [DeviceID: UInt64] = [:]

    private struct Epoch {
        var act: NaiveRosters.Act
        var stand: UInt64
        var place: EpochPlace
        var body: EpochBody
    }

    /// One space, as an honest member holds it.
    private struct Reading {
        var node: SimulatedNode
        var space: SpaceRecord
        var control: NaiveControl
    }

    func died(_ node: SimulatedNode, losingPower: Bool) throws {
        deaths[node.identity.device] = node.world?.now
    }

    func wasSetBack(_ node: SimulatedNode) { forgetful.insert(node.identity.device) }

    /// Everything is tried once, in the end: what somebody saved does not go away.
    func glanced(at world: World) throws {}

    func looked(at world: World) throws { try look(at: world, isSettled: false) }

    func settled(_ world: World) throws { try look(at: world, isSettled: true) }

    private func look(at world: World, isSettled: Bool) throws {
        // Nobody reads what lies on a disk that rotted, and whose home does not open.
        let nodes = world.nodes.filter { $0.refusal == nil }
        for reading in try readings(of: world) where !reading.control.rosters.isForked {
            let epochs = try epochs(of: reading)
            // Whom a liar seals for is the liar's affair.
            let honest = epochs.filter { !world.liars.contains($0.act.device) }
            for node in nodes { try tryToOpen(honest, reading, node) }
            if isSettled { try lookForKeys(to: epochs, reading, world) }
            let out = nodes.filter {
                reading.control.now.former[$0.identity.device]?.ends.isEmpty == false
                    && !reading.control.wasBack($0.identity.device)
            }
            // By what stands below a fork they may have been in, until somebody vouched for a branch.
            guard !out.isEmpty, reading.control.rosters.forks.isEmpty else { continue }
            try lookForNews(of: reading, at: out, besides: world.liars)
        }
    }

    /// Each space once, at whoever of its honest members knows most of lane 0. Who is out and has not
    /// heard so knows nothing of what was given since to others whom they take to be out.
    private func readings(of world: World) throws -> [Reading] {
        var all: [SpaceID: [Reading]] = [:]
        for node in world.honestNodes where node.refusal == nil {
            for space in try node.store.spaces() {
                let control = try book.read(space, of: node)
                all[space.id, default: []].append(
                    Reading(node: node, space: space, control: control))
            }
        }
        return all.keys.sorted().compactMap { space in
            let readings = all[space] ?? []
            let members = readings.filter { reading in
                let device = reading.node.identity.device
                return reading.control.now.owners[device] != nil
                    && !readings.contains { other in
                        other.control.held.count > reading.control.held.count
                            && other.control.now.owners[device] == nil
                    }
            }
            let most = members.map(\.control.held.count).max()
            return members.first { $0.control.held.count == most }
        }
    }

    // MARK: Keys

    private func epochs(of reading: Reading) throws -> [Epoch] {
        let (store, rosters) = (reading.node.store, reading.control.rosters)
        var found: [Epoch] = []
        let graph = try RosterReader.judge(of: reading.space, in: store).graph
        for act in reading.control.held.sorted().map({ rosters.acts[$0] }) {
            guard let log = try store.log(act.tag, in: reading.space.number),
                let stored = try store.operation(at: act.sequence, in: log.number),
                stored.operation.header.kind.rawValue == 7, let payload = stored.operation.payload,
                // A liar's need not be one.
                let body = try? EpochBody(bytes: payload)
            else { continue }
            let before =
                act.sequence == 0
                ? nil : try store.operation(at: act.sequence - 1, in: log.number)
            found.append(
                Epoch(
                    act: act,
                    stand: graph.stand(at: LogTip(tag: act.tag, sequence: act.sequence)) ?? 0,
                    place: EpochPlace(
                        space: reading.space.id, author: act.device, sequence: act.sequence,
                        previous: before?.id ?? OperationID(reinterpreting: log.id),
                        dependencies: stored.operation.header.dependencies),
                    body: body))
        }
        return found
    }

    /// Somebody tries everything in their store on epochs that are not for them.
    private func tryToOpen(
        _ epochs: [Epoch], _ reading: Reading, _ node: SimulatedNode
    ) throws {
        let (device, rosters) = (node.identity.device, reading.control.rosters)
        let foreign = epochs.filter { epoch in
            let past = rosters.fold(epoch.act.past)
            // Of what hangs on a branch that does not count, nobody can tell who was in.
            return past.kind != nil && past.owners[device] == nil && !epoch.act.hasSeenBranch
        }
        guard !foreign.isEmpty else { return }
        let own = try node.store.space(reading.space.id)?.number
        let leaves = try Self.leaves(of: node, in: own)
        for epoch in foreign {
            checkCount += 1
            let name = epoch.act.id.bytes
            let isHeld = try [SecretPurpose.seed, .epochKeys].contains { purpose in
                try own.map { try node.store.secret(purpose, name, in: $0) != nil } ?? false
            }
            let isOpened = leaves.contains {
                // That it cannot is what is hoped for, for whatever reason.
                (try? epoch.body.open(at: epoch.place, as: device, with: $0)) != nil
            }
            guard !isHeld, !isOpened else {
                throw violation(
                    "\(node.name) has the keys of an epoch that is not for it: place"
                        + " \(epoch.act.sequence) of \(epoch.act.tag)")
            }
        }
    }

    private static func leaves(
        of node: SimulatedNode, in space: SpaceNumber?
    ) throws(StoreError) -> [PrivateLeaf] {
        var secrets = try node.store.secrets(.prekey, in: nil)
        if let space { secrets += try node.store.secrets(.leaf, in: space) }
        // A leaf is kept with a time behind it.
        return secrets.map { secret in
            PrivateLeaf(scalar: secret.secret.withUnsafeBytes { Secret($0.prefix(32)) })
        }
    }

    /// The newest epoch for the roster of now: who is in has its keys, or said that they have not.
    private func lookForKeys(
        to epochs: [Epoch], _ reading: Reading, _ world: World
    ) throws {
        let now = reading.control.now
        let fitting = epochs.filter {
            $0.body.rosterDigest == now.digest && now.owners[$0.act.device] != nil
        }
        // No clock holds on to one that the author of another had seen.
        let heads = fitting.filter { epoch in
            !fitting.contains { other in
                other.act.past.contains { reading.control.rosters.acts[$0].id == epoch.act.id }
            }
        }
        // With a liar's in use, older ones may be gone.
        guard let epoch = heads.max(by: { ($0.stand, $1.act.id) < ($1.stand, $0.act.id) }),
            !world.liars.contains(epoch.act.device)
        else { return }
        for node in world.honestNodes
        where now.owners[node.identity.device] != nil
            && !forgetful.contains(node.identity.device)
            // Who has not accepted opens nothing yet.
            && !reading.control.invited.contains(node.identity.person)
        {
            guard let space = try node.store.space(reading.space.id),
                // It may have blocked whoever could bring it.
                let log = try node.store.log(epoch.act.tag, in: space.number),
                log.holds(epoch.act.sequence)
            else { continue }
            checkCount += 1
            let keys = try node.store.secret(.epochKeys, epoch.act.id.bytes, in: space.number)
            // A clock that jumps by years makes keys look old, and they are dropped: that is said.
            if try keys == nil && (hasSaidSo(node, in: space) || mayStillSay(node, epoch, space)) {
                continue
            }
            guard keys != nil else {
                throw violation("\(node.name) cannot open what is sealed for those who are in")
            }
        }
    }

    /// Whether a device has said of any epoch that it cannot open it: it says so once an hour.
    private func hasSaidSo(
        _ node: SimulatedNode, in space: SpaceRecord
    ) throws(StoreError) -> Bool {
        let id = OperationHash.log(
            space: space.id, device: node.identity.device, lane: .control)
        guard let log = try node.store.log(LogTag(id), in: space.number) else { return false }
        return try node.store.operations(in: log.number, 0...UInt64.max, limit: .max)
            .contains { $0.operation.header.kind.rawValue == 12 }
    }

    /// Whether a device that has not the secrets to open an epoch began anew so lately that it may not have
    /// looked yet: it does so 5 to 10 minutes after it first hears of the space.
    private func mayStillSay(
        _ node: SimulatedNode, _ epoch: Epoch, _ space: SpaceRecord
    ) throws(StoreError) -> Bool {
        let device = node.identity.device
        guard let died = deaths[device], let now = node.world?.now, now < died + 1_800_000 else {
            return false
        }
        return try !Self.leaves(of: node, in: space.number).contains {
            // Why it does not open matters to nobody here.
            (try? epoch.body.open(at: epoch.place, as: device, with: $0)) != nil
        }
    }

    // MARK: Words

    /// What was written by somebody who knew that a device is out is not in its store.
    private func lookForNews(
        of reading: Reading, at out: [SimulatedNode], besides liars: Set<DeviceID>
    ) throws {
        let (store, control) = (reading.node.store, reading.control)
        for log in try store.logs(in: reading.space.number)
        where log.lane != .control && log.lane != .receipts && !liars.contains(log.device) {
            var judge = NaiveJudge(control, log)
            for stored in try store.operations(in: log.number, 0...UInt64.max, limit: .max) {
                let operation = VerifiedOperation(stored: stored, tag: log.tag)
                guard let view = judge.view(of: operation) else { continue }
                for node in out {
                    let ends = control.now.former[node.identity.device]?.ends ?? []
                    if ends.isDisjoint(with: view.live) { continue }
                    checkCount += 1
                    // What lies above a hole was given by somebody who could not know what it follows.
                    guard let space = try node.store.space(reading.space.id),
                        let held = try node.store.log(log.tag, in: space.number),
                        held.wholeThrough ?? 0 >= stored.sequence, held.holds(stored.sequence)
                    else { continue }
                    throw violation(
                        "\(node.name) holds what was written once it was out: place"
                            + " \(stored.sequence) of \(log.tag)")
                }
            }
        }
    }
}

extension NaiveControl {
    /// Whether a device that is out had come back, by what does not hold any more: then it was given
    /// what had been written meanwhile.
    fileprivate func wasBack(_ device: DeviceID) -> Bool {
        let ends = now.former[device]?.ends ?? []
        return now.admitted.subtracting(now.live).contains { act in
            let devices = rosters.admissions[act]?.devices.values.reduce([]) { $0 + $1 } ?? []
            return devices.contains(device) && !rosters.acts[act].past.isDisjoint(with: ends)
        }
    }
}
