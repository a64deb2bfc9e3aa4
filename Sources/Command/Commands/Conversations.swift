import ArgumentParser
import Parley

struct Conversations: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "conversations",
        abstract: "list your conversations, newest first",
        discussion: """
            Shows how many messages you have not read, how many of them mention you, and who is in each; apart from them those that \
            you put away with `parley archive`; then who asks to be your contact.

            Example:
              parley conversations
            """,
        subcommands: [ConversationDelete.self])

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let all = try await node.perform(ListConversations())
        try Output.show(all, json: output.json, as: Self.text(all))
        try await Losses.warn(ofMissingIn: all, on: node)
        if output.json { return }
        for again in all where again.isInvited {
            World.current.advise(
                "you were added to \(harmless(again.name)) again: parley invitations accept "
                    + "\(again.id.prefix(8)), or parley invitations decline \(again.id.prefix(8))")
        }
        for notice in all.compactMap(Self.notice(of:)) { World.current.say(notice) }
        Self.warn(all)
        let requests = try await node.perform(ListContacts()).filter { $0.state == "pending" }
        for contact in requests { World.current.advise(Contacts.request(contact)) }
        let joins = try await node.perform(ListJoins())
        GroupJoin.tell(joins)
        if all.isEmpty, requests.isEmpty, joins.isEmpty {
            try await World.current.say(
                "none yet", way: "parley invite, or parley group create NAME", on: node)
        }
    }

    /// That a device has nothing from before its person came back, or nothing of a group that they were out
    /// of before it was theirs; nil of any other conversation.
    static func notice(of one: ConversationView) -> String? {
        let name = harmless(one.name)
        if one.lacksEarlier, one.kind == "direct" {
            return "notice: what was said with \(name) before that was deleted here is not here"
        }
        if one.lacksEarlier {
            return
                "notice: what was said in \(name) before you went and came back is not here: only "
                + "devices that held it then have it"
        }
        guard let devices = one.heldOn else { return nil }
        guard !devices.isEmpty else {
            return "notice: what was said in \(name) is on none of your devices"
        }
        return "notice: what was said in \(name) is only on "
            + devices.map { harmless($0) }.joined(separator: " and on ")
    }

    /// Names conversations for which a list of shared work lacks what was there before they were
    /// deleted on this device.
    ///
    /// - Parameter conversation: the one that is listed; nil where all are.
    static func sayWhatIsLacking(
        in conversation: String?, on node: any NodeService
    ) async throws {
        let listed =
            if let conversation {
                [try await node.perform(GetConversation(conversation: conversation))]
            } else {
                try await node.perform(ListConversations())
            }
        for one in listed where one.lacksShared {
            World.current.say(
                "notice: what was done together in \(harmless(one.name)) before you deleted that on this "
                    + "device is not here")
        }
    }

    /// Says which conversations could be taken for each other: once of those that look alike.
    static func warn(_ all: [ConversationView]) {
        var told: Set<String> = []
        for one in all where !one.resembles.isEmpty {
            let name = "\(one.name) (\(one.id.prefix(8)))"
            guard !told.contains(name) else { continue }
            told.formUnion([name] + one.resembles)
            World.current.say(
                "notice: " + harmless("\(name) is not ")
                    + harmless(one.resembles.joined(separator: ", "))
                    + ", whose name looks the same: go by the identifier")
        }
    }

    static func text(_ conversations: [ConversationView]) -> String {
        let archived = conversations.filter(\.isArchived)
        let parts =
            [rows(conversations.filter { !$0.isArchived })]
            + (archived.isEmpty ? [] : ["archived\n" + rows(archived)])
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// How many messages are unread, and how many of these mention this person.
    private static func unread(_ conversation: ConversationView) -> String {
        var parts: [String] = []
        if conversation.unread > 0 {
            parts.append("\(conversation.unread) new")
        } else if conversation.isMarkedUnread {
            parts.append("unread")
        }
        let count = conversation.unreadMentions
        if count > 0 { parts.append(count == 1 ? "1 mentions you" : "\(count) mention you") }
        return parts.joined(separator: ", ")
    }

    private static func rows(_ conversations: [ConversationView]) -> String {
        let clock = Clock()
        return Table(
            conversations.map { conversation in
                [
                    conversation.name, String(conversation.id.prefix(8)),
                    conversation.newest.map(clock.moment) ?? "-",
                    unread(conversation),
                    conversation.mutedUntil.map { "muted until \(clock.moment($0))" }
                        ?? (conversation.isMuted ? "muted" : ""),
                    conversation.isInvited
                        ? "invited again"
                        : conversation.supersededBy.map { "goes on in \($0.prefix(8))" }
                            ?? conversation.waitingFor
                            ?? (conversation.isOut ? "you are not in it any more" : ""),
                    conversation.draft.map { "draft: \($0)" } ?? "",
                    conversation.members.joined(separator: ", "),
                ]
            }
        ).text
    }
}

struct ConversationDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "forget a conversation on this device, for good",
        discussion: """
            A group that you left or declined, or a conversation with somebody whom you blocked. \
            Messages, keys and what searches find of it go; others keep theirs, and so do your other \
            devices; a new device is not told of it. It comes back when somebody adds you again, \
            without what was here.

            Example:
              parley conversations delete trip
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation")
    var conversation: String

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        let gone = try await node.perform(DeleteConversation(conversation: conversation))
        try Output.show(
            gone, json: output.json,
            as: "deleted here: “\(gone.name)” (\(gone.conversation.prefix(8)))")
    }
}

struct Mute: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "mute",
        abstract: "silence a conversation",
        discussion: """
            On all of your devices, until --off ends it, or for as long as --for says. Only you know about \
            it. What mentions you there is counted and listed all the same.

            Example:
              parley mute home
              parley mute trip --for 8h
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation")
    var conversation: String
    @Option(
        name: .customLong("for"), help: "how long, 1h to 30d",
        transform: Lifetime.init(argument:))
    var time: Lifetime?
    @Flag(name: .long, help: "hear it again")
    var off = false

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if off, time != nil { throw ValidationError("one of --for and --off") }
    }

    func run(with node: any NodeService) async throws {
        try await node.perform(
            MuteConversation(conversation: conversation, on: !off, hours: time?.hours))
    }
}
