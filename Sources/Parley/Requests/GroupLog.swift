import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// What changed in a group, and by whom.
public struct GetGroupLog: NodeRequest {
    /// The most that are returned at once.
    public static let limitMax = 100
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "groupLog", RequestScope.read,
        "What changed in a group, and by whom, the newest last."
    )
    /// An example of the request.
    public static let example = GetGroupLog(conversation: "trip", limit: 50)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// How many, from 1 to 100.
    public var limit: Int
    /// Where to continue: ``GroupLogPage/before`` of the page before; nil for the newest.
    public var before: String?

    /// A request with these parameters.
    public init(conversation: String, limit: Int, before: String? = nil) {
        self.conversation = conversation
        self.limit = limit
        self.before = before
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> GroupLogPage {
        try await node.read { views in
            try views.log(ofGroup: conversation, limit: limit, before: before)
        }
    }
}

/// Changes of a group.
public struct GroupLogPage: Codable, Equatable, Sendable {
    /// The group, in hex.
    public var conversation: String
    /// Its name.
    public var name: String
    /// The newest last.
    public var entries: [GroupLogEntry]
    /// The value of `before` for the page above; nil if there is none.
    public var before: String?
}

/// Something that somebody changed in a group.
public struct GroupLogEntry: Codable, Equatable, Sendable {
    /// The operation that did it: the same on all devices.
    public var id: String
    /// `created`, `added`, `joined`, `removed`, `left`, `declined`, `role`, `devices-added`, `device-revoked`,
    /// `settings`, `link-opened`, `link-closed`, `name`, `description`, `picture`, `lifetime`, `pinned`,
    /// `unpinned`.
    public var change: String
    /// The name of who did it; nil where that is not known.
    public var author: String? = nil
    /// Whether that is this person.
    public var isOwn = false
    /// By the author's clock, in Unix milliseconds.
    public var time: UInt64
    /// `ahead` if that time has not come yet by this device's clock; else nil.
    public var timeDoubt: String? = nil
    /// The persons whom it is about: their names.
    public var persons: [String] = []
    /// What they may do from then on, or who comes by the link.
    public var role: String? = nil
    /// How many may come by the link.
    public var uses: Int? = nil
    /// The new name, or the new description; empty for none.
    public var text: String? = nil
    /// Whether a picture is shown from then on.
    public var isShown: Bool? = nil
    /// After how many seconds new messages disappear; 0 for never.
    public var seconds: UInt64? = nil
    /// The message that was pinned or taken down, by its `id`.
    public var message: String? = nil
    /// The number that the message has here; nil if it is not here.
    public var number: Int64? = nil
    /// What a newcomer is given from then on: `none`, `all`, or days as `30d`; nil as before.
    public var history: String? = nil
    /// Hours after which the keys are replaced from then on; nil as before.
    public var rotationHours: Int? = nil
    /// Who writes from then on; nil as before.
    public var write: GroupRuleWord? = nil
    /// Who adds people from then on; nil as before.
    public var add: GroupRuleWord? = nil
    /// Who pins messages from then on; nil as before.
    public var pin: GroupRuleWord? = nil
    /// Who opens links from then on; nil as before.
    public var invite: GroupRuleWord? = nil
}

extension Views {
    fileprivate func log(
        ofGroup argument: String, limit: Int, before: String?
    ) throws -> GroupLogPage {
        let space = try conversation(argument)
        guard space.kind == .group else { throw NodeError(.directConversation) }
        guard let roster = try roster(of: space) else { throw NodeError(.unknownConversation) }
        let place = try before.map(Self.place)
        let count = min(max(1, limit), GetGroupLog.limitMax)
        guard
            let found = try GroupLog.page(of: space, before: place, limit: count, in: store)
        else { throw NodeError(badLogCursor: before ?? "") }
        let entries = try found.changes.map { try entry($0, in: space, roster) }
        return GroupLogPage(
            conversation: space.id.description, name: try title(of: space, roster),
            entries: entries, before: found.isFirst ? nil : entries.first?.id)
    }

    private static func place(_ text: String) throws -> LogTip {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 16, let tag = UInt64(parts[0], radix: 16),
            let sequence = UInt64(parts[1]), sequence < Limits.placeMax
        else { throw NodeError(badLogCursor: text) }
        return LogTip(tag: LogTag(tag), sequence: sequence)
    }

    private func entry(
        _ change: GroupChange, in space: SpaceRecord, _ roster: Roster
    ) throws -> GroupLogEntry {
        var entry = GroupLogEntry(
            id: "\(change.order.tag)-\(change.order.sequence)", change: "",
            author: try change.author.map { try name(of: $0, in: roster) },
            isOwn: change.author == ownPerson, time: change.time,
            timeDoubt: Self.doubt(about: change.time))
        switch change.change {
        case .created(let persons):
            entry.change = "created"
            entry.persons = try persons.map { try name(of: $0, in: roster) }
        case .member(let what, let person):
            (entry.change, entry.role) = Self.changeWords(what)
            entry.persons = [try name(of: person, in: roster)]
        case .settings(let settings):
            entry.change = "settings"
            entry.history = settings.history?.word
            entry.rotationHours = settings.rotationHours.map { Int($0) }
            func word(_ act: GroupAct) -> GroupRuleWord? {
                settings.rules[act].map { $0 == .everybody ? .everybody : .admins }
            }
            (entry.write, entry.add) = (word(.write), word(.add))
            (entry.pin, entry.invite) = (word(.pin), word(.invite))
        case .linkOpened(let role, let uses):
            (entry.change, entry.role, entry.uses) = ("link-opened", role.word, Int(uses))
        case .linkClosed: entry.change = "link-closed"
        case .name(let name): (entry.change, entry.text) = ("name", name)
        case .description(let text): (entry.change, entry.text) = ("description", text)
        case .picture(let isShown): (entry.change, entry.isShown) = ("picture", isShown)
        case .lifetime(let seconds): (entry.change, entry.seconds) = ("lifetime", seconds)
        case .pin(let message, let isOn):
            let (id, stored) = try answered(message, in: space.number)
            entry.change = isOn ? "pinned" : "unpinned"
            (entry.message, entry.number) = (id, stored?.number.rawValue)
        }
        return entry
    }
}

extension NodeError {
    fileprivate init(badLogCursor text: String) {
        self.init(
            "bad-cursor", "“\(text)” is not a change of this group.",
            hint: "Use the `before` of an earlier page as it is.")
    }
}
