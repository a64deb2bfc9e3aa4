import Foundation

/// The program's commands, as their own source declares them.
struct CommandDeclaration: Equatable {
    let path: String
    /// Counted from 1.
    let line: Int
    /// `import`, say; nil where the source names none.
    let name: String?
    let abstract: String?
    let discussion: String?

    /// Every `CommandConfiguration(…)` of a file.
    static func all(in file: SourceFile) -> [CommandDeclaration] {
        let code = Array(file.code.utf8)
        let text = Array(file.text.utf8)
        let sign = Array("CommandConfiguration(".utf8)
        var found: [CommandDeclaration] = []
        var index = 0
        while index + sign.count <= code.count {
            guard code[index..<index + sign.count].elementsEqual(sign) else {
                index += 1
                continue
            }
            let start = index + sign.count
            let end = closing(from: start, in: code)
            let body = String(decoding: text[start..<end], as: UTF8.self)
            found.append(
                CommandDeclaration(
                    path: file.path, line: text[..<index].count { $0 == 10 } + 1,
                    name: value(of: "commandName", in: body),
                    abstract: value(of: "abstract", in: body),
                    discussion: value(of: "discussion", in: body)))
            index = end
            // A command that is not shown is not for people.
            if body.contains("shouldDisplay: false") { found.removeLast() }
        }
        return found
    }

    private static func closing(from start: Int, in code: [UInt8]) -> Int {
        var depth = 1
        for index in start..<code.count {
            if code[index] == UInt8(ascii: "(") { depth += 1 }
            if code[index] == UInt8(ascii: ")") { depth -= 1 }
            if depth == 0 { return index }
        }
        return code.count
    }

    /// The text of an argument: what stands between the quotes after its label.
    private static func value(of label: String, in body: String) -> String? {
        guard let found = body.range(of: label + ":") else { return nil }
        let rest = body[found.upperBound...].drop(while: \.isWhitespace)
        if rest.hasPrefix("\"\"\"") {
            let text = rest.dropFirst(3)
            return String(text[..<(text.range(of: "\"\"\"")?.lowerBound ?? text.endIndex)])
        }
        guard rest.first == "\"" else { return nil }
        // Texts may be joined by + over several lines.
        return rest.split(separator: "\"", omittingEmptySubsequences: false)
            .dropFirst().first.map(String.init)
    }

    /// What a person who asks for help would miss.
    func gaps(readme: String) -> [Finding] {
        var gaps: [String] = []
        if name == nil { gaps.append("has no commandName") }
        if (abstract ?? "").isEmpty { gaps.append("has no abstract") }
        if !(discussion ?? "").contains("Example") { gaps.append("shows no Example") }
        if let name, !Self.mentions(name, in: readme) { gaps.append("is not in README.md") }
        return gaps.map { Finding(path: path, line: line, what: "\(name ?? "a command") \($0)") }
    }

    /// Whether a line names the program and then the command, or the command stands in backticks.
    private static func mentions(_ name: String, in readme: String) -> Bool {
        readme.split(separator: "\n").contains { line in
            guard line.containsWord(name) else { return false }
            if line.contains("`\(name)`") { return true }
            guard let program = line.range(of: "parley") else { return false }
            return name == "parley" || line[program.upperBound...].containsWord(name)
        }
    }
}
