import ArgumentParser
import Parley
import ParleyWire

struct ActionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "action",
        abstract: "action items: what is to be done, by whom and by when",
        discussion: """
            Everybody in the conversation sees an item, and can change it or mark it as done. If \
            two people change its title at the same time, both titles are shown until somebody \
            chooses one.

            Example:
              parley action new trip "book the hut" --for ben --due 2026-12-01
              parley action done 12
            """,
        subcommands: [
            ActionNew.self, ActionSuggest.self, ActionDone.self, ActionReopen.self, ActionEdit.self,
            ActionShow.self,
            ActionList.self, ActionDelete.self,
        ])
}

struct ActionNew: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "create an action item",
        discussion: """
            --for may be given several times, and accepts “me”. --from names the message that the \
            item comes from.

            Example:
              parley action new trip "book the hut" --for ben --due 2026-12-01 --from 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "what is to be done")
    var title: String
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("who is to do it", valueName: "person"))
    var assignees: [String] = []
    @Option(name: .long, help: ArgumentHelp("the day by which it is due", valueName: "2026-12-01"))
    var due: String?
    @Option(name: .long, help: "further notes")
    var notes: String?
    @Option(
        name: .customLong("from"),
        help: ArgumentHelp("the message that it comes from", valueName: "message"))
    var source: MessageArgument?

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        try Check.text(title, "the title", max: Limits.itemTitleByteCountMax)
        for person in assignees { try Check.name(person, "a person's name") }
        try ActionEdit.check(due)
    }

    func run(with node: any NodeService) async throws {
        let item = try await node.perform(
            CreateItem(
                conversation: conversation, title: title, assignees: assignees, due: due,
                notes: notes, source: source?.reference))
        try Output.show(item, json: output.json, as: ItemLines.text([item], isWhole: true))
    }
}

struct ActionDone: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "done",
        abstract: "mark an action item as done",
        discussion: """
            Everybody sees that you marked it; `parley action reopen` undoes that.

            Example:
              parley action done 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var item: MessageArgument

    func run(with node: any NodeService) async throws {
        let item = try await node.perform(ChangeItem(item: item.reference, done: true))
        try Output.show(item, json: output.json, as: ItemLines.text([item]))
    }
}

struct ActionReopen: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reopen",
        abstract: "reopen an action item",
        discussion: """
            It is listed again as not done.

            Example:
              parley action reopen 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var item: MessageArgument

    func run(with node: any NodeService) async throws {
        let item = try await node.perform(ChangeItem(item: item.reference, done: false))
        try Output.show(item, json: output.json, as: ItemLines.text([item]))
    }
}

struct ActionEdit: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "change an action item: its title, people, due day or notes",
        discussion: """
            --title replaces all titles that the item has. --for and --not-for may be given \
            several times, and accept “me”; --due "" removes the due day.

            Example:
              parley action edit 12 --due 2026-12-08 --not-for ben --for me
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var item: MessageArgument
    @Option(name: .long, help: "what is to be done")
    var title: String?
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("somebody else who is to do it", valueName: "person"))
    var adding: [String] = []
    @Option(
        name: .customLong("not-for"),
        help: ArgumentHelp("somebody who no longer has to do it", valueName: "person"))
    var removing: [String] = []
    @Option(name: .long, help: ArgumentHelp("the day by which it is due", valueName: "2026-12-01"))
    var due: String?
    @Option(name: .long, help: "further notes")
    var notes: String?

    static func check(_ due: String?) throws {
        guard let due, CalendarDay.day(due) == nil else { return }
        throw ValidationError("A day is written as 2026-12-01.")
    }

    func validate() throws {
        if let title { try Check.text(title, "the title", max: Limits.itemTitleByteCountMax) }
        for person in adding + removing { try Check.name(person, "a person's name") }
        if due?.isEmpty == false { try Self.check(due) }
        if title == nil, due == nil, notes == nil, adding.isEmpty, removing.isEmpty {
            throw ValidationError("Give one of --title, --for, --not-for, --due and --notes.")
        }
    }

    func run(with node: any NodeService) async throws {
        let item = try await node.perform(
            ChangeItem(
                item: item.reference, title: title, due: due, notes: notes, adding: adding,
                removing: removing))
        try Output.show(item, json: output.json, as: ItemLines.text([item], isWhole: true))
    }
}

struct ActionShow: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "show an action item in full",
        discussion: """
            Also shows its notes, and the message that it comes from.

            Example:
              parley action show 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var item: MessageArgument

    func run(with node: any NodeService) async throws {
        let item = try await node.perform(GetItem(item: item.reference))
        try Output.show(item, json: output.json, as: ItemLines.text([item], isWhole: true))
    }
}

struct ActionList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list action items, the earliest due first",
        discussion: """
            Lists those of all conversations, or of one. --mine shows what you are to do, --done \
            what is done, --all what is done and what is not.

            Example:
              parley action list --mine
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "only this conversation")
    var conversation: String?
    @Flag(name: .long, help: "only what you are to do")
    var mine = false
    @Flag(name: .long, help: "only what is done")
    var done = false
    @Flag(name: .long, help: "also what is done")
    var all = false

    func validate() throws {
        if let conversation { try Check.name(conversation, "a conversation's name") }
        if done, all { throw ValidationError("--done and --all exclude each other.") }
    }

    func run(with node: any NodeService) async throws {
        let items = try await node.perform(ListItems(conversation: conversation, mine: mine))
            .filter { all || ($0.doneBy != nil) == done }
        try Output.show(items, json: output.json, as: ItemLines.text(items))
        if items.isEmpty, !output.json {
            World.current.say(done ? "nothing is done yet" : "nothing to do")
        }
        if !output.json { try await Conversations.sayWhatIsLacking(in: conversation, on: node) }
    }
}

struct ActionDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete an action item for everyone",
        discussion: """
            Its author may do that, and in a group also an admin. It cannot be undone.

            Example:
              parley action delete 12
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its number, or its identifier")
    var item: MessageArgument

    func run(with node: any NodeService) async throws {
        let gone = try await node.perform(GetItem(item: item.reference))
        try await node.perform(DeleteItem(item: item.reference))
        try Output.show(gone, json: output.json, as: "")
        if !output.json { World.current.say("deleted: \(harmless(gone.title))") }
    }
}
