import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

extension Node {
    /// Compares the indexes of the search with the messages.
    func compareIndexes() async -> DoctorReport.Outcome {
        do {
            let faults = try await compareSearch()
            if faults.isEmpty { return .fine("all of them") }
            return .wrong(
                "\(counted(faults.missingCount, "text")) cannot be found; "
                    + "\(counted(faults.strangeCount, "row")) of words and "
                    + "\(counted(faults.strangeVectorCount, "vector")) without a text; "
                    + "\(counted(faults.unread.count, "vector")) missing or unreadable")
        } catch {
            return .wrong("cannot be read: \(error)")
        }
    }

    /// Looks at a home whose node does not open. Nothing is changed.
    ///
    /// - Parameters:
    ///   - settings: where the home is, and what opens it.
    ///   - reason: why it does not open.
    public static func examine(
        _ settings: NodeSettings, unopened reason: NodeError
    ) -> DoctorReport {
        let unlock: Unlock = settings.passphrase.map { .passphrase($0) } ?? .keyFile
        let findings = Home(settings.home).examine(unlock)
        var report = DoctorReport(
            checks: findings.map { .init(name: $0.name, isFine: $0.isFine, detail: $0.detail) })
        let lacksKeys = reason.code == "no-keys"
        if lacksKeys {
            report.checks.append(
                .init(
                    name: "This device's own keys are there.", isFine: false,
                    detail: reason.message))
        } else if report.isFine {
            // The files are complete, and their content is not.
            report.checks.append(
                .init(name: "The node opens.", isFine: false, detail: reason.message))
        }
        report.isDatabaseDamaged = true
        let isGone = Home(settings.home).lacksDatabase || lacksKeys
        report.advice = isGone ? [reason.hint ?? ""] : []
        if !isGone { report.foretell(settings, unlock) }
        return report
    }

    /// Repairs what can be repaired of a home that no process has open: saves what can be read of a
    /// damaged database into a new one, recomputes views and indexes. The earlier data is kept.
    ///
    /// - Parameters:
    ///   - settings: where the home is, and what opens it.
    ///   - progress: called with the number of rows of each kind found.
    public static func repair(
        _ settings: NodeSettings, progress: (_ meaning: String, _ count: Int) -> Void = { _, _ in }
    ) async throws -> DoctorReport {
        var settings = settings
        settings.isOffline = true
        var report = DoctorReport(checks: [])
        let isRescued = try await needsRescue(settings)
        if isRescued { report = try rescue(settings, progress) }
        do {
            return try await mend(settings, report)
        } catch  where isDamage(error) && !isRescued {
            // What follows from the messages cannot even be recomputed where it is.
            return try await mend(settings, rescue(settings, progress))
        }
    }

    private static func rescue(
        _ settings: NodeSettings, _ progress: (_ meaning: String, _ count: Int) -> Void
    ) throws -> DoctorReport {
        let unlock: Unlock = settings.passphrase.map { .passphrase($0) } ?? .keyFile
        return try explaining { try HomeRepair.run(Home(settings.home), unlock, progress) }
    }

    /// Recomputes what follows from the messages if it does not match, and checks everything again.
    private static func mend(
        _ settings: NodeSettings, _ rescued: DoctorReport
    ) async throws -> DoctorReport {
        var report = rescued
        let node = try await open(settings)
        do {
            let found = try await node.perform(CheckStore())
            if found.needsFolding { try await node.foldAll() }
            if found.needsFolding { report.mended.append("Views were rebuilt.") }
            if found.needsIndexing {
                try await node.perform(RebuildSearch())
                report.mended.append("The search indexes are being rebuilt.")
            }
            if found.needsFiles {
                report.mended += try await node.mendFiles()
            }
            if let name = try await node.running.read({ try $0.formerName() }) {
                // A device that may not write yet is reported as such.
                _ = try? await node.running.perform(.setProfile(name: name, addresses: nil))
            }
            let after = try await node.perform(CheckStore())
            report.checks = after.checks
            // What earlier repairs lost is missing still.
            let told = Set(report.losses.map(\.conversation))
            report.losses += after.losses.filter { !told.contains($0.conversation) }
            report.isDatabaseDamaged = after.isDatabaseDamaged
            // What was taken apart told more about who has it than what is left.
            let isHeldBack = after.advice.contains {
                $0 == DoctorReport.rejoin || $0 == DoctorReport.alone
            }
            if report.advice.isEmpty || !isHeldBack { report.advice = after.advice }
            // It has just been done.
            report.advice.removeAll { $0 == DoctorReport.mendsFiles }
            if report.mended.isEmpty { report.mended.append("Nothing had to be repaired.") }
        } catch {
            await node.shutdown()
            throw error
        }
        await node.shutdown()
        return report
    }

