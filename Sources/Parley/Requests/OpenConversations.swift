import ParleyWire
import Synchronization

/// Reports that a person has a conversation open on this device, so that no notification is shown
/// for it.
public struct NoteOpenConversation: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "noteOpenConversation", RequestScope.write,
        "Says that the person is looking at a conversation for this many seconds: what arrives in "
            + "it does not notify them."
    )
    /// An example of the request.
    public static let example = NoteOpenConversation(conversation: "trip", seconds: 60)

    /// For so many seconds at most: who shows it for longer says so again.
    public static let secondCountMax = 300

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// For how long; 0 where it is shown no more.
    public var seconds: Int

    /// A request with these parameters.
    public init(conversation: String, seconds: Int) {
        self.conversation = conversation
        self.seconds = seconds
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        guard (0...Self.secondCountMax).contains(seconds) else {
            throw NodeError(
                "bad-time", "A conversation is shown for 0 to \(Self.secondCountMax) seconds.")
        }
        let space = try await node.space(conversation)
        node.openConversations.note(space, forSeconds: seconds)
        return NoReply()
    }
}

/// Conversations that are before the person's eyes on this device now.
public struct ListOpenConversations: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "openConversations", RequestScope.read,
        "Conversations that the person is looking at on this device now, in hex."
    )
    /// An example of the request.
    public static let example = ListOpenConversations()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [String] {
        node.openConversations.all.map { "\($0)" }
    }
}

/// The open conversations; forgotten when the node ends.
final class OpenConversations: Sendable {
    /// Until when, by a clock that does not go back.
    private let ends = Mutex<[SpaceID: ContinuousClock.Instant]>([:])

    func note(_ space: SpaceID, forSeconds seconds: Int) {
        ends.withLock { $0[space] = seconds > 0 ? .now + .seconds(seconds) : nil }
    }

    /// All of them, sorted.
    var all: [SpaceID] {
        ends.withLock { ends in
            ends = ends.filter { $0.value > .now }
            return ends.keys.sorted()
        }
    }
}
