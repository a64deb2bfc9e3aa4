/// A pressed key, as a terminal reports it.
enum Key: Equatable, Sendable {
    /// Something that is to be written: one character or more.
    case text(String)
    /// Pasted text, as one.
    case paste(String)
    /// A letter with Ctrl, in lower case.
    case control(Character)
    /// A character with Alt.
    case alt(Character)
    case enter, tab, backTab, escape, backspace, delete
    /// Alt-Enter, or Ctrl-J: a new line within a text.
    case newLine
    case up, down, left, right, home, end, pageUp, pageDown
    /// A word to the left, one to the right, and what erases the one to the left.
    case wordLeft, wordRight, wordBack
    /// Alt-Up and Alt-Down.
    case previous, next
    /// F1.
    case help
    /// Whether the window of the terminal is before the person's eyes, where it says so.
    case focusIn, focusOut
    /// The wheel of a mouse, by a step, and its first button, where the terminal tells of these.
    case wheelUp, wheelDown, click(Frame.Place)
}

/// Keys from the bytes of a terminal, in whatever pieces they come. Bytes that mean nothing are passed over.
///
/// Source: ECMA-48, 5.4 (control sequences); xterm's "Control Sequences" for keys, bracketed paste, focus and
/// the mouse (private mode 1006); the kitty keyboard protocol for `CSI code ; modifiers u`.
struct KeyDecoder {
    /// A sequence of more bytes is none.
    private static let sequenceByteCountMax = 64
    /// Pasted text beyond that is dropped: no message is so long.
    static let pasteByteCountMax = 1 << 20
    private static let escape: UInt8 = 0x1B
    private static let pasteEnd = Array("\u{1B}[201~".utf8)

    /// What has not become a key yet.
    private var bytes: [UInt8] = []
    /// The pasted text so far; nil if nothing is being pasted.
    private var pasted: [UInt8]?

    /// Keys that end with these bytes.
    mutating func add(_ more: some Collection<UInt8>) -> [Key] {
        bytes += more
        return take(isQuiet: false)
    }

    /// Nothing followed for a moment: an escape that stands alone is the key of that name.
    mutating func noteQuiet() -> [Key] { take(isQuiet: true) }

    private mutating func take(isQuiet: Bool) -> [Key] {
        var keys: [Key] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            if pasted != nil {
                guard let key = takePaste(&rest) else { break }
                keys.append(key)
                continue
            }
            guard let step = Self.step(rest, isQuiet) else { break }
            rest = rest.dropFirst(step.count)
            switch step.meaning {
            case .paste: pasted = []
            case .key(.text(let text)):
                if case .text(let former)? = keys.last {
                    keys[keys.count - 1] = .text(former + text)
                } else {
                    keys.append(.text(text))
                }
            case .key(let key): keys.append(key)
            case .nothing: break
            }
        }
        bytes = Array(rest)
        return keys
    }

    /// What was pasted, once its end has come. Of that end a part may be here.
    private mutating func takePaste(_ rest: inout ArraySlice<UInt8>) -> Key? {
        let end = Self.pasteEnd
        var place = rest.startIndex
        while place < rest.endIndex {
            if rest[place] == Self.escape {
                let piece = rest[place...].prefix(end.count)
                if end.starts(with: piece) {
                    keep(rest[..<place])
                    rest = rest[place...]
                    guard piece.count == end.count else { return nil }
                    rest = rest.dropFirst(end.count)
                    let text = String(decoding: pasted ?? [], as: UTF8.self)
                    pasted = nil
                    return .paste(
                        text.replacing("\r\n", with: "\n").replacing("\r", with: "\n"))
                }
            }
            place += 1
        }
        keep(rest)
        rest = rest[rest.endIndex...]
        return nil
    }

    private mutating func keep(_ more: ArraySlice<UInt8>) {
        let room = Self.pasteByteCountMax - (pasted?.count ?? 0)
        pasted?.append(contentsOf: more.prefix(max(0, room)))
    }

    /// What the first bytes mean.
    private enum Meaning {
        case key(Key), paste, nothing
    }

    /// What the first bytes mean, and how many they are; nil where more have to come.
    private static func step(
        _ bytes: ArraySlice<UInt8>, _ isQuiet: Bool
    ) -> (meaning: Meaning, count: Int)? {
        guard let first = bytes.first else { return nil }
        if first == escape { return escaped(bytes, isQuiet) }
        if first < 0x20 || first == 0x7F { return (control(first), 1) }
        if first < 0x80 { return (.key(.text(String(UnicodeScalar(first)))), 1) }
        // Source: RFC 3629, section 3.
        let count =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        let character = bytes.prefix(count)
        let isBegun = count > 1 && character.dropFirst().allSatisfy { $0 & 0xC0 == 0x80 }
        if isBegun, character.count < count { return isQuiet ? (.nothing, 1) : nil }
        guard isBegun, let text = String(validating: character, as: UTF8.self),
            // C1 controls are nothing that a person writes.
            !text.unicodeScalars.contains(where: { (0x80...0x9F).contains($0.value) })
        else { return (.nothing, 1) }
        return (.key(.text(text)), count)
    }

    private static func control(_ byte: UInt8) -> Meaning {
        switch byte {
        case 9: .key(.tab)
        case 10: .key(.newLine)
        case 13: .key(.enter)
        case 8, 0x7F: .key(.backspace)
        case 1...26: .key(.control(Character(UnicodeScalar(byte + 0x60))))
        default: .nothing
        }
    }

    private static func escaped(
        _ bytes: ArraySlice<UInt8>, _ isQuiet: Bool
    ) -> (meaning: Meaning, count: Int)? {
        guard let second = bytes.dropFirst().first else {
            return isQuiet ? (.key(.escape), 1) : nil
        }
        switch second {
        case UInt8(ascii: "["):
            if bytes.count == 2 { return isQuiet ? (.key(.alt("[")), 2) : nil }
            return sequence(bytes, isQuiet)
        case UInt8(ascii: "O"):
            guard let third = bytes.dropFirst(2).first else {
                return isQuiet ? (.key(.alt("O")), 2) : nil
            }
            return (KeySequence(parameters: [], end: third).meaning.map { .key($0) } ?? .nothing, 3)
        case 10, 13: return (.key(.newLine), 2)
        case 8, 0x7F: return (.key(.wordBack), 2)
        case 0x20...0x7E: return (.key(.alt(Character(UnicodeScalar(second)))), 2)
        // A letter beyond ASCII, or a second escape: they are keys of their own.
        default: return (.key(.escape), 1)
        }
    }

    /// `CSI`, parameters, and a byte that ends it.
    private static func sequence(
        _ bytes: ArraySlice<UInt8>, _ isQuiet: Bool
    ) -> (meaning: Meaning, count: Int)? {
        let body = bytes.dropFirst(2)
        guard let place = body.firstIndex(where: { !(0x20...0x3F).contains($0) }) else {
            let isOver = isQuiet || bytes.count > sequenceByteCountMax
            return isOver ? (.nothing, bytes.count) : nil
        }
        let count = place - bytes.startIndex + 1
        // Something else came in its middle: that is looked at by itself.
        guard (0x40...0x7E).contains(body[place]) else { return (.nothing, count - 1) }
        // The console of Linux says `CSI [ A` for F1.
        if body[place] == UInt8(ascii: "["), place == body.startIndex {
            guard let letter = body.dropFirst().first else {
                return isQuiet ? (.nothing, count) : nil
            }
            return (letter == UInt8(ascii: "A") ? .key(.help) : .nothing, count + 1)
        }
        let text = String(decoding: body[..<place], as: UTF8.self)
        if text.first == "<" {
            return (mouse(text.dropFirst(), end: body[place]).map { .key($0) } ?? .nothing, count)
        }
        let parameters = text.split(separator: ";", omittingEmptySubsequences: false).map {
            // Behind a colon stands what is said more closely.
            $0.split(separator: ":").first.flatMap { Int($0) }
        }
        let found = KeySequence(parameters: parameters, end: body[place])
        if found.isPaste { return (.paste, count) }
        return (found.meaning.map { .key($0) } ?? .nothing, count)
    }

    /// `CSI < button ; column ; row M`, places counted from 1. What is let go of ends with `m`, and means nothing.
    private static func mouse(_ text: Substring, end: UInt8) -> Key? {
        let numbers = text.split(separator: ";").map { Int($0) }
        guard end == UInt8(ascii: "M"), numbers.count == 3, let button = numbers[0],
            let column = numbers[1], let row = numbers[2], column > 0, row > 0
        else { return nil }
        switch button {
        case 0: return .click(Frame.Place(row: row - 1, column: column - 1))
        case 64: return .wheelUp
        case 65: return .wheelDown
        default: return nil
        }
    }
}

