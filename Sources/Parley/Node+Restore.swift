import ParleyFiles
import ParleyLedger
import ParleyNodeCore
import ParleyReconciliation
import ParleySealing
import ParleyStorage
import ParleyWire

extension Node {
    /// Makes a new device of a person, in a folder that holds no node yet, from a backup.
    ///
    /// A backup contains no key of any device, so nothing in it can be used twice: the new device
    /// has its own keys and logs, certified by the recovery code's root key, and catches up from
    /// peers. Devices that are not kept are revoked, for good.
    ///
    /// - Parameters:
    ///   - settings: where the new home is to be.
    ///   - file: the path of the backup.
    ///   - recoveryCode: the recovery code, as it is typed.
    ///   - found: what somebody else knows about the person, if one was asked.
    ///   - keep: devices that stay the person's, in hex, or an unambiguous start of it.
    ///   - progress: told the bytes that were read, and the bytes of the file.
    /// - Throws: ``NodeError``. Nothing is left in the folder then.
    public static func restore(
        _ settings: NodeSettings, backup file: String, recoveryCode: String,
        found: FoundPerson? = nil, keep: [String] = [],
        progress: @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws -> (node: Node, report: RestoreReport) {
        let code = try RecoveryCode(person: recoveryCode)
        let (node, report) = try explainingBackup(file) {
            try making(settings) { store in
                let reader = try BackupReader(path: absolute(file), key: code.backupKey)
                var restoring = Restoring(code)
                return try restoring.run(reader, into: store, found: found, keep: keep, progress)
            }
        }
        return try await begin(node, report, found)
    }

    /// Makes a new device of a person from the recovery code alone, in a folder that holds no node
    /// yet: who the person is, somebody else has told.
    ///
    /// Conversations come back from their members; what only lost devices had is lost.
    public static func recover(
        _ settings: NodeSettings, recoveryCode: String, found: FoundPerson, keep: [String] = []
    ) async throws -> (node: Node, report: RestoreReport) {
        let code = try RecoveryCode(person: recoveryCode)
        guard found.identity.root == code.rootKey.device else {
            throw NodeError("another-code", "That is the recovery code of somebody else.")
        }
        let (node, report) = try making(settings) { store in
            try store.transact(.normal) {
                try store.setValue(found.card.encoded, .card, found.card.person.bytes)
                try NodeCore.noteRecovered(in: store)
            }
            var report = try NewDevice.make(
                of: found.identity, keeping: keep, code: code, in: store)
            report.name = found.name
            return report
        }
        return try await begin(node, report, found)
    }

    /// Asks somebody who the person is that a recovery code belongs to.
    ///
    /// - Parameters:
    ///   - recoveryCode: the recovery code, as it is typed.
    ///   - link: an invite from a contact, or from an own device that is not lost.
    ///   - network: as in ``NodeSettings/network``.
    public static func find(
        recoveryCode: String, from link: String, network: String = "parley"
    ) async throws -> FoundPerson {
        let code = try RecoveryCode(person: recoveryCode)
        let invite: Invite
        do {
            invite = try Invite(link: link)
        } catch {
            throw NodeError(
                "bad-link", "That is not an invite link, or part of it is missing.", not: link,
                prefix: "parley:1:", hint: "An invite begins with `parley:1:` and is one long word."
            )
        }
        let network = NetworkID(named: network)
        var targets = invite.target.map { [$0] } ?? []
        if targets.isEmpty {
            targets = CardReader.targets(of: try await card(of: invite, network))
        }
        let answer = await RecoveryCall.ask(targets, code, network: network)
        guard let found = answer.card else {
            guard answer.wasReached else {
                throw NodeError(
                    "not-reached", "The person who made that invite cannot be reached.",
                    hint: "Their node must be running, where this machine can reach it.")
            }
            throw NodeError(
                "not-known",
                "The person who made that invite knows nobody with this recovery code.",
                hint: "Ask somebody who was your contact, or use a backup.")
        }
        do {
            return FoundPerson(
                card: found, identity: try IdentityLog(operations: found.identity), invite: invite)
        } catch {
            throw NodeError("not-known", "What they know of you is not valid.")
        }
    }

    /// The card of the inviter for an invite that names a relay.
    private static func card(of invite: Invite, _ network: NetworkID) async throws -> Card {
        switch await CardCall.card(for: invite, network: network) {
        case .found(let card): return card
        case .absent:
            throw NodeError(
                "no-card", "The card of the person who made that invite is not on its relay.",
                hint: "Their node must have run, where it reaches the relay, since they made the "
                    + "invite.")
        case .unreached:
            throw NodeError(
                "not-reached", "The relay that the invite names cannot be reached from here.",
                hint: "Try again when it can: the person who made the invite is found through it.")
        }
    }

    private static func begin(
        _ node: Node, _ report: RestoreReport, _ found: FoundPerson?
    ) async throws -> (node: Node, report: RestoreReport) {
        await node.begin()
        var report = report
        // Damage may have taken the name: the device is made, and its person names themselves.
        if report.name.isEmpty, let found { report.name = found.name }
        let name = report.name.isEmpty ? nil : report.name
        _ = try await node.running.perform(.setProfile(name: name, addresses: nil))
        if let invite = found?.invite, invite.person.description != report.person {
            // They are a contact again. A link that has expired meanwhile is no reason to fail.
            _ = try? await node.running.perform(.acceptInvite(invite, alias: ""))
        }
        return (node, report)
    }

    /// The person's devices as far as a backup and the asked peer know, in hex, ascending, and
    /// which of them made the backup. No node is needed, and none is touched.
    public static func devices(
        inBackup file: String, recoveryCode: String, found: FoundPerson? = nil
    ) throws -> (devices: [String], maker: String, time: UInt64) {
        let code = try RecoveryCode(person: recoveryCode)
        return try explainingBackup(file) {
            let reader = try BackupReader(path: absolute(file), key: code.backupKey)
            var check = BackupCheck(code)
            _ = try check.next(from: reader)
            let (about, identity) = try check.maker(with: found)
            return (
                identity.devices.map(\.device.description), about.device.description, about.time
            )
        }
    }
}

/// Who a recovery code belongs to, as somebody else knows them.
public struct FoundPerson: Sendable {
    let card: Card
    let identity: IdentityLog
    let invite: Invite

