import ParleyWords

/// Whom a text may mean by a name.
struct Names {
    /// A name of fewer bytes means nobody: "I" and "Al" are words.
    private static let byteCountMin = 3

    /// Persons by the first word of their name, folded; none of whom two have the same.
    let persons: [String: String]
    /// The words of each name, by its first.
    private let words: [String: [String]]
    /// Everybody, in the order in which they were named.
    let all: [String]

    init(_ messages: [SaidMessage], _ people: [AddressedPerson]) {
        var known: [String: String] = [:]
        var order: [String] = []
        for person in people + messages.map({ AddressedPerson(id: $0.author, name: $0.name) })
        where known[person.id] == nil {
            known[person.id] = person.name
            order.append(person.id)
        }
        all = order
        var (persons, words): ([String: String], [String: [String]]) = ([:], [:])
        var isShared: Set<String> = []
        for id in order {
            let parts = WordSplitter.words(of: known[id] ?? "").prefix(4)
                .map { String(decoding: $0.folded, as: UTF8.self) }
            guard let first = parts.first, first.utf8.count >= Self.byteCountMin else { continue }
            if persons[first] != nil { isShared.insert(first) }
            persons[first] = id
            words[first] = parts
        }
        for name in isShared.sorted() { persons[name] = nil }
        (self.persons, self.words) = (persons, words)
    }

    /// The person to whom a sentence turns at a word: "ben: …", "Ben, …", "@ben …".
    func person(
        addressedAt place: Int, of sentence: Sentence
    ) -> (id: String, wordCount: Int)? {
        let first = sentence.words[place]
        guard let id = persons[first] else { return nil }
        var count = 1
        for word in (words[first] ?? []).dropFirst() {
            guard place + count < sentence.words.count, sentence.words[place + count] == word else {
                break
            }
            count += 1
        }
        let isCalled = sentence.tokens[place + count - 1].isCalled
        return sentence.tokens[place].isMarked || isCalled ? (id, count) : nil
    }

    /// The person whom a text mentions with a sign, anywhere.
    func person(mentionedIn sentence: Sentence) -> String? {
        sentence.tokens.lazy.filter(\.isMarked).compactMap { persons[$0.text] }.first
    }
}
