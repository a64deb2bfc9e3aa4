import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Who may do something in a group.
public enum GroupRuleWord: String, Codable, CaseIterable, Sendable {
    /// Every member.
    case everybody
    /// Admins and owners.
    case admins

    /// Reads a word.
    ///
    /// - Throws: ``NodeError`` with the code `bad-rule` if it is none of these.
    public init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        guard let rule = GroupRuleWord(rawValue: word) else {
            throw NodeError(
                "bad-rule", "“\(word)” is not a rule.",
                hint: "It is everybody, or admins.")
        }
        self = rule
    }

    init(_ rule: GroupRule) { self = rule == .everybody ? .everybody : .admins }

    /// The same below the node's door.
    var rule: GroupRule { self == .everybody ? .everybody : .admins }
}

/// Who may do what in a group.
public struct GroupRulesView: Codable, Equatable, Sendable {
    /// Who writes messages, polls, items, notes and decisions, and edits them.
    public var write = GroupRuleWord.everybody
    /// Who adds persons, as members or readers.
    public var add = GroupRuleWord.admins
    /// Who pins messages, and sets how long new ones stay.
    public var pin = GroupRuleWord.admins
    /// Who opens links with which people join.
    public var invite = GroupRuleWord.admins

    /// The rules as long as nobody changed any.
    public init() {}
}

/// Sets who may write, add people, pin and open links in a group; what is nil stays.
public struct SetGroupRules: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setGroupRules", RequestScope.write,
        "Sets who may write, add people, pin and open links in a group; what is nil stays."
    )
    /// An example of the request.
    public static let example = SetGroupRules(conversation: "trip", write: .admins)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// Who writes; where only admins do, members still read, react and vote.
    public var write: GroupRuleWord?
    /// Who adds persons.
    public var add: GroupRuleWord?
    /// Who pins messages, and sets how long new ones stay.
    public var pin: GroupRuleWord?
    /// Who opens links with which people join.
    public var invite: GroupRuleWord?

    /// A request with these parameters.
    public init(
        conversation: String, write: GroupRuleWord? = nil, add: GroupRuleWord? = nil,
        pin: GroupRuleWord? = nil, invite: GroupRuleWord? = nil
    ) {
        self.conversation = conversation
        self.write = write
        self.add = add
        self.pin = pin
        self.invite = invite
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> GroupView {
        let space = try await node.read { try $0.conversation(conversation).id }
        var rules = GroupRules()
        rules[.write] = write?.rule
        rules[.add] = add?.rule
        rules[.pin] = pin?.rule
        rules[.invite] = invite?.rule
        _ = try await node.write(.changeSettings(space, SpaceSettings(rules: rules)))
        return try await node.read { try $0.group(conversation) }
    }
}

extension Views {
    /// Who may do what in a group.
    func rules(of roster: Roster) -> GroupRulesView {
        let rules = roster.settings.rules
        var view = GroupRulesView()
        view.write = GroupRuleWord(rules.rule(of: .write))
        view.add = GroupRuleWord(rules.rule(of: .add))
        view.pin = GroupRuleWord(rules.rule(of: .pin))
        view.invite = GroupRuleWord(rules.rule(of: .invite))
        return view
    }

    /// Whether this person may write messages, as far as their role and the rules say.
    func mayWrite(by roster: Roster) -> Bool {
        roster.member(ownPerson).map { roster.allows(.write, to: $0) } ?? true
    }
}
