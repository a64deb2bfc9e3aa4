import ParleyWire

/// Which of many things a text means that a person or a program gives.
///
/// An identifier, or the start of one with eight or more hex digits, means the thing with that
/// identifier, and never one that is only called so: otherwise a person with such a name would
/// stand in the way of the one it names. Any other text means the thing with that name, ignoring
/// case, or an identifier that begins with fewer digits. A name with an identifier behind it in
/// brackets, as lists show it, means the thing with that identifier. Only the caller can choose
/// between two matches, so they are refused. Names chosen by strangers yield: they count if nothing
/// else matches, or if one alone has exactly this name.
/// Source: `Protocol/05-identity.md`, "Names".
package struct Resolver<Thing> {
    private struct Candidate {
        var thing: Thing
        var name: String
        var identifier: String
        /// Whether it bears the text letter by letter, or the identifier that it begins.
        var isExact: Bool
        var yields: Bool
    }
    private let text: String
    private let plain: String
    private let folded: String
    private let isIdentifier: Bool
    private let isStart: Bool
    private var found: [Candidate] = []

    /// Characters of an identifier that are enough to look for it.
    private static var startCountMin: Int { 4 }

    /// Bytes of the longest text that can mean anything: a name with an identifier behind it has far fewer.
    private static var textByteCountMax: Int { 1_024 }

    /// A search for the meaning of a text.
    ///
    /// - Parameter isName: whether the text means what bears it as a name, and no identifier.
    package init(_ text: String, isName: Bool = false) {
        self.text = text
        guard text.utf8.count <= Self.textByteCountMax else {
            // Nothing has an empty name or identifier.
            (plain, folded, isIdentifier, isStart) = ("", "", false, false)
            return
        }
        plain = Self.plain(text)
        folded = Self.identifier(behind: text) ?? Self.folded(text)
        isIdentifier = VisibleName.isIdentifier(folded)
        isStart =
            !isName && folded.count >= Self.startCountMin
            && folded.allSatisfy { $0 == "-" || ($0.isASCII && $0.isHexDigit) }
    }

    /// The identifier that stands in brackets at the end of a text, as `693fce02` in `Tom (693fce02)`.
    private static func identifier(behind text: String) -> String? {
        let folded = folded(text)
        guard folded.last == ")", let bracket = folded.lastIndex(of: "(") else { return nil }
        let inside = folded[folded.index(after: bracket)...].dropLast()
        return VisibleName.isIdentifier(inside) ? String(inside) : nil
    }

    /// Names differ neither by their letters' case nor by how many blanks are in them.
    private static func folded(_ text: String) -> String { plain(text.lowercased()) }

    private static func plain(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Looks at one of the things; each only once.
    ///
    /// - Parameters:
    ///   - names: its names; empty ones are ignored.
    ///   - identifiers: in lower-case hex. The first is what tells it from others.
    ///   - isMeant: whether it is already known to be meant.
    ///   - yields: whether a stranger named it, who must not make a name mean two things.
    package mutating func consider(
        _ thing: Thing, names: [String], identifiers: [String], isMeant: Bool = false,
        yields: Bool = false
    ) {
        let isNamed =
            !isIdentifier && names.contains { !$0.isEmpty && Self.folded($0) == folded }
        let isBegun = isStart && identifiers.contains { $0.hasPrefix(folded) }
        guard isMeant || isNamed || isBegun else { return }
        found.append(
            Candidate(
                thing: thing, name: names.first ?? "", identifier: identifiers.first ?? "",
                isExact: isBegun || names.contains { Self.plain($0) == plain }, yields: yields))
    }

    /// Looks at one of the things that has one name and one identifier.
    package mutating func consider(_ thing: Thing, name: String, identifier: String) {
        consider(thing, names: [name], identifiers: [identifier])
    }

    /// The only match; nil if there is none.
    ///
    /// Throws where there are several, and shows them.
    package func thing() throws(NodeError) -> Thing? {
        let fitting = fitting
        guard fitting.count > 1 else { return fitting.first?.thing }
        let count = Self.digitCount(telling: fitting.map(\.identifier))
        let all = fitting.map { candidate in
            // A message is identified by all of its parts.
            let start =
                candidate.identifier.contains("-")
                ? candidate.identifier : String(candidate.identifier.prefix(count))
            return candidate.name.isEmpty || candidate.name == start
                ? start : "\(candidate.name) (\(start))"
        }
        throw NodeError(
            "ambiguous", "“\(text)” matches \(all.count): \(all.sorted().joined(separator: ", ")).",
            hint: "Use the start of the identifier that is in brackets.")
    }

    /// Whether the text is an identifier, and something was found that has it: no name is meant then.
    package var isIdentified: Bool { isIdentifier && !found.isEmpty }

    /// The matches, without those that yield to others.
    private var fitting: [Candidate] {
        let firm = found.filter { !$0.yields }
        guard !firm.isEmpty else { return found }
        return firm.contains(where: \.isExact)
            ? firm : firm + found.filter { $0.yields && $0.isExact }
    }

    /// Digits that tell identifiers apart, and from every name.
    private static func digitCount(telling all: [String]) -> Int {
        var count = VisibleName.identifierDigitCountMin
        while count < 64, Set(all.map { $0.prefix(count) }).count < all.count { count += 4 }
        return count
    }
}
