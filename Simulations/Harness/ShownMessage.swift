import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
public import ParleyWire

/// A message as one person sees it. People are named as their nodes are.
public struct ShownMessage: Equatable, Sendable {
    /// How far an own message has come. Only what was observed is ever shown.
    public enum State: String, Sendable {
        /// It is on the own disk.
        case saved
        /// Somebody else holds it on their disk.
        case delivered
        /// Somebody else has read it.
        case read
    }

    /// Who wrote it.
    public let author: String
    /// The text as last edited; nil where it was deleted.
    public let text: String?
    /// Earlier texts, oldest first.
    public let earlierTexts: [String]
    /// Who reacted with each emoji, in the order in which they did.
    public let reactions: [String: [String]]
    /// The text that it answers, where there is such a message here.
    public let original: String?
    /// How far it has come; nil for messages of others.
    public let state: State?
    /// Who is known to hold it on a disk, its author aside.
    public let deliveredTo: [String]
    /// Who is known to have read it, its author aside.
    public let readBy: [String]
    /// When it was written by its author's clock, from the beginning of the world.
    public let time: Duration
}

extension SimulatedNode {
    /// The newest messages of a conversation as the person sees them, oldest first.
    ///
    /// - Throws: ``WorldError`` where the node is not in the conversation. A member that has not
    ///   heard of it yet sees nothing.
    public func shown(in space: SpaceID, limit: Int = 1000) throws -> [ShownMessage] {
        let home = try home()
        let messages = try messages(in: space, limit: limit)
        return try observing {
            guard let record = try store.space(space) else { return [] }
            let read = try store.marks(.read, in: record.number)
            let held =
                try store.marks(.delivered, in: record.number)
                + store.marks(.acknowledged, in: record.number)
            let texts = messages.map { ($0.reference, $0.text) }
            return messages.map { message in
                func names(_ marks: [Mark], _ key: (SimulatedNode) -> some Equatable) -> [String] {
                    let devices = marks.filter {
                        $0.tag == message.reference.tag
                            && $0.places.contains(message.reference.sequence)
                    }.map { DeviceID(reinterpreting: $0.actor) }
                    let said = home.nodes.filter { devices.contains($0.identity.device) }.map(key)
                    return home.nodes.filter {
                        $0.identity.person != message.author && said.contains(key($0))
                    }.map(\.name)
                }
                func name(_ person: PersonID) -> String {
                    home.nodes.first { $0.identity.person == person }?.name ?? "somebody"
                }
                return ShownMessage(
                    author: name(message.author), text: message.text,
                    earlierTexts: message.history,
                    reactions: Dictionary(
                        message.reactions.map { ($0.emoji, $0.persons.map(name)) },
                        uniquingKeysWith: +),
                    original: texts.first { $0.0 == message.parent }?.1,
                    state: message.state.flatMap { ShownMessage.State(rawValue: $0.rawValue) },
                    deliveredTo: names(held) { $0.identity.device },
                    readBy: names(read) { $0.identity.person },
                    time: .milliseconds(Int64(message.time) - Int64(World.epoch)))
            }
        }
    }

    /// The reactions to the newest message with this text: who reacted with each emoji.
    public func reactions(to text: String, in space: SpaceID) throws -> [String: [String]] {
        try shown(in: space).last { $0.text == text }?.reactions ?? [:]
    }
}
