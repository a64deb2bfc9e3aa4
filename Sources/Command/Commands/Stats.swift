import ArgumentParser
import Parley
import ParleyWire

struct StatsCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "show how much is stored, and how it grows",
        discussion: """
            Shows the messages of each conversation, in all and in the last days, the operations \
            of each device, and how much disk all of it takes. None of these figures leaves this \
            device.

            Example:
              parley stats
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let stats = try await node.perform(GetStats())
        try Output.show(stats, json: output.json, as: Self.text(stats))
    }

    static func text(_ stats: StatsView) -> String {
        var parts: [String] = []
        var sizes = Table()
        sizes.add("database", bytes(stats.databaseByteCount))
        sizes.add("files", bytes(Int(clamping: stats.fileByteCount)))
        let week = stats.days.suffix(7).reduce(0, +)
        let more = stats.isCountPartial ? "more than " : ""
        sizes.add("last 7 days", "\(more)\(counted(week, "message"))")
        sizes.add("last 30 days", "\(more)\(counted(stats.days.reduce(0, +), "message"))")
        if stats.days.contains(where: { $0 > 0 }) { sizes.add("by day", bars(stats.days)) }
        parts.append(sizes.text)
        if !stats.conversations.isEmpty {
            parts.append(
                Table(
                    stats.conversations.map { one in
                        [
                            one.name, counted(one.messageCount, "message"),
                            counted(one.operationCount, "operation"),
                            one.weekCount > 0 ? "\(one.weekCount) in 7 days" : "",
                        ]
                    }
                ).text)
        }
        parts.append(
            Table(
                stats.devices.map { one in
                    [
                        one.person.isEmpty ? "–" : one.person, String(one.device.prefix(8)),
                        one.isThis ? "this device" : "", counted(one.messageCount, "message"),
                        counted(one.operationCount, "operation"),
                    ]
                }
            ).text)
        return parts.joined(separator: "\n\n")
    }

    /// A bar for each day, the oldest first.
    private static func bars(_ days: [Int]) -> String {
        let signs = Array("▁▂▃▄▅▆▇█")
        let most = max(1, days.max() ?? 1)
        return String(
            days.map { $0 == 0 ? " " : signs[($0 * (signs.count - 1) + most - 1) / most] })
    }
}
