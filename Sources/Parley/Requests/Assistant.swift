import Foundation
import ParleyAssistant
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// What was said in a conversation, in a few of its sentences. The newest 5,000 messages are looked at.
public struct Summarize: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "summarize", RequestScope.read,
        "What was said in a conversation or a thread, in a few of its sentences."
    )
    /// An example of the request.
    public static let example = Summarize(conversation: "trip", count: 5)
    /// The most sentences.
    public static let countMax = Analysis.pointCountMax

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// A message of the thread; nil for all of the conversation.
    public var thread: MessageReference?
    /// Messages alone that were written from this moment on, in Unix milliseconds.
    public var since: UInt64?
    /// Messages alone that were written before this moment, in Unix milliseconds.
    public var until: UInt64?
    /// How many sentences, from 1 to 50.
    public var count: Int

    /// A request with these parameters.
    public init(
        conversation: String, thread: MessageReference? = nil, since: UInt64? = nil,
        until: UInt64? = nil, count: Int = 5
    ) {
        self.conversation = conversation
        self.thread = thread
        self.since = since
        self.until = until
        self.count = count
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> SummaryView {
        guard (1...Self.countMax).contains(count) else {
            throw NodeError(
                "bad-limit", "A summary can have from 1 to \(Self.countMax) sentences.")
        }
        let (space, message) = try await node.read { views in
            (
                try views.conversation(conversation),
                try thread.map { try views.message($0) as OperationNumber }
            )
        }
        let said = try await node.said(
            in: space.number, SaidFilter(thread: message, since: since, until: until), zone: .gmt)
        let points = Analysis(said.messages, people: said.people).points(count: count)
        return try await node.read { views in
            let lines = try views.lines(of: points, in: space.number)
            return SummaryView(
                conversation: space.id.description, title: try views.view(of: space).name,
                points: points.compactMap { lines[$0.key] }, looked: said.looked)
        }
    }
}

/// What somebody may have to do, as messages of a conversation say: suggestions that nobody took or
/// dismissed yet. The newest 5,000 messages are looked at.
public struct SuggestItems: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "suggestItems", RequestScope.read,
        "Action items that messages of a conversation suggest."
    )
    /// An example of the request.
    public static let example = SuggestItems(conversation: "trip", zone: "Europe/Madrid")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The time zone in which “tomorrow” is understood, as `Europe/Madrid`; nil for the node's.
    public var zone: String?

    /// A request with these parameters.
    public init(conversation: String, zone: String? = nil) {
        self.conversation = conversation
        self.zone = zone
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ItemSuggestionList {
        let zone = try AssistantRequests.zone(zone)
        let space = try await node.read { try $0.conversation(conversation) }
        let said = try await node.said(in: space.number, SaidFilter(), zone: zone)
        let found = Analysis(said.messages, people: said.people).actions()
        return try await node.read { views in
            let lines = try views.lines(of: found.map(\.sentence), in: space.number)
            let taken = try views.items(in: space.id.description)
                .map { Taken(source: $0.source, title: $0.title) }
            let fresh = try views.fresh(
                found.compactMap { lines[$0.sentence.key] }, .item, taken, said, in: space.id)
            return ItemSuggestionList(
                suggestions: try found.filter { fresh.contains($0.sentence.key) }.compactMap {
                    try views.suggestion($0, lines, said, in: space)
                }, looked: said.looked)
        }
    }
}

/// What may have been decided, as messages of a conversation say: suggestions that nobody took or
/// dismissed yet. The newest 5,000 messages are looked at.
public struct SuggestDecisions: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "suggestDecisions", RequestScope.read,
        "Decisions that messages of a conversation suggest."
    )
    /// An example of the request.
    public static let example = SuggestDecisions(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) { self.conversation = conversation }

    /// Answers the request.
    public func perform(on node: Node) async throws -> DecisionSuggestionList {
        let space = try await node.read { try $0.conversation(conversation) }
        let said = try await node.said(in: space.number, SaidFilter(), zone: .gmt)
        let found = Analysis(said.messages, people: said.people).decisions()
        return try await node.read { views in
            let lines = try views.lines(of: found.map(\.sentence), in: space.number)
            let taken = try views.decisions(
                in: space.id.description, limit: ListDecisions.limitMax, from: nil,
                lookingAt: ListDecisions.limitMax, where: { $0.state != "untaken" }
            ).decisions.map { Taken(source: $0.source, title: $0.title) }
            let fresh = try views.fresh(
                found.compactMap { lines[$0.sentence.key] }, .decision, taken, said, in: space.id)
            return DecisionSuggestionList(
                suggestions: found.compactMap { decision in
                    guard fresh.contains(decision.sentence.key),
                        let line = lines[decision.sentence.key]
                    else { return nil }
                    return DecisionSuggestionView(line: line, agreement: decision.agreement)
                }, looked: said.looked)
        }
    }
}

