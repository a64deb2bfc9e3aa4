import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Reports a message of a group to its admins: to each in the conversation with them, which nobody else reads.
public struct ReportMessage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "report", RequestScope.write,
        "Reports a message of a group to its admins, in the conversation with each."
    )
    /// An example of the request.
    public static let example = ReportMessage(message: 12, words: "this is spam")

    /// The message.
    public var message: MessageReference
    /// Why; empty for no reason.
    public var words: String

    /// A request with these parameters.
    public init(message: MessageReference, words: String = "") {
        self.message = message
        self.words = words
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> SentReport {
        let plan = try await node.read { try $0.plan(reporting: message, words) }
        _ = try await node.running.perform(
            .report(plan.number, text: plan.text, to: plan.told.map(\.space)))
        return SentReport(told: plan.told.map(\.name), untold: plan.untold)
    }
}

/// Who got a report.
public struct SentReport: Codable, Equatable, Sendable {
    /// The admins who get it, by name.
    public var told: [String]
    /// Admins with whom this person has no conversation, by name: they do not.
    public var untold: [String]
}

/// The reports that the person got as an admin: of messages of groups in which they are one.
public struct ListReports: NodeRequest {
    /// The most that are returned at once.
    public static let limitMax = 100
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "reports", RequestScope.read,
        "The messages that members reported to the person as an admin, the last report first."
    )
    /// An example of the request.
    public static let example = ListReports(conversation: "trip", limit: 50)

    /// The group: its name, its identifier or a start of that; nil for all.
    public var conversation: String?
    /// How many, from 1 to 100.
    public var limit: Int
    /// Where to continue: ``ReportPage/next`` of the page before; nil for the first page.
    public var from: Int?

    /// A request with these parameters.
    public init(conversation: String? = nil, limit: Int, from: Int? = nil) {
        self.conversation = conversation
        self.limit = limit
        self.from = from
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ReportPage {
        try await node.read { try $0.reports(in: conversation, limit: limit, from: from ?? 0) }
    }
}

/// Reports.
public struct ReportPage: Codable, Equatable, Sendable {
    /// One of them.
    public struct Entry: Codable, Equatable, Sendable {
        /// The group, in hex.
        public var conversation: String
        /// Its name.
        public var title: String
        /// Who reports.
        public var reporter: String
        /// The message in the conversation with them that says why: deleting it ends the report.
        public var words: MessageView
        /// The reported message by its `id`.
        public var id: String
        /// The reported message; nil if it is not on this device.
        public var message: MessageView?
    }
    /// The last report first.
    public var reports: [Entry]
    /// The value of `from` for the next page; nil if there is none.
    public var next: Int?
}

extension Views {
    fileprivate typealias Plan = (
        number: OperationNumber, text: String, told: [(space: SpaceID, name: String)],
        untold: [String]
    )

    fileprivate func plan(reporting reference: MessageReference, _ words: String) throws -> Plan {
        let number = try message(reference)
        guard let shown = try message(number), let space = try conversation(of: number),
            let roster = try roster(of: space)
        else { throw NodeError(.unknownMessage) }
        guard space.kind == .group else { throw NodeError(.directConversation) }
        if shown.isDeleted { throw NodeError(.deleted) }
        if shown.isOwn {
            throw NodeError(
                "own-message", "That message is yours.",
                hint: "`parley delete \(number.rawValue)` deletes it for everyone.")
        }
        let author = try store.operation(number).flatMap { try store.log($0.log) }
            .flatMap { roster.person(of: $0.device) }
        var plan: Plan = (number, "", [], [])
        // Whoever wrote it need not know who reports it.
        for member in roster.members
        where member.role >= .admin && member.person != ownPerson && member.person != author
            && !roster.isInvited(member.person)
        {
            let name = try name(of: member.person, in: roster)
            if let direct = try directConversation(with: member.person) {
                plan.told.append((direct.id, name))
            } else {
                plan.untold.append(name)
            }
        }
        guard !plan.told.isEmpty else {
            throw NodeError(
                "no-admin",
                plan.untold.isEmpty
                    ? "There is no other admin to whom it could be reported."
                    : "You have no conversation with an admin of this group.",
                hint: plan.untold.first.map {
                    "`parley group show` names them; exchange an invite with \($0), for one."
                })
        }
        let title = try title(of: space, roster)
        // Whose it is the list of reports shows: the name here may be an alias of the person's own.
        plan.text =
            "Report of a message in “\(title)” (\(shown.id))"
            + (words.isEmpty ? "" : ": \(words)")
        return plan
    }

    fileprivate func reports(
        in argument: String?, limit: Int, from first: Int
    ) throws -> ReportPage {
        let wanted = try argument.map { try conversation($0).id }
        var all: [(order: OrderKey, entry: ReportPage.Entry)] = []
        for space in try store.spaces() where space.kind == .direct {
            guard let roster = try roster(of: space) else { continue }
            for given in try Overview.reports(in: space.number, roster: roster, store: store)
            where given.author != ownPerson && wanted.map({ $0 == given.report.group }) ?? true {
                if let entry = try entry(given) { all.append((given.order, entry)) }
            }
        }
        all.sort { $0.order > $1.order }
        let count = min(max(1, limit), ListReports.limitMax)
        let rest = all.dropFirst(max(0, first))
        return ReportPage(
            reports: rest.prefix(count).map(\.entry),
            next: rest.count > count ? max(0, first) + count : nil)
    }

    /// Nil if it is none: of a group in which the person is no admin, or its reporter never was; or its words
    /// were deleted.
    private func entry(_ given: GivenReport) throws -> ReportPage.Entry? {
        let report = given.report
        guard let group = try store.space(report.group), group.kind == .group,
            let roster = try roster(of: group),
            roster.member(ownPerson).map({ $0.role >= .admin }) == true,
            !roster.everyDevice(of: given.author).isEmpty,
            let words = try given.words.flatMap({ try message($0) }), !words.isDeleted
        else { return nil }
        let (id, stored) = try answered(report.message, in: group.number)
        return ReportPage.Entry(
            conversation: group.id.description, title: try title(of: group, roster),
            reporter: try name(of: given.author, in: roster), words: words, id: id,
            message: try stored.flatMap { try message($0.number) })
    }
}
