import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// A change of a message that its author made before they heard that they were out, or readers: nobody
/// takes it.
struct UntakenChange {
    let subject: WaitingChange.Subject
    let operation: StoredOperation
    /// As ``Views/untakenState(in:)`` tells it.
    let state: String

    var view: MessageView.Waiting { MessageView.Waiting(change: subject.rawValue, state: state) }
}

/// What this person wrote before they heard that they were out of a group, or readers, or that this device
/// was revoked, and what nobody accepts any more: it has no place in the conversation, and its author keeps
/// it all the same.
extension Views {
    /// Of so many operations of a log it is shown, the newest.
    private static let untakenCountMax: UInt64 = 100

    /// Of so many operations of this device, the newest, it is looked whether they deleted a text.
    private static let deletionsLookedAtMax: UInt64 = 4_096

    /// What ``untakenState(in:)`` may say.
    static let untakenStates: Set<String> = ["removed", "revoked", "cut-off"]

    /// Why nobody takes them: `removed` for a former member, `revoked` on a device that was revoked, else
    /// `cut-off`.
    func untakenState(in roster: Roster) -> String {
        if roster.member(ownPerson) == nil { return "removed" }
        return core.node.isRevoked ? "revoked" : "cut-off"
    }

    /// What this device wrote and nobody accepts, because another device of the person that did not have
    /// it revoked this one.
    func revokedPart(of log: LogRecord) -> Range<UInt64>? {
        guard core.node.isRevoked, log.device == core.node.device, let limit = log.limit,
            limit.sequence < log.end
        else { return nil }
        return limit.sequence..<log.end
    }

    /// How many messages and changes such a part holds in all lanes that screens show. No view has rows of
    /// it: its operations are counted.
    func revokedCount(in space: SpaceRecord) throws -> Int {
        guard core.node.isRevoked else { return 0 }
        var count = 0
        for log in try store.logs(in: space.number) {
            guard let part = revokedPart(of: log) else { continue }
            try store.eachOperation(of: log, in: part) { stored in
                let kind = stored.operation.header.kind
                let isSaid =
                    log.lane == .content
                    ? kind.isMessage || Self.subject(of: kind) != nil
                    : SharedWord(stored, in: log) != nil
                if isSaid, !stored.operation.isErased { count += 1 }
                return true
            }
        }
        return count
    }

    /// Shows each of them, log by log, until `body` says that it saw enough.
    func eachUntaken(
        in space: SpaceRecord, _ roster: Roster, lane: Lane = .content,
        _ body: (StoredOperation) throws(StoreError) -> Bool
    ) throws(StoreError) {
        // Nobody is taken out of a conversation of two.
        guard space.kind == .group || core.node.isRevoked else { return }
        let devices = space.kind == .group ? roster.devicesEver(of: ownPerson) : []
        for log in try store.logs(in: space.number) where log.lane == lane {
            if let part = revokedPart(of: log) {
                try store.eachOperation(of: log, in: part, body)
                continue
            }
            guard devices.contains(log.device) else { continue }
            guard roster.member(ownPerson) == nil else {
                try eachCutOff(of: log, in: space, roster, body)
                continue
            }
            guard let limit = log.limit, limit.sequence < log.end else { continue }
            let first = max(limit.sequence, log.end - min(log.end, Self.untakenCountMax))
            try store.eachOperation(of: log, in: first..<log.end, body)
        }
    }

