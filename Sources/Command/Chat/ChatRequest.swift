import Parley

/// What a chat requests from outside.
enum ChatRequest: Equatable, Sendable {
    /// Which part of a conversation is wanted.
    enum Place: Equatable, Sendable {
        /// The unread messages, with those above them; the newest if everything was read.
        case unread
        case newest
        /// The newest once more, where that is shown already.
        case refresh
        /// What so many messages stand above; the view stays where it is.
        case from(Int)
        /// The very first.
        case first
        /// A message, and its surroundings.
        case around(Int64)

        /// Whether the view goes elsewhere: what only reads again does not take the place of that.
        var isJump: Bool {
            switch self {
            case .unread, .newest, .first, .around: true
            case .refresh, .from: false
            }
        }
    }

    /// The list of conversations.
    case list
    /// Messages of a conversation.
    case page(String, Place)
    /// The lines between the messages of a conversation.
    case notes(String)
    /// The thread that a message is in.
    case thread(MessageReference)
    case send(ChatMessage)
    case edit(MessageReference, text: String)
    case delete(MessageReference)
    case react(MessageReference, emoji: String, on: Bool)
    /// Messages were before the eyes.
    case markRead(String, [MessageReference], last: Int64?)
    case search(String)
    /// The files of a message are to be written into a folder.
    case save(MessageReference, [Int], path: String)
    /// Where the files of a message are.
    case locate(MessageReference, [Int])
    /// Something was typed; a draft is kept once that stops.
    case typed(String, text: String)
    /// A draft is kept at once.
    case keepDraft(String, text: String)
    /// Everything is to be redrawn.
    case redraw
    /// The terminal is given back until the person comes back.
    case suspend
    case quit

    /// Where a message is to be sent; nil if it is no such request.
    var conversation: String? {
        guard case .send(let message) = self else { return nil }
        return message.conversation
    }

    /// Whether it holds words that a person would miss.
    var holdsWords: Bool {
        if case .keepDraft(_, let text) = self { return !text.isEmpty }
        return isEntered
    }

    /// Whether it holds words that a person entered, and that nobody else has before it is answered.
    var isEntered: Bool {
        switch self {
        case .send, .edit: true
        default: false
        }
    }
}

/// A message that is to be sent.
struct ChatMessage: Equatable, Sendable {
    var conversation: String
    var text: String
    var replyTo: MessageReference?
    var thread: MessageReference?
    /// A file to send along.
    var path: String?
    /// The key under which it is sent once, however often a node is asked; the desk gives it one.
    var once: String?
}

/// The result of a request.
enum ChatAnswer: Sendable {
    case list([ConversationView])
    case page(String, ChatRequest.Place, ChatPage, unreadID: String?)
    case notes(String, [MessageLines.Note])
    case thread(MessageReference, ThreadPage)
    case sent(ChatMessage, [MessageView])
    case changed(MessageView)
    case found(String, SearchReply)
    /// How many of the marked messages were unread.
    case marked(Int)
    /// A notice for the person.
    case said(String)
    case failed(ChatRequest, NodeError)
}
