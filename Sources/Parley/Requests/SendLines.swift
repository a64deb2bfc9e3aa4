import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyRoster
import ParleyStorage
import ParleyWire

/// Writes a part of something longer, in one transaction with the note of how far it got: lines
/// that are in already are passed over, so that the same part can be said again.
/// ``CountImportedLines`` tells how far it got.
public struct SendLines: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "sendLines", RequestScope.write,
        "Writes a part of something longer, and skips lines that were written before."
    )
    /// An example of the request.
    public static let example = SendLines(
        conversation: "trip", texts: ["first line", "second line"],
        key: String(repeating: "0a", count: 32), firstLine: 1)

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The lines of this part.
    public var texts: [String]
    /// 64 hex digits that name the whole in this conversation.
    public var key: String
    /// The place of the first text in the whole, from 1.
    public var firstLine: Int
    /// For each text the identifier of a message that it says again, which nobody accepts from the device
    /// that wrote it: it is passed over where a device of the person has sent it again
    /// (``ListSentAgain``). Nil where they say nothing again.
    public var originals: [String]?
    /// For each text what it carries beside its words; nil where none carries anything.
    public var marks: [TextMarks]?

    /// A request with these parameters.
    public init(
        conversation: String, texts: [String], key: String, firstLine: Int,
        originals: [String]? = nil, marks: [TextMarks]? = nil
    ) {
        self.originals = originals
        self.marks = marks
        self.conversation = conversation
        self.texts = texts
        self.key = key
        self.firstLine = firstLine
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ImportResult {
        let hash = try Digest(fileHash: key)
        let (space, messages) = try await node.read { views in
            let space = try views.writable(conversation)
            return (space.id, try views.messages(texts, marks, in: space))
        }
        guard firstLine > 0, firstLine < 1 << 32, !texts.isEmpty else {
            throw NodeError("bad-line", "Lines are counted from 1, and there must be at least one.")
        }
        let names = try originals.map { try $0.map(SentAgain.Original.init(named:)) }
        guard names?.count ?? texts.count == texts.count else {
            throw NodeError("bad-original", "There must be as many originals as texts.")
        }
        let rows = messages.enumerated().map { place, message in
            ImportedRow(
                line: firstLine + place, message: message,
                original: names?[place])
        }
        let reply = try await node.write(
            .importMessages(
                space, fileHash: hash, rows: rows, throughLine: firstLine + texts.count - 1))
        guard case .imported(let stored, let known, _) = reply else {
            return ImportResult(stored: 0, known: 0)
        }
        return ImportResult(stored: stored, known: known)
    }
}

/// What a text that is sent again carries beside its words.
public struct TextMarks: Codable, Equatable, Sendable {
    /// Persons whom it mentions, as ``MessageView/mentions`` told them; their names do not count. Who is not in
    /// the conversation is left out.
    public var mentions: [MessageView.Mention]?
    /// Whether it mentions everybody in the conversation; nil for false.
    public var mentionsEveryone: Bool?
    /// Whose words they are, if it was forwarded, as ``MessageView/forwardedFrom`` told it: it mentions nobody
    /// then. Nil if they are the person's own.
    public var forwardedFrom: String?

    /// Marks with these fields.
    public init(
        mentions: [MessageView.Mention]? = nil, mentionsEveryone: Bool? = nil,
        forwardedFrom: String? = nil
    ) {
        self.mentions = mentions
        self.mentionsEveryone = mentionsEveryone
        self.forwardedFrom = forwardedFrom
    }
}

extension Views {
    /// Texts as they are sent again into a conversation, with their marks.
    func messages(
        _ texts: [String], _ marks: [TextMarks]?, in space: SpaceRecord
    ) throws -> [TextMessage] {
        guard let marks else { return texts.map { TextMessage(text: $0) } }
        guard marks.count == texts.count, let roster = try roster(of: space) else {
            throw NodeError("bad-marks", "There must be as many marks as texts.")
        }
        return try zip(texts, marks).map { text, marks in
            guard let name = marks.forwardedFrom else {
                return TextMessage(text: text, mentions: try mentions(marks, in: text, roster))
            }
            guard name.utf8.count <= Limits.nameByteCountMax else {
                throw NodeError(
                    "bad-marks", "A name has at most \(Limits.nameByteCountMax) bytes.")
            }
            return TextMessage(text: text, forwardedFrom: name)
        }
    }

    private func mentions(
        _ marks: TextMarks, in text: String, _ roster: Roster
    ) throws -> Mentions {
        let said = marks.mentions ?? []
        guard said.count <= Limits.mentionCountMax else {
            throw NodeError(
                "too-many-mentions",
                "A message can mention at most \(Limits.mentionCountMax) people.")
        }
        let byteCount = text.utf8.count
        let persons = said.compactMap { mention -> Mentions.Mention? in
            // Others learn nothing of whom they do not know.
            guard let person = bytes(hex: mention.person).flatMap({ PersonID($0) }),
                roster.member(person) != nil
            else { return nil }
            guard let start = mention.start, let length = mention.length,
                (0...byteCount).contains(start), (0...byteCount - start).contains(length)
            else { return Mentions.Mention(person) }
            return Mentions.Mention(person, at: start..<start + length)
        }
        return Mentions(persons, everyone: marks.mentionsEveryone ?? false).placed(in: text)
    }
}
