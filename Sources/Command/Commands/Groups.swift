import ArgumentParser
import Parley
import ParleyWire

struct GroupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group",
        abstract: "create groups, and change who is in them",
        discussion: """
            Owners may do everything; admins add, invite and remove members and readers; members \
            write; readers read; `parley group rules` changes that. If two members remove each \
            other, the senior one stays. A removed member keeps what they had and gets nothing new.

            Example:
              parley group create trip ben cleo
            """,
        subcommands: [
            GroupCreate.self, GroupShow.self, GroupAdd.self, GroupRemove.self, GroupRole.self,
            GroupLeave.self, GroupRename.self, GroupDescribe.self, GroupPictureCommand.self,
            GroupSettings.self, GroupRulesCommand.self, GroupInviteCommand.self,
            GroupJoin.self, GroupLogCommand.self, GroupReport.self, GroupReports.self,
        ])
}

struct GroupCreate: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "create a group",
        discussion: """
            You are its owner; the contacts that you name are invited as members.

            Example:
              parley group create trip ben cleo
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the name of the group")
    var name: String
    @Argument(help: "contacts, by name or by the start of their identifier")
    var members: [String] = []

    func validate() throws {
        try Check.name(name, "a name")
        for member in members { try Check.name(member, "a member's name") }
    }

    func run(with node: any NodeService) async throws {
        let made = try await node.perform(CreateConversation(name: name, members: members))
        let group = try await node.perform(GetGroup(conversation: made.id))
        try Output.show(group, json: output.json, as: GroupShow.text(group))
    }
}

struct GroupShow: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "show the members and settings of a group",
        discussion: """
            Also shows the links with which people may still join.

            Example:
              parley group show trip
            """)

    @OptionGroup var options: GroupOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let group = try await node.perform(GetGroup(conversation: self.group))
        try Output.show(group, json: output.json, as: Self.text(group))
        if !output.json {
            Contacts.warn(group.members.map { ($0.name, $0.person, $0.resembles) })
            for text in Self.unfound(group) { World.current.say("notice: " + harmless(text)) }
        }
    }

    /// Says what persons wait for whose addresses nobody has told yet.
    static func unfound(_ group: GroupView) -> [String] {
        let others = group.members.filter { !$0.isSelf && !$0.isInvited }
        return others.filter { !$0.isLinked && !$0.hasAddress }.map { one in
            let bringer = others.first { $0.hasAddress && $0.person != one.person }
            return
                "no address of \(one.name) is known here yet: their node sends it through "
                + "another member" + (bringer.map { ", such as \($0.name)" } ?? "")
                + ", once both of you have been connected to that one"
        }
    }

    static func text(_ group: GroupView) -> String {
        let clock = Clock()
        var people = Table()
        for member in group.members {
            people.add(
                "  " + member.name + (member.isSelf ? " (you)" : ""),
                String(member.person.prefix(8)), member.role,
                counted(member.devices.count, "device"),
                member.isSelf ? "" : member.isVerified ? "verified" : "not verified",
                member.isInvited
                    ? "invited"
                    : member.isSelf
                        ? ""
                        : member.isLinked
                            ? "linked" : member.hasAddress ? "not linked" : "no address known")
        }
        let newcomers =
            switch group.history {
            case "none": "newcomers see no messages from before"
            case "all": "newcomers see all messages from before"
            default: "newcomers see messages of the last \(group.history.dropLast()) days"
            }
        let keys = group.rotationHours.map { ", new keys after \(counted($0, "hour"))" } ?? ""
        var links = Table()
        for invite in group.invites {
            links.add(
                "  link", String(invite.id.prefix(8)), "by \(invite.inviter)",
                "as \(invite.role)", "\(counted(invite.usesLeft, "use")) left",
                "until " + clock.moment(invite.expires))
        }
        let isIn = group.members.contains(where: \.isSelf)
        let epoch =
            group.epoch?.text
            ?? (isIn ? "this device is not in it yet" : "you are not in it any more")
        return
            ([harmless(group.name) + "  " + group.id.prefix(8) + "  " + newcomers + keys]
            + description(group) + (group.hasPicture ? ["  has a picture"] : [])
            + group.waiting.map { "  " + WaitingMarks.text($0) }
            + people.lines + ["  " + epoch] + links.lines).joined(separator: "\n")
    }
}

/// The arguments of a command about one group.
struct GroupOptions: ParsableArguments {
    @OptionGroup var place: HomeOptions
    @Argument(help: "the group")
    var group: String

    func validate() throws { try Check.name(group, "a group's name") }
}

/// A command about one group.
protocol OneGroupCommand: NodeCommand {
    var options: GroupOptions { get }
}

extension OneGroupCommand {
    var place: HomeOptions { options.place }
    var group: String { options.group }
}

/// The arguments of a command about one person's role in a group.
struct MemberOptions: ParsableArguments {
    @OptionGroup var group: GroupOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "their name, or the start of their identifier")
    var person: String

    func validate() throws { try Check.name(person, "a name") }
}

/// A command that changes one person's place in a group.
protocol MemberCommand: NodeCommand {
    var options: MemberOptions { get }
    func change(_ person: String, in group: String, on node: any NodeService) async throws
        -> GroupView
}

extension MemberCommand {
    var place: HomeOptions { options.group.place }

    func run(with node: any NodeService) async throws {
        let group = try await change(options.person, in: options.group.group, on: node)
        try Output.show(group, json: options.output.json, as: GroupShow.text(group))
    }
}

/// A role, as it is written.
enum RoleWord: String, ExpressibleByArgument, CaseIterable {
    case reader, member, admin, owner

    var role: MemberRole {
        switch self {
        case .reader: .reader
        case .member: .member
        case .admin: .admin
        case .owner: .owner
        }
    }
}

/// A role that somebody can come with by a link.
enum GuestRoleWord: String, ExpressibleByArgument, CaseIterable {
    case reader, member

    var role: MemberRole { self == .reader ? .reader : .member }
}

struct GroupAdd: MemberCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "invite a contact into a group",
        discussion: """
            They are in as soon as they accept; until then they are shown as invited. \
            `parley group settings` decides what they see of earlier messages. A removed member \
            can be added again.

            Example:
              parley group add trip dora --role reader
            """)

    @OptionGroup var options: MemberOptions
    @Option(name: .long, help: "reader, member, admin or owner")
    var role = RoleWord.member

    func change(
        _ person: String, in group: String, on node: any NodeService
    ) async throws -> GroupView {
        try await node.perform(
            AddGroupMember(conversation: group, person: person, role: role.role))
    }
}

struct GroupRemove: MemberCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "remove a person from a group",
        discussion: """
            New keys are made at once. The person keeps what they had, and gets nothing that is \
            written from now on; nobody sees what they write.

            Example:
              parley group remove trip dora
            """)

    @OptionGroup var options: MemberOptions

    func change(
        _ person: String, in group: String, on node: any NodeService
    ) async throws -> GroupView {
        try await node.perform(RemoveGroupMember(conversation: group, person: person))
    }
}

struct GroupRole: MemberCommand {
    static let configuration = CommandConfiguration(
        commandName: "role",
        abstract: "change the role of a person in a group",
        discussion: """
            Only owners can make admins and owners, and only a senior member can change a junior \
            one.

            Example:
              parley group role trip ben admin
            """)

    @OptionGroup var options: MemberOptions
    @Argument(help: "reader, member, admin or owner")
    var role: RoleWord

    func change(
        _ person: String, in group: String, on node: any NodeService
    ) async throws -> GroupView {
        try await node.perform(
            SetMemberRole(conversation: group, person: person, role: role.role))
    }
}

struct GroupLeave: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "leave a group",
        discussion: """
            What was written stays readable here. The last owner must make somebody else an owner \
            first, and messages that nobody has yet must be delivered first. With --anyway you \
            leave at once: the group may have no owner for good, and others may refuse the messages.

            Example:
              parley group leave trip
            """)

    @OptionGroup var options: GroupOptions
    @Flag(name: .long, help: "leave even as the last owner, or before messages are delivered")
    var anyway = false

    func run(with node: any NodeService) async throws {
        try await node.perform(LeaveGroup(conversation: group, anyway: anyway))
        World.current.say("You left “\(harmless(group))”. It stays readable.")
    }
}

struct GroupRename: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "give a group another name",
        discussion: """
            Everyone in it sees the new name.

            Example:
              parley group rename trip "our trip"
            """)

    @OptionGroup var options: GroupOptions
    @Argument(help: "its new name")
    var name: String

    func validate() throws { try Check.name(name, "the new name") }

    func run(with node: any NodeService) async throws {
        try await node.perform(RenameConversation(conversation: group, name: name))
    }
}

struct GroupSettings: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "set what newcomers see, and how long keys live",
        discussion: """
            Without options, it shows the current settings. --history is which earlier messages a \
            newcomer gets: none, all, or those of some days, such as 30d; shared things such as \
            pins are always given in full. --rotation is how many hours keys live.

            Example:
              parley group settings trip --history 30d
            """)

    @OptionGroup var options: GroupOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "none, all, or days such as 30d")
    var history: String?
    @Option(name: .long, help: "hours, 1 to 87600")
    var rotation: Int?

    func validate() throws {
        if let history { try Check.name(history, "a rule for history") }
        if let rotation, !(1...87_600).contains(rotation) {
            throw ValidationError("--rotation must be from 1 to 87600.")
        }
    }

    func run(with node: any NodeService) async throws {
        let found =
            history == nil && rotation == nil
            ? try await node.perform(GetGroup(conversation: group))
            : try await node.perform(
                ChangeGroupSettings(conversation: group, history: history, rotationHours: rotation))
        try Output.show(found, json: output.json, as: GroupShow.text(found))
    }
}

struct GroupInviteCommand: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "create a link with which people can join a group",
        discussion: """
            Whoever has the link can join, as a member or a reader. A device of yours, or of \
            another member whom they ask, lets them in when it is reached. `parley invite list` \
            shows the links that are open, and `parley invite revoke` ends one.

            Example:
              parley group invite trip --uses 3 --expires 7d
            """)

    @OptionGroup var options: GroupOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "how many people may use it, 1 to 1000")
    var uses = 1
    @Option(
        name: .long, help: "how long it works, as 12h or 7d, at most 30d",
        transform: Lifetime.init(argument:))
    var expires = Lifetime(hours: 24 * 7)
    @Option(name: .long, help: "member or reader")
    var role = GuestRoleWord.member

    func validate() throws {
        if !(1...1000).contains(uses) { throw ValidationError("--uses must be 1 to 1000.") }
    }

    func run(with node: any NodeService) async throws {
        let made = try await node.perform(
            CreateGroupInvite(
                conversation: group, role: role.role, uses: uses, hours: expires.hours))
        try Output.show(made, json: output.json, as: made.link)
        let often = uses == 1 ? "once" : "\(uses) times"
        World.current.say("works \(often), until \(Clock().moment(made.invite.expires))")
        InviteCommand.warn(ofClock: made.clockWarning)
    }
}

extension EpochView {
    /// Which keys these are, for a person.
    var text: String {
        guard let madeAt, let device else {
            return "no keys yet for its present members: they are made with the next message"
        }
        let whose = author.map { "\(harmless($0))'s " } ?? ""
        return "keys of \(Clock().moment(madeAt)), made by \(whose)device \(device.prefix(8)) for "
            + counted(deviceCount, "device")
            + (isFaulted ? "; a device could not open them, so new ones are made soon" : "")
    }
}
