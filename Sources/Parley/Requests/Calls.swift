import ParleyLedger
import ParleyNodeCore
import ParleySignalling

/// Calls everybody in a conversation.
public struct StartCall: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "call", RequestScope.write,
        "Calls everybody in a conversation."
    )
    /// An example of the request.
    public static let example = StartCall(conversation: "trip", media: ["microphone"])

    /// The conversation: its name, its identifier or a start of that.
    public var conversation: String
    /// The media that this device sends: `microphone`, `camera`, `screen`.
    public var media: [String]
    /// The seat of the asker's stream of events, where it takes sound and pictures itself; nil for the
    /// program of this device.
    public var seat: String?

    /// A request with these parameters.
    public init(conversation: String, media: [String], seat: String? = nil) {
        self.conversation = conversation
        self.media = media
        self.seat = seat
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> CallView {
        let state = try MediaState(named: media)
        let space = try await node.space(conversation)
        try node.requireReach()
        try await node.requireMedia(seat)
        let reply = try await node.media.seating(seat, in: space) {
            try await node.running.perform(.call(space, state))
        }
        guard case .call(let id) = reply else { throw NodeError(.unknownConversation) }
        return try await node.view(of: id)
    }
}

/// Calls that ring, are in progress, or continue without this device.
public struct ListCalls: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "calls", RequestScope.read,
        "Calls that ring, or are in progress with or without this device."
    )
    /// An example of the request.
    public static let example = ListCalls()

    /// The request, which has no parameters.
    public init() {}

    /// Answers the request.
    public func perform(on node: Node) async throws -> [CallView] {
        let media = node.media
        return try await node.read { views in
            try views.core.calls.all.map {
                try views.view(of: $0, failure: media.failure(of: $0.id))
            }
        }
    }
}

/// What became of calls, the oldest first: in one conversation, or in all.
public struct ListCallRecords: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "callRecords", RequestScope.read,
        "Past calls and how they ended, the oldest first: in one conversation, or in all."
    )
    /// An example of the request.
    public static let example = ListCallRecords(conversation: "trip")

    /// The conversation; nil for all.
    public var conversation: String?

    /// A request with these parameters.
    public init(conversation: String? = nil) {
        self.conversation = conversation
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> [CallRecordView] {
        try await node.read { views in
            try views.callRecords(in: conversation.map { try views.conversation($0) })
        }
    }
}

/// Answers a call that rings here, or joins one in progress.
public struct AnswerCall: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "answer", RequestScope.write,
        "Answers a call that rings here, or joins one that is in progress."
    )
    /// An example of the request.
    public static let example = AnswerCall(media: ["microphone"])

    /// Its conversation or the start of its identifier; nil for the only one.
    public var call: String?
    /// The media that this device sends: `microphone`, `camera`, `screen`.
    public var media: [String]
    /// The seat of the asker's stream of events, where it takes sound and pictures itself; nil for the
    /// program of this device.
    public var seat: String?

    /// A request with these parameters.
    public init(call: String? = nil, media: [String], seat: String? = nil) {
        self.call = call
        self.media = media
        self.seat = seat
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> CallView {
        let state = try MediaState(named: media)
        let call = call ?? ""
        let (id, space) = try await node.read { views in
            let rings = views.core.calls.all.contains { $0.phase == .ringing }
            let found = try views.call(call, "rings or is in progress here") { found in
                // A ringing call is meant before one in progress elsewhere.
                found.phase == .ringing || (found.phase == .aside && !(rings && call.isEmpty))
            }
            return (found.id, found.space)
        }
        try node.requireReach()
        try await node.requireMedia(seat)
        _ = try await node.media.seating(seat, in: space) {
            try await node.running.perform(.act(id, .answer(state)))
        }
        return try await node.view(of: id)
    }
}

