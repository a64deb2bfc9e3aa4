import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyWire

/// Conversations in which nothing can be written yet, and what is kept for them.
extension Views {
    /// What must come before anything is written in a conversation; nil where nothing must.
    func waiting(in space: SpaceRecord) throws -> String? {
        guard let count = try core.missingOwnCount(of: space.number, in: store) else { return nil }
        let what = count == 1 ? "1 earlier operation" : "\(count) earlier operations"
        return "waiting for \(what) of this device"
    }

    /// The same of a conversation that began with an invite which was not taken.
    func waiting(in space: SpaceRecord, _ roster: Roster) throws -> String? {
        if let waiting = try waiting(in: space) { return waiting }
        guard space.kind == .direct else { return nil }
        for member in roster.members where member.person != ownPerson {
            guard try contact(member.person)?.isAccepted != true else { continue }
            let invite = try NodeCore.takenInvite(of: member.person, in: store)
            if invite?.isRefused == true { return "waiting for another invite of theirs" }
        }
        return nil
    }

    /// What was written in a conversation and is kept until it can go out, oldest first.
    func kept(in space: SpaceRecord, _ roster: Roster) throws -> [MessageView] {
        guard let waiting = try waiting(in: space) else { return [] }
        let author = try name(of: ownPerson, in: roster)
        return try core.keptMessages(for: space.number, in: store).map { kept in
            MessageView(
                number: 0, conversation: space.id.description, author: author,
                person: ownPerson.description, isOwn: true, text: kept.text, time: kept.time,
                replyTo: nil, editCount: 0, reactions: [], state: waiting, isDeleted: false,
                isImported: false, isAction: false, isLate: false, isMissing: false)
        }
    }
}
