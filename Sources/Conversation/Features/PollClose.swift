import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleyWire

extension OperationKind {
    /// Ends a poll, and says which votes count.
    public static let pollClose = OperationKind(rawValue: 98)
}

extension EntryField {
    /// The close of a poll that stands first in order.
    static let pollClose = EntryField(rawValue: 62)
}

/// The payload that ends a poll: the votes that finally count.
///
/// It names operations, so that votes that arrive later, are written for an earlier time or are on
/// another branch of a log change no result. The choices beside each name are for one case only:
/// the vote's author has forked their log at or below it, and nodes may hold another branch.
public struct PollClose: Equatable, Sendable {
    /// A vote that counts.
    public struct Vote: Equatable, Sendable {
        /// The operation.
        public var operation: OperationReference
        /// The options that it chooses.
        public var choices: PollChoices

        /// A vote with these fields.
        public init(operation: OperationReference, choices: PollChoices) {
            self.operation = operation
            self.choices = choices
        }
    }

    /// A vote's bytes.
    static let voteByteCount = 36

    /// One of each person, ascending by tag and place.
    public var votes: [Vote]

    /// A close that counts these; of more than ``Limits/pollVoterCountMax`` the first by tag and place.
    public init(_ votes: [Vote]) {
        let sorted = votes.sorted {
            ($0.operation.tag, $0.operation.sequence) < ($1.operation.tag, $1.operation.sequence)
        }
        self.votes = Array(sorted.prefix(Limits.pollVoterCountMax))
    }

    init?(payload: [UInt8]) {
        guard let close = Payload.decode(PayloadPollClose.self, payload) else { return nil }
        let bytes = fieldBytes(close.votes)
        guard bytes.count.isMultiple(of: Self.voteByteCount),
            bytes.count / Self.voteByteCount <= Limits.pollVoterCountMax
        else { return nil }
        var reader = ByteReader(bytes)
        votes = []
        do {
            while reader.remaining > 0 {
                guard let vote = try Self.vote(&reader) else { return nil }
                if let last = votes.last?.operation,
                    (last.tag, last.sequence) >= (vote.operation.tag, vote.operation.sequence)
                {
                    return nil
                }
                votes.append(vote)
            }
        } catch {
            return nil
        }
    }

    private static func vote(_ reader: inout ByteReader) throws(DecodingFailure) -> Vote? {
        let (tag, place) = (LogTag(try reader.uint64()), try reader.uint64())
        let (check, mask) = (try reader.check(), try reader.uint32())
        guard place < Limits.placeMax, let choices = PollChoices(mask: mask) else { return nil }
        return Vote(
            operation: OperationReference(tag: tag, sequence: place, check: check),
            choices: choices)
    }

    /// The operation that ends a poll so.
    public func draft(of poll: OperationReference) -> Draft {
        var writer = ByteWriter(capacity: votes.count * Self.voteByteCount)
        for vote in votes {
            writer.raw(vote.operation.subject)
            writer.uint32(vote.choices.mask)
        }
        var close = PayloadPollClose()
        close.version = 1
        close.votes = field(writer.bytes)
        return Draft(
            kind: .pollClose, lane: .shared, references: [poll], payload: Payload.encode(close))
    }
}

extension MergeContext {
    /// Whether the author of the operation being merged may end what this person began: that
    /// person, and in a group an admin.
    func mayEnd(whatWasBegunBy person: PersonID) -> Bool {
        author.person == person || (roster.kind == .group && author.role >= .admin)
    }
}

/// Of several closes of a poll the first in order holds: a published result does not change.
enum PollCloseRule: MergeRule {
    static let kind = OperationKind.pollClose
    static let lane = Lane.shared
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        let operation = applied.operation.operation
        guard let poll = operation.header.references.first,
            let asker = try Target.starter(of: poll, context, in: store),
            context.mayEnd(whatWasBegunBy: asker)
        else { return [] }
        let object = EntryObject.operation(poll.tag, poll.sequence)
        if try Withdrawal.erases(applied, about: poll, context, in: store) { return [] }
        guard operation.payload.flatMap(PollClose.init(payload:)) != nil else { return [] }
        let entry = Entry(
            space: context.space.number, object: object, field: .pollClose,
            element: try Target.element(of: poll.check, in: store), operation: applied.number,
            order: applied.orderKey)
        let rivals = try LastWriter.rivals(of: entry, in: store)
        guard rivals.allSatisfy({ entry.order < $0.order }) else { return [] }
        for rival in rivals { try store.remove(rival) }
        try store.put(entry)
        return try Target.together(poll, context, in: store)
    }
}
