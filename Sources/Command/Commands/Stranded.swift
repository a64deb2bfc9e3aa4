import Foundation
import Parley
import ParleySealing
import ParleyWire

/// What a device wrote above the fork of its log, for the person to send again elsewhere: nobody
/// accepts it from that device, and no backup contains it. Also what a revoked device does not know to
/// have arrived.
struct StrandedWords: Codable, Equatable {
    /// One of its messages.
    struct Message: Codable, Equatable {
        var id: String
        var time: UInt64
        var text: String?
        /// The name that it had where it was imported from, which another than the person may have said.
        var importedAuthor: String?
    }
    /// Its other operations, which have to be repeated by hand.
    struct Deed: Codable, Equatable {
        var id: String
        var time: UInt64
        /// As ``UndeliveredView/change``.
        var change: String
        var text: String
    }
    /// The conversation, in hex.
    var conversation: String
    /// Its name.
    var name: String
    /// Oldest first.
    var messages: [Message]
    /// Likewise; earlier versions wrote none.
    var deeds: [Deed]?

    /// As much as is read of a file.
    static let fileByteCountMax = 256 << 20
    private static let pageCount = 200

    init(
        _ conversation: String, _ name: String, _ messages: [MessageView],
        _ others: [UndeliveredView]
    ) {
        (self.conversation, self.name) = (conversation, name)
        deeds = others.map { Deed(id: $0.id, time: $0.time, change: $0.change, text: $0.text) }
        self.messages = messages.map {
            Message(
                id: $0.id, time: $0.time, text: $0.text,
                importedAuthor: $0.isImported ? $0.author : nil)
        }
    }

    /// All of a conversation, oldest first.
    static func messages(
        of conversation: String, on node: any NodeService
    ) async throws -> [MessageView] {
        var found: [MessageView] = []
        var before: String?
        while true {
            let page = try await node.perform(
                ReadMessages(conversation: conversation, before: before, limit: pageCount))
            let some = page.messages.filter { message in
                !message.isDeleted && (message.isStranded || message.state == "unknown")
            }
            found = some + found
            guard page.aboveCount > 0, let cursor = page.cursor else { return found }
            before = cursor
        }
    }

    /// The content of a file made by `parley outbox --stranded --json`.
    static func read(_ file: String) throws -> [StrandedWords] {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
            // It was only read.
            defer { try? handle.close() }
            data = try handle.read(upToCount: fileByteCountMax + 1) ?? Data()
        } catch {
            throw NodeError("no-file", "\(file) cannot be read")
        }
        guard data.count <= fileByteCountMax,
            // Whatever is wrong with it: the command that is named makes another one.
            let words = try? JSONDecoder().decode([StrandedWords].self, from: data)
        else {
            throw NodeError(
                "not-stranded", "\(file) is not what parley outbox --stranded --json prints")
        }
        return words
    }

    /// The messages to send into a conversation: the same one on another device of the person, or
    /// one of the same name if it had to be created again.
    static func of(
        _ conversation: ConversationView, among all: [StrandedWords], in file: String
    ) throws -> StrandedWords {
        let named = all.filter { $0.name == conversation.name }
        if let same = all.first(where: { $0.conversation == conversation.id })
            ?? (named.count == 1 ? named.first : nil)
        {
            return same
        }
        let names = all.map { "“\($0.name)”" }.joined(separator: ", ")
        throw NodeError(
            "unknown-conversation", "\(file) holds nothing of “\(conversation.name)”",
            hint: names.isEmpty ? "it holds nothing at all" : "it holds messages of \(names)")
    }
}

