import Parley

/// The found messages that answer a question: one that asks the same does not, but replies to it
/// may.
struct Answers {
    /// Two questions are the same that have so many of their words in common, in per cent of all of them.
    private static let percentMin = 60
    /// Messages around a question that are looked through for replies to it.
    private static let pageCount = 100

    private let words: Set<String>
    private let node: any NodeService

    init(to question: String, on node: any NodeService) {
        words = Self.words(of: question)
        self.node = node
    }

    /// At most this many answering hits, in the order in which they, or the messages they reply to,
    /// were found.
    func reply(from found: SearchReply, limit: Int) async throws -> SearchReply {
        var reply = found
        reply.hits = []
        var shown: Set<Int64> = []
        var unanswered: [SearchHit] = []
        for hit in found.hits {
            if reply.hits.count >= limit { break }
            guard asksTheSame(hit.message) else {
                if shown.insert(hit.message.number).inserted { reply.hits.append(hit) }
                continue
            }
            let answers = try await self.replies(to: hit)
            if answers.isEmpty { unanswered.append(hit) }
            for answer in answers where shown.insert(answer.message.number).inserted {
                reply.hits.append(answer)
            }
        }
        reply.hits = Array(reply.hits.prefix(limit))
        if reply.hits.isEmpty, let first = unanswered.first {
            reply.notes.append(
                "\(first.message.author) asked the same in \(first.conversation), "
                    + "#\(first.message.number), and nobody replied to it.")
        }
        return reply
    }

    /// Whether a message is the question itself, or one very much like it.
    func asksTheSame(_ message: MessageView) -> Bool {
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

    /// The replies to a question, oldest first.
    private func replies(to hit: SearchHit) async throws -> [SearchHit] {
        let page = try await node.perform(
            GetContext(message: MessageReference(hit.message.number), limit: Self.pageCount)
        ).page
        return page.messages.enumerated().compactMap { place, message in
            guard message.replyTo == hit.message.number, let text = message.text,
                !asksTheSame(message)
            else { return nil }
            let below = page.messages.dropFirst(place + 1).first
            return SearchHit(
                message: message, conversation: hit.conversation, reason: "reply",
                pieces: [SearchHit.Piece(text: text, isMatch: false)],
                cursor: below?.id ?? hit.cursor, explanation: nil)
        }
    }
}
