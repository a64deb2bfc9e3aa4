import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Has one reminded of a text, of a message or of something that people do together. It rings on this node alone.
public struct AddReminder: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "remind", RequestScope.write,
        "Sets a reminder of a text, a message, an action item, a poll or a decision, at a time."
    )
    /// An example of the request.
    public static let example = AddReminder(text: "call the hut", time: 1_800_000_000_000)

    /// Its text, of at most 1,024 bytes; nil if it is about something.
    public var text: String?
    /// The message that it is about.
    public var message: MessageReference?
    /// The item, poll or decision that it is about.
    public var item: MessageReference?
    /// When it rings, in Unix milliseconds.
    public var time: UInt64

    /// A request with these parameters.
    public init(
        text: String? = nil, message: MessageReference? = nil, item: MessageReference? = nil,
        time: UInt64
    ) {
        self.text = text
        self.message = message
        self.item = item
        self.time = time
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ReminderView {
        guard message == nil || item == nil else {
            throw NodeError(
                "two-subjects",
                "A reminder can be of a message or of an item, not of both.")
        }
        let number = try await node.read { views in
            try message.map { try views.message($0) }
                ?? item.map { try views.remindable($0) }
        }
        return try await node.reminder(.add(text: text ?? "", about: number, at: time))
    }
}

/// Reminders, present and past, by the time they ring; the same on all of the person's devices.
public struct ListReminders: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "reminders", RequestScope.read,
        "Reminders, also past ones, the first to ring first."
    )
    /// An example of the request.
    public static let example = ListReminders()

    /// The request.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [ReminderView] {
        try await node.read { try $0.reminders() }
    }
}

/// Does something about a reminder.
public struct ChangeReminder: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "changeReminder", RequestScope.write,
        "Marks a reminder as done, or makes it ring on this node."
    )
    /// An example of the request.
    public static let example = ChangeReminder(reminder: "1a2b3c4d", done: true)

    /// Which one: its identifier, or a start of that.
    public var reminder: String
    /// Whether one is done with it; else it rings on this node from now on.
    public var done: Bool

    /// A request with these parameters.
    public init(reminder: String, done: Bool) {
        self.reminder = reminder
        self.done = done
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ReminderView {
        let id = try await node.read { try $0.reminder(named: reminder) }
        return try await node.reminder(done ? .finish(id) : .take(id))
    }
}

/// Deletes a reminder for good, on all of the person's devices.
public struct DeleteReminder: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deleteReminder", RequestScope.write,
        "Deletes a reminder, on all of one's devices."
    )
    /// An example of the request.
    public static let example = DeleteReminder(reminder: "1a2b3c4d")

    /// Which one: its identifier, or a start of that.
    public var reminder: String

    /// A request with these parameters.
    public init(reminder: String) { self.reminder = reminder }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let id = try await node.read { try $0.reminder(named: reminder) }
        _ = try await node.write(.remind(.remove(id)))
        return NoReply()
    }
}

/// What one is to be reminded of, or was.
public struct ReminderView: Codable, Equatable, Sendable {
    /// Its identifier, in hex, the same on all of the person's devices.
    public var id: String
    /// When it rings, in Unix milliseconds.
    public var time: UInt64
    /// `waiting`, `rung` or `done`.
    public var state: String
    /// Its text, or the start of its subject.
    public var text: String
    /// Its subject, by its `id`; nil if the text says everything.
    public var subject: String?
    /// The conversation that this is in, in hex, and its name, where that is here.
    public var conversation: String?
    /// The name of that.
    public var place: String?
    /// Which device rings, by its name.
    public var device: String
    /// Whether that is this one.
    public var isHere: Bool
    /// Whether that device is no longer this person's, so that it rings nowhere until another takes
    /// over.
    public var isOrphaned: Bool
    /// Whether this device may take it: it was not revoked.
    public var mayTake = true
    /// Whether its subject was deleted.
    public var isDeleted = false
    /// Whether this person blocked the author of the subject, so that nothing is shown of it.
    public var isHidden = false
}

