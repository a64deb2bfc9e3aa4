import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Something that this person did for a conversation to see, and that is not delivered.
struct UndeliveredWord {
    let word: SharedWord
    /// As ``MessageView/Waiting/state`` has it; `stranded` of what never leaves this device.
    let state: String

    var view: MessageView.Waiting {
        MessageView.Waiting(change: word.subject.rawValue, state: state)
    }
}

/// What one asked, answered, noted, decided, pinned or named, and what has not come to others: what waits,
/// what nobody takes any more, and what never leaves this device.
extension Views {
    /// All of it in a conversation, log by log.
    func undelivered(in space: SpaceRecord, _ roster: Roster) throws -> [UndeliveredWord] {
        if let known = names.undelivered[space.number] { return known }
        var found: [UndeliveredWord] = []
        var untaken: Set<OperationNumber> = []
        let state = untakenState(in: roster)
        for lane in SharedWord.lanes {
            try eachUntaken(in: space, roster, lane: lane) { stored throws(StoreError) in
                untaken.insert(stored.number)
                if let log = try store.log(stored.log), let word = SharedWord(stored, in: log) {
                    found.append(UndeliveredWord(word: word, state: state))
                }
                return true
            }
        }
        let stranded = try Overview.wordsStranded(
            in: space, roster: roster, by: core.node.device, ownPerson: ownPerson, store: store)
        for word in stranded where !untaken.contains(word.operation.number) {
            found.append(UndeliveredWord(word: word, state: "stranded"))
        }
        let waiting = try Overview.wordsWaiting(
            in: space, roster: roster, ownPerson: ownPerson, known: wordsKnown(in: space),
            relayed: relayed(of: space), store: store)
        for word in waiting where !untaken.contains(word.operation.number) {
            var state = try shown(word.state, in: space, roster)
            // What is about the group goes to the invited themselves.
            if word.subject.isControl, state == "unaccepted" { state = word.state.rawValue }
            found.append(UndeliveredWord(word: word, state: state))
        }
        names.undelivered[space.number] = found
        return found
    }

    /// The place from which it is known whether this device's operations of lanes 0, 3 and 4 are
    /// delivered. Where nobody else takes part, and a relay has an invitation for everybody who is asked, what
    /// these are told in lane 0 has gone to them.
    func wordsKnown(in space: SpaceRecord) throws -> [LogTag: UInt64] {
        var known = try NodeCore.wordsKnown(of: space, by: core.node.device, in: store)
        let awaited = try roster(of: space)?.awaited(by: ownPerson) ?? []
        let isTold = try awaited.allSatisfy { member in
            try member.devices.contains {
                try store.value(.welcome, space.id.bytes + $0.device.bytes) != nil
            }
        }
        if !awaited.isEmpty, isTold {
            let control = OperationHash.log(
                space: space.id, device: core.node.device, lane: .control)
            known[LogTag(control)] = nil
        }
        return known
    }

    /// The state of something that this person began, or changed: each kind of change once, by its
    /// last one.
    func marks(
        on thing: OperationReference, in space: SpaceRecord, _ roster: Roster,
        besides subjects: [SharedWord.Subject] = []
    ) throws -> [MessageView.Waiting] {
        let words = try undelivered(in: space, roster).filter {
            !subjects.contains($0.word.subject)
                && ($0.word.target == thing || $0.word.reference == thing)
        }
        return SharedWord.Subject.allCases.compactMap { subject in
            words.last { $0.word.subject == subject }?.view
        }
    }

    /// The state of the name and the description of a conversation. A member who admits somebody
    /// writes both again for them: nothing is shown about what others have had for long. Then that of what is
    /// about its members and settings.
    func marks(on space: SpaceRecord, _ roster: Roster) throws -> [MessageView.Waiting] {
        let words = try undelivered(in: space, roster)
        return try SharedWord.Subject.allCases.compactMap { subject in
            guard let last = words.last(where: { $0.word.subject == subject }) else { return nil }
            switch subject {
            case .name, .description:
                return try saysAgain(last, among: words, in: space) ? nil : last.view
            case .lifetime, .addition, .removal, .role, .settings, .link, .acceptance:
                return last.view
            // Whoever is in it from the beginning is shown as invited.
            case .group, .poll, .vote, .close, .deletion, .item, .change, .note, .noteEdit, .title,
                .decision, .approval, .settling, .pin, .picture:
                return nil
            }
        }
    }

    /// Whether a name or a description repeats one that others have.
    private func saysAgain(
        _ last: UndeliveredWord, among words: [UndeliveredWord], in space: SpaceRecord
    ) throws -> Bool {
        var (reached, next): (Set<OperationReference>, [SharedWord]) = ([], [last.word])
        while let word = next.popLast() {
            for reference in word.operation.operation.header.references
            where reached.insert(reference).inserted {
                guard let former = try answered(reference, in: space.number).stored,
                    former.operation.payload == word.operation.operation.payload
                else { continue }
                guard let other = words.first(where: { $0.word.reference == reference }) else {
                    return true
                }
                next.append(other.word)
            }
        }
        return false
    }

