import Testing

@testable import ParleyNodeCore

@Suite("What callers show before it is known who they are")
struct HelloBookTests {
    /// So many operations that nobody else shows.
    private static func hello(_ number: UInt8, _ count: UInt8 = 36) -> [[UInt8]] {
        (0..<count).map { [number, $0] }
    }

    @Test("Attack 144: strangers share one allowance by what they show; who is known costs nothing")
    func bounded() {
        var book = HelloBook()
        book.learn(Self.hello(255))
        let allowed = (0..<UInt8(200)).count { book.judge(Self.hello($0), at: 1_000) != nil }
        // 36 of 12 units each, of 20,000.
        #expect(allowed == 47)
        #expect(book.judge(Self.hello(254, 1), at: 1_000) == nil)
        #expect(book.judge(Self.hello(255), at: 1_000) == Set(Self.hello(255)))
        // 5,000 units come back in a second.
        let later = (0..<UInt8(200)).count { book.judge(Self.hello($0), at: 2_000) != nil }
        #expect((11...12).contains(later))
    }

    @Test("a device that is new to its person is what is proven and paid for")
    func grown() {
        var book = HelloBook()
        book.learn(Self.hello(1, 35))
        for _ in 0..<1_000 {
            #expect(book.judge(Self.hello(1, 36), at: 1_000) == Set(Self.hello(1, 35)))
        }
        #expect(book.judge(Self.hello(2), at: 1_000) != nil)
    }
}
