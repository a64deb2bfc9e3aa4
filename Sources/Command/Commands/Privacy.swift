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

struct PrivacyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "privacy",
        abstract: "what others see of what you do, and how long messages stay: tell, disappear",
        discussion: """
            All your devices follow these settings. `parley presence tell` is about whether you \
            are online.

            Example:
              parley privacy --receipts off
              parley privacy disappear 4w
            """,
        subcommands: [PrivacyTell.self, PrivacyDisappear.self],
        defaultSubcommand: PrivacyTell.self)
}

struct PrivacyDisappear: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "disappear",
        abstract: "let messages disappear in conversations that you begin",
        discussion: """
            It holds for groups that you create, and for conversations of two that you begin, on \
            whichever of your devices: of two people who meet by an invite, whoever accepts it \
            begins. What exists stays as it is, and so do conversations that others begin: \
            `parley conversations disappear` sets a single one, at any time.

            Without a time it shows what is set; --off has messages stay.

            Example:
              parley privacy disappear 4w
              parley privacy disappear --off
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "how long messages stay: 30s, 5m, 8h, 1d, 4w; a year at most")
    var time: DisappearTime?
    @Flag(name: .long, help: "have messages stay")
    var off = false

    func validate() throws {
        if off, time != nil { throw ValidationError("A time and --off exclude each other.") }
    }

    func run(with node: any NodeService) async throws {
        let set =
            off || time != nil
            ? try await node.perform(SetUsualLifetime(seconds: off ? 0 : time?.seconds ?? 0))
            : try await node.perform(GetUsualLifetime())
        let words =
            set.seconds.map {
                "messages disappear \(DisappearTime(seconds: $0).words) after they were read"
            } ?? "messages stay"
        try Output.show(set, json: output.json, as: "conversations that you begin  \(words)")
    }
}

struct PrivacyTell: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "tell",
        abstract: "show or set whether others see what you read, and that you type",
        discussion: """
            Without a conversation it holds for all that have no setting of their own; usual ends \
            such a setting. All your devices follow it, and still know what you have read. While \
            you tell nobody what you have read, you are not shown what others have read there \
            either, and likewise of typing. That your device has received a message is told as \
            ever, and what was told before stays. `parley presence tell` is about whether you are \
            online.

            Example:
              parley privacy tell --receipts off
              parley privacy tell ben --receipts on --typing off
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