    /// What somebody began and nobody accepts.
    func untaken(
        _ subject: SharedWord.Subject, in space: SpaceRecord, _ roster: Roster
    ) throws -> [UndeliveredWord] {
        try undelivered(in: space, roster).filter {
            $0.word.subject == subject && Self.untakenStates.contains($0.state)
        }
    }

    // MARK: As a list

    /// What is not delivered in a conversation, oldest first.
    func undelivered(in argument: String) throws -> [UndeliveredView] {
        let space = try conversation(argument)
        guard space.kind != .own, let roster = try roster(of: space) else { return [] }
        let all = try undelivered(in: space, roster).map { word in
            UndeliveredView(
                id: try identifier(word.word.reference, in: space.number),
                change: word.word.subject.rawValue,
                target: try word.word.target.map { try identifier($0, in: space.number) },
                text: try text(of: word.word, in: space, roster),
                time: word.word.operation.operation.header.wallClock, state: word.state)
        }
        return all.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }

    private func text(
        of word: SharedWord, in space: SpaceRecord, _ roster: Roster
    ) throws -> String {
        let payload = word.operation.operation.payload ?? []
        switch word.subject {
        case .poll:
            guard let poll = PollQuestion(payload: payload) else { return "" }
            return "\(poll.question) (\(poll.options.joined(separator: ", ")))"
        case .vote:
            let options = try asked(word.target, in: space)?.options ?? []
            let places = PollChoices(payload: payload)?.places ?? []
            return places.map { $0 < options.count ? options[$0] : "\($0 + 1)" }
                .joined(separator: ", ")
        case .close: return try asked(word.target, in: space)?.question ?? ""
        case .deletion: return try asked(word.target, in: space)?.question ?? ""
        case .note, .title: return NoteTitle(payload: payload)?.text ?? ""
        case .noteEdit:
            return NoteEdits(payload: payload)?.edits.map(\.text).joined(separator: " ") ?? ""
        case .decision: return DecisionProposal(payload: payload)?.title ?? ""
        case .approval: return Approval.isOn(payload: payload) == false ? "taken back" : "approved"
        case .settling: return Settling.state(payload: payload).map { "\($0)" } ?? ""
        case .item: return ItemBeginning(payload: payload)?.title ?? ""
        case .change:
            guard let change = ItemChange(payload: payload) else { return "" }
            return try text(of: change, roster)
        case .pin: return Pin(payload: payload)?.isOn == false ? "unpinned" : "pinned"
        case .name: return ConversationName(payload: payload)?.name ?? ""
        case .description: return GroupDescription(payload: payload)?.text ?? ""
        case .picture, .link, .settings, .acceptance: return ""
        case .lifetime:
            let seconds = MessageLifetime(payload: payload)?.seconds ?? 0
            return seconds == 0 ? "never" : "\(seconds) seconds"
        case .group: return try Genesis(payload: payload).name
        case .addition:
            return try name(of: AddMember(payload: payload).newcomer.person, in: roster)
        case .removal: return try name(of: RemoveMember(payload: payload).person, in: roster)
        case .role:
            let change = try SetRole(payload: payload)
            return "\(try name(of: change.person, in: roster)), \(change.role.word)"
        }
    }

    private func asked(
        _ poll: OperationReference?, in space: SpaceRecord
    ) throws -> PollQuestion? {
        try poll.flatMap { try answered($0, in: space.number).stored }?
            .operation.payload.flatMap(PollQuestion.init(payload:))
    }

    private func text(of change: ItemChange, _ roster: Roster) throws -> String {
        switch change {
        case .title(let title): title
        case .notes(let notes): notes
        case .due(let day): day.map { "due \(CalendarDay.text($0))" } ?? "no due day"
        case .done(let isDone): isDone ? "done" : "not done"
        case .assignee(let person, let isOn):
            (isOn ? "for " : "not for ") + (try name(of: person, in: roster))
        }
    }
}

/// Something that one did for a conversation to see, and that is not delivered.
public struct UndeliveredView: Codable, Equatable, Sendable {
    /// Its name, which is the same on every device.
    public var id: String
    /// What one did: `poll`, `vote`, `close`, `deletion`, `item`, `change`, `note`, `edit` (of a note),
    /// `title` (of a note), `decision`, `approval`, `settling` (how a decision stands), `pin`, `name`,
    /// `description`, `picture` or `lifetime` (how long messages stay); of a group `group` (that it was begun),
    /// `addition`, `removal`, `role`, `settings`, `link` or `acceptance`.
    public var change: String
    /// The poll, the thing to be done, the note, the decision or the message that it is about; nil where it
    /// begins one, or is about the conversation.
    public var target: String?
    /// The text.
    public var text: String
    /// When one did it, in Unix milliseconds.
    public var time: UInt64
    /// As ``MessageView/Waiting/state``.
    public var state: String
}

/// What one asked, answered, noted, decided, pinned, named or set in a conversation, and whom one asked into it or
/// took out, and what is not delivered of that: it waits, nobody takes it, or it never leaves this device.
public struct ListUndelivered: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "undelivered", RequestScope.read,
        "What the person asked, noted, decided, pinned or named in a conversation and is not "
            + "delivered."
    )
    /// An example of the request.
    public static let example = ListUndelivered(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) { self.conversation = conversation }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [UndeliveredView] {
        try await node.read { try $0.undelivered(in: conversation) }
    }
}
