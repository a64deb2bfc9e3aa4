import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Has this node send a message at a time.
public struct ScheduleMessage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "schedule", RequestScope.write,
        "Sends a message at a time, from this node; all of one's devices know of it."
    )
    /// An example of the request.
    public static let example = ScheduleMessage(
        conversation: "trip", text: "good morning", time: 1_800_000_000_000)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The text, of some 1,950 bytes at most: it has to fit a preference.
    public var text: String
    /// When it is sent, in Unix milliseconds.
    public var time: UInt64
    /// Whether `@` and a name mention nobody; nil for false.
    public var withoutMentions: Bool?

    /// A request with these parameters.
    public init(conversation: String, text: String, time: UInt64, withoutMentions: Bool? = nil) {
        self.conversation = conversation
        self.text = text
        self.time = time
        self.withoutMentions = withoutMentions
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ScheduledView {
        let (space, message) = try await node.read { views in
            let space = try views.writable(conversation, answering: nil)
            guard withoutMentions != true else { return (space.id, TextMessage(text: text)) }
            let (written, mentions) = try views.resolvingMentions(text, in: space)
            return (space.id, TextMessage(text: written, mentions: mentions))
        }
        return try await node.scheduled(.add(message, to: space, at: time))
    }
}

/// Messages that are to be sent later, by their times; the same on all of the person's devices.
public struct ListScheduled: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "scheduled", RequestScope.read,
        "Messages that are to be sent later, the first to be sent first."
    )
    /// An example of the request.
    public static let example = ListScheduled()

    /// The request.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [ScheduledView] {
        try await node.read { try $0.scheduled() }
    }
}

/// Has a message sent at another time, by this node.
public struct MoveScheduled: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "moveScheduled", RequestScope.write,
        "Sends a scheduled message at another time, from this node."
    )
    /// An example of the request.
    public static let example = MoveScheduled(scheduled: "1a2b3c4d", time: 1_800_000_000_000)

    /// Which one: its identifier, or a start of that.
    public var scheduled: String
    /// When it is sent, in Unix milliseconds.
    public var time: UInt64

    /// A request with these parameters.
    public init(scheduled: String, time: UInt64) {
        self.scheduled = scheduled
        self.time = time
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ScheduledView {
        let id = try await node.read { try $0.scheduled(named: scheduled) }
        return try await node.scheduled(.move(id, at: time))
    }
}

/// Sends a message now that was to be sent later.
public struct SendScheduled: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "sendScheduled", RequestScope.write,
        "Sends a scheduled message now, from this node; answers as it was."
    )
    /// An example of the request.
    public static let example = SendScheduled(scheduled: "1a2b3c4d")

    /// Which one: its identifier, or a start of that.
    public var scheduled: String

    /// A request with these parameters.
    public init(scheduled: String) { self.scheduled = scheduled }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ScheduledView {
        try await node.ending(scheduled) { .send($0) }
    }
}

/// Deletes a message that was to be sent later, on all of the person's devices.
public struct DeleteScheduled: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "deleteScheduled", RequestScope.write,
        "Deletes a scheduled message, on all of one's devices that hear of it; answers as it was."
    )
    /// An example of the request.
    public static let example = DeleteScheduled(scheduled: "1a2b3c4d")

    /// Which one: its identifier, or a start of that.
    public var scheduled: String

    /// A request with these parameters.
    public init(scheduled: String) { self.scheduled = scheduled }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ScheduledView {
        try await node.ending(scheduled) { .remove($0) }
    }
}

/// A message that is to be sent later.
public struct ScheduledView: Codable, Equatable, Sendable {
    /// Its identifier, in hex, the same on all of the person's devices.
    public var id: String
    /// When it is sent, in Unix milliseconds.
    public var time: UInt64
    /// `waiting`, or `failed` where it could not be written when its time had come: it is sent no more unless
    /// it is moved or sent.
    public var state: String
    /// Its text.
    public var text: String
    /// The conversation, in hex.
    public var conversation: String
    /// The name of that; nil where it is not here.
    public var place: String?
    /// Which device sends it, by its name.
    public var device: String
    /// Whether that is this one.
    public var isHere: Bool
    /// Whether that device is no longer this person's, so that nobody sends it until another takes over.
    public var isOrphaned: Bool
    /// Whether this device may send it: it was not revoked.
    public var mayTake = true
    /// Whether that device is another one that is not linked now: it may send the message before it learns
    /// that it is not to.
    public var isOutOfReach = false
}

