import Foundation
import Testing

@testable import parley

@Suite("Names of files that are no UTF-8")
struct RawArgumentTests {
    private static func bytes(_ text: String?) -> [UInt8]? {
        text.flatMap { Data(base64Encoded: $0) }.map(Array.init)
    }

    private static let folder = Array("/here".utf8)
    private static let (left, right): ([UInt8], [UInt8]) = ([97, 0xFF], [97, 0xFE])

    private static func arguments(
        _ words: [[UInt8]], in folder: [UInt8] = folder
    ) -> RawArguments {
        RawArguments(words, in: folder)
    }

    @Test func `each is found by its place among those that look the same`() {
        let option = Array("--file".utf8)
        let words = [Array("send".utf8), Self.left, option, Self.right, option, Self.left]
        let paths = Self.arguments(words).paths(of: ["a\u{FFFD}", "a\u{FFFD}"], behind: "--file")
        #expect(
            paths.map(Self.bytes) == [
                Array("/here/a".utf8) + [0xFE], Array("/here/a".utf8) + [0xFF],
            ])
    }

    @Test func `one is found behind a sign of equality, from the root on as it is`() {
        let words = [Array("--file=/x/".utf8) + Self.left, Array("--voice".utf8), Self.right]
        let arguments = Self.arguments(words)
        let path = arguments.paths(of: ["/x/a\u{FFFD}"], behind: "--file")[0]
        #expect(Self.bytes(path) == Array("/x/".utf8) + Self.left)
        let voice = arguments.paths(of: ["a\u{FFFD}"], behind: "--voice")[0]
        #expect(Self.bytes(voice) == Array("/here/".utf8) + Self.right)
    }

    @Test func `one that is UTF-8 needs no bytes, unless the folder is none`() {
        let words = [Array("--file".utf8), Array("ü.txt".utf8)]
        #expect(Self.arguments(words).paths(of: ["ü.txt"], behind: "--file") == [nil])
        #expect(Self.arguments([]).paths(of: ["a"], behind: "--file") == [nil])
        let odd = Self.arguments(words, in: [0x2F, 0xFF]).paths(of: ["ü.txt"], behind: "--file")
        #expect(odd.map(Self.bytes) == [[0x2F, 0xFF, 0x2F] + Array("ü.txt".utf8)])
        let whole = Self.arguments(words, in: [0x2F, 0xFF]).paths(of: ["/a"], behind: "--file")
        #expect(whole == [nil])
    }
}
