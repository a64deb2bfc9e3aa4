extension Analysis {
    /// Behind a question, so many messages are looked at for an answer.
    private static let answerDistance = 12
    /// Messages of one other person alone, behind a question, that answer it whatever they say.
    private static let directDistance = 3

    /// Questions that nobody answered, in the order of the conversation.
    ///
    /// - Parameter count: at most so many.
    public func openQuestions(count: Int = suggestionCountMax) -> [OpenQuestion] {
        var found: [(thing: OpenQuestion, score: Double, place: Int)] = []
        for span in spans {
            guard let sentence = sentences[span].first(where: isAsking),
                !isAnswered(sentence)
            else { continue }
            let question = OpenQuestion(
                sentence: sentence.cited(in: messages), isToReader: isToReader(sentence))
            found.append((question, question.isToReader ? 2 : 1, sentence.place))
        }
        return chosen(found, count: min(max(0, count), Self.suggestionCountMax))
    }

    /// The first question of each message that asks one, answered or not.
    public func questions() -> [CitedSentence] {
        spans.compactMap { span in
            sentences[span].first(where: isAsking).map { $0.cited(in: messages) }
        }
    }

    /// Whether a sentence asks something.
    func isAsking(_ sentence: Sentence) -> Bool {
        guard sentence.isQuestion, let cues = cues(sentence) else { return false }
        let (start, _) = start(of: sentence, cues)
        guard sentence.words.count - start > 1 else { return false }
        return !cues.idleQuestions.matches(sentence.words, from: start)
    }

    /// Whether a question is asked of the reader.
    func isToReader(_ sentence: Sentence) -> Bool {
        let message = messages[sentence.place]
        guard !message.isOwn else { return false }
        if message.mentionsReader { return true }
        return message.replyTo.flatMap { places[$0] }.map { messages[$0].isOwn } ?? false
    }

    /// Whether somebody replied, said something that answers it, or the asker has it settled.
    func isAnswered(_ sentence: Sentence) -> Bool {
        let question = messages[sentence.place]
        let asker = question.author
        if (replies[question.number] ?? []).contains(where: { messages[$0].author != asker }) {
            return true
        }
        let next = sentence.place + 1
        let end = min(messages.count, next + Self.answerDistance)
        guard next < end else { return false }
        let isDirect = names.all.count == 2
        for place in next..<end {
            let message = messages[place]
            // A reply belongs to what it replies to.
            if message.replyTo != nil { continue }
            if message.author == asker {
                if isSettled(place) { return true }
            } else if answers(place, sentence)
                || isDirect && place < next + Self.directDistance
                    && !spans[place].isEmpty && !asks(place)
            {
                return true
            }
        }
        return false
    }

    private func asks(_ place: Int) -> Bool { sentences[spans[place]].contains { $0.isQuestion } }

    private func isSettled(_ place: Int) -> Bool {
        guard let first = sentences[spans[place]].first, let cues = cues(first) else {
            return false
        }
        return cues.settled.matches(first.words)
    }

    /// Whether a message by another person looks like an answer: it turns to the asker, or speaks of
    /// the same.
    private func answers(_ place: Int, _ question: Sentence) -> Bool {
        let asker = messages[question.place].author
        for sentence in sentences[spans[place]] {
            if let cues = cues(sentence), start(of: sentence, cues).addressed == asker {
                return true
            }
            if names.person(mentionedIn: sentence) == asker { return true }
            guard !sentence.isQuestion else { continue }
            let shared = sentence.terms.count { question.terms.contains($0) }
            if shared >= 2 || shared == 1 && question.terms.count <= 3 { return true }
        }
        return false
    }
}
