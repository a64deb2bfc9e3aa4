import Parley
import Testing

@Suite("A fake node")
struct FakeNodeTests {
    /// Something that no node can be asked.
    private struct Whistle: NodeRequest {
        static let (name, scope, summary) = ("whistle", RequestScope.read, "Whistles.")
        static let example = Whistle()

        func perform(on node: Node) async throws -> Int { 0 }
    }

    @Test("throws for what it was not told to answer, until it is told")
    func untold() async throws {
        let node = FakeNode()
        let error = await #expect(throws: NodeError.self) { try await node.perform(Whistle()) }
        #expect(error?.code == "not-told")
        node.answer(Whistle.self) { state, _ in
            state.calls.append("whistle")
            return state.calls.count
        }
        #expect(try await node.perform(Whistle()) == 1)
        #expect(node.calls == ["whistle"])
    }

    @Test("answers otherwise once it is told otherwise")
    func retold() async throws {
        let node = FakeNode()
        #expect(try await node.perform(ListContacts()).count == 2)
        node.answer(ListContacts.self) { _, _ in [] }
        #expect(try await node.perform(ListContacts()).isEmpty)
    }
}
