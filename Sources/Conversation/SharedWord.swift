public import ParleyLedger
public import ParleyRoster
public import ParleyWire

/// Something that a person did in lane 3 or 4 for a conversation to see, or in lane 0 of a group about the group,
/// and that screens show as done.
public struct SharedWord: Equatable, Sendable {
    /// Where such things are written beside those that are about the group.
    public static let lanes: [Lane] = [.notes, .shared]
    /// The same, and where those are: of neither do receipts tell, and each is known to be delivered by
    /// acknowledgements alone.
    public static let acknowledgedLanes: [Lane] = [.control] + lanes

    /// The deed.
    public enum Subject: String, CaseIterable, Sendable {
        /// A poll was asked.
        case poll
        /// A poll was answered.
        case vote
        /// A poll was closed.
        case close
        /// A poll, something to be done, a note or a decision was taken back.
        case deletion
        /// Something to be done was begun.
        case item
        /// Something to be done was changed.
        case change
        /// A note was begun.
        case note
        /// A note was edited.
        case noteEdit = "edit"
        /// A note was called otherwise.
        case title
        /// Something was proposed to be decided.
        case decision
        /// A decision was approved of, or that was taken back.
        case approval
        /// A decision was settled.
        case settling
        /// A message was pinned, or taken down.
        case pin
        /// The conversation was named.
        case name
        /// The conversation was described.
        case description
        /// A picture of it was chosen.
        case picture
        /// It was set how long its messages stay.
        case lifetime
        /// A group was begun, and those who are in it from the beginning were asked.
        case group
        /// Somebody was asked into it.
        case addition
        /// Somebody was taken out.
        case removal
        /// Somebody was given another role.
        case role
        /// What newcomers see, or when keys change, was set.
        case settings
        /// A link into it was made, or ended.
        case link
        /// The invitation into it was accepted.
        case acceptance

        /// Whether it is about who is in the group and what they may do.
        public var isControl: Bool {
            switch self {
            case .group, .addition, .removal, .role, .settings, .link, .acceptance: true
            case .poll, .vote, .close, .deletion, .item, .change, .note, .noteEdit, .title,
                .decision, .approval, .settling, .pin, .name, .description, .picture, .lifetime:
                false
            }
        }
    }

    /// The deed.
    public var subject: Subject
    /// The operation that says so.
    public var operation: StoredOperation
    /// How operations of the space name it.
    public var reference: OperationReference
    /// How far it has come; never delivered.
    public var state: MessageState

    /// The subject: the poll, the item, the note, the decision or the message; nil if it begins
    /// one, or is about the conversation.
    public var target: OperationReference? {
        switch subject {
        case .vote, .close, .deletion, .change, .noteEdit, .title, .approval, .settling, .pin:
            operation.operation.header.references.first
        case .poll, .item, .note, .decision, .name, .description, .picture, .lifetime, .group,
            .addition, .removal, .role, .settings, .link, .acceptance:
            nil
        }
    }

    /// What an own operation did; nil if screens show nothing of it, or it was withdrawn.
    public init?(
        _ operation: StoredOperation, in log: LogRecord, state: MessageState = .saved
    ) {
        guard let subject = Self.subject(of: operation.operation.header.kind),
            subject == .deletion || !operation.operation.isErased
        else { return nil }
        self.subject = subject
        self.operation = operation
        self.state = state
        reference = OperationReference(
            tag: log.tag, sequence: operation.sequence, check: operation.id.check)
    }

    /// Where it stands, or would if it counted.
    public var order: OrderKey { VerifiedOperation(stored: operation, tag: reference.tag).orderKey }

    /// The poll that it asked, without what anybody answered; nil where it asked none.
    public func poll(askedBy person: PersonID) -> Poll? {
        guard subject == .poll,
            let question = operation.operation.payload.flatMap(PollQuestion.init(payload:))
        else { return nil }
        return Poll(
            number: operation.number, reference: reference, order: order, author: person,
            time: operation.operation.header.wallClock, question: question, ballots: [],
            uncounted: [])
    }

    /// The item that it began, as it was then; nil if it began none.
    public func item(begunBy person: PersonID) -> ActionItem? {
        let header = operation.operation.header
        guard subject == .item,
            let begun = operation.operation.payload.flatMap(ItemBeginning.init(payload:))
        else { return nil }
        return ActionItem(
            number: operation.number, reference: reference, order: order, author: person,
            time: header.wallClock, source: header.references.first, titles: [begun.title],
            titleReferences: [reference], assignees: begun.assignees.sorted(), due: begun.due,
            notes: begun.notes)
    }

