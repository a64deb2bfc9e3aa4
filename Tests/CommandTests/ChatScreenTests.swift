import Foundation
import Testing

@testable import LocalAPITests
@testable import Parley
@testable import parley

@Suite("The screen of a chat", .timeLimit(.minutes(3)))
struct ChatScreenTests {
    private static let id = FakeNode.id

    @Test(
        "fills the window, and no line is wider",
        arguments: [(20, 8), (60, 20), (99, 24), (100, 24), (200, 60), (300, 8)])
    func size(columns: Int, rows: Int) {
        let chat = Chat(columns, rows)
        for focus in [ChatScreen.Focus.list, .timeline, .composer] {
            chat.screen.focus = focus
            for mode in [
                ChatScreen.Mode.plain, .finding(.init()), .searching(.init()), .help(from: 0),
                .quitting,
                .deleting("id-3"), .reacting("id-3", LineEditor("👍")),
                .saving("id-3", LineEditor()),
            ] {
                chat.screen.mode = mode
                let frame = chat.screen.frame()
                #expect(frame.lines.count == rows)
                for line in frame.lines {
                    #expect(StyledLine.width(of: line) <= columns, "\(mode) \(line)")
                }
                guard let cursor = frame.cursor else { continue }
                #expect((0..<rows).contains(cursor.row) && (0..<columns).contains(cursor.column))
            }
        }
    }

    @Test("says that a window is too small, and draws again once it is larger")
    func tooSmall() {
        let chat = Chat(19, 7)
        #expect(chat.lines.count == 7 && chat.lines[0].hasPrefix("the window is"))
        (chat.screen.terminal.columnCount, chat.screen.terminal.rowCount) = (60, 16)
        #expect(chat.has("message 30"))
    }

    @Test("shows a conversation no longer that was deleted elsewhere, and says so")
    func deleted() {
        let chat = Chat(120)
        _ = chat.screen.take(.list([.group("hut")]))
        chat.press(.text("hello"))
        #expect(chat.has("message 30") && chat.has("hello"))
        _ = chat.screen.take(.list([]))
        #expect(!chat.has("message") && !chat.has("hello") && chat.screen.timeline == nil)
        #expect(chat.has("“hut” is not on this device any more"))
        #expect(chat.screen.focus == .list && chat.has("no conversations yet"))
        // What is still on its way for it changes nothing.
        chat.take(Chat.messages(1...3))
        #expect(!chat.has("message"))
    }

    @Test("shows one pane at a time, and both where there is room")
    func panes() {
        let chat = Chat(60)
        #expect(chat.lines[0].hasPrefix(" hut") && !chat.has("Parley"))
        chat.press(.tab)
        #expect(chat.lines[0].hasPrefix(" Parley") && !chat.has("message"))
        let wide = Chat(120)
        #expect(wide.lines[0].hasPrefix(" Parley · 2 new") && wide.lines[0].contains("│  hut"))
        #expect(wide.has("message 30"))
        wide.press(.tab)
        #expect(wide.lines[1].hasPrefix("▌ hut") && wide.has("message 30"))
    }

    @Test(
        "Attack 281: a chat keeps its frame whatever stands in it, and has colours alone where wanted"
    )
    func strangeTexts() {
        let chat = Chat(110, 20)
        let texts = [
            "שלום עולם", "日本語日本語", "👩‍👩‍👧‍👦 🇩🇪 ☺️", "e\u{301}\u{301}\u{301}", "\u{1B}[31mred\u{7}",
            "\u{202E}evil\u{2066}", "tab\there", "\u{301}begins with a mark", "a\u{85}b",
        ]
        var messages = Chat.messages(1...texts.count)
        for (place, text) in texts.enumerated() {
            messages[place].text = text
            messages[place].author = text
        }
        messages[0].replyToID = "id-2"
        messages[0].quote = .init(
            author: texts[4], text: texts[5], isDeleted: false, isEdited: false)
        chat.take(messages)
        let hostile = texts[4] + texts[5] + texts[8]
        chat.screen.list.take([.group(hostile)])
        chat.screen.list.typing[Self.id] = [hostile]
        for notice in ["", hostile] {
            chat.screen.notice = notice
            keepsFrame(chat)
        }
        let frame = chat.screen.frame()
        // Two texts from right to left beside each other stay two.
        #expect(frame.lines.contains { $0.contains("עולם\u{200E}") })
        chat.screen.terminal.hasColour = true
        #expect(chat.screen.frame().lines[0].contains("\u{1B}[7m"))
    }

