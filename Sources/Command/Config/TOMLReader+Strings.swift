extension TOMLReader {
    /// A string of any kind; the cursor stands on its first quote.
    mutating func string() throws(Fault) -> TOMLDocument.Value {
        guard let quote = peek else { throw fault("a text is missing here") }
        let start = index
        let isLong =
            index + 2 < scalars.count && scalars[index...index + 2].allSatisfy { $0 == quote }
        index += isLong ? 3 : 1
        if isLong { skipFirstLineEnd() }
        var text = String.UnicodeScalarView()
        while let scalar = peek {
            if scalar == quote, try ends(quote, isLong: isLong, into: &text) {
                return .string(String(text))
            }
            guard scalar != "\n" || isLong else { break }
            if scalar == "\\", quote == "\"" {
                try escape(isLong: isLong, into: &text)
                continue
            }
            guard
                scalar.value >= 0x20 && scalar.value != 0x7F
                    || "\t\n\r".unicodeScalars.contains(scalar)
            else { throw fault("a text has a control character: write \\u00…") }
            if scalar != quote || !isLong {
                text.append(scalar)
                index += 1
            }
        }
        throw fault("this text has no end", at: start)
    }

    private mutating func skipFirstLineEnd() {
        if peek == "\r", index + 1 < scalars.count, scalars[index + 1] == "\n" { index += 1 }
        if peek == "\n" { index += 1 }
    }

    /// At a quote: whether the text ends. Quotes that belong to a long one are taken into it.
    private mutating func ends(
        _ quote: Unicode.Scalar, isLong: Bool, into text: inout String.UnicodeScalarView
    ) throws(Fault) -> Bool {
        guard isLong else {
            index += 1
            return true
        }
        var count = 0
        while index + count < scalars.count, scalars[index + count] == quote { count += 1 }
        guard count >= 3 else {
            text.append(contentsOf: repeatElement(quote, count: count))
            index += count
            return false
        }
        // Up to two quotes may stand before the three that end it.
        guard count <= 5 else { throw fault("too many quotes") }
        text.append(contentsOf: repeatElement(quote, count: count - 3))
        index += count
        return true
    }

    /// Source: TOML 1.0.0, "String".
    private mutating func escape(
        isLong: Bool, into text: inout String.UnicodeScalarView
    ) throws(Fault) {
        let start = index
        index += 1
        guard let scalar = peek else { return }
        index += 1
        switch scalar {
        case "b": text.append("\u{8}")
        case "t": text.append("\t")
        case "n": text.append("\n")
        case "f": text.append("\u{C}")
        case "r": text.append("\r")
        case "\"": text.append("\"")
        case "\\": text.append("\\")
        case "u", "U":
            let count = scalar == "u" ? 4 : 8
            guard index + count <= scalars.count,
                let value = UInt32(Self.text(scalars[index..<index + count]), radix: 16),
                let meant = Unicode.Scalar(value)
            else { throw fault("\\\(scalar) is followed by \(count) hex digits", at: start) }
            text.append(meant)
            index += count
        case " ", "\t", "\r", "\n":
            guard isLong, skipLineEnds(from: index - 1) else {
                throw fault("no such escape", at: start)
            }
        default: throw fault("\\\(scalar) means nothing; \\\\ is a backslash", at: start)
        }
    }

    /// Behind a backslash at the end of a line all blanks go, down to the next word.
    private mutating func skipLineEnds(from start: Int) -> Bool {
        index = start
        skipBlanks()
        guard peek == "\n" || peek == "\r" else { return false }
        while let scalar = peek, " \t\r\n".unicodeScalars.contains(scalar) { index += 1 }
        return true
    }
}
