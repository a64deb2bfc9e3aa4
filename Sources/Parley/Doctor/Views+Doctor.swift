import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleySealing
import ParleyStorage
import ParleyWire

/// Checks everything that is stored. What cannot be read is reported, and the check continues
/// behind it.
extension Views {
    func doctor() -> DoctorReport {
        var report = DoctorReport(checks: [])
        report.add("The database is sound.", isDamage: true) {
            let complaints = try store.check()
            guard !complaints.isEmpty else { return .fine("every page") }
            return .wrong(HomeFinding.words(of: complaints))
        }
        auditLogs(&report)
        addFormerLosses(to: &report)
        report.add("Every stored key and record can be decrypted.", isDamage: true) {
            let count = try store.strangeRowCount()
            return count == 0 ? .fine("all of them") : .wrong("\(count) cannot")
        }
        // The next look is at a home that is known to be damaged: both say the same.
        let isDamaged = report.isDatabaseDamaged
        report.add("What is shown is what the operations say.", isDamage: false) {
            isDamaged ? .skipped(Self.notCompared) : try foldAgain()
        }
        report.add("The guard and the database match.", isDamage: false) {
            guard let rejoin = core.rejoin else { return .fine("no rollback") }
            return .wrong(rejoin.reason)
        }
        return report
    }

    // MARK: Logs

    private func auditLogs(_ report: inout DoctorReport) {
        var audit = LogAudit(of: core.node.device)
        var unreadable = 0
        for (_, logs) in heldLogs {
            for log in logs {
                do { try audit.check(log, in: store) } catch { unreadable += 1 }
            }
        }
        report.add("Every operation follows from the one before it.", isDamage: true) {
            let figures =
                "\(counted(audit.operationCount, "operation")), \(audit.brokenCount) wrong"
            let orphans = try store.orphanCount()
            var strays = 0
            for log in heldLogs.flatMap(\.logs) { strays += try store.strayCount(in: log) }
            guard unreadable + audit.brokenCount + orphans + strays > 0 else {
                return .fine(figures)
            }
            var words = [figures]
            if unreadable > 0 {
                words.append(counted(unreadable, "log breaks off", "logs break off"))
            }
            if orphans > 0 { words.append("\(orphans) of logs that are not listed") }
            if strays > 0 { words.append("\(strays) at the wrong places") }
            return .wrong(words.joined(separator: ", "))
        }
        report.add("Every log ends on a signature of its device.", isDamage: true) {
            let awaited = audit.awaitedCount > 0 ? ", \(audit.awaitedCount) to come" : ""
            let figures =
                "\(counted(audit.headCount, "signature")), "
                + "\(audit.unsignedCount) missing or wrong\(awaited)"
            return audit.unsignedCount == 0 ? .fine(figures) : .wrong(figures)
        }
        guard unreadable + audit.brokenCount + audit.unsignedCount > 0 else { return }
        report.losses = losses { SoundPart($0, in: store).lostCount }
    }

    /// All spaces with their logs: their records are held in memory.
    private var heldLogs: [(space: SpaceRecord, logs: [LogRecord])] {
        var held: [(space: SpaceRecord, logs: [LogRecord])] = []
        // In memory nothing is damaged.
        guard let spaces = try? store.spaces() else { return [] }
        for space in spaces {
            // As above.
            guard let logs = try? store.logs(in: space.number) else { continue }
            held.append((space, logs))
        }
        return held
    }

    /// What is lost, by conversation, given the loss per log.
    ///
    /// - Parameter absent: knows of logs of which nothing is held.
    func losses(
        absent note: RepairNote = RepairNote(), _ count: (LogRecord) -> Int
    ) -> [DoctorReport.Loss] {
        var losses: [DoctorReport.Loss] = []
        for (space, logs) in heldLogs {
            var (all, own) = (0, 0)
            let isWhole = hasBeginning(logs)
            for log in logs {
                // Nothing can be made of a space whose beginning is gone.
                let lost = isWhole ? count(log) : log.heldCount
                all += lost
                if log.device == core.node.device { own += lost }
            }
            let ownLogs = Lane.allCases.map {
                OperationHash.log(space: space.id, device: core.node.device, lane: $0).description
            }
            for (log, lost) in note.absentLogs(of: space, beside: logs) {
                all += lost
                if ownLogs.contains(log) { own += lost }
            }
            guard all > 0 else { continue }
            let sources = sources(of: space)
            losses.append(
                DoctorReport.Loss(
                    conversation: space.id.description,
                    name: isWhole ? lossName(of: space) : space.nameWithoutBeginning,
                    operationCount: all, ownCount: own, sources: sources ?? [],
                    condition: condition(of: space, sources: sources, isWhole: isWhole)))
        }
        return losses
    }

