/// Swift source with the contents of comments and strings blanked, byte for byte.
///
/// Checks look for calls, and a call that a comment or a text merely mentions is none. Newlines
/// stay where they are, so a line of ``code`` is the same line of the file. Code inside `\(…)`
/// stays code.
struct SwiftText {
    private let source: [UInt8]
    private var output: [UInt8]
    private var at = 0

    /// The blanked text of this source.
    static func code(of text: String) -> String {
        var lexer = SwiftText(text)
        lexer.code(untilClosingParenthesis: false)
        return String(decoding: lexer.output, as: UTF8.self)
    }

    private init(_ text: String) {
        source = Array(text.utf8)
        output = source
    }

    private func starts(_ word: StaticString, at index: Int) -> Bool {
        let count = word.utf8CodeUnitCount
        guard index + count <= source.count else { return false }
        for offset in 0..<count where source[index + offset] != word.utf8Start[offset] {
            return false
        }
        return true
    }

    private mutating func blank(_ count: Int) {
        for index in at..<min(at + count, source.count) where source[index] != 10 {
            output[index] = 32
        }
        at = min(at + count, source.count)
    }

    private mutating func code(untilClosingParenthesis nested: Bool) {
        var depth = 0
        while at < source.count {
            if starts("//", at: at) {
                while at < source.count, source[at] != 10 { blank(1) }
            } else if starts("/*", at: at) {
                blockComment()
            } else if let hashes = stringOpening() {
                string(hashes: hashes)
            } else {
                if source[at] == UInt8(ascii: "(") { depth += 1 }
                if source[at] == UInt8(ascii: ")") {
                    if nested, depth == 0 { return }
                    depth -= 1
                }
                at += 1
            }
        }
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            if starts("/*", at: at) {
                depth += 1
                blank(2)
            } else if starts("*/", at: at) {
                depth -= 1
                blank(2)
            } else {
                blank(1)
            }
        } while depth > 0 && at < source.count
    }

    /// How many `#` stand before the quote here, or nil where no string begins.
    private func stringOpening() -> Int? {
        var hashes = 0
        while at + hashes < source.count, source[at + hashes] == UInt8(ascii: "#") { hashes += 1 }
        return starts("\"", at: at + hashes) ? hashes : nil
    }

    private func hashes(_ count: Int, at index: Int) -> Bool {
        index + count <= source.count
            && source[index..<index + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private mutating func string(hashes count: Int) {
        let multiline = starts("\"\"\"", at: at + count)
        let quotes = multiline ? 3 : 1
        blank(count + quotes)
        while at < source.count {
            let closes = multiline ? starts("\"\"\"", at: at) : starts("\"", at: at)
            if closes, hashes(count, at: at + quotes) {
                return blank(quotes + count)
            }
            if source[at] == UInt8(ascii: "\\"), hashes(count, at: at + 1) {
                if starts("(", at: at + 1 + count) {
                    blank(2 + count)
                    code(untilClosingParenthesis: true)
                    blank(1)
                } else {
                    blank(2 + count)
                }
            } else if !multiline, source[at] == 10 {
                return  // not Swift; give up here rather than blank the rest of the file
            } else {
                blank(1)
            }
        }
    }
}
