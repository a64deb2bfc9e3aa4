import ParleyLedger
import ParleyPayloads

/// What a group's owners may leave to every member, or keep to admins.
public enum GroupAct: String, CaseIterable, Sendable {
    /// Writing words that all read: messages, their edits, polls, items, notes, decisions.
    case write
    /// Adding persons, as a member or a reader.
    case add
    /// Pinning messages, and saying how long new ones stay.
    case pin
    /// Opening links with which people come in.
    case invite
}

/// Who may do one of these.
public enum GroupRule: UInt8, CaseIterable, Sendable {
    /// Everybody from member up.
    case everybody = 1
    /// Admins and owners.
    case admins = 2

    /// The least role that may.
    var role: Role { self == .everybody ? .member : .admin }
}

/// Which acts are left to whom in a group; nil leaves one as it is. Part of ``SpaceSettings``.
///
/// Whoever acts is judged by the rules that they had seen: later ones take nothing back.
/// Source: `Protocol/08-roster.md`, "Rules".
public struct GroupRules: Hashable, Sendable {
    private var given: [GroupRule?] = GroupAct.allCases.map { _ in nil }

    /// Rules that say nothing.
    public init() {}

    /// What is said about an act.
    public subscript(act: GroupAct) -> GroupRule? {
        get { given[act.index] }
        set { given[act.index] = newValue }
    }

    /// Whether nothing is said.
    public var isEmpty: Bool { given.allSatisfy { $0 == nil } }

    /// What holds of an act: what is said, or what holds as long as nobody has said anything.
    public func rule(of act: GroupAct) -> GroupRule {
        self[act] ?? (act == .write ? .everybody : .admins)
    }

    /// Those that change a rule of others.
    public func differ(from others: GroupRules) -> Bool {
        GroupAct.allCases.contains { act in self[act].map { $0 != others.rule(of: act) } ?? false }
    }

    /// What a member of a group with these rules may do.
    public func rights(of role: Role) -> Set<GroupAct> {
        Set(GroupAct.allCases.filter { role >= rule(of: $0).role })
    }
}

extension GroupAct {
    fileprivate var index: Int {
        switch self {
        case .write: 0
        case .add: 1
        case .pin: 2
        case .invite: 3
        }
    }
}

extension Roster {
    /// What somebody with this role may do here. Both persons of a conversation of two may write and
    /// pin, whatever a settings operation says.
    public func rights(of role: Role) -> Set<GroupAct> {
        switch kind {
        case .group: settings.rules.rights(of: role)
        case .direct, .own: role >= .member ? [.write, .pin] : []
        }
    }

    /// Whether a member may do this.
    public func allows(_ act: GroupAct, to member: Member) -> Bool {
        rights(of: member.role).contains(act)
    }
}

extension GroupRules {
    /// Reads them out of a payload. A number of a later version says nothing here: refused, it would
    /// part those who know it from those who do not.
    init(_ message: PayloadSettings) {
        func rule(_ number: UInt32) -> GroupRule? {
            UInt8(exactly: number).flatMap(GroupRule.init)
        }
        self[.write] = rule(message.write)
        self[.add] = rule(message.add)
        self[.pin] = rule(message.pin)
        self[.invite] = rule(message.invite)
    }

    /// Puts them into a payload.
    func put(in message: inout PayloadSettings) {
        func number(_ act: GroupAct) -> UInt32 { UInt32(self[act]?.rawValue ?? 0) }
        message.write = number(.write)
        message.add = number(.add)
        message.pin = number(.pin)
        message.invite = number(.invite)
    }
}
