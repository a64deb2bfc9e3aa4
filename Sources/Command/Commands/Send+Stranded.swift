import Parley
import ParleyWire

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
        try await sayWhatIsLost(of: said, with: node)
        try await send(
            Composition.batches(said.compactMap(\.text)), count: said.count,
            named: said.map(\.id).joined(separator: " "),
            originals: again ? nil : said.map(\.id),
            marks: said.map { $0.marks(without: mentions.without) }, with: node)
    }

    /// Names what does not go with the messages that are sent again.
    private func sayWhatIsLost(
        of said: [StrandedWords.Message], with node: any NodeService
    ) async throws {
        let group = try await node.perform(GetGroup(conversation: conversation))
        let members = Set(group.members.map(\.person))
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
            for mention in message.marks(without: mentions.without).mentions ?? []
            where !members.contains(mention.person) {
                World.current.say(
                    "notice: \(start) mentions \(harmless(mention.name)) no more, who is not in "
                        + "“\(harmless(group.name))”")
            }
            if let link = message.link {
                World.current.say(
                    "notice: \(start) goes without its preview of \(harmless(link))")
            }
        }
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
