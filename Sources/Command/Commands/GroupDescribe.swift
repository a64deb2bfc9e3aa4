import ArgumentParser
import Parley

struct GroupDescribe: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "describe what a group is for",
        discussion: """
            Owners and admins may do that; every member sees the text in `parley group show`. \
            --remove removes it.

            Example:
              parley group describe trip "who brings what, and when"
            """)

    @OptionGroup var options: GroupOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the text, \(DescribeGroup.byteCountMax) bytes at most")
    var text: String?
    @Flag(name: .long, help: "remove the description")
    var remove = false

    func validate() throws {
        if let text { try Check.text(text, "the description", max: DescribeGroup.byteCountMax) }
        if (text == nil) != remove {
            throw ValidationError("A text and --remove exclude each other.")
        }
    }

    func run(with node: any NodeService) async throws {
        try await node.perform(DescribeGroup(conversation: group, text: text ?? ""))
        let changed = try await node.perform(GetGroup(conversation: group))
        try Output.show(changed, json: output.json, as: GroupShow.text(changed))
    }
}

extension GroupShow {
    /// Its description, line by line.
    static func description(_ group: GroupView) -> [String] {
        let rules = GroupRulesCommand.lines(of: group.rules)
        guard let text = group.description else { return rules }
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        return rules
            + lines.flatMap {
                Columns.wrap(
                    harmless(String($0)), to: World.current.output.columnCount.map { $0 - 2 })
            }.map { "  " + $0 }
    }
}
