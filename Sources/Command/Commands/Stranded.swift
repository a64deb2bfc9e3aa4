import Foundation
import Parley
import ParleySealing
import ParleyWire

/// What a device wrote above the fork of its log, for the person to send again elsewhere: nobody
/// accepts it from that device, and no backup contains it. Also what a revoked device does not know to
/// have arrived, and what nobody took since its author had been removed or made a reader.
struct StrandedWords: Codable, Equatable {
    /// One of its messages.
    struct Message: Codable, Equatable {
        var id: String
        var time: UInt64
        var text: String?
        /// The name that it had where it was imported from, which another than the person may have said.
        var importedAuthor: String?
        /// Whether it may be the text alone that is new; earlier versions did not say it.
        var isEdited: Bool?
        /// The names of the files that it brought: they are not in here.
        var files: [String]?
        /// How the message begins that it answered.
        var answered: String?
        /// Whom it mentions; earlier versions did not say it, nor what follows.
        var mentions: [MessageView.Mention]?
        /// Whether it mentions everybody.
        var mentionsEveryone: Bool?
        /// Whose words they are, if it was forwarded.
        var forwardedFrom: String?

        /// What it carries beside its words.
        func marks(without isWithout: Bool?) -> TextMarks {
            guard isWithout != true else { return TextMarks(forwardedFrom: forwardedFrom) }
            return TextMarks(
                mentions: mentions, mentionsEveryone: mentionsEveryone,
                forwardedFrom: forwardedFrom)
        }

        /// Whether there is nothing but files.
        var isWordless: Bool { (text ?? "").allSatisfy(\.isWhitespace) }
    }
    /// Its other operations, which have to be repeated by hand.
    struct Deed: Codable, Equatable {
        /// Of what was done about a message, that of the message.
        var id: String
        var time: UInt64
        /// As ``UndeliveredView/change``; also `message-edit`, `message-deletion` and `reaction`.
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
        _ deeds: [Deed]
    ) {
        (self.conversation, self.name) = (conversation, name)
        self.deeds = deeds
        self.messages = messages.map {
            Message(
                id: $0.id, time: $0.time, text: $0.text,
                importedAuthor: $0.isImported ? $0.author : nil,
                isEdited: $0.waiting.contains { $0.change == "edit" },
                files: $0.files.isEmpty ? nil : $0.files.map(\.name),
                answered: $0.quote.map { $0.text ?? "" },
                mentions: $0.mentions.isEmpty ? nil : $0.mentions,
                mentionsEveryone: $0.mentionsEveryone ? true : nil,
                forwardedFrom: $0.forwardedFrom)
        }
    }

    /// All of a conversation, oldest first: messages, and what was done about messages.
    static func found(
        in conversation: String, isForked: Bool, on node: any NodeService
    ) async throws -> (messages: [MessageView], deeds: [Deed]) {
        var found: (messages: [MessageView], deeds: [Deed]) = ([], [])
        let own = try await node.perform(GetStatus()).name
        // Of a device with two histories, nobody can tell what of it was still taken.
        let untold = isForked ? ["saved", "relayed", "unaccepted"] : []
        let states = ["unknown", "revoked", "removed", "cut-off"] + untold
        var before: String?
        while true {
            let page = try await node.perform(
                ReadMessages(
                    conversation: conversation, before: before, limit: pageCount))
            let some = page.messages.filter { message in
                // Of an edit that nobody took the text is not in the message, which others have.
                let isEdit = message.waiting.contains {
                    $0.change == "edit" && states.contains($0.state) && !isUntaken($0)
                }
                return !message.isDeleted
                    && (message.isStranded || message.state == "unknown" || isEdit
                        || message.untaken != nil)
            }
            found.messages = some + found.messages
            var edits: [Deed] = []
            for message in page.messages where message.waiting.contains(where: isUntakenEdit) {
                if let edit = try await untakenEdit(of: message, on: node) { edits.append(edit) }
            }
            let deeds = page.messages.flatMap { self.deeds(about: $0, states, own) }
            found.deeds = deeds + edits + found.deeds
            guard page.aboveCount > 0, let cursor = page.cursor else { return found }
            before = cursor
        }
    }

    private static func isUntaken(_ change: MessageView.Waiting) -> Bool {
        ["removed", "cut-off"].contains(change.state)
    }

    private static func isUntakenEdit(_ change: MessageView.Waiting) -> Bool {
        change.change == "edit" && isUntaken(change)
    }

    /// The text that nobody took for a message, which stands last among those that it had.
    private static func untakenEdit(
        of message: MessageView, on node: any NodeService
    ) async throws -> Deed? {
        var from = 0
        while true {
            let page = try await node.perform(
                GetMessageHistory(message: MessageReference(message.id), from: from))
            guard let next = page.next else {
                let last = page.versions.last { ["removed", "cut-off"].contains($0.state) }
                return last?.text.map { text in
                    Deed(
                        id: message.id, time: last?.time ?? message.time, change: "message-edit",
                        text: "\(start(of: message.text)): \(text)")
                }
            }
            from = next
        }
    }

    /// What was done about a message and is in one of the states.
    private static func deeds(
        about message: MessageView, _ states: [String], _ own: String
    ) -> [Deed] {
        message.waiting.filter { states.contains($0.state) }.compactMap { waiting in
            switch waiting.change {
            case "deletion":
                return Deed(
                    id: message.id, time: message.time, change: "message-deletion", text: "")
            case "reaction":
                let emojis = message.reactions.filter { $0.names.contains(own) }.map(\.emoji)
                let what = emojis.isEmpty ? "taken back" : emojis.joined(separator: " ")
                return Deed(
                    id: message.id, time: message.time, change: "reaction",
                    text: "\(what) to \(start(of: message.text))")
            default: return nil
            }
        }
    }

