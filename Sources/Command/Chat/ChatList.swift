import Foundation
import Parley

/// The conversations, and which of them is chosen.
struct ChatList: Equatable {
    /// Those in use first, then those that were put away.
    private(set) var conversations: [ConversationView] = []
    /// The one that is chosen.
    private(set) var chosenID: String?
    /// The person's name.
    var ownName = ""
    /// Who types, by conversation.
    var typing: [String: [String]] = [:]
    /// Which messages, and which edits of them, were marked as read.
    private var marked: Set<String> = []
    /// Whose beginning was shown.
    private var begun: Set<String> = []
    /// Above it all are forgotten, and some are marked once more.
    private static let markedCountMax = 4_096

    subscript(id: String) -> ConversationView? { conversations.first { $0.id == id } }

    var chosen: Int? { conversations.firstIndex { $0.id == chosenID } }

    mutating func take(_ all: [ConversationView]) {
        conversations = all.filter { !$0.isArchived } + all.filter(\.isArchived)
        if chosen == nil { chosenID = conversations.first?.id }
    }

    /// Those that so many rows show, the chosen one among them.
    func shown(rows count: Int) -> ArraySlice<ConversationView> {
        let start = max(0, min((chosen ?? 0) - count / 2, conversations.count - count))
        return conversations[start...].prefix(max(0, count))
    }

    mutating func choose(_ id: String) { chosenID = id }

    /// Chooses another one, so many further down.
    mutating func move(by count: Int) {
        guard !conversations.isEmpty else { return }
        let place = min(max(0, (chosen ?? 0) + count), conversations.count - 1)
        chosenID = conversations[place].id
    }

    /// The one below another, or above it.
    func neighbour(of id: String?, by count: Int) -> String? {
        guard let place = conversations.firstIndex(where: { $0.id == id }) else {
            return conversations.first?.id
        }
        let other = place + count
        return conversations.indices.contains(other) ? conversations[other].id : nil
    }

    /// Those whose names hold what was typed, in whatever case; those that begin with it first.
    func matches(_ text: String) -> [ConversationView] {
        let wanted = Self.folded(text)
        guard !wanted.isEmpty else { return conversations }
        let names = conversations.map { (view: $0, name: Self.folded($0.name)) }
        let begins = names.filter { $0.name.hasPrefix(wanted) }
        let holds = names.filter { !$0.name.hasPrefix(wanted) && $0.name.contains(wanted) }
        return (begins + holds).map(\.view)
    }

    private static func folded(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            .trimmingCharacters(in: .whitespaces)
    }

    /// Those of others that were shown to their end and were not marked yet; they are from now on. One that
    /// is longer than the screen counts once its beginning was shown as well.
    mutating func mark(
        begun: ArraySlice<MessageView>, ended: ArraySlice<MessageView>
    ) -> [MessageReference] {
        if marked.count > Self.markedCountMax { marked = [] }
        if self.begun.count > Self.markedCountMax { self.begun = [] }
        self.begun.formUnion(begun.map(\.id))
        return ended.filter { message in
            !message.isOwn && message.number > 0 && self.begun.contains(message.id)
                && marked.insert("\(message.id) \(message.editCount)").inserted
        }.map { MessageReference($0.number) }
    }
}

extension ConversationView {
    /// The name, with the start of the identifier where it could be taken for another one's. That of a
    /// person has it already.
    var distinctName: String { resembles.isEmpty ? name : "\(name) (\(id.prefix(8)))" }
}

/// The text being written, in the open conversation and in others.
struct ChatComposer: Equatable {
    /// What becomes of the text.
    enum Purpose: Equatable {
        case message
        case reply(MessageView)
        case edit(MessageView)
    }

    /// What is being written in a conversation that is not open.
    private struct Writing: Equatable {
        var text: String
        var purpose = Purpose.message
        var aside = ""

        /// The message whose edit would be lost with it.
        var edited: MessageView? {
            guard case .edit(let message) = purpose, text != message.text else { return nil }
            return message
        }
    }

