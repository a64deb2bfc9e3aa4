import ParleyNodeCore
import Testing

@testable import Parley

@Suite("What a node refused")
struct RefusalWordsTests {
    @Test("is told in words of its own for each code that it can be counted under")
    func words() throws {
        let codes = NodeStatus.refusalCodes
        #expect(Set(codes).count == codes.count)
        let some = ["link-undecipherable", "connection-idle", "pipe-displaced"]
        #expect(Set(codes).isSuperset(of: some + Refusal.allCases.map(\.rawValue)))
        let all = try codes.map { try #require(NodeStatus.meaning(ofRefusal: $0), "\($0)") }
        #expect(Set(all).count == all.count)
        #expect(all.allSatisfy { !$0.isEmpty && $0.count < 120 && $0.last != "." })
        for code in ["link-", "link-tooLarge", "connection-closed", "undecipherable", ""] {
            #expect(NodeStatus.meaning(ofRefusal: code) == nil, "\(code)")
        }
    }

    @Test("is told as what it is where it comes of an ordinary end, as of who was removed")
    func ordinaryEnd() throws {
        let words = try #require(NodeStatus.meaning(ofRefusal: "foreign-operations"))
        #expect(
            words.contains(
                "or where you are not: usual when people join or leave"))
    }
}
