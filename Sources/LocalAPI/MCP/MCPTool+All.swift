internal import Parley

extension MCPTool {
    /// Every tool, those that read first.
    static let all =
        [search, ask, read, conversations, people, summarize, catchUp]
        + [actionItems, suggestActionItems, decisions, suggestDecisions, openQuestions]
        + [draft, send]

    private static let nameByteCountMax = 512

    private static let conversation = MCPParameter(
        "conversation", "The conversation: its name, or its id.", .text(nameByteCountMax))
    private static let oneConversation = MCPParameter(
        "conversation", "Only this conversation: its name, or its id. Leave it out for all.",
        .text(nameByteCountMax))
    private static let zone = MCPParameter(
        "zone", "The time zone in which “tomorrow” is understood, as Europe/Madrid.", .text(64))

    private static func moment(_ name: String, _ words: String) -> MCPParameter {
        MCPParameter(
            name,
            "Only what was written \(words): a day as 2026-12-01, which begins in "
                + "universal time, or a moment as 2026-12-01T09:30:00Z.", .moment)
    }

    private static func count(
        _ name: String, _ words: String, _ range: ClosedRange<Int64>, _ value: Int64
    ) -> MCPParameter {
        MCPParameter(name, words, .number(range), default: .integer(value))
    }

    // MARK: Reading

    private static let search = MCPTool(
        SearchMessages.self, "search", title: "Search messages",
        about: "Finds messages by their words and, if a model is installed, by their meaning. "
            + "The text may have conditions: key from:ben in:hut after:2026-01-31 -snow.",
        [
            MCPParameter("text", "What to find.", .text(1024)),
            count("limit", "How many messages of a page.", 1...50, 20),
            MCPParameter("order", "newest, or relevance, of messages that have all words."),
        ], .first(max: 200), list: "messages", of: MCPQuote.self
    ) { reply in
        MCPAnswer(
            entries: reply.hits.map {
                MCPQuote($0.message, title: $0.conversation, reason: $0.reason)
            }, beside: MCPBeside(notes: reply.notes))
    }

    private static let ask = MCPTool(
        AskQuestion.self, "ask", title: "Ask a question",
        about: "Returns the passages of messages that answer a question best, each with its "
            + "source. Nothing is made up: where nobody wrote anything that answers, there are none.",
        [
            MCPParameter("question", "The question, in words.", .text(1024)),
            MCPParameter("person", "Only what this person wrote.", .text(nameByteCountMax)),
            oneConversation, moment("since", "from this moment on"),
            moment("until", "before this moment"),
            count("limit", "How many passages.", 1...20, 5),
        ], .first(max: 20), list: "passages", of: MCPQuote.self
    ) { reply in
        let none = reply.passages.isEmpty ? ["Nobody wrote anything that answers this."] : []
        return MCPAnswer(
            entries: reply.passages.map { MCPQuote($0) },
            beside: MCPBeside(notes: none + reply.notes))
    }

    static let read = MCPTool(
        ReadMessages.self, "read", title: "Read a conversation",
        about: "Returns messages of a conversation, oldest first: the newest page, or with a "
            + "cursor the page above an earlier one. Nothing is marked as read.",
        [conversation, count("limit", "How many messages of a page.", 1...100, 30)],
        .above("before"), list: "messages", of: MCPQuote.self
    ) { reply in
        MCPAnswer(entries: reply.messages.map { MCPQuote($0) }, cursor: reply.cursor)
    }

    static let conversations = MCPTool(
        ListConversations.self, "conversations", title: "List conversations",
        about:
            "Returns the conversations of the person, with their members and how much is unread.",
        [], .whole(count: 50), list: "conversations", of: MCPConversation.self
    ) { reply in MCPAnswer(entries: reply.map { MCPConversation($0) }) }

    private static let people = MCPTool(
        ListContacts.self, "people", title: "List people",
        about: "Returns the people whom the person knows.",
        [], .whole(count: 100), list: "people", of: MCPPerson.self
    ) { reply in MCPAnswer(entries: reply.map { MCPPerson($0) }) }

    private static let summarize = MCPTool(
        Summarize.self, "summarize", title: "Sum up a conversation",
        about: "Returns a few sentences of a conversation or a thread that sum it up, as they were "
            + "written.",
        [
            conversation,
            MCPParameter("thread", "Only the thread of this message: its number, or its id."),
            moment("since", "from this moment on"), moment("until", "before this moment"),
            count("count", "How many sentences.", 1...50, 8),
        ], .whole(count: 50), list: "points", of: MCPQuote.self
    ) { reply in
        MCPAnswer(
            entries: reply.points.map { MCPQuote($0) },
            beside: MCPBeside(title: reply.title, looked: reply.looked))
    }

