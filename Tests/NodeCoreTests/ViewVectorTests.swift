import ParleyConversation
import ParleyLedger
import ParleyWire
import Testing

/// The vectors of `Protocol/03-operations.md` for what people see of a space.
@Suite("View vectors")
struct ViewVectorTests {
    struct File: Decodable {
        let spaces: [String: Hex]
        let vectors: [Case]
    }

    struct Case: Decodable {
        struct Line: Decodable {
            let text: String?
            let deleted: Bool
            let earlier: [String]
        }

        let why: String
        let space: String
        let frames: [Hex]
        let name: String?
        let messages: [Line]
        let digest: String
    }

    @Test("what is held of a space gives the same lines and the same view digest")
    func digests() throws {
        let file = try Vectors.read("view/digests", as: File.self)
        for vector in file.vectors {
            let begun = try #require(file.spaces[vector.space])
            guard case .operations(let frame) = try Frame.decode(begun.bytes) else { continue }
            let reader = try SpaceReader(
                [begun] + vector.frames, named: frame.space,
                kind: vector.space == "direct" ? .direct : .group)
            let messages = try reader.messages()
            #expect(messages.map(\.text) == vector.messages.map(\.text), "\(vector.why)")
            #expect(
                messages.map { $0.flags.contains(.deleted) } == vector.messages.map(\.deleted),
                "\(vector.why)")
            #expect(messages.map(\.history) == vector.messages.map(\.earlier), "\(vector.why)")
            #expect(
                try Overview.name(of: reader.space.number, in: reader.store) == vector.name,
                "\(vector.why)")
            #expect(try reader.digest().description == vector.digest, "\(vector.why)")
        }
    }
}
