import ArgumentParser
import Parley

struct Follow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "show what happens, as it happens",
        discussion: """
            Needs a running node. Shows every message that comes or changes, calls, who types \
            and who is there, in all conversations or in one, until Ctrl-C. With --json, one object a line.

            Example:
              parley follow home
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "only this conversation")
    var conversation: String?

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
    }

    func run() async throws {
        try await World.current.lend(place) { access in
            guard access.isRunning else {
                throw NodeError(
                    "not-running", "the node does not run, so nothing can happen",
                    hint: "start it with: parley run")
            }
            try await follow(access.node)
        }
    }

    private func follow(_ node: any NodeService) async throws {
        // Asked for first: nothing falls between the list and the changes.
        let changes = try await node.changes()
        var names = try await Self.names(node)
        var only: String?
        if let conversation { only = try await node.conversation(conversation).id }
        var lines = MessageLines(for: [])
        var calls = CallLines()
        var missedCounts: [String: Int] = [:]
        // How many events of each conversation were shown.
        var told: [String: Int] = [:]
        for id in names.keys.sorted() {
            told[id] = try await node.events(conversation: id).count
            missedCounts[id] = try await node.callRecords(conversation: id).count {
                $0.isMissed && $0.outcome != "begun"
            }
        }
        for await change in changes {
            if let only, change.conversation != only { continue }
            if output.json {
                World.current.write(try Output.json(change))
                continue
            }
            if let notice = change.notice { World.current.write(harmless(notice)) }
            if let call = change.call {
                for line in calls.add(call) { World.current.write(line) }
            }
            if change.kind == "calls", let id = change.conversation {
                // What was missed while this node was away; the rest was shown as it went on.
                let missed = try await node.callRecords(conversation: id).filter {
                    $0.isMissed && $0.outcome != "begun"
                }
                for record in missed.dropFirst(missedCounts[id] ?? 0) {
                    let name = only == nil ? harmless(names[id] ?? "?") + ": " : ""
                    for line in lines.add(CallLines.text(record), at: record.time) {
                        World.current.write(name + line)
                    }
                }
                missedCounts[id] = missed.count
            }
            Self.say(change, in: only == nil ? names[change.conversation ?? ""] ?? "?" : nil)
            if change.kind == "members", let id = change.conversation {
                if names[id] == nil { names = try await Self.names(node) }
                let name = only == nil ? harmless(names[id] ?? "?") + ": " : ""
                let events = try await node.events(conversation: id)
                for event in events.dropFirst(told[id] ?? max(0, events.count - 1)) {
                    for line in lines.add(event) { World.current.write(name + line) }
                }
                told[id] = events.count
            }
            guard let message = change.message else { continue }
            if names[message.conversation] == nil { names = try await Self.names(node) }
            let name = only == nil ? harmless(names[message.conversation] ?? "?") + ": " : ""
            for line in lines.add(message) { World.current.write(name + line) }
        }
        throw NodeError("node-stopped", "the node has stopped", hint: "parley run")
    }

    /// Who types, and who is there: talk, which may be forgotten.
    private static func say(_ change: ChangeView, in conversation: String?) {
        if let typing = change.typing, !typing.isEmpty {
            let name = conversation.map { harmless($0) + ": " } ?? ""
            World.current.say(name + harmless(typing.joined(separator: ", ")) + " …")
        }
        if let presence = change.presence, let name = change.name {
            World.current.say("\(harmless(name)) is \(presence)")
        }
    }

    private static func names(_ node: any NodeService) async throws -> [String: String] {
        let all = try await node.conversations()
        return Dictionary(all.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    }
}
