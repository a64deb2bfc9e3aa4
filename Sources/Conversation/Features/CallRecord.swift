import ParleyPayloads
public import ParleyLedger
import ParleyRoster
public import ParleySignalling
public import ParleyWire

extension OperationKind {
    /// Records that somebody called, and the outcome.
    public static let call = OperationKind(rawValue: 68)
}

extension EntryField {
    /// Calls, one entry for each: the founder's record that says most.
    static let call = EntryField(rawValue: 10)
    /// The same for the records of other participants, by their own claim.
    static let callWord = EntryField(rawValue: 14)
}

/// What is known in a conversation about a call.
public struct CallRecord: Equatable, Sendable {
    /// The call.
    public var call: CallID
    /// The author.
    public var founder: PersonID
    /// When, by the clock of the device that says so, in Unix milliseconds.
    public var began: UInt64
    /// The outcome. A call that was only begun is in progress, or its device died.
    public var summary: CallSummary
    /// Where its founder's word stands, if clocks do not tell where the call does: it was written by a clock
    /// that was behind what its author had seen. Nil where they do.
    public var order: OrderKey?

    /// A record with these fields.
    public init(call: CallID, founder: PersonID, began: UInt64, summary: CallSummary) {
        self.call = call
        self.founder = founder
        self.began = began
        self.summary = summary
    }

    init?(payload: [UInt8]) {
        guard let message = Payload.decode(PayloadCall.self, payload),
            let call = Self.name(fieldBytes(message.call)),
            let founder = PersonID(fieldBytes(message.founder)),
            message.began < Limits.wallClockMax, message.duration < Limits.wallClockMax,
            let outcome = UInt8(exactly: message.outcome).flatMap(CallSummary.Outcome.init),
            message.persons.count <= Limits.memberCountMax
        else { return nil }
        var persons: [PersonID] = []
        for bytes in message.persons {
            guard let person = PersonID(fieldBytes(bytes)),
                persons.last.map({ $0 < person }) ?? true
            else { return nil }
            persons.append(person)
        }
        self.init(
            call: call, founder: founder, began: message.began,
            summary: CallSummary(
                outcome: outcome, duration: message.duration, persons: persons))
    }

    private static func name(_ bytes: [UInt8]) -> CallID? {
        guard bytes.count == Check.byteCount else { return nil }
        let high = bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        let low = bytes.suffix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return CallID(Check(high: high, low: low))
    }

    private var name: [UInt8] {
        [call.check.high, call.check.low].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) }
        }
    }

    /// The call's name in bytes.
    var subject: [UInt8] { name }

    /// What entries tell calls apart by: somebody else may give the same name to one of theirs.
    fileprivate func element(in store: some ConversationStore) throws(StoreError) -> UInt64 {
        try store.locator(name + founder.bytes)
    }

    /// The operation that says this.
    public func draft() -> Draft {
        var message = PayloadCall()
        message.call = field(name)
        message.founder = field(founder.bytes)
        message.began = began
        message.outcome = UInt32(summary.outcome.rawValue)
        message.duration = summary.duration
        message.persons = summary.persons.map { field($0.bytes) }
        return Draft(kind: .call, lane: .content, payload: Payload.encode(message))
    }

    /// Whether a person could have answered and did not: nobody did, and it was not they who called
    /// or declined.
    public func isMissed(by person: PersonID) -> Bool {
        guard founder != person, !summary.persons.contains(person) else { return false }
        switch summary.outcome {
        case .begun, .unanswered, .cancelled, .refused: return true
        case .replaced, .declined, .failed, .talked: return false
        }
    }

    /// When it was over, by the clock that tells when it began.
    fileprivate var ended: UInt64 { began + summary.duration }

    /// Whether it says more about the call than another record: the greater outcome, then the
    /// longer time.
    func saysMore(than other: CallRecord) -> Bool {
        (summary.outcome.rawValue, summary.duration)
            > (other.summary.outcome.rawValue, other.summary.duration)
    }

    /// This record of the founder's, combined with another participant's, if that says more. The
    /// caller knows that nobody came.
    fileprivate func heeding(_ word: CallRecord) -> CallRecord {
        switch summary.outcome {
        case .begun, .failed, .talked: break
        case .replaced, .unanswered, .cancelled, .refused, .declined: return self
        }
        guard word.saysMore(than: self) else { return self }
        var record = self
        record.summary = word.summary
        return record
    }
}

/// Of the founder's records the one that says most holds, and likewise of those of other
/// participants; of two that say as much, the later in order. If a call's founder says nothing,
/// nobody else's record counts either: no call is shown as begun by somebody who did not begin it.
enum CallRule: MergeRule {
    static let kind = OperationKind.call
    static let lane = Lane.content
    static let role = Role.member

    static func merge(
        _ applied: AppliedOperation, _ context: MergeContext, into store: some MergeStore
    ) throws(StoreError) -> [ViewChange] {
        guard let record = applied.operation.operation.payload.flatMap(CallRecord.init(payload:))
        else { return [] }
        let author = context.author.person
        guard author == record.founder || record.summary.persons.contains(author) else { return [] }
        let entry = Entry(
            space: context.space.number, object: .space,
            field: author == record.founder ? .call : .callWord,
            element: try record.element(in: store), operation: applied.number,
            order: applied.operation.orderKey)
        let rivals = try LastWriter.rivals(of: entry, in: store)
        for rival in rivals {
            guard let known = try CallRecord.record(of: rival, in: store) else { continue }
            if known.saysMore(than: record) { return [] }
            if !record.saysMore(than: known), entry.order <= rival.order { return [] }
        }
        for rival in rivals { try store.remove(rival) }
        try store.put(entry)
        return [.calls(context.space.number)]
    }
}

extension CallRecord {
    static func record(
        of entry: Entry, in store: some MergeStore
    ) throws(StoreError) -> CallRecord? {
        try store.operation(entry.operation)?.operation.payload.flatMap(CallRecord.init(payload:))
    }
}

extension Overview {
    /// Clocks that differ by less, in milliseconds, tell where a call stands: it rings for a while, too.
    private static let clockSlack: UInt64 = 300_000

    /// The calls of a conversation, the oldest first: by their start, as the founders say, and then
    /// by name. A screen shows them between the messages of their time. If there are more than
    /// ``Limits/callRecordCountMax``, those whose founder's record is last in order.
    public static func calls(
        in space: SpaceNumber, store: some MergeStore
    ) throws(StoreError) -> [CallRecord] {
        var records: [CallRecord] = []
        let entries = try store.entries(about: .space, in: space, field: .call)
            .sorted { $0.order < $1.order }
        for entry in entries.suffix(Limits.callRecordCountMax) {
            guard var record = try CallRecord.record(of: entry, in: store) else { continue }
            if entry.order.stand >> 16 > record.ended + clockSlack { record.order = entry.order }
            let words = try store.entries(
                about: .space, in: space, field: .callWord, element: entry.element)
            for word in words {
                guard let word = try CallRecord.record(of: word, in: store) else { continue }
                record = record.heeding(word)
            }
            records.append(record)
        }
        return records.sorted {
            ($0.began, $0.call, $0.founder) < ($1.began, $1.call, $1.founder)
        }
    }
}