    var editor = LineEditor()
    var purpose = Purpose.message
    /// With vi's keys: whether letters are written.
    var isInserting = true
    /// With vi's keys: the first letter of two.
    var pending: Character?
    /// What was being written when an edit began.
    private var aside = ""
    /// What was written in others and not sent.
    private var kept: [String: Writing] = [:]
    /// What the node has stored of the text written here.
    private var draft = ""

    /// Continues what was being written in a conversation, or its draft.
    mutating func enter(_ conversation: String, draft: String) {
        self.draft = draft
        let writing = kept.removeValue(forKey: conversation) ?? Writing(text: draft)
        (editor, purpose, aside) = (LineEditor(writing.text), writing.purpose, writing.aside)
    }

    /// The draft to store for a conversation being left; nil if the node has it. An edit or a reply
    /// waits for the person to come back.
    mutating func leave(_ conversation: String) -> String? {
        if !editor.isEmpty || purpose != .message { kept[conversation] = writing }
        let text = isEditing ? aside : editor.text
        return text == draft ? nil : text
    }

    /// Drops what is being written here; what waits elsewhere stays.
    mutating func abandon() {
        var other = ChatComposer()
        other.kept = kept
        self = other
    }

    private var writing: Writing { Writing(text: editor.text, purpose: purpose, aside: aside) }

    /// Messages whose edits are begun and not saved, here and in other conversations.
    var unsavedEdits: [MessageView] {
        ([writing] + kept.values).compactMap(\.edited).sorted { $0.number < $1.number }
    }

    /// An edit that was refused stands there again, as an edit where the message can still be edited.
    mutating func giveBack(edit text: String, of message: MessageView?) {
        if let message, message.text != nil {
            begin(.edit(message))
            editor.set(text)
        } else if editor.isEmpty {
            editor.set(text)
        }
    }

    /// What the node keeps is something else now: another device wrote, or a message was sent. Where nothing was
    /// written here, that stands there.
    mutating func take(draft: String) {
        if purpose == .message, editor.text == self.draft, draft != self.draft { editor.set(draft) }
        self.draft = draft
    }

    /// What could not be sent stands there again.
    mutating func giveBack(_ text: String, in conversation: String, isOpen: Bool) {
        if isOpen {
            if isEditing {
                if aside.isEmpty { aside = text }
            } else if editor.isEmpty {
                editor.set(text)
            }
        } else if kept[conversation] == nil {
            kept[conversation] = Writing(text: text)
        }
    }

    /// Begins something else with a text of its own. What was being written waits for an edit to end.
    mutating func begin(_ purpose: Purpose) {
        if case .edit = purpose {
            if !isEditing { aside = editor.text }
        } else {
            endEdit()
        }
        self.purpose = purpose
        isInserting = true
        if case .edit(let message) = purpose { editor.set(message.text ?? "") }
    }

    /// Ends a reply or an edit; an edit's text is dropped with it.
    mutating func cancel() -> Bool {
        guard purpose != .message else { return false }
        endEdit()
        purpose = .message
        return true
    }

    /// The text was sent, and with it the draft ends; an edit leaves the draft alone.
    mutating func clear() {
        if isEditing {
            endEdit()
        } else {
            editor.set("")
            draft = ""
        }
        purpose = .message
    }

    private var isEditing: Bool {
        if case .edit = purpose { true } else { false }
    }

    private mutating func endEdit() {
        guard isEditing else { return }
        editor.set(aside)
        aside = ""
    }
}

/// The results of a search.
struct ChatHits: Equatable {
    /// The query.
    private(set) var text = ""
    private(set) var hits: [SearchHit] = []
    private(set) var notes: [String] = []
    /// The one that was gone to last.
    var place: Int?

    mutating func take(_ reply: SearchReply, for text: String) {
        (self.text, hits, notes) = (text, reply.hits, reply.notes)
        place = nil
    }

    mutating func clear() { self = ChatHits() }

    /// The next one, older ones first; nil where there is none.
    mutating func next(_ step: Int) -> SearchHit? {
        let next = (place ?? -1) + step
        guard hits.indices.contains(next) else { return nil }
        place = next
        return hits[next]
    }
}
