/// Reads a text from its first character to its last.
struct TOMLReader {
    typealias Fault = TOMLDocument.Fault

    let scalars: [Unicode.Scalar]
    var index = 0
    private var result = TOMLDocument()
    /// Keys and headings that were set, so that nothing is set twice.
    private var seen: Set<String> = []
    /// Arrays and inline tables in each other, at most.
    private static let depthMax = 8

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// The whole text.
    mutating func document() throws(Fault) -> TOMLDocument {
        var table: [String] = []
        if peek == "\u{FEFF}" { index += 1 }
        while true {
            try skipBlankLines()
            guard peek != nil else { return result }
            if peek == "[" {
                table = try heading()
            } else {
                try pair(in: table, depth: 0)
                try endOfLine()
            }
        }
    }

    // MARK: Places

    var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    var place: TOMLDocument.Place { place(at: index) }

    func place(at index: Int) -> TOMLDocument.Place {
        var (line, start) = (1, 0)
        for (offset, scalar) in scalars[..<min(index, scalars.count)].enumerated()
        where scalar == "\n" {
            (line, start) = (line + 1, offset + 1)
        }
        return .init(line: line, column: index - start + 1)
    }

    func fault(_ what: String, at index: Int? = nil) -> Fault {
        Fault(place: place(at: index ?? self.index), what: what)
    }

    // MARK: Lines

    mutating func skipBlanks() {
        while let scalar = peek, scalar == " " || scalar == "\t" { index += 1 }
    }

    private mutating func skipComment() throws(Fault) {
        guard peek == "#" else { return }
        while let scalar = peek, scalar != "\n" {
            let isReturn = scalar == "\r" && index + 1 < scalars.count && scalars[index + 1] == "\n"
            guard scalar.value >= 0x20 && scalar.value != 0x7F || scalar == "\t" || isReturn else {
                throw fault("a comment has a control character")
            }
            index += 1
        }
    }

    /// Blanks, comments and ends of lines.
    mutating func skipBlankLines() throws(Fault) {
        while true {
            skipBlanks()
            try skipComment()
            if peek == "\r", index + 1 < scalars.count, scalars[index + 1] == "\n" { index += 1 }
            guard peek == "\n" else { return }
            index += 1
        }
    }

    private mutating func endOfLine() throws(Fault) {
        skipBlanks()
        try skipComment()
        if peek == "\r" { index += 1 }
        guard peek == nil || peek == "\n" else { throw fault("the line should end here") }
    }

    private mutating func heading() throws(Fault) -> [String] {
        let start = index
        index += 1
        guard peek != "[" else { throw fault("no key takes a list of tables, [[…]]", at: start) }
        skipBlanks()
        let path = try keyPath()
        guard peek == "]" else { throw fault("a heading ends with ]") }
        index += 1
        try endOfLine()
        guard seen.insert("[" + path.joined(separator: ".")).inserted else {
            throw fault("the table \(path.joined(separator: ".")) is here twice", at: start)
        }
        result.tables.append(
            .init(path: path, place: place(at: start), bodyStart: min(index + 1, scalars.count)))
        return path
    }

    // MARK: Keys

    private mutating func pair(in table: [String], depth: Int) throws(Fault) {
        let start = index
        let path = try table + keyPath()
        guard peek == "=" else { throw fault("a key is followed by = and its value") }
        index += 1
        skipBlanks()
        if peek == "{" { return try inlineTable(path, depth: depth + 1) }
        let item = try item(depth: depth)
        let entry = TOMLDocument.Entry(path: path, place: place(at: start), item: item)
        guard seen.insert(entry.name).inserted else {
            throw fault("\(entry.name) is set twice", at: start)
        }
        result.entries.append(entry)
    }

    private mutating func inlineTable(_ path: [String], depth: Int) throws(Fault) {
        guard depth < Self.depthMax else { throw fault("tables are nested too deeply") }
        index += 1
        skipBlanks()
        if peek == "}" {
            index += 1
            return
        }
        while true {
            skipBlanks()
            try pair(in: path, depth: depth)
            skipBlanks()
            guard peek == "," else { break }
            index += 1
        }
        guard peek == "}" else { throw fault("an inline table ends with }") }
        index += 1
    }

    private mutating func keyPath() throws(Fault) -> [String] {
        var path: [String] = []
        while true {
            skipBlanks()
            path.append(try keyPart())
            skipBlanks()
            guard peek == "." else { return path }
            index += 1
        }
    }

    private mutating func keyPart() throws(Fault) -> String {
        if peek == "\"" || peek == "'" {
            guard case .string(let text) = try string() else { return "" }  // it gives nothing else
            return text
        }
        let start = index
        while let scalar = peek, Self.isBare(scalar) { index += 1 }
        guard index > start else { throw fault("a key is missing here") }
        return Self.text(scalars[start..<index])
    }

    private static func isBare(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            || scalar == "_" || scalar == "-"
    }

    static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    // MARK: Values

    private mutating func item(depth: Int) throws(Fault) -> TOMLDocument.Item {
        let start = index
        let value: TOMLDocument.Value
        switch peek {
        case "\"", "'": value = try string()
        case "[": value = try array(depth: depth + 1)
        case nil, "\n", "\r", "#": throw fault("a value is missing here")
        default: value = try word()
        }
        return .init(value: value, place: place(at: start), span: start..<index)
    }

    private mutating func array(depth: Int) throws(Fault) -> TOMLDocument.Value {
        guard depth < Self.depthMax else { throw fault("lists are nested too deeply") }
        index += 1
        var items: [TOMLDocument.Item] = []
        while true {
            try skipBlankLines()
            if peek == "]" || peek == nil { break }
            if peek == "{" { throw fault("no key takes a list of tables") }
            items.append(try item(depth: depth))
            try skipBlankLines()
            guard peek == "," else { break }
            index += 1
        }
        guard peek == "]" else { throw fault("a list ends with ]") }
        index += 1
        return .array(items)
    }

    /// A boolean or a number.
    private mutating func word() throws(Fault) -> TOMLDocument.Value {
        let start = index
        while let scalar = peek, !" \t\r\n,]}#".unicodeScalars.contains(scalar) { index += 1 }
        let word = Self.text(scalars[start..<index])
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default: break
        }
        if let number = Self.integer(word) { return .integer(number) }
        let isNumber = word.first.map { $0.isNumber || $0 == "+" || $0 == "-" } == true
        throw fault(
            isNumber
                ? "\(word) is not a whole number, and no key takes anything like it"
                : "\(word) is not a value; put a text in quotes: \"\(word)\"", at: start)
    }

    /// Source: TOML 1.0.0, "Integer".
    private static func integer(_ word: String) -> Int? {
        let bases: [(String, Int)] = [("0x", 16), ("0o", 8), ("0b", 2)]
        let base = bases.first { word.hasPrefix($0.0) }
        let body = base.map { String(word.dropFirst($0.0.count)) } ?? word
        let digits = body.drop { base == nil && ($0 == "+" || $0 == "-") }
        let parts = digits.split(separator: "_", omittingEmptySubsequences: false)
        guard body.count - digits.count <= 1, !parts.contains(where: \.isEmpty),
            base != nil || digits.count == 1 || !digits.hasPrefix("0"),
            digits.allSatisfy({ $0.isASCII && ($0.isHexDigit || $0 == "_") })
        else { return nil }
        let sign = body.hasPrefix("-") ? "-" : ""
        return Int(sign + parts.joined(), radix: base?.1 ?? 10)
    }
}
