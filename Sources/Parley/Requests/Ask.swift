import ParleyLedger
import ParleySearch
import ParleyWords

/// What people wrote that answers a question, in passages of their messages. Nothing is made up: where
/// nothing answers, there are none.
public struct AskQuestion: NodeRequest, Equatable {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "ask", RequestScope.read,
        "Passages of messages that answer a question, the best first; none where nothing answers it."
    )
    /// An example of the request.
    public static let example = AskQuestion(
        "who has the key?", person: "ben", conversation: "trip", limit: 3)
    /// The most passages.
    public static let limitMax = 20

    /// The question. Conditions of a search may stand in it: `in:hut from:ann after:7d`.
    public var question: String
    /// Only what this person wrote: a name, `me`, or a start of an identifier; nil for everybody.
    public var person: String?
    /// Only what stands in this conversation: its name, its identifier or a start of that; nil for all.
    public var conversation: String?
    /// Only messages that were written from this moment on, in Unix milliseconds.
    public var since: UInt64?
    /// Only messages that were written before this moment, in Unix milliseconds.
    public var until: UInt64?
    /// How many passages at most, from 1 to 20.
    public var limit: Int

    /// A request with these parameters.
    public init(
        _ question: String, person: String? = nil, conversation: String? = nil,
        since: UInt64? = nil, until: UInt64? = nil, limit: Int = 3
    ) {
        self.question = question
        self.person = person
        self.conversation = conversation
        self.since = since
        self.until = until
        self.limit = limit
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> AnswersView {
        guard (1...Self.limitMax).contains(limit) else {
            throw NodeError(
                "bad-limit", "A question can have from 1 to \(Self.limitMax) answers.")
        }
        // As if they stood in the question.
        for name in [person, conversation]
        where name?.utf8.count ?? 0 > SearchQuery.byteCountMax {
            throw NodeError(SearchQuery.Refusal.tooLong)
        }
        var query = try SearchDesk.query(SearchMessages(question))
        guard !query.question.allSatisfy(\.isWhitespace) else {
            throw NodeError("bad-question", "A question needs words.")
        }
        query.narrow(author: person, conversation: conversation, after: since, before: until)
        let asked = query
        // Some of what is found may only ask the same.
        let found = try await node.explaining {
            try await node.desk.passages(for: asked, limit: 2 * limit + 20)
        }
        return try await Answers(to: asked, on: node).view(of: found, limit: limit)
    }
}

/// The found messages that answer a question: one that asks the same does not, but replies to it may.
private struct Answers {
    /// Two questions are the same that have so many of their words in common, in per cent of all of them.
    private static let percentMin = 60
    /// Messages around a question that are looked through for replies to it.
    private static let pageCount = 100

    private let words: Set<String>
    private let query: SearchQuery
    private let node: Node

    init(to query: SearchQuery, on node: Node) {
        words = Self.words(of: query.question)
        self.query = query
        self.node = node
    }

    /// At most so many answering passages, in the order in which their messages, or those they reply to,
    /// were found.
    func view(of found: SearchReply, limit: Int) async throws -> AnswersView {
        var hits: [SearchHit] = []
        var shown: Set<Int64> = []
        var unanswered: [SearchHit] = []
        for hit in found.hits where hits.count < limit {
            guard asksTheSame(hit.message) else {
                if shown.insert(hit.message.number).inserted { hits.append(hit) }
                continue
            }
            let answers = try await replies(to: hit)
            if answers.isEmpty { unanswered.append(hit) }
            hits += answers.filter { shown.insert($0.message.number).inserted }
        }
        var notes = found.notes
        if hits.isEmpty, let first = unanswered.first {
            notes.append(
                "\(first.message.author) asked much the same in \(first.conversation), "
                    + "#\(first.message.number). No message replies to it by name; one that came "
                    + "after it may answer.")
        }
        return AnswersView(
            passages: hits.prefix(limit).map(PassageView.init), semantic: found.semantic,
            notes: notes, milliseconds: found.milliseconds)
    }

    /// Whether a message is the question itself, or one very much like it.
    private func asksTheSame(_ message: MessageView) -> Bool {
        guard let text = message.text else { return false }
        let others = Self.words(of: text)
        if others == words { return true }
        guard let last = text.last(where: { !$0.isWhitespace }), "?？؟".contains(last) else {
            return false
        }
        return words.intersection(others).count * 100
            >= words.union(others).count * Self.percentMin
    }

    private static func words(of text: String) -> Set<String> {
        Set(text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }

    /// The replies to a question that are by whom, and from when, they should be, oldest first.
    private func replies(to hit: SearchHit) async throws -> [SearchHit] {
        try await node.read { views in
            let filter = try views.filter(of: query)
            let page = try views.context(of: hit.message.number, limit: Self.pageCount).page
            let space = try views.conversation(hit.message.conversation)
            return page.messages.enumerated().compactMap { place, message in
                guard message.replyTo == hit.message.number, let text = message.text,
                    !asksTheSame(message), views.passes(message, space, filter)
                else { return nil }
                let below = page.messages.dropFirst(place + 1).first
                return SearchHit(
                    message: message, conversation: hit.conversation, reason: "reply",
                    pieces: [SearchHit.Piece(text: text, isMatch: false)],
                    cursor: below?.id ?? hit.cursor, explanation: nil)
            }
        }
    }
}
