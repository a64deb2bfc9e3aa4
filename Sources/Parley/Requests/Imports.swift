import ParleyConversation
import ParleyLedger
import ParleyNodeCore
import ParleyWire

/// Imports messages, in one transaction with the record of its progress. Lines below the recorded
/// position are skipped, and so are rows that were imported before by this person, by how many
/// equal rows precede them.
public struct ImportMessages: NodeRequest, Equatable {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "import", RequestScope.write,
        "Imports messages from elsewhere, in one transaction with the record of how far it got."
    )
    /// An example of the request.
    public static let example = ImportMessages(
        conversation: "trip", fileHash: String(repeating: "0a", count: 32), throughLine: 1,
        rows: [
            Row(line: 1, author: "ann", time: 1_700_000_000_000, text: "hello", isAction: false)
        ])

    /// One message.
    public struct Row: Codable, Equatable, Sendable {
        /// Its line in the file, from 1.
        public var line: Int
        /// Its author there.
        public var author: String
        /// When, in Unix milliseconds.
        public var time: UInt64
        /// The text.
        public var text: String
        /// Whether it was an action.
        public var isAction: Bool
        /// How many rows above it in the file say the same: the same text at the same time by the same
        /// author. Nil where ``line`` alone tells whether it is in.
        public var alikeAbove: Int?
        /// How many rows above it in the file are as long, at the same time and by the same author: by
        /// that it is known where it was deleted.
        public var likeLengthAbove: Int?
        /// Whether nothing ends its line, so that it may be the beginning of a longer one.
        public var mayGrow: Bool?
        /// A row with these fields.
        public init(line: Int, author: String, time: UInt64, text: String, isAction: Bool) {
            self.line = line
            self.author = author
            self.time = time
            self.text = text
            self.isAction = isAction
        }
    }
    /// Where to.
    public var conversation: String
    /// What names the file up to ``throughLine``, as 64 hex digits.
    public var fileHash: String
    /// Up to which line the file is in once this is stored.
    public var throughLine: Int
    /// Ascending by line.
    public var rows: [Row]
    /// The hash of its first lines, as ``fileHash`` computes it: a file with this beginning is
    /// recognised, however it continues.
    public var beginnings: [String]

    /// A request with these parameters.
    public init(
        conversation: String, fileHash: String, throughLine: Int, rows: [Row],
        beginnings: [String] = []
    ) {
        self.conversation = conversation
        self.fileHash = fileHash
        self.throughLine = throughLine
        self.rows = rows
        self.beginnings = beginnings
    }

    /// Reads a request; `beginnings` may be left out.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        conversation = try container.decode(String.self, forKey: .conversation)
        fileHash = try container.decode(String.self, forKey: .fileHash)
        throughLine = try container.decode(Int.self, forKey: .throughLine)
        rows = try container.decode([Row].self, forKey: .rows)
        beginnings = try container.decodeIfPresent([String].self, forKey: .beginnings) ?? []
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ImportResult {
        let space = try await node.space(conversation)
        let hash = try Digest(fileHash: fileHash)
        guard beginnings.count <= 64 else {
            throw NodeError("bad-hash", "A file has at most 64 beginnings.")
        }
        let names = try beginnings.map { try Digest(fileHash: $0) }
        let imported = try rows.map { try $0.imported() }
        let reply = try await node.running.perform(
            .importMessages(
                space, fileHash: hash, rows: imported, throughLine: throughLine, beginnings: names))
        guard case .imported(let stored, let known, let deleted) = reply else {
            return ImportResult(stored: 0, known: 0)
        }
        return ImportResult(stored: stored, known: known, deleted: deleted > 0 ? deleted : nil)
    }
}

extension ImportMessages.Row {
    fileprivate func imported() throws -> ImportedRow {
        guard time < Limits.wallClockMax, line > 0, alikeAbove ?? 0 >= 0,
            likeLengthAbove ?? 0 >= 0, author.utf8.count <= Limits.nameByteCountMax
        else { throw NodeError("bad-row", "Line \(line) cannot be imported.") }
        let origin = ImportedOrigin(author: author, time: time, isAction: isAction)
        return ImportedRow(
            line: line, message: TextMessage(text: text, origin: origin), alikeAbove: alikeAbove,
            likeLengthAbove: likeLengthAbove, mayGrow: mayGrow ?? false)
    }
}

/// How many lines of this file, or of what was sent under this key, are in, or 0.
public struct CountImportedLines: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "importedLineCount", RequestScope.read,
        "How many lines of this file, or of what was sent under this key, are stored; 0 if none."
    )
    /// An example of the request.
    public static let example = CountImportedLines(
        conversation: "trip", fileHash: String(repeating: "0a", count: 32))

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// What names the file or the whole, as 64 hex digits.
    public var fileHash: String

    /// A request with these parameters.
    public init(conversation: String, fileHash: String) {
        self.conversation = conversation
        self.fileHash = fileHash
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> Int {
        let hash = try Digest(fileHash: fileHash)
        return try await node.read { views in
            try ImportProgress.line(of: hash, in: views.writable(conversation).id, views.store)
        }
    }
}

/// How many of some lines other members have imported into a conversation, and this person has not.
public struct FindImported: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "importedByOthers", RequestScope.read,
        "How many of these lines other members have imported, so that an import would double them."
    )
    /// An example of the request.
    public static let example = FindImported(
        conversation: "trip",
        rows: [
            ImportMessages.Row(
                line: 1, author: "ann", time: 1_700_000_000_000, text: "hello", isAction: false)
        ])

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The lines. Only those that say how many like them stand above are looked for.
    public var rows: [ImportMessages.Row]

    /// A request with these parameters.
    public init(conversation: String, rows: [ImportMessages.Row]) {
        self.conversation = conversation
        self.rows = rows
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> ImportedByOthers {
        let imported = try rows.map { try $0.imported() }
        return try await node.read { views in
            let space = try views.conversation(conversation)
            let found = try views.core.importedByOthers(imported, in: space, views.store)
            let roster = try views.roster(of: space)
            return ImportedByOthers(
                count: found.count,
                names: try found.persons.map { try views.name(of: $0, in: roster) }.sorted())
        }
    }
}

/// Lines that other members have imported.
public struct ImportedByOthers: Codable, Equatable, Sendable {
    /// How many.
    public var count: Int
    /// The names of who did.
    public var names: [String]

    /// So many lines, by these.
    public init(count: Int, names: [String]) {
        self.count = count
        self.names = names
    }
}

/// The result of an import.
public struct ImportResult: Codable, Equatable, Sendable {
    /// Messages stored now.
    public var stored: Int
    /// Messages that were in before.
    public var known: Int
    /// How many of these were deleted since, and stay so.
    public var deleted: Int?
}

extension Digest {
    /// What names a file, as 64 hex digits.
    init(fileHash text: String) throws {
        guard let hash = ParleyWire.bytes(hex: text).flatMap({ Digest($0) }) else {
            throw NodeError("bad-hash", "A file's hash has 64 hex digits.")
        }
        self = hash
    }
}
