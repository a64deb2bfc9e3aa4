import ArgumentParser
import Parley

struct Why: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "explain the state of a message, a person, a device or a conversation",
        discussion: """
            Says what is known, from whom, and since when: who has a message, and how that is known; \
            how a person came into a group, and by whom; where a device belongs; which keys a \
            conversation has. Times are those of who said so.

            Example:
              parley why 12
              parley why ben --in trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "a message's number or identifier, a name, or the start of an identifier")
    var subject: String
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "only this conversation; a message must be in it", valueName: "conversation"))
    var conversation: String?

    func validate() throws {
        try Check.name(subject, "what is asked about")
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run(with node: any NodeService) async throws {
        let found = try await node.why(subject, conversation: conversation)
        try Output.show(found, json: output.json, as: Self.text(found))
    }

    static func text(_ explanation: ExplanationView) -> String {
        let clock = Clock()
        var table = Table(columnsMax: 64)
        for fact in explanation.facts {
            table.add(
                "  " + fact.about, Advice.complete(fact.what), fact.source,
                fact.since.map(clock.moment) ?? "")
        }
        return ([harmless(explanation.title)] + table.lines).joined(separator: "\n")
    }
}
