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
        /// The address of its link preview, which is not in here.
        var link: String?

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
                forwardedFrom: $0.forwardedFrom, link: $0.link?.address)
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
                // What nobody took stands beside no message.
                let isUntaken = ["removed", "cut-off", "revoked"].contains(waiting.state)
                let absent = isUntaken ? "yours" : "taken back"
                let what = emojis.isEmpty ? absent : emojis.joined(separator: " ")
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
