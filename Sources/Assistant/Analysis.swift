import ParleyWords

/// What the assistant reads out of messages: sentences of theirs, and who and when. Nothing is kept,
/// and nothing is said that does not stand there.
public final class Analysis: Sendable {
    /// Messages that are looked at, at most: the newest.
    public static let messageCountMax = 5_000
    /// Bytes of a message that are looked at, at most.
    public static let byteCountMax = SentenceCutter.byteCountMax
    /// Suggestions of a kind that are returned, at most.
    public static let suggestionCountMax = 100

    let messages: [SaidMessage]
    let sentences: [Sentence]
    /// The place of a message by its number.
    let places: [Int64: Int]
    let names: Names
    /// The numbers of messages that reply to a message, by its number.
    let replies: [Int64: [Int]]
    /// Which sentences each message has.
    let spans: [Range<Int>]
    private let language: Language

    /// - Parameters:
    ///   - messages: oldest first. Of more than ``messageCountMax`` the newest count.
    ///   - people: whom they may address beside each other.
    public init(_ messages: [SaidMessage], people: [AddressedPerson] = []) {
        let messages = Array(messages.suffix(Self.messageCountMax))
        self.messages = messages
        var (sentences, spans): ([Sentence], [Range<Int>]) = ([], [])
        var (places, replies): ([Int64: Int], [Int64: [Int]]) = ([:], [:])
        for (place, message) in messages.enumerated() {
            let found = Sentence.all(of: message, at: place)
            spans.append(sentences.count..<sentences.count + found.count)
            sentences += found
            places[message.number] = place
            if let parent = message.replyTo { replies[parent, default: []].append(place) }
        }
        (self.sentences, self.spans) = (sentences, spans)
        (self.places, self.replies) = (places, replies)
        names = Names(messages, people)
        language = Self.mostFrequent(sentences)
    }

    private static func mostFrequent(_ sentences: [Sentence]) -> Language {
        let languages = Sentence.languages
        let counts = languages.map { one in sentences.count { $0.language == one } }
        // Where it is a draw, the first.
        return languages.indices.max { (counts[$0], -$0) < (counts[$1], -$1) }
            .map { languages[$0] } ?? .english
    }

    /// The tables that fit a sentence: of its own language, else of the one that is mostly spoken.
    func cues(_ sentence: Sentence) -> Cues? { Cues.of(sentence.language ?? language) }

    /// Where a sentence begins to say something: behind who is addressed and words like "ok".
    func start(of sentence: Sentence, _ cues: Cues) -> (place: Int, addressed: String?) {
        var place = 0
        var addressed: String?
        while place < sentence.words.count - 1 {
            if sentence.words[place] == ":" || cues.fillers.contains(sentence.words[place]) {
                place += 1
            } else if let person = names.person(addressedAt: place, of: sentence) {
                addressed = addressed ?? person.id
                place += person.wordCount
            } else {
                break
            }
        }
        return (place, addressed)
    }

    /// Whether words right before a place make what stands there say something else, as "if" does. A comma
    /// ends what they are about.
    func isConditional(_ sentence: Sentence, at place: Int, from start: Int, _ cues: Cues) -> Bool {
        let first = max(start, place - Self.conditionDistance)
        for token in sentence.tokens[first..<place].reversed() {
            if token.endsPart { return false }
            if cues.conditions.contains(token.text) { return true }
        }
        return false
    }

    /// So many words before it, at most.
    private static let conditionDistance = 3

    /// Whether a word is of a kind.
    func fits(_ word: String, _ kind: Phrase.Kind, _ cues: Cues) -> Bool {
        switch kind {
        case .action: !cues.notTasks.contains(word) && word != ":"
        case .task: cues.tasks.contains(word)
        case .name: names.persons[word] != nil
        case .noun: !Language.isFrequent(Array(word.utf8)) && word != ":"
        }
    }

    /// The best, none of whose authors crowds out the others, in the order of the conversation.
    func chosen<Thing>(
        _ found: [(thing: Thing, score: Double, place: Int)], count: Int
    ) -> [Thing] {
        // They come in the order of the conversation: the later ones first among equals.
        let ranked = found.indices.sorted { (found[$0].score, $0) > (found[$1].score, $1) }
        let kept = AuthorShare.kept(
            ranked.map { messages[found[$0].place].author }, count: count)
        return kept.map { ranked[$0] }.sorted().map { found[$0].thing }
    }
}

/// Keeps one author from filling a list with their own lines.
enum AuthorShare {
    /// Which of a ranked list are kept. Of one author at most half, as long as others wait.
    static func kept(_ authors: [String], count: Int) -> [Int] {
        guard authors.count > count else { return Array(authors.indices) }
        var (kept, left): ([Int], [Int]) = ([], [])
        var counts: [String: Int] = [:]
        for (index, author) in authors.enumerated() where kept.count < count {
            if counts[author, default: 0] < max(1, count / 2) {
                kept.append(index)
                counts[author, default: 0] += 1
            } else if left.count < count {
                left.append(index)
            }
        }
        // Nobody else waits: what remains is room.
        return (kept + left.prefix(count - kept.count)).sorted()
    }
}
