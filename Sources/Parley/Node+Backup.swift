import Foundation
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyReconciliation
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// The content of a backup, as of one instant.
///
/// Logs only grow, so their records of that instant say what belongs to it while the node
/// continues.
private struct BackupPlan: Sendable {
    var person: PersonID
    var root: DeviceID
    var name: String
    var about: BackupAbout
    var publicKey: BackupPublicKey
    var values: [BackupItem]
    var spaces: [(space: SpaceRecord, logs: [LogRecord])]
    var forks: [ForkEvidence]
    var files: [HeldFile]
    /// What this device wrote above the forks of its logs.
    var leftOutCount: Int
    /// Conversations of which nothing here says that this person is in them.
    var unknownCount: Int
    /// Operations that repairs have lost.
    var lostCount: Int
}

extension BackupPlan {
    init(_ views: Views, _ choice: BackupFiles) throws {
        let root = views.core.node.log.root
        guard let key = try NodeKeys.backupCertificate(of: root, in: views.store)?.key(of: root)
        else {
            throw NodeError(
                "no-backup-key",
                "This device has no key for backups that your recovery code has signed.",
                hint: "`parley recovery check` asks for the recovery code, once.")
        }
        publicKey = key
        (person, self.root) = (views.ownPerson, root)
        name = try CardReader.name(of: person, views.store)
        about = BackupAbout(
            device: views.core.node.device, time: SystemClock.now.wall,
            identity: views.core.node.operations)
        values = []
        files = try views.files(for: choice)
        let blobs = Set(files.map(\.blob.bytes))
        for table in BackupItem.tables {
            for (key, value) in try views.store.values(table) {
                // Nothing is said about files that are left out.
                if table == .heldFile, !blobs.contains(key) { continue }
                values.append(.value(table: table, key: key, value: value))
            }
        }
        (spaces, unknownCount) = ([], 0)
        for space in try views.store.spaces() {
            // Control first: everything else is judged by it.
            let logs = try views.store.agreedLogs(in: space.number).filter { !$0.spans.isEmpty }
                .sorted { ($0.lane.rawValue, $0.tag) < ($1.lane.rawValue, $1.tag) }
            // Nothing could be done with it where it is restored, as here.
            let roster = try RosterReader.judge(of: space, in: views.store).roster
            guard !roster.devicesEver(of: person).isEmpty else {
                unknownCount += logs.reduce(0) { $0 + $1.heldCount }
                continue
            }
            spaces.append((space, logs))
        }
        forks = try views.store.forks()
        leftOutCount = try views.writtenCounts(try views.store.spaces()).stranded
        lostCount = try views.lostByRepairs().reduce(0) { $0 + $1.operationCount }
    }
}

extension Node {
    /// Answers ``CreateBackup``. Only the recovery code opens the file.
    func writeBackup(
        to file: String, replacing: Bool, files: BackupFiles
    ) async throws -> BackupReport {
        let plan = try await running.read { try BackupPlan($0, files) }
        var random = SystemRandom()
        guard let sealer = BackupSealer(to: plan.publicKey, using: &random) else {
            throw NodeError("damaged", "The key for backups is damaged.")
        }
        do {
            if let found = try BackupWriter.occupant(of: file, besides: sealer),
                !replacing || !found.isOfSameCode
            {
                throw NodeError(replacing: found, at: file)
            }
            let writer = try BackupWriter(path: file, sealer: sealer)
            let proof = try await write(plan, to: writer)
            return BackupReport(plan, proof, file: file, byteCount: try writer.finish())
        } catch let error as HomeError {
            throw NodeError(error)
        } catch let error as StoreError {
            throw NodeError(error)
        } catch let error as BackupFault {
            throw NodeError(error, file: file)
        }
    }

    /// The content of a backup, verified as its reader verifies it, and how much is left out as
    /// unproven.
    fileprivate final class Proof {
        private(set) var check: BackupCheck
        private(set) var unsignedCount: Int
        private let writer: BackupWriter

        init(_ plan: BackupPlan, writingTo writer: BackupWriter) {
            check = BackupCheck(root: plan.root)
            unsignedCount = plan.unknownCount
            self.writer = writer
        }

        /// So many operations prove nothing to anybody, and are left out.
        func leaveOut(_ count: Int) { unsignedCount += count }

        /// Adds an item to the backup, which does not hold without it.
        func require(_ item: BackupItem) throws {
            _ = try check.take(item)
            try writer.append(item.encoded)
        }

        /// Adds an item to the backup; one that a reader would refuse is left out.
        ///
        /// - Returns: whether it was added.
        func add(_ item: BackupItem) throws -> Bool {
            do {
                _ = try check.take(item)
            } catch BackupFault.unproven {
                return false
            }
            try writer.append(item.encoded)
            return true
        }
    }

