import Parley
import ParleyWire

extension ChatScreen {
    /// Emojis that a digit chooses.
    static let quickEmojis = ["👍", "❤️", "😂", "😮", "😢", "🙏", "🎉", "✅"]

    /// A key while something is asked of the person.
    mutating func handlePrompt(_ key: Key) -> [ChatRequest] {
        if key == .escape {
            mode = .plain
            return []
        }
        switch mode {
        case .finding(var chooser):
            let count = list.matches(chooser.editor.text).count
            guard key == .enter else {
                _ = choose(key, &chooser, of: count)
                mode = .finding(chooser)
                return []
            }
            let matches = list.matches(chooser.editor.text)
            mode = .plain
            guard matches.indices.contains(chooser.chosen) else { return [] }
            return open(matches[chooser.chosen].id)
        case .searching(let chooser): return handleSearch(key, chooser)
        case .reacting(let id, let editor): return handleReaction(key, to: id, editor)
        case .saving(let id, let editor): return handleSaving(key, of: id, editor)
        case .deleting(let id):
            mode = .plain
            guard key == .text("y"), let message = message(id) else { return [] }
            return [.delete(MessageReference(message.number))]
        case .quitting:
            guard key == .text("y") else {
                mode = .plain
                return []
            }
            return quit()
        case .plain, .help: return []
        }
    }

    private func message(_ id: String) -> MessageView? {
        active.flatMap { timeline in timeline.index(of: id).map { timeline.messages[$0] } }
    }

    /// Moves in a list, or types; true where the text is another one.
    private func choose(_ key: Key, _ chooser: inout Chooser, of count: Int) -> Bool {
        switch key {
        case .up, .control("p"): chooser.chosen = max(0, chooser.chosen - 1)
        case .down, .control("n"), .control("k"):
            chooser.chosen = max(0, min(count - 1, chooser.chosen + 1))
        default:
            let former = chooser.editor.text
            _ = chooser.editor.handle(key == .newLine ? .text(" ") : key)
            guard chooser.editor.text != former else { return false }
            chooser.chosen = 0
            return true
        }
        return false
    }

    private mutating func handleSearch(_ key: Key, _ chooser: Chooser) -> [ChatRequest] {
        var chooser = chooser
        if key == .enter {
            guard found.hits.indices.contains(chooser.chosen) else { return [] }
            found.place = chooser.chosen - 1
            return showHit(1)
        }
        let isNews = choose(key, &chooser, of: found.hits.count)
        mode = .searching(chooser)
        guard isNews else { return [] }
        let text = chooser.editor.text
        guard text.contains(where: { !$0.isWhitespace }) else {
            found.clear()
            return []
        }
        return [.search(text)]
    }

    private mutating func handleReaction(
        _ key: Key, to id: String, _ editor: LineEditor
    ) -> [ChatRequest] {
        var (editor, emoji) = (editor, editor.text)
        if case .text(let text) = key, editor.isEmpty, let digit = Int(text),
            Self.quickEmojis.indices.contains(digit - 1)
        {
            emoji = Self.quickEmojis[digit - 1]
        } else if key != .enter {
            _ = editor.handle(key)
            mode = .reacting(id, editor)
            return []
        }
        mode = .plain
        guard !emoji.isEmpty, let message = message(id) else { return [] }
        let isThere = message.reactions.contains {
            $0.emoji == emoji && $0.names.contains(list.ownName)
        }
        return [.react(MessageReference(message.number), emoji: emoji, on: !isThere)]
    }

    private mutating func handleSaving(
        _ key: Key, of id: String, _ editor: LineEditor
    ) -> [ChatRequest] {
        var editor = editor
        guard key == .enter else {
            _ = editor.handle(key)
            mode = .saving(id, editor)
            return []
        }
        mode = .plain
        guard !editor.isEmpty, let message = message(id) else { return [] }
        let path = absolutePath(editor.text)
        return [.save(MessageReference(message.number), message.files.map(\.number), path: path)]
    }

    // MARK: Sending

    /// Sends the text, or performs its slash command.
    mutating func submit() -> [ChatRequest] {
        guard let timeline else { return [] }
        let text = composer.editor.text
        guard text.contains(where: { !$0.isWhitespace }) else { return [] }
        guard text.utf8.count <= Limits.messageByteCountMax else {
            let excess = text.utf8.count - Limits.messageByteCountMax
            notice = "It is \(counted(excess, "byte")) too long for a message."
            return []
        }
        if case .edit(let message) = composer.purpose {
            composer.clear()
            return [.edit(MessageReference(message.number), text: text)]
        }
        var message = ChatMessage(conversation: timeline.conversation, text: text)
        if case .reply(let answered) = composer.purpose {
            message.replyTo = MessageReference(answered.number)
        } else {
            message.thread = thread?.thread
        }
        guard fill(&message) else { return [] }
        composer.clear()
        return [.send(message)]
    }

    /// Performs a slash command; false if the text is none.
    private mutating func fill(_ message: inout ChatMessage) -> Bool {
        guard message.text.hasPrefix("/") else { return true }
        if message.text.hasPrefix("//") {
            message.text = String(message.text.dropFirst())
            return true
        }
        let word = message.text.dropFirst().prefix { !$0.isWhitespace }
        let rest = message.text.dropFirst(word.count + 1).drop(while: \.isWhitespace)
        switch word {
        case "help":
            composer.editor.set("")
            mode = .help(from: 0)
            return false
        case "file":
            guard !rest.isEmpty else {
                notice = "/file needs a path"
                return false
            }
            message.path = absolutePath(String(rest))
            message.text = ""
            return true
        case "me":
            guard !rest.isEmpty else {
                notice = "/me needs a text"
                return false
            }
            message.text = "* \(list.ownName) \(rest)"
            return true
        default:
            // A path, and no command that was misspelt.
            guard word.allSatisfy(\.isLetter), !word.isEmpty else { return true }
            notice = "There is no command /\(word). To begin a text with a slash, type two."
            return false
        }
    }
}
