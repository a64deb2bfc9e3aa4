package import ParleyConversation
package import ParleyWire

/// Whom a typed text mentions: `@` and the name of a member, or the start of their identifier with
/// eight or more digits; `@everyone` means everybody.
///
/// The longest matching name is meant, ignoring case. An ambiguous name is refused, because only
/// the writer can choose. If the writer has an alias for a person, the text gets that person's own
/// name: an alias is nobody else's business.
/// Source: `Protocol/03-operations.md`, "Mentions".
package struct MentionResolver {
    /// A person who can be mentioned.
    package struct Candidate {
        /// The person.
        package var person: PersonID
        /// Their names here; empty ones are ignored.
        package var names: [String]
        /// Their own name, as the text is to have it.
        package var publicName: String

        /// A candidate with these fields.
        package init(person: PersonID, names: [String], publicName: String) {
            self.person = person
            self.names = names
            self.publicName = publicName
        }
    }

    private let candidates: [Candidate]
    private static let everyone = "everyone"

    /// A resolver among these.
    package init(among candidates: [Candidate]) { self.candidates = candidates }

    /// The text as it is to be written, and the persons it mentions.
    package func resolve(_ text: String) throws(NodeError) -> (text: String, mentions: Mentions) {
        var (written, mentions) = ("", Mentions())
        var rest = text[...]
        var last: Character?
        while let character = rest.first {
            let after = rest.dropFirst()
            if character == "@", !(last.map(Self.isOfName) ?? false) {
                if Self.begin(of: after, with: Self.everyone) != nil { mentions.everyone = true }
                if let (candidate, end) = try meant(at: after) {
                    let typed = after[..<end]
                    let isPublic = typed.lowercased() == candidate.publicName.lowercased()
                    let name = "@" + (isPublic ? String(typed) : candidate.publicName)
                    let start = written.utf8.count
                    mentions.persons.append(
                        .init(candidate.person, at: start..<start + name.utf8.count))
                    written += name
                    (rest, last) = (rest[end...], "a")
                    continue
                }
            }
            written.append(character)
            (rest, last) = (after, character)
        }
        guard mentions.persons.count <= Limits.mentionCountMax else {
            throw NodeError(
                "too-many-mentions",
                "A message can mention at most \(Limits.mentionCountMax) people.",
                hint: "@\(Self.everyone) mentions everybody in the conversation.")
        }
        return (written, mentions)
    }

    /// The person meant at this place of the text, and where the mention ends.
    private func meant(
        at text: Substring
    ) throws(NodeError) -> (candidate: Candidate, end: Substring.Index)? {
        let digits = text.prefix { $0.isASCII && $0.isHexDigit }
        if VisibleName.isIdentifier(digits), Self.isEnd(digits.endIndex, of: text) {
            var resolver = Resolver<Int>(String(digits))
            for (place, candidate) in candidates.enumerated() {
                resolver.consider(
                    place, names: [], identifiers: [candidate.person.description])
            }
            guard let place = try resolver.thing() else { return nil }
            return (candidates[place], digits.endIndex)
        }
        let ends = candidates.flatMap { candidate in
            candidate.names.compactMap { Self.begin(of: text, with: $0) }
        }
        guard let end = ends.max(), end > text.startIndex else { return nil }
        // As lists show it if two have one name: with the start of the identifier in brackets.
        let bracket = Self.bracket(at: text[end...])
        let name = String(text[..<(bracket ?? end)])
        var resolver = Resolver<Int>(name)
        for (place, candidate) in candidates.enumerated() {
            resolver.consider(
                place, names: candidate.names, identifiers: [candidate.person.description])
        }
        do {
            guard let place = try resolver.thing() else { return nil }
            return (candidates[place], bracket ?? end)
        } catch {
            throw NodeError(
                error.code, error.message.replacing("“\(name)”", with: "“@\(name)”"),
                hint: "Write @ and the start of the identifier, as it stands in brackets; "
                    + "`parley send --no-mentions` sends the text as it is.")
        }
    }

    /// Where an identifier in brackets after a space ends; nil if there is none.
    private static func bracket(at text: Substring) -> Substring.Index? {
        guard text.hasPrefix(" ("), let close = text.firstIndex(of: ")"),
            VisibleName.isIdentifier(text.dropFirst(2)[..<close])
        else { return nil }
        return text.index(after: close)
    }

    /// Where a name at the beginning of a text ends; nil if the text begins otherwise, or the word
    /// continues.
    private static func begin(of text: Substring, with name: String) -> Substring.Index? {
        guard !name.isEmpty else { return nil }
        var place = text.startIndex
        for character in name {
            guard place < text.endIndex,
                text[place].lowercased() == character.lowercased()
            else { return nil }
            place = text.index(after: place)
        }
        return isEnd(place, of: text) ? place : nil
    }

    private static func isEnd(_ place: Substring.Index, of text: Substring) -> Bool {
        place == text.endIndex || !isOfName(text[place])
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}
