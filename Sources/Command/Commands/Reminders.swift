import ArgumentParser
import Foundation
import Parley
import ParleyWire

struct RemindCommand: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "remind",
        abstract: "have this device remind you of something",
        discussion: """
            A reminder is about a text, a message (--message), or an item, a poll or a decision \
            (--item). --at is a day and a time, a time in the next 24 hours, or how long from now. \
            All of your devices know of it; only this one rings, by its own clock, and \
            `parley follow` shows it. If the node is not running then, it rings when it runs \
            again. Nobody else learns of it.

            Example:
              parley remind "call the hut" --at "2026-12-01 09:00"
              parley remind --message 12 --at 2h
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "the text of the reminder")
    var text: String?
    @Option(name: .long, help: "the message that it is about")
    var message: MessageArgument?
    @Option(name: .long, help: "the item, poll or decision that it is about")
    var item: MessageArgument?
    @Option(
        name: .customLong("at"),
        help: ArgumentHelp("when: 30m, 2h, 3d, 09:00 or “2026-12-01 09:00”", valueName: "time"),
        transform: RingTime.init(argument:))
    var time: RingTime

    func validate() throws {
        if let text { try Check.text(text, "the text", max: Limits.reminderByteCountMax) }
        if message != nil, item != nil {
            throw ValidationError("--message and --item exclude each other.")
        }
        if text == nil, message == nil, item == nil {
            throw ValidationError("Give a text, --message or --item.")
        }
    }

    func run(with node: any NodeService) async throws {
        let reminder = try await node.perform(
            AddReminder(
                text: text, message: message?.reference, item: item?.reference,
                time: time.fromNow()))
        try Output.show(reminder, json: output.json, as: ReminderLines.text([reminder]))
    }
}

struct RemindersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reminders",
        abstract: "list your reminders, finish and delete them",
        discussion: """
            The one that rings first comes first. `done` finishes one, which --all still lists; \
            `delete` deletes it; and `here` makes it ring on this device, for example if the other \
            one is lost.

            Example:
              parley reminders
              parley reminders done 1a2b3c4d
            """,
        subcommands: [
            ReminderList.self, ReminderDone.self, ReminderHere.self, ReminderDelete.self,
        ], defaultSubcommand: ReminderList.self)
}

struct ReminderList: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "list reminders; `parley reminders` alone does the same",
        discussion: """
            --all also lists those that are done.

            Example:
              parley reminders list --all
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Flag(name: .long, help: "also those that are done")
    var all = false

    func run(with node: any NodeService) async throws {
        let found = try await node.perform(ListReminders()).filter { all || $0.state != "done" }
        try Output.show(found, json: output.json, as: ReminderLines.text(found))
        if found.isEmpty, !output.json { World.current.say("no reminders") }
    }
}

struct ReminderDone: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "done",
        abstract: "mark a reminder as done",
        discussion: """
            It no longer rings on any device.

            Example:
              parley reminders done 1a2b3c4d
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its identifier, or a start of that")
    var reminder: String

    func validate() throws { try Check.name(reminder, "a reminder's identifier") }

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(ChangeReminder(reminder: reminder, done: true))
        try Output.show(shown, json: output.json, as: ReminderLines.text([shown]))
    }
}

struct ReminderHere: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "here",
        abstract: "make a reminder ring on this device",
        discussion: """
            The device that was to ring no longer does, once it learns of that.

            Example:
              parley reminders here 1a2b3c4d
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its identifier, or a start of that")
    var reminder: String

    func validate() throws { try Check.name(reminder, "a reminder's identifier") }

    func run(with node: any NodeService) async throws {
        let shown = try await node.perform(ChangeReminder(reminder: reminder, done: false))
        try Output.show(shown, json: output.json, as: ReminderLines.text([shown]))
    }
}

struct ReminderDelete: NodeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "delete a reminder",
        discussion: """
            It is deleted on all of your devices.

            Example:
              parley reminders delete 1a2b3c4d
            """)

    @OptionGroup var place: HomeOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "its identifier, or a start of that")
    var reminder: String

    func validate() throws { try Check.name(reminder, "a reminder's identifier") }

    func run(with node: any NodeService) async throws {
        try await node.perform(DeleteReminder(reminder: reminder))
        try Output.show(["deleted": reminder], json: output.json, as: "")
        if !output.json { World.current.say("deleted: \(harmless(reminder))") }
    }
}

/// When a reminder rings, as a person writes it.
enum RingTime: Equatable {
    /// So many minutes from now.
    case minutes(UInt64)
    /// The next time that it is so late.
    case clock(hour: Int, minute: Int)
    /// On a day, in days since 1970, at a time.
    case day(UInt32, hour: Int, minute: Int)

    init(argument: String) throws {
        let units: [Character: UInt64] = ["m": 1, "h": 60, "d": 24 * 60]
        if let unit = argument.last.flatMap({ units[$0] }), argument.count > 1,
            argument.dropLast().allSatisfy({ $0.isASCII && $0.isNumber })
        {
            guard let count = UInt64(argument.dropLast()),
                (1...366 * 24 * 60 / unit).contains(count)
            else {
                throw ValidationError("A time from now can be 1m to 366d: give a day for later.")
            }
            self = .minutes(count * unit)
            return
        }
        let parts = argument.split(separator: " ")
        guard (1...2).contains(parts.count), let (hour, minute) = Self.time(parts[parts.count - 1])
        else { throw Self.malformed }
        guard parts.count == 2 else {
            self = .clock(hour: hour, minute: minute)
            return
        }
        guard let day = CalendarDay.day(String(parts[0])) else {
            let isWritten = parts[0].split(separator: "-").map(\.count) == [4, 2, 2]
            throw isWritten
                ? ValidationError("A day must be one of the calendar, up to 2199-12-31.")
                : Self.malformed
        }
        self = .day(day, hour: hour, minute: minute)
    }

    private static let malformed = ValidationError(
        "A time is written as 30m, 2h, 3d, 09:00 or \"2026-12-01 09:00\".")

    private static func time(_ text: Substring) -> (hour: Int, minute: Int)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), (0...23).contains(hour),
            (0...59).contains(minute)
        else { return nil }
        return (hour, minute)
    }

    /// The moment, in Unix milliseconds, as this machine's clock and its person's time zone have it.
    func fromNow() throws -> UInt64 {
        let now = UInt64(Date().timeIntervalSince1970 * 1_000)
        guard let moment = moment(after: now, in: World.current.timeZone) else {
            throw NodeError("bad-time", "There is no such time on that day in this time zone.")
        }
        return moment
    }

    /// The moment, in Unix milliseconds; nil where clocks leap over it.
    func moment(after now: UInt64, in zone: TimeZone) -> UInt64? {
        let clock = Clock(zone)
        func moment(_ day: UInt32, _ hour: Int, _ minute: Int) -> UInt64? {
            let wanted = UInt64(day) * 86_400_000 + UInt64(hour * 60 + minute) * 60_000
            // The zone's offset is that of the moment itself, so it is looked for once more.
            var moment = wanted
            for _ in 0..<2 { moment = clock.moment(ofLocal: wanted, near: moment) }
            return clock.local(moment) == wanted ? moment : nil
        }
        switch self {
        case .minutes(let count): return now + count * 60_000
        case .day(let day, let hour, let minute): return moment(day, hour, minute)
        case .clock(let hour, let minute):
            let today = UInt32(clock.local(now) / 86_400_000)
            return [today, today + 1].compactMap { moment($0, hour, minute) }.first { $0 > now }
        }
    }
}