    private static let catchUp = MCPTool(
        CatchUp.self, "catch_up", title: "Catch up",
        about: "Returns what the person has not read, the most urgent conversation first: what "
            + "waits for them, what may have been decided, and a few sentences. Nothing is marked as "
            + "read.",
        [oneConversation, count("count", "How many sentences of each.", 1...10, 3), zone],
        .whole(count: 20), list: "conversations", of: MCPMissed.self
    ) { reply in
        MCPAnswer(
            entries: reply.parts.map { MCPMissed($0) },
            beside: MCPBeside(leftCount: reply.leftCount))
    }

    private static let actionItems = MCPTool(
        ListItems.self, "action_items", title: "List action items",
        about: "Returns the action items that people made, the earliest due first.",
        [oneConversation, MCPParameter("mine", "Whether to return only those of the person.")],
        .whole(count: 50), list: "items", of: MCPItem.self
    ) { reply in MCPAnswer(entries: reply.filter { !$0.isHidden }.map { MCPItem($0) }) }

    private static let suggestActionItems = MCPTool(
        SuggestItems.self, "suggest_action_items", title: "Find possible action items",
        about: "Returns sentences in which somebody may have something to do, and that no action "
            + "item was made of. These are guesses by rules.",
        [conversation, zone], .whole(count: 50), list: "suggestions", of: MCPSuggestion.self
    ) { reply in
        MCPAnswer(
            entries: reply.suggestions.map {
                MCPSuggestion(quote: MCPQuote($0.line), assignee: $0.assigneeName, due: $0.due)
            }, beside: MCPBeside(looked: reply.looked))
    }

    private static let decisions = MCPTool(
        ListDecisions.self, "decisions", title: "List decisions",
        about: "Returns the decisions that people proposed and settled, the last one first.",
        [
            oneConversation,
            MCPParameter(
                "state", "Only those that are proposed, accepted, rejected or superseded.",
                .text(32)),
            count("limit", "How many of a page.", 1...10, 10),
        ], .next("from"), list: "decisions", of: MCPDecision.self
    ) { reply in
        MCPAnswer(
            entries: reply.decisions.filter { !$0.isHidden }.map { MCPDecision($0) },
            cursor: reply.next)
    }

    private static let suggestDecisions = MCPTool(
        SuggestDecisions.self, "suggest_decisions", title: "Find possible decisions",
        about: "Returns sentences in which something may have been decided, and that no decision "
            + "was made of. These are guesses by rules.",
        [conversation], .whole(count: 50), list: "suggestions", of: MCPSuggestion.self
    ) { reply in
        MCPAnswer(
            entries: reply.suggestions.map {
                MCPSuggestion(quote: MCPQuote($0.line), agreement: $0.agreement)
            }, beside: MCPBeside(looked: reply.looked))
    }

    private static let openQuestions = MCPTool(
        ListOpenQuestions.self, "open_questions", title: "Find open questions",
        about: "Returns questions of a conversation that nobody seems to have answered.",
        [conversation], .whole(count: 50), list: "questions", of: MCPSuggestion.self
    ) { reply in
        MCPAnswer(
            entries: reply.questions.map {
                MCPSuggestion(quote: MCPQuote($0.line), isToMe: $0.isToMe)
            }, beside: MCPBeside(looked: reply.looked))
    }

    // MARK: Writing

    private static let draft = MCPTool(
        KeepDraft.self, "draft", title: "Keep a draft",
        about: "Keeps a text as the draft of a conversation, in place of the one that is there. "
            + "Nobody else sees it; the person sends it or not.",
        scope: .draft,
        [conversation, MCPParameter("text", "The text.", .text(KeepDraft.byteCountMax))],
        .whole(count: 1), list: "drafts", of: MCPDraft.self
    ) { _ in MCPAnswer(entries: [MCPDraft(isKept: true)]) }

    private static let send = MCPTool(
        SendMessages.self, "send", title: "Send messages",
        about: "Sends messages in the name of the person, who must want each of them: what is sent "
            + "is on others' devices and cannot be taken back.",
        scope: .send,
        [
            conversation,
            MCPParameter(
                "texts", "The messages, in their order.", .texts(1...5, byteCount: 16 << 10)),
            MCPParameter("replyTo", "The message that they answer: its number, or its id."),
            MCPParameter(
                "once",
                "A name for this call, at most 200 bytes: repeated with it, nothing is sent again.",
                .text(200)),
        ], .whole(count: 5), list: "messages", of: MCPQuote.self
    ) { reply in MCPAnswer(entries: reply.map { MCPQuote($0) }) }
}
