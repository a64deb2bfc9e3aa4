import Glibc
import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleySealing
import ParleyRoster
import ParleyStorage
import ParleyWire

extension Views {
    // MARK: Status

    func status(
        home: String, addresses: [String], remoteAddresses: [DeviceID: String],
        traffic: (sent: Int, received: Int), transportRefusals: [String: Int],
        failure: StoreError?
    ) throws -> NodeStatus {
        let spaces = try store.spaces()
        var operationCount = 0
        for space in spaces {
            for log in try store.logs(in: space.number) { operationCount += log.heldCount }
        }
        let linked = core.linkedPeers
        let clocks = Dictionary(
            core.clockDifferences(at: SystemClock.now).map { ($0.device, $0.ahead) },
            uniquingKeysWith: max)
        let written = try writtenCounts(spaces)
        return NodeStatus(
            name: try CardReader.name(of: core.node, store), person: ownPerson.description,
            device: core.node.device.description, home: home,
            isProtectedByPassphrase: store.isProtectedByPassphrase, addresses: addresses,
            links: try linked.map { peer in
                NodeStatus.Link(
                    name: try name(of: peer.person), device: peer.device.description,
                    address: remoteAddresses[peer.device] ?? "",
                    clockAhead: clocks[peer.device])
            }, conversationCount: spaces.filter { $0.kind != .own }.count,
            operationCount: operationCount, databaseByteCount: Self.byteCount(home),
            sentByteCount: traffic.sent, receivedByteCount: traffic.received,
            pendingCount: core.node.isRevoked ? 0 : written.pending,
            awaited: core.node.isRevoked ? [] : written.awaited,
            recoveryCheckTime: try recoveryCheckTime(),
            readOnlyReason: try readOnlyReason(),
            refusals: try refusals(adding: transportRefusals),
            forkedDevices: try forkedDevices().sorted().map(\.description),
            warnings: try warnings(failure) + Self.warnings(ofStranded: written.stranded)
                + written.uninvited,
            isCatchingUp: try core.isCatchingUp(in: store), isDiskFull: failure?.code == .full,
            strandedCount: written.stranded,
            unknownCount: core.node.isRevoked ? written.pending : 0,
            failedScheduledCount: try failedScheduledCount(),
            isRevoked: core.node.isRevoked,
            requests: try requests(),
            invitationCount: try invitationsShown().count, joins: try joins(),
            epochs: try epochs(), notices: try notices(at: SystemClock.now.wall),
            files: try fileStatus())
    }

    /// After how long events about people's devices are shown only by `contacts` and `why`, in
    /// milliseconds.
    private static let noticeAgeMax: UInt64 = 30 * 24 * 3_600_000

    private func notices(at wall: UInt64) throws -> [String] {
        try Notice.all(in: store).filter { $0.time + Self.noticeAgeMax >= wall }
            .map { try sentence($0) }
    }

    private func readOnlyReason() throws -> String? {
        if let bar { return bar.reason }
        if core.node.isRevoked { return "another device of yours has revoked this one" }
        if let rejoin = core.rejoin { return rejoin.reason }
        let isForked = try store.hasForked(core.node.device)
        return isForked ? "this device wrote two different histories" : nil
    }

    static func byteCount(_ home: String) -> Int {
        ["database", "database-wal"].reduce(0) { sum, name in
            var information = stat()
            guard stat(home + "/" + name, &information) == 0 else { return sum }
            return sum + Int(information.st_size)
        }
    }

    /// What waits, for whose answer some of it does, what never leaves this device, and why nothing goes to whom
    /// who did not take an invite.
    func writtenCounts(
        _ spaces: [SpaceRecord]
    ) throws -> (pending: Int, awaited: [String], stranded: Int, uninvited: [String]) {
        var (pending, awaited, stranded, uninvited) = (0, [String](), 0, [String]())
        for space in spaces where space.kind != .own {
            guard let roster = try roster(of: space), mayReachOthers(roster) else { continue }
            let counts = try Overview.waitingCounts(
                of: space, roster: roster, ownPerson: ownPerson, device: core.node.device,
                known: wordsKnown(in: space), in: store)
            if try !isUntold(in: space, roster) { pending += counts.total }
            pending += try revokedCount(in: space)
            if try isLeaving(space, roster) { pending += 1 }
            // What is about the group goes to the invited themselves.
            if counts.words > 0, let answer = try awaiting(in: roster) {
                awaited.append("\(counts.words) in “\(try title(of: space, roster))” \(answer)")
            }
            stranded += counts.stranded
            if counts.total > 0, let person = try refuser(in: roster) {
                uninvited += try fate(of: person)
            }
        }
        return (pending, awaited, stranded, uninvited)
    }

