/// What no file may hold, looked for in code only: texts and comments may speak of it.
enum BannedCalls {
    /// A pure room takes time and randomness as arguments and does nothing of its own accord.
    static let inPureRooms: [(sign: String, why: String)] = [
        ("async", "a pure room does not wait"),
        ("await", "a pure room does not wait"),
        ("Task", "a pure room starts nothing"),
        ("DispatchQueue", "a pure room starts nothing"),
        ("Date(", "time is an argument"),
        ("ContinuousClock", "time is an argument"),
        ("SuspendingClock", "time is an argument"),
        ("SystemRandomNumberGenerator", "randomness is an argument"),
        ("UUID(", "randomness is an argument"),
        ("print(", "a pure room has no screen"),
        ("debugPrint(", "a pure room has no screen"),
        ("hashValue", "differs in every process"),
    ]

    /// Fine with a source of randomness that was handed in.
    static let needsUsing = [".random(", ".randomElement(", ".shuffled("]

    /// In what is shipped: a crash that some bytes could cause, or an error nobody hears of.
    static let inProducts: [(sign: String, why: String)] = [
        ("try!", "crashes on an error"),
        ("as!", "crashes on another type"),
        ("fatalError", "use precondition with what must hold, or a refusal"),
        ("removeFirst(", "moves all that waits: use Queue, or popFirst of a slice"),
        ("remove(at: 0", "moves all that waits: use Queue, or popFirst of a slice"),
    ]

    static func inPureRoom(_ file: SourceFile) -> [Finding] {
        scan(file) { line, _ in
            if let (sign, why) = inPureRooms.first(where: { holds(line, $0.sign) }) {
                return "\(sign) in a pure room: \(why)"
            }
            if let sign = needsUsing.first(where: { line.contains($0) }), !line.contains("using:") {
                return "\(sign) without using: in a pure room"
            }
            return nil
        }
    }

    /// Loops over what has no order. Only the plain form can be seen without types.
    static func unorderedLoops(_ file: SourceFile) -> [Finding] {
        scan(file) { line, isExplained in
            guard line.containsWord("for"), line.containsWord("in"), !line.contains("sorted"),
                line.contains(".keys {") || line.contains(".values {"), !isExplained
            else { return nil }
            return "a loop over a dictionary: sort, or say why order cannot be seen"
        }
    }

    static func inProduct(_ file: SourceFile) -> [Finding] {
        scan(file) { line, isExplained in
            if let (sign, why) = inProducts.first(where: { holds(line, $0.sign) }) {
                return "\(sign): \(why)"
            }
            if isExplained { return nil }
            // Of a slice it costs nothing, and many at a time cost little each.
            if line.contains(".dropFirst("),
                line.contains(/(\b[\w.]+) = Array\(\1\.dropFirst\(1?\)/)
            {
                return "an array without its first: use Queue, popFirst of a slice, or say why"
            }
            if line.contains("try?"), line.contains(/\btry\?/) {
                return "try? without a comment that says why"
            }
            if line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
                return "a promise to the compiler without a comment that says why it holds"
            }
            return nil
        }
    }

    /// A test that sleeps is slow on a fast machine and fails on a slow one.
    static func inTest(_ file: SourceFile) -> [Finding] {
        scan(file) { line, isExplained in
            guard line.containsWord("sleep") || line.containsWord("usleep"), !isExplained
            else { return nil }
            return "a test that sleeps: wait for an event with a deadline, or say why it must"
        }
    }

    /// Marks of work that was left, in any file.
    static func leftovers(_ file: SourceFile) -> [Finding] {
        let mark = "FIX" + "ME"
        return file.lines.enumerated().compactMap { index, line in
            guard line.contains(mark) else { return nil }
            return Finding(path: file.path, line: index + 1, what: "mend it, or file it")
        }
    }

    private static func holds(_ line: Substring, _ sign: String) -> Bool {
        guard line.contains(sign) else { return false }  // quick: most lines end here
        return sign.last == "!" || line.containsWord(sign)
            || (sign.last == "(" && line.containsWord(String(sign.dropLast())))
    }

    /// Judges each line of code, told whether a comment stands on it or right above it.
    private static func scan(
        _ file: SourceFile, _ judge: (Substring, Bool) -> String?
    ) -> [Finding] {
        let lines = file.lines
        return file.codeLines.enumerated().compactMap { index, code in
            guard code.utf8.contains(where: { $0 > 32 }) else { return nil }
            let comment = lines[index].contains("//") && !code.contains("//")
            let isExplained = comment || commentEnds(above: index, in: lines)
            return judge(code, isExplained).map {
                Finding(path: file.path, line: index + 1, what: $0)
            }
        }
    }

    private static func commentEnds(above index: Int, in lines: [Substring]) -> Bool {
        var above = index - 1
        // An attribute may stand between a comment and what it explains.
        while above >= 0, lines[above].trimmed.hasPrefix("@") { above -= 1 }
        return above >= 0 && lines[above].trimmed.hasPrefix("//")
    }
}

extension Substring {
    /// Without the blanks in front.
    var trimmed: Substring { drop(while: \.isWhitespace) }
}
