import Foundation
import ParleySignalling
import ParleyWire

/// An order to a program for sound and pictures, one JSON object per line.
/// Source: `Protocol/12-media.md`, "Orders".
public struct MediaLine: Codable, Equatable, Sendable {
    /// A server, as WebRTC's `RTCIceServer` has it.
    public struct Server: Codable, Equatable, Sendable {
        /// Its addresses.
        public var urls: [String]
        /// The name that it takes.
        public var username: String?
        /// The password to it.
        public var credential: String?
    }

    /// The only version so far.
    static let version = 1

    /// `begin`, `offer`, `answer`, `take`, `candidate`, `close`, `media` or `end`.
    public var order: String
    /// Of `begin`: 1.
    public var version: Int?
    /// Of `begin`: the call, in hex.
    public var call: String?
    /// Of `begin`: this device, in hex.
    public var device: String?
    /// The sent media: `microphone`, `camera`, `screen`.
    public var media: [String]?
    /// Of `begin`: servers that help where no direct way exists.
    public var servers: [Server]?
    /// The connection that it is of, by the device at its end, in hex.
    public var leg: String?
    /// Of `offer`: whether ICE starts again.
    public var anew: Bool?
    /// Of `answer` and `take`: what the other side described.
    public var description: String?
    /// Of `candidate`: a way to the other side; an empty one says that no more come.
    public var candidate: String?
    /// Of `candidate`: its `sdpMid`.
    public var part: String?
    /// Of `candidate`: its `sdpMLineIndex`.
    public var index: UInt8?

    private init(_ order: String, leg: DeviceID? = nil) {
        self.order = order
        self.leg = leg.map { "\($0)" }
    }

    /// The first order: the call, the media to send, and the servers that may be used.
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

    /// The media to send from now on.
    static func media(_ media: MediaState) -> MediaLine {
        var line = MediaLine("media")
        line.media = media.words
        return line
    }

    /// The call is over.
    static let end = MediaLine("end")

    /// An order about a leg.
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

/// News from a program for sound and pictures.
/// Source: `Protocol/12-media.md`, "News".
enum MediaWord: Equatable, Sendable {
    /// Something of the connection to a device.
    case leg(DeviceID, MediaNews)
    /// The person mutes, or switches something, in the program's own window.
    case media(MediaState)
    /// The person hangs up in the program's own window.
    case hangUp
    /// It cannot continue, for this reason.
    case failed(String)

    private struct Kind: Decodable {
        var news: String
    }

    /// News as they are written, before anything of them is known to be right.
    struct Line: Decodable {
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
        // The content is not repeated: a line may contain what only the two devices may know.
        guard let kind = try? JSONDecoder().decode(Kind.self, from: Data(bytes)) else {
            throw .malformed("a line that is not a JSON object with “news”")
        }
        guard known.contains(kind.news) else { return nil }
        // The same.
        guard let line = try? JSONDecoder().decode(Line.self, from: Data(bytes)) else {
            throw .malformed("“\(kind.news)” with a key of another form")
        }
        return try read(line)
    }

    /// Reads news; nil for those of a kind that is not known here.
    static func read(_ line: Line) throws(MediaFailure) -> MediaWord? {
        guard known.contains(line.news) else { return nil }
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
        else { throw .malformed("“candidate” for a part that cannot exist") }
        return Candidate(text: text, part: part, index: index)
    }
}

extension MediaState {
    private static let named: [(String, MediaState)] = [
        ("microphone", .microphone), ("camera", .camera), ("screen", .screen),
    ]

    /// The sent media, in words.
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