    private static func warnings(ofStranded count: Int) -> [String] {
        guard count > 0 else { return [] }
        let what = counted(count, "message or change", "messages and changes")
        return [
            "\(what) of yours never \(count == 1 ? "leaves" : "leave") this device, which wrote "
                + "two histories: nobody accepts more from it, and no backup holds them. "
                + "`parley outbox --stranded` shows them. Write them down with "
                + "`parley outbox --stranded --json > said.json`, create a new device (link one, "
                + "or `parley backup create FILE`, and "
                + "`parley recover --home FOLDER --backup FILE`), and send them again there, once "
                + "for each conversation: “parley send CONVERSATION --stranded said.json”. "
                + "Reactions and deletions, edits of older messages, polls, answers, notes, "
                + "decisions and action items must be repeated there by hand."
        ]
    }

    private func refusals(adding others: [String: Int]) throws -> [String: Int] {
        var refusals = others
        for (key, value) in try store.values(.refusal) {
            let count = value.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            refusals[String(decoding: key, as: UTF8.self), default: 0] += Int(clamping: count)
        }
        return refusals
    }

    /// The devices that were seen to contradict themselves: in a log of which the evidence is held, or as
    /// their contacts were told.
    func forkedDevices() throws -> Set<DeviceID> {
        var devices = Set(try store.forks().map(\.proof.left.device))
        for notice in try Notice.all(in: store) where notice.kind == .compromised {
            // A recovery code that was used twice is not a device.
            devices.formUnion(
                try Set(notice.added).subtracting([root(of: notice.person)].compactMap(\.self)))
        }
        return devices
    }

    private func warnings(_ failure: StoreError?) throws -> [String] {
        var warnings: [String] = []
        if let failure {
            warnings.append(
                failure.code == .full
                    ? "The disk is full: nothing is saved until there is space. You can still read."
                    : "The store failed: \(failure).")
        }
        if case .damaged = bar {
            warnings.append(
                "The database is damaged, and nothing is written into it: `parley doctor` says what "
                    + "is lost, `parley doctor --repair` saves what can be read.")
        }
        warnings += try lostByRepairs().map { loss in
            // Of a conversation whose records were damaged nobody knows how many there were.
            let count = counted(loss.operationCount, "operation")
            let part = loss.operationCount > 0 ? "\(count) of " : ""
            return "A repair of the database lost \(part)\(loss.name), which did not come back: "
                + "`parley doctor` says who may have them."
        }
        if let rejoin = core.rejoin {
            // A database that does not say is damaged, and others may help.
            let isAlone = (try? isAlone()) == true
            warnings.append(
                "This node writes nothing until it has back what it wrote: \(rejoin.reason). "
                    + (isAlone
                        ? "Nobody else is known to have it: "
                        : "Any contact that is reached sends it; if nobody has it: ")
                    + NodeError.movingOn)
        }
        if try isOwnForked() {
            warnings.append(
                "This device wrote two different histories, as two copies of one home do, and "
                    + "nobody accepts more from it. Continue with a new device: "
                    + NodeError.movingOn)
        }
        if core.node.isRevoked {
            warnings.append(
                "Another device of yours has revoked this one: it writes nothing more, and gets "
                    + "nothing more. What it holds can be read. " + NodeError.linkingAnew)
        }
        warnings += try forkSentences()
        warnings += try forgotten().map { try sentence(ofForgotten: $0) }
        warnings += try clockWarnings(at: SystemClock.now)
        if !store.isProtectedByPassphrase {
            warnings.append(
                "No passphrase: whoever can read this folder can read everything. The key is in a "
                    + "file that only its owner may read.")
        }
        if try NodeKeys.backupCertificate(of: core.node.log.root, in: store) == nil {
            warnings.append(
                "Backups are not possible yet: this device has no key for them that your recovery "
                    + "code has signed. `parley recovery check` asks for the code, once.")
        } else if try recoveryCheckTime() == nil {
            warnings.append(
                "You never checked the recovery code: `parley recovery check` shows whether it is "
                    + "written down correctly.")
        }
        return warnings
    }

    // MARK: Digests and checks

    func digests() throws -> [DigestView] {
        var views: [DigestView] = []
        for space in try store.spaces() where space.kind != .own {
            guard let roster = try roster(of: space) else { continue }
            let logs = try store.logs(in: space.number)
            views.append(
                DigestView(
                    conversation: space.id.description, name: try view(of: space).name,
                    digest: try ViewDigest.digest(of: space, roster: roster, in: store)
                        .description,
                    operationCount: logs.reduce(0) { $0 + $1.heldCount },
                    isSuperseded: try isSuperseded(space, roster)))
        }
        return views.sorted { ($0.name, $0.conversation) < ($1.name, $1.conversation) }
    }
}

extension WriteBar {
    /// Why nothing is written, as a part of a sentence.
    var reason: String {
        switch self {
        case .readOnly: "the home is read-only"
        case .full: "the disk was full when it was opened"
        case .damaged(let note): "the database is damaged (\(note.what))"
        }
    }
}
