import ArgumentParser
import Parley

struct GroupJoin: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "come into a group by a link",
        discussion: """
            You are in as soon as a device of who made the link is reached. Without a link it shows \
            the groups that you wait for.

            Example:
              parley group join "$(cat link.txt)"
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the link")
    var link: String?

    func validate() throws {
        guard let link else { return }
        guard !link.isEmpty, link.utf8.count <= 32 * 1024 else {
            throw ValidationError("this is no link into a group")
        }
    }

    func run(with node: any NodeService) async throws {
        if let link {
            let join = try await node.perform(JoinGroup(link: link))
            if join.isRefused { throw NodeError(refusing: join) }
            return try Output.show(join, json: output.json, as: Self.text([join]))
        }
        let joins = try await node.perform(ListJoins())
        try Output.show(joins, json: output.json, as: Self.text(joins))
        if joins.isEmpty, !output.json { World.current.say("you wait for none") }
        for join in joins where join.isRefused {
            World.current.advise("notice: " + harmless(join.fate))
        }
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