    /// How a text begins, in quotation marks.
    static func start(of text: String?) -> String {
        "“\(harmless(String((text ?? "").prefix(40))))”"
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
            throw NodeError("no-file", "\(file) cannot be read.")
        }
        guard data.count <= fileByteCountMax,
            // Whatever is wrong with it: the command that is named makes another one.
            let words = try? JSONDecoder().decode([StrandedWords].self, from: data)
        else {
            throw NodeError(
                "not-stranded", "\(file) is not what `parley outbox --stranded --json` prints.")
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
            "unknown-conversation", "\(file) holds nothing of “\(conversation.name)”.",
            hint: names.isEmpty
                ? "The file holds nothing at all." : "The file holds messages of \(names).")
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
                "stranded", "Nobody accepts anything more from this device.",
                hint:
                    "Send it on another device of yours: link one, or create one with "
                    + "`parley recover`.")
        }
        let texts = words.messages.filter { $0.importedAuthor == nil && $0.text != nil }
        let missing = try await missing(of: texts, on: node)
        let left = words.messages.count - texts.count
        if left > 0 {
            World.current.say(
                "notice: \(counted(left, "message")) left out: import again what was "
                    + "imported; of the others there is no text here")
        }
        for deed in words.deeds ?? [] { try await tell(deed, on: node) }
        // Nobody can send what is not in the file.
        for message in missing where message.isWordless {
            for name in message.files ?? [] {
                World.current.say(
                    "notice: left out, please send again: file \(harmless(name))")
            }
        }
        var said = missing.filter { !$0.isWordless }
        guard !said.isEmpty else {
            return try sayNothing(
                missing.isEmpty
                    ? "nothing to send again: no message of the file is missing here"
                    : "nothing to send again but files")
        }
        said = try await unsent(said, with: node)
        for message in said {
            let start = StrandedWords.start(of: message.text)
            for name in message.files ?? [] {
                World.current.say(
                    "notice: \(start) goes without its file, please send it again: "
                        + harmless(name))
            }
            if let answered = message.answered {
                World.current.say(
                    "notice: \(start) goes as no answer: it answered "
                        + StrandedWords.start(of: answered))
            }
        }
        try await send(
            Composition.batches(said.compactMap(\.text)), count: said.count,
            named: said.map(\.id).joined(separator: " "),
            originals: again ? nil : said.map(\.id),
            marks: said.map { $0.marks(without: mentions.without) }, with: node)
    }

    /// Those of the messages that have not come here. Of one that came without its newest text, it
    /// says so: that could be older than the text that is here.
    private func missing(
        of texts: [StrandedWords.Message], on node: any NodeService
    ) async throws -> [StrandedWords.Message] {
        var missing: [StrandedWords.Message] = []
        var heldCount = 0
        let untaken = try await untaken(among: texts.map(\.id), on: node)
        for message in texts {
            guard !untaken.contains(message.id), try await isHeld(message.id, on: node) else {
                missing.append(message)
                continue
            }
            let held = try await heldText(message.id, on: node)
            guard message.isEdited == true, let held, held != message.text else {
                heldCount += 1
                continue
            }
            let text = harmless(message.text ?? "").split { $0.isNewline }
            World.current.say(
                "notice: left out, please do this again: edit of "
                    + "\(StrandedWords.start(of: held)): \(text.joined(separator: " "))")
        }
        if heldCount > 0 {
            World.current.say(
                "notice: \(counted(heldCount, "message")) left out: this device has what arrived")
        }
        return missing
    }

    /// What is here, and nobody took, whether or not it was sent again.
    private func untaken(
        among ids: [String], on node: any NodeService
    ) async throws -> Set<String> {
        let id = try await node.perform(GetConversation(conversation: conversation)).id
        let waiting = try await node.perform(ListOutbox()).first { $0.conversation == id }
        let sent = Set(
            try await node.perform(ListSentAgain(conversation: id)).map(\.original))
        guard waiting?.untakenCount ?? 0 > 0 || ids.contains(where: sent.contains) else {
            return []
        }
        let found = try await StrandedWords.found(in: id, isForked: false, on: node).messages
        return Set(found.filter { $0.untaken != nil }.map(\.id))
    }

    /// Says what to do again. Of a deletion it looks whether there is anything to delete.
    private func tell(_ deed: StrandedWords.Deed, on node: any NodeService) async throws {
        var text = deed.text
        if deed.change == "message-deletion" {
            guard try await isHeld(deed.id, on: node),
                let held = try await heldText(deed.id, on: node)
            else { return }
            text = StrandedWords.start(of: held)
        }
        World.current.say(
            "notice: left out, please do this again: " + UndeliveredView.line(deed.change, text))
    }

    /// The text that a message has here; nil where it was deleted.
    private func heldText(_ id: String, on node: any NodeService) async throws -> String? {
        var from = 0
        while true {
            let page = try await node.perform(
                GetMessageHistory(message: MessageReference(id), from: from))
            guard let next = page.next else {
                guard page.count > 0 else { return nil }
                return page.versions.last { $0.state == nil }?.text ?? ""
            }
            from = next
        }
    }

    /// Those of the messages that no device of the person has sent again; with `--again`, all.
    private func unsent(
        _ messages: [StrandedWords.Message], with node: any NodeService
    ) async throws -> [StrandedWords.Message] {
        let sent = try await node.perform(ListSentAgain(conversation: conversation))
        for message in messages {
            let copies = sent.filter { $0.original == message.id && !$0.isDeleted }
            guard copies.count > 1, let last = copies.last else { continue }
            let start = StrandedWords.start(of: message.text)
            World.current.say(
                "notice: \(start) stands twice: two devices of yours sent it again before they "
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
