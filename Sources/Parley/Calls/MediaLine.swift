import Foundation
import ParleySignalling
import ParleyWire

/// What a program for sound and pictures is told, one JSON object a line.
/// Source: `Protocol/12-media.md`, "Orders".
struct MediaLine: Encodable, Equatable {
    /// A server, as WebRTC's `RTCIceServer` has it.
    struct Server: Encodable, Equatable {
        var urls: [String]
        var username: String?
        var credential: String?
    }

    /// The only version so far.
    static let version = 1

    var order: String
    var version: Int?
    var call: String?
    var device: String?
    var media: [String]?
    var servers: [Server]?
    var leg: String?
    var anew: Bool?
    var description: String?
    var candidate: String?
    var part: String?
    var index: UInt8?

    private init(_ order: String, leg: DeviceID? = nil) {
        self.order = order
        self.leg = leg.map { "\($0)" }
    }

    /// The first order: which call, what is sent, and which servers may be asked.
    static func begin(
        _ call: CallID, on device: DeviceID, _ media: MediaState, servers: [Server]
    ) -> MediaLine {
        var line = MediaLine("begin")
        line.version = version
        line.call = "\(call)"
        line.device = "\(device)"
        line.media = media.words
        line.servers = servers
        return line
    }

    /// What is sent from now on.
    static func media(_ media: MediaState) -> MediaLine {
        var line = MediaLine("media")
        line.media = media.words
        return line
    }

    /// The call is over.
    static let end = MediaLine("end")

    /// What a leg wants.
    init(_ order: MediaOrder, of leg: DeviceID) {
        switch order {
        case .makeOffer(let startsAnew):
            self.init("offer", leg: leg)
            anew = startsAnew
        case .answer(let description):
            self.init("answer", leg: leg)
            self.description = description
        case .take(let description):
            self.init("take", leg: leg)
            self.description = description
        case .add(let candidate):
            self.init("candidate", leg: leg)
            self.candidate = candidate.text
            part = candidate.part
            index = candidate.index
        case .close:
            self.init("close", leg: leg)
        }
    }

    /// The line, with its end.
    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, numbers and lists of texts: there is nothing that it could refuse.
        guard let data = try? encoder.encode(self) else { return [] }
        return Array(data) + [0x0A]
    }
}

/// What a program for sound and pictures tells. Source: `Protocol/12-media.md`, "News".
enum MediaWord: Equatable, Sendable {
    /// Something of the connection to a device.
    case leg(DeviceID, MediaNews)
    /// The person mutes, or switches something, in the program's own window.
    case media(MediaState)
    /// The person hangs up in the program's own window.
    case hangUp
    /// It cannot go on, for this reason.
    case failed(String)

    private struct Kind: Decodable {
        var news: String
    }

    private struct Line: Decodable {
        var news: String
        var leg: String?
        var description: String?
        var candidate: String?
        var part: String?
        var index: Int?
        var media: [String]?
        var reason: String?
    }

    private static let known: Set<String> = [
        "offer", "answer", "candidate", "wantsOffer", "connected", "disconnected", "failed",
        "media", "hangup", "failure",
    ]

    /// Reads a line; nil for news of a kind that is not known here. Keys that are not known are
    /// passed over.
    static func read(_ bytes: [UInt8]) throws(MediaFailure) -> MediaWord? {
        // What it says is not repeated: a line may hold what only the two devices shall know.
        guard let kind = try? JSONDecoder().decode(Kind.self, from: Data(bytes)) else {
            throw .malformed("a line that is no JSON object with “news”")
        }
        guard known.contains(kind.news) else { return nil }
        // The same.
        guard let line = try? JSONDecoder().decode(Line.self, from: Data(bytes)) else {
            throw .malformed("“\(kind.news)” with a key of another form")
        }
        switch line.news {
        case "media":
            guard let media = line.media.flatMap(MediaState.init(words:)) else {
                throw .malformed("“media” without a list of what is sent")
            }
            return .media(media)
        case "hangup": return .hangUp
        case "failure": return .failed(String((line.reason ?? "").prefix(300)))
        default: break
        }
        guard let news = try legNews(line) else { return nil }
        guard let leg = line.leg.flatMap({ ParleyWire.bytes(hex: $0) }).flatMap({ DeviceID($0) })
        else { throw .malformed("“\(line.news)” without a leg") }
        return .leg(leg, news)
    }

    private static func legNews(_ line: Line) throws(MediaFailure) -> MediaNews? {
        switch line.news {
        case "offer": .offer(try description(line))
        case "answer": .answer(try description(line))
        case "candidate": .candidate(try candidate(line))
        case "wantsOffer": .wantsOffer
        case "connected": .connected
        case "disconnected": .disconnected
        case "failed": .failed
        default: nil
        }
    }

    private static func description(_ line: Line) throws(MediaFailure) -> String {
        guard let description = line.description, !description.isEmpty,
            description.utf8.count <= Limits.descriptionByteCountMax
        else {
            throw .malformed(
                "“\(line.news)” without a description of at most "
                    + "\(Limits.descriptionByteCountMax) bytes")
        }
        return description
    }

    private static func candidate(_ line: Line) throws(MediaFailure) -> Candidate {
        guard let text = line.candidate, text.utf8.count <= Limits.candidateByteCountMax else {
            throw .malformed(
                "“candidate” without a text of at most \(Limits.candidateByteCountMax) bytes")
        }
        let part = line.part ?? ""
        guard part.utf8.count <= Limits.nameByteCountMax,
            let index = UInt8(exactly: line.index ?? 0)
        else { throw .malformed("“candidate” of a part that cannot be") }
        return Candidate(text: text, part: part, index: index)
    }
}

extension MediaState {
    private static let named: [(String, MediaState)] = [
        ("microphone", .microphone), ("camera", .camera), ("screen", .screen),
    ]

    /// What is sent, in words.
    var words: [String] { Self.named.filter { contains($0.1) }.map(\.0) }

    /// What these words say; nil where one of them is not known.
    init?(words: [String]) {
        self = []
        for word in words {
            guard let bit = Self.named.first(where: { $0.0 == word })?.1 else { return nil }
            insert(bit)
        }
    }
}
