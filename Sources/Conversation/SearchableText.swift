public import ParleyLedger
public import ParleyWire

/// The searchable text of one operation: of a message, or of an edit of one.
public struct SearchableText: Equatable, Sendable {
    /// The text.
    public var text: String
    /// Its author in an import; nil for what was written here.
    public var author: String?
    /// The message whose text it is; nil where that is the operation itself.
    public var message: OperationReference?
}

extension StoredOperation {
    /// Whether operations of this kind may have a text, told without their payload.
    public static func maySayText(_ kind: OperationKind) -> Bool { kind.isMessage || kind == .edit }

    /// Its searchable text, or nil: it was erased, has not arrived, or is about something else.
    public var searchableText: SearchableText? {
        guard let payload = operation.payload else { return nil }
        switch operation.header.kind {
        case .text, .disappearingText:
            guard let message = TextMessage(payload: payload) else { return nil }
            return SearchableText(text: message.text, author: message.origin?.author)
        case .edit:
            guard let edit = MessageEdit(payload: payload),
                let message = operation.header.references.first
            else { return nil }
            return SearchableText(text: edit.text, message: message)
        default: return nil
        }
    }
}

extension StoredOperation {
    /// Where this message stands in its timeline.
    public func messagePlace(in log: LogRecord) -> OrderKey { messageOrder(in: log) }
}
