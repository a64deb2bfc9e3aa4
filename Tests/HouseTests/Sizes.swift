/// How large files and functions are, and how large they may be.
enum Sizes {
    /// Lines of a file that ships, and of a test.
    static let fileLimit = 400, testFileLimit = 500, fileHabit = 250
    /// Lines of a function, from its signature to its closing brace.
    static let functionLimit = 60, functionHabit = 25

    /// A function and the lines it takes.
    struct Function: Equatable {
        let name: String
        /// Counted from 1.
        let line: Int
        let lineCount: Int
    }

    static func tooLarge(_ file: SourceFile) -> [Finding] {
        larger(
            file, file: file.isTest ? testFileLimit : fileLimit, function: functionLimit)
    }

    static func overHabit(_ file: SourceFile) -> [Finding] {
        larger(file, file: fileHabit, function: functionHabit)
    }

    private static func larger(_ file: SourceFile, file limit: Int, function: Int) -> [Finding] {
        var found: [Finding] = []
        let lineCount = file.lines.count - (file.text.hasSuffix("\n") ? 1 : 0)
        if lineCount > limit {
            found.append(Finding(path: file.path, line: 1, what: "\(lineCount) lines"))
        }
        for each in functions(in: file) where each.lineCount > function {
            let what = "\(each.name): \(each.lineCount) lines"
            found.append(Finding(path: file.path, line: each.line, what: what))
        }
        return found
    }

    /// Every function and initializer with a body, nested ones aside.
    static func functions(in file: SourceFile) -> [Function] {
        let lines = file.codeLines
        var found: [Function] = []
        var index = 0
        while index < lines.count {
            guard let name = declaredName(lines[index]),
                let end = end(ofFunctionAt: index, in: lines)
            else {
                index += 1
                continue
            }
            found.append(Function(name: name, line: index + 1, lineCount: end - index + 1))
            index = end + 1
        }
        return found
    }

    /// The name that a line declares a function by. Words in front of it must be modifiers.
    private static func declaredName(_ line: Substring) -> String? {
        guard line.contains("func ") || line.contains("init") else { return nil }
        for word in line.split(whereSeparator: { $0.isWhitespace || $0 == "(" || $0 == "<" }) {
            if word == "func" {
                let after = line[word.endIndex...].drop(while: \.isWhitespace)
                return String(after.prefix { !$0.isWhitespace && $0 != "(" && $0 != "<" })
            }
            if word == "init" || word == "init?" { return "init" }
            guard word.first == "@" || word.first?.isLowercase == true, !word.contains(".") else {
                return nil
            }
            if ["let", "var", "return", "self", "if", "case", "try"].contains(word) { return nil }
        }
        return nil
    }

    /// The line of the closing brace, or nil where there is no body, as in a protocol.
    private static func end(ofFunctionAt start: Int, in lines: [Substring]) -> Int? {
        var braces = 0, brackets = 0
        for index in start..<lines.count {
            if index > start, braces == 0, brackets == 0, declares(lines[index]) { return nil }
            for character in lines[index].utf8 {
                switch character {
                case UInt8(ascii: "("), UInt8(ascii: "["): brackets += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"): brackets -= 1
                case UInt8(ascii: "{") where brackets == 0 || braces > 0: braces += 1
                case UInt8(ascii: "}") where brackets == 0 || braces > 0:
                    if braces == 0 { return nil }  // the protocol ends here
                    braces -= 1
                    if braces == 0 { return index }
                default: break
                }
            }
        }
        return nil
    }

    private static func declares(_ line: Substring) -> Bool {
        let words: Set<Substring> = [
            "func", "var", "let", "init", "associatedtype", "subscript", "case", "static",
            "public", "private", "mutating", "struct", "enum", "typealias", "extension",
        ]
        return words.contains(line.trimmed.prefix { $0.isLetter })
    }
}
