import Testing

@testable import ParleyLocalAPI

@Suite("Lines of the local socket")
struct LineFramerTests {
    static let stream = Array("one\n\ntwo\nthree".utf8)

    @Test("are the same however the bytes are cut", arguments: 1...14)
    func cuts(size: Int) throws {
        var framer = LineFramer()
        var lines: [String] = []
        for start in stride(from: 0, to: Self.stream.count, by: size) {
            let piece = Array(Self.stream[start..<min(start + size, Self.stream.count)])
            lines += try framer.add(piece).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(lines == ["one", "", "two"])
        #expect(try framer.add([0x0A]) == [Array("three".utf8)])
    }

    @Test("may be as long as the bound and no longer, with an end or without")
    func bound() throws {
        var framer = LineFramer(byteCountMax: 4)
        #expect(try framer.add(Array("1234\n".utf8)).count == 1)
        #expect(try framer.add(Array("12".utf8)).isEmpty)
        #expect(throws: LineFramer.TooLong.self) { try framer.add(Array("345".utf8)) }
        var other = LineFramer(byteCountMax: 4)
        #expect(throws: LineFramer.TooLong.self) { try other.add(Array("12345\n".utf8)) }
    }
}
