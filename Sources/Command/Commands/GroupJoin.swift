import ArgumentParser
import Foundation
import Parley

struct GroupJoin: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "join a group with a link",
        discussion: """
            You are in as soon as a device of whoever made the link is reached. Without a link, it \
            shows the groups that you wait for, as `parley conversations`, `parley invitations` \
            and `parley status` do. --withdraw withdraws your request; whoever has received it may \
            still let you in.

            Example:
              parley group join "$(cat link.txt)"
              parley group join trip --withdraw
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the link; with --withdraw, the group")
    var link: String?
    @Flag(name: .long, help: "stop waiting for this group")
    var withdraw = false

    func validate() throws {
        if withdraw, link == nil { throw ValidationError("--withdraw needs a group.") }
        guard let link else { return }
        guard !link.isEmpty, link.utf8.count <= 32 * 1024 else {
            throw ValidationError("That is not a link into a group.")
        }
    }

    func run(with node: any NodeService) async throws {
        if let link, withdraw {
            let join = try await node.perform(WithdrawJoin(conversation: link))
            try Output.show(join, json: output.json, as: "")
            if !output.json { World.current.say("you no longer wait for “\(harmless(join.name))”") }
            return
        }
        if let link {
            let join = try await node.perform(JoinGroup(link: link))
            if join.isRefused { throw NodeError(refusing: join) }
            return try Output.show(join, json: output.json, as: Self.text([join]))
        }
        let joins = try await node.perform(ListJoins())
        try Output.show(joins, json: output.json, as: Self.text(joins))
        if joins.isEmpty, !output.json { World.current.say("you wait for no group") }
        for join in joins where join.isRefused {
            World.current.advise("notice: " + harmless(join.fate))
        }
    }

    /// The request to be let into a group, or its absence.
    static func sentence(_ join: JoinView) -> String {
        if join.isRefused { return join.fate }
        let clock = Clock()
        return "you wait for \(join.inviter) to add you to “\(join.name)”, "
            + (join.expires < UInt64(Date().timeIntervalSince1970 * 1_000)
                ? "but the link expired on \(clock.moment(join.expires))"
                : "until \(clock.moment(join.expires))")
    }

    /// Tells of each that is waited for.
    static func tell(_ joins: [JoinView]) {
        for join in joins where !join.isMember { World.current.say(harmless(sentence(join))) }
    }

    static func text(_ joins: [JoinView]) -> String {
        let clock = Clock()
        return Table(
            joins.map {
                [
                    $0.name, String($0.id.prefix(8)), Self.state($0),
                    $0.isRefused || $0.isMember ? "" : "until " + clock.moment($0.expires),
                ]
            }
        ).text
    }

    private static func state(_ join: JoinView) -> String {
        if join.isMember { return "you are in it" }
        return (join.isRefused ? "refused by " : "waits for ") + join.inviter
    }
}
