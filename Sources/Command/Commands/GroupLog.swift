import ArgumentParser
import Parley
import ParleyWire

struct GroupLogCommand: OneGroupCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "show what changed in a group, and by whom",
        discussion: """
            The newest is the last: who came and went, roles, the name, the description and the \
            picture, rules and settings, how long messages stay, pins, and links with which \
            people join. Times are those of the clocks of who did it.

            Example:
              parley group log trip
            """)

    @OptionGroup var options: GroupOptions
    @OptionGroup var output: OutputOptions
    @Option(name: .long, help: "how many, at most \(GetGroupLog.limitMax)")
    var limit = 50
    @Option(
        name: .long,
        help: ArgumentHelp("continue above where the previous list began", valueName: "cursor"))
    var before: String?

    func validate() throws {
        guard (1...GetGroupLog.limitMax).contains(limit) else {
            throw ValidationError("--limit must be from 1 to \(GetGroupLog.limitMax).")
        }
    }

    func run(with node: any NodeService) async throws {
        let page = try await node.perform(
            GetGroupLog(conversation: group, limit: limit, before: before))
        if !output.json, let before = page.before {
            World.current.advise("earlier: parley group log \(group) --before \(before)")
        }
        try Output.show(page, json: output.json, as: Self.text(page))
    }

    static func text(_ page: GroupLogPage) -> String {
        let clock = Clock()
        return page.entries.map { entry in
            let mark = entry.timeDoubt == nil ? "" : "  (that clock is ahead)"
            return "\(clock.moment(entry.time))  \(line(of: entry))\(mark)"
        }.joined(separator: "\n")
    }

    /// `ann renamed it to “walks”`.
    static func line(of entry: GroupLogEntry) -> String {
        let author = entry.isOwn ? "you" : entry.author.map { harmless($0) } ?? "somebody"
        let persons = entry.persons.map { harmless($0) }.joined(separator: ", ")
        let text = harmless(entry.text ?? "")
        switch entry.change {
        case "created": return "\(author) created it" + (persons.isEmpty ? "" : " with \(persons)")
        case "added":
            let role = entry.role.map { $0 == "member" ? "" : " as \($0)" } ?? ""
            return "\(author) added \(persons)\(role)"
        case "joined": return "\(persons) joined with a link of \(author)"
        case "removed": return "\(author) removed \(persons)"
        case "left": return "\(persons) left"
        case "declined": return "\(persons) declined"
        case "role": return "\(author) made \(persons) \(entry.role ?? "something else")"
        case "devices-added": return "\(persons) has a new device"
        case "device-revoked": return "a device of \(persons) was revoked"
        case "settings": return "\(author) set: " + settings(entry).joined(separator: ", ")
        case "link-opened":
            let uses = counted(entry.uses ?? 0, "person", "persons")
            return "\(author) opened a link for \(uses) to join as \(entry.role ?? "member")"
        case "link-closed": return "\(author) closed a link"
        case "name": return "\(author) named it “\(text)”"
        case "description":
            return text.isEmpty
                ? "\(author) removed the description" : "\(author) described it: \(text)"
        case "picture":
            return entry.isShown == true
                ? "\(author) set a picture" : "\(author) removed the picture"
        case "lifetime":
            guard let seconds = entry.seconds, seconds > 0 else {
                return "\(author) let new messages stay"
            }
            let time = DisappearTime(seconds: seconds).words
            return "\(author) let new messages disappear \(time) after they were read"
        case "pinned": return "\(author) pinned \(message(entry))"
        case "unpinned": return "\(author) unpinned \(message(entry))"
        default: return "\(author) changed something that this version does not know"
        }
    }

    private static func message(_ entry: GroupLogEntry) -> String {
        entry.number.map { "#\($0)" } ?? "a message that is not here"
    }

    private static func settings(_ entry: GroupLogEntry) -> [String] {
        var said: [String] = []
        switch entry.history {
        case nil: break
        case "none": said.append("newcomers see no messages from before")
        case "all": said.append("newcomers see all messages from before")
        case let days?: said.append("newcomers see messages of the last \(days.dropLast()) days")
        }
        if let hours = entry.rotationHours {
            said.append("keys are replaced after \(counted(hours, "hour"))")
        }
        for (rule, words) in [
            (entry.write, "write"), (entry.add, "add people"), (entry.pin, "pin messages"),
            (entry.invite, "open links"),
        ] {
            guard let rule else { continue }
            said.append(
                rule == .everybody
                    ? "every member may \(words)" : "only owners and admins \(words)")
        }
        return said
    }
}
