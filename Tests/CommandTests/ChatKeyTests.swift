import Testing

@testable import parley

@Suite("Keys of a chat", .timeLimit(.minutes(2)))
struct ChatKeyTests {
    private static let escape = "\u{1B}"

    @Test(
        "are read from the bytes of a terminal",
        arguments: [
            ("a", [.text("a")]), ("ab é", [.text("ab é")]), ("日本👩‍🚒", [.text("日本👩‍🚒")]),
            ("\r", [.enter]), ("\n", [.newLine]), ("\t", [.tab]), ("\u{7F}", [.backspace]),
            ("\u{8}", [.backspace]), ("\u{1}", [.control("a")]), ("\u{1A}", [.control("z")]),
            ("\u{1B}[A", [.up]), ("\u{1B}OA", [.up]),
            ("\u{1B}[B\u{1B}[C\u{1B}[D", [.down, .right, .left]),
            ("\u{1B}[1;3A", [.previous]), ("\u{1B}[1;3B", [.next]), ("\u{1B}[1;5C", [.wordRight]),
            ("\u{1B}[1;5D", [.wordLeft]), ("\u{1B}[1;2A", [.up]),
            ("\u{1B}[H\u{1B}[F", [.home, .end]), ("\u{1B}[1~\u{1B}[4~", [.home, .end]),
            ("\u{1B}OH", [.home]), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
            ("\u{1B}[3~", [.delete]), ("\u{1B}[Z", [.backTab]), ("\u{1B}\r", [.newLine]),
            ("\u{1B}[13;3u", [.newLine]), ("\u{1B}[13;2u", [.newLine]), ("\u{1B}[13u", [.enter]),
            ("\u{1B}[27;2;13~", [.newLine]), ("\u{1B}[107;5u", [.control("k")]),
            ("\u{1B}[98;3u", [.alt("b")]), ("\u{1B}[233u", [.text("é")]),
            ("\u{1B}OP", [.help]), ("\u{1B}[11~", [.help]), ("\u{1B}[[A", [.help]),
            ("\u{1B}b", [.alt("b")]), ("\u{1B}\u{7F}", [.wordBack]),
            ("\u{1B}[I\u{1B}[O", [.focusIn, .focusOut]),
            ("\u{1B}[<64;10;3M\u{1B}[<65;1;1M", [.wheelUp, .wheelDown]),
            ("\u{1B}[<0;12;7M\u{1B}[<0;12;7m", [.click(.init(row: 6, column: 11))]),
            ("\u{1B}[<0;0;7Ma\u{1B}[<0;-1;7M\u{1B}[<2;1;1M\u{1B}[<0;1M", [.text("a")]),
            ("\u{1B}[<0;99999999999999999999;1Mb", [.text("b")]),
            ("\u{1B}[200~a\r\nb\rc\u{1B}[A\u{1B}[201~d", [.paste("a\nb\nc\u{1B}[A"), .text("d")]),
            ("x\u{1B}[A", [.text("x"), .up]),
        ] as [(String, [Key])])
    func table(bytes: String, keys: [Key]) {
        var whole = KeyDecoder()
        #expect(whole.add(Array(bytes.utf8)) == keys)
        // The same in pieces of one byte, as a slow line brings them.
        var pieces = KeyDecoder()
        var found: [Key] = []
        for byte in bytes.utf8 { found += pieces.add([byte]) }
        #expect(Self.joined(found) == keys)
    }

    /// Letters that came one by one are one text.
    private static func joined(_ keys: [Key]) -> [Key] {
        keys.reduce(into: []) { all, key in
            if case .text(let more) = key, case .text(let text)? = all.last {
                all[all.count - 1] = .text(text + more)
            } else {
                all.append(key)
            }
        }
    }

    @Test("an escape alone is the key of that name once nothing follows for a moment")
    func loneEscape() {
        var decoder = KeyDecoder()
        #expect(decoder.add([0x1B]).isEmpty)
        #expect(decoder.noteQuiet() == [.escape])
        #expect(decoder.noteQuiet().isEmpty)
        #expect(decoder.add([0x1B]).isEmpty)
        #expect(decoder.add(Array("[A".utf8)) == [.up])
        #expect(decoder.add([0x1B, 0x1B]) == [.escape])
        #expect(decoder.noteQuiet() == [.escape])
        #expect(decoder.add(Array("\u{1B}é".utf8)) == [.escape, .text("é")])
        #expect(decoder.add(Array("\u{1B}[".utf8)).isEmpty)
        #expect(decoder.noteQuiet() == [.alt("[")])
    }