    /// Their name.
    public var name: String { card.name }
    /// The devices that are theirs now, in hex, ascending.
    public var devices: [String] { identity.devices.map(\.device.description) }
    /// Whether the one who was asked is a device of the same person.
    public var isAskedOfOwnDevice: Bool { invite.person == card.person }
}

/// One restore, from the first item of a backup to a home that can be opened.
private struct Restoring {
    /// Operations in one transaction, about.
    private static let batchCount = 4096

    private let code: RecoveryCode
    private var check: BackupCheck
    private var name = ""
    private var pendingCount = 0
    /// Conversations of which nothing says that the person is in them.
    private var unknownCount = 0

    init(_ code: RecoveryCode) {
        self.code = code
        check = BackupCheck(code)
    }

    mutating func run(
        _ reader: BackupReader, into store: SQLiteStore, found: FoundPerson?, keep: [String],
        _ progress: @Sendable (Int, Int) -> Void
    ) throws -> RestoreReport {
        store.expectBulk(true)
        try store.begin(.normal)
        do {
            while let step = try check.next(from: reader) {
                try take(step, store)
                if pendingCount >= Self.batchCount {
                    pendingCount = 0
                    try store.commit()
                    try store.begin(.normal)
                }
                progress(reader.readByteCount, reader.byteCount)
            }
            try store.commit()
        } catch {
            store.rollback()
            throw error
        }
        let (about, identity) = try check.maker(with: found)
        try foldSpaces(of: identity.person, store)
        try store.transact(.normal) { try NodeCore.noteFilesUnlooked(in: store) }
        store.expectBulk(false)
        var report = try NewDevice.make(
            of: identity, keeping: keep, code: code, in: store)
        report.name = name
        report.backupTime = about.time
        report.conversationCount = check.conversationCount - unknownCount
        report.operationCount = check.operationCount
        return report
    }

