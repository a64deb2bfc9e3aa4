import ArgumentParser
import Parley
import ParleyWire

struct Conversations: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "conversations",
        abstract: "list your conversations, newest first",
        discussion: """
            Shows how many messages you have not read, how many of them mention you, the last words, \
            and who is in each; then, separately, those that you archived; then contact requests. \
            Those that you keep first stand above the others.

            Example:
              parley conversations
            """,
        subcommands: [
            ConversationFirst.self, ConversationDisappear.self, ConversationDelete.self,
        ])

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let all = try await node.perform(ListConversations())
        try Output.show(all, json: output.json, as: Self.text(all))
        try await Losses.warn(ofMissingIn: all, on: node)
        if output.json { return }
        for again in all where again.isInvited {
            World.current.advise(
                "you were invited to \(harmless(again.name)) again: parley invitations "
                    + "accept \(again.id.prefix(8)), or parley invitations decline "
                    + "\(again.id.prefix(8))")
        }
        for notice in all.compactMap(Self.notice(of:)) { World.current.say(notice) }
        Self.warn(all)
        let requests = try await node.perform(ListContacts()).filter { $0.state == "pending" }
        for contact in requests { World.current.advise(Contacts.request(contact)) }
        let joins = try await node.perform(ListJoins())
        GroupJoin.tell(joins)
        if all.isEmpty, requests.isEmpty, joins.isEmpty {
            try await World.current.say(
                "No conversations yet.",
                way: "`parley invite` or `parley group create NAME` begins one.", on: node)
        }
    }

    /// That a device has nothing from before its person came back, or nothing of a group that they were out
    /// of before it was theirs; nil of any other conversation.
    static func notice(of one: ConversationView) -> String? {
        let name = harmless(one.name)
        if one.lacksEarlier, one.kind == "direct" {
            return
                "notice: messages with \(name) from before you deleted that conversation "
                + "here are not here"
        }
        if one.lacksEarlier, one.holdsEarlier {
            return
                "notice: some messages in \(name) from before you came back are not here: only "
                + "devices that were in it then have them"
        }
        if one.lacksEarlier {
            return
                "notice: messages in \(name) from before you left and came back are not "
                + "here: only devices that were in it then have them"
        }
        guard let devices = one.heldOn else { return nil }
        guard !devices.isEmpty else {
            return "notice: the messages in \(name) are on none of your devices"
        }
        return "notice: the messages in \(name) are only on "
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
                "notice: polls, notes and the like in \(harmless(one.name)) from before "
                    + "you deleted it on this device are not here")
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
                    + ", whose name looks the same: tell them apart by the identifier")
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
        if count > 0 { parts.append(counted(count, "mentions you", "mention you")) }
        if conversation.isKeptFirst { parts.append("first") }
        if conversation.lifetime != nil { parts.append("disappearing") }
        return parts.joined(separator: ", ")
    }

    /// The newest message, as much as a column of a list takes.
    private static func lastWords(_ conversation: ConversationView) -> String {
        conversation.last.map { Columns.cut("\($0.author): \($0.words)", to: 40) } ?? ""
    }

    private static func rows(_ conversations: [ConversationView]) -> String {
        let clock = Clock()
        return Table(
            conversations.map { conversation -> [String] in
                let members = VisibleName.list(conversation.members)
                return [
                    conversation.name, String(conversation.id.prefix(8)),
                    conversation.newest.map(clock.moment) ?? "-",
                    unread(conversation),
                    conversation.mutedUntil.map { "muted until \(clock.moment($0))" }
                        ?? (conversation.isMuted ? "muted" : ""),
                    conversation.isInvited
                        ? "invited again"
                        : conversation.supersededBy.map { "continues in \($0.prefix(8))" }
                            ?? conversation.waitingFor
                            ?? (conversation.isOut ? "you are not in it any more" : ""),
                    conversation.draft.map { "draft: \($0)" } ?? lastWords(conversation),
                    members,
                ]
            }
        ).text
    }
}

struct ConversationFirst: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "first",
        abstract: "list a conversation above the others",
        discussion: """
            It stands at the top of `parley conversations`, of the page and of `parley chat`, on all \
            of your devices, until --off ends that. Only you know about it.

            Example:
              parley conversations first trip
              parley conversations first trip --off
            """)

    @OptionGroup var place: HomeOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Flag(name: .long, help: "list it by its newest message again")
    var off = false

    func validate() throws { try Check.name(conversation, "a conversation's name") }

    func run(with node: any NodeService) async throws {
        try await node.perform(KeepConversationFirst(conversation: conversation, on: !off))
    }
}

struct ConversationDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete a conversation from this device, for good",
        discussion: """
            It must be a group that you left or declined, or a conversation with somebody whom you \
            blocked. Its messages, keys and search entries are deleted here; others and your other \
            devices keep theirs, and a new device of yours does not get it. It comes back when \
            somebody adds you again, without its earlier messages.

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
        abstract: "mute a conversation",
        discussion: """
            It is muted on all of your devices, until --off ends that or for as long as --for \
            says. Only you know about it. Messages that mention you there are still counted and \
            listed.

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
    @Flag(name: .long, help: "unmute it")
    var off = false

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if off, time != nil { throw ValidationError("--for and --off exclude each other.") }
    }

    func run(with node: any NodeService) async throws {
        try await node.perform(
            MuteConversation(conversation: conversation, on: !off, hours: time?.hours))
    }
}