    private func condition(
        of space: SpaceRecord, sources: [String]?, isWhole: Bool
    ) -> String? {
        guard isWhole else { return nil }
        guard sources != nil else { return DoctorReport.Loss.needsRepair }
        // What cannot be read of its members says nothing of a return.
        return (try? hasReturned(to: space)) == true ? DoctorReport.Loss.beyondReturn : nil
    }

    /// Whether this person was out of a group, and came back.
    private func hasReturned(to space: SpaceRecord) throws -> Bool {
        guard space.kind == .group, let roster = try roster(of: space),
            roster.takesPart(ownPerson)
        else { return false }
        return try rosters.hasReturned(ownPerson, to: space, in: store)
    }

    /// What of a conversation that was gone altogether is not here and will not come, though it is back; nil
    /// where that is nothing.
    func left(of loss: DoctorReport.Loss, in space: SpaceRecord) throws -> DoctorReport.Loss? {
        guard try hasReturned(to: space) else { return nil }
        let held = try store.logs(in: space.number).reduce(0) { $0 + $1.heldCount }
        guard held < loss.operationCount else { return nil }
        return DoctorReport.Loss(
            conversation: loss.conversation, name: lossName(of: space),
            operationCount: loss.operationCount - held, ownCount: 0, sources: [],
            condition: DoctorReport.Loss.fromBeforeReturn)
    }

    /// Reports what repairs have lost; each loss once.
    private func addFormerLosses(to report: inout DoctorReport) {
        do {
            let told = Set(report.losses.map(\.conversation))
            report.losses += try lostByRepairs().filter { !told.contains($0.conversation) }
        } catch {
            report.checks.append(
                .init(
                    name: "The list of what repairs lost can be read.", isFine: false,
                    detail: words(of: error)))
        }
    }

    /// Whether what begins a space can be read.
    private func hasBeginning(_ logs: [LogRecord]) -> Bool {
        logs.contains { log in
            guard log.lane == .control else { return false }
            // What cannot be read is what is looked for.
            let first = try? store.header(at: 0, in: log.number)
            return first?.header.kind == .genesis
        }
    }

    /// What names a conversation may be lost as well.
    private func lossName(of space: SpaceRecord) -> String {
        if space.kind == .own { return SpaceRecord.ownName }
        // Its identifier names it as well.
        guard let found = try? roster(of: space) else { return space.id.short }
        // As above.
        let name = try? title(of: space, found)
        return name ?? space.id.short
    }

    /// Whether nobody else is known who could restore what is lost: no other device of this person,
    /// and nobody else in any conversation that is held. What only own devices know, such as who
    /// the contacts are, nobody else can restore.
    func isAlone() throws -> Bool {
        guard core.node.log.devices.count <= 1 else { return false }
        if try lacksOfOwnSpace() { return true }
        // Others are to restore what a repair has lost; with a complete past nobody has to.
        if core.rejoin != nil, try lostByRepairs().contains(where: \.isBeyondOthers) { return true }
        for space in try store.spaces() where space.kind != .own {
            let members = try roster(of: space)?.members ?? []
            if members.contains(where: { $0.person != ownPerson }) { return false }
        }
        return true
    }

    /// Whether something of this device is missing in the space of the own devices.
    func lacksOfOwnSpace() throws -> Bool {
        guard let rejoin = core.rejoin else { return false }
        guard let own = core.ownSpace else { return true }
        // A guard that fits no more does not say how far the own logs went.
        if try hasRepairLostSettings() { return true }
        return try store.logs(in: own.number).contains { log in
            log.device == core.node.device
                && (!log.agreed.isWhole || log.end < rejoin.ends[log.tag] ?? 0)
        }
    }

    /// The name of this person when they came into a conversation; nil if a card gives it.
    func formerName() throws -> String? {
        guard try CardReader.name(of: ownPerson, store).isEmpty else { return nil }
        for space in try store.spaces().reversed() {
            let name = try roster(of: space)?.member(ownPerson)?.name
            if let name, !name.isEmpty { return name }
        }
        return nil
    }

    /// Whether what is held of this device's own logs has no gap.
    func isOwnWhole() throws -> Bool {
        for space in try store.spaces() {
            for log in try store.logs(in: space.number) where log.device == core.node.device {
                if !log.agreed.isWhole { return false }
            }
        }
        return true
    }

