extension Analysis {
    /// Behind a proposal, so many messages are looked at for somebody who agrees.
    private static let agreementDistance = 4
    /// Words of a message that only agrees, at most.
    private static let agreementWordCount = 6

    /// What may have been decided, in the order of the conversation.
    ///
    /// - Parameter count: at most so many.
    public func decisions(count: Int = suggestionCountMax) -> [DecisionSuggestion] {
        var found: [(thing: DecisionSuggestion, score: Double, place: Int)] = []
        for span in spans {
            for sentence in sentences[span] {
                if let (decision, score) = decision(in: sentence) {
                    found.append((decision, score, sentence.place))
                }
            }
        }
        return chosen(found, count: min(max(0, count), Self.suggestionCountMax))
    }

    /// What a sentence decides, and how surely.
    func decision(in sentence: Sentence) -> (decision: DecisionSuggestion, score: Double)? {
        guard let cues = cues(sentence), sentence.words.count > 2 else { return nil }
        let (start, _) = start(of: sentence, cues)
        let words = sentence.words
        func match(_ list: PhraseList) -> (phrase: Int, range: Range<Int>)? {
            list.match(words, from: start) { fits($0, $1, cues) }
        }
        guard match(cues.notDecisions) == nil else { return nil }
        if !sentence.isQuestion, let (_, range) = match(cues.decisions),
            !isConditional(sentence, at: range.lowerBound, from: start, cues)
        {
            let cited = sentence.cited(in: messages)
            return (DecisionSuggestion(sentence: cited, agreement: nil), 2)
        }
        guard match(cues.proposals) != nil, let place = agreement(to: sentence) else { return nil }
        return (
            DecisionSuggestion(
                sentence: sentence.cited(in: messages), agreement: messages[place].number), 1
        )
    }

    /// The message in which somebody else agrees to a proposal.
    private func agreement(to sentence: Sentence) -> Int? {
        let proposal = messages[sentence.place]
        let replies = replies[proposal.number] ?? []
        let next = sentence.place + 1
        let near = next..<max(next, min(messages.count, next + Self.agreementDistance))
        for place in replies + near where messages[place].author != proposal.author {
            // What replies to something else agrees to that.
            if let parent = messages[place].replyTo, parent != proposal.number { continue }
            if agrees(place) { return place }
        }
        return nil
    }

    private func agrees(_ place: Int) -> Bool {
        guard let first = sentences[spans[place]].first, let cues = cues(first), !first.isQuestion,
            first.words.count <= Self.agreementWordCount
        else { return false }
        // "ok" is one of the words that say nothing, and alone it says yes.
        let (start, _) = start(of: first, cues)
        return cues.agreements.matches(first.words, from: start)
            || cues.agreements.matches(first.words)
    }
}