    /// Writes all items, a frame at a time, so that the node is never kept from its work for long.
    private func write(
        _ plan: BackupPlan, to writer: BackupWriter
    ) async throws -> Proof {
        let proof = Proof(plan, writingTo: writer)
        try proof.require(.about(plan.about))
        for value in plan.values { try proof.require(value) }
        for (space, logs) in plan.spaces {
            try Task.checkCancellation()
            try proof.require(.space(space.id, space.kind))
            for fork in plan.forks where fork.proof.space == space.id {
                // What is above an unproven point is left out as well.
                _ = try proof.add(.frame(Frame.fork(fork.proof).encoded()))
            }
            for log in logs { try await write(log, of: space, proof) }
        }
        for file in plan.files { try await write(file) { try proof.require($0) } }
        try proof.require(
            .end(
                spaceCount: proof.check.spaceCount, operationCount: proof.check.operationCount))
        return proof
    }

    private func write(
        _ log: LogRecord, of space: SpaceRecord, _ proof: Proof
    ) async throws {
        for span in log.spans {
            var next = span.first
            while next <= span.last {
                try Task.checkCancellation()
                let place = next
                let run = try await running.read { views in
                    try RunReader.forward(
                        log, from: place, room: Limits.operationsFrameByteCount,
                        bringsAnchor: true, store: views.store)
                }
                // What no signature reaches proves nothing to anybody, and is left out.
                guard let run else {
                    proof.leaveOut(Int(clamping: span.last - next) + 1)
                    break
                }
                let frame = Frame.operations(
                    Operations(space: space.id, endsAnswer: false, runs: [run]))
                if try !proof.add(.frame(frame.encoded())) {
                    proof.leaveOut(run.operations.count)
                }
                next = run.last + 1
            }
        }
    }

    /// Reads all of a backup and proves it: that nothing is cut off or changed, every chain, every
    /// signature. No node is needed, and none is touched.
    ///
    /// - Parameters:
    ///   - file: the path of the backup.
    ///   - code: the recovery code, as it is typed.
    ///   - progress: told the bytes that were read, and the bytes of the file.
    public static func verifyBackup(
        file: String, code: String, progress: @Sendable (Int, Int) -> Void = { _, _ in }
    ) throws -> BackupReport {
        let code = try RecoveryCode(person: code)
        return try Self.explainingBackup(file) {
            let reader = try BackupReader(path: absolute(file), key: code.backupKey)
            var check = BackupCheck(code)
            var name = ""
            while let step = try check.next(from: reader) {
                if case .value(.card, let key, let value) = step,
                    key == check.identity?.person.bytes
                {
                    name = CardReader.name(in: value)
                }
                progress(reader.readByteCount, reader.byteCount)
            }
            return BackupReport(check, name: name, file: absolute(file), reader.byteCount)
        }
    }

    /// Turns problems with a backup into messages for a person.
    static func explainingBackup<R>(_ file: String, _ body: () throws -> R) throws -> R {
        do {
            return try explaining(body)
        } catch let error as BackupRejection {
            throw NodeError(error, file: file)
        } catch let error as BackupFault {
            throw NodeError(error, file: file)
        }
    }
}

extension BackupReport {
    fileprivate init(
        _ plan: BackupPlan, _ proof: Node.Proof, file: String, byteCount: Int
    ) {
        let check = proof.check
        self.init(
            file: file, byteCount: byteCount, name: plan.name, person: plan.person.description,
            device: plan.about.device.description, time: plan.about.time,
            contactCount: check.contactCount, conversationCount: check.conversationCount,
            logCount: check.logCount, operationCount: check.operationCount,
            fileCount: check.fileCount,
            leftOutCount: plan.leftOutCount > 0 ? plan.leftOutCount : nil,
            unsignedCount: proof.unsignedCount > 0 ? proof.unsignedCount : nil,
            lostCount: plan.lostCount > 0 ? plan.lostCount : nil)
    }

    init(_ check: BackupCheck, name: String, file: String, _ byteCount: Int) {
        self.init(
            file: file, byteCount: byteCount, name: name,
            person: check.identity?.person.description ?? "",
            device: check.about?.device.description ?? "", time: check.about?.time ?? 0,
            contactCount: check.contactCount, conversationCount: check.conversationCount,
            logCount: check.logCount, operationCount: check.operationCount,
            fileCount: check.fileCount)
    }
}

/// Where a path of the caller's leads, whatever the folder of the process that goes there.
func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    return FileManager.default.currentDirectoryPath + "/" + path
}
