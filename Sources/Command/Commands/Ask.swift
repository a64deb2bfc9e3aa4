import ArgumentParser
import Parley

struct Ask: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask",
        abstract: "answer a question with what people wrote, quoted",
        discussion: """
            Shows the passages that answer best, each with who wrote it, where and when. If \
            somebody asked the same before, it shows what others replied. Nothing is made up: if \
            nothing fits, it says so. A passage need not have all words of the question: rare \
            words count more.

            Example:
              parley ask "who has the key?"
              parley ask "when does the train leave?" --in trip --from ben --since 2026-11-01
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the question")
    var question: String
    @Option(
        name: .customLong("from"),
        help: ArgumentHelp("only what this person wrote", valueName: "person"))
    var author: String?
    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("only what stands in this conversation", valueName: "conversation"))
    var conversation: String?
    @OptionGroup var days: DayOptions
    @Option(name: .long, help: "how many passages at most, 1 to 20")
    var limit = 3

    func validate() throws {
        guard !question.allSatisfy(\.isWhitespace) else {
            throw ValidationError("A question needs words.")
        }
        try Check.text(question, "the question")
        if let author { try Check.name(author, "a person's name") }
        if let conversation { try Check.name(conversation, "a conversation's name") }
        guard (1...AskQuestion.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(AskQuestion.limitMax).")
        }
    }

    func run(with node: any NodeService) async throws {
        let clock = Clock()
        let answers = try await node.perform(
            AskQuestion(
                question, person: author, conversation: conversation,
                since: days.start(by: clock), until: days.end(by: clock),
                limit: limit))
        try Output.show(answers, json: output.json, as: AnswerLines.text(answers))
        guard !output.json else { return }
        if answers.passages.isEmpty {
            World.current.say("nobody wrote anything that answers this")
        }
        for note in answers.notes { World.current.say(harmless(note)) }
    }
}
