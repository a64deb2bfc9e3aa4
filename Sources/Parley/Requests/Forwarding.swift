import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Writes the words of a message into a conversation, and says whose they are.
///
/// The copy is a message of its own: an edit or a deletion of the first one does not reach it. It tells
/// the name that its author goes by, and nothing else of where it comes from.
public struct ForwardMessage: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "forward", RequestScope.write,
        "Copies the text of a message into a conversation, with the name of its author."
    )
    /// An example of the request.
    public static let example = ForwardMessage(message: 12, conversation: "trip")

    /// The message.
    public var message: MessageReference
    /// Where it goes: the conversation's name, its identifier or a start of that.
    public var conversation: String
    /// True to omit that the words are another person's; false if omitted.
    public var withoutOrigin: Bool?

    /// A request with these parameters.
    public init(message: MessageReference, conversation: String, withoutOrigin: Bool? = nil) {
        self.message = message
        self.conversation = conversation
        self.withoutOrigin = withoutOrigin
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> MessageView {
        let (copy, space) = try await node.read { views in
            let copy = try views.copy(of: message, withOrigin: withoutOrigin != true)
            return (copy, try views.writable(conversation).id)
        }
        guard let sent = try await node.send([copy], to: space).first else {
            throw NodeError(.unknownMessage)
        }
        return sent
    }
}

extension Views {
    /// A message as it is passed on.
    fileprivate func copy(
        of reference: MessageReference, withOrigin: Bool
    ) throws -> TextMessage {
        let number = try message(reference)
        guard let space = try conversation(of: number), let roster = try roster(of: space)
        else { throw NodeError(.unknownMessage) }
        guard let found = try timeline(of: space, roster).message(number, in: store) else {
            return try copy(ofUntaken: number, roster, withOrigin: withOrigin)
        }
        if try hides(found.author, in: space) { throw NodeError.hidden }
        let name = withOrigin ? try ownName(of: found.author, in: roster) : nil
        if let copy = found.forwarded(namingAuthor: name) { return copy }
        let isGone = try view(found, in: space, roster).isGoneHere
        guard !found.flags.contains(.deleted), !isGone else { throw NodeError(.deleted) }
        throw NodeError(
            "not-here-yet", "The text of that message has not arrived yet.",
            hint: "Forward it once `parley read \(space.id.short)` shows it.")
    }

    /// An own message that nobody accepted: it is in no timeline, and its words are worth sending
    /// elsewhere.
    private func copy(
        ofUntaken number: OperationNumber, _ roster: Roster, withOrigin: Bool
    ) throws -> TextMessage {
        guard let stored = try store.operation(number), let log = try store.log(stored.log),
            roster.devicesEver(of: ownPerson).contains(log.device),
            stored.operation.header.kind.isMessage,
            let said = stored.operation.payload.flatMap({ TextMessage(payload: $0) })
        else { throw NodeError(.unknownMessage) }
        if try isDeletedForOneself(stored) { throw NodeError(.deleted) }
        let first = said.origin?.author ?? said.forwardedFrom
        let name = try withOrigin ? first ?? ownName(of: ownPerson, in: roster) : nil
        return TextMessage(text: said.text, forwardedFrom: name)
    }

    /// The name that a person uses; empty if it is not known. An alias is private, and the start of
    /// an identifier would reveal more than a name.
    private func ownName(of person: PersonID, in roster: Roster) throws -> String {
        let name = try CardReader.name(of: person, store)
        if !VisibleName.isBlank(name) { return name }
        let told = roster.member(person)?.name ?? ""
        return VisibleName.isBlank(told) ? "" : told
    }
}