    @Test(
        "bytes that mean nothing are passed over, and what follows them is read",
        arguments: [
            [0xFF], [0x80], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x91], [0xC0, 0x80],
            [0xED, 0xA0, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xC2, 0x9B], [0x1C], [0x00],
            Array("\u{1B}[999~".utf8), Array("\u{1B}[99999999999999999999999;5u".utf8),
            Array("\u{1B}[;;;~".utf8), Array("\u{1B}[<0;1;1M".utf8), Array("\u{1B}OQ".utf8),
            Array("\u{1B}[201~".utf8), Array("\u{1B}[1:2;3:4u".utf8), Array("\u{1B}[127;5z".utf8),
            Array("\u{1B}[159u".utf8), Array("\u{1B}[1114112u".utf8),
        ] as [[UInt8]])
    func nonsense(bytes: [UInt8]) {
        var decoder = KeyDecoder()
        let before = decoder.add(bytes) + decoder.noteQuiet()
        #expect(before.isEmpty || bytes.starts(with: [0x1B]), "\(before)")
        #expect(decoder.add(Array("z".utf8)) == [.text("z")])
    }

    @Test("whatever comes in whatever pieces, a letter behind it is read, and nothing grows")
    func random() {
        var random = SystemRandomNumberGenerator()
        let pieces: [[UInt8]] = [
            [0x1B], [0x5B], [0x3B], [0x7E], [0xF0], [0x9F], [0x41], [0x0D], Array("200~".utf8),
            Array("\u{1B}[201~".utf8), [0x35],
        ]
        for _ in 0..<2_000 {
            var decoder = KeyDecoder()
            var sent: [[UInt8]] = []
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                sent.append(pieces.randomElement(using: &random) ?? [])
                _ = decoder.add(sent[sent.count - 1])
            }
            _ = decoder.add(Array("\u{1B}[201~".utf8)) + decoder.noteQuiet()
            #expect(decoder.add([0x7A]) == [.text("z")], "\(sent)")
        }
        var decoder = KeyDecoder()
        #expect(decoder.add(Array(("\u{1B}[" + String(repeating: "1;", count: 50)).utf8)).isEmpty)
        #expect(decoder.add([0x7A]) == [.text("z")])
        let large = [UInt8](repeating: 0x61, count: KeyDecoder.pasteByteCountMax + 10)
        #expect(decoder.add(Array("\u{1B}[200~".utf8) + large).isEmpty)
        guard case .paste(let text)? = decoder.add(Array("\u{1B}[201~".utf8)).first else {
            Issue.record("nothing was pasted")
            return
        }
        #expect(text.utf8.count == KeyDecoder.pasteByteCountMax)
    }
}

@Suite("A text that is written in a chat", .timeLimit(.minutes(2)))
struct LineEditorTests {
    /// Where the cursor is stands as a bar.
    private func shown(_ editor: LineEditor) -> String { editor.before + "|" + editor.after }

    @Test(
        "is edited as in Emacs",
        arguments: [
            ([.text("ab"), .left, .text("x")], "ax|b"), ([.text("ab"), .control("a")], "|ab"),
            ([.text("ab"), .home, .end], "ab|"), ([.text("ab"), .backspace], "a|"),
            ([.text("👩‍👩‍👧‍👦"), .backspace], "|"), ([.text("ae\u{301}"), .backspace], "a|"),
            ([.text("ab"), .home, .delete], "|b"), ([.text("ab"), .home, .control("d")], "|b"),
            ([.text("one two"), .control("w")], "one |"), ([.text("one two"), .wordBack], "one |"),
            ([.text("one two"), .alt("b"), .control("y")], "one |two"),
            ([.text("one two"), .control("w"), .control("y"), .control("y")], "one twotwo|"),
            ([.text("one two"), .wordLeft, .wordLeft, .wordRight], "one| two"),
            ([.text("one two"), .alt("b"), .control("u")], "|two"),
            ([.text("one two"), .home, .alt("k")], "|"),
            ([.text("one two"), .home, .alt("d")], "| two"),
            ([.text("one"), .newLine, .text("two"), .up], "one|\ntwo"),
            ([.text("one"), .newLine, .text("t"), .up, .down], "one\nt|"),
            ([.text("o"), .newLine, .text("two"), .up, .home, .down], "o\n|two"),
            ([.text("a"), .newLine, .text("b"), .control("a"), .backspace], "a|b"),
            ([.text("a"), .newLine, .text("b"), .up, .alt("k")], "a|b"),
            ([.paste("x\ny"), .home], "x\n|y"), ([.left, .right, .backspace, .control("w")], "|"),
        ] as [([Key], String)])
    func emacs(keys: [Key], result: String) {
        var editor = LineEditor()
        for key in keys { _ = editor.handle(key) }
        #expect(shown(editor) == result)
    }

    @Test("does not take keys that mean nothing in it, nor those that lead out of it")
    func passed() {
        var editor = LineEditor("a\nb")
        let taken = [Key.down, .up, .up].map { editor.handle($0) }
        #expect(taken == [false, true, false])
        for key in [Key.tab, .escape, .pageUp, .control("k"), .control("f")] {
            let isTaken = editor.handle(key)
            #expect(!isTaken)
        }
        #expect(editor.text == "a\nb")
    }

    @Test(
        "is edited as in vi",
        arguments: [
            ("h", "on|e", true), ("hhhhh", "|one", true), ("hhl", "on|e", true),
            ("0x", "|ne", true),
            ("0$", "one|", true), ("bx", "|ne", true), ("dd", "|", true), ("0xp", "o|ne", true),
            ("0i", "|one", false), ("0a", "o|ne", false), ("0A", "one|", false),
        ])
    func vi(letters: String, result: String, isNormal: Bool) {
        var editor = LineEditor("one")
        var (pending, outcomes): (Character?, [LineEditor.NormalOutcome]) = (nil, [])
        for letter in letters {
            outcomes.append(editor.handleNormal(letter, pending: &pending))
        }
        #expect(shown(editor) == result)
        #expect((outcomes.last == .done) == isNormal && !outcomes.contains(.passed))
    }

    @Test("in vi's normal mode moves by words and takes lines, and leaves the rest to the messages")
    func viLines() {
        var pending: Character?
        var editor = LineEditor("one two")
        _ = editor.handle(.home)
        #expect(editor.handleNormal("w", pending: &pending) == .done)
        #expect(shown(editor) == "one |two")
        for letter in "jkgGn/" {
            #expect(editor.handleNormal(letter, pending: &pending) == .passed)
        }
        var lines = LineEditor("one\ntwo\nsix")
        _ = lines.handle(.up)
        for letter in "dd" { _ = lines.handleNormal(letter, pending: &pending) }
        #expect(shown(lines) == "one\n|six")
        for letter in "dd" { _ = lines.handleNormal(letter, pending: &pending) }
        #expect(lines.text == "one")
    }
}
