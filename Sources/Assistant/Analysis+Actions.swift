extension Analysis {
    /// What somebody may have to do, in the order of the conversation.
    ///
    /// - Parameter count: at most so many.
    public func actions(count: Int = suggestionCountMax) -> [ActionSuggestion] {
        var found: [(thing: ActionSuggestion, score: Double, place: Int)] = []
        for span in spans {
            for sentence in sentences[span] {
                guard let (action, weight) = action(in: sentence) else { continue }
                found.append((action, Double(weight), sentence.place))
            }
        }
        return chosen(found, count: min(max(0, count), Self.suggestionCountMax))
    }

    /// What a sentence gives somebody to do, and how surely.
    func action(in sentence: Sentence) -> (action: ActionSuggestion, weight: Int)? {
        guard let cues = cues(sentence), sentence.words.count > 1 else { return nil }
        let (start, addressed) = start(of: sentence, cues)
        let found = cues.actions.match(sentence.words, from: start) { fits($0, $1, cues) }
        guard let (index, range) = found,
            cues.notActions.match(sentence.words, from: start, is: { _, _ in false }) == nil
        else { return nil }
        if isConditional(sentence, at: range.lowerBound, from: start, cues) { return nil }
        let rule = cues.rules[index]
        // Who asks whether to do it does not do it yet.
        if sentence.isQuestion, !rule.doer.isAsked(addressed != nil) { return nil }
        let message = messages[sentence.place]
        let due = DayReader(
            words: Array(sentence.words[start...]), language: cues.days, today: message.day
        ).day()
        let doer = doer(rule.doer, range, sentence, addressed)
        var weight = rule.weight
        if due != nil { weight += 2 }
        if sentence.words[range.lowerBound...].contains(where: cues.tasks.contains) { weight += 1 }
        if rule.doer != .me, rule.doer != .name, doer != nil, addressed != nil { weight += 1 }
        guard weight >= Self.weightMin else { return nil }
        return (
            ActionSuggestion(
                sentence: sentence.cited(in: messages), doer: doer, due: due?.number), weight
        )
    }

    /// So much is enough for a suggestion.
    private static let weightMin = 2

    private func doer(
        _ doer: Cues.ActionRule.Doer, _ range: Range<Int>, _ sentence: Sentence,
        _ addressed: String?
    ) -> String? {
        let message = messages[sentence.place]
        switch doer {
        case .me: return message.author
        case .name:
            return sentence.words[range].compactMap { names.persons[$0] }.first
        case .you:
            if let addressed { return addressed }
            if let person = names.person(mentionedIn: sentence) { return person }
            if let parent = message.replyTo.flatMap({ places[$0] }),
                messages[parent].author != message.author
            {
                return messages[parent].author
            }
            // Between two nobody else can be meant.
            let others = names.all.filter { $0 != message.author }
            return others.count == 1 ? others[0] : nil
        case .nobody, .somebody: return addressed
        }
    }
}
