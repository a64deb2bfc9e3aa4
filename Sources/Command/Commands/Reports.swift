import ArgumentParser
import Parley
import ParleyWire

struct GroupReport: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "report a message to the admins of its group",
        discussion: """
            Each admin with whom you have a conversation gets it there, with what you say about \
            it; nobody else does, and an admin who wrote the message does not either. Admins list \
            reports with `parley group reports`.

            Example:
              parley group report 12 "this is spam"
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the message: its number, or its identifier")
    var message: MessageArgument
    @Argument(help: "what you say about it")
    var words = ""

    func run(with node: any NodeService) async throws {
        let sent = try await node.perform(
            ReportMessage(message: message.reference, words: words))
        try Output.show(
            sent, json: output.json,
            as: "reported to \(sent.told.map { harmless($0) }.joined(separator: ", "))")
        guard !output.json, !sent.untold.isEmpty else { return }
        let names = sent.untold.map { harmless($0) }.joined(separator: ", ")
        World.current.say("notice: you have no conversation with \(names)")
    }
}

struct GroupReports: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reports",
        abstract: "list messages that were reported to you as an admin",
        discussion: """
            The last report comes first, with the message that it is about, and who reports it. A \
            report ends when you delete the message that brought it: the number in its first line.

            Example:
              parley group reports trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "only of this group")
    var group: String?
    @Option(name: .long, help: "how many, at most \(ListReports.limitMax)")
    var limit = 50
    @Option(name: .long, help: "continue where the previous list ended")
    var from: Int?

    func validate() throws {
        if let group { try Check.name(group, "a group's name") }
        guard (1...ListReports.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(ListReports.limitMax).")
        }
        if let from, from < 0 {
            throw ValidationError("--from takes the cursor that the previous list printed.")
        }
    }

    func run(with node: any NodeService) async throws {
        let page = try await node.perform(
            ListReports(conversation: group, limit: limit, from: from))
        try Output.show(page, json: output.json, as: Self.text(page))
        guard !output.json else { return }
        if page.reports.isEmpty { World.current.say("nothing was reported to you") }
        if let next = page.next {
            World.current.advise("more: parley group reports --from \(next)")
        }
    }

    static func text(_ page: ReportPage) -> String {
        page.reports.map { report in
            let head = "\(harmless(report.title)), reported by \(harmless(report.reporter))\n"
            let message = report.message.map { MessageLines.text([$0]) } ?? "(not on this device)"
            return head + MessageLines.text([report.words]) + "\n" + message
        }.joined(separator: "\n\n")
    }
}
