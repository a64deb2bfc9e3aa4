import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// A message that a device of the person sent again, because nobody accepts it from the one that wrote it.
public struct SentAgainView: Codable, Equatable, Sendable {
    /// The identifier of that message.
    public var original: String
    /// The identifier of the one that says it again. Two devices that had not met may both have sent it:
    /// then both are listed.
    public var message: String
    /// The device that sent it, in hex.
    public var device: String
    /// Whether it was deleted since.
    public var isDeleted: Bool
}

/// What devices of the person sent again in a conversation.
public struct ListSentAgain: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "sentAgain", RequestScope.read,
        "What devices of the person sent again in a conversation, because nobody accepts it from "
            + "the device that wrote it."
    )
    /// An example of the request.
    public static let example = ListSentAgain(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) { self.conversation = conversation }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [SentAgainView] {
        try await node.read { try $0.sentAgain(in: conversation) }
    }
}

extension Views {
    fileprivate func sentAgain(in argument: String) throws -> [SentAgainView] {
        let space = try conversation(argument)
        guard let own = core.ownSpace else { return [] }
        return try Overview.sentAgain(ownSpace: own.number, in: store)
            .filter { $0.space == space.id }
            .map { word in
                SentAgainView(
                    original: word.original.name,
                    message: try identifier(word.message, in: space.number),
                    device: word.device.description,
                    isDeleted: try Overview.isDeleted(
                        word.message, in: space.number, store: store))
            }
    }
}

extension SentAgain.Original {
    /// As ``Views`` names messages.
    fileprivate var name: String {
        "\(tag)-\(sequence)" + (check.map { "-\($0)" } ?? "")
    }

    /// The one that a whole identifier names.
    ///
    /// - Throws: ``NodeError`` where it is none.
    init(named name: String) throws {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let tag = Self.number(parts[0]),
            let sequence = UInt64(parts[1]), sequence < Limits.placeMax
        else { throw Self.refusal(name) }
        self.init(tag: LogTag(tag), sequence: sequence)
        guard parts.count == 3 else { return }
        guard parts[2].count == 2 * Check.byteCount, let high = Self.number(parts[2].prefix(16)),
            let low = Self.number(parts[2].dropFirst(16))
        else { throw Self.refusal(name) }
        check = Check(high: high, low: low)
    }

    private static func number(_ text: Substring) -> UInt64? {
        text.count == 16 ? UInt64(text, radix: 16) : nil
    }

    private static func refusal(_ name: String) -> NodeError {
        NodeError("bad-original", "“\(name)” is no whole identifier of a message.")
    }
}
