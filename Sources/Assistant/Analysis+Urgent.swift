/// A line that waits for the reader.
public struct UrgentLine: Equatable, Sendable {
    /// Why it does.
    public enum Reason: String, Sendable, CaseIterable {
        /// It mentions the reader.
        case mention
        /// It asks the reader something that is not answered.
        case question
        /// It gives the reader something to do.
        case task
    }
    /// The line.
    public var sentence: CitedSentence
    /// Why it waits.
    public var reason: Reason
}

extension Analysis {
    /// What waits for the reader, in the order of the conversation.
    ///
    /// - Parameters:
    ///   - reader: what distinguishes the reader as an author.
    ///   - isDirect: whether the conversation has one other person, so that every question is asked of
    ///     the reader.
    ///   - count: at most so many.
    public func urgent(for reader: String, isDirect: Bool, count: Int) -> [UrgentLine] {
        var found: [(thing: UrgentLine, score: Double, place: Int)] = []
        for (place, message) in messages.enumerated() where !message.isOwn {
            guard let (sentence, reason) = urgent(place, for: reader, isDirect) else { continue }
            let line = UrgentLine(sentence: sentence.cited(in: messages), reason: reason)
            found.append((line, reason == .mention ? 2 : 1, place))
        }
        return chosen(found, count: min(max(0, count), Self.suggestionCountMax))
    }

    private func urgent(
        _ place: Int, for reader: String, _ isDirect: Bool
    ) -> (Sentence, UrgentLine.Reason)? {
        let all = sentences[spans[place]]
        let question = all.first { isAsking($0) && !isAnswered($0) }
        let task = all.first { action(in: $0)?.action.doer == reader }
        if messages[place].mentionsReader {
            // The sentence that says what for, where one does.
            return (question ?? task ?? all.first).map { ($0, .mention) }
        }
        if let question, isDirect || isToReader(question) || isAddressed(question, to: reader) {
            return (question, .question)
        }
        return task.map { ($0, .task) }
    }

    private func isAddressed(_ sentence: Sentence, to reader: String) -> Bool {
        guard let cues = cues(sentence) else { return false }
        return start(of: sentence, cues).addressed == reader
    }
}
