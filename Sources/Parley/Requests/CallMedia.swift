/// Tells the node what became of an order, or of the sound and pictures of a call that the asker has.
/// Source: `Protocol/12-media.md`, "News".
public struct TellCallMedia: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "tellCallMedia", RequestScope.write,
        "Reports to the node the result of an order, or the state of the sound and pictures of a "
            + "call that the client handles."
    )
    /// An example of the request.
    public static let example = TellCallMedia(
        seat: "00112233445566778899aabbccddeeff", call: "0123456789abcdef0123456789abcdef",
        news: "connected",
        leg: "abababababababababababababababababababababababababababababababab")

    /// The seat of the asker's stream of events, under which the call was begun or answered.
    public var seat: String
    /// The call, in hex.
    public var call: String
    /// `offer`, `answer`, `candidate`, `wantsOffer`, `connected`, `disconnected`, `failed`, `media`,
    /// `hangup` or `failure`; others are passed over.
    public var news: String
    /// The connection that it is of, by the device at its end, in hex.
    public var leg: String?
    /// For `offer` and `answer`: this side's description.
    public var description: String?
    /// Of `candidate`: a way to this device; an empty one says that no more come.
    public var candidate: String?
    /// Of `candidate`: its `sdpMid`.
    public var part: String?
    /// Of `candidate`: its `sdpMLineIndex`.
    public var index: Int?
    /// For `media`: the sent media: `microphone`, `camera`, `screen`.
    public var media: [String]?
    /// Of `failure`: a sentence for the person.
    public var reason: String?

    /// A request with these parameters.
    public init(
        seat: String, call: String, news: String, leg: String? = nil, description: String? = nil,
        candidate: String? = nil, part: String? = nil, index: Int? = nil, media: [String]? = nil,
        reason: String? = nil
    ) {
        (self.seat, self.call, self.news, self.leg) = (seat, call, news, leg)
        (self.description, self.candidate) = (description, candidate)
        (self.part, self.index) = (part, index)
        (self.media, self.reason) = (media, reason)
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let line = MediaWord.Line(
            news: news, leg: leg, description: description, candidate: candidate, part: part,
            index: index, media: media, reason: reason)
        try node.media.take(line, of: call, from: seat)
        return NoReply()
    }
}