/// What stands between `CSI` and its end, and that end.
private struct KeySequence {
    let parameters: [Int?]
    let end: UInt8

    private var first: Int { (parameters.first ?? nil) ?? 0 }
    var isPaste: Bool { end == UInt8(ascii: "~") && first == 200 }

    /// 1 more than the sum of Shift (1), Alt (2) and Ctrl (4).
    private var modifiers: Int { max(0, ((parameters.dropFirst().first ?? nil) ?? 1) - 1) }

    var meaning: Key? {
        let isWord = modifiers & 6 != 0
        switch end {
        case UInt8(ascii: "A"): return modifiers & 2 != 0 ? .previous : .up
        case UInt8(ascii: "B"): return modifiers & 2 != 0 ? .next : .down
        case UInt8(ascii: "C"): return isWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "P"): return .help
        case UInt8(ascii: "Z"): return .backTab
        case UInt8(ascii: "I"): return .focusIn
        case UInt8(ascii: "O"): return .focusOut
        case UInt8(ascii: "u"): return character(first, modifiers)
        case UInt8(ascii: "~"): return numbered
        default: return nil
        }
    }

    private var numbered: Key? {
        switch first {
        case 1, 7: .home
        case 4, 8: .end
        case 3: .delete
        case 5: .pageUp
        case 6: .pageDown
        case 11: .help
        // What xterm says of keys with modifiers that have no sequence of their own.
        case 27: character((parameters.dropFirst(2).first ?? nil) ?? 0, modifiers)
        default: nil
        }
    }

    /// A key that is named by its character.
    private func character(_ code: Int, _ modifiers: Int) -> Key? {
        switch code {
        case 9: return modifiers & 1 != 0 ? .backTab : .tab
        case 13: return modifiers == 0 ? .enter : .newLine
        case 27: return .escape
        case 8, 127: return modifiers & 6 != 0 ? .wordBack : .backspace
        default: break
        }
        guard code >= 0x20, !(0x7F...0x9F).contains(code), let value = UInt32(exactly: code),
            let scalar = Unicode.Scalar(value)
        else { return nil }
        let character = Character(scalar)
        if modifiers & 4 != 0 {
            return scalar.isASCII && character.isLetter
                ? .control(Character(character.lowercased())) : nil
        }
        return modifiers & 2 != 0 ? .alt(character) : .text(String(character))
    }
}
