import ArgumentParser
import Parley
import ParleyWire

struct ConversationDisappear: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "disappear",
        abstract: "let new messages of a conversation disappear",
        discussion: """
            What is written from then on is erased from everybody's devices that long after it was \
            read there, and from the author's that long after somebody's device has it: with its \
            files, from the search too. In a group an owner or admin may set it, in a conversation \
            of two either of you. Messages that disappear cannot be edited, pinned or starred. \
            Who was away gets it from whoever has not read it yet, or from a relay; what has \
            disappeared everywhere by then they never see. Whoever reads one can still copy it, \
            and a backup has what was there when it was made.

            Without a time it shows what is set; --off has new messages stay.

            Example:
              parley conversations disappear ben 1d
              parley conversations disappear ben --off
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "how long messages stay: 30s, 5m, 8h, 1d, 4w; a year at most")
    var time: DisappearTime?
    @Flag(name: .long, help: "have new messages stay")
    var off = false

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if off, time != nil { throw ValidationError("A time and --off exclude each other.") }
    }

    func run(with node: any NodeService) async throws {
        if off || time != nil {
            try await node.perform(
                SetMessageLifetime(
                    conversation: conversation, seconds: off ? 0 : time?.seconds ?? 0))
        }
        let shown = try await node.perform(GetConversation(conversation: conversation))
        let words =
            shown.lifetime.map {
                "new messages disappear \(DisappearTime(seconds: $0).words) after they were read"
            } ?? "new messages stay"
        try Output.show(shown, json: output.json, as: "\(harmless(shown.name))  \(words)")
    }
}

/// How long a message stays.
struct DisappearTime: ExpressibleByArgument, Equatable {
    /// In seconds.
    let seconds: UInt64

    init(seconds: UInt64) { self.seconds = seconds }

    private static let units: [(letter: Character, seconds: UInt64, name: String)] = [
        ("w", 604_800, "week"), ("d", 86_400, "day"), ("h", 3_600, "hour"), ("m", 60, "minute"),
        ("s", 1, "second"),
    ]

    /// A number and a unit, as 30s, 5m, 8h, 1d or 4w.
    init?(argument: String) {
        guard let unit = Self.units.first(where: { $0.letter == argument.last }),
            argument.dropLast().allSatisfy(\.isASCII), let count = UInt64(argument.dropLast()),
            (1...SetMessageLifetime.secondsMax / unit.seconds).contains(count)
        else { return nil }
        seconds = count * unit.seconds
    }

    /// In words, in the greatest unit that it is a whole number of.
    var words: String {
        let unit = Self.units.first { seconds.isMultiple(of: $0.seconds) } ?? Self.units[4]
        return counted(Int(seconds / unit.seconds), unit.name, unit.name + "s")
    }

    /// What stands beside a message that disappears; nil of any other.
    static func mark(of message: MessageView) -> String? {
        guard let lifetime = message.lifetime else { return nil }
        if let time = message.disappears { return "(disappears \(Clock().moment(time)))" }
        let event = message.isOwn ? "delivered" : "read"
        return "(disappears \(DisappearTime(seconds: lifetime).words) after it is \(event))"
    }
}
