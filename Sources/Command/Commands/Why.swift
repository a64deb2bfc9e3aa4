import ArgumentParser
import Parley

struct Why: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "explain the state of a message, a person, a device or a conversation",
        discussion: """
            Says what is known, from whom, and since when: who has a message, and how that is \
            known; how a person came into a group, and by whom; where a device belongs; which keys \
            a conversation has. Times are those of the device that said so.

            Example:
              parley why 12
              parley why ben --in trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(
        help:
            "the number or identifier of a message, or of a poll, an item, a note or a decision; a name, or the start of an identifier"
    )
    var subject: String
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "only this conversation; a message must be in it", valueName: "conversation"))
    var conversation: String?

    func validate() throws {
        try Check.name(subject, "the thing to explain")
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run(with node: any NodeService) async throws {
        let found = try await node.perform(
            ExplainState(subject: subject, conversation: conversation))
        try Output.show(found, json: output.json, as: Self.text(found))
    }

    /// What is longer is a sentence, and no cell of a table: it stands on lines of its own, whole.
    private static let cellColumnsMax = 64

    static func text(_ explanation: ExplanationView) -> String {
        let clock = Clock()
        var table = Table(columnsMax: cellColumnsMax)
        var sentences: [String] = []
        for fact in explanation.facts {
            let (what, since) = (Advice.complete(fact.what), fact.since.map(clock.moment) ?? "")
            if columnCount(what) <= cellColumnsMax {
                table.add("  " + fact.about, what, fact.source, since)
            } else {
                let origin = [fact.source, since].filter { !$0.isEmpty }.joined(separator: ", ")
                sentences += lines(of: harmless("\(fact.about): \(what) (\(origin))"))
            }
        }
        return ([harmless(explanation.title)] + table.lines + sentences).joined(separator: "\n")
    }

    private static func lines(of sentence: String) -> [String] {
        let room = World.current.output.columnCount.map { max($0 - 4, 16) }
        return Advice.wrapped(sentence, to: room).enumerated().map { index, line in
            (index == 0 ? "  " : "    ") + line
        }
    }
}