extension Send {
    /// Sends again what another device of the person wrote and nobody accepts from it. Each message
    /// is sent once, however often this is run, on whichever devices of theirs that have met since.
    func sendStranded(_ file: String, with node: any NodeService) async throws {
        let all = try StrandedWords.read(file)
        guard !all.isEmpty else { return try sayNothing("\(file) holds nothing to send again") }
        let target = try await node.perform(GetConversation(conversation: conversation))
        let words = try StrandedWords.of(target, among: all, in: file)
        guard try await node.perform(ListOutbox()).allSatisfy({ $0.strandedCount == 0 }) else {
            throw NodeError(
                "stranded", "nobody accepts anything more from this device",
                hint:
                    "send it on another device of yours: link one, or create one with "
                    + "`parley recover`"
            )
        }
        let texts = words.messages.filter { $0.importedAuthor == nil && $0.text != nil }
        var said: [StrandedWords.Message] = []
        for message in texts where try await !isHeld(message.id, on: node) { said.append(message) }
        if said.count < texts.count {
            World.current.say(
                "notice: \(counted(texts.count - said.count, "message")) left out: this device has "
                    + "what arrived")
        }
        let left = words.messages.count - texts.count
        if left > 0 {
            World.current.say(
                "notice: \(counted(left, "message")) left out: import again what was "
                    + "imported; of the others there is no text here")
        }
        let deeds = words.deeds ?? []
        for deed in deeds {
            World.current.say(
                "notice: left out, please do this again: "
                    + UndeliveredView.line(deed.change, deed.text))
        }
        guard !said.isEmpty else {
            return try sayNothing("nothing to send again: no message of the file is missing here")
        }
        said = try await unsent(said, with: node)
        try await send(
            Composition.batches(said.compactMap(\.text)), count: said.count,
            named: said.map(\.id).joined(separator: " "),
            originals: again ? nil : said.map(\.id), with: node)
    }

    /// Those of the messages that no device of the person has sent again; with `--again`, all.
    private func unsent(
        _ messages: [StrandedWords.Message], with node: any NodeService
    ) async throws -> [StrandedWords.Message] {
        let sent = try await node.perform(ListSentAgain(conversation: conversation))
        for message in messages {
            let copies = sent.filter { $0.original == message.id && !$0.isDeleted }
            guard copies.count > 1, let last = copies.last else { continue }
            let start = harmless(String((message.text ?? "").prefix(40)))
            World.current.say(
                "notice: “\(start)” stands twice: two devices of yours sent it again before they "
                    + "met. `parley delete \(last.message)` deletes one")
        }
        if again { return messages }
        let known = Set(sent.map(\.original))
        let left = messages.filter { !known.contains($0.id) }
        guard !left.isEmpty else { throw Self.sentBefore(messages.count) }
        if left.count < messages.count {
            World.current.say(
                "notice: \(counted(messages.count - left.count, "message")) left out: a device of "
                    + "yours has sent that again")
        }
        return left
    }

    /// Nothing is left to do, which is no failure.
    private func sayNothing(_ why: String) throws {
        World.current.say(why)
        if output.json { World.current.write(try Output.json(Sent(saved: 0, known: 0))) }
    }

    /// Whether a message has come here by itself.
    private func isHeld(_ id: String, on node: any NodeService) async throws -> Bool {
        do {
            _ = try await node.perform(LocateMessages(messages: [MessageReference(id)]))
            return true
        } catch let error as NodeError where error.code == "unknown-message" {
            return false
        }
    }
}

extension UndeliveredView {
    /// `poll: when do we go? (Friday, Saturday)`.
    var line: String { Self.line(change, text) }

    static func line(_ change: String, _ text: String) -> String {
        let noun =
            switch change {
            case "vote": "answer to a poll"
            case "close": "closing of a poll"
            case "deletion": "deletion of a poll, an item, a note or a decision"
            case "change": "change of an item"
            case "edit": "edit of a note"
            case "title": "title of a note"
            case "approval": "approval of a decision, or its withdrawal"
            case "settling": "change to the state of a decision"
            case "pin": "pin of a message"
            default: change
            }
        let words = harmless(text).split { $0 == "\n" || $0 == "\r\n" }.joined(separator: " ")
        return noun + (words.isEmpty ? "" : ": " + words)
    }
}