/// Does not answer a call that rings here.
public struct RejectCall: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "reject", RequestScope.write,
        "Rejects a call that rings here."
    )
    /// An example of the request.
    public static let example = RejectCall(call: "trip")

    /// Its conversation or the start of its identifier; nil for the only one.
    public var call: String?

    /// A request with these parameters.
    public init(call: String? = nil) {
        self.call = call
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        let call = call ?? ""
        let id = try await node.read { views in
            try views.call(call, "rings here") { $0.phase == .ringing }.id
        }
        _ = try await node.running.perform(.act(id, .decline))
        return NoReply()
    }
}

/// Goes out of the call that this device is in, or gives one up.
public struct HangUpCall: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "hangUp", RequestScope.write,
        "Leaves the call that this device is in, or stops calling."
    )
    /// An example of the request.
    public static let example = HangUpCall()

    /// Its conversation or the start of its identifier; nil for the only one.
    public var call: String?

    /// A request with these parameters.
    public init(call: String? = nil) {
        self.call = call
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> NoReply {
        _ = try await node.running.perform(.act(try await node.current(call ?? ""), .hangUp))
        return NoReply()
    }
}

/// Sends something else in the call that this device is in: without `microphone` it is muted.
public struct SetCallMedia: NodeRequest {
    /// The method name, the scope that a token needs, and the summary.
    public static let (name, scope, summary) = (
        "setMedia", RequestScope.write,
        "Changes what this device sends in its call: without microphone it is muted."
    )
    /// An example of the request.
    public static let example = SetCallMedia(media: ["microphone", "camera"])

    /// Its conversation or the start of its identifier; nil for the only one.
    public var call: String?
    /// The media that this device sends: `microphone`, `camera`, `screen`.
    public var media: [String]

    /// A request with these parameters.
    public init(call: String? = nil, media: [String]) {
        self.call = call
        self.media = media
    }

    /// Answers the request.
    public func perform(on node: Node) async throws -> CallView {
        let (state, id) = (try MediaState(named: media), try await node.current(call ?? ""))
        _ = try await node.running.perform(.act(id, .setMedia(state)))
        return try await node.view(of: id)
    }
}

extension Node {
    /// Tells the others of a call that this node leaves, and ends its program; and tells everybody
    /// that nobody is there.
    func hangUp() async {
        // A node that cannot be read has no call to end.
        if let id = try? await read({ $0.core.calls.current?.id }) {
            // It ends with the process in any case.
            _ = try? await running.perform(.act(id, .hangUp))
        }
        // Where no link ends, others would believe otherwise for ten minutes more.
        _ = try? await running.perform(.setPresence(.offline))
        await media.shutdown()
    }

    fileprivate func current(_ call: String) async throws -> CallID {
        try await read { views in
            try views.call(call, "is in progress on this device") { found in
                switch found.phase {
                case .calling, .joining, .talking: true
                case .ringing, .aside, .ended: false
                }
            }.id
        }
    }

    fileprivate func view(of id: CallID) async throws -> CallView {
        let failure = media.failure(of: id)
        return try await read { views in
            guard let call = views.core.calls[id] else {
                throw NodeError(
                    "call-over", failure.map { "The call is over: \($0)." } ?? "The call is over.")
            }
            return try views.view(of: call, failure: failure)
        }
    }

    /// A call is now or never: nothing of it may wait until the node is back.
    fileprivate func requireReach() throws {
        guard network.isOffline else { return }
        throw NodeError(
            "offline", "This node is offline, so nobody can be reached.",
            hint: "`parley offline off` brings it back.")
    }

    fileprivate func requireMedia(_ seat: String?) async throws {
        if let seat { return try media.requireSeat(seat) }
        guard try await read({ try CallSettings.read(in: $0.store).program.isEmpty }) else {
            return
        }
        throw NodeError(
            "no-media-program", "This device has no program for sound and pictures.",
            hint:
                "`parley calls media PROGRAM` sets one; the page in a browser (`parley open`) "
                + "needs none."
        )
    }
}

extension MediaState {
    /// The meaning of a person's words.
    fileprivate init(named words: [String]) throws {
        guard let media = MediaState(words: words) else {
            throw NodeError(
                "bad-media", "“\(words.joined(separator: " "))” cannot be sent.",
                hint: "Give microphone, camera or screen.")
        }
        self = media
    }
}
