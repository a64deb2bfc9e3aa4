/// A text being edited, with its cursor. Keys are those of Emacs.
struct LineEditor: Equatable {
    /// The text in front of the cursor, and the text behind it.
    private(set) var before = "", after = ""
    /// The last cut text, to be inserted elsewhere.
    private var killed = ""

    init(_ text: String = "") { before = text }

    var text: String { before + after }

    var isEmpty: Bool { before.isEmpty && after.isEmpty }

    /// Another text; the cursor stands behind it.
    mutating func set(_ text: String) { (before, after) = (text, "") }

    /// Performs the action of a key; false if it has none here.
    mutating func handle(_ key: Key) -> Bool {
        switch key {
        case .text(let text), .paste(let text): before += text
        case .newLine: before += "\n"
        case .backspace: _ = before.popLast()
        case .delete, .control("d"): erase(after.prefix(1).count)
        case .left, .control("b"): move(-1)
        case .right: move(1)
        case .home, .control("a"): move(-column)
        case .end, .control("e"): move(restOfLine.count)
        case .wordLeft, .alt("b"): move(-countToWordStart)
        case .wordRight, .alt("f"): move(countToWordEnd)
        case .control("u"): kill(-column)
        case .alt("k"): kill(max(restOfLine.count, min(1, after.count)))
        case .control("w"), .wordBack: kill(-countToWordStart)
        case .alt("d"): kill(countToWordEnd)
        case .control("y"): before += killed
        case .up, .control("p"): return moveLine(-1)
        case .down, .control("n"): return moveLine(1)
        default: return false
        }
        return true
    }

    // MARK: Moving

    /// Characters between the start of the line and the cursor.
    private var column: Int { before.suffix { $0 != "\n" }.count }

    private var restOfLine: Substring { after.prefix { $0 != "\n" } }

    /// Moves the cursor so many characters, to the left where that is negative.
    private mutating func move(_ count: Int) {
        if count < 0 {
            let moved = before.suffix(-count)
            after = moved + after
            before.removeLast(moved.count)
        } else {
            let moved = after.prefix(count)
            before += moved
            after = String(after[moved.endIndex...])
        }
    }

    /// To the line above or below; false where there is none.
    private mutating func moveLine(_ step: Int) -> Bool {
        let place = column
        if step < 0 {
            guard before.contains("\n") else { return false }
            move(-(place + 1))
            move(min(place, column) - column)
        } else {
            guard after.contains("\n") else { return false }
            move(restOfLine.count + 1)
            move(min(place, restOfLine.count))
        }
        return true
    }

    private static func isOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    private var countToWordStart: Int {
        let blanks = before.suffix { !Self.isOfWord($0) }.count
        return blanks + before.dropLast(blanks).suffix(while: Self.isOfWord).count
    }

    private var countToWordEnd: Int {
        let blanks = after.prefix { !Self.isOfWord($0) }.count
        return blanks + after.dropFirst(blanks).prefix(while: Self.isOfWord).count
    }

    // MARK: Erasing

    private mutating func erase(_ count: Int) { after = String(after.dropFirst(count)) }

    /// Cuts so many characters, to the left where that is negative.
    private mutating func kill(_ count: Int) {
        if count < 0 { move(count) }
        let length = abs(count)
        guard length > 0 else { return }
        killed = String(after.prefix(length))
        erase(length)
    }
}

extension LineEditor {
    /// The result of a letter in vi's normal mode.
    enum NormalOutcome: Equatable {
        /// It was done, or waits for a second one.
        case done
        /// From now on letters are written.
        case insert
        /// It means nothing in a text.
        case passed
    }

    /// Performs a letter in vi's normal mode.
    ///
    /// - Parameter pending: the first of two letters, where it was typed.
    mutating func handleNormal(
        _ letter: Character, pending: inout Character?
    ) -> NormalOutcome {
        if let first = pending {
            pending = nil
            guard first == "d", letter == "d" else { return .passed }
            move(-column)
            kill(max(restOfLine.count, 0))
            // The line goes with its end, or the last one with the end of the one above.
            if after.hasPrefix("\n") { erase(1) } else if before.hasSuffix("\n") { move(-1) }
            if after == "\n" { erase(1) }
            return .done
        }
        switch letter {
        case "h": if column > 0 { move(-1) }
        case "l": if !restOfLine.isEmpty { move(1) }
        case "w":
            let word = after.prefix(while: Self.isOfWord).count
            move(word + after.dropFirst(word).prefix { !Self.isOfWord($0) }.count)
        case "b": move(-countToWordStart)
        case "0": move(-column)
        case "$": move(restOfLine.count)
        case "x": if !restOfLine.isEmpty { kill(1) }
        case "p": before += killed
        case "d":
            guard !isEmpty else { return .passed }
            pending = "d"
        case "i": return .insert
        case "a":
            if !restOfLine.isEmpty { move(1) }
            return .insert
        case "A":
            move(restOfLine.count)
            return .insert
        default: return .passed
        }
        return .done
    }
}

extension BidirectionalCollection {
    /// The longest end of which all fits.
    fileprivate func suffix(while fits: (Element) -> Bool) -> SubSequence {
        var start = endIndex
        while start > startIndex, fits(self[index(before: start)]) { start = index(before: start) }
        return self[start...]
    }
}

extension String {
    /// The longest end of which all characters fit.
    fileprivate func suffix(_ fits: (Character) -> Bool) -> Substring { suffix(while: fits) }
}
