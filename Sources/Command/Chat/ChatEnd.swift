import Parley

/// How a chat ended, and what was entered in it that no node has confirmed.
struct ChatEnd: Sendable {
    /// Something that was entered and not done.
    struct Refusal: Sendable {
        var request: ChatRequest
        var reason: NodeError
    }

    /// Why it ended; nil if the person left.
    var reason: (any Error)?
    /// What may be saved or not, oldest first.
    var unanswered: [ChatRequest] = []
    /// What was refused after the person left.
    var refused: [Refusal] = []
    /// The names of conversations, by their identifiers.
    var names: [String: String] = [:]

    /// Asks for what was not answered at whichever node is there now, or at the home itself, under the
    /// same keys: what is saved is not saved again.
    ///
    /// - Throws: why the chat ended, with all that was entered and is not known to be saved.
    func settle(in home: HomeOptions) async throws {
        var end = self
        if !unanswered.isEmpty {
            World.current.say("notice: asking again for what the node did not answer …")
            do {
                try await World.current.lend(home) { access in
                    let inbox = ChatInbox()
                    let desk = ChatDesk(access.node) { inbox.add(.answer($0)) }
                    await desk.askAgain(unanswered)
                    end.unanswered = await desk.unanswered
                    end.refused += inbox.takeRefusals()
                }
            } catch {
                let why = (error as? NodeError)?.message ?? "\(error)"
                World.current.say("notice: nothing answers: \(harmless(why))")
            }
        }
        let open = (end.unanswered + end.refused.map(\.request)).map(words)
        for words in unanswered.map(words) where !open.contains(words) {
            World.current.say("notice: saved, and said once: \(harmless(words))")
        }
        if let error = end.error { throw error }
    }

    /// Why the chat ended, with what is lost by it; nil if the person left and all is saved.
    var error: (any Error)? {
        guard !unanswered.isEmpty || !refused.isEmpty else { return reason }
        var parts = reason.map { [($0 as? NodeError)?.message ?? "\($0)"] } ?? []
        parts += refused.map { "Not sent: \(words($0.request)): \($0.reason.message)" }
        if !unanswered.isEmpty {
            let all = unanswered.map(words).joined(separator: "; ")
            parts.append("It is not known whether this was saved: \(all)")
        }
        let start = unanswered.lazy.compactMap(\.conversation).first?.prefix(8)
        let look =
            "`parley read \(start ?? "CONVERSATION")` shows whether it is there: look before you "
            + "send it again."
        return NodeError(
            (reason as? NodeError)?.code ?? "not-sent", whole: parts.joined(separator: " "),
            hint: unanswered.isEmpty ? refused.last?.reason.hint : look)
    }

    /// What was entered, and where.
    private func words(_ request: ChatRequest) -> String {
        switch request {
        case .send(let message):
            return (message.path ?? "“\(message.text)”") + " in " + place(message.conversation)
        case .keepDraft(let conversation, let text): return "“\(text)” in " + place(conversation)
        case .edit(let message, let text): return "“\(text)” in place of message \(message.text)"
        default: return ""
        }
    }

    private func place(_ conversation: String) -> String {
        let start = conversation.prefix(8)
        return names[conversation].map { "\($0) (\(start))" } ?? String(start)
    }
}