    private static func isDamage(_ error: any Error) -> Bool {
        if let error = error as? NodeError { return error.code == "damaged" }
        return (error as? StoreError)?.code == .corrupt
    }

    private static func needsRescue(_ settings: NodeSettings) async throws -> Bool {
        do {
            let node = try await open(settings)
            let report: DoctorReport
            do { report = try await node.perform(CheckStore()) } catch {
                await node.shutdown()
                throw error
            }
            await node.shutdown()
            return report.isDatabaseDamaged
        } catch let error as NodeError where ["database-gone", "no-keys"].contains(error.code) {
            // One that an interrupted repair put aside can be read; and keys are looked for with
            // everything that a repair has.
            return true
        } catch  where isDamage(error) {
            return true
        }
    }

    /// Recomputes all views, and stores them.
    private func foldAll() async throws {
        do {
            try await running.write { store in
                guard let keys = try NodeKeys(in: store) else { return }
                for space in try store.spaces() {
                    try store.transact(.full) {
                        _ = try StoredSpace.fold(space, for: keys.identity.person, in: store)
                    }
                }
            }
        } catch let error as StoreError {
            throw NodeError(error)
        }
    }
}

extension DoctorReport {
    /// Says what a repair will achieve, so that nobody hopes for more.
    fileprivate mutating func foretell(_ settings: NodeSettings, _ unlock: Unlock) {
        let unfit: NodeError
        do {
            losses = try Node.explaining {
                try HomeRepair.foretell(Home(settings.home), unlock)
            }
            return advise(isAlone: false)
        } catch let error as NodeError where ["no-keys", "unreadable"].contains(error.code) {
            unfit = error
        } catch {
            // A disk that is full or may not be written takes no trial: the repair itself says more.
            return advise(isAlone: false)
        }
        checks.append(
            .init(name: "A repair can save something.", isFine: false, detail: unfit.message))
        advice.append(unfit.hint ?? "")
    }

    fileprivate var needsFolding: Bool { hasFailed("What is shown") }
    fileprivate var needsIndexing: Bool { hasFailed("Words and vectors") }
    fileprivate var needsFiles: Bool { hasFailed("Every file") }

    /// What to do if own operations may be missing.
    static let rejoin =
        "Run the node where it can reach another device of yours or a contact: it writes again "
        + "once it has got back what it wrote before. `parley status` says when."

    /// The same if nobody is known who has them.
    static let alone =
        "Nobody else is known to have what this device wrote and lost, so it no longer writes: it "
        + "could contradict what others have of it. What is left can be read; continue with a "
        + "new device: "
        + NodeError.movingOn

    /// What to do about files that are not as they should be.
    static let mendsFiles =
        "`parley doctor --repair` makes files whole whose bytes are all there. Of others it removes "
        + "damaged parts, and fetches these and missing ones again, but only where somebody else "
        + "is known to have them."

    private func hasFailed(_ beginning: String) -> Bool {
        checks.contains { !$0.isFine && $0.name.hasPrefix(beginning) }
    }

    /// Says what to do about the findings.
    mutating func advise(isAlone: Bool) {
        guard !isFine else { return }
        if isDatabaseDamaged {
            advice.append(
                "Stop the node, and run `parley doctor --repair`: it saves what can be read into a "
                    + "new database and keeps the old one beside it.")
        } else if needsFolding || needsIndexing {
            advice.append("`parley doctor --repair` rebuilds that from the messages.")
        } else if needsFiles {
            advice.append(Self.mendsFiles)
        } else {
            advice.append(isAlone ? Self.alone : Self.rejoin)
        }
    }
}
