@testable import Parley
import Synchronization
import Testing

@testable import LocalAPITests
@testable import parley

@Suite("What others wrote", .timeLimit(.minutes(3)))
struct HarmlessTests {
    static let hostile = "a\u{1B}[2J\u{1B}]0;t\u{7}b\u{9B}31m\rc\u{8}\u{202E}d\u{2028}e\u{7F}\u{0}"

    static func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar == "\n"
                || ![.control, .lineSeparator, .paragraphSeparator]
                    .contains(scalar.properties.generalCategory)
                    && !(0x202A...0x202E).contains(scalar.value)
                    && !(0x2066...0x2069).contains(scalar.value)
        }
    }

    @Test("is shown with every control character in sight and without effect")
    func shown() {
        #expect(harmless("a\u{1B}[31m\tb\u{7F}\u{9B}\u{202E}") == "a␛[31m    b␡��")
        #expect(harmless("Zoë 👩‍🚒 שלום 日本 e\u{301}") == "Zoë 👩‍🚒 שלום 日本 e\u{301}")
        for value in UInt32(0)..<0x3000 {
            guard let scalar = Unicode.Scalar(value), scalar != "\n" else { continue }
            #expect(Self.isHarmless(harmless(String(Character(scalar)))), "\(value)")
        }
    }

    /// Once each mark of such a flag was drawn by itself.
    @Test("has the flags of parts of countries, and no other text behind a flag")
    func flags() {
        func tagged(_ name: String) -> String {
            let tags = name.unicodeScalars.compactMap { Unicode.Scalar(0xE0000 + $0.value) }
            return String(String.UnicodeScalarView(["\u{1F3F4}"] + tags + ["\u{E007F}"]))
        }
        for name in ["gbeng", "gbsct", "gbwls"] {
            #expect(harmless("a \(tagged(name)) b") == "a \(tagged(name)) b")
            #expect(columnCount(tagged(name)) == 2 && column(tagged(name), 3).count == 2)
        }
        #expect(harmless(tagged("hi")) == "🏴���")
        #expect(
            harmless(
                tagged("gbeng").unicodeScalars.dropLast().reduce(into: "") {
                    $0.unicodeScalars.append($1)
                }) == "🏴�����")
        #expect(harmless("\u{E0041}\u{E0080}\u{E0FFF}") == "���")
        #expect(harmless("葛\u{E0100}") == "葛\u{E0100}")
    }

    @Test("cannot reach the terminal from a text, a name, an emoji or an error")
    func everywhere() async {
        let node = FakeNode()
        var message = FakeNode.message(1, Self.hostile, author: Self.hostile, isOwn: false)
        message.reactions = [
            MessageView.Reaction(emoji: Self.hostile, names: [Self.hostile], count: 1)
        ]
        message.forwardedFrom = Self.hostile
        var action = message
        (action.number, action.isAction, action.state) = (2, true, Self.hostile)
        let messages = [message, action]
        node.state.withLock {
            $0.conversations = ["home", Self.hostile]
            $0.messages = messages
        }
        let terminal = Terminal(node: node)
        let commands = [
            ["read", "home"], ["conversations"], ["contacts"], ["react", "1", Self.hostile],
            ["read", Self.hostile + "?"], ["group", "create", Self.hostile],
            ["contact", "verify", Self.hostile],
            ["accept", "x", "--alias", Self.hostile],
        ]
        for command in commands {
            let result = await terminal.run(command)
            #expect(Self.isHarmless(result.output + result.talk), "\(command)")
        }
    }

    @Test("is aligned by what a terminal shows, and cut where it is too long")
    func columns() {
        #expect(columnCount("日本") == 4)
        #expect(columnCount("e\u{301}x") == 2)
        #expect(column("abc", 0).isEmpty)
        #expect(column("abc", 5) == "abc  ")
        #expect(column("abcdef", 4) == "abc…")
        #expect(column("日本語", 4) == "日… ")
    }
}
