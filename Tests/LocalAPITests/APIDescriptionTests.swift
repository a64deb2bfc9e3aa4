import Foundation
import Parley
import Testing

@testable import ParleyLocalAPI

@Suite("The description of the local API")
struct APIDescriptionTests {
    /// Read back from its text, as whoever uses it does; once, for that takes a second.
    private static let read = Result {
        let text = try APIDescription().text()
        return try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8))
    }

    static func document() throws -> JSONTree { try read.get() }

    static func method(_ name: String) throws -> JSONTree {
        let methods = try document()["methods"]?.elements ?? []
        return try #require(methods.first { $0["name"]?.text == name }, "no \(name)")
    }

    @Test("has what OpenRPC requires of a document")
    func required() throws {
        let document = try Self.document()
        #expect(document["openrpc"]?.text?.hasPrefix("1.3.") == true)
        #expect(document["info"]?["title"]?.text == "Parley")
        #expect(document["info"]?["version"]?.text?.isEmpty == false)
        for method in document["methods"]?.elements ?? [] {
            let name = try #require(method["name"]?.text)
            #expect(method["summary"]?.text?.hasSuffix(".") == true, "\(name)")
            #expect(method["paramStructure"]?.text == "by-name", "\(name)")
            let parameters = try #require(method["params"]?.elements)
            for parameter in parameters + [try #require(method["result"])] {
                #expect(parameter["name"]?.text?.isEmpty == false, "\(name)")
                #expect(parameter["schema"]?.members.isEmpty == false, "\(name)")
            }
            let names = parameters.compactMap { $0["name"]?.text }
            #expect(Set(names).count == names.count, "\(name)")
            let scope = method["x-scope"]?.text.flatMap { RequestScope(rawValue: $0) }
            #expect(scope != nil, "\(name)")
        }
    }

    @Test("describes every request, and follow, once")
    func complete() throws {
        let methods = try Self.document()["methods"]?.elements ?? []
        let names = methods.compactMap { $0["name"]?.text }
        #expect(names.sorted() == (NodeRequests.all.map { $0.name } + ["follow"]).sorted())
    }

    @Test("refers to nothing that is not there, and names its parts as OpenRPC allows")
    func references() throws {
        let document = try Self.document()
        let checker = SchemaChecker(document: document)
        let found = SchemaChecker.references(in: document)
        #expect(found.count > 50)
        for reference in found { #expect(checker.target(of: reference) != nil, "\(reference)") }
        let names = document["components"]?["schemas"]?.members.keys.sorted() ?? []
        for name in names { #expect(name.wholeMatch(of: /[A-Za-z0-9._-]+/) != nil, "\(name)") }
    }

    @Test("has examples that fit their own schemas")
    func examples() throws {
        let document = try Self.document()
        let checker = SchemaChecker(document: document)
        for method in document["methods"]?.elements ?? [] {
            let name = method["name"]?.text ?? ""
            let example = try #require(method["examples"]?.elements.first, "\(name)")
            let given = example["params"]?.elements ?? []
            let values = Dictionary(
                uniqueKeysWithValues: given.map { ($0["name"]?.text ?? "", $0["value"] ?? .null) })
            for parameter in method["params"]?.elements ?? [] {
                let label = parameter["name"]?.text ?? ""
                guard let value = values[label] else {
                    #expect(parameter["required"] == .truth(false), "\(name) lacks \(label)")
                    continue
                }
                let faults = checker.faults(of: value, by: parameter["schema"] ?? .null)
                #expect(faults.isEmpty, "\(name) \(label)")
            }
            let faults = checker.faults(
                of: example["result"]?["value"] ?? .null, by: method["result"]?["schema"] ?? .null)
            #expect(faults.isEmpty, "\(name)")
        }
    }

    /// A fake node whose answers are held against the schema.
    private struct Answers {
        let node = FakeNode()
        let checker: SchemaChecker

        init() throws { checker = SchemaChecker(document: try APIDescriptionTests.document()) }

        func check<R: NodeRequest>(_ request: R) async throws {
            let reply = try JSONTree(try await node.perform(request))
            let schema = try APIDescriptionTests.method(R.name)["result"]?["schema"] ?? .null
            #expect(checker.faults(of: reply, by: schema).isEmpty, "\(R.name)")
        }
    }

    @Test("what the fake node answers of what people do together fits as well")
    func repliesTogether() async throws {
        let answers = try Answers()
        func check(_ request: some NodeRequest) async throws { try await answers.check(request) }
        try await check(CreateNote(conversation: "home", title: "a", text: "b"))
        try await check(ListNotes())
        try await check(
            ChangeNote(note: 1, edits: [NoteEdit(position: 0, text: "c")], version: ["101"]))
        try await check(WriteNote(note: 1, text: "d"))
        try await check(GetNote(note: 1, after: 101))
        try await check(GetNoteHistory(note: 1, limit: 2))
        try await check(RestoreNote(note: 1, after: 101))
        try await check(FollowNotePositions(note: 1, version: ["101"], positions: [0]))
        try await check(RenameNote(note: 1, title: "e"))
        try await check(DeleteNote(note: 1))
        try await check(ProposeDecision(conversation: "home", title: "a", tags: ["b"]))
        try await check(ApproveDecision(decision: 1, on: true))
        try await check(SettleDecision(decision: 1, state: "accepted"))
        try await check(GetDecision(decision: 1))
        try await check(ListDecisions(limit: 1))
        try await check(DeleteDecision(decision: 1))
        try await check(SendMessages(conversation: "home", texts: ["I'll do it."]))
        try await check(Summarize(conversation: "home"))
        try await check(CatchUp())
        try await check(SuggestItems(conversation: "home"))
        try await check(SuggestDecisions(conversation: "home"))
        try await check(ListOpenQuestions(conversation: "home"))
        try await check(DismissSuggestion(kind: .item, message: 1))
        try await check(AddReminder(text: "a", time: 1_800_000_000_000))
        try await check(ListReminders())
        try await check(ChangeReminder(reminder: "00000001", done: true))
        try await check(DeleteReminder(reminder: "00000001"))
        try await check(
            ScheduleMessage(conversation: "home", text: "later", time: 1_800_000_000_000))
        try await check(ListScheduled())
        try await check(MoveScheduled(scheduled: "00000001", time: 1_800_000_000_000))
        try await check(SendScheduled(scheduled: "00000001"))
        try await check(
            ScheduleMessage(conversation: "home", text: "later", time: 1_800_000_000_000))
        try await check(DeleteScheduled(scheduled: "00000001"))
    }

    @Test("what the fake node answers of all else fits as well")
    func replies() async throws {
        let answers = try Answers()
        func check(_ request: some NodeRequest) async throws { try await answers.check(request) }
        try await check(SendMessages(conversation: "home", texts: ["a"], replyTo: 3))
        try await check(ReactToMessage(message: 1, emoji: "👍", on: true))
        try await check(ForwardMessage(message: 1, conversation: "home"))
        try await check(PinMessage(message: 1, on: true))
        try await check(ListMentions(limit: 1))
        try await check(GetProfile())
        try await check(ChangeProfile(status: "a"))
        try await check(DescribeGroup(conversation: "home", text: "a"))
        try await check(ChangeGroupPicture(conversation: "home", picture: ""))
        try await check(ReadThread(message: 1, limit: 1))
        try await check(ListThreads(limit: 1))
        try await check(ListPins(conversation: "home"))
        try await check(
            AskPoll(conversation: "home", question: "when?", options: ["a", "b"], multiple: true))
        try await check(AnswerPoll(poll: 1, choices: [1]))
        try await check(GetPoll(poll: 1))
        try await check(ListPolls(toAnswer: true))
        try await check(ClosePoll(poll: 1))
        try await check(DeletePoll(poll: 1))
        try await check(CreateItem(conversation: "home", title: "a", source: 1))
        try await check(ChangeItem(item: 1, done: true))
        try await check(GetItem(item: 1))
        try await check(ListItems(mine: false))
        try await check(DeleteItem(item: 1))
        try await check(ArchiveConversation(conversation: "home", on: true))
        try await check(KeepConversationFirst(conversation: "home", on: true))
        try await check(SetMessageLifetime(conversation: "home", seconds: 60))
        try await check(SetGroupRules(conversation: "home", write: .admins))
        try await check(MarkUnread(conversation: "home", on: true))
        try await check(KeepDraft(conversation: "home", text: "a"))
        try await check(GetConversation(conversation: "home"))
        try await check(ListConversations())
        try await check(StarMessage(message: 1, on: true))
        try await check(DeleteForMe(message: 1))
        try await check(ListStars(limit: 1))
        try await check(ReadMessages(conversation: "home", limit: 50))
        try await check(GetStatus())
        try await check(ListPresences())
        try await check(GetDisclosures())
        try await check(GetUsualLifetime())
        try await check(SetUsualLifetime(seconds: 60))
        try await check(SetDisclosures(conversation: "home", receipts: .off))
        try await check(GetGroup(conversation: "home"))
        try await check(ReportMessage(message: 1))
        try await check(ListReports(limit: 1))
        try await check(GetGroupLog(conversation: "home", limit: 1))
        try await check(SearchMessages("a"))
        try await check(CheckStore())
        try await check(SetOffline(on: true))
    }

    @Test("tells enumerations, what may be left out, and numbers that are never negative")
    func details() throws {
        let decide = try Self.method("decide")["params"]?.elements.last
        #expect(
            decide?["schema"]?["enum"]
                == .list(ContactDecision.allCases.map { .text($0.rawValue) }))
        let search = try Self.method("search")["params"]?.elements ?? []
        #expect(
            search.filter { $0["required"] == .truth(true) }.compactMap { $0["name"]?.text } == [
                "text", "limit",
            ])
        let status = try Self.document()["components"]?["schemas"]?["NodeStatus"]
        #expect(status?["properties"]?["recoveryCheckTime"]?["minimum"] == .integer(0))
        #expect(status?["required"]?.elements.contains("recoveryCheckTime") == false)
        #expect(status?["properties"]?["refusals"]?["additionalProperties"] != nil)
    }

    @Test("the checker sees what does not fit")
    func checker() {
        let checker = SchemaChecker(document: ["a": ["type": "integer", "minimum": .integer(0)]])
        let schema: JSONTree = [
            "type": "object", "properties": ["n": ["$ref": "#/a"], "w": ["enum": ["x"]]],
            "required": ["n"],
        ]
        #expect(checker.faults(of: ["n": .integer(1)], by: schema).isEmpty)
        for wrong: JSONTree in [
            [:], ["n": "1"], ["n": .integer(-1)], ["n": .integer(1), "w": "y"], "n",
            ["n": .integer(1), "m": true],
        ] {
            #expect(!checker.faults(of: wrong, by: schema).isEmpty, "\(wrong)")
        }
        #expect(!checker.faults(of: true, by: ["$ref": "#/b"]).isEmpty)
    }
}