    /// The decision that it proposed, of which nobody approves yet; nil if it proposed none.
    public func decision(proposedBy person: PersonID) -> Decision? {
        let header = operation.operation.header
        guard subject == .decision,
            let proposal = operation.operation.payload.flatMap(DecisionProposal.init(payload:))
        else { return nil }
        return Decision(
            number: operation.number, reference: reference, order: order, author: person,
            time: header.wallClock, source: header.references.first, proposal: proposal,
            settling: Settling(.proposed), settledBy: nil, approvers: [])
    }

    private static func subject(of kind: OperationKind) -> Subject? {
        switch kind {
        case .poll: .poll
        case .vote: .vote
        case .pollClose: .close
        case .withdrawal: .deletion
        case .item: .item
        case .itemChange: .change
        case .note: .note
        case .noteEdit: .noteEdit
        case .noteTitle: .title
        case .decision: .decision
        case .approval: .approval
        case .settling: .settling
        case .pin: .pin
        case .name: .name
        case .groupDescription: .description
        case .groupPicture: .picture
        case .messageLifetime: .lifetime
        case .genesis: .group
        case .addMember: .addition
        case .removeMember: .removal
        case .setRole: .role
        case .settings: .settings
        case .groupInvite: .link
        case .accept: .acceptance
        // Kinds are numbers: the others are about nothing that a conversation shows.
        default: nil
        }
    }
}

extension SharedWord {
    /// The logs in which a device writes them in a space.
    public static func logs(
        of space: SpaceID, by device: DeviceID, in lanes: [Lane] = SharedWord.lanes
    ) -> [LogTag] {
        lanes.map { LogTag(OperationHash.log(space: space, device: device, lane: $0)) }
    }
}

extension Overview {
    /// What a device did in lanes 3 and 4 at or above its fork, which nobody else holds.
    public static func wordsStranded(
        in space: SpaceRecord, roster: Roster, by device: DeviceID, ownPerson: PersonID,
        store: some MergeStore
    ) throws(StoreError) -> [SharedWord] {
        var logs: [LogRecord] = []
        for tag in SharedWord.logs(of: space.id, by: device) {
            if let log = try store.log(tag, in: space.number) { logs.append(log) }
        }
        // Almost always there is none.
        guard logs.contains(where: { $0.fork != nil }) else { return [] }
        let states = try MessageStates(
            in: space, roster: roster, besides: ownPerson, store: store)
        var found: [SharedWord] = []
        for log in logs {
            for range in states.stranded(in: log) {
                try store.eachOperation(of: log, in: range) { stored in
                    if let word = SharedWord(stored, in: log) { found.append(word) }
                    return true
                }
            }
        }
        return found
    }

    /// What a person did in lanes 0, 3 and 4 and no device of another person holds, log by log.
    ///
    /// - Parameters:
    ///   - known: from which place of own logs on that is known; of others it is not.
    ///   - relayed: which places of own logs relays have on their disks.
    public static func wordsWaiting(
        in space: SpaceRecord, roster: Roster, ownPerson: PersonID, known: [LogTag: UInt64],
        relayed: [LogTag: [Range<UInt64>]] = [:], store: some MergeStore
    ) throws(StoreError) -> [SharedWord] {
        let states = try MessageStates(
            in: space, roster: roster, besides: ownPerson, relayed: relayed, store: store)
        guard states.hasOthers else { return [] }
        var found: [SharedWord] = []
        for log in try store.logs(in: space.number)
        where SharedWord.acknowledgedLanes.contains(log.lane) && states.isOwn(log.tag) {
            guard let first = known[log.tag] else { continue }
            for gap in states.waiting(in: log) where first < gap.upperBound {
                let gap = max(first, gap.lowerBound)..<gap.upperBound
                try store.eachOperation(of: log, in: gap) { stored in
                    let state = states.state(of: log.tag, stored.sequence)
                    if let word = SharedWord(stored, in: log, state: state),
                        !(states.areInvited && word.subject == .name)
                    {
                        found.append(word)
                    }
                    return true
                }
            }
        }
        return found
    }

    /// How many of these places of a log in lane 0, 3 or 4 hold something that screens show.
    static func wordCount(
        in log: LogRecord, _ range: Range<UInt64>, besides subject: SharedWord.Subject? = nil,
        _ store: some MergeStore
    ) throws(StoreError) -> Int {
        var count = 0
        try store.eachOperation(of: log, in: range) { stored in
            if let word = SharedWord(stored, in: log), word.subject != subject { count += 1 }
            return true
        }
        return count
    }
}
