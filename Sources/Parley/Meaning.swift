/// What a word means, of many things that have a name and an identifier.
///
/// The name as it is; else in other letters, so that "ben" finds Ben; else the beginning of the
/// identifier. What is found a better way hides what is found a worse one.
package struct Meaning<Thing> {
    private let word: String
    private let folded: String
    private var named: [Thing] = []
    private var alike: [Thing] = []
    private var begun: [Thing] = []

    /// Characters of an identifier that are enough to look for it.
    private static var prefixCountMin: Int { 4 }

    /// A search for a word.
    package init(_ word: String) {
        self.word = word
        folded = word.lowercased()
    }

    /// What was found.
    package var things: [Thing] {
        if !named.isEmpty { return named }
        return alike.isEmpty ? begun : alike
    }

    /// Looks at one of the things; each only once.
    package mutating func consider(_ thing: Thing, name: String, identifier: String) {
        if name.isEmpty {
            // What has no name is meant by none.
        } else if name == word {
            named.append(thing)
        } else if name.lowercased() == folded {
            alike.append(thing)
        }
        if word.count >= Self.prefixCountMin, identifier.hasPrefix(folded) { begun.append(thing) }
    }
}
