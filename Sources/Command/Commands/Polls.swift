import ArgumentParser
import Parley
import ParleyWire

struct PollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poll",
        abstract: "ask a conversation a question, and answer",
        discussion: """
            Everybody in it can answer, can change their answer while the poll is open, and sees \
            who chose what. Its author, or in a group an admin, closes it: the answers known to \
            their node at that moment are the permanent result, and nothing that arrives later \
            changes it. A poll with --for is closed by the device that asked, once its time is \
            over.

            Example:
              parley poll new trip "when do we go?" Friday Saturday
              parley poll vote 12 1
            """,
        subcommands: [
            PollNew.self, PollVote.self, PollClose.self, PollShow.self, PollList.self,
            PollDelete.self,
        ])
}

struct PollNew: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "ask a question",
        discussion: """
            From 2 to \(AskPoll.optionCountMax) answers. Without --multiple everybody chooses one.

            Example:
              parley poll new trip "when do we go?" Friday Saturday --for 2d
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "the question")
    var question: String
    @Argument(help: "the answers to choose from")
    var options: [String] = []
    @Flag(name: .long, help: "let everybody choose several")
    var multiple = false
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("how long it is open, from 1h to 30d", valueName: "time"),
        transform: Lifetime.init(argument:))
    var time: Lifetime?

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        try Check.text(question, "the question", max: Limits.pollQuestionByteCountMax)
        for option in options { try Check.text(option, "an answer", max: Limits.nameByteCountMax) }
        guard (2...AskPoll.optionCountMax).contains(options.count) else {
            throw ValidationError("A poll has from 2 to \(AskPoll.optionCountMax) answers.")
        }
    }

    func run(with node: any NodeService) async throws {
        let poll = try await node.perform(
            AskPoll(
                conversation: conversation, question: question, options: options,
                multiple: multiple, hours: time?.hours))
        try Output.show(poll, json: output.json, as: PollLines.text([poll]))
    }
}

struct PollVote: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "vote",
        abstract: "answer",
        discussion: """
            Your choice replaces the one that you made before; --retract takes it back. \
            `parley poll list --to-answer` lists the polls that wait for your answer.

            Example:
              parley poll vote 12 1
              parley poll vote 12 --retract
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the poll: its number, or its identifier")
    var poll: MessageArgument
    @Argument(help: "the numbers of the answers that you choose")
    var answers: [Int] = []
    @Flag(name: .long, help: "take your answer back")
    var retract = false

    func validate() throws {
        if answers.isEmpty != retract {
            throw ValidationError(
                retract
                    ? "Answers and --retract exclude each other."
                    : "Give the number of an answer, or --retract.")
        }
    }

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(AnswerPoll(poll: poll.reference, choices: answers))
        try Output.show(shown, json: output.json, as: PollLines.text([shown]))
    }
}

struct PollClose: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "close",
        abstract: "close a poll; its result is permanent",
        discussion: """
            The answers that this node knows now are counted. People whose answer is not counted \
            are named.

            Example:
              parley poll close 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the poll: its number, or its identifier")
    var poll: MessageArgument

    func run(with node: any NodeService) async throws {
        let closed = try await node.perform(ClosePoll(poll: poll.reference))
        try Output.show(closed, json: output.json, as: PollLines.text([closed]))
    }
}

struct PollShow: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "show who chose what",
        discussion: """
            ✓ marks what you chose.

            Example:
              parley poll show 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the poll: its number, or its identifier")
    var poll: MessageArgument

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(GetPoll(poll: poll.reference))
        try Output.show(shown, json: output.json, as: PollLines.text([shown]))
    }
}

struct PollList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list polls, newest first",
        discussion: """
            Lists those of all conversations, or of one, that are not closed; with --all, also \
            closed ones.

            Example:
              parley poll list --to-answer
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "only this conversation")
    var conversation: String?
    @Flag(name: .long, help: "only those that are open and that you have not answered")
    var toAnswer = false
    @Flag(name: .long, help: "also those that are closed")
    var all = false

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
        if toAnswer, all { throw ValidationError("--to-answer and --all exclude each other.") }
    }

    func run(with node: any NodeService) async throws {
        let polls = try await node.perform(
            ListPolls(conversation: conversation, toAnswer: toAnswer)
        ).filter { all || $0.state != "closed" }
        try Output.show(polls, json: output.json, as: PollLines.text(polls))
        if polls.isEmpty, !output.json {
            World.current.say(
                toAnswer ? "no poll waits for you" : all ? "no polls" : "no poll is open")
        }
        if !output.json { try await Conversations.sayWhatIsLacking(in: conversation, on: node) }
    }
}

struct PollDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete a poll for everyone, with all answers",
        discussion: """
            Its author may do that, and in a group also an admin. It cannot be undone.

            Example:
              parley poll delete 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the poll: its number, or its identifier")
    var poll: MessageArgument

    func run(with node: any NodeService) async throws {
        let gone = try await node.perform(GetPoll(poll: poll.reference))
        try await node.perform(DeletePoll(poll: poll.reference))
        try Output.show(gone, json: output.json, as: "")
        if !output.json { World.current.say("deleted: \(harmless(gone.question))") }
    }
}