    private func keepsFrame(_ chat: Chat) {
        let frame = chat.screen.frame()
        for line in frame.lines {
            #expect(StyledLine.width(of: line) <= 110)
            // Nothing but the place of the other pane.
            let sequences = line.split(separator: "\u{1B}").dropFirst()
            #expect(sequences.allSatisfy { $0.hasPrefix("[25G│") }, "\(line.debugDescription)")
            #expect(!line.unicodeScalars.contains { [7, 0x85, 0x202E, 0x2066].contains($0.value) })
        }
        #expect(frame.lines.count { $0.contains("│") } == 19)
    }

    @Test("cuts styled lines by what is seen of them, and closes their styles")
    func styled() {
        #expect(StyledLine.width(of: "\u{1B}[1mab\u{1B}[0m日") == 4)
        #expect(StyledLine.cut("\u{1B}[1mabcd\u{1B}[0m", to: 2) == "\u{1B}[1mab\u{1B}[0m")
        #expect(StyledLine.cut("a日本", to: 2) == "a")
        #expect(StyledLine.fit("a日本", to: 4) == "a日 ")
        #expect(StyledLine.plain("\u{1B}[2m\u{301}x\u{1B}[0m") == "\u{301}x")
        #expect(StyledLine.fit("\u{1B}[2m\u{301}x\u{1B}[0m", to: 3).hasSuffix("  "))
        #expect(StyledLine.cut("open \u{1B}", to: 9) == "open \u{1B}\u{1B}[0m")
    }

    @Test("of two frames writes only the lines that are otherwise")
    func changes() {
        let first = Frame(
            columnCount: 20, lines: ["a", "b", "c"], cursor: .init(row: 2, column: 1))
        var second = first
        #expect(second.changes(from: first) == "")
        second.lines[1] = "x"
        let text = second.changes(from: first)
        #expect(text.contains("\u{1B}[2;1H\u{1B}[Kx") && !text.contains("\u{1B}[1;1H"))
        #expect(text.hasSuffix("\u{1B}[3;2H\u{1B}[?25h") && !text.contains("\u{1B}[2J"))
        #expect(second.changes(from: nil).hasPrefix("\u{1B}[?25l\u{1B}[2J\u{1B}[1;1H"))
        second.columnCount = 21
        #expect(second.changes(from: first).contains("\u{1B}[2J"))
        let chat = Chat(200, 60)
        let before = chat.screen.frame()
        chat.press(.text("h"))
        #expect(chat.screen.frame().changes(from: before).utf8.count < 120)
    }

    @Test(
        "shows messages as `read` does: quotes, edits, reactions, states, days, the first new one")
    func messages() {
        let chat = Chat(70, 24)
        var messages = Chat.messages(1...5)
        messages[1].replyToID = "id-1"
        messages[1].replyTo = 1
        messages[1].quote = .init(
            author: "ben", text: "message 1\nof two", isDeleted: false, isEdited: false)
        messages[1].state = "read"
        messages[2].editCount = 1
        messages[2].reactions = [.init(emoji: "👍", names: ["ada"], count: 1)]
        messages[3].isDeleted = true
        messages[4].time += 86_400_000
        chat.screen.timeline?.isLoading = true
        chat.take(messages, unreadID: "id-3")
        let lines = chat.lines
        #expect(chat.has("↳ ben: message 1 of two"), "\(lines)")
        #expect(lines.contains { $0.hasSuffix("message 2  ✓✓ read") }, "\(lines)")
        #expect(chat.has("message 3  (edited)") && chat.has("👍 ada") && chat.has("(deleted)"))
        #expect(lines.count { $0.contains("Nov 2023") } == 2)
        let bar = lines.firstIndex { $0.contains("─ new ─") }
        #expect(bar.map { lines[$0 + 1].contains("message 3") } == true, "\(lines)")
    }