    /// Shows what a member wrote before they heard that they had been out or were readers, and what
    /// no longer counts.
    func eachCutOff(
        of log: LogRecord, in space: SpaceRecord, _ roster: Roster,
        _ body: (StoredOperation) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let endings = roster.endings(of: log.device, lane: log.lane).filter { $0 < log.end }
        if endings.isEmpty { return }
        var judge: Judge
        if let known = names.judges[space.number] {
            judge = known
        } else {
            judge = try RosterReader.judge(of: space, in: store)
        }
        defer { names.judges[space.number] = judge }
        var next: UInt64 = 0
        for first in endings where first >= next {
            let last = min(log.end, first + Self.untakenCountMax)
            next = last
            try store.eachOperation(of: log, in: first..<last) { stored throws(StoreError) in
                let standing = judge.standing(
                    of: VerifiedOperation(stored: stored, tag: log.tag), in: log,
                    under: try store.view(at: stored.sequence, in: log.number))
                // What they wrote after they had heard of it counts again.
                guard case .void(.revoked) = standing else {
                    next = stored.sequence
                    return false
                }
                return try body(stored)
            }
        }
    }

    /// What had it that an operation which nobody takes does not count, of which its author had not heard: of
    /// several things that happened to them, that one.
    func ending(of stored: StoredOperation, in log: LogRecord) throws -> ControlReason? {
        guard let space = try store.space(log.space) else { return nil }
        var judge =
            try names.judges.removeValue(forKey: log.space)
            ?? RosterReader.judge(of: space, in: store)
        defer { names.judges[log.space] = judge }
        guard let view = judge.view(try store.view(at: stored.sequence, in: log.number)) else {
            return nil
        }
        return judge.roster.ending(of: log.device, log.lane, at: stored.sequence, view: view)
            .flatMap { judge.graph.reason(of: $0) }
    }

    /// The changes among them, by the message that they are about: of each kind the last.
    func untakenChanges(
        in space: SpaceRecord, _ roster: Roster
    ) throws -> [OperationReference: [UntakenChange]] {
        if let known = names.untaken[space.number] { return known }
        var found: [OperationReference: [UntakenChange]] = [:]
        let state = untakenState(in: roster)
        try eachUntaken(in: space, roster) { stored in
            guard let target = stored.operation.header.references.first,
                let subject = Self.subject(of: stored.operation.header.kind)
            else { return true }
            found[target, default: []].removeAll { $0.subject == subject }
            found[target]?.append(
                UntakenChange(subject: subject, operation: stored, state: state))
            return true
        }
        names.untaken[space.number] = found
        return found
    }

    static func subject(of kind: OperationKind) -> WaitingChange.Subject? {
        switch kind {
        case .edit: .edit
        case .delete: .deletion
        case .reaction: .reaction
        default: nil
        }
    }

    /// Whether a missing text was erased here, by a deletion that does not count. Also for a person
    /// who has come back since: nobody delivers what is below their start.
    func isGoneHere(
        _ message: Message, _ untaken: [UntakenChange], in space: SpaceRecord
    ) throws -> Bool {
        if untaken.contains(where: { $0.subject == .deletion }) { return true }
        let name = OperationHash.log(
            space: space.id, device: core.node.device, lane: .content)
        guard message.author == ownPerson, let log = try store.log(LogTag(name), in: space.number)
        else { return false }
        var isFound = false
        let first = log.end - min(log.end, Self.deletionsLookedAtMax)
        try store.eachOperation(of: log, in: first..<log.end) { stored throws(StoreError) in
            let header = stored.operation.header
            isFound = header.kind == .delete && header.references.first == message.reference
            return !isFound
        }
        return isFound
    }

    /// Adds to the texts of a message those that nobody takes.
    func addUntaken(
        about message: Message, in space: SpaceRecord, _ roster: Roster,
        to versions: inout [HistoryPage.Version]
    ) throws {
        let changes = try untakenChanges(in: space, roster)[message.reference] ?? []
        if message.flags.contains(.bodyless), try isGoneHere(message, changes, in: space) {
            for index in versions.indices where versions[index].text == nil {
                versions[index].state = "gone"
            }
        }
        for change in changes where change.subject == .edit {
            let operation = change.operation.operation
            guard let text = change.operation.searchableText?.text else { continue }
            versions.append(
                HistoryPage.Version(
                    text: text, time: operation.header.wallClock, state: change.state))
        }
    }
}
