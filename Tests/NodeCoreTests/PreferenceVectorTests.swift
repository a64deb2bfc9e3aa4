import ParleyLedger
import ParleySignalling
import ParleyWire
import Testing

@testable import ParleyConversation
@testable import ParleyNodeCore

/// The vectors of what holds for a person on all of their devices.
@Suite("Preference vectors")
struct PreferenceVectorTests {
    private struct File: Decodable {
        let cases: [Case]
        let hostile: [Hostile]
    }

    private struct Case: Decodable {
        let why: String
        let payload, topic, value: Hex
        let key: UInt16
        let privacy: UInt8?
        let server: String?
        let words: [String]?
        let expulsions: [Hex]?
        let archive: [UInt64]?
        let unsent: String?
        let previews: Bool?
        let again: [String]?
    }

    private struct Hostile: Decodable {
        let why: String
        let payload: Hex
    }

    @Test("are read and written as the vectors say, and what is none is refused")
    func payloads() throws {
        let file = try Vectors.read("identity/preferences", as: File.self)
        for vector in file.cases {
            let said = try #require(Preference(payload: vector.payload.bytes), "\(vector.why)")
            let same = Preference(
                PreferenceKey(rawValue: vector.key), about: vector.topic.bytes,
                vector.value.bytes)
            #expect(said == same, "\(vector.why)")
            #expect(same.draft().payload == vector.payload.bytes, "\(vector.why)")
        }
        for vector in file.hostile {
            #expect(Preference(payload: vector.payload.bytes) == nil, "\(vector.why)")
        }
        #expect(file.cases.count > 20 && file.hostile.count >= 5)
    }

    @Test("mean what the vectors say, and unknown values nothing that tells more")
    func values() throws {
        for vector in try Vectors.read("identity/preferences", as: File.self).cases {
            let said = try #require(Preference(payload: vector.payload.bytes))
            switch said.key {
            case .presence where !said.value.isEmpty:
                #expect(
                    NodeCore.privacy(said.value).rawValue == vector.privacy, "\(vector.why)")
            case .callServer:
                let server = NodeCore.callServer(said)
                #expect(server?.name == vector.server, "\(vector.why)")
                #expect(server.map { $0.bytes == said.value } != false, "\(vector.why)")
                #expect(server?.words ?? [] == vector.words ?? [], "\(vector.why)")
            case .deleted:
                let deletion = Deletion(said.value)
                #expect(
                    deletion?.expulsions.map(\.bytes) == vector.expulsions?.map(\.bytes),
                    "\(vector.why)")
                #expect(deletion.map { $0.bytes == said.value } != false, "\(vector.why)")
            case .unsent:
                #expect(UnsentText.text(said.value) == vector.unsent, "\(vector.why)")
            case .linkPreviews:
                #expect(NodeCore.makesLinkPreviews(said.value) == vector.previews, "\(vector.why)")
            case .archived:
                let archive = Archive(said.value)
                #expect(
                    archive.map { [$0.stand, $0.unreadCount] } == vector.archive, "\(vector.why)")
                #expect(archive.map { $0.bytes == said.value } != false, "\(vector.why)")
            case .sentAgain:
                let word = SentAgain(said)
                #expect(word?.names == vector.again, "\(vector.why)")
                #expect(word.map { $0.preference == said } != false, "\(vector.why)")
            default: break
            }
        }
    }
}

extension SentAgain {
    fileprivate var names: [String] {
        let check = original.check.map { "-\($0)" } ?? ""
        return [
            "\(device)", "\(original.tag)-\(original.sequence)\(check)", "\(space)",
            "\(message.tag)-\(message.sequence)-\(message.check)",
        ]
    }
}

extension TurnServer {
    fileprivate var name: String {
        switch access {
        case .open: "open"
        case .fixed: "fixed"
        case .secret: "secret"
        }
    }

    fileprivate var words: [String] {
        switch access {
        case .open: []
        case .fixed(let name, let password): [name, password]
        case .secret(let secret): [secret]
        }
    }
}