    @Test("what is written is broken to rows, with the cursor where it is")
    func composing() {
        let chat = Chat(30, 18)
        chat.press(.paste("日本語日本語日本語日本語日本語"), .newLine, .text("two"), .left)
        let lines = chat.lines
        #expect(lines.suffix(4).first == "> 日本語日本語日本語日本語日本", "\(lines)")
        #expect(lines.suffix(3).first == "  語" && lines.suffix(2).first == "  two")
        #expect(chat.screen.frame().cursor == .init(row: 16, column: 4))
        // Of a long text the part around the cursor is shown.
        chat.press(.paste(String(repeating: "line\n", count: 20)))
        let cursor = chat.screen.frame().cursor
        #expect(chat.screen.frame().lines.count == 18 && cursor?.row == 16)
        #expect(chat.has("message 30"))
    }
}

@Suite("What a chat does", .timeLimit(.minutes(3)))
struct ChatBehaviourTests {
    private static let id = FakeNode.id

    @Test("what comes below does not move what is read, and End goes to the newest")
    func scrolling() {
        let chat = Chat(60, 16, count: 40)
        #expect(chat.has("message 40") && !chat.has("message 20 "))
        chat.press(.pageUp)
        let before = chat.lines[1..<12]
        #expect(chat.has("↓ 2 new: End") && !chat.has("message 40"))
        chat.take(Chat.messages(1...45), at: .from(0))
        #expect(chat.lines[1..<12] == before)
        chat.press(.end)
        #expect(chat.has("message 45"))
        chat.take(Chat.messages(1...46), at: .newest)
        #expect(chat.has("message 46"), "who is at the end follows")
        chat.press(.pageUp)
        chat.take(Chat.messages(1...46), below: 900, at: .from(0))
        let above = chat.lines[1..<12]
        #expect(chat.press(.end) == [.page(Self.id, .newest)])
        #expect(chat.lines[1..<12] == above, "the end of a part is not the end, and was not seen")
        chat.take(Chat.messages(1...46), at: .newest)
        #expect(chat.has("message 46"))
        for _ in 0..<20 { chat.press(.pageUp) }
        #expect(chat.lines[2].hasSuffix("message 1"), "\(chat.lines)")
        for _ in 0..<20 { chat.press(.pageDown) }
        #expect(chat.has("message 46"))
    }

    @Test("a click opens, chooses, or goes to what is written, wherever it is; the wheel scrolls")
    func mouse() {
        let chat = Chat(110, 20, count: 40)
        var other = ConversationView.group("tea")
        other.id = String(repeating: "cd", count: 32)
        chat.screen.list.take([.group("hut"), other])
        let row = chat.lines.firstIndex { $0.contains("message 35") }
        chat.press(.click(.init(row: row ?? 0, column: 60)))
        #expect(chat.screen.active?.selected?.text == "message 35")
        #expect(chat.screen.focus == .timeline)
        chat.press(.wheelUp, .wheelUp)
        #expect(!chat.has("message 40"))
        chat.press(.click(.init(row: 18, column: 60)))
        #expect(chat.screen.focus == .composer)
        for place in [(0, 0), (19, 109), (500, 500), (.max, .max)] {
            chat.press(.click(.init(row: place.0, column: place.1)))
        }
        #expect(chat.screen.timeline?.conversation == Self.id)
        #expect(chat.press(.click(.init(row: 2, column: 3))).contains(.page(other.id, .unread)))
    }

