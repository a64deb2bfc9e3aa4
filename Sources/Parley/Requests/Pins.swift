import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// Pins a message for everybody in its conversation, or takes it down.
public struct PinMessage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "pin", RequestScope.write,
        "Pins a message for everybody in its conversation, or unpins it."
    )
    /// An example of the request.
    public static let example = PinMessage(message: 12, on: true)

    /// The message.
    public var message: MessageReference
    /// Whether it is pinned.
    public var on: Bool

    /// A request with these parameters.
    public init(message: MessageReference, on: Bool) {
        self.message = message
        self.on = on
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessageView {
        let number = try await node.read { try $0.message(message) }
        _ = try await node.write(.pin(number, isOn: on))
        return try await node.read { views in
            guard let view = try views.message(number) else { throw NodeError(.unknownMessage) }
            return view
        }
    }
}

/// The messages that are pinned in a conversation, the one that was pinned last first; at most 32.
public struct ListPins: NodeRequest {
    /// The most that are shown.
    public static let countMax = Overview.pinCountMax
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "pins", RequestScope.read,
        "The messages that are pinned in a conversation, the last pinned first."
    )
    /// An example of the request.
    public static let example = ListPins(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) { self.conversation = conversation }

    /// Answers the request.
    public func perform(on node: Node) async throws -> PinList {
        try await node.read { try $0.pins(in: conversation) }
    }
}

/// The pins of a conversation.
public struct PinList: Codable, Equatable, Sendable {
    /// The one that was pinned last first.
    public var messages: [MessageView]
    /// How many more are pinned that are older than what this device was given of the conversation.
    public var absentCount = 0
}

extension Views {
    fileprivate func pins(in argument: String) throws -> PinList {
        let space = try conversation(argument)
        let messages = try Overview.pins(in: space.number, store: store).compactMap {
            pin -> MessageView? in
            guard let log = try store.log(pin.tag, in: space.number),
                let stored = try store.operation(at: pin.sequence, in: log.number)
            else { return nil }
            return try message(stored.number)
        }
        return PinList(
            messages: messages,
            absentCount: try Overview.absentPinCount(in: space.number, store: store))
    }

    /// Whether a message is shown as pinned. The list is made once a reading, however many messages ask.
    func isPinned(_ message: OperationReference, in space: SpaceNumber) throws -> Bool {
        if let pins = names.pins[space] { return pins.contains(message) }
        let pins = Set(try Overview.pins(in: space, store: store))
        names.pins[space] = pins
        return pins.contains(message)
    }
}
