import ArgumentParser
import Foundation
import Parley
import ParleyWire

struct ScheduleCommandLine: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "send a message later",
        discussion: """
            --at is a day and a time, a time in the next 24 hours, or how long from now. This \
            device sends it, by its own clock; if its node is not running then, it is sent when it \
            runs again. All of your devices list it with `parley scheduled`, and nobody else \
            learns of it before. Without a text, standard input is the message.

            Example:
              parley schedule trip "happy birthday, @ben!" --at "2026-12-01 07:00"
              parley schedule home "the washing is done" --at 45m
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var mentions: MentionOptions
    @Argument(help: "the conversation, or the person")
    var conversation: String
    @Argument(help: "the text; without it, standard input")
    var text: String?
    @Option(
        name: .customLong("at"),
        help: ArgumentHelp("when: 30m, 2h, 3d, 09:00 or “2026-12-01 09:00”", valueName: "time"),
        transform: RingTime.init(argument:))
    var time: RingTime

    func validate() throws {
        try Check.name(conversation, "a conversation's name")
        if let text { try Check.text(text) }
    }

    func run(with node: any NodeService) async throws {
        let moment = try time.fromNow()
        let texts = try Composition.texts(argument: text, areLines: false)
        let scheduled = try await node.perform(
            ScheduleMessage(
                conversation: conversation, text: texts[0], time: moment,
                withoutMentions: mentions.without))
        try Output.show(scheduled, json: output.json, as: ScheduledLines.text([scheduled]))
    }
}

struct ScheduledCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scheduled",
        abstract: "list messages that are to be sent later, move and delete them",
        discussion: """
            The one that is sent first comes first. `move` gives one another time, `send` sends \
            one now, and `delete` deletes one, so that it is not sent. `move` and `send` have this \
            device send it, for example if the other one is lost.

            Example:
              parley scheduled
              parley scheduled move 1a2b3c4d --at 18:00
            """,
        subcommands: [
            ScheduledList.self, ScheduledMove.self, ScheduledSend.self, ScheduledDelete.self,
        ], defaultSubcommand: ScheduledList.self)
}

struct ScheduledList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list messages to be sent later; `parley scheduled` alone does the same",
        discussion: """
            A message that could not be sent when its time had come, for example since you were \
            out of the group, says so and stays until you move, send or delete it.

            Example:
              parley scheduled list --json
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions

    func run(with node: any NodeService) async throws {
        let found = try await node.perform(ListScheduled())
        try Output.show(found, json: output.json, as: ScheduledLines.text(found))
        if found.isEmpty, !output.json { World.current.say("nothing is to be sent later") }
    }
}

struct ScheduledMove: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "send a message at another time, from this device",
        discussion: """
            The device that was to send it no longer does, once it learns of that.

            Example:
              parley scheduled move 1a2b3c4d --at 18:00
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its identifier, or a start of that")
    var scheduled: String
    @Option(
        name: .customLong("at"),
        help: ArgumentHelp("when: 30m, 2h, 3d, 09:00 or “2026-12-01 09:00”", valueName: "time"),
        transform: RingTime.init(argument:))
    var time: RingTime

    func validate() throws { try Check.name(scheduled, "a scheduled message's identifier") }

    func run(with node: any NodeService) async throws {
        let former = try await node.perform(ListScheduled()).filter(\.isOutOfReach)
        let shown = try await node.perform(
            MoveScheduled(scheduled: scheduled, time: time.fromNow()))
        try Output.show(shown, json: output.json, as: ScheduledLines.text([shown]))
        former.filter { $0.id == shown.id }.forEach(ScheduledLines.warn)
    }
}

struct ScheduledSend: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "send a message now that was to be sent later",
        discussion: """
            This device sends it. Another one that was to send it no longer does, once it learns of \
            that.

            Example:
              parley scheduled send 1a2b3c4d
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its identifier, or a start of that")
    var scheduled: String

    func validate() throws { try Check.name(scheduled, "a scheduled message's identifier") }

    func run(with node: any NodeService) async throws {
        let sent = try await node.perform(SendScheduled(scheduled: scheduled))
        try Output.show(["sent": sent.id], json: output.json, as: "")
        if !output.json { World.current.say("saved: \(sent.id.prefix(8))") }
        ScheduledLines.warn(of: sent)
    }
}

struct ScheduledDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete a message that was to be sent later",
        discussion: """
            It is deleted on all of your devices, and not sent. A device that is to send it and is \
            away does so if its time comes before it learns of that.

            Example:
              parley scheduled delete 1a2b3c4d
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its identifier, or a start of that")
    var scheduled: String

    func validate() throws { try Check.name(scheduled, "a scheduled message's identifier") }

    func run(with node: any NodeService) async throws {
        let gone = try await node.perform(DeleteScheduled(scheduled: scheduled))
        try Output.show(["deleted": gone.id], json: output.json, as: "")
        if !output.json { World.current.say("deleted: \(gone.id.prefix(8))") }
        ScheduledLines.warn(of: gone)
    }
}
