import Parley
import ParleyNodeCore
import Testing

@Suite("What a node refused")
struct RefusalWordsTests {
    @Test("is told in words of its own for each code, and none for a code that says it itself")
    func words() throws {
        let all = try Refusal.allCases.map {
            try #require(NodeStatus.meaning(ofRefusal: $0.rawValue), "\($0)")
        }
        #expect(Set(all).count == all.count)
        #expect(all.allSatisfy { !$0.isEmpty && $0.count < 100 && $0.last != "." })
        #expect(NodeStatus.meaning(ofRefusal: "connection-timeout") == nil)
    }
}
