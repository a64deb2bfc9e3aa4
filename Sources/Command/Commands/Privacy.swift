import ArgumentParser
import Parley

/// Whether others are told something, as it is written.
enum DisclosureArgument: String, ExpressibleByArgument, CaseIterable {
    case on, off, usual

    var word: DisclosureWord {
        switch self {
        case .on: .on
        case .off: .off
        case .usual: .usual
        }
    }
}

struct PrivacyCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "privacy",
        abstract: "show or set whether others see what you read, and that you type",
        discussion: """
            Without a conversation it holds for all that have no setting of their own; usual ends \
            such a setting. All your devices follow it, and still know what you have read. While \
            you tell nobody what you have read, you are not shown what others have read there \
            either, and likewise of typing. That your device has received a message is told as \
            ever, and what was told before stays. `parley presence tell` is about whether you are \
            online.

            Example:
              parley privacy --receipts off
              parley privacy ben --receipts on --typing off
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "only this conversation, or the one with this person")
    var conversation: String?
    @Option(name: .long, help: "whether others see what you have read: on, off or usual")
    var receipts: DisclosureArgument?
    @Option(name: .long, help: "whether others see that you type: on, off or usual")
    var typing: DisclosureArgument?

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
        if conversation != nil, receipts == nil, typing == nil {
            throw ValidationError("Say what it is: --receipts or --typing, with on, off or usual.")
        }
    }

    func run(with node: any NodeService) async throws {
        let report =
            receipts == nil && typing == nil
            ? try await node.perform(GetDisclosures())
            : try await node.perform(
                SetDisclosures(
                    conversation: conversation, receipts: receipts?.word, typing: typing?.word))
        try Output.show(report, json: output.json, as: Self.text(report))
    }

    static func text(_ report: DisclosureReport) -> String {
        func word(_ isTold: Bool?) -> String { isTold.map { $0 ? "on" : "off" } ?? "usual" }
        var table = Table()
        table.add("", "read receipts", "typing")
        table.add("all others", word(report.receipts), word(report.typing))
        for entry in report.conversations {
            table.add(entry.name, word(entry.receipts), word(entry.typing))
        }
        return table.text
    }
}