/// Questions of a conversation that nobody answered. The newest 5,000 messages are looked at.
public struct ListOpenQuestions: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "openQuestions", RequestScope.read,
        "Questions of a conversation that nobody answered."
    )
    /// An example of the request.
    public static let example = ListOpenQuestions(conversation: "trip")

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String

    /// A request with these parameters.
    public init(conversation: String) { self.conversation = conversation }

    /// Answers the request.
    public func perform(on node: Node) async throws -> OpenQuestionList {
        let space = try await node.read { try $0.conversation(conversation) }
        let said = try await node.said(in: space.number, SaidFilter(), zone: .gmt)
        let found = Analysis(said.messages, people: said.people).openQuestions()
        return try await node.read { views in
            let lines = try views.lines(of: found.map(\.sentence), in: space.number)
            return OpenQuestionList(
                questions: found.compactMap { question in
                    lines[question.sentence.key].map {
                        OpenQuestionView(line: $0, isToMe: question.isToReader)
                    }
                }, looked: said.looked)
        }
    }
}

/// Does not suggest a sentence again on this device, until its message is edited.
public struct DismissSuggestion: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "dismissSuggestion", RequestScope.write,
        "Does not suggest a sentence again on this device, until its message is edited."
    )
    /// An example of the request.
    public static let example = DismissSuggestion(kind: .item, message: 12, sentence: 0)

    /// What it was suggested as.
    public var kind: SuggestionKind
    /// The message.
    public var message: MessageReference
    /// Which sentence of the message, counted from 0.
    public var sentence: Int

    /// A request with these parameters.
    public init(kind: SuggestionKind, message: MessageReference, sentence: Int = 0) {
        self.kind = kind
        self.message = message
        self.sentence = sentence
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        guard (0..<Int(UInt16.max)).contains(sentence) else {
            throw NodeError("bad-sentence", "A message has no sentence of that number.")
        }
        let (space, entry) = try await node.read { views in
            guard let view = try views.message(views.message(message)),
                let space = try views.conversation(of: OperationNumber(view.number))
            else { throw NodeError(.unknownMessage) }
            return (
                space.id,
                Dismissals.Entry(
                    kind: kind, id: view.id, sentence: sentence, editCount: view.editCount)
            )
        }
        do {
            try await node.running.write { try Dismissals.keep(entry, of: space, in: $0) }
        } catch let error as StoreError {
            throw NodeError(error)
        }
        return NoReply()
    }
}

/// What requests to the assistant share.
enum AssistantRequests {
    /// The time zone of a name.
    static func zone(_ name: String?) throws -> TimeZone {
        guard let name else { return .current }
        guard name.utf8.count <= 64, let zone = TimeZone(identifier: name) else {
            throw NodeError(
                "bad-zone", "There is no time zone with that name.",
                hint: "Write it like Europe/Madrid, or leave it out for the one of this machine.")
        }
        return zone
    }
}

/// Something that was made from a message.
private struct Taken {
    var source: String?
    var title: String
}

extension Views {
    /// The lines that nobody took or dismissed.
    fileprivate func fresh(
        _ lines: [CitedLine], _ kind: SuggestionKind, _ taken: [Taken], _ said: SaidMessages,
        in space: SpaceID
    ) throws -> Set<CitedSentence.Key> {
        let dismissed = Set(try Dismissals.read(of: space, in: store).entries)
        let counts = lines.reduce(into: [:]) { $0[$1.number, default: 0] += 1 }
        let fresh = lines.filter { line in
            let entry = Dismissals.Entry(
                kind: kind, id: line.id, sentence: line.sentence,
                editCount: said.origins[line.number]?.editCount ?? 0)
            // Of several suggestions of one message others may still be open.
            return !dismissed.contains(entry)
                && !taken.contains {
                    $0.source == line.id && (counts[line.number] == 1 || $0.title == line.text)
                }
        }
        return Set(fresh.map { CitedSentence.Key(message: $0.number, ordinal: $0.sentence) })
    }

    /// Nil where the message does not say so any more.
    fileprivate func suggestion(
        _ action: ActionSuggestion, _ lines: [CitedSentence.Key: CitedLine], _ said: SaidMessages,
        in space: SpaceRecord
    ) throws -> ItemSuggestion? {
        guard let line = lines[action.sentence.key] else { return nil }
        let isForeign = said.origins[action.sentence.message]?.isForeign ?? true
        let roster = try roster(of: space)
        // Only a member can be given something to do.
        let doer = roster?.members.map(\.person).first { $0.description == action.doer }
        let isMeant = doer != nil && !(isForeign && doer?.description == line.person)
        return ItemSuggestion(
            line: line, assignee: isMeant ? doer?.description : nil,
            assigneeName: isMeant ? try doer.map { try name(of: $0, in: roster) } : nil,
            due: action.due.flatMap { UInt32(exactly: $0) }.map { CalendarDay.text($0) })
    }
}
