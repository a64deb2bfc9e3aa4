import Foundation
import Parley
import Testing

/// Ann and ben, who have met and are linked.
private struct Pair {
    let folder: TemporaryFolder
    let ann, ben: Node

    init() async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        (ben, _) = try await Node.create(NodeSettings(home: folder.home("ben")), name: "ben")
        try await ann.start(listen: ["127.0.0.1:0"])
        try await ben.start(listen: ["127.0.0.1:0"])
        try await ben.perform(AcceptInvite(link: ann.perform(CreateInvite(hours: 1)).link))
        for (node, name) in [(ann, "ben"), (ben, "ann")] {
            try await eventually("they have met", on: node) {
                try await $0.perform(ListConversations()).contains { $0.name == name }
            }
        }
    }

    /// Writes to ben and waits until he has all of it.
    func say(_ texts: [String]) async throws -> [MessageView] {
        let sent = try await ann.perform(SendMessages(conversation: "ben", texts: texts))
        try await eventually("ben has it", on: ben) {
            try await $0.perform(ReadMessages(conversation: "ann", limit: 1)).messages.last?.text
                == texts.last
        }
        return sent
    }

    func read(limit: Int) async throws -> [String?] {
        let page = try await ben.perform(ReadUnread(conversation: "ann", limit: limit))
        try await ben.perform(
            MarkRead(
                conversation: "ann", messages: page.messages.map { MessageReference($0.number) },
                last: page.last))
        return page.messages.map(\.text)
    }

    func shown(_ number: Int64) async throws -> MessageView {
        let page = try await ann.perform(ReadMessages(conversation: "ben", limit: 200))
        return try #require(page.messages.first { $0.number == number })
    }

    func end() async {
        await ann.shutdown()
        await ben.shutdown()
    }
}

@Suite("States of messages")
struct StateTests {
    @Test("an edit, a deletion and a reaction that nobody has are shown as waiting")
    func changes() async throws {
        let pair = try await Pair()
        let (ann, ben) = (pair.ann, pair.ben)
        let sent = try await pair.say(["old", "gone"])
        _ = try await pair.read(limit: 10)
        for message in sent {
            try await eventually("ben read it", on: ann) { _ in
                try await pair.shown(message.number).state == "read"
            }
        }
        try await ben.perform(SendMessages(conversation: "ann", texts: ["hers"]))
        try await eventually("ann has it", on: ann) {
            try await $0.perform(ReadMessages(conversation: "ben", limit: 1)).messages.last?.text
                == "hers"
        }
        try await eventually("nothing waits", on: ann) {
            try await $0.perform(ListOutbox()).isEmpty
        }
        try await ann.perform(SetOffline(on: true))
        try await eventually("the link is gone", on: ann) {
            try await $0.perform(GetStatus()).links.isEmpty
        }
        let edited = try await ann.perform(
            EditMessage(message: MessageReference(sent[0].number), text: "new"))
        #expect(edited.state == "saved" && edited.text == "new")
        #expect(edited.waiting == [.init(change: "edit", state: "saved")])
        let deleted = try await ann.perform(
            DeleteMessage(message: MessageReference(sent[1].number)))
        #expect(deleted.state == "saved")
        #expect(deleted.waiting == [.init(change: "deletion", state: "saved")])
        let page = try await ann.perform(ReadMessages(conversation: "ben", limit: 1))
        let hers = try #require(page.messages.last)
        let liked = try await ann.perform(
            ReactToMessage(message: MessageReference(hers.number), emoji: "➕", on: true))
        #expect(liked.state == nil && liked.waiting.map(\.change) == ["reaction"])
        let outbox = try await ann.perform(ListOutbox())
        #expect(outbox.map(\.changeCount) == [3] && outbox.map(\.savedCount) == [0])
        #expect(try await ann.perform(GetStatus()).pendingCount == 3)
        let why = try await ann.perform(ExplainState(subject: "#\(sent[0].number)")).facts
        let ofEdit = why.filter { $0.about.hasPrefix("edit: ben") }
        #expect(ofEdit.map(\.what) == ["not known to have it"])
        try await ann.perform(SetOffline(on: false))
        try await eventually("all is there", on: ann) { try await $0.perform(ListOutbox()).isEmpty }
        #expect(try await pair.shown(sent[0].number).waiting.isEmpty)
        #expect(try await pair.shown(sent[0].number).state == "delivered", "not read as edited")
        #expect(try await pair.shown(sent[1].number).state == "delivered")
        let seen = try await ben.perform(ReadMessages(conversation: "ann", limit: 10))
        try await ben.perform(
            MarkRead(
                conversation: "ann", messages: seen.messages.map { MessageReference($0.number) },
                last: seen.last))
        try await eventually("ben read the edit", on: ann) { _ in
            try await pair.shown(sent[0].number).state == "read"
        }
        await pair.end()
    }

