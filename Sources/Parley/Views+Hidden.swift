import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyStorage
import ParleyWire

/// What somebody says or begins in a group whom this person blocked: it is held and passed on like
/// everything, and no screen shows it. Source: `Protocol/05-identity.md`, "Contacts".
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

    /// Groups that wait for an answer, except those into which somebody invites whom this person blocked.
    func invitationsShown() throws -> [(space: SpaceID, invitation: Invitation)] {
        try Invitation.waiting(in: store).filter { try !hides($0.invitation) }
    }

    /// Whether an invitation is not shown, since this person blocked the one who invites.
    func hides(_ invitation: Invitation) throws(StoreError) -> Bool {
        guard let own = core.ownSpace else { return false }
        return try Overview.contact(invitation.inviter, ownSpace: own.number, in: store)?
            .isBlocked == true
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

extension PollView {
    /// The same without anything that its author chose.
    func withoutContent() -> PollView {
        var hidden = self
        hidden.isHidden = true
        (hidden.question, hidden.options, hidden.leading) = ("", [], [])
        return hidden
    }
}

extension ItemView {
    /// The same without anything that its author chose; what others changed since is part of it.
    func withoutContent() -> ItemView {
        var hidden = self
        hidden.isHidden = true
        (hidden.title, hidden.otherTitles, hidden.notes) = ("", [], "")
        (hidden.assignees, hidden.isOwn, hidden.due, hidden.source) = ([], false, nil, nil)
        return hidden
    }
}

extension NoteView {
    /// The same without anything that its author chose.
    func withoutContent() -> NoteView {
        var hidden = self
        (hidden.isHidden, hidden.title) = (true, "")
        return hidden
    }
}

extension DecisionView {
    /// The same without anything that its author chose.
    func withoutContent() -> DecisionView {
        var hidden = self
        hidden.isHidden = true
        (hidden.title, hidden.text, hidden.tags) = ("", "", [])
        (hidden.source, hidden.poll, hidden.successor, hidden.successorTitle) = (nil, nil, nil, nil)
        return hidden
    }
}

extension NodeError {
    /// What a blocked person said in a group, or began there, is not shown.
    static let hidden = NodeError(
        "hidden", "That is hidden: you have blocked its author.",
        hint: "`parley contact unblock NAME` shows it.")
}