    private mutating func take(_ step: BackupCheck.Step, _ store: SQLiteStore) throws {
        switch step {
        case .about, .end:
            return
        case .value(let table, let key, let value):
            if table == .card, key == check.identity?.person.bytes {
                name = CardReader.name(in: value)
            }
            try store.setValue(value, table, key)
        case .space(let id, let kind):
            _ = try store.addSpace(id, kind: kind)
        case .fork(let evidence, let id):
            guard let space = try store.space(id) else { throw BackupFault.outOfOrder }
            let log = try log(
                evidence.log, evidence.proof.left.device, evidence.proof.left.lane, in: space, store
            )
            try store.addFork(evidence, in: log.number)
        case .operations(let runs, let id):
            guard let space = try store.space(id) else { throw BackupFault.outOfOrder }
            for run in runs { try keep(run, in: space, store) }
        case .section(let section): try store.blobs.restore(section)
        case .chunk(let chunk): try store.blobs.keep(chunk)
        }
    }

    private mutating func keep(
        _ run: VerifiedRun, in space: SpaceRecord, _ store: SQLiteStore
    ) throws {
        var log = try log(run.log, run.device, run.lane, in: space, store)
        _ = try store.insert(run.operations, in: log.number)
        log.hold(run)
        try store.update(log)
        for head in run.heads { try store.addHead(head, in: log.number) }
        pendingCount += run.operations.count
    }

    private func log(
        _ id: LogID, _ device: DeviceID, _ lane: Lane, in space: SpaceRecord,
        _ store: SQLiteStore
    ) throws -> LogRecord {
        if let known = try store.log(LogTag(id), in: space.number) { return known }
        return try store.addLog(id, device: device, lane: lane, in: space.number)
    }

    /// Everything shown follows from the operations, and is recomputed here.
    private mutating func foldSpaces(of person: PersonID, _ store: SQLiteStore) throws {
        for space in try store.spaces() {
            try store.transact(.normal) {
                if try StoredSpace.fold(space, for: person, in: store) { return }
                // The proof may have been lost where the backup was made: everything else is there
                // to come back to.
                try store.removeSpace(space.number)
                if space.kind != .own { unknownCount += 1 }
            }
        }
    }
}

/// A device that the recovery code alone brings into a person's set.
enum NewDevice {
    /// Makes its keys, certifies it, revokes those that are not kept, and keeps all that durably.
    static func make(
        of identity: IdentityLog, keeping keep: [String], code: RecoveryCode, in store: SQLiteStore
    ) throws -> RestoreReport {
        let kept = try devices(keep, of: identity)
        var random = SystemRandom()
        let root = code.rootKey
        let key = DeviceSigningKey.generate(using: &random)
        let noise = DeviceNoiseKey.generate(using: &random)
        let proof = IdentityOperation.proofOfPossession(
            to: identity.person, by: key, noiseKey: noise.publicKey)
        var revoked: [String] = []
        do {
            var log = try identity.merging([
                identity.adding(key.device, noiseKey: noise.publicKey, proof: proof, by: root)
            ])
            for device in identity.devices.map(\.device) where !kept.contains(device) {
                log = try log.merging([log.revoking(device, by: root)])
                revoked.append(device.description)
            }
            try NodeKeys.keep(
                key: key, noise: noise, identity: log,
                backup: code.backupCertificate, in: store)
        } catch let rejection as IdentityRejection {
            throw NodeError(
                "identity-full",
                "This person's list of devices accepts no more changes (\(rejection)).",
                hint: "Create a new identity with `parley init`.")
        }
        // A person who could type the code has it.
        try NodeKeys.noteRecoveryCheck(
            code.backupCertificate, at: SystemClock.now.wall, in: store)
        // Nothing was written by this device yet, and that is what its guard says.
        try store.writeGuard(heads: [])
        return RestoreReport(
            name: "", person: identity.person.description, device: key.device.description,
            revokedDevices: revoked, keptDevices: kept.map(\.description).sorted(),
            backupTime: nil, conversationCount: 0, operationCount: 0)
    }

    private static func devices(
        _ arguments: [String], of identity: IdentityLog
    ) throws -> Set<DeviceID> {
        var kept: Set<DeviceID> = []
        for argument in arguments {
            var resolver = Resolver<DeviceID>(argument)
            for device in identity.devices.map(\.device) {
                resolver.consider(device, name: "", identifier: device.description)
            }
            guard let found = try resolver.thing() else {
                throw NodeError.unknownDevice(
                    argument, among: identity.devices.map(\.device.description))
            }
            kept.insert(found)
        }
        return kept
    }
}