    @Test("reading marks what was shown, and the sender learns no more than that")
    func reading() async throws {
        let pair = try await Pair()
        let texts = (1...8).map { "line \($0)" }
        let sent = try await pair.say(texts)
        #expect(try await pair.read(limit: 1) == ["line 1"])
        #expect(try await pair.read(limit: 2) == ["line 2", "line 3"])
        let newest = try await pair.ben.perform(ReadMessages(conversation: "ann", limit: 1))
        #expect(newest.aboveCount == 7 && newest.belowCount == 0)
        try await pair.ben.perform(
            MarkRead(
                conversation: "ann", messages: newest.messages.map { MessageReference($0.number) },
                last: newest.last))
        #expect(try await pair.ben.perform(ListConversations()).map(\.unread) == [4])
        try await eventually("ann hears of the last", on: pair.ann) { _ in
            try await pair.shown(sent[7].number).state == "read"
        }
        var states: [String?] = []
        for message in sent { states.append(try await pair.shown(message.number).state) }
        #expect(
            states.map { $0 == "read" } == [true, true, true] + [false, false, false, false] + [
                true
            ])
        let page = try await pair.ben.perform(ReadUnread(conversation: "ann", limit: 2))
        #expect(page.messages.map(\.text) == ["line 4", "line 5"])
        #expect(page.aboveCount == 3 && page.belowCount == 3)
        await pair.end()
    }

    @Test("a page begins with any place of a conversation, for who shows all of it at once")
    func places() async throws {
        let pair = try await Pair()
        _ = try await pair.say((0..<8).map { "line \($0)" })
        func page(_ from: Int, _ limit: Int) async throws -> MessagePage {
            try await pair.ben.perform(
                ReadMessages(conversation: "ann", from: from, limit: limit))
        }
        for (from, limit, texts) in [
            (0, 2, 0..<2), (3, 2, 3..<5), (6, 2, 6..<8), (6, 50, 6..<8), (0, 8, 0..<8),
            (0, 50, 0..<8), (8, 3, 5..<8), (2_000_000_000, 3, 5..<8),
        ] {
            let found = try await page(from, limit)
            #expect(found.messages.map(\.text) == texts.map { "line \($0)" }, "\(from) \(limit)")
            #expect(found.aboveCount == texts.lowerBound)
            #expect(found.belowCount == 8 - texts.upperBound)
        }
        for from in [-1, Int.max] {
            await #expect(throws: NodeError.self) { try await page(from, 2) }
        }
        await pair.end()
    }

    @Test("an edit that came after the page was shown is not read with it")
    func editMeanwhile() async throws {
        let pair = try await Pair()
        let sent = try await pair.say(["old"])
        let page = try await pair.ben.perform(ReadUnread(conversation: "ann", limit: 10))
        try await pair.ann.perform(
            EditMessage(message: MessageReference(sent[0].number), text: "new"))
        try await eventually("the edit is there", on: pair.ben) {
            try await $0.perform(ReadMessages(conversation: "ann", limit: 1)).messages[0].text
                == "new"
        }
        try await pair.ben.perform(
            MarkRead(
                conversation: "ann", messages: page.messages.map { MessageReference($0.number) },
                last: page.last))
        try await eventually("ben answers", on: pair.ann) { _ in
            let why = try await pair.ann.perform(ExplainState(subject: "#\(sent[0].number)")).facts
            return why.contains { $0.about.hasPrefix("ben") && $0.what == "read" }
        }
        #expect(try await pair.shown(sent[0].number).state == "delivered")
        await pair.end()
    }

    @Test("no number of edits or reactions makes a message unreadable by the local API")
    func longHistory() async throws {
        let folder = try TemporaryFolder()
        let (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        let group = try await ann.perform(CreateConversation(name: "notes", members: []))
        let text = "." + String(repeating: "\u{1}", count: 32 << 10 - 1)
        let sent = try await ann.perform(
            SendMessages(conversation: group.id, texts: [String](repeating: text, count: 45)))
        for place in 0..<42 {
            try await ann.perform(
                EditMessage(
                    message: MessageReference(sent[0].number), text: "\(place)" + text.dropLast(2)))
        }
        for place in 0..<70 {
            let emoji = try #require(Unicode.Scalar(UInt32(0x1F400 + place)))
            try await ann.perform(
                ReactToMessage(
                    message: MessageReference(sent[0].number), emoji: String(emoji), on: true))
        }
        var (before, count): (String?, Int) = (nil, 0)
        repeat {
            let page = try await ann.perform(
                ReadMessages(conversation: group.id, before: before, limit: 200))
            #expect(try JSONEncoder().encode(page).count < 4 << 20)
            #expect(!page.messages.isEmpty)
            count += page.messages.count
            before = page.cursor
        } while before != nil
        #expect(count == 45)
        let context = try await ann.perform(
            GetContext(message: MessageReference(sent[0].number), limit: 50))
        #expect(try JSONEncoder().encode(context).count < 8 << 20)
        var (from, versions): (Int?, Int) = (0, 0)
        while let next = from {
            let page = try await ann.perform(
                GetMessageHistory(message: MessageReference(sent[0].number), from: next))
            #expect(try JSONEncoder().encode(page).count < 8 << 20 && page.count == 43)
            versions += page.versions.count
            from = page.next
        }
        #expect(versions == 43)
        await ann.shutdown()
    }

    @Test("a part of something longer is written once, however often it is said")
    func halfWay() async throws {
        let folder = try TemporaryFolder()
        let settings = NodeSettings(home: folder.home("ann"))
        let (ann, _) = try await Node.create(settings, name: "ann")
        try await ann.perform(CreateConversation(name: "notes", members: []))
        let key = String(repeating: "ab", count: 32)
        func part(_ node: Node, _ lines: ClosedRange<Int>) async throws -> [Int] {
            let said = try await node.perform(
                SendLines(
                    conversation: "notes", texts: lines.map { "line \($0)" }, key: key,
                    firstLine: lines.lowerBound))
            return [said.stored, said.known]
        }
        #expect(try await part(ann, 1...5) == [5, 0])
        #expect(try await part(ann, 1...5) == [0, 5])
        await ann.shutdown()
        let again = try await Node.open(settings)
        #expect(
            try await again.perform(CountImportedLines(conversation: "notes", fileHash: key)) == 5)
        #expect(try await part(again, 4...8) == [3, 2])
        let page = try await again.perform(ReadMessages(conversation: "notes", limit: 50))
        #expect(page.messages.map(\.text) == (1...8).map { "line \($0)" })
        #expect(page.messages.allSatisfy { !$0.isImported })
        await again.shutdown()
    }
}