    @Test("older messages are asked for as one comes near them, and the view stays")
    func older() {
        let chat = Chat(60, 16, count: 1)
        chat.take(Chat.messages(301...500), above: 300, at: .newest)
        #expect(!chat.screen.noteShown().contains { if case .page = $0 { true } else { false } })
        var asked: [ChatRequest] = []
        for _ in 0..<30 where asked.isEmpty {
            chat.press(.pageUp)
            asked = chat.screen.noteShown().filter { if case .page = $0 { true } else { false } }
        }
        guard case .page(Self.id, .from(let place))? = asked.first else {
            Issue.record("nothing older was asked for: \(asked)")
            return
        }
        let before = chat.lines
        chat.take(
            Chat.messages(place + 1...place + 200), above: place, below: 300 - place,
            at: .from(place))
        #expect(chat.lines == before)
        #expect(!chat.screen.noteShown().contains { if case .page = $0 { true } else { false } })
        // Who went to the very first meanwhile is not taken back by what was asked before.
        chat.take(Chat.messages(1...200), below: 300, at: .first)
        chat.take(Chat.messages(301...500), above: 300, at: .refresh)
        #expect(chat.lines[2].hasSuffix("message 1"), "\(chat.lines)")
        // Who went to the end meanwhile is not taken away from there.
        let other = Chat(60, 16, count: 1)
        other.take(Chat.messages(301...500), above: 300, at: .newest)
        other.take(Chat.messages(101...300), above: 100, below: 200, at: .from(100))
        #expect(other.has("message 500"))
    }

    @Test("only what was shown is marked as read, once, and only before somebody's eyes")
    func marks() {
        let chat = Chat(60, 16, count: 40)
        func marked(_ requests: [ChatRequest]) -> [String] {
            requests.flatMap { request in
                if case .markRead(Self.id, let messages, 99) = request {
                    return messages.map(\.text)
                }
                return []
            }
        }
        chat.press(.focusOut)
        #expect(chat.screen.noteShown().isEmpty)
        chat.press(.focusIn)
        let first = marked(chat.screen.noteShown())
        #expect(first.contains("39") && !first.contains("40") && !first.contains("1"))
        #expect(first.count <= 6 && chat.screen.noteShown().isEmpty)
        chat.press(.help)
        chat.screen.timeline?.anchor = nil
        chat.take(Chat.messages(1...41), at: .newest)
        #expect(chat.screen.noteShown().isEmpty, "help stands in its place")
        chat.press(.help)
        #expect(marked(chat.screen.noteShown()) == ["41"])
        var edited = Chat.messages(1...41)
        edited[40].editCount = 1
        chat.take(edited, at: .newest)
        #expect(marked(chat.screen.noteShown()) == ["41"], "an edit is read anew")
    }

    @Test("begins at the first message that was not read")
    func unread() {
        let chat = Chat(60, 16, count: 1)
        chat.screen.timeline?.isLoading = true
        chat.take(Chat.messages(1...60), unreadID: "id-11")
        #expect(chat.lines[1].contains("─ new ─") && chat.lines[2].hasSuffix("message 11"))
        #expect(chat.screen.timeline?.anchor != nil)
    }