extension Views {
    fileprivate func scheduled() throws -> [ScheduledView] {
        guard let own = core.ownSpace else { return [] }
        return try Overview.scheduled(ownSpace: own.number, in: store).map { try view($0) }
    }

    /// One of them; nil where it was sent or deleted.
    func scheduled(_ id: ScheduledMessage.ID) throws -> ScheduledView? {
        guard let own = core.ownSpace else { return nil }
        return try Overview.scheduled(ownSpace: own.number, in: store).first { $0.id == id }
            .map { try view($0) }
    }

    /// The conversation that one is to be sent into; nil where it was sent or deleted.
    func scheduledSpace(of id: ScheduledMessage.ID) throws -> SpaceRecord? {
        guard let own = core.ownSpace else { return nil }
        return try Overview.scheduled(ownSpace: own.number, in: store).first { $0.id == id }
            .flatMap { try store.space($0.space) }
    }

    /// How many could not be sent when their time had come.
    func failedScheduledCount() throws -> Int {
        guard let own = core.ownSpace else { return 0 }
        return try Overview.scheduled(ownSpace: own.number, in: store)
            .count { $0.state == .failed }
    }

    private static let scheduledNames = DigitNames(
        one: "scheduled message", many: "scheduled messages", code: "bad-scheduled",
        list: "parley scheduled", listAll: "parley scheduled list --json",
        unknown: .unknownScheduled)

    /// The one that an argument means: its identifier, or a start of that.
    fileprivate func scheduled(named argument: String) throws -> ScheduledMessage.ID {
        guard let own = core.ownSpace else { throw NodeError.unknownScheduled }
        let all = try Overview.scheduled(ownSpace: own.number, in: store)
        return ScheduledMessage.ID(
            try Self.scheduledNames.number(named: argument, among: all.map(\.id.rawValue)))
    }

    private func view(_ scheduled: ScheduledMessage) throws -> ScheduledView {
        let all = try devices()
        let device = all.first { $0.device == scheduled.device.description }
        var view = ScheduledView(
            id: LogTag(scheduled.id.rawValue).description, time: scheduled.time,
            state: "\(scheduled.state)", text: scheduled.message.text,
            conversation: scheduled.space.description, place: nil,
            device: device?.label(among: all) ?? scheduled.device.short,
            isHere: scheduled.device == core.node.device,
            isOrphaned: device.map { $0.state == "revoked" } ?? true,
            mayTake: !core.node.isRevoked)
        view.isOutOfReach =
            !view.isHere && !view.isOrphaned
            && !core.linkedPeers.contains { $0.device == scheduled.device }
        if let space = try store.space(scheduled.space), let roster = try roster(of: space) {
            view.place = try title(of: space, roster)
        }
        return view
    }
}

extension NodeError {
    /// Nothing of that name is to be sent later.
    static let unknownScheduled = NodeError(
        "unknown-scheduled", "There is no such message to be sent later.",
        hint: "`parley scheduled` shows them.")

    /// So many wait already.
    static func tooManyScheduled(_ limit: Int) -> NodeError {
        NodeError(
            "too-many-scheduled", "\(limit) messages are to be sent later already.",
            hint: "`parley scheduled delete` deletes those that are not to be sent.")
    }
}

extension Node {
    /// Has something done about a message that is sent later, and tells it as it is then.
    fileprivate func scheduled(_ command: ScheduleCommand) async throws -> ScheduledView {
        guard case .scheduled(let id) = try await write(.schedule(command)),
            let view = try await read({ try $0.scheduled(id) })
        else { throw NodeError(together: .unknownScheduled) }
        return view
    }

    /// Has a message no longer wait, and tells it as it was.
    fileprivate func ending(
        _ argument: String, by command: (ScheduledMessage.ID) -> ScheduleCommand
    ) async throws -> ScheduledView {
        let (id, view) = try await read { views in
            let id = try views.scheduled(named: argument)
            return (id, try views.scheduled(id))
        }
        guard let view else { throw NodeError(together: .unknownScheduled) }
        _ = try await write(.schedule(command(id)))
        return view
    }
}
