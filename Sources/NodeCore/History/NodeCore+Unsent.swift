import ParleyConversation
import ParleyLedger
import ParleyWire

/// A text that a person began to write and has not sent.
extension NodeCore {
    /// Stores a draft for the person's own devices; an empty text removes it.
    mutating func keepUnsent(_ text: String, in id: SpaceID, _ turn: inout some Turn)
        throws(StoreError) -> Result<CommandReply, CommandRefusal>
    {
        guard try conversation(id, turn.store) != nil, ownSpace != nil else {
            return .failure(.unknownConversation)
        }
        guard text.utf8.count <= UnsentText.byteCountMax else {
            return .failure(.tooLong(byteCount: text.utf8.count, limit: UnsentText.byteCountMax))
        }
        if text.isEmpty {
            try endUnsent(in: id, &turn)
        } else {
            try keep(UnsentText.preference(text, in: id), &turn)
        }
        return .success(.done)
    }

    /// Ends the draft that this device has in a conversation, if any.
    mutating func endUnsent(in id: SpaceID, _ turn: inout some Turn) throws(StoreError) {
        guard let ownSpace,
            let ending = try Overview.unsentEnding(
                in: id, ownSpace: ownSpace.number, store: turn.store)
        else { return }
        _ = try write([ending], in: ownSpace, &turn)
    }

    /// Sends messages. One equal to the draft removes the draft; any other leaves it, because a
    /// program may send while a person writes.
    mutating func sendEndingUnsent(
        _ messages: [TextMessage], _ parent: OperationNumber?, to id: SpaceID,
        _ turn: inout some Turn
    ) throws(StoreError) -> Result<CommandReply, CommandRefusal> {
        let result = try send(messages, parent, to: id, &turn)
        guard case .success = result, messages.count == 1, let message = messages.first,
            let ownSpace,
            try Overview.unsentText(in: id, ownSpace: ownSpace.number, store: turn.store)
                == message.text
        else { return result }
        try endUnsent(in: id, &turn)
        return result
    }
}