    @Test("writes, answers, reacts, edits, deletes with a question, and goes into a thread")
    func doing() {
        let chat = Chat()
        var sent = ChatMessage(conversation: Self.id, text: "hello")
        #expect(chat.press(.text("hello"), .enter).last == .send(sent))
        #expect(chat.screen.composer.editor.isEmpty)
        chat.press(.up, .up, .text("r"), .text("yes"))
        #expect(chat.has("↳ ben: message 29"))
        (sent.text, sent.replyTo) = ("yes", 29)
        #expect(chat.press(.enter) == [.send(sent)])
        #expect(chat.press(.up, .text("+"), .text("1")) == [.react(30, emoji: "👍", on: true)])
        // Typed faster than it was read.
        #expect(chat.press(.text("+2")) == [.react(30, emoji: "❤️", on: true)])
        #expect(
            chat.press(.text("+"), .text("🙈"), .enter) == [.react(30, emoji: "🙈", on: true)])
        chat.press(.text("e"))
        #expect(chat.screen.composer.editor.text == "message 30")
        #expect(chat.press(.text("!"), .enter) == [.edit(30, text: "message 30!")])
        #expect(chat.press(.up, .text("d"), .text("n")).isEmpty)
        #expect(chat.press(.text("d"), .text("y")) == [.delete(30)])
        chat.press(.up, .text("d"))
        #expect(chat.has("only your own messages"))
        #expect(chat.press(.text("t")) == [.thread(29)])
        chat.press(.text("i"), .text("so"))
        (sent.text, sent.replyTo, sent.thread) = ("so", nil, 29)
        #expect(chat.press(.enter) == [.send(sent)])
        chat.press(.up, .escape)
        #expect(chat.screen.thread == nil)
    }

    @Test("does not edit what was imported, which others have said")
    func imported() {
        let chat = Chat()
        var messages = Chat.messages(1...30)
        messages[29].isImported = true
        chat.take(messages, at: .newest)
        chat.press(.up, .text("e"))
        #expect(chat.has("An imported message stays as it was said."))
    }

    @Test("commands begin with a slash, two slashes are one, and a misspelt one is not sent")
    func slashes() {
        let chat = Chat()
        var sent = ChatMessage(conversation: Self.id, text: "* ada waves")
        #expect(chat.press(.text("/me waves"), .enter).last == .send(sent))
        (sent.text, sent.path) = ("", "/tmp/a b.txt")
        #expect(chat.press(.text("/file /tmp/a b.txt"), .enter).last == .send(sent))
        (sent.text, sent.path) = ("/file x", nil)
        #expect(chat.press(.text("//file x"), .enter).last == .send(sent))
        sent.text = "/etc/hosts"
        #expect(chat.press(.text("/etc/hosts"), .enter).last == .send(sent))
        #expect(
            !chat.press(.text("/fiel x"), .enter).contains {
                if case .send = $0 { true } else { false }
            })
        #expect(chat.screen.composer.editor.text == "/fiel x" && chat.has("no command /fiel"))
        chat.press(.control("u"), .text("/help"), .enter)
        #expect(chat.has("Ctrl-K"))
    }

    @Test("what cannot be sent stands there again, and what is too long is not sent")
    func failures() {
        let chat = Chat()
        chat.press(.text("hello"), .enter)
        let sent = ChatMessage(conversation: Self.id, text: "hello")
        _ = chat.screen.take(.failed(.send(sent), NodeError("full", "The disk is full.")))
        #expect(chat.screen.composer.editor.text == "hello" && chat.has("The disk is full."))
        chat.press(.paste(String(repeating: "x", count: 1 << 17)))
        #expect(chat.press(.enter).isEmpty && chat.has("too long"))
    }

    @Test("drafts stay with their conversations, and one of another device comes in")
    func drafts() {
        let chat = Chat()
        var other = ConversationView.group("Über uns")
        other.id = String(repeating: "cd", count: 32)
        _ = chat.screen.take(.list([.group("hut"), other]))
        #expect(chat.press(.text("begun")) == [.typed(Self.id, text: "begun")])
        chat.press(.control("k"), .text("uber"))
        #expect(chat.has("▌ Über uns") && !chat.has("hut"))
        let requests = chat.press(.enter)
        #expect(requests.contains(.keepDraft(Self.id, text: "begun")))
        #expect(requests.contains(.page(other.id, .unread)))
        #expect(chat.screen.composer.editor.isEmpty)
        other.draft = "from elsewhere"
        _ = chat.screen.take(.list([.group("hut"), other]))
        #expect(chat.has("from elsewhere"))
        chat.press(.previous)
        #expect(chat.screen.composer.editor.text == "begun")
        #expect(chat.press(.control("q")).contains(.quit))
    }

    @Test("searches while one types, goes to a hit, and to the next")
    func searching() {
        let chat = Chat()
        #expect(chat.press(.control("f"), .text("key")) == [.search("key")])
        let hits = [20, 10].map { number in
            SearchHit(
                message: Chat.messages(number...number)[0], conversation: "hut", reason: "word",
                pieces: [.init(text: "the ", isMatch: false), .init(text: "key", isMatch: true)],
                cursor: "")
        }
        _ = chat.screen.take(
            .found(
                "key", SearchReply(hits: hits, semantic: "not-asked", notes: [], milliseconds: 1)))
        #expect(chat.has("the «key»") && chat.has("ada in hut"))
        #expect(chat.press(.down, .enter) == [.page(Self.id, .around(10))])
        chat.take(Chat.messages(1...30), at: .around(10))
        #expect(
            chat.lines.contains {
                $0.hasPrefix("▌") && $0.hasSuffix("message 10") || $0.contains("▌")
            })
        #expect(chat.screen.timeline?.selectedID == "id-10" && chat.screen.focus == .timeline)
        #expect(chat.press(.text("n")).isEmpty && chat.has("no more hits"))
        #expect(chat.press(.text("N")) == [.page(Self.id, .around(20))])
    }

    @Test(
        "changes are read again where they are seen, who types is shown, and Ctrl-C twice ends it")
    func changes() {
        let chat = Chat()
        var change = ChangeView(kind: "message", cursor: "1")
        (change.conversation, change.isNew) = (Self.id, true)
        #expect(chat.screen.take(change) == [.page(Self.id, .refresh), .list])
        change.conversation = "other"
        #expect(chat.screen.take(change) == [.list])
        var typing = ChangeView(kind: "typing", cursor: "2")
        (typing.conversation, typing.typing) = (Self.id, ["ben"])
        _ = chat.screen.take(typing)
        #expect(chat.has("ben …"))
        typing.typing = []
        _ = chat.screen.take(typing)
        #expect(!chat.has("ben …"))
        chat.screen.timeline?.isLoading = true
        change.conversation = Self.id
        #expect(chat.screen.take(change) == [.list], "it is being read, and once more afterwards")
        var page = ChatPage()
        page.messages = Chat.messages(1...3)
        #expect(
            chat.screen.take(.page(Self.id, .unread, page, unreadID: nil)) == [
                .page(Self.id, .refresh)
            ])
        #expect(chat.press(.control("c")).isEmpty && chat.has("Ctrl-C again"))
        chat.press(.text("x"))
        #expect(chat.press(.control("c")).isEmpty)
        #expect(chat.press(.control("c")).last == .quit)
    }

    @Test("what is sent from far above leads to the newest, and not through all that is between")
    func sentFromAbove() {
        let chat = Chat()
        chat.take(Chat.messages(1...30), below: 1_000)
        let requests = chat.press(.text("hello"), .enter)
        guard case .send(let message)? = requests.last else {
            Issue.record("\(requests)")
            return
        }
        var own = Chat.messages(40...40)[0]
        own.conversation = Self.id
        #expect(chat.screen.take(.sent(message, [own])) == [.page(Self.id, .newest), .list])
    }

    @Test("with vi's keys, escape leads to normal mode, and from there to the messages")
    func vi() {
        let chat = Chat(isVi: true)
        chat.press(.text("one two"), .escape)
        #expect(chat.has(": one two"))
        chat.press(.text("0dd"))
        #expect(chat.screen.composer.editor.isEmpty)
        chat.press(.text("ihello"), .escape, .text("k"))
        #expect(chat.screen.focus == .timeline && chat.screen.composer.editor.text == "hello")
        chat.press(.text("gg"))
        #expect(chat.lines[2].contains("message 1"))
        chat.press(.text("G"))
        #expect(chat.screen.timeline?.selectedID == "id-30")
        chat.press(.text("A"), .text("!"))
        #expect(chat.screen.composer.editor.text == "hello!")
    }
}
