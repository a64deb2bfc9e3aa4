import Foundation
import Parley
import Testing

@Suite("Requests")
struct RequestTests {
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test("each has a name of its own")
    func names() {
        let names = NodeRequests.all.map { $0.name }
        #expect(Set(names).count == names.count)
        #expect(!names.contains("follow"), "the connection itself answers that")
    }

    @Test("the list is sorted, so that two who add to it seldom meet")
    func order() {
        let types = NodeRequests.all.map { String(describing: $0) }
        #expect(types == types.sorted())
    }

    @Test("the example of each decodes to itself")
    func examples() throws {
        func check<R: NodeRequest>(_ type: R.Type) throws {
            let text = try Self.json(type.example)
            let again = try JSONDecoder().decode(type, from: Data(text.utf8))
            #expect(try Self.json(again) == text, "\(type)")
            #expect(type.example.remoteFault == nil, "\(type) may not be asked over the local API")
        }
        for type in NodeRequests.all { try check(type) }
    }

    @Test("each says in one sentence what it is for")
    func summaries() {
        for type in NodeRequests.all {
            #expect(type.summary.hasSuffix("."), "\(type)")
            #expect(type.summary.utf8.count <= 160, "\(type)")
            #expect(!type.summary.contains("`"), "\(type)")
        }
    }

    @Test("a draft that is too long is refused as one that is kept, not sent")
    func longDraft() async throws {
        let folder = try TemporaryFolder()
        let (ann, _) = try await Node.create(NodeSettings(home: folder.home("ann")), name: "ann")
        try await ann.perform(CreateConversation(name: "notes", members: []))
        let long = String(repeating: "x", count: KeepDraft.byteCountMax + 1)
        let error = await #expect(throws: NodeError.self) {
            try await ann.perform(KeepDraft(conversation: "notes", text: long))
        }
        #expect(error?.message == "That is 2049 bytes long; a draft can have at most 2048.")
        #expect(error?.hint?.contains("sent") == false)
        await ann.shutdown()
    }
}
