import ArgumentParser
import Foundation
import Parley
import ParleyWire

struct SummaryCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "summary",
        abstract: "sum up a conversation in a few of its sentences",
        discussion: """
            Every line is a sentence of a message, with its number: `parley read … --around 12` \
            shows it in its place. No text is generated, nothing leaves this device, and nothing \
            is kept: what was deleted is in no summary. Only the newest 5,000 messages are used.

            Example:
              parley summary trip --since 2026-11-23 --points 5
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Option(
        name: .long,
        help: ArgumentHelp("only the thread of this message", valueName: "message"))
    var thread: MessageArgument?
    @OptionGroup var days: DayOptions
    @Option(name: .long, help: "how many sentences, 1 to \(Summarize.countMax)")
    var points = 5

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        guard (1...Summarize.countMax).contains(points) else {
            throw ValidationError("--points must be from 1 to \(Summarize.countMax).")
        }
    }

    func run(with node: any NodeService) async throws {
        let clock = Clock()
        let summary = try await node.perform(
            Summarize(
                conversation: conversation, thread: thread?.reference,
                since: days.start(by: clock), until: days.end(by: clock),
                count: points))
        try Output.show(summary, json: output.json, as: AssistantLines.text(summary.points))
        guard !output.json else { return }
        if summary.points.isEmpty { World.current.say("no sentence was found that sums it up") }
        AssistantLines.sayWhatIsLeft(summary.looked)
    }
}

struct CatchUpCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "catchup",
        abstract: "show what you missed, the most urgent first",
        discussion: """
            Shows, for each conversation with unread messages, what mentions you, asks you or \
            gives you something to do, what may have been decided, and a few sentences of the \
            rest. Every line is a sentence of a message. Nothing is marked as read: `parley read` \
            does that. Polls that wait for your answer and your open action items are counted.

            Example:
              parley catchup
              parley catchup trip --points 5
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "only this conversation")
    var conversation: String?
    @Option(
        name: .long, help: "how many sentences of each conversation, 1 to \(Summarize.countMax)")
    var points = 3

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
        guard (1...Summarize.countMax).contains(points) else {
            throw ValidationError("--points must be from 1 to \(Summarize.countMax).")
        }
    }

    func run(with node: any NodeService) async throws {
        let view = try await node.perform(
            CatchUp(
                conversation: conversation, count: points,
                zone: World.current.timeZone.identifier))
        try Output.show(view, json: output.json, as: CatchUpLines.text(view))
        guard !output.json else { return }
        if view.parts.allSatisfy({ $0.unreadCount == 0 }) {
            World.current.say("no unread messages")
        }
        if view.pollCount > 0 {
            World.current.say(
                "\(counted(view.pollCount, "poll")) to answer: parley poll list --to-answer")
        }
        if view.itemCount > 0 {
            World.current.say(
                "\(counted(view.itemCount, "action item")) of yours: parley action list --mine")
        }
        if view.leftCount > 0 {
            World.current.say(
                "\(view.leftCount) more conversations have unread messages: parley conversations")
        }
        for part in view.parts { AssistantLines.sayWhatIsLeft(part.looked) }
    }
}

struct QuestionsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "questions",
        abstract: "list the questions of a conversation that nobody answered",
        discussion: """
            A question counts as answered once somebody replies to it, addresses its author, or \
            writes about the same soon after, or once its author says thanks. That is a guess.

            Example:
              parley questions trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        let list = try await node.perform(ListOpenQuestions(conversation: conversation))
        let rows = AssistantLines.rows(list.questions.map(\.line)) {
            list.questions[$0].isToMe ? ["asks you"] : []
        }
        try Output.show(list, json: output.json, as: AssistantLines.text(rows))
        guard !output.json else { return }
        if list.questions.isEmpty { World.current.say("no question is open") }
        AssistantLines.sayWhatIsLeft(list.looked)
    }
}
