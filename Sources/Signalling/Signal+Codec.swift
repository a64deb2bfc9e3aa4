public import ParleyWire

/// Kinds as they are sent. Source: `Protocol/11-calls.md`, "Signals".
private enum Kind: UInt8 {
    case typing = 0
    case presence = 1
    case ring = 16
    case ringing = 17
    case join = 18
    case reject = 19
    case leave = 20
    case members = 21
    case state = 22
    case offer = 32
    case answer = 33
    case candidate = 34
    case renegotiate = 35
}

extension Signal {
    /// The signal's bytes.
    public func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.byte(Self.version)
        writer.identifier(space)
        writer.number(stamp.rawValue)
        switch body {
        case .typing(let isTyping):
            writer.kind(.typing)
            writer.byte(isTyping ? 1 : 0)
        case .presence(let presence, let lastSeen):
            writer.kind(.presence)
            writer.byte(presence.rawValue)
            writer.number(lastSeen)
        case .call(let call, let signal):
            writer.call(call, signal)
        }
        return writer.bytes
    }

    /// The signal that these bytes are, or nil for a kind that only a newer version knows.
    public static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> Signal? {
        guard bytes.count <= Limits.signalByteCountMax else {
            throw .tooLarge(
                field: "signal", value: UInt64(bytes.count),
                limit: UInt64(Limits.signalByteCountMax))
        }
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else { throw .unknownVersion(version) }
        let space: SpaceID = try reader.identifier()
        let stamp = Stamp(try reader.number())
        guard stamp.wallClock < Limits.wallClockMax else { throw .forbidden(field: "stamp") }
        guard let kind = Kind(rawValue: try reader.byte()) else { return nil }
        let body = try reader.body(kind)
        try reader.finish()
        return Signal(space: space, stamp: stamp, body: body)
    }
}

extension ByteWriter {
    fileprivate mutating func kind(_ kind: Kind) { byte(kind.rawValue) }

    private mutating func start(_ kind: Kind, of call: CallID) {
        self.kind(kind)
        check(call.check)
    }

    fileprivate mutating func call(_ call: CallID, _ signal: CallSignal) {
        switch signal {
        case .ring(let media, let elapsed):
            start(.ring, of: call)
            byte(media.rawValue)
            number(elapsed)
        case .ringing:
            start(.ringing, of: call)
        case .join(let media):
            start(.join, of: call)
            byte(media.rawValue)
        case .reject(let refusal):
            start(.reject, of: call)
            byte(refusal.rawValue)
        case .leave(let departure):
            start(.leave, of: call)
            byte(departure.rawValue)
        case .members(let devices):
            start(.members, of: call)
            number(UInt64(devices.count))
            for device in devices { identifier(device) }
        case .state(let media):
            start(.state, of: call)
            byte(media.rawValue)
        case .leg(let signal):
            leg(signal, of: call)
        }
    }

    private mutating func leg(_ signal: LegSignal, of call: CallID) {
        switch signal {
        case .offer(let offer, let startsAnew, let description):
            start(.offer, of: call)
            number(offer)
            byte(startsAnew ? 1 : 0)
            counted(description.utf8)
        case .answer(let offer, let description):
            start(.answer, of: call)
            number(offer)
            counted(description.utf8)
        case .candidate(let offer, let candidate):
            start(.candidate, of: call)
            number(offer)
            byte(candidate.index)
            counted(candidate.part.utf8)
            counted(candidate.text.utf8)
        case .renegotiate(let startsAnew):
            start(.renegotiate, of: call)
            byte(startsAnew ? 1 : 0)
        }
    }
}

extension ByteReader {
    fileprivate mutating func body(_ kind: Kind) throws(DecodingFailure) -> SignalBody {
        switch kind {
        case .typing: return .typing(try flag())
        case .presence:
            guard let presence = Presence(rawValue: try byte()) else {
                throw .forbidden(field: "presence")
            }
            return .presence(presence, lastSeen: try bounded(as: WallTime.self).value)
        case .ring, .ringing, .join, .reject, .leave, .members, .state, .offer, .answer, .candidate,
            .renegotiate:
            return .call(CallID(try check()), try call(kind))
        }
    }

    private mutating func call(_ kind: Kind) throws(DecodingFailure) -> CallSignal {
        switch kind {
        case .ring: return .ring(try media(), elapsed: try number())
        case .ringing: return .ringing
        case .join: return .join(try media())
        case .reject:
            guard let refusal = Refusal(rawValue: try byte()) else {
                throw .forbidden(field: "refusal")
            }
            return .reject(refusal)
        case .leave:
            guard let departure = Departure(rawValue: try byte()) else {
                throw .forbidden(field: "departure")
            }
            return .leave(departure)
        case .members: return .members(try devices())
        case .state: return .state(try media())
        case .offer:
            return .leg(
                .offer(
                    try offerNumber(), startsAnew: try flag(),
                    try text("description", atMost: Limits.descriptionByteCountMax)))
        case .answer:
            return .leg(
                .answer(
                    try offerNumber(),
                    try text("description", atMost: Limits.descriptionByteCountMax)))
        case .candidate: return .leg(.candidate(try offerNumber(), try candidate()))
        case .renegotiate: return .leg(.renegotiate(startsAnew: try flag()))
        case .typing, .presence: preconditionFailure("is read before")
        }
    }

    private mutating func candidate() throws(DecodingFailure) -> Candidate {
        let index = try byte()
        let part = try text("part", atMost: Limits.nameByteCountMax)
        let text = try text("candidate", atMost: Limits.candidateByteCountMax)
        return Candidate(text: text, part: part, index: index)
    }

    private mutating func devices() throws(DecodingFailure) -> [DeviceID] {
        var devices: [DeviceID] = []
        for _ in 0..<(try count("members", atMost: Limits.callDeviceCountMax)) {
            let device: DeviceID = try identifier()
            if let last = devices.last, last >= device { throw .unsorted(field: "members") }
            devices.append(device)
        }
        return devices
    }

    private mutating func flag() throws(DecodingFailure) -> Bool {
        let value = try byte()
        guard value <= 1 else { throw .unknownFlags(value) }
        return value == 1
    }

    private mutating func media() throws(DecodingFailure) -> MediaState {
        let value = try byte()
        guard value <= 7 else { throw .unknownFlags(value) }
        return MediaState(rawValue: value)
    }

    private mutating func offerNumber() throws(DecodingFailure) -> UInt64 {
        let value = try number()
        guard value > 0, value < Limits.placeMax else { throw .forbidden(field: "offer") }
        return value
    }

    private mutating func text(
        _ field: StaticString, atMost limit: Int
    ) throws(DecodingFailure) -> String {
        let bytes = try slice(try count(field, atMost: limit))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .forbidden(field: field.description)
        }
        return text
    }
}
