import ArgumentParser
import Parley
import ParleyWire

struct InvitationsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "invitations",
        abstract: "show and answer invitations to groups",
        discussion: """
            Contacts can invite you to groups; you are in one when you accept. Until then you get \
            nothing that is written there, and the others see you as invited. Shows who invites \
            you, what they call the group, and how many are in it.

            Example:
              parley invitations
            """,
        subcommands: [InvitationAccept.self, InvitationDecline.self, InvitationAllow.self])

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let found = try await node.perform(ListInvitations())
        try Output.show(found, json: output.json, as: Self.text(found))
        if output.json { return }
        if found.waiting.isEmpty { World.current.say("no invitation waits") }
        GroupJoin.tell(found.joins)
    }

    static func text(_ invitations: InvitationsView) -> String {
        Table(invitations.waiting.map(row)).text
    }

    /// The columns of one invitation.
    static func row(_ invitation: InvitationView) -> [String] {
        [
            invitation.name.isEmpty ? "a group without a name" : "“\(invitation.name)”",
            String(invitation.id.prefix(8)),
            "by \(invitation.inviter)", counted(invitation.memberCount, "member"),
            "since " + Clock().moment(invitation.since),
        ]
    }
}

/// The arguments of an answer to one invitation.
struct InvitationOptions: ParsableArguments {
    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the group, by its name or the start of its identifier")
    var group: String

    func validate() throws { try Check.name(group, "a group's name") }
}

/// An answer to one invitation.
protocol InvitationAnswer: NodeCommand {
    static var isAccepting: Bool { get }
    var options: InvitationOptions { get }
}

extension InvitationAnswer {
    var place: HomeOptions { options.place }

    func run(with node: any NodeService) async throws {
        let left = try await node.perform(
            AnswerInvitation(conversation: options.group, accepting: Self.isAccepting))
        try Output.show(left, json: options.output.json, as: text(left))
    }

    /// The answered invitation, then those that still wait.
    private func text(_ left: InvitationsView) -> String {
        let word = Self.isAccepting ? "accepted" : "declined"
        let answered = left.answered.map(InvitationsCommand.row) ?? [options.group]
        return Table(
            [[word] + answered] + left.waiting.map { ["waits"] + InvitationsCommand.row($0) }
        ).text
    }
}

struct InvitationAccept: InvitationAnswer {
    static let isAccepting = true
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "accept an invitation to a group",
        discussion: """
            From then on you get what the group lets newcomers see. Shows what you accepted, then \
            the invitations that still wait.

            Example:
              parley invitations accept trip
            """)

    @OptionGroup var options: InvitationOptions
}

struct InvitationDecline: InvitationAnswer {
    static let isAccepting = false
    static let configuration = CommandConfiguration(
        commandName: "decline",
        abstract: "decline an invitation to a group",
        discussion: """
            The others see that you declined. You can be invited again. Shows what you declined, \
            then the invitations that still wait.

            Example:
              parley invitations decline trip
            """)

    @OptionGroup var options: InvitationOptions
}

/// Who may add a person, as it is written.
enum AdditionWord: String, ExpressibleByArgument, CaseIterable {
    case nobody, contacts

    var policy: GroupAdders { self == .nobody ? .nobody : .contacts }
}

struct InvitationAllow: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow",
        abstract: "set who may add you to groups without asking",
        discussion: """
            Either nobody, which is the default, or contacts: then you are in at once. It applies \
            on all your devices. Without an argument, it shows the current setting.

            Example:
              parley invitations allow contacts
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "nobody or contacts")
    var who: AdditionWord?

    func run(with node: any NodeService) async throws {
        let found =
            if let who {
                try await node.perform(SetAdditionPolicy(policy: who.policy))
            } else {
                try await node.perform(ListInvitations())
            }
        try Output.show(found, json: output.json, as: found.policy)
    }
}
