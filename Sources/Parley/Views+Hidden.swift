import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// What somebody says in a group whom this person blocked: it is held and passed on like everything, and
/// no screen shows it. Source: `Protocol/05-identity.md`, "Contacts".
extension Views {
    /// Whether what this author says in a conversation is hidden.
    func hides(_ author: PersonID, in space: SpaceRecord) throws(StoreError) -> Bool {
        guard author != ownPerson, space.kind == .group else { return false }
        if let known = names.hidden[author] { return known }
        let isHidden = try Overview.isHidden(
            author, in: space, ownSpace: core.ownSpace?.number, store)
        names.hidden[author] = isHidden
        return isHidden
    }
}

extension MessageView {
    /// The same without anything that its author chose.
    func withoutContent() -> MessageView {
        var hidden = self
        hidden.isHidden = true
        hidden.text = nil
        (hidden.mentions, hidden.mentionsEveryone, hidden.mentionsMe) = ([], false, false)
        (hidden.files, hidden.link, hidden.forwardedFrom) = ([], nil, nil)
        (hidden.quote, hidden.isAction, hidden.isMissing, hidden.editCount) = (nil, false, false, 0)
        if isImported { hidden.author = importedBy ?? "" }
        return hidden
    }
}