    /// Who may have what a space lost; nil if its members cannot be read, and nobody can be named.
    private func sources(of space: SpaceRecord) -> [String]? {
        var sources: [String] = []
        if core.node.log.devices.count > 1 { sources.append("another device of yours") }
        guard space.kind != .own else { return sources }
        // Its members may be lost.
        guard let roster = try? roster(of: space) else { return sources.isEmpty ? nil : sources }
        for member in roster.members where member.person != ownPerson {
            // As above.
            let name = try? name(of: member.person, in: roster)
            sources.append(name ?? member.person.short)
        }
        return sources
    }

    // MARK: Views

    private static let notCompared = "not compared: the database is damaged"

    /// Recomputes every space and compares. The transaction is rolled back.
    private func foldAgain() throws -> DoctorReport.Outcome {
        if bar == .readOnly { return .skipped("not compared: the home is read-only") }
        if bar == .full { return .skipped("not compared: the disk is full") }
        if bar != nil { return .skipped(Self.notCompared) }
        var different: [String] = []
        var broken: [String] = []
        let spaces = try store.spaces()
        for space in spaces {
            let name = space.kind == .own ? SpaceRecord.ownName : space.id.short
            do {
                if try !isFolded(space) { different.append(name) }
            } catch {
                broken.append(name)
            }
        }
        if different.isEmpty, broken.isEmpty {
            let count = spaces.count { $0.kind != .own }
            return .fine("\(counted(count, "conversation")) compared")
        }
        let words = [
            different.isEmpty ? nil : "different: " + different.joined(separator: ", "),
            broken.isEmpty ? nil : "cannot be rebuilt: " + broken.joined(separator: ", "),
        ]
        return .wrong(words.compactMap(\.self).joined(separator: "; "))
    }

    /// The derived data of a space that is compared.
    private struct Folded: Equatable {
        /// What members see alike.
        var digest: Digest?
        /// What is about the space itself: in the own space the contacts, settings and marks.
        var notes: [Entry]
        /// Threads, and how many answers each has.
        var threads: [Entry]
        var answerCounts: [Int]
        /// How many mentions stand in each log.
        var mentionCounts: [Int]
    }

    /// With what everything was written under and where it stands, which views are made of.
    private func isFolded(_ space: SpaceRecord) throws -> Bool {
        let before = try folded(space)
        try store.begin(.normal)
        defer { store.rollback() }
        _ = try StoredSpace.fold(space, for: ownPerson, in: store)
        return try folded(space) == before
    }

    private func folded(_ space: SpaceRecord) throws -> Folded {
        var digest: Digest?
        if space.kind != .own, let roster = try RosterReader.roster(of: space, in: store) {
            digest = try ViewDigest.digest(of: space, roster: roster, in: store)
        }
        let threads = try store.threads(in: space.number, before: nil, limit: .max)
        return Folded(
            digest: digest,
            notes: try store.entries(about: .space, in: space.number, field: nil),
            threads: threads,
            answerCounts: try threads.map {
                try store.answerCount(in: $0.element, of: space.number, before: nil)
            },
            mentionCounts: try store.logs(in: space.number).filter { $0.lane == .content }.map {
                try store.mentionCount(
                    on: $0.tag, 0...Limits.placeMax, above: 0, in: space.number)
            })
    }
}

extension SpaceRecord {
    /// What the space of the own devices is called.
    static let ownName = "your settings and contacts"

    /// The name of a space whose beginning is lost, and its members.
    var nameWithoutBeginning: String {
        kind == .own
            ? Self.ownName
            : "the conversation \(id.short), whose beginning cannot be read"
    }
}

extension DoctorReport {
    /// The result of one check.
    enum Outcome {
        case fine(String)
        case wrong(String)
        /// It could not be made, and why.
        case skipped(String)
    }

    /// Makes one check; one that fails is one that found something.
    mutating func add(_ name: String, isDamage: Bool, _ body: () throws -> Outcome) {
        let outcome: Outcome
        do { outcome = try body() } catch {
            outcome = .wrong("cannot be read: \(words(of: error))")
        }
        switch outcome {
        case .fine(let detail): checks.append(.init(name: name, isFine: true, detail: detail))
        case .skipped(let why):
            checks.append(.init(name: name, isFine: true, detail: why, isSkipped: true))
        case .wrong(let detail):
            checks.append(.init(name: name, isFine: false, detail: detail))
            if isDamage { isDatabaseDamaged = true }
        }
    }
}
