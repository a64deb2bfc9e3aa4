public import ParleyLedger
public import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Reports a message of a group to one of its admins, in the conversation with them.
    public static let report = OperationKind(rawValue: 70)
}

extension EntryField {
    /// The reports in a conversation of two; one entry for each person and message.
    static let report = EntryField(rawValue: 85)
}

/// The payload that reports a message: that of a ``Star``. Its words are those of the message that follows it
/// in its log.
public struct Report: Equatable, Sendable {
    /// The group.
    public var group: SpaceID
    /// The message.
    public var message: OperationReference

    /// A report of this message.
    public init(of message: OperationReference, in group: SpaceID) {
        self.group = group
        self.message = message
    }

    /// The report in a payload, or nil.
    package init?(payload: [UInt8]) {
        guard let named = Star(payload: payload), named.isOn else { return nil }
        self.init(of: named.message, in: named.space)
    }

    /// The operation that says this, in the conversation with an admin.
    public func draft() -> Draft {
        var draft = Star(space: group, message: message, isOn: true).draft()
        (draft.kind, draft.lane) = (.report, .content)
        return draft
    }
}

/// Of one person's reports of one message the last is kept.
enum ReportRule: MergeRule {
    static let kind = OperationKind.report
    static let lane = Lane.content
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard context.roster.kind == .direct,
            let said = applied.operation.operation.payload.flatMap(Report.init),
            try LastWriter.put(
                .report,
                of: context.author.person.bytes + Star.subject(said.message, in: said.group),
                by: applied, context, in: store)
        else { return [] }
        return [.conversation(context.space.number)]
    }
}

/// A report as it stands in a conversation of two.
public struct GivenReport: Equatable, Sendable {
    /// What it is about.
    public var report: Report
    /// Who reports.
    public var author: PersonID
    /// Where it stands.
    public var order: OrderKey
    /// The message with its words; nil if that is not here.
    public var words: OperationNumber?
}

extension Overview {
    /// The reports in a conversation of two, oldest first.
    public static func reports(
        in space: SpaceNumber, roster: Roster, store: some MergeStore
    ) throws(StoreError) -> [GivenReport] {
        var found: [GivenReport] = []
        for entry in try store.entries(about: .space, in: space, field: .report) {
            guard let stored = try store.operation(entry.operation),
                let report = stored.operation.payload.flatMap(Report.init),
                let log = try store.log(stored.log), let author = roster.person(of: log.device)
            else { continue }
            let next = try store.operation(at: stored.sequence + 1, in: log.number)
            found.append(
                GivenReport(
                    report: report, author: author, order: entry.order,
                    words: next?.operation.header.kind.isMessage == true ? next?.number : nil))
        }
        return found.sorted { $0.order < $1.order }
    }
}
