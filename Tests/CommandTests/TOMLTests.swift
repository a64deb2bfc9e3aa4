import Testing

@testable import parley

@Suite("TOML")
struct TOMLTests {
    private func values(_ text: String) throws -> [String: TOMLDocument.Value] {
        let document = try TOMLDocument(text)
        return Dictionary(
            document.entries.map { ($0.name, $0.item.value) },
            uniquingKeysWith: { first, _ in first })
    }

    @Test("keys stand in tables, with dots, in quotes, and in tables on one line")
    func keys() throws {
        let text = """
            top = 1
            a.b = 2 # a comment
            [c]
            d = 3
            "e f".'g' = 4
            [ c . h ]
            i = { j = 5, k.l = 6 }\r
            m = {}
            """
        #expect(
            try values(text) == [
                "top": .integer(1), "a.b": .integer(2), "c.d": .integer(3),
                "c.e f.g": .integer(4), "c.h.i.j": .integer(5), "c.h.i.k.l": .integer(6),
            ])
    }

    @Test(
        "strings of four kinds",
        arguments: [
            (#""a\tb\"\\\u00e9\U0001F600""#, "a\tb\"\\é😀"), (#"'a\t"b'"#, #"a\t"b"#),
            ("\"\"\"\na\n\"b\" \\\n   c\"\"\"", "a\n\"b\" c"), ("'''\n'a''b'''", "'a''b"),
            ("\"\"\"x\"\"\"\"\"", "x\"\""), (#""""#, ""), ("''", ""),
            (String(repeating: "\"", count: 8), "\"\""), (String(repeating: "\"", count: 6), ""),
        ])
    func strings(text: String, value: String) throws {
        #expect(try values("k = " + text) == ["k": .string(value)])
    }

    @Test(
        "whole numbers",
        arguments: [
            ("0", 0), ("+7", 7), ("-17", -17), ("1_000", 1_000), ("0xdead_BEEF", 0xDEAD_BEEF),
            ("0o755", 0o755), ("0b1101", 0b1101), ("9223372036854775807", Int.max),
            ("-9223372036854775808", Int.min),
        ])
    func numbers(text: String, value: Int) throws {
        #expect(try values("k = " + text) == ["k": .integer(value)])
    }

    @Test("lists go over lines and may end with a comma")
    func lists() throws {
        let document = try TOMLDocument("k = [ # first\n 'a',\n\n \"b\", ]\nl = [[1], [true]]")
        guard case .array(let items) = document.entries[0].item.value else {
            Issue.record("no list")
            return
        }
        #expect(items.map(\.value) == [.string("a"), .string("b")])
        #expect(items[1].place == .init(line: 4, column: 2))
        #expect(TOMLDocument.text(of: document.entries[1].item.value) == "[[1], [true]]")
    }

    @Test(
        "what is none is refused where it begins",
        arguments: [
            ("a = 1\na = 2", 2, 1), ("a = ", 1, 5), ("a 1", 1, 3), ("= 1", 1, 1), ("a = b", 1, 5),
            ("a = 1.5", 1, 5), ("a = 2026-01-01", 1, 5), ("a = 01", 1, 5), ("a = 1__0", 1, 5),
            ("a = 99999999999999999999", 1, 5), ("a = \"b\nc\"", 1, 5), ("a = 'b", 1, 5),
            ("[a]\n[a]", 2, 1), ("[[a]]", 1, 1), ("[a", 1, 3), ("[a] b = 1", 1, 5),
            ("a = [1, 2", 1, 10), ("a = [{}]", 1, 6), ("a = {b = 1", 1, 11), ("a = 1 b = 2", 1, 7),
            (#"a = "\q""#, 1, 6), (#"a = "\ud800""#, 1, 6), (#"a = "\u12""#, 1, 6),
            ("a = \"\u{7}\"", 1, 6), ("# \u{0}", 1, 3), ("é = 1", 1, 1),
            ("a = [[[[[[[[[1]]]]]]]]]", 1, 12),
        ])
    func faults(text: String, line: Int, column: Int) {
        let fault = #expect(throws: TOMLDocument.Fault.self) { _ = try TOMLDocument(text) }
        #expect(
            fault?.place == .init(line: line, column: column),
            "\(text): \(String(describing: fault))")
    }

    @Test("what is written is read back, whatever it is")
    func roundTrip() throws {
        for text in ["", "a\"b\\c", "\u{0}\u{1F}\u{7F}\n\t\r", "é😀\u{202E}", "# [x] = 1"] {
            #expect(try values("k = " + TOMLDocument.quoted(text)) == ["k": .string(text)])
        }
    }

    @Test("no start of a text stops the reader, nor does any change of one character")
    func hostile() {
        let text = "[a]\nb = [\"x\\u0041\", '''y\n''', {}]\nc = {d = 1, e.f = true}\n# end"
        let scalars = Array(text.unicodeScalars)
        for length in 0...scalars.count {
            _ = try? TOMLDocument(TOMLReader.text(scalars[..<length]))
            for odd in ["\"", "'", "[", "]", "{", "}", "=", ",", "\n", "\\", "\u{0}"] {
                guard length < scalars.count, let scalar = odd.unicodeScalars.first else {
                    continue
                }
                var changed = scalars
                changed[length] = scalar
                _ = try? TOMLDocument(TOMLReader.text(changed[...]))
            }
        }
    }
}