extension Views {
    fileprivate func reminders() throws -> [ReminderView] {
        guard let own = core.ownSpace else { return [] }
        return try Overview.reminders(ownSpace: own.number, in: store).map { try view($0) }
    }

    /// A reminder; nil where it was ended.
    func reminder(_ id: Reminder.ID) throws -> ReminderView? {
        guard let own = core.ownSpace else { return nil }
        return try Overview.reminders(ownSpace: own.number, in: store).first { $0.id == id }
            .map { try view($0) }
    }

    private static let reminderNames = DigitNames(
        one: "reminder", many: "reminders", code: "bad-reminder",
        list: "parley reminders list --all", listAll: "parley reminders list --all --json",
        unknown: NodeError(together: .unknownReminder))

    /// The reminder that an argument means: its identifier, or a start of that.
    fileprivate func reminder(named argument: String) throws -> Reminder.ID {
        guard let own = core.ownSpace else { throw NodeError(together: .unknownReminder) }
        let all = try Overview.reminders(ownSpace: own.number, in: store)
        return Reminder.ID(
            try Self.reminderNames.number(named: argument, among: all.map(\.id.rawValue)))
    }

    private func view(_ reminder: Reminder) throws -> ReminderView {
        let all = try devices()
        let device = all.first { $0.device == reminder.device.description }
        var view = ReminderView(
            id: LogTag(reminder.id.rawValue).description, time: reminder.time,
            state: "\(reminder.state)", text: reminder.text, subject: nil, conversation: nil,
            place: nil, device: device?.label(among: all) ?? reminder.device.short,
            isHere: reminder.device == core.node.device,
            isOrphaned: device.map { $0.state == "revoked" } ?? true,
            mayTake: !core.node.isRevoked)
        guard let subject = reminder.subject else { return view }
        view.subject =
            "\(subject.operation.tag)-\(subject.operation.sequence)"
        guard let space = try store.space(subject.space), let roster = try roster(of: space) else {
            return view
        }
        view.conversation = space.id.description
        view.place = try title(of: space, roster)
        view.subject = try identifier(subject.operation, in: space.number)
        view.isDeleted = try isDeleted(subject.operation, in: space)
        guard view.text.isEmpty else { return view }
        (view.text, view.isHidden) = try words(of: subject.operation, in: space)
        return view
    }

    /// Whether a reminder's subject was deleted for everyone.
    private func isDeleted(_ subject: OperationReference, in space: SpaceRecord) throws -> Bool {
        try Overview.isDeleted(subject, in: space.number, store: store)
            || Withdrawal.covers(subject, in: space.number, store: store)
    }

    /// The start of a reminder's subject, and whether it is hidden; empty if that is not here, or was
    /// deleted.
    private func words(
        of subject: OperationReference, in space: SpaceRecord
    ) throws -> (text: String, isHidden: Bool) {
        guard let number = try answered(subject, in: space.number).stored?.number else {
            return ("", false)
        }
        func start(_ words: String?) -> String {
            String((words ?? "").prefix(MessageView.Quote.characterCountMax))
        }
        if let item = try item(number) { return (start(item.title), item.isHidden) }
        if let poll = try poll(number) { return (start(poll.question), poll.isHidden) }
        if let decision = try decision(number) { return (start(decision.title), decision.isHidden) }
        guard let message = try message(number), !message.isDeleted else { return ("", false) }
        return (start(message.text), message.isHidden)
    }
}

extension Node {
    /// Has something done about a reminder, and tells it as it is then.
    fileprivate func reminder(_ command: ReminderCommand) async throws -> ReminderView {
        guard case .reminder(let id) = try await write(.remind(command)),
            let view = try await read({ try $0.reminder(id) })
        else { throw NodeError(together: .unknownReminder) }
        return view
    }
}
