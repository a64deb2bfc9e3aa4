internal import Foundation
internal import Parley

/// A message, or a part of one, as tools return it.
struct MCPQuote: Codable, Equatable, Sendable {
    /// The number of the message on this node.
    var number: Int64
    /// The name of the message everywhere.
    var id: String
    /// The conversation, in hex, and its name.
    var conversation: String
    var title: String?
    /// The name of who wrote it, and who that is, or who imported it.
    var author: String
    var person: String
    var isOwn: Bool
    /// When it was written, in universal time.
    var time: String
    /// Nil where it was deleted, has not arrived or is not shown.
    var text: String?
    /// Whether the message says more.
    var isCut = false
    /// Why it is in the result, where that is said.
    var reason: String?
    /// The message that it answers.
    var replyTo: Int64?
    var isEdited: Bool?
    var isDeleted: Bool?
    var isImported: Bool?
    /// Names of the files that it brings.
    var files: [String]?
    /// How far an own one has come.
    var state: String?

    init(_ message: MessageView, title: String? = nil, reason: String? = nil) {
        (number, id, conversation) = (message.number, message.id, message.conversation)
        (self.title, self.reason) = (title, reason)
        (author, person, isOwn) = (message.author, message.person, message.isOwn)
        time = MCPTime.text(message.time)
        (text, isCut) = Self.beginning(of: message.text)
        (replyTo, state) = (message.replyTo, message.state)
        isEdited = message.editCount > 0 ? true : nil
        isDeleted = message.isDeleted ? true : nil
        isImported = message.isImported ? true : nil
        files = message.files.isEmpty ? nil : message.files.map(\.name)
    }

    init(_ line: CitedLine, title: String? = nil, reason: String? = nil) {
        (number, id, conversation) = (line.number, line.id, line.conversation)
        (author, person, isOwn) = (line.author, line.person, line.isOwn)
        (self.title, self.reason) = (title, reason)
        time = MCPTime.text(line.time)
        (text, isCut) = (line.text, line.isCut)
    }

    init(_ passage: PassageView) {
        (number, id, conversation) = (passage.number, passage.id, passage.conversation)
        (author, person, isOwn) = (passage.author, passage.person, passage.isOwn)
        (title, reason) = (passage.title, passage.reason)
        time = MCPTime.text(passage.time)
        (text, isCut) = (passage.text, passage.isCut)
    }

    /// As much of a text as a list holds, and whether it is less than all.
    static func beginning(of text: String?) -> (String?, isCut: Bool) {
        guard let text, text.utf8.count > MCP.textByteCountMax else { return (text, false) }
        var bytes = text.utf8.prefix(MCP.textByteCountMax)
        // Whole letters alone.
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
        return (String(decoding: bytes, as: UTF8.self), true)
    }
}

/// A conversation, as tools return it.
struct MCPConversation: Codable, Equatable, Sendable {
    var id: String
    /// `direct` or `group`.
    var kind: String
    var name: String
    var members: [String]
    /// Members that are not named.
    var otherMemberCount: Int?
    var unread: Int
    var unreadMentions: Int
    var isMuted: Bool
    var isArchived: Bool
    var mayWrite: Bool
    /// When the newest message was written.
    var newest: String?
    /// What the person began to write and did not send.
    var draft: String?

    /// Members of one that are named, at most.
    private static let memberCountMax = 32

    init(_ view: ConversationView) {
        (id, kind, name, unread) = (view.id, view.kind, view.name, view.unread)
        members = Array(view.members.prefix(Self.memberCountMax))
        otherMemberCount =
            view.members.count > Self.memberCountMax
            ? view.members.count - Self.memberCountMax : nil
        (unreadMentions, isMuted, isArchived) = (view.unreadMentions, view.isMuted, view.isArchived)
        mayWrite = view.mayWrite && !view.isOut && !view.isInvited
        newest = view.newest.map { MCPTime.text($0) }
        draft = view.draft
    }
}

/// A person, as tools return them: no address, and no key but their name everywhere.
struct MCPPerson: Codable, Equatable, Sendable {
    var person: String
    var name: String
    /// `accepted`, `pending`, `blocked` and so on.
    var state: String
    var isVerified: Bool
    /// Others whose names look alike.
    var resembles: [String]

    init(_ view: ContactView) {
        (person, name, state) = (view.person, view.name, view.state)
        (isVerified, resembles) = (view.isVerified, view.resembles)
    }
}

/// What is to be done, as tools return it.
struct MCPItem: Codable, Equatable, Sendable {
    var number: Int64
    var id: String
    var conversation: String
    var title: String
    var assignees: [String]
    var isOwn: Bool
    var due: String?
    var doneBy: String?
    var notes: String
    /// The message that it was made from.
    var source: String?
    var author: String
    var time: String

    init(_ view: ItemView) {
        (number, id, conversation, title) = (view.number, view.id, view.conversation, view.title)
        (assignees, isOwn, due) = (view.assignees, view.isOwn, view.due)
        (doneBy, source, author) = (view.doneBy, view.source, view.author)
        notes = MCPQuote.beginning(of: view.notes).0 ?? ""
        time = MCPTime.text(view.time)
    }
}

/// A decision, as tools return it.
struct MCPDecision: Codable, Equatable, Sendable {
    var number: Int64
    var id: String
    var conversation: String
    var title: String
    var text: String
    var tags: [String]
    /// `proposed`, `accepted`, `rejected`, `superseded` or `untaken`.
    var state: String
    var approvers: [String]
    var source: String?
    var author: String
    var time: String

    init(_ view: DecisionView) {
        (number, id, conversation, title) = (view.number, view.id, view.conversation, view.title)
        (tags, state, approvers) = (view.tags, view.state, view.approvers)
        (source, author) = (view.source, view.author)
        text = MCPQuote.beginning(of: view.text).0 ?? ""
        time = MCPTime.text(view.time)
    }
}

/// Something that a message suggests to do, to decide or to answer, as tools return it.
struct MCPSuggestion: Codable, Equatable, Sendable {
    var quote: MCPQuote
    var assignee: String?
    var due: String?
    /// The message in which somebody else agreed.
    var agreement: Int64?
    var isToMe: Bool?
}

/// What one missed of a conversation, as tools return it.
struct MCPMissed: Codable, Equatable, Sendable {
    var conversation: String
    var title: String
    var unread: Int
    /// What waits for the person, each with its reason: `mention`, `question` or `task`.
    var urgent: [MCPQuote]
    var decisions: [MCPQuote]
    var points: [MCPQuote]

    init(_ part: CatchUpView.Part) {
        (conversation, title, unread) = (part.conversation, part.title, part.unreadCount)
        urgent = part.urgent.map { MCPQuote($0.line, reason: $0.reason) }
        decisions = part.decisions.map { MCPQuote($0) }
        points = part.points.map { MCPQuote($0) }
    }
}

/// A draft that was kept, as tools return it.
struct MCPDraft: Codable, Equatable, Sendable {
    var isKept: Bool
}
