import ArgumentParser
import Foundation
import Parley

/// A suggestion, as its list numbers it: `12`, or `12.2` for the second sentence of message 12.
struct SuggestionArgument: ExpressibleByArgument {
    let message: MessageReference
    /// Counted from 0; nil where the message has one suggestion.
    let sentence: Int?

    init?(argument: String) {
        let parts = argument.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count) else { return nil }
        message = MessageReference(String(parts[0]))
        guard message.isWellFormed else { return nil }
        guard parts.count == 2 else {
            sentence = nil
            return
        }
        guard let number = Int(parts[1]), (1...Int(UInt16.max)).contains(number) else {
            return nil
        }
        sentence = number - 1
    }

    /// Which of these lines is meant.
    func place(among lines: [CitedLine]) throws -> Int {
        let found = lines.indices.filter { index in
            let line = lines[index]
            return ("\(line.number)" == message.text || line.id == message.text)
                && (sentence == nil || line.sentence == sentence)
        }
        if found.count == 1 { return found[0] }
        throw NodeError(
            "unknown-suggestion",
            found.isEmpty
                ? "Nothing is suggested from that message."
                : "Several things are suggested from that message.",
            hint: found.isEmpty
                ? "Without --take and --dismiss, the list shows what is suggested."
                : "Say which one, for example "
                    + "\(lines[found[0]].number).\(lines[found[0]].sentence + 1).")
    }
}

/// Which suggestion becomes something, or is not shown again.
struct SuggestionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("accept this suggestion", valueName: "suggestion"))
    var take: SuggestionArgument?
    @Option(
        name: .long,
        help: ArgumentHelp(
            "do not suggest this again on this device", valueName: "suggestion"))
    var dismiss: SuggestionArgument?

    func validate() throws {
        if take != nil, dismiss != nil {
            throw ValidationError("--take and --dismiss exclude each other.")
        }
    }

    /// Does not suggest a line again.
    static func drop(
        _ line: CitedLine, _ kind: SuggestionKind, on node: any NodeService
    ) async throws {
        _ = try await node.perform(
            DismissSuggestion(
                kind: kind, message: MessageReference(line.number), sentence: line.sentence))
    }

    /// The same where the person asked for it.
    static func dismiss(
        _ line: CitedLine, _ kind: SuggestionKind, json: Bool, on node: any NodeService
    ) async throws {
        try await drop(line, kind, on: node)
        try Output.show(line, json: json, as: "")
        if !json { World.current.say("not suggested again here: \(harmless(line.text))") }
    }
}

struct ActionSuggest: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "list action items that messages suggest",
        discussion: """
            Each line is a sentence of a message, with who is to do it and by when, if the \
            sentence says so. It is a guess and changes nothing until --take turns it into an \
            action item, which everybody in the conversation sees. --dismiss hides it on this \
            device, until the message is edited.

            Example:
              parley action suggest trip
              parley action suggest trip --take 12
              parley action suggest trip --dismiss 14
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @OptionGroup var choice: SuggestionOptions

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        let list = try await node.perform(
            SuggestItems(
                conversation: conversation, zone: World.current.timeZone.identifier))
        let lines = list.suggestions.map(\.line)
        if let wanted = choice.take {
            return try await take(list.suggestions[try wanted.place(among: lines)], on: node)
        }
        if let unwanted = choice.dismiss {
            let line = lines[try unwanted.place(among: lines)]
            return try await SuggestionOptions.dismiss(line, .item, json: output.json, on: node)
        }
        let rows = AssistantLines.rows(lines) { Self.facts(list.suggestions[$0]) }
        try Output.show(list, json: output.json, as: AssistantLines.text(rows))
        guard !output.json else { return }
        if rows.isEmpty { World.current.say("nothing is suggested") }
        AssistantLines.sayWhatIsLeft(list.looked)
    }

    private static func facts(_ suggestion: ItemSuggestion) -> [String] {
        [suggestion.assigneeName.map(harmless), suggestion.due.map { "due \($0)" }]
            .compactMap { $0 }
    }

    private func take(_ suggestion: ItemSuggestion, on node: any NodeService) async throws {
        let item = try await node.perform(
            CreateItem(
                conversation: conversation, title: suggestion.line.text,
                assignees: suggestion.assignee.map { [$0] } ?? [], due: suggestion.due,
                source: MessageReference(suggestion.line.number)))
        try await SuggestionOptions.drop(suggestion.line, .item, on: node)
        try Output.show(item, json: output.json, as: ItemLines.text([item], isWhole: true))
    }
}

struct DecisionSuggest: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "list decisions that messages suggest",
        discussion: """
            Each line is a sentence of a message: one that decides, or a proposal to which \
            somebody else agreed. It is a guess and changes nothing until --take proposes it as a \
            decision. --dismiss hides it on this device, until the message is edited.

            Example:
              parley decision suggest trip
              parley decision suggest trip --take 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @OptionGroup var choice: SuggestionOptions

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        let list = try await node.perform(SuggestDecisions(conversation: conversation))
        let lines = list.suggestions.map(\.line)
        if let wanted = choice.take {
            return try await take(lines[try wanted.place(among: lines)], on: node)
        }
        if let unwanted = choice.dismiss {
            let line = lines[try unwanted.place(among: lines)]
            return try await SuggestionOptions.dismiss(
                line, .decision, json: output.json, on: node)
        }
        let rows = AssistantLines.rows(lines) {
            list.suggestions[$0].agreement.map { ["agreed to in #\($0)"] } ?? []
        }
        try Output.show(list, json: output.json, as: AssistantLines.text(rows))
        guard !output.json else { return }
        if rows.isEmpty { World.current.say("nothing is suggested") }
        AssistantLines.sayWhatIsLeft(list.looked)
    }

    private func take(_ line: CitedLine, on node: any NodeService) async throws {
        let decision = try await node.perform(
            ProposeDecision(
                conversation: conversation, title: line.text,
                source: MessageReference(line.number)))
        try await SuggestionOptions.drop(line, .decision, on: node)
        try Output.show(decision, json: output.json, as: DecisionLines.text([decision]))
    }
}
